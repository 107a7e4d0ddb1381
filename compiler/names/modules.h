/* Modules: loading the main file and all that it uses, declaring their items, looking names up.
   After modules_load every item of every module is declared; no body has been looked at. */
#ifndef ADL_NAMES_MODULES_H
#define ADL_NAMES_MODULES_H

#include "ast/parse.h"
#include "names/decl.h"
#include "source/diag.h"

enum {
#define MATH(name, text, arity, libm) MATH_##name,
#include "lang/math.def"
#undef MATH
    MATH_ROWS
};

enum {
#define BUILTIN(name, text, min, max) BUILTIN_##name,
#include "lang/builtins.def"
#undef BUILTIN
    BUILTIN_ROWS
};

const char *math_row_name(int32_t row);
uint32_t math_row_arity(int32_t row);
const char *builtin_row_name(int32_t row);

/* A module whose text was found elsewhere than in the file system. */
typedef struct GivenModule {
    const char *name, *path, *text; /* "nn.layers"; PATH is for messages */
    size_t len;
} GivenModule;

typedef struct ModuleSet {
    Arena *arena;
    Interner *interner;
    Sources *sources;
    Diags *diags;
    ParseSession parse;
    const char *const *include_dirs;
    uint32_t ninclude_dirs;
    const char *stdlib_dir;
    const GivenModule *given;
    uint32_t ngiven;
    VEC(Module *) all;
    VEC(RuleDecl *) rules;
    Map by_path;         /* Sym of a path -> Module * */
    Module *prelude;     /* NULL without a standard library */
    Map builtins, maths; /* Sym -> row + 1 */
    RuleDecl *math_rules[MATH_ROWS];
    VEC(Module *) loading; /* the chain of `use`, for cycles */
} ModuleSet;

void modules_init(ModuleSet *set, Arena *arena, Interner *interner, Sources *sources, Diags *diags);
void modules_free(ModuleSet *set);
/* The main module, with the prelude and all that either uses loaded.  Never NULL. */
Module *modules_load(ModuleSet *set, const SourceFile *file);

/* What a name means among the items that M sees. */
typedef struct NameLookup {
    ItemKind kind;         /* NONE: nothing */
    const Item *item;      /* NULL for rows without functions of that name beside them */
    int32_t math, builtin; /* rows of that name if the prelude is meant, else -1 */
    bool prelude;
} NameLookup;
NameLookup modules_lookup(ModuleSet *set, Module *m, Sym name);
/* An own item of M (for `m.name`), or NULL. */
const Item *module_item(const Module *m, Sym name);
/* "did you mean": the closest of all names that M sees and of the COUNT names given, or NULL. */
const char *modules_closest(ModuleSet *set, const Module *m, Sym name, const Sym *more,
                            uint32_t count);
const char *module_closest(const Module *m, Sym name);
/* "nn.layers" of a path expression (names and fields), or NULL. */
const char *path_text(Arena *arena, const AstNode *path);

/* Attaches `derivative` items to what they are for; called by modules_load. */
void modules_attach_rules(ModuleSet *set);
/* Declares the items of M whose file has been parsed; reports names declared twice. */
void module_declare(ModuleSet *set, Module *m);
/* Loads what M uses. */
void module_load_uses(ModuleSet *set, Module *m);
/* Warns of imports that were never looked up. */
void module_warn_unused(ModuleSet *set, const Module *m);

/* Makes the kernel DECL a function of its ranges (kernel.c). */
void kernel_declare(ModuleSet *set, FnDecl *decl);
bool param_is_index(const AstNode *param); /* `i: index` */

#endif
