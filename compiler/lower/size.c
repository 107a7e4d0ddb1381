/* Sizes: terms of the checker as i64 values, and what is checked about them. */
#include "lower/internal.h"

#include <string.h>

static IrValue *size_sum(Fn *f, Size size) {
    IrValue *sum = NULL;
    for (uint32_t i = 0; i < size->nterms; i++) {
        IrValue *term = size_value(f, size->terms[i]);
        int64_t coef = size->coefs ? size->coefs[i] : 1;
        if (!term) return NULL;
        if (coef < 0 && sum && coef != INT64_MIN) {
            sum = emit_sub(f, sum, emit_mul(f, term, emit_int(f, -coef)));
            continue;
        }
        term = emit_mul(f, term, emit_int(f, coef));
        sum = sum ? emit_add(f, sum, term) : term;
    }
    return sum ? sum : emit_int(f, 0);
}

static IrValue *size_prod(Fn *f, Size size) {
    IrValue *prod = emit_int(f, 1);
    for (uint32_t i = 0; i < size->nterms; i++) {
        IrValue *term = size_value(f, size->terms[i]);
        if (!term) return NULL;
        prod = emit_mul(f, prod, term);
    }
    return prod;
}

static IrValue *size_pair(Fn *f, IrOp op, Size size) {
    IrValue *a = size_value(f, size->terms[0]), *b = size_value(f, size->terms[1]);
    if (!a || !b) return NULL;
    if (op == IR_DIV || op == IR_MOD)
        emit_check(f, emit_binary(f, IR_NE, b, emit_int(f, 0)), LOWER_ERROR_SIZE,
                   "a size is divided by zero", 0, NULL);
    return emit_binary(f, op, a, b);
}

IrValue *size_value(Fn *f, Size size) {
    switch (size->kind) {
    case SIZE_CONST: return emit_int(f, size->value);
    case SIZE_VAR: return env_size(f, size->id);
    case SIZE_SUM: return size_sum(f, size);
    case SIZE_PROD: return size_prod(f, size);
    case SIZE_DIV: return size_pair(f, IR_DIV, size);
    case SIZE_MOD: return size_pair(f, IR_MOD, size);
    case SIZE_LEAST: return size_pair(f, IR_MIN, size);
    case SIZE_GREATEST: return size_pair(f, IR_MAX, size);
    case SIZE_ANY: return NULL;
    }
    UNREACHABLE("size kind %d", size->kind);
}

IrValue *size_dim(Fn *f, Size size) {
    IrValue *value = size_value(f, size);
    return value ? emit_at_least_zero(f, value) : NULL;
}

void size_dims(Fn *f, IrValue *x, IrValue **dims) {
    for (uint32_t k = 0; k < x->type->rank; k++) {
        dims[k] = irb_dim(&f->b, x, k);
        size_note_nonneg(f, dims[k]);
    }
}

void size_bind(Fn *f, Type type, Vals vals) {
    const Shape *shape = shape_of(f->lw, type);
    if (!shape->has_sizes) return;
    CHECK_INTERNAL(vals.n == shape->n);
    for (uint32_t i = 0; i < shape->n; i++) {
        const Leaf *leaf = &shape->leaf[i];
        for (uint32_t k = 0; k < leaf->rank; k++) {
            Size size = leaf->dims[k];
            if (size->kind != SIZE_VAR || env_size(f, size->id)) continue;
            IrValue *dim = irb_dim(&f->b, vals.at[i], k);
            size_note_nonneg(f, dim);
            env_bind_size(f, size->id, dim);
        }
    }
}

bool size_is_dim_of(const IrValue *size, const IrValue *x, uint32_t k) {
    return size->def && size->def->op == IR_DIM && size->def->operands[0] == x &&
           size->def->imm == k;
}

static IrValue *assume(Fn *f, const Leaf *leaf, IrValue *x) {
    IrValue *sizes[IR_MAX_RANK];
    bool news = false;
    for (uint32_t k = 0; k < leaf->rank; k++) {
        sizes[k] = size_dim(f, leaf->dims[k]);
        if (sizes[k] && size_is_dim_of(sizes[k], x, k)) continue;
        IrValue *own = irb_dim(&f->b, x, k);
        if (!sizes[k]) sizes[k] = own;
        if (sizes[k] == own) continue;
        int64_t a, b;
        if (ir_const_int(sizes[k], &a) && ir_const_int(own, &b) && a == b) continue;
        news = true;
    }
    return news ? irb_assume(&f->b, x, sizes) : x;
}

Vals size_assume(Fn *f, Type type, Vals vals) {
    size_bind(f, type, vals);
    return size_assume_shape(f, shape_of(f->lw, type), vals);
}

/* In a kernel for a device an array has one name, so that it shows who only reads it. */
static bool keeps_names(const Fn *f) {
    const Instance *inst = f->inst;
    bool kernel = inst->kind == INSTANCE_FN && inst->decl && inst->decl->nindices;
    return kernel && f->lw->options->device;
}

Vals size_assume_shape(Fn *f, const Shape *shape, Vals vals) {
    if (keeps_names(f)) return vals;
    vals = vals_copy(f->lw, vals);
    for (uint32_t i = 0; i < shape->n; i++)
        if (shape->leaf[i].kind == IR_T_ARRAY) vals.at[i] = assume(f, &shape->leaf[i], vals.at[i]);
    return vals;
}

void size_checks(Fn *f, const Tree *t) {
    for (uint32_t i = 0; i < t->nchecks; i++) {
        const TreeCheck *check = &t->checks[i];
        IrValue *pair[] = {size_dim(f, check->a), size_dim(f, check->b)};
        Pos pos = f->b.pos;
        if (!pair[0] || !pair[1] || pair[0] == pair[1]) continue;
        if (check->span.begin) f->b.pos = check->span.begin;
        const char *text = check->message;
        if (!text)
            text = module_text(f->lw, "%s is {0}, but %s is {1}",
                               check->a_text ? check->a_text : "one size",
                               check->b_text ? check->b_text : "the other");
        emit_check(f, emit_binary(f, IR_EQ, pair[0], pair[1]), LOWER_ERROR_SIZE, text, 2, pair);
        f->b.pos = pos;
    }
}

/* ---- what cannot be negative ---- */

void size_note_nonneg(Fn *f, IrValue *value) {
    map_setp(&f->nonneg, value, value);
}

void size_note_checked(Fn *f, IrValue *value) {
    if (f->b.region == f->func->body) size_note_nonneg(f, value);
}

bool size_nonneg(Fn *f, IrValue *value) {
    int64_t known;
    if (ir_const_int(value, &known)) return known >= 0;
    if (map_hasp(&f->nonneg, value)) return true;
    if (!value->def) return false;
    const IrInst *def = value->def;
    switch ((int)def->op) {
    case IR_DIM: return true;
    case IR_ADD:
    case IR_MUL:
    case IR_MIN: return size_nonneg(f, def->operands[0]) && size_nonneg(f, def->operands[1]);
    case IR_MAX: return size_nonneg(f, def->operands[0]) || size_nonneg(f, def->operands[1]);
    default: return false;
    }
}

IrValue *size_check_nonneg(Fn *f, IrValue *value, const char *what) {
    if (size_nonneg(f, value)) return value;
    emit_check(f, emit_binary(f, IR_GE, value, emit_int(f, 0)), LOWER_ERROR_SIZE,
               module_text(f->lw, "%s is negative: {0}", what), 1, &value);
    size_note_checked(f, value);
    return value;
}
