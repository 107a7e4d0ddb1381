# The files of compiler/types, headers and tables included.
libdslc_la_SOURCES +=
