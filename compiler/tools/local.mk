# The files of compiler/tools, headers and tables included.
libdslc_la_SOURCES += \
	compiler/tools/script.c \
	compiler/tools/script.h
