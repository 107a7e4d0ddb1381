# The files of compiler/names, headers and tables included.
libdslc_la_SOURCES += \
  %D%/decl.h \
  %D%/declare.c \
  %D%/kernel.c \
  %D%/lookup.c \
  %D%/modules.c %D%/modules.h
