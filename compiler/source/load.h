/* Files from the disk into a Sources, with what is wrong reported. */
#ifndef ADL_SOURCE_LOAD_H
#define ADL_SOURCE_LOAD_H

#include "source/diag.h"
#include "source/source.h"

/* Reads PATH ("-" is standard input, shown as <stdin>).  NULL after reporting if it cannot be
   read, is too large, or is not UTF-8.  SPAN is where the file was asked for, nowhere for the
   command line. */
SourceFile *source_load(Sources *sources, Diags *diags, const char *path, Span span);

#endif
