# The files of compiler/ast, headers and tables included.
libdslc_la_SOURCES += \
  %D%/ast.c %D%/ast.h \
  %D%/build.c %D%/build.h \
  %D%/fields.h \
  %D%/layout.c %D%/layout.h \
  %D%/node.def %D%/parse.h \
  %D%/print.c %D%/print.h
