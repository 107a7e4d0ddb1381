# ADL_CHECK_LLVM
# --------------
# LLVM 19 or newer through the C API.  Sets LLVM_CONFIG, LLVM_VERSION, LLVM_CPPFLAGS, LLVM_LIBS.
AC_DEFUN([ADL_CHECK_LLVM],
[AC_ARG_WITH([llvm],
  [AS_HELP_STRING([--with-llvm=VERSION],
    [major version of LLVM, or the path of an llvm-config (default: the newest found)])],
  [], [with_llvm=yes])
AC_SUBST([LLVM_VERSION])
AC_SUBST([LLVM_CPPFLAGS])
AC_SUBST([LLVM_LIBS])
AS_CASE([$with_llvm],
  [no], [adl_llvm_names=],
  [yes], [adl_llvm_names="llvm-config-22 llvm-config-21 llvm-config-20 llvm-config-19 llvm-config"],
  [*/*], [adl_llvm_names=$with_llvm],
  [adl_llvm_names="llvm-config-$with_llvm llvm-config"])
LLVM_CONFIG=
for adl_name in $adl_llvm_names; do
  adl_version=`$adl_name --version 2>/dev/null` || continue
  adl_major=`echo "$adl_version" | sed 's/\..*//'`
  test "$adl_major" -ge 19 2>/dev/null || continue
  AS_CASE([$with_llvm], [yes|*/*], [], [test "$adl_major" = "$with_llvm" || continue])
  adl_include=`$adl_name --includedir`
  test -f "$adl_include/llvm-c/Core.h" || continue
  LLVM_CONFIG=$adl_name
  LLVM_VERSION=$adl_version
  break
done
AC_MSG_CHECKING([for LLVM 19 or newer])
AS_IF([test -n "$LLVM_CONFIG"],
  [AC_MSG_RESULT([$LLVM_VERSION ($LLVM_CONFIG)])
   LLVM_CPPFLAGS="-isystem $adl_include"
   LLVM_LIBS="`$LLVM_CONFIG --ldflags` `$LLVM_CONFIG --link-shared --libs 2>/dev/null`"
   AS_IF([$LLVM_CONFIG --link-shared --libs >/dev/null 2>&1], [],
     [LLVM_LIBS="`$LLVM_CONFIG --ldflags` `$LLVM_CONFIG --libs` `$LLVM_CONFIG --system-libs` -lstdc++"])
   adl_saved_LIBS=$LIBS
   adl_saved_CPPFLAGS=$CPPFLAGS
   LIBS="$LLVM_LIBS $LIBS"
   CPPFLAGS="$CPPFLAGS $LLVM_CPPFLAGS"
   AC_MSG_CHECKING([whether LLVM's C API links])
   AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>]],
       [[return LLVMRunPasses(0, "", 0, 0) != 0;]])],
     [AC_MSG_RESULT([yes])],
     [AC_MSG_RESULT([no])
      AC_MSG_ERROR([LLVM $LLVM_VERSION is there, but a program with it does not link; see config.log])])
   LIBS=$adl_saved_LIBS
   CPPFLAGS=$adl_saved_CPPFLAGS
   adl_llvm_summary="$LLVM_VERSION"],
  [AC_MSG_RESULT([no])
   AS_IF([test "$with_llvm" != no],
     [AC_MSG_ERROR([LLVM 19 or newer is needed (Debian: llvm-19-dev); --without-llvm builds a compiler that only checks])])
   adl_llvm_summary="no: programs are checked, not compiled"])
AM_CONDITIONAL([WITH_LLVM], [test -n "$LLVM_CONFIG"])
])

# ADL_CHECK_BLAS
# --------------
# CBLAS and LAPACKE for the runtime library: BLAS_CPPFLAGS (with -DADL_WITH_CBLAS=1 and
# -DADL_WITH_LAPACKE=1) and BLAS_LIBS.
AC_DEFUN([ADL_CHECK_BLAS],
[AC_ARG_WITH([blas],
  [AS_HELP_STRING([--without-blas], [build the runtime library without BLAS and LAPACKE])],
  [], [with_blas=yes])
AC_SUBST([BLAS_CPPFLAGS])
AC_SUBST([BLAS_LIBS])
adl_blas_summary=no
adl_have_cblas=no
adl_have_lapacke=no
AS_IF([test "$with_blas" != no],
  [adl_saved_LIBS=$LIBS
   adl_saved_CPPFLAGS=$CPPFLAGS
   AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists openblas],
     [CPPFLAGS="$CPPFLAGS `$PKG_CONFIG --cflags openblas`"])
   AC_CHECK_HEADER([cblas.h],
     [AC_SEARCH_LIBS([cblas_dgemm], [openblas cblas blas], [adl_have_cblas=yes])])
   AS_IF([test $adl_have_cblas = yes],
     [AC_CHECK_HEADER([lapacke.h],
        [AC_SEARCH_LIBS([LAPACKE_dpotrf], [openblas lapacke], [adl_have_lapacke=yes])])])
   AS_IF([test $adl_have_cblas = yes],
     [BLAS_LIBS=`echo "$LIBS" | sed "s,$adl_saved_LIBS\$,,"`
      BLAS_CPPFLAGS=`echo "$CPPFLAGS" | sed "s,^$adl_saved_CPPFLAGS,,"`
      BLAS_CPPFLAGS="$BLAS_CPPFLAGS -DADL_WITH_CBLAS=1"
      adl_blas_summary="$BLAS_LIBS"])
   AS_IF([test $adl_have_lapacke = yes],
     [BLAS_CPPFLAGS="$BLAS_CPPFLAGS -DADL_WITH_LAPACKE=1"],
     [adl_blas_summary="$adl_blas_summary (no LAPACKE)"])
   LIBS=$adl_saved_LIBS
   CPPFLAGS=$adl_saved_CPPFLAGS])
AM_CONDITIONAL([WITH_CBLAS], [test $adl_have_cblas = yes])
AM_CONDITIONAL([WITH_LAPACKE], [test $adl_have_lapacke = yes])
])

# ADL_CHECK_CUDA
# --------------
# Where the CUDA Toolkit is: libdevice for PTX, ptxas for cubins and tests.  Nothing is linked.
AC_DEFUN([ADL_CHECK_CUDA],
[AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda=DIR], [the CUDA Toolkit (default: /usr/local/cuda if there)])],
  [], [with_cuda=yes])
AC_SUBST([CUDA_DIR])
AC_SUBST([PTXAS])
AS_CASE([$with_cuda], [no], [adl_cuda_dirs=],
  [yes], [adl_cuda_dirs="/usr/local/cuda /opt/cuda /usr/lib/cuda"], [adl_cuda_dirs=$with_cuda])
for adl_dir in $adl_cuda_dirs; do
  AS_IF([test -f "$adl_dir/nvvm/libdevice/libdevice.10.bc"], [CUDA_DIR=$adl_dir; break])
done
AS_IF([test -z "$CUDA_DIR" && test "$with_cuda" != yes && test "$with_cuda" != no],
  [AC_MSG_ERROR([no nvvm/libdevice/libdevice.10.bc in $with_cuda])])
AC_PATH_PROG([PTXAS], [ptxas], [], [$CUDA_DIR/bin$PATH_SEPARATOR$PATH])
])

# ADL_CHECK_READLINE
# ------------------
# Line editing for the interactive session: READLINE_CPPFLAGS, READLINE_LIBS.
AC_DEFUN([ADL_CHECK_READLINE],
[AC_SUBST([READLINE_CPPFLAGS])
AC_SUBST([READLINE_LIBS])
adl_readline_summary=no
AC_CHECK_HEADER([readline/readline.h],
  [AC_CHECK_LIB([readline], [readline],
     [READLINE_LIBS=-lreadline
      READLINE_CPPFLAGS=-DADL_WITH_READLINE=1
      adl_readline_summary=yes])], [], [#include <stdio.h>])
])
