/* The C header of a module's exports. */
#ifndef ADL_EMIT_HEADER_H
#define ADL_EMIT_HEADER_H

#include "base/strbuf.h"
#include "ir/ir.h"

/* Appends the header of MODULE's C exports.  NAME is the header's file name, for the include guard;
   PREFIX stands before each exported name and may be NULL. */
void emit_header(StrBuf *out, const IrModule *module, const char *name, const char *prefix);

#endif
