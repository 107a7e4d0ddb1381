# The files of compiler/ad, headers and tables included.
libdslc_la_SOURCES += \
  %D%/activity.c %D%/ad.h %D%/apart.c %D%/checkpoint.c %D%/clean.c %D%/cut.c %D%/depends.c \
  %D%/forward.c %D%/internal.h %D%/keep.c \
  %D%/linearise-array.c %D%/linearise-control.c %D%/linearise-scalar.c \
  %D%/linearise.c %D%/linearise.h %D%/make.c %D%/needs.c %D%/plan.c %D%/plan.h \
  %D%/remarks.c %D%/rule.c %D%/run.c %D%/schedule.c %D%/schedule.h %D%/shape.c %D%/shared.c %D%/threads.h \
  %D%/transpose-array.c %D%/transpose-control.c \
  %D%/transpose-parallel.c %D%/transpose-scalar.c %D%/transpose.c
