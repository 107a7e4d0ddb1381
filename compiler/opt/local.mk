# The files of compiler/opt, headers and tables included.
libdslc_la_SOURCES +=
