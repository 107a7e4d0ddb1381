# libadl, which compiled programs use.  Public headers go into adlinclude_HEADERS.
adlincludedir = $(includedir)/adl
adlinclude_HEADERS = %D%/include/adl/adl.h
libadl_la_SOURCES = \
  %D%/calls.def %D%/layout.h \
  %D%/core/allocator.c %D%/core/allocator.h \
  %D%/core/calls.h \
  %D%/core/error.c %D%/core/error.h \
  %D%/core/form.c %D%/core/form.h \
  %D%/core/kinds.c %D%/core/kinds.h \
  %D%/core/lock.h \
  %D%/core/memory.c %D%/core/memory.h \
  %D%/core/sort.c \
  %D%/core/stack.c \
  %D%/core/strings.c \
  %D%/core/text.c %D%/core/text.h \
  %D%/core/view.c \
  %D%/gpu/blas.c \
  %D%/gpu/blas.h \
  %D%/gpu/cuda.h \
  %D%/gpu/gpu.h \
  %D%/gpu/launch.c \
  %D%/gpu/memory.c \
  %D%/gpu/open.c \
  %D%/io/convert.c %D%/io/convert.h \
  %D%/io/file.c %D%/io/file.h \
  %D%/io/npy.c \
  %D%/io/number.c %D%/io/number.h \
  %D%/io/shape.c %D%/io/shape.h \
  %D%/io/table.c \
  %D%/math/gamma.c \
  %D%/math/half.c \
  %D%/math/normal.c \
  %D%/math/power.c \
  %D%/math/product.c \
  %D%/par/parallel.c \
  %D%/program/main.c \
  %D%/program/options.c %D%/program/options.h \
  %D%/tape/sum.c \
  %D%/tape/tape.c %D%/tape/tape.h

libadl_la_CPPFLAGS = -I$(top_srcdir)/runtime/include -I$(top_srcdir)/runtime -I$(top_srcdir) \
  $(STRESS_CPPFLAGS) $(BLAS_CPPFLAGS)
libadl_la_CFLAGS = $(AM_CFLAGS) $(FP_CFLAGS) $(VISIBILITY_CFLAGS) $(OPENMP_CFLAGS)
libadl_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0
libadl_la_LIBADD = $(BLAS_LIBS) $(DL_LIBS) -lm
libadl_la_LIBTOOLFLAGS = $(EMPTY)

include tests/runtime/local.mk
