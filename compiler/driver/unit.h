/* One source file on its way through the compiler. */
#ifndef ADL_DRIVER_UNIT_H
#define ADL_DRIVER_UNIT_H

#include "codegen/codegen.h"
#include "driver/paths.h"
#include "driver/timing.h"
#include "ir/ir.h"
#include "source/session.h"
#include "types/check.h"

typedef struct Unit {
    Session *session;
    const Paths *paths;
    Timing *timing;
    const SourceFile *file;
    Checker *checker;
    Program *program;
    IrModule *module;
    /* For requests of objects: named derivatives are given to them, of modules that are no files.
     */
    bool meets_requests;
    const GivenModule *given;
    uint32_t ngiven;
    const char *explain; /* the function whose derivatives are to be explained, or NULL */
} Unit;

/* The stages up to optimised IR, in order; each reports to the session's diags. */
int unit_check(Unit *unit);
int unit_lower(Unit *unit);
int unit_prepare(Unit *unit); /* passes before differentiation */
int unit_differentiate(Unit *unit);
int unit_optimise(Unit *unit); /* passes after it */
void unit_free(Unit *unit);

/* Is this compiled by itself, to be linked with other objects? */
bool unit_is_separate(const Unit *unit);
/* How code is generated, from the session's options. */
CodegenOptions unit_codegen_options(const Unit *unit);

#endif
