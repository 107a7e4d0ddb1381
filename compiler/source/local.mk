# The files of compiler/source, headers and tables included.
libdslc_la_SOURCES += \
  %D%/closest.c \
  %D%/diag.c %D%/diag.h \
  %D%/diag-item.h \
  %D%/json.c \
  %D%/load.c %D%/load.h \
  %D%/render.c \
  %D%/session.c %D%/session.h \
  %D%/source.c %D%/source.h
