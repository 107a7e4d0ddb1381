# The files of compiler/ad, headers and tables included.
libdslc_la_SOURCES +=
