# The files of compiler/types, headers and tables included.
libdslc_la_SOURCES += \
	compiler/types/deriv-request.c \
	compiler/types/deriv-sig.c \
	compiler/types/deriv.c \
	compiler/types/deriv.h
