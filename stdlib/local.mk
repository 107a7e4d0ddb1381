# The standard library: sources, installed as they are.
stdlibdir = $(pkgdatadir)/stdlib
dist_stdlib_DATA =
