# The manual pages.
dist_man_MANS += \
  %D%/adl.7 \
  %D%/dslc.1 \
  %D%/libadl.3
