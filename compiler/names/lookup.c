/* Looking names up: own items hide brought names, these hide the prelude. */
#include "names/modules.h"

#include <string.h>

const Item *module_item(const Module *m, Sym name) {
    return map_getp(&m->items, name);
}

static int32_t row_of(const Map *rows, Sym name) {
    return (int32_t)(intptr_t)map_getp(rows, name) - 1;
}

NameLookup modules_lookup(ModuleSet *set, Module *m, Sym name) {
    NameLookup found = {.math = -1, .builtin = -1};
    const Item *item = map_getp(&m->items, name);
    if (!item || m == set->prelude) {
        const Item *brought = item ? NULL : map_getp(&m->brought, name);
        if (!item && !brought) brought = map_getp(&m->modules, name);
        if (brought) {
            map_setp(&m->used, name, m);
            item = brought;
        }
    }
    if (item && m != set->prelude) {
        found.kind = item->kind;
        found.item = item;
        return found;
    }
    if (!item && set->prelude) item = map_getp(&set->prelude->items, name);
    bool hidden = !m->is_std && name->len > 2 && name->text[0] == '_' && name->text[1] == '_';
    if (hidden) return found;
    found.prelude = true;
    found.item = item;
    found.math = row_of(&set->maths, name);
    found.builtin = row_of(&set->builtins, name);
    found.kind = item                 ? item->kind
                 : found.builtin >= 0 ? ITEM_BUILTIN
                 : found.math >= 0    ? ITEM_MATH
                                      : ITEM_NONE;
    return found;
}

typedef VEC(const char *) Names;

static void add_keys(Names *names, const Map *map) {
    for (uint32_t i = 0; i < map->len; i++) {
        const char *text = ((Sym)(uintptr_t)map->keys[i])->text;
        if (strncmp(text, "__", 2)) vec_push(names, text);
    }
}

const char *modules_closest(ModuleSet *set, const Module *m, Sym name, const Sym *more,
                            uint32_t count) {
    Names names = {0};
    for (uint32_t i = 0; i < count; i++) vec_push(&names, more[i]->text);
    add_keys(&names, &m->items);
    add_keys(&names, &m->brought);
    add_keys(&names, &m->modules);
    if (set->prelude) add_keys(&names, &set->prelude->items);
    add_keys(&names, &set->maths);
    add_keys(&names, &set->builtins);
    const char *closest = diag_closest(name->text, names.at, names.len);
    vec_free(&names);
    return closest;
}

const char *module_closest(const Module *m, Sym name) {
    Names names = {0};
    add_keys(&names, &m->items);
    const char *closest = diag_closest(name->text, names.at, names.len);
    vec_free(&names);
    return closest;
}

const char *path_text(Arena *arena, const AstNode *path) {
    if (path->kind == AST_Name) return ((const AstName *)path)->name.sym->text;
    if (path->kind != AST_Field) return NULL;
    const AstField *field = (const AstField *)path;
    const char *base = path_text(arena, field->base);
    return base ? arena_printf(arena, "%s.%s", base, field->name.sym->text) : NULL;
}

void module_warn_unused(ModuleSet *set, const Module *m) {
    for (uint32_t k = 0; k < 2; k++) {
        const Map *map = k ? &m->modules : &m->brought;
        for (uint32_t i = 0; i < map->len; i++) {
            Sym name = (Sym)(uintptr_t)map->keys[i];
            const Item *item = map->values[i];
            if (map_hasp(&m->used, name) || item->kind == ITEM_AMBIGUOUS) continue;
            diag_report(set->diags, DIAG_UNUSED_IMPORT, item->span, "`%s` is imported but not used",
                        name->text);
        }
    }
}
