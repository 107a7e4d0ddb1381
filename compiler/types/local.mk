# The files of compiler/types, headers and tables included.
libdslc_la_SOURCES += \
  %D%/activity.c \
  %D%/args.c \
  %D%/body.c \
  %D%/borrow.c \
  %D%/builtin.c %D%/builtin.h \
  %D%/builtin_array.c \
  %D%/call.c \
  %D%/check.c %D%/check.h \
  %D%/checker.h \
  %D%/comp.c \
  %D%/construct.c \
  %D%/default.c \
  %D%/deriv-option.c \
  %D%/deriv-request.c \
  %D%/deriv-sig.c \
  %D%/deriv.c %D%/deriv.h \
  %D%/dump.c \
  %D%/effects.c \
  %D%/expr.c \
  %D%/fnvalue.c \
  %D%/generic.c \
  %D%/holomorphic.c \
  %D%/index.c \
  %D%/instance.c \
  %D%/analyse.h \
  %D%/internal.h \
  %D%/item.c \
  %D%/kernel.c \
  %D%/literal.c \
  %D%/match.c \
  %D%/op.c \
  %D%/open.c \
  %D%/overload.c \
  %D%/place.c \
  %D%/print.c \
  %D%/reduce.c \
  %D%/resolve.c \
  %D%/rule.c %D%/rule.h \
  %D%/scope.c \
  %D%/size.c \
  %D%/sizes.c \
  %D%/stmt.c \
  %D%/table.h \
  %D%/tree.c %D%/tree.h \
  %D%/type.c %D%/type.h \
  %D%/uniform.c \
  %D%/walk.c
