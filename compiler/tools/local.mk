# The files of compiler/tools, headers and tables included.
libdslc_la_SOURCES += \
	compiler/tools/gradcheck.c \
	compiler/tools/gradcheck.h \
	compiler/tools/inputs.c \
	compiler/tools/inputs.h \
	compiler/tools/script.c \
	compiler/tools/script.h
