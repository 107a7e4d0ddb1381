# The files of compiler/lower, headers and tables included.
libdslc_la_SOURCES += \
  %D%/builtin.c \
  %D%/c-interface.h \
  %D%/c-device.c %D%/c-signature.c \
  %D%/c-struct.c \
  %D%/call.c \
  %D%/check.c \
  %D%/combine.c \
  %D%/comp.c \
  %D%/complex.c \
  %D%/control.c \
  %D%/deriv.c \
  %D%/emit.c \
  %D%/env.c \
  %D%/export.c \
  %D%/expr.c \
  %D%/func.c \
  %D%/index.c \
  %D%/internal.h \
  %D%/kernel.c \
  %D%/launch.c \
  %D%/lift.c \
  %D%/loop.c \
  %D%/lower.h \
  %D%/merge.c \
  %D%/open.c \
  %D%/parts.c \
  %D%/place.c \
  %D%/program.c \
  %D%/reduce.c \
  %D%/rule.c \
  %D%/scalar.c \
  %D%/scan.c \
  %D%/shape.c \
  %D%/size.c \
  %D%/tape-kind.c \
  %D%/tape.c \
  %D%/text.c
