# The files of compiler/tools, headers and tables included.
libdslc_la_SOURCES +=
