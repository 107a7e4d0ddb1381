/* Types as the IR sees them: the parts of a flattened value, in order. */
#include "lower/internal.h"

#include <stdarg.h>

IrScalar ir_of_scalar(Scalar scalar) {
    return (IrScalar)scalar;
}

bool scalar_is_store(IrScalar scalar) {
    return scalar == IR_F16 || scalar == IR_BF16;
}

bool scalar_is_real_float(IrScalar scalar) {
    return scalar == IR_F32 || scalar == IR_F64 || scalar_is_store(scalar);
}

bool scalar_is_integer(IrScalar scalar) {
    return scalar >= IR_I8 && scalar <= IR_U64;
}

bool type_is_complex(Type type) {
    type = type_element(type);
    return type->kind == TYPE_SCALAR && scalar_is_complex(type->scalar);
}

Type type_element(Type type) {
    return type->kind == TYPE_ARRAY ? type->elem : type;
}

/* ---- shapes ---- */

/* The dimensions round the part that is being flattened. */
typedef struct Outer {
    const Size *dims;
    uint32_t rank;
} Outer;

typedef struct Flat {
    Lower *lw;
    VEC(Leaf) leaves;
    bool strings; /* in arrays */
} Flat;

static void add_leaf(Flat *flat, IrTypeKind kind, IrScalar scalar, Outer outer) {
    Lower *lw = flat->lw;
    int64_t known[IR_MAX_RANK];
    Leaf leaf = {.kind = kind, .scalar = scalar, .rank = outer.rank, .dims = outer.dims};
    /* The IR has no arrays of strings: an error is reported where one is made, and bytes stand in
       its place until then. */
    if (kind == IR_T_STR && outer.rank) {
        kind = IR_T_SCALAR;
        flat->strings = true;
    }
    if (kind == IR_T_STR || kind == IR_T_TAPE) {
        leaf.type = kind == IR_T_STR ? ir_str(lw->module) : ir_tape(lw->module);
        leaf.rank = 0;
    } else if (outer.rank) {
        CHECK_INTERNAL(outer.rank <= IR_MAX_RANK);
        for (uint32_t k = 0; k < outer.rank; k++)
            known[k] = outer.dims[k]->kind == SIZE_CONST ? outer.dims[k]->value : -1;
        leaf.kind = IR_T_ARRAY;
        leaf.type = ir_array(lw->module, scalar, outer.rank, known);
    } else {
        leaf.type = ir_scalar(lw->module, scalar);
    }
    vec_push(&flat->leaves, leaf);
}

static void flatten(Flat *flat, Type type, Outer outer);

static void flatten_array(Flat *flat, Type type, Outer outer) {
    uint32_t rank = outer.rank + type->rank;
    Size *dims = ARENA_ARRAY(flat->lw->arena, Size, rank);
    for (uint32_t k = 0; k < outer.rank; k++) dims[k] = outer.dims[k];
    for (uint32_t k = 0; k < type->rank; k++) dims[outer.rank + k] = type->dims[k];
    flatten(flat, type->elem, (Outer){dims, rank});
}

static void flatten(Flat *flat, Type type, Outer outer) {
    switch (type->kind) {
    case TYPE_UNIT: return;
    case TYPE_SCALAR:
        if (!scalar_is_complex(type->scalar)) {
            add_leaf(flat, IR_T_SCALAR, ir_of_scalar(type->scalar), outer);
        } else {
            IrScalar part = type->scalar == SCALAR_C64 ? IR_F32 : IR_F64;
            add_leaf(flat, IR_T_SCALAR, part, outer);
            add_leaf(flat, IR_T_SCALAR, part, outer);
        }
        return;
    case TYPE_STR: add_leaf(flat, IR_T_STR, IR_U8, outer); return;
    case TYPE_TAPE: add_leaf(flat, IR_T_TAPE, IR_U8, outer); return;
    case TYPE_ARRAY: flatten_array(flat, type, outer); return;
    case TYPE_TUPLE:
    case TYPE_STRUCT:
        for (uint32_t k = 0; k < type->nparts; k++) flatten(flat, type->parts[k].type, outer);
        return;
    case TYPE_FNVAL:
        for (uint32_t k = 0; k < type->fn->ncaptures; k++)
            flatten(flat, type->fn->captures[k]->type, outer);
        return;
    case TYPE_POISON:
    case TYPE_FN: break;
    }
    UNREACHABLE("a value of type kind %d", type->kind);
}

const Shape *shape_of(Lower *lw, Type type) {
    Shape *shape = map_getp(&lw->shapes, type);
    if (shape) return shape;
    Flat flat = {.lw = lw};
    flatten(&flat, type, (Outer){NULL, 0});
    shape = ARENA_NEW(lw->arena, Shape);
    shape->n = flat.leaves.len;
    shape->strings = flat.strings;
    shape->leaf = ARENA_ARRAY(lw->arena, Leaf, shape->n);
    for (uint32_t i = 0; i < shape->n; i++) {
        shape->leaf[i] = flat.leaves.at[i];
        for (uint32_t k = 0; k < shape->leaf[i].rank; k++)
            if (shape->leaf[i].dims[k]->kind != SIZE_CONST) shape->has_sizes = true;
    }
    vec_free(&flat.leaves);
    map_setp(&lw->shapes, type, shape);
    return shape;
}

uint32_t shape_count(Lower *lw, Type type) {
    return shape_of(lw, type)->n;
}

static Type part_type(Type type, uint32_t index) {
    return type->kind == TYPE_FNVAL ? type->fn->captures[index]->type : type->parts[index].type;
}

void shape_part(Lower *lw, Type type, uint32_t index, uint32_t *begin, uint32_t *count) {
    type = type_element(type);
    *begin = 0;
    if (type->kind == TYPE_SCALAR) {
        *begin = index;
        *count = 1;
        return;
    }
    for (uint32_t k = 0; k < index; k++) *begin += shape_count(lw, part_type(type, k));
    *count = shape_count(lw, part_type(type, index));
}

/* ---- values ---- */

Vals vals_new(Lower *lw, uint32_t n) {
    return (Vals){ARENA_ARRAY(lw->arena, IrValue *, n), n};
}

Vals vals_one(Lower *lw, IrValue *value) {
    Vals vals = vals_new(lw, 1);
    vals.at[0] = value;
    return vals;
}

Vals vals_slice(Vals vals, uint32_t begin, uint32_t count) {
    CHECK_INTERNAL(begin + count <= vals.n);
    return (Vals){vals.at + begin, count};
}

Vals vals_join(Lower *lw, uint32_t n, const Vals *parts) {
    uint32_t total = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) total += parts[i].n;
    Vals all = vals_new(lw, total);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < parts[i].n; k++) all.at[at++] = parts[i].at[k];
    return all;
}

Vals vals_copy(Lower *lw, Vals vals) {
    return vals_join(lw, 1, &vals);
}

const char *module_text(Lower *lw, const char *format, ...) {
    StrBuf buf = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&buf, format, args);
    va_end(args);
    const char *text = arena_strndup(lw->module->arena, buf.text ? buf.text : "", buf.len);
    strbuf_free(&buf);
    return text;
}
