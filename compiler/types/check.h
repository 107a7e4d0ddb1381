/* Checking: modules to typed trees. */
#ifndef ADL_TYPES_CHECK_H
#define ADL_TYPES_CHECK_H

#include "base/vec.h"
#include "names/modules.h"
#include "source/diag.h"
#include "types/tree.h"

typedef struct CheckOptions {
    const char *const *include_dirs; /* -I */
    uint32_t ninclude_dirs;
    const char *stdlib_dir;
    bool remarks;
    bool device;  /* exports are kernels, for a device: what else is exported is left out */
    bool objects; /* exports are C functions: kernels, which are none yet, are refused */
    bool open;    /* leave `deferred` requests of functions of other modules open */
    /* Modules that are no files: they go before all others. */
    const GivenModule *given;
    uint32_t ngiven;
} CheckOptions;

/* Something that must be compiled: an exported function or derivative, main, a test; or a function
   of which derivatives are to be compared (CHECK: of a module's named derivatives and of its
   rules); or a named derivative that meets an open request (OPEN). */
typedef enum RootKind {
    ROOT_EXPORT,
    ROOT_MAIN,
    ROOT_TEST,
    ROOT_BENCH,
    ROOT_CHECK,
    ROOT_OPEN
} RootKind;
typedef struct Root {
    RootKind kind;
    const char *name; /* C symbol, "main", the test's name */
    Instance *instance;
    const char *doc;
    Span span;
    /* MAIN: default of each parameter as an instance of the earlier parameters, or NULL */
    Instance **defaults;
    const char **default_texts, **param_docs;
    /* CHECK: how INSTANCE is differentiated; NULL: in what its rule covers.  Or why it cannot be
       compared; then INSTANCE may be NULL. */
    const DerivSpec *deriv;
    const char *skipped;
} Root;

typedef struct Program {
    TypeTable *types;
    const ModuleSet *modules;
    const Module *main;
    VEC(Root) roots;
    VEC(Instance *) instances; /* all that were asked for, callees before callers where possible */
    /* Rules of the scalar functions that the program may need: by row of math.def, [0] f32 [1] f64;
       (args..., tangents..., result) -> tangent. */
    Instance **math_rules[2];
} Program;

typedef struct Checker Checker;
Checker *checker_new(Arena *arena, Interner *interner, Sources *sources, Diags *diags,
                     const CheckOptions *options);
void checker_free(Checker *checker);
/* Checks a main file with all that it uses: every item of the file (generic functions once with
   representative types), and what is reachable in used modules.  WHICH: the kinds of roots that
   are wanted as trees.  Errors go to diags; the result is good only if there are none. */
Program *check_program(Checker *checker, const SourceFile *file, uint32_t which_roots);

#endif
