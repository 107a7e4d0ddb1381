# The files of compiler/lower, headers and tables included.
libdslc_la_SOURCES +=
