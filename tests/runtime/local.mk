# The tests of libadl: one program, which sees only what generated code and C callers see.
EXTRA_PROGRAMS += %D%/runtime
if WITH_CHECK
check_PROGRAMS += %D%/runtime
TESTS += %D%/runtime
endif
tests_runtime_runtime_SOURCES = \
  %D%/main.c \
  %D%/support.c %D%/support.h \
  %D%/test_errors.c \
  %D%/test_functions.c \
  %D%/test_loops.c \
  %D%/test_memory.c \
  %D%/test_npy.c \
  %D%/test_programs.c \
  %D%/test_tables.c \
  %D%/test_tapes.c \
  %D%/test_texts.c
tests_runtime_runtime_CPPFLAGS = -I$(top_srcdir)/runtime/include -I$(top_srcdir)/runtime
tests_runtime_runtime_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_runtime_runtime_LDADD = libadl.la $(CHECK_LIBS) -lm
