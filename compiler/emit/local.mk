# The files of compiler/emit, headers and tables included.
libdslc_la_SOURCES +=
