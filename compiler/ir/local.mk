# The files of compiler/ir, headers and tables included.
libdslc_la_SOURCES += \
  %D%/build-array.c %D%/build.c \
  %D%/clone.c \
  %D%/eval-math.c %D%/eval.c %D%/eval.h \
  %D%/export.h \
  %D%/facts.c \
  %D%/internal.h \
  %D%/interp-array.c %D%/interp-internal.h %D%/interp-parallel.c %D%/interp-runtime.c \
  %D%/interp-text.c %D%/interp-value.c %D%/interp.c %D%/interp.h \
  %D%/build.h %D%/ir.h %D%/op.def \
  %D%/shared.c %D%/shared.h \
  %D%/lex.c \
  %D%/module.c \
  %D%/muladd.c \
  %D%/parse-inst.c %D%/parse.c %D%/parse.h \
  %D%/print.c \
  %D%/purity.c \
  %D%/rewrite.c \
  %D%/syntax.c %D%/syntax.h \
  %D%/verify-ops.c %D%/verify.c %D%/verify.h
