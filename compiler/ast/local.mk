# The files of compiler/ast, headers and tables included.
libdslc_la_SOURCES +=
