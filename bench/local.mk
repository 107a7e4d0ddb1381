# Measurements: in the tarball, not installed, and no part of `make check`.
bench_kernels = \
  %D%/kernels/axpy.adl \
  %D%/kernels/inner.adl \
  %D%/kernels/logistic.adl \
  %D%/kernels/lse_rows.adl \
  %D%/kernels/matvec.adl \
  %D%/kernels/slices.adl \
  %D%/kernels/soft.adl \
  %D%/kernels/stencil.adl

dist_noinst_SCRIPTS += %D%/run
EXTRA_DIST += $(bench_kernels) %D%/README.md %D%/RESULTS.md \
  %D%/generate.c %D%/kernels.c %D%/launch.c %D%/reference.c %D%/reference.h \
  %D%/doubling.awk %D%/json.awk %D%/table.awk \
  %D%/programs/small.adl %D%/programs/ten-lines.adl %D%/programs/ten-lines.c

.PHONY: bench
bench: all
	DSLC='$(abs_top_builddir)/dslc' $(SHELL) $(top_srcdir)/bench/run --out=bench/out $(BENCHFLAGS)
