/* Loading modules: where a file is looked for, in which order, and cycles. */
#define _GNU_SOURCE
#include "names/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "source/load.h"

const char *math_row_name(int32_t row) {
    static const char *const names[] = {
#define MATH(name, text, arity, libm) text,
#include "lang/math.def"
#undef MATH
    };
    return names[row];
}

uint32_t math_row_arity(int32_t row) {
    static const uint8_t arities[] = {
#define MATH(name, text, arity, libm) arity,
#include "lang/math.def"
#undef MATH
    };
    return arities[row];
}

const char *builtin_row_name(int32_t row) {
    static const char *const names[] = {
#define BUILTIN(name, text, min, max) text,
#include "lang/builtins.def"
#undef BUILTIN
    };
    return names[row];
}

void modules_init(ModuleSet *set, Arena *arena, Interner *interner, Sources *sources,
                  Diags *diags) {
    *set = (ModuleSet){.arena = arena, .interner = interner, .sources = sources, .diags = diags};
    set->parse = (ParseSession){arena, interner, diags, 1};
    for (int32_t row = 0; row < MATH_ROWS; row++)
        map_setp(&set->maths, intern(interner, math_row_name(row)), (void *)(uintptr_t)(row + 1));
    for (int32_t row = 0; row < BUILTIN_ROWS; row++)
        map_setp(&set->builtins, intern(interner, builtin_row_name(row)),
                 (void *)(uintptr_t)(row + 1));
}

void modules_free(ModuleSet *set) {
    for (uint32_t i = 0; i < set->all.len; i++) {
        Module *m = set->all.at[i];
        map_free(&m->items);
        map_free(&m->brought);
        map_free(&m->modules);
        map_free(&m->used);
    }
    vec_free(&set->all);
    vec_free(&set->rules);
    vec_free(&set->loading);
    map_free(&set->by_path);
    map_free(&set->builtins);
    map_free(&set->maths);
}

/* A file is one module, whichever way its path is written. */
static Sym path_key(ModuleSet *set, const char *path) {
    char *real = realpath(path, NULL);
    Sym key = intern(set->interner, real ? real : path);
    free(real);
    return key;
}

static Module *module_new(ModuleSet *set, Sym name, const SourceFile *file, bool is_std) {
    Module *m = ARENA_NEW(set->arena, Module);
    m->name = name;
    m->file = file;
    m->is_std = is_std;
    vec_push(&set->all, m);
    map_setp(&set->by_path, path_key(set, file->path), m);
    return m;
}

static void module_read(ModuleSet *set, Module *m) {
    m->loading = true;
    vec_push(&set->loading, m);
    m->ast = parse_file(&set->parse, m->file);
    module_declare(set, m);
    module_load_uses(set, m);
    (void)vec_pop(&set->loading);
    m->loading = false;
}

/* "nn.layers" under DIR: DIR/nn/layers.adl if there is such a file, else NULL. */
static const char *file_in(ModuleSet *set, const char *dir, const char *name) {
    char *path = arena_printf(set->arena, "%s%s%s.adl", dir, *dir ? "/" : "", name);
    for (char *p = path + strlen(dir); p < path + strlen(path) - 4; p++)
        if (*p == '.') *p = '/';
    return file_exists(path) ? path : NULL;
}

static const char *folder_of(ModuleSet *set, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return "";
    return slash == path ? "/" : arena_strndup(set->arena, path, (size_t)(slash - path));
}

static const char *find_file(ModuleSet *set, const Module *m, const char *name, bool *is_std) {
    *is_std = false;
    const char *path = file_in(set, folder_of(set, m->file->path), name);
    *is_std = path && m->is_std;
    for (uint32_t i = 0; !path && i < set->ninclude_dirs; i++)
        path = file_in(set, set->include_dirs[i], name);
    if (!path && set->stdlib_dir) {
        path = file_in(set, set->stdlib_dir, name);
        *is_std = path != NULL;
    }
    return path;
}

static void report_cycle(ModuleSet *set, const Module *again, Span span) {
    StrBuf text = {0};
    bool in = false;
    for (uint32_t i = 0; i < set->loading.len; i++) {
        if (set->loading.at[i] == again) in = true;
        if (in) strbuf_printf(&text, "%s -> ", set->loading.at[i]->name->text);
    }
    diag_report(set->diags, DIAG_MODULE_CYCLE, span, "modules use each other in a circle: %s%s",
                text.text ? text.text : "", again->name->text);
    strbuf_free(&text);
}

static const GivenModule *find_given(const ModuleSet *set, const char *name) {
    for (uint32_t i = 0; i < set->ngiven; i++)
        if (!strcmp(set->given[i].name, name)) return &set->given[i];
    return NULL;
}

static Module *load_given(ModuleSet *set, const GivenModule *given, Span span) {
    Sym name = intern(set->interner, given->name);
    for (uint32_t i = 0; i < set->all.len; i++) {
        Module *m = set->all.at[i];
        if (m->name != name || m->is_std) continue;
        if (!m->loading) return m;
        report_cycle(set, m, span);
        return NULL;
    }
    const SourceFile *file = sources_add(set->sources, given->path, given->text, given->len);
    if (!file) return NULL;
    Module *m = module_new(set, name, file, false);
    module_read(set, m);
    return m;
}

/* The module that a `use` names; NULL after reporting. */
static Module *load_used(ModuleSet *set, Module *from, const AstUse *use) {
    const char *name = path_text(set->arena, use->path);
    if (!name) return NULL;
    const GivenModule *given = from->is_std ? NULL : find_given(set, name);
    if (given) return load_given(set, given, use->path->span);
    bool is_std;
    const char *path = find_file(set, from, name, &is_std);
    if (!path) {
        diag_report(set->diags, DIAG_MODULE_NOT_FOUND, use->path->span, "there is no module `%s`",
                    name);
        char *file = arena_printf(set->arena, "%s.adl", name);
        for (char *p = file; p + 4 < file + strlen(file); p++)
            if (*p == '.') *p = '/';
        diag_help(set->diags, (Span){0},
                  "it is looked for as %s beside this file, in the folders of -I, and in the "
                  "standard library",
                  file);
        return NULL;
    }
    Module *m = map_getp(&set->by_path, path_key(set, path));
    if (!m) {
        SourceFile *file = source_load(set->sources, set->diags, path, use->path->span);
        if (!file) return NULL;
        if (is_std) sources_mark_library(set->sources, file);
        m = module_new(set, intern(set->interner, name), file, is_std);
        module_read(set, m);
    } else if (m->loading) {
        report_cycle(set, m, use->path->span);
        return NULL;
    }
    return m;
}

static void bring(ModuleSet *set, Module *m, const AstName *name, const Module *from) {
    Item *item = map_getp(&from->items, name->name.sym);
    if (!item) {
        diag_report(set->diags, DIAG_NAME_NOT_IN_MODULE, name->node.span, "module `%s` has no `%s`",
                    from->name->text, name->name.sym->text);
        const char *closest = module_closest(from, name->name.sym);
        if (closest) diag_help(set->diags, (Span){0}, "did you mean `%s`?", closest);
        item = ARENA_NEW(set->arena, Item);
        *item = (Item){.kind = ITEM_POISON, .span = name->node.span, .from = m};
        map_setp(&m->brought, name->name.sym, item);
        return;
    }
    Item *copy = ARENA_NEW(set->arena, Item);
    *copy = *item;
    copy->span = name->node.span;
    Item *old = map_getp(&m->brought, name->name.sym);
    if (old && old->from != item->from) {
        *copy = (Item){.kind = ITEM_AMBIGUOUS, .span = old->span, .other = item, .from = old->from};
    }
    map_setp(&m->brought, name->name.sym, copy);
}

/* The last part of a path is the module's name where it is used. */
static Sym path_last(const AstNode *path) {
    return path->kind == AST_Field ? ((const AstField *)path)->name.sym
                                   : ((const AstName *)path)->name.sym;
}

/* What a module that was not found should have brought: nobody complains about it again. */
static void poison_names(ModuleSet *set, Module *m, const AstUse *use) {
    Item *item = ARENA_NEW(set->arena, Item);
    *item = (Item){.kind = ITEM_POISON, .span = use->path->span, .from = m};
    for (uint32_t k = 0; k < use->names.len; k++) {
        Sym name = ((AstName *)use->names.at[k])->name.sym;
        map_setp(&m->brought, name, item);
    }
    if (use->names.len) return;
    map_setp(&m->modules, use->alias.sym ? use->alias.sym : path_last(use->path), item);
}

void module_load_uses(ModuleSet *set, Module *m) {
    if (!m->ast) return;
    for (uint32_t i = 0; i < m->ast->items.len; i++) {
        AstNode *node = m->ast->items.at[i];
        if (node->kind != AST_Use || node->poison) continue;
        AstUse *use = (AstUse *)node;
        Module *used = load_used(set, m, use);
        if (!used) {
            poison_names(set, m, use);
            continue;
        }
        for (uint32_t k = 0; k < use->names.len; k++)
            bring(set, m, (AstName *)use->names.at[k], used);
        if (use->names.len) continue;
        Sym name = use->alias.sym ? use->alias.sym : path_last(use->path);
        Item *item = ARENA_NEW(set->arena, Item);
        *item = (Item){.kind = ITEM_MODULE, .module = used, .span = use->path->span, .from = m};
        map_setp(&m->modules, name, item);
    }
}

static Module *load_std(ModuleSet *set, const char *name) {
    if (!set->stdlib_dir) return NULL;
    const char *path = file_in(set, set->stdlib_dir, name);
    if (!path) return NULL;
    SourceFile *file = source_load(set->sources, set->diags, path, (Span){0});
    if (!file) return NULL;
    sources_mark_library(set->sources, file);
    Module *m = module_new(set, intern(set->interner, name), file, true);
    if (!strcmp(name, "prelude")) set->prelude = m;
    module_read(set, m);
    return m;
}

Module *modules_load(ModuleSet *set, const SourceFile *file) {
    load_std(set, "prelude");
    load_std(set, "derivatives");
    const char *base = path_base(file->path);
    size_t len = strlen(base);
    if (len > 4 && !strcmp(base + len - 4, ".adl")) len -= 4;
    const char *dir = folder_of(set, file->path);
    bool is_std =
        set->stdlib_dir && path_key(set, *dir ? dir : ".") == path_key(set, set->stdlib_dir);
    Module *m = map_getp(&set->by_path, path_key(set, file->path));
    if (!m) {
        m = module_new(set, intern_n(set->interner, base, len), file, is_std);
        module_read(set, m);
    }
    modules_attach_rules(set);
    return m;
}
