/* Types, hash-consed. */
#include "types/table.h"

#include <string.h>

static const struct {
    const char *name;
    enum { BOOL, SINT, UINT, FLOAT, COMPLEX, STORE } cls;
} SCALARS[] = {
#define SCALAR(name, text, cls, bytes) {text, cls},
#include "lang/scalars.def"
#undef SCALAR
};

const char *scalar_name(Scalar s) {
    return SCALARS[s].name;
}
bool scalar_is_float(Scalar s) {
    return SCALARS[s].cls == FLOAT || SCALARS[s].cls == STORE;
}
bool scalar_is_int(Scalar s) {
    return SCALARS[s].cls == SINT || SCALARS[s].cls == UINT;
}
bool scalar_is_complex(Scalar s) {
    return SCALARS[s].cls == COMPLEX;
}

static uint64_t mix_ptr(uint64_t h, const void *p) {
    return hash_mix(h, (uint64_t)(uintptr_t)p);
}

static uint64_t hash_type(const struct TypeInfo *t) {
    uint64_t h = hash_mix((uint64_t)t->kind, (uint64_t)t->scalar);
    h = mix_ptr(h, t->elem);
    h = hash_mix(h, t->result_act);
    for (uint32_t i = 0; i < (t->kind == TYPE_STRUCT ? t->nsizes : t->rank); i++)
        h = hash_mix(h, t->dims[i]->id);
    for (uint32_t i = 0; i < t->nparts; i++) {
        h = mix_ptr(h, t->parts[i].name);
        h = mix_ptr(h, t->parts[i].type);
        h = hash_mix(h, (uint64_t)t->parts[i].act * 2 + t->parts[i].mut);
    }
    h = mix_ptr(h, t->decl);
    h = mix_ptr(h, t->fn);
    return mix_ptr(h, t->tape_of);
}

static bool equal_type(Type a, Type b) {
    if (a->kind != b->kind || a->scalar != b->scalar || a->elem != b->elem ||
        a->result_act != b->result_act || a->rank != b->rank || a->nparts != b->nparts ||
        a->decl != b->decl || a->nsizes != b->nsizes || a->fn != b->fn || a->tape_of != b->tape_of)
        return false;
    for (uint32_t i = 0; i < (a->kind == TYPE_STRUCT ? a->nsizes : a->rank); i++)
        if (a->dims[i] != b->dims[i]) return false;
    for (uint32_t i = 0; i < a->nparts; i++) {
        const TypePart *x = &a->parts[i], *y = &b->parts[i];
        if (x->name != y->name || x->type != y->type || x->act != y->act || x->mut != y->mut)
            return false;
    }
    return true;
}

static void set_flags(struct TypeInfo *t) {
    bool of_scalar =
        t->kind == TYPE_SCALAR && (scalar_is_float(t->scalar) || scalar_is_complex(t->scalar));
    t->has_floats =
        of_scalar || (t->kind == TYPE_ARRAY && t->elem->has_floats) || t->kind == TYPE_TAPE;
    t->has_fns = t->kind == TYPE_FN || t->kind == TYPE_FNVAL;
    t->weight = t->kind == TYPE_ARRAY ? t->elem->weight : 1;
    for (uint32_t i = 0; i < t->nparts && t->weight < 1000000; i++)
        t->weight += t->parts[i].type->weight;
    if (t->kind == TYPE_FN) return;
    for (uint32_t i = 0; i < t->nparts; i++) {
        t->has_floats |= t->parts[i].type->has_floats;
        t->has_fns |= t->parts[i].type->has_fns;
    }
}

static Type type_intern(TypeTable *t, const struct TypeInfo *key) {
    uint64_t hash = hash_type(key);
    TypeEntry *first = map_get(&t->types, hash);
    for (TypeEntry *e = first; e; e = e->next)
        if (equal_type(e->type, key)) return e->type;
    struct TypeInfo *copy = arena_alloc(t->arena, sizeof *copy);
    *copy = *key;
    uint32_t ndims = key->kind == TYPE_STRUCT ? key->nsizes : key->rank;
    copy->dims = ARENA_ARRAY(t->arena, Size, ndims);
    for (uint32_t i = 0; i < ndims; i++) copy->dims[i] = key->dims[i];
    copy->parts = ARENA_ARRAY(t->arena, TypePart, key->nparts);
    for (uint32_t i = 0; i < key->nparts; i++) copy->parts[i] = key->parts[i];
    copy->id = ++t->next_type;
    set_flags(copy);
    TypeEntry *e = ARENA_NEW(t->arena, TypeEntry);
    *e = (TypeEntry){first, copy};
    map_set(&t->types, hash, e);
    return copy;
}

TypeTable *type_table_new(Arena *arena, Interner *interner) {
    TypeTable *t = ARENA_NEW(arena, TypeTable);
    t->arena = arena;
    t->interner = interner;
    t->poison = type_intern(t, &(struct TypeInfo){.kind = TYPE_POISON});
    t->unit = type_intern(t, &(struct TypeInfo){.kind = TYPE_UNIT});
    t->str = type_intern(t, &(struct TypeInfo){.kind = TYPE_STR});
    for (int i = 0; i < SCALAR_COUNT; i++)
        t->scalars[i] =
            type_intern(t, &(struct TypeInfo){.kind = TYPE_SCALAR, .scalar = (Scalar)i});
    return t;
}

void type_table_free(TypeTable *t) {
    map_free(&t->sizes);
    map_free(&t->types);
}

Type type_poison(TypeTable *t) {
    return t->poison;
}
Type type_unit(TypeTable *t) {
    return t->unit;
}
Type type_scalar(TypeTable *t, Scalar scalar) {
    return t->scalars[scalar];
}
Type type_str(TypeTable *t) {
    return t->str;
}

Type type_array(TypeTable *t, Type elem, uint32_t rank, const Size *dims) {
    if (elem->kind == TYPE_POISON) return elem;
    uint32_t inner = elem->kind == TYPE_ARRAY ? elem->rank : 0;
    Size *all = ARENA_ARRAY(t->arena, Size, rank + inner);
    for (uint32_t i = 0; i < rank; i++) all[i] = dims[i];
    for (uint32_t i = 0; i < inner; i++) all[rank + i] = elem->dims[i];
    struct TypeInfo key = {
        .kind = TYPE_ARRAY, .elem = inner ? elem->elem : elem, .rank = rank + inner, .dims = all};
    return type_intern(t, &key);
}

Type type_add_dims(TypeTable *t, Type type, uint32_t rank, const Size *dims) {
    return rank ? type_array(t, type, rank, dims) : type;
}

Type type_drop_dims(TypeTable *t, Type array, uint32_t n) {
    return n >= array->rank ? array->elem
                            : type_array(t, array->elem, array->rank - n, array->dims + n);
}

Type type_tuple(TypeTable *t, uint32_t n, const TypePart *parts) {
    if (!n) return t->unit;
    return type_intern(
        t, &(struct TypeInfo){.kind = TYPE_TUPLE, .nparts = n, .parts = (TypePart *)parts});
}

Type type_struct(TypeTable *t, const struct StructDecl *decl, uint32_t nsizes, const Size *dims,
                 uint32_t nparts, const TypePart *parts) {
    return type_intern(t, &(struct TypeInfo){.kind = TYPE_STRUCT,
                                             .decl = decl,
                                             .nsizes = nsizes,
                                             .dims = (Size *)dims,
                                             .nparts = nparts,
                                             .parts = (TypePart *)parts});
}

Type type_fn(TypeTable *t, uint32_t n, const TypePart *params, Type result, uint8_t result_act) {
    return type_intern(t, &(struct TypeInfo){.kind = TYPE_FN,
                                             .nparts = n,
                                             .parts = (TypePart *)params,
                                             .elem = result,
                                             .result_act = result_act});
}

Type type_fnval(TypeTable *t, const struct FnValue *fn) {
    return type_intern(t, &(struct TypeInfo){.kind = TYPE_FNVAL, .fn = fn});
}

Type type_tape(TypeTable *t, const struct Instance *of) {
    return type_intern(t, &(struct TypeInfo){.kind = TYPE_TAPE, .tape_of = of});
}

Type type_map_sizes(TypeTable *t, Type type, Size (*dim)(TypeTable *t, Size size, void *data),
                    void *data) {
    if (type->kind != TYPE_ARRAY && type->kind != TYPE_TUPLE && type->kind != TYPE_STRUCT &&
        type->kind != TYPE_FN)
        return type;
    struct TypeInfo key = *type;
    uint32_t ndims = type->kind == TYPE_STRUCT ? type->nsizes : type->rank;
    key.dims = ARENA_ARRAY(t->arena, Size, ndims);
    for (uint32_t i = 0; i < ndims; i++) key.dims[i] = dim(t, type->dims[i], data);
    key.parts = ARENA_ARRAY(t->arena, TypePart, type->nparts);
    for (uint32_t i = 0; i < type->nparts; i++) {
        key.parts[i] = type->parts[i];
        key.parts[i].type = type_map_sizes(t, type->parts[i].type, dim, data);
    }
    if (type->elem) key.elem = type_map_sizes(t, type->elem, dim, data);
    return type_intern(t, &key);
}

static Size subst_dim(TypeTable *t, Size size, void *map) {
    return size_subst(t, size, map);
}

Type type_subst(TypeTable *t, Type type, const Map *map) {
    return map->len ? type_map_sizes(t, type, subst_dim, (void *)map) : type;
}

static Size erase_dim(TypeTable *t, Size size, void *data) {
    (void)size;
    (void)data;
    return size_any(t);
}

Type type_erase(TypeTable *t, Type type) {
    return type_map_sizes(t, type, erase_dim, NULL);
}

bool type_mentions(Type type, bool (*want)(Size var, void *data), void *data) {
    uint32_t ndims = type->kind == TYPE_STRUCT ? type->nsizes : type->rank;
    for (uint32_t i = 0; i < ndims; i++)
        if (size_mentions(type->dims[i], want, data)) return true;
    for (uint32_t i = 0; i < type->nparts; i++)
        if (type_mentions(type->parts[i].type, want, data)) return true;
    return type->elem && type_mentions(type->elem, want, data);
}
