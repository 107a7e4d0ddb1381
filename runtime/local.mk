# libadl, which compiled programs use.  Public headers go into adlinclude_HEADERS.
adlincludedir = $(includedir)/adl
adlinclude_HEADERS = %D%/include/adl/adl.h
libadl_la_SOURCES = \
  %D%/calls.def %D%/layout.h

libadl_la_CPPFLAGS = -I$(top_srcdir)/runtime/include -I$(top_srcdir)/runtime -I$(top_srcdir) \
  $(STRESS_CPPFLAGS) $(BLAS_CPPFLAGS)
libadl_la_CFLAGS = $(AM_CFLAGS) $(FP_CFLAGS) $(VISIBILITY_CFLAGS) $(OPENMP_CFLAGS)
libadl_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0
libadl_la_LIBADD = $(BLAS_LIBS) $(DL_LIBS) -lm
libadl_la_LIBTOOLFLAGS = $(EMPTY)
