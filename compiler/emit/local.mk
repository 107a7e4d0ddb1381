# The files of compiler/emit, headers and tables included.
libdslc_la_SOURCES += \
  compiler/emit/header.c compiler/emit/header.h
