# The code generator: a shared object of its own, opened by dslc when it generates code.  The only
# part that sees LLVM.  Its copy of libdslc is private to it.
libdslc_llvm_la_SOURCES =

# Belongs to dslc itself: opens the shared object.
libdslc_la_SOURCES +=

if WITH_LLVM
pkglib_LTLIBRARIES += libdslc-llvm.la
endif
libdslc_llvm_la_CPPFLAGS = $(AM_CPPFLAGS) $(LLVM_CPPFLAGS)
libdslc_llvm_la_CFLAGS = $(AM_CFLAGS)
libdslc_llvm_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -Wl,-Bsymbolic \
  -Wl,--exclude-libs=ALL
libdslc_llvm_la_LIBADD = libdslc.la $(LLVM_LIBS) $(DL_LIBS) -lm
