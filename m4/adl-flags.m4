# ADL_ADD_FLAGS(VARIABLE, FLAGS)
# ------------------------------
# Appends to the shell VARIABLE those of the FLAGS that the C compiler takes, in a compilation and
# a link.  -Werror makes compilers that only warn about unknown flags say no.
AC_DEFUN([ADL_ADD_FLAGS],
[for adl_flag in $2; do
  AS_VAR_PUSHDEF([adl_cache], [adl_cv_flag_$adl_flag])
  AC_CACHE_CHECK([whether $CC takes $adl_flag], [adl_cache],
    [adl_saved_CFLAGS=$CFLAGS
     CFLAGS="$CFLAGS -Werror $adl_flag"
     AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
       [AS_VAR_SET([adl_cache], [yes])], [AS_VAR_SET([adl_cache], [no])])
     CFLAGS=$adl_saved_CFLAGS])
  AS_VAR_IF([adl_cache], [yes], [$1="$$1 $adl_flag"])
  AS_VAR_POPDEF([adl_cache])
done])

# ADL_CHECK_GENERATORS
# --------------------
# re2c and Bison are needed where the tarball's generated files are missing or older.
AC_DEFUN([ADL_CHECK_GENERATORS],
[AS_IF([test ! -f "$srcdir/lang/grammar.c" || test ! -f "$srcdir/lang/lexer.c"],
  [AS_IF([test -z "$RE2C"], [AC_MSG_ERROR([re2c is needed to build from a checkout])])
   AS_IF([test -z "$BISON"], [AC_MSG_ERROR([bison is needed to build from a checkout])])
   AC_MSG_CHECKING([for Bison 3.8 or newer])
   adl_bison_version=`"$BISON" --version | sed -n '1s/.* //p'`
   AS_VERSION_COMPARE([$adl_bison_version], [3.8],
     [AC_MSG_ERROR([Bison $adl_bison_version is too old])])
   AC_MSG_RESULT([$adl_bison_version])])
])
