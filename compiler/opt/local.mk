# The files of compiler/opt, headers and tables included.
libdslc_la_SOURCES += \
	compiler/opt/accumulators.c \
	compiler/opt/apart.c \
	compiler/opt/bounds.c \
	compiler/opt/cells.c \
	compiler/opt/checks.c \
	compiler/opt/contract.c \
	compiler/opt/cse.c \
	compiler/opt/dce.c \
	compiler/opt/fuse.c \
	compiler/opt/inline.c \
	compiler/opt/into.c \
	compiler/opt/jam.c \
	compiler/opt/lanes.c \
	compiler/opt/licm.c \
	compiler/opt/linear.c \
	compiler/opt/linear.h \
	compiler/opt/muladd.c \
	compiler/opt/opt.c \
	compiler/opt/opt.h \
	compiler/opt/pass.def \
	compiler/opt/rows.c \
	compiler/opt/scatter.c \
	compiler/opt/shapes.c \
	compiler/opt/siblings.c \
	compiler/opt/simplify-array.c \
	compiler/opt/simplify-control.c \
	compiler/opt/simplify.c \
	compiler/opt/simplify.h \
	compiler/opt/sink.c \
	compiler/opt/split.c \
	compiler/opt/unroll.c \
	compiler/opt/uses.c \
	compiler/opt/uses.h
