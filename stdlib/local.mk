# The standard library: sources, installed as they are.
stdlibdir = $(pkgdatadir)/stdlib
dist_stdlib_DATA = \
	stdlib/derivatives.adl \
	stdlib/linalg.adl \
	stdlib/prelude.adl
