# The files of compiler/ir, headers and tables included.
libdslc_la_SOURCES +=
