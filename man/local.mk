# The manual pages.
dist_man_MANS += \
  %D%/libadl.3
