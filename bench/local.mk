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

# The programs of the suite: tests/tools/suite-tests.sh builds them too.
bench_suite = \
  %D%/suite/aims.tsv \
  %D%/suite/ba.c \
  %D%/suite/brusselator.c \
  %D%/suite/burgers.c \
  %D%/suite/cases.tsv \
  %D%/suite/gmm.c \
  %D%/suite/growth.awk \
  %D%/suite/growth.tsv \
  %D%/suite/hand_both.h \
  %D%/suite/hand_complicated.c \
  %D%/suite/hand_simple.c \
  %D%/suite/judge.awk \
  %D%/suite/kmeans.c \
  %D%/suite/kmeans_sparse.c \
  %D%/suite/lbm.c \
  %D%/suite/logreg.c \
  %D%/suite/lookup.c \
  %D%/suite/lorenz.c \
  %D%/suite/lstm.c \
  %D%/suite/mlp.c \
  %D%/suite/nbody.c \
  %D%/suite/nest.awk \
  %D%/suite/nest.c \
  %D%/suite/nesting.awk \
  %D%/suite/part.sh \
  %D%/suite/peers.awk \
  %D%/suite/peers.py \
  %D%/suite/speelpenning.c \
  %D%/suite/suite.c \
  %D%/suite/suite.h

dist_noinst_SCRIPTS += %D%/run %D%/suite/build %D%/gpu/run
bench_derivatives = \
  %D%/derivatives/derivatives.c %D%/derivatives/forms.adl %D%/derivatives/part.sh

# tests/tools/gpu-tests.sh runs them on the simulator.
bench_gpu = %D%/gpu/gpu.adl %D%/gpu/gpu.c

EXTRA_DIST += $(bench_gpu) $(bench_kernels) $(bench_suite) $(bench_derivatives) \
  %D%/README.md %D%/RESULTS.md \
  %D%/generate.c %D%/kernels.c %D%/launch.c %D%/reference.c %D%/reference.h \
  %D%/doubling.awk %D%/json.awk %D%/table.awk \
  %D%/programs/small.adl %D%/programs/ten-lines.adl %D%/programs/ten-lines.c

.PHONY: bench
bench: all
	DSLC='$(abs_top_builddir)/dslc' $(SHELL) $(top_srcdir)/bench/run --out=bench/out $(BENCHFLAGS)
