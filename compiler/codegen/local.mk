# The code generator: a shared object of its own, opened by dslc when it generates code.  The only
# part that sees LLVM.  Its copy of libdslc is private to it.
libdslc_llvm_la_SOURCES = \
  compiler/codegen/api.c \
  compiler/codegen/codegen.h \
  compiler/codegen/common/compat.c \
  compiler/codegen/common/compat.h \
  compiler/codegen/common/debug.c \
  compiler/codegen/common/debug.h \
  compiler/codegen/common/emit.c \
  compiler/codegen/common/emit.h \
  compiler/codegen/common/jit.c \
  compiler/codegen/common/jit.h \
  compiler/codegen/common/machine.c \
  compiler/codegen/common/machine.h \
  compiler/codegen/common/scalar.c \
  compiler/codegen/cpu/acc.c \
  compiler/codegen/cpu/array.c \
  compiler/codegen/cpu/build.c \
  compiler/codegen/cpu/calls.c \
  compiler/codegen/cpu/calls.h \
  compiler/codegen/cpu/contract.c \
  compiler/codegen/cpu/control.c \
  compiler/codegen/cpu/cost.c \
  compiler/codegen/cpu/device.c \
  compiler/codegen/cpu/device.h \
  compiler/codegen/cpu/effect.c \
  compiler/codegen/cpu/entry.c \
  compiler/codegen/cpu/entry.h \
  compiler/codegen/cpu/c-args.c \
  compiler/codegen/cpu/c-args.h \
  compiler/codegen/cpu/export.c \
  compiler/codegen/cpu/func.c \
  compiler/codegen/cpu/gen.h \
  compiler/codegen/cpu/generate.h \
  compiler/codegen/cpu/launch.c \
  compiler/codegen/cpu/math.c \
  compiler/codegen/cpu/module.c \
  compiler/codegen/cpu/parallel.c \
  compiler/codegen/cpu/program.c \
  compiler/codegen/cpu/reduce-device.c \
  compiler/codegen/cpu/reduce.c \
  compiler/codegen/cpu/parts.c \
  compiler/codegen/cpu/reduce.h \
  compiler/codegen/cpu/scan-device.c \
  compiler/codegen/cpu/sink.c \
  compiler/codegen/cpu/sum.c \
  compiler/codegen/cpu/tape.c \
  compiler/codegen/cpu/value.c \
  compiler/codegen/cpu/vector.c \
  compiler/codegen/cpu/vector.h \
  compiler/codegen/ptx/add.c \
  compiler/codegen/ptx/array.c \
  compiler/codegen/ptx/body.c \
  compiler/codegen/ptx/control.c \
  compiler/codegen/ptx/device.c \
  compiler/codegen/ptx/entry.h \
  compiler/codegen/ptx/gen.h \
  compiler/codegen/ptx/generate.h \
  compiler/codegen/ptx/launch.c \
  compiler/codegen/ptx/math.c \
  compiler/codegen/ptx/memory.c \
  compiler/codegen/ptx/module.c \
  compiler/codegen/ptx/parallel.c \
  compiler/codegen/ptx/product.c \
  compiler/codegen/ptx/reduce.c \
  compiler/codegen/ptx/region.c \
  compiler/codegen/ptx/regions.h \
  compiler/codegen/ptx/scan.c \
  compiler/codegen/ptx/sort.c \
  compiler/codegen/ptx/steps.c \
  compiler/codegen/ptx/tape.c

# Belongs to dslc itself: opens the shared object.
libdslc_la_SOURCES += \
  compiler/codegen/codegen.h \
  compiler/codegen/load.c \
  compiler/opt/device.c \
  compiler/opt/device.h \
  compiler/opt/device-internal.h \
  compiler/opt/device-prepare.c \
  compiler/opt/memory.c \
  compiler/opt/memory.h \
  compiler/opt/memory-internal.h \
  compiler/opt/memory-reuse.c \
  compiler/opt/memory-unique.c \
  compiler/opt/scan.c \
  compiler/opt/scan.h

if WITH_LLVM
pkglib_LTLIBRARIES += libdslc-llvm.la
endif
libdslc_llvm_la_CPPFLAGS = $(AM_CPPFLAGS) $(LLVM_CPPFLAGS)
libdslc_llvm_la_CFLAGS = $(AM_CFLAGS) $(VISIBILITY_CFLAGS)
libdslc_llvm_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -Wl,-Bsymbolic \
  -Wl,--exclude-libs=ALL
libdslc_llvm_la_LIBADD = libdslc.la $(LLVM_LIBS) $(DL_LIBS) -lm
