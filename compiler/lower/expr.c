/* Expressions: the dispatch, constants, variables, tuples, patterns. */
#include "lower/internal.h"

#include <string.h>

IrValue *lower_scalar(Fn *f, const Tree *t) {
    Vals vals = lower_expr(f, t);
    CHECK_INTERNAL(vals.n == 1);
    return vals.at[0];
}

Vals lower_args(Fn *f, const Tree *t, Vals *args) {
    for (uint32_t i = 0; i < t->nargs; i++) args[i] = lower_expr(f, t->args[i]);
    size_checks(f, t);
    return t->nargs ? args[0] : (Vals){0};
}

Vals lower_take_part(Fn *f, Type type, Vals vals, uint32_t index) {
    uint32_t begin, count;
    shape_part(f->lw, type, index, &begin, &count);
    return vals_slice(vals, begin, count);
}

static Vals lower_local(Fn *f, const Tree *t) {
    uint32_t slot = env_slot(f, t->local);
    Vals value = slot ? env_get(f, slot) : (Vals){0};
    if (!value.at)
        UNREACHABLE("variable %s of %s has no value", t->local->name ? t->local->name->text : "?",
                    f->inst->name);
    return value;
}

static Vals lower_size(Fn *f, const Tree *t) {
    IrValue *value = size_dim(f, t->size);
    if (!value)
        UNREACHABLE("a size of %s is not known (%s)", f->inst->name,
                    size_text(f->lw->program->types, t->size));
    if (t->type->kind == TYPE_SCALAR) value = irb_cast(&f->b, value, ir_of_scalar(t->type->scalar));
    return vals_one(f->lw, value);
}

static Vals lower_tuple(Fn *f, const Tree *t) {
    Vals *parts = ARENA_ARRAY(f->lw->arena, Vals, t->nargs);
    lower_args(f, t, parts);
    return vals_join(f->lw, t->nargs, parts);
}

static Vals lower_part(Fn *f, const Tree *t) {
    const Tree *whole = t->args[0];
    /* A part of a tuple that is written out: the others have no effect on it, but their own. */
    Vals vals = lower_expr(f, whole);
    size_checks(f, t);
    return lower_take_part(f, whole->type, vals, t->index);
}

static Vals empty_array(Fn *f, const Tree *t) {
    const Shape *shape = shape_of(f->lw, t->type);
    Vals out = vals_new(f->lw, shape->n);
    for (uint32_t i = 0; i < shape->n; i++) {
        IrValue *sizes[IR_MAX_RANK];
        for (uint32_t k = 0; k < shape->leaf[i].rank; k++) {
            sizes[k] = size_dim(f, shape->leaf[i].dims[k]);
            if (!sizes[k] || k == 0) sizes[k] = emit_int(f, 0);
        }
        IrValue *zero = irb_zero(&f->b, shape->leaf[i].scalar);
        out.at[i] = emit_fill(f, zero, shape->leaf[i].rank, sizes);
    }
    return out;
}

static Vals lower_array(Fn *f, const Tree *t) {
    if (!t->nargs) return empty_array(f, t);
    Vals *elems = ARENA_ARRAY(f->lw->arena, Vals, t->nargs);
    IrValue **row = ARENA_ARRAY(f->lw->arena, IrValue *, t->nargs);
    lower_args(f, t, elems);
    Vals out = vals_new(f->lw, elems[0].n);
    for (uint32_t i = 0; i < out.n; i++) {
        for (uint32_t k = 0; k < t->nargs; k++) row[k] = elems[k].at[i];
        out.at[i] = irb_pack(&f->b, t->nargs, row);
    }
    return out;
}

typedef struct Logic {
    const Tree *right;
    uint32_t slot;
    bool is_and;
} Logic;

static void logic_side(Fn *f, bool taken, void *data) {
    Logic *logic = data;
    bool ask = taken == logic->is_and;
    IrValue *value = ask ? lower_scalar(f, logic->right) : emit_bool(f, !logic->is_and);
    env_set(f, logic->slot, vals_one(f->lw, value));
}

static Vals lower_logic(Fn *f, const Tree *t) {
    bool is_and = t->op == AST_OP_AND;
    IrValue *left = lower_scalar(f, t->args[0]);
    if (scan_is_simple(t->args[1])) {
        IrValue *right = lower_scalar(f, t->args[1]);
        return vals_one(f->lw, is_and ? emit_and(f, left, right) : emit_or(f, left, right));
    }
    Logic logic = {t->args[1], env_new_slot(f, shape_of(f->lw, t->type)), is_and};
    SlotSet set = {0};
    slots_add(&set, logic.slot);
    scan_assigned(f, t->args[1], &set);
    merge_if(f, left, &set, logic_side, &logic);
    vec_free(&set);
    return env_get(f, logic.slot);
}

static Vals lower_matrix_product(Fn *f, const Tree *t) {
    Vals args[2];
    Type types[2];
    uint32_t flags = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const Tree *arg = t->args[i];
        if (arg->kind == T_BUILTIN && arg->builtin == ROW_TRANSPOSE && arg->type->rank == 2) {
            flags |= i == 0 ? IR_CONTRACT_TA : IR_CONTRACT_TB;
            arg = arg->args[0];
        }
        args[i] = lower_expr(f, arg);
        types[i] = t->args[i]->type;
    }
    size_checks(f, t);
    return lower_matmul(f, t->type, types, args, flags);
}

static Vals lower_node(Fn *f, const Tree *t) {
    switch (t->kind) {
    case T_INT:
    case T_BOOL: return scalar_const(f, t->type, t->value, (double)t->value);
    case T_FLOAT: return scalar_const(f, t->type, (int64_t)t->value, t->real);
    case T_STR: return vals_one(f->lw, irb_string(&f->b, t->text.at));
    case T_LOCAL: return lower_local(f, t);
    case T_SIZE: return lower_size(f, t);
    case T_OP:
    case T_MATH:
    case T_SCALAR_FN:
    case T_CAST: return lower_lifted(f, t);
    case T_LOGIC: return lower_logic(f, t);
    case T_MATMUL: return lower_matrix_product(f, t);
    case T_BUILTIN: return lower_builtin(f, t);
    case T_CALL: return lower_call(f, t);
    case T_FN:
    case T_TUPLE: return lower_tuple(f, t);
    case T_PART: return lower_part(f, t);
    case T_ARRAY: return lower_array(f, t);
    case T_INDEX: return lower_index(f, t);
    case T_COMP: return lower_comp(f, t);
    case T_REDUCE: return lower_reduce(f, t);
    case T_IF: return lower_if(f, t);
    case T_BLOCK: return lower_block(f, t);
    case T_INTERPOLATE: return lower_interpolate(f, t);
    case T_LET:
    case T_ASSIGN:
    case T_EXPR:
    case T_ASSERT:
    case T_RETURN:
    case T_BREAK:
    case T_CONTINUE:
    case T_FOR:
    case T_WHILE: lower_stmt(f, t); return vals_new(f->lw, 0);
    case T_KERNEL: lower_kernel(f, t); return vals_new(f->lw, 0);
    case T_BARRIER:
    case T_POISON: break;
    }
    UNREACHABLE("tree kind %d in %s", t->kind, f->inst->name);
}

Vals lower_expr(Fn *f, const Tree *t) {
    Pos pos = f->b.pos;
    if (t->span.begin) f->b.pos = t->span.begin;
    if (shape_of(f->lw, t->type)->strings) {
        lower_unsupported(f, t->span, "an array of strings");
        return emit_nothing(f, shape_of(f->lw, t->type));
    }
    uint32_t early = (uint32_t)(uintptr_t)map_getp(&f->hoisted, t);
    Vals vals = early ? env_get(f, early) : (Vals){0};
    if (!vals.at) vals = lower_node(f, t);
    if (vals.n) size_bind(f, t->type, vals);
    f->b.pos = pos;
    return vals;
}

/* ---- patterns ---- */

/* A hint for whoever reads the IR. */
static void name_value(Fn *f, const Local *local, Vals vals) {
    if (vals.n != 1 || vals.at[0]->name || !vals.at[0]->def || !local->name) return;
    if (vals.at[0]->def->op != IR_CONST)
        vals.at[0]->name = module_text(f->lw, "%s", local->name->text);
}

void lower_bind_pattern(Fn *f, const TreePattern *pattern, Type type, Vals vals) {
    if (pattern->local) {
        if (pattern->local->is_const) vals = emit_stop(f, vals);
        size_bind(f, pattern->local->type, vals);
        env_bind(f, pattern->local, vals);
        name_value(f, pattern->local, vals);
        env_note_size(f, pattern->local, vals);
        return;
    }
    for (uint32_t i = 0; i < pattern->nparts; i++) {
        Type element = type_element(type);
        Type part = element->parts[i].type;
        if (type->kind == TYPE_ARRAY)
            part = type_array(f->lw->program->types, part, type->rank, type->dims);
        lower_bind_pattern(f, &pattern->parts[i], part, lower_take_part(f, type, vals, i));
    }
}
