# What `make check` runs.  Everything prints TAP, so that single tests are counted.
#
# - unit_programs: programs on Check, one file each: tests/unit/NAME.c (see tests/unit/unit.h)
# - test_scripts: shell scripts that print TAP; they find things through the variables below

unit_programs = \
  tests/unit/ad \
  tests/unit/ad-cases \
  tests/unit/base \
  tests/unit/codegen-cases \
  tests/unit/codegen-debug \
  tests/unit/codegen-exports \
  tests/unit/driver \
  tests/unit/fuzz \
  tests/unit/ir \
  tests/unit/ir-cases \
  tests/unit/ir-interp \
  tests/unit/ir-verify \
  tests/unit/lexer \
  tests/unit/opt-cases \
  tests/unit/parse \
  tests/unit/print \
  tests/unit/ptxsim \
  tests/unit/ptxsim-ops \
  tests/unit/source \
  tests/unit/test_lower \
  tests/unit/test_lower_cases \
  tests/unit/test_names \
  tests/unit/test_types

test_scripts = \
  tests/tools/adl-tests.sh \
  tests/tools/bad-tests.sh \
  tests/tools/c-tests.sh \
  tests/tools/case-runner.sh \
  tests/tools/diag-tests.sh \
  tests/tools/doc-tests.sh \
  tests/tools/example-tests.sh \
  tests/tools/forms-tests.sh \
  tests/tools/generated-tests.sh \
  tests/tools/gpu-forms-tests.sh \
  tests/tools/gpu-grad-tests.sh \
  tests/tools/gpu-tests.sh \
  tests/tools/gradcheck-tests.sh \
  tests/tools/link-tests.sh \
  tests/tools/ptx-cases.sh \
  tests/tools/ranks.sh \
  tests/tools/shape-tests.sh \
  tests/tools/suite-tests.sh

# Of these, the ones that need the code generator: run again for each further LLVM.
backend_tests = tests/unit/codegen-cases tests/unit/codegen-debug tests/unit/codegen-exports \
  tests/unit/ptxsim-llvm tests/unit/ptx-adjoints tests/unit/ptx-kernels \
  tests/tools/adl-tests.sh tests/tools/c-tests.sh tests/tools/example-tests.sh \
  tests/tools/gpu-forms-tests.sh tests/tools/gpu-tests.sh tests/tools/gradcheck-tests.sh \
  tests/tools/link-tests.sh \
  tests/tools/ptx-cases.sh

check_LTLIBRARIES += tests/unit/libunit.la
tests_unit_libunit_la_SOURCES = \
  tests/unit/ircalls.c tests/unit/ircalls.h tests/unit/unit.c tests/unit/unit.h
tests_unit_libunit_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

generated_sources = \
  tests/unit/entry.c tests/unit/entry.h tests/unit/generated.c tests/unit/generated.h
codegen_test_ldadd = tests/unit/libunit.la libdslc.la libadl.la $(CHECK_LIBS)
tests_unit_codegen_cases_SOURCES = \
  tests/unit/codegen-cases.c $(generated_sources)
tests_unit_codegen_cases_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/runtime -I$(top_srcdir)/runtime/include
tests_unit_codegen_cases_LDADD = $(codegen_test_ldadd)
tests_unit_codegen_debug_SOURCES = \
  tests/unit/codegen-debug.c $(generated_sources)
tests_unit_codegen_debug_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/runtime -I$(top_srcdir)/runtime/include
tests_unit_codegen_debug_LDADD = $(codegen_test_ldadd)
tests_unit_codegen_exports_SOURCES = \
  tests/unit/codegen-exports.c $(generated_sources)
tests_unit_codegen_exports_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/runtime -I$(top_srcdir)/runtime/include
tests_unit_codegen_exports_LDADD = $(codegen_test_ldadd)

include tests/ptxsim/local.mk

tests_unit_fuzz_SOURCES = tests/unit/fuzz.c tests/fuzz/parser.c tests/fuzz/parser.h
EXTRA_DIST += tests/unit/parsed.h tests/fuzz/parser tests/programs editors

EXTRA_PROGRAMS += $(unit_programs)
if WITH_CHECK
check_PROGRAMS += $(unit_programs)
TESTS += $(unit_programs)
endif
check_PROGRAMS += tests/tools/case-runner
tests_tools_case_runner_SOURCES = tests/tools/case-runner.c
tests_tools_case_runner_LDADD = libdslc.la
check_PROGRAMS += tests/tools/oracle
tests_tools_oracle_SOURCES = tests/tools/oracle.c
tests_tools_oracle_LDADD = libdslc.la

# Random programs, each compiled in several ways: 200 fixed seeds in `check`, and as many as asked by
# make fuzz-random COUNT=10000 FIRST=1; what fails is made small and left in FAULTS.
check_PROGRAMS += tests/fuzz/random/run
TESTS += tests/fuzz/random/run
tests_fuzz_random_run_SOURCES = \
  tests/fuzz/random/check.c tests/fuzz/random/check.h tests/fuzz/random/exec.c \
  tests/fuzz/random/exec.h tests/fuzz/random/gen-array.c tests/fuzz/random/gen-expr.c \
  tests/fuzz/random/gen-form.c tests/fuzz/random/gen-number.c \
  tests/fuzz/random/gen-stmt.c tests/fuzz/random/gen.c tests/fuzz/random/gen.h \
  tests/fuzz/random/run.c tests/fuzz/random/setting.h tests/fuzz/random/shrink.c \
  tests/fuzz/random/shrink.h tests/fuzz/random/tree.c tests/fuzz/random/tree.h \
  tests/unit/entry.c tests/unit/entry.h
tests_fuzz_random_run_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/runtime -I$(top_srcdir)/runtime/include
tests_fuzz_random_run_LDADD = libdslc.la libadl.la $(DL_LIBS) -lm

.PHONY: fuzz-random
fuzz-random: all-am
	@$(MAKE) $(AM_MAKEFLAGS) tests/fuzz/random/run tests/ptxsim/libcuda.la \
	  tests/ptxsim/libcublas.la && $(MKDIR_P) $(or $(FAULTS),random-faults) && \
	  $(AM_TESTS_ENVIRONMENT) tests/fuzz/random/run --all --first $(or $(FIRST),1) \
	  --count $(or $(COUNT),1000) --out $(or $(FAULTS),random-faults)

LDADD = tests/unit/libunit.la libdslc.la $(CHECK_LIBS)
TESTS += $(test_scripts)

# What doc-tests.sh and ranks.sh read.
EXTRA_DIST += lang/reference.md README.md HACKING.md
EXTRA_DIST += tests/bad tests/gpu tests/c tests/forms tests/shapes tests/generated tests/tools/generated-tests.awk
EXTRA_DIST += $(test_scripts) tests/tools/assemble.sh tests/tools/leaks.supp tests/tools/totals.sh tests/diag tests/cases/ad tests/cases/codegen tests/cases/ir \
  tests/cases/lower tests/cases/opt tests/grad tests/bench-spec

TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
  LC_ALL=C; export LC_ALL; \
  CK_TIMEOUT_MULTIPLIER=10; export CK_TIMEOUT_MULTIPLIER; \
  ADL_SOURCE_DIR='$(abs_top_srcdir)'; export ADL_SOURCE_DIR; \
  ADL_BUILD_DIR='$(abs_top_builddir)'; export ADL_BUILD_DIR; \
  DSLC='$(abs_top_builddir)/dslc'; export DSLC; \
  CC='$(CC) $(SANITIZER_FLAGS)'; export CC; \
  CXX='$(TEST_CXX)'; export CXX; \
  SANITIZER_FLAGS='$(SANITIZER_FLAGS)'; export SANITIZER_FLAGS; \
  ASAN_OPTIONS=allocator_may_return_null=1; export ASAN_OPTIONS; \
  LSAN_OPTIONS='use_tls=0:print_suppressions=0:suppressions=$(abs_top_srcdir)/tests/tools/leaks.supp'; \
  export LSAN_OPTIONS; \
  PTXAS='$(PTXAS)'; export PTXAS; \
  CUDA_DIR='$(CUDA_DIR)'; export CUDA_DIR; \
  CASE_RUNNER='$(abs_top_builddir)/tests/tools/case-runner'; export CASE_RUNNER; \
  ORACLE='$(abs_top_builddir)/tests/tools/oracle'; export ORACLE; \
  ADL_LACKS='$(ADL_LACKS)'; export ADL_LACKS; \
  ADL_LLVM='$(LLVM_VERSION)'; export ADL_LLVM; \
  NO_COLOR=1; export NO_COLOR;

# `check` is this (see configure.ac): it ends with one line of totals, counted from this run.
.PHONY: check-counted
check-counted: $(BUILT_SOURCES)
	@rm -f $(TEST_LOGS:.log=.trs); status=0; \
	$(MAKE) $(AM_MAKEFLAGS) check-am || status=$$?; \
	test -n "$(TOTALS_ELSEWHERE)" || \
	  $(SHELL) $(top_srcdir)/tests/tools/totals.sh $(TEST_LOGS:.log=.trs); exit $$status

# The tests of the code generator alone, and the files with the results of the last run.
.PHONY: check-backend check-results check-backend-results
check-backend:
	@$(MAKE) $(AM_MAKEFLAGS) check-counted TESTS='$(backend_tests)'
check-results:
	@for result in $(TEST_LOGS:.log=.trs); do echo $(abs_builddir)/$$result; done
check-backend-results:
	@$(MAKE) $(AM_MAKEFLAGS) check-results TESTS='$(backend_tests)'

# The same for the case files of one folder or file, without the rest: make cases CASES=tests/cases/x
.PHONY: cases
cases: all-am
	@$(MAKE) $(AM_MAKEFLAGS) tests/tools/case-runner && $(AM_TESTS_ENVIRONMENT) \
	  cd $(top_srcdir) && $$CASE_RUNNER --status $(if $(BLESS),--bless) $(CASES)
