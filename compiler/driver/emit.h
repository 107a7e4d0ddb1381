/* What a compilation writes, but for linking. */
#ifndef ADL_DRIVER_EMIT_H
#define ADL_DRIVER_EMIT_H

#include "driver/unit.h"

/* --emit=ast. */
int emit_ast(Session *session, const SourceFile *file);
/* The kinds that need no code generator, from what the unit holds now. */
int emit_text(Unit *unit);
/* Objects, assembly, LLVM IR, the header; for an executable a temporary object, whose name is added
   to OBJECTS. */
int emit_code(Unit *unit, const CodegenApi *codegen, TextList *objects);

#endif
