/* Sizes are 3, 4, 5, ... in the order in which they appear, floats uniform in (0.5, 1.5), integers
   that are no sizes 1 or 2, so that they are good indices.  What the command line gave goes before.
 */
#include "tools/inputs.h"

#include <string.h>

enum { FIRST_SIZE = 3 };

/* ---- values ---- */

Value value_like(Arena *arena, const Value *value) {
    Value copy = *value;
    copy.data = arena_alloc_array(arena, (size_t)value->count + 1, 8);
    return copy;
}

double value_get(const Value *value, int64_t i) {
    return value->type->scalar == IR_F32 ? ((const float *)value->data)[i]
                                         : ((const double *)value->data)[i];
}

void value_set(const Value *value, int64_t i, double x) {
    if (value->type->scalar == IR_F32) ((float *)value->data)[i] = (float)x;
    else ((double *)value->data)[i] = x;
}

/* ---- what the command line gives ---- */

static int row_of(const Given *given, const char *name) {
    for (uint32_t i = 0; i < given->count; i++)
        if (!strcmp(given->params[i].name, name)) return (int)i;
    return -1;
}

/* A parameter of one part, of a kind that has a text form. */
static bool can_be_given(Type type) {
    Type element = type->kind == TYPE_ARRAY ? type->elem : type;
    if (type->kind == TYPE_STR) return true;
    return element->kind == TYPE_SCALAR && !scalar_is_complex(element->scalar);
}

static int32_t kind_of(Type type) {
    if (type->kind == TYPE_STR) return ADL_KIND_STR;
    return (int32_t)(type->kind == TYPE_ARRAY ? type->elem->scalar : type->scalar);
}

static int32_t rank_of(Type type) {
    return type->kind == TYPE_ARRAY ? (int32_t)type->rank : 0;
}

void given_add(Given *given, Arena *arena, const Instance *inst, const IrFunc *func) {
    AdlParam *all = ARENA_ARRAY(arena, AdlParam, given->count + func->nparams + 1);
    if (given->count) memcpy(all, given->params, given->count * sizeof *all);
    given->params = all;
    for (uint32_t p = 0; p < inst->nparams; p++) {
        const Local *local = inst->params[p];
        if (!local->name || !can_be_given(local->type)) continue;
        if (row_of(given, local->name->text) >= 0) continue;
        all[given->count++] = (AdlParam){.name = local->name->text,
                                         .kind = kind_of(local->type),
                                         .rank = rank_of(local->type),
                                         .flags = ADL_PARAM_DEFAULT};
    }
}

/* What was given for a parameter, if it fits. */
static const AdlParamValue *given_for(const Given *given, const Local *local) {
    int row = local->name && can_be_given(local->type) ? row_of(given, local->name->text) : -1;
    if (row < 0 || !given->values[row].given) return NULL;
    bool fits = given->params[row].kind == kind_of(local->type) &&
                given->params[row].rank == rank_of(local->type);
    return fits ? &given->values[row] : NULL;
}

/* ---- random numbers ---- */

static uint64_t random_bits(Inputs *in) { /* SplitMix64 */
    uint64_t z = in->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double inputs_uniform(Inputs *in, double low, double high) {
    double unit = ((double)(random_bits(in) >> 11) + 0.5) * 0x1p-53;
    return low + (high - low) * unit;
}

/* ---- sizes ---- */

static void bind_size(Inputs *in, Size size, int64_t value) {
    if (size && size->kind == SIZE_VAR && !map_has(&in->sizes, (uint64_t)size->id + 1))
        map_set(&in->sizes, (uint64_t)size->id + 1, (void *)(intptr_t)(value + 1));
}

static int64_t floor_div(int64_t a, int64_t b) {
    return b ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0;
}

static int64_t size_of(Inputs *in, Size size) {
    int64_t a = size->nterms > 0 ? size_of(in, size->terms[0]) : 0;
    int64_t b = size->nterms > 1 ? size_of(in, size->terms[1]) : 0, all = 0;
    switch (size->kind) {
    case SIZE_CONST: return size->value;
    case SIZE_ANY: return in->next_size++;
    case SIZE_VAR:
        if (!map_has(&in->sizes, (uint64_t)size->id + 1)) bind_size(in, size, in->next_size++);
        return (int64_t)(intptr_t)map_get(&in->sizes, (uint64_t)size->id + 1) - 1;
    case SIZE_SUM:
        for (uint32_t i = 0; i < size->nterms; i++)
            all += size->coefs[i] * size_of(in, size->terms[i]);
        return all;
    case SIZE_PROD:
        all = 1;
        for (uint32_t i = 0; i < size->nterms; i++) all *= size_of(in, size->terms[i]);
        return all;
    case SIZE_DIV: return floor_div(a, b);
    case SIZE_MOD: return a - b * floor_div(a, b);
    case SIZE_LEAST: return a < b ? a : b;
    case SIZE_GREATEST: return a > b ? a : b;
    }
    return 0;
}

/* What was given decides its sizes first. */
static void bind_given(Inputs *in) {
    for (uint32_t p = 0; p < in->inst->nparams; p++) {
        const Local *local = in->inst->params[p];
        const AdlParamValue *given = given_for(in->given, local);
        if (!given) continue;
        for (uint32_t k = 0; local->type->kind == TYPE_ARRAY && k < local->type->rank; k++)
            bind_size(in, local->type->dims[k], given->dims[k]);
        if (local->type->kind == TYPE_SCALAR) bind_size(in, local->size, given->scalar.i);
    }
}

/* ---- one part ---- */

static void set_integer(const Value *value, int64_t i, int64_t x) {
    switch (ir_scalar_bytes(value->type->scalar)) {
    case 1: ((int8_t *)value->data)[i] = (int8_t)x; break;
    case 2: ((int16_t *)value->data)[i] = (int16_t)x; break;
    case 4: ((int32_t *)value->data)[i] = (int32_t)x; break;
    default: ((int64_t *)value->data)[i] = x; break;
    }
}

/* One, as the storage types have it. */
static int64_t half_one(IrScalar scalar) {
    return scalar == IR_F16 ? 0x3c00 : 0x3f80;
}

static void fill(Inputs *in, const Value *value, const Local *local) {
    bool is_size = local->type->kind == TYPE_SCALAR && local->size;
    for (int64_t i = 0; i < value->count; i++) {
        int64_t pick = 1 + (int64_t)(random_bits(in) & 1);
        IrScalar scalar = value->type->scalar;
        if (scalar == IR_F32 || scalar == IR_F64) value_set(value, i, inputs_uniform(in, 0.5, 1.5));
        else if (scalar == IR_F16 || scalar == IR_BF16) set_integer(value, i, half_one(scalar));
        else if (scalar == IR_BOOL) set_integer(value, i, pick - 1);
        else if (is_size) set_integer(value, i, size_of(in, local->size));
        else set_integer(value, i, pick);
    }
}

static void take_given(const AdlParamValue *given, Value *value) {
    if (value->type->kind == IR_T_ARRAY) value->data = given->data;
    else if (value->type->kind == IR_T_STR) {
        value->data = (void *)(uintptr_t)given->scalar.str.ptr;
        value->dims[0] = given->scalar.str.len;
    } else if (value->type->scalar == IR_F32) {
        value_set(value, 0, (double)given->scalar.f32);
    } else if (value->type->scalar == IR_F64) {
        value_set(value, 0, given->scalar.f);
    } else {
        set_integer(value, 0, given->scalar.i);
    }
}

typedef struct Part {
    Inputs *in;
    const Local *local;
    const AdlParamValue *given;
    uint32_t at; /* the next flattened part */
    const char *why;
} Part;

static void add_part(Part *part, const char *name, const Size *dims, uint32_t rank) {
    Inputs *in = part->in;
    Value *value = &in->values[part->at];
    *value = (Value){.type = in->func->params[part->at], .count = 1};
    in->names[part->at++] = name;
    for (uint32_t k = 0; k < rank; k++) {
        value->dims[k] = size_of(in, dims[k]);
        if (part->given && part->given->dims[k] != value->dims[k])
            part->why = arena_printf(in->arena, "dimension %u of %s is %lld, not %lld", k + 1, name,
                                     (long long)part->given->dims[k], (long long)value->dims[k]);
        value->count *= value->dims[k] < 0 ? 0 : value->dims[k];
    }
    value->data = arena_alloc_array(in->arena, (size_t)value->count + 1, 8);
    if (part->given) take_given(part->given, value);
    else if (value->type->kind != IR_T_STR) fill(in, value, part->local);
}

/* The same order as in lowering: see shape_of there. */
static void add_parts(Part *part, const char *name, Type type, const Size *dims, uint32_t rank) {
    Arena *arena = part->in->arena;
    if (type->kind == TYPE_ARRAY) {
        Size *all = ARENA_ARRAY(arena, Size, rank + type->rank);
        for (uint32_t k = 0; k < rank + type->rank; k++)
            all[k] = k < rank ? dims[k] : type->dims[k - rank];
        add_parts(part, name, type->elem, all, rank + type->rank);
    } else if (type->kind == TYPE_SCALAR && scalar_is_complex(type->scalar)) {
        add_part(part, arena_printf(arena, "re(%s)", name), dims, rank);
        add_part(part, arena_printf(arena, "im(%s)", name), dims, rank);
    } else if (type->kind == TYPE_TUPLE || type->kind == TYPE_STRUCT) {
        for (uint32_t k = 0; k < type->nparts; k++) {
            const TypePart *own = &type->parts[k];
            add_parts(part,
                      own->name ? arena_printf(arena, "%s.%s", name, own->name->text)
                                : arena_printf(arena, "%s.%u", name, k),
                      own->type, dims, rank);
        }
    } else if (type->kind != TYPE_UNIT) {
        add_part(part, name, dims, rank);
    }
}

bool inputs_make(Inputs *in, const char **why) {
    Part part = {.in = in};
    in->values = ARENA_ARRAY(in->arena, Value, in->func->nparams + 1);
    in->names = ARENA_ARRAY(in->arena, const char *, in->func->nparams + 1);
    in->next_size = FIRST_SIZE;
    map_free(&in->sizes);
    in->sizes = (Map){0};
    bind_given(in);
    for (uint32_t p = 0; p < in->inst->nparams; p++) {
        part.local = in->inst->params[p];
        part.given = given_for(in->given, part.local);
        add_parts(&part, part.local->name ? part.local->name->text : "a parameter",
                  part.local->type, NULL, 0);
    }
    *why = part.why;
    return !part.why;
}
