# A PTX interpreter behind a stand-in for the CUDA driver's library, for tests alone: programs that
# open libcuda.so.1 find it with LD_LIBRARY_PATH=tests/ptxsim/.libs.
check_LTLIBRARIES += %D%/libptxsim.la %D%/libcuda.la %D%/libcublas.la
tests_ptxsim_libptxsim_la_SOURCES = \
  %D%/access.c \
  %D%/body.c \
  %D%/convert.c \
  %D%/cuda.h \
  %D%/decode.c \
  %D%/driver.c \
  %D%/float.c \
  %D%/heap.c \
  %D%/integer.c \
  %D%/launch.c \
  %D%/lex.c %D%/lex.h \
  %D%/memory.c %D%/memory.h \
  %D%/opcodes.def \
  %D%/parse.c %D%/parse.h \
  %D%/ptx.h \
  %D%/run.c %D%/run.h \
  %D%/scalar.h
tests_ptxsim_libptxsim_la_CFLAGS = $(AM_CFLAGS) $(FP_CFLAGS) $(ROUNDING_CFLAGS) $(VISIBILITY_CFLAGS)

tests_ptxsim_libcuda_la_SOURCES =
tests_ptxsim_libcuda_la_LIBADD = %D%/libptxsim.la -lm
tests_ptxsim_libcuda_la_LDFLAGS = $(AM_LDFLAGS) -rpath /nowhere -version-info 1:0:0

# A stand-in for cuBLAS beside it.
tests_ptxsim_libcublas_la_SOURCES = %D%/cublas.c
tests_ptxsim_libcublas_la_LIBADD = %D%/libcuda.la
tests_ptxsim_libcublas_la_LDFLAGS = $(AM_LDFLAGS) -rpath /nowhere -version-info 13:0:0

ptxsim_ldadd = %D%/libptxsim.la tests/unit/libunit.la $(CHECK_LIBS) $(DL_LIBS) -lm
tests_unit_ptxsim_SOURCES = tests/unit/ptxsim.c %D%/harness.c %D%/harness.h
tests_unit_ptxsim_LDADD = $(ptxsim_ldadd)
tests_unit_ptxsim_ops_SOURCES = tests/unit/ptxsim-ops.c %D%/harness.c %D%/harness.h
tests_unit_ptxsim_ops_LDADD = $(ptxsim_ldadd)
tests_unit_ptxsim_llvm_SOURCES = tests/unit/ptxsim-llvm.c %D%/harness.c %D%/harness.h
tests_unit_ptxsim_llvm_CPPFLAGS = $(AM_CPPFLAGS) $(LLVM_CPPFLAGS)
tests_unit_ptxsim_llvm_LDADD = $(ptxsim_ldadd) $(LLVM_LIBS)
tests_unit_ptx_adjoints_SOURCES = tests/unit/ptx-adjoints.c %D%/harness.c %D%/harness.h
tests_unit_ptx_adjoints_LDADD = $(ptxsim_ldadd)
tests_unit_ptx_kernels_SOURCES = tests/unit/ptx-kernels.c %D%/harness.c %D%/harness.h
tests_unit_ptx_kernels_LDADD = $(ptxsim_ldadd)
# Runs entries of a PTX text, for cases.sh.
check_PROGRAMS += %D%/cases
tests_ptxsim_cases_SOURCES = %D%/cases.c
tests_ptxsim_cases_LDADD = %D%/libptxsim.la -lm
EXTRA_PROGRAMS += tests/unit/ptxsim-llvm tests/unit/ptx-adjoints tests/unit/ptx-kernels
EXTRA_DIST += %D%/adjoints.adl %D%/cases-left-out %D%/cases.awk %D%/functions.adl %D%/kernels.adl %D%/spills
if WITH_CHECK
if WITH_LLVM
check_PROGRAMS += tests/unit/ptxsim-llvm tests/unit/ptx-adjoints tests/unit/ptx-kernels
TESTS += tests/unit/ptxsim-llvm tests/unit/ptx-adjoints tests/unit/ptx-kernels
endif
endif
