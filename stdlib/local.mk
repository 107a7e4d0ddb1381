# The standard library: sources, installed as they are.
stdlibdir = $(pkgdatadir)/stdlib
dist_stdlib_DATA = \
	stdlib/ad.adl \
	stdlib/derivatives.adl \
	stdlib/linalg.adl \
	stdlib/prelude.adl
