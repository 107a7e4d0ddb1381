# The files of compiler/driver, headers and tables included.
libdslc_la_SOURCES += \
  %D%/assemble.c %D%/assemble.h \
  %D%/carried.c %D%/carried.h \
  %D%/driver.c %D%/driver.h \
  %D%/elf.c %D%/elf.h \
  %D%/emit.c %D%/emit.h \
  %D%/help.c \
  %D%/link.c %D%/link.h \
  %D%/options.c %D%/options.h \
  %D%/output.c %D%/output.h \
  %D%/paths.c %D%/paths.h \
  %D%/pipeline.c %D%/pipeline.h \
  %D%/process.c %D%/process.h \
  %D%/resolve.c %D%/resolve.h \
  %D%/response.c %D%/response.h \
  %D%/timing.c %D%/timing.h \
  %D%/unit.c %D%/unit.h

bin_PROGRAMS += dslc
dslc_SOURCES = %D%/main.c
dslc_LDADD = libdslc.la

# Where things are installed and built, for compiler/driver/paths.c.
CLEANFILES += %D%/dirs.h
%D%/dirs.h: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
	  echo '#define ADL_VERSION "$(VERSION)"'; \
	  echo '#define ADL_BUILD_DIR "$(abs_top_builddir)"'; \
	  echo '#define ADL_SOURCE_DIR "$(abs_top_srcdir)"'; \
	  echo '#define ADL_BINDIR "$(bindir)"'; \
	  echo '#define ADL_LIBDIR "$(libdir)"'; \
	  echo '#define ADL_PKGLIBDIR "$(pkglibdir)"'; \
	  echo '#define ADL_PKGDATADIR "$(pkgdatadir)"'; \
	  echo '#define ADL_INCLUDEDIR "$(includedir)"'; \
	  echo '#define ADL_CUDA_DIR "$(CUDA_DIR)"'; \
	  echo '#define ADL_PTXAS "$(PTXAS)"'; \
	} > $@.tmp && mv -f $@.tmp $@
%D%/paths.lo %D%/help.lo: %D%/dirs.h
