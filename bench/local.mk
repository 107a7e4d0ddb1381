# Measured programs and the runner: in the tarball, not installed.
EXTRA_DIST +=
