# Whole programs with their data: in the tarball, not installed.
EXTRA_DIST +=
