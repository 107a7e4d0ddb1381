# The files of compiler/names, headers and tables included.
libdslc_la_SOURCES +=
