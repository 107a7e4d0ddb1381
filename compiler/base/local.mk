# The files of compiler/base, headers and tables included.
libdslc_la_SOURCES += \
  %D%/arena.c %D%/arena.h \
  %D%/bitset.c %D%/bitset.h \
  %D%/fatal.c %D%/fatal.h \
  %D%/file.c %D%/file.h \
  %D%/intern.c %D%/intern.h \
  %D%/map.c %D%/map.h \
  %D%/memory.c %D%/memory.h \
  %D%/num.c %D%/num.h \
  %D%/options.h \
  %D%/strbuf.c %D%/strbuf.h \
  %D%/vec.c %D%/vec.h
