/* reduce, scan, accumulate: built-in functions that take a function. */
#include "lower/internal.h"

/* x + y of two scalar parameters and nothing else, so that it may be added in any order. */
static bool is_plain_sum(const Instance *inst) {
    const Tree *body = inst->body;
    uint32_t first = inst->ncaptures;
    while (body && body->kind == T_BLOCK && !body->nstmts) body = body->body;
    if (!body || body->kind != T_OP || body->op != AST_OP_ADD || body->lifted) return false;
    if (inst->nparams != first + 2 || body->nargs != 2) return false;
    const Tree *x = body->args[0], *y = body->args[1];
    if (x->kind != T_LOCAL || y->kind != T_LOCAL || body->type->kind != TYPE_SCALAR) return false;
    const Local *a = inst->params[first], *b = inst->params[first + 1];
    return (x->local == a && y->local == b) || (x->local == b && y->local == a);
}

Vals call_closure(Fn *f, const Instance *inst, Vals captures, uint32_t n, const Vals *args) {
    Vals *all = ARENA_ARRAY(f->lw->arena, Vals, inst->nparams + 1);
    uint32_t at = 0;
    CHECK_INTERNAL(inst->ncaptures + n == inst->nparams);
    for (uint32_t i = 0; i < inst->ncaptures; i++) {
        uint32_t count = shape_count(f->lw, inst->params[i]->type);
        all[i] = vals_slice(captures, at, count);
        at += count;
    }
    for (uint32_t i = 0; i < n; i++) all[inst->ncaptures + i] = args[i];
    return call_values(f, inst, inst->nparams, all);
}

/* ---- the array as a list of elements ---- */

typedef struct List {
    Vals array; /* with the list's dimension in front */
    IrValue *count;
} List;

/* The leading dimensions beyond those of an element, made one. */
static List list_of(Fn *f, Vals array, Type type, Type element) {
    uint32_t rank = type->rank - (element->kind == TYPE_ARRAY ? element->rank : 0);
    List list = {vals_copy(f->lw, array), NULL};
    if (rank == 1) {
        list.count = irb_dim(&f->b, array.at[0], 0);
        size_note_nonneg(f, list.count);
        return list;
    }
    for (uint32_t i = 0; i < array.n; i++) {
        IrValue *sizes[IR_MAX_RANK];
        uint32_t n = 1;
        sizes[0] = emit_int(f, 1);
        for (uint32_t k = 0; k < array.at[i]->type->rank; k++) {
            IrValue *dim = irb_dim(&f->b, array.at[i], k);
            if (k < rank) sizes[0] = emit_mul(f, sizes[0], dim);
            else sizes[n++] = dim;
        }
        size_note_nonneg(f, sizes[0]);
        list.array.at[i] = irb_reshape(&f->b, array.at[i], n, sizes);
        list.count = sizes[0];
    }
    return list;
}

static Vals list_element(Fn *f, const List *list, IrValue *t) {
    Vals out = vals_new(f->lw, list->array.n);
    for (uint32_t i = 0; i < out.n; i++) out.at[i] = emit_index(f, list->array.at[i], 1, &t);
    return out;
}

/* ---- reduce ---- */

static Vals plain_sum(Fn *f, Vals unit, const List *list) {
    IrInst *inst = irb_reduce(&f->b, IR_SUM, 1, &list->count, unit.n, unit.at);
    IrRegion *outside = f->b.region;
    irb_at_end(&f->b, inst->regions[0]);
    Vals x = list_element(f, list, inst->regions[0]->params[0]);
    irb_yield(&f->b, x.n, x.at);
    irb_at_end(&f->b, outside);
    Vals out = vals_new(f->lw, inst->nresults);
    for (uint32_t i = 0; i < out.n; i++) out.at[i] = inst->results[i];
    return out;
}

static void function_args(Fn *f, const Tree *t, Vals *args) {
    lower_args(f, t, args);
    if (!t->instance) UNREACHABLE("a built-in function in %s lacks its operand", f->inst->name);
}

Vals builtin_reduce(Fn *f, const Tree *t) {
    Vals args[3];
    const Instance *op = t->instance;
    function_args(f, t, args);
    List list = list_of(f, args[2], t->args[2]->type, op->params[op->ncaptures + 1]->type);
    if (is_plain_sum(op)) return plain_sum(f, args[1], &list);
    uint32_t slot = env_new_slot(f, shape_of(f->lw, t->type));
    Loop loop = {0};
    env_set(f, slot, args[1]);
    slots_add(&loop.carried, slot);
    IrValue *trip = loop_open(f, &loop, list.count, false);
    loop.inst->flags |= IR_LOOP_SCAN;
    Vals pair[] = {env_get(f, slot), list_element(f, &list, trip)};
    env_set(f, slot, call_closure(f, op, args[0], 2, pair));
    loop_close(f, &loop, NULL);
    return env_get(f, slot);
}

/* ---- scan ---- */

static Vals zeros_of(Fn *f, IrValue *count, Vals unit) {
    Vals out = vals_new(f->lw, unit.n);
    for (uint32_t i = 0; i < unit.n; i++) {
        IrValue *sizes[IR_MAX_RANK];
        IrType type = unit.at[i]->type;
        sizes[0] = count;
        if (type->kind == IR_T_ARRAY) size_dims(f, unit.at[i], sizes + 1);
        IrValue *zero = irb_zero(&f->b, type->scalar);
        out.at[i] = emit_fill(f, zero, 1 + (type->kind == IR_T_ARRAY ? type->rank : 0), sizes);
    }
    return out;
}

/* Can the results lie where the elements of LIST are? */
static bool are_alike(const List *list, Vals unit) {
    for (uint32_t i = 0; i < unit.n; i++) {
        IrType from = list->array.at[i]->type;
        if (unit.at[i]->type->kind != IR_T_SCALAR || from->rank != 1) return false;
        if (from->scalar != unit.at[i]->type->scalar) return false;
    }
    return list->array.n == unit.n;
}

Vals builtin_scan(Fn *f, const Tree *t) {
    Vals args[4];
    const Instance *op = t->instance;
    bool exclusive = t->nargs > 3 && t->args[3]->kind == T_BOOL && t->args[3]->value;
    function_args(f, t, args);
    List list = list_of(f, args[2], t->args[2]->type, op->params[op->ncaptures + 1]->type);
    uint32_t slot = env_new_slot(f, shape_of(f->lw, t->args[1]->type));
    uint32_t into = env_new_slot(f, shape_of(f->lw, t->type));
    Loop loop = {0};
    env_set(f, slot, args[1]);
    bool over = are_alike(&list, args[1]);
    env_set(f, into, over ? list.array : zeros_of(f, list.count, args[1]));
    slots_add(&loop.carried, slot);
    slots_add(&loop.carried, into);
    IrValue *trip = loop_open(f, &loop, list.count, false);
    Vals before = env_get(f, slot), filled = vals_copy(f->lw, env_get(f, into));
    loop.inst->flags |= IR_LOOP_SCAN;
    if (over) list.array = vals_copy(f->lw, filled);
    Vals pair[] = {before, list_element(f, &list, trip)};
    Vals after = call_closure(f, op, args[0], 2, pair);
    for (uint32_t i = 0; i < filled.n; i++) {
        IrValue *value = exclusive ? before.at[i] : after.at[i];
        filled.at[i] = irb_update(&f->b, filled.at[i], 1, &trip, value);
    }
    env_set(f, slot, after);
    env_set(f, into, filled);
    loop_close(f, &loop, NULL);
    return env_get(f, into);
}

/* ---- accumulate ---- */

typedef struct Scatter {
    const Instance *op;
    Vals captures;
    Vals into, indices, values;
    IrValue *count;
    const char *name;
} Scatter;

/* The indices of value T, checked against the sizes of X. */
static uint32_t scatter_at(Fn *f, const Scatter *s, const IrValue *x, IrValue *t, IrValue **at) {
    for (uint32_t k = 0; k < s->indices.n; k++) {
        at[k] = emit_to_i64(f, emit_index(f, s->indices.at[k], 1, &t));
        emit_check_index(f, at[k], irb_dim(&f->b, (IrValue *)x, k), s->name);
    }
    return s->indices.n;
}

static Vals scatter_sum(Fn *f, const Scatter *s) {
    IrInst *with = irb_with_acc(&f->b, s->into.n, s->into.at, 0, NULL);
    IrRegion *outside = f->b.region;
    irb_at_end(&f->b, with->regions[0]);
    IrInst *build = irb_build(&f->b, 1, &s->count, 0, NULL, 0, NULL);
    irb_at_end(&f->b, build->regions[0]);
    IrValue *t = build->regions[0]->params[0], *at[IR_MAX_RANK];
    uint32_t n = scatter_at(f, s, s->into.at[0], t, at);
    for (uint32_t i = 0; i < s->into.n; i++) {
        IrValue *value = emit_index(f, s->values.at[i], 1, &t);
        irb_acc_add(&f->b, with->regions[0]->params[i], n, at, value);
    }
    irb_yield(&f->b, 0, NULL);
    irb_at_end(&f->b, with->regions[0]);
    irb_yield(&f->b, 0, NULL);
    irb_at_end(&f->b, outside);
    Vals out = vals_new(f->lw, s->into.n);
    for (uint32_t i = 0; i < out.n; i++) out.at[i] = with->results[i];
    return out;
}

static Vals combine_scalars(Fn *f, const Vals *args, void *data) {
    const Scatter *s = data;
    return call_closure(f, s->op, s->captures, 2, args);
}

/* The operands of op at one place: scalars, or rows that it is lifted over. */
static Vals combine(Fn *f, const Scatter *s, Vals old, Vals value) {
    const Type param = s->op->params[s->op->ncaptures]->type;
    Vals args[] = {old, value};
    bool rows = old.at[0]->type->kind == IR_T_ARRAY && param->kind != TYPE_ARRAY;
    if (!rows) return combine_scalars(f, args, (void *)s);
    bool lifted[] = {true, true};
    Size any = size_any(f->lw->program->types);
    Size dims[IR_MAX_RANK];
    for (uint32_t k = 0; k < old.at[0]->type->rank; k++) dims[k] = any;
    Type row = type_array(f->lw->program->types, param, old.at[0]->type->rank, dims);
    return lift(f, row, 2, args, lifted, combine_scalars, (void *)s);
}

static Vals scatter_loop(Fn *f, const Scatter *s, Type type) {
    uint32_t slot = env_new_slot(f, shape_of(f->lw, type));
    Loop loop = {0};
    env_set(f, slot, s->into);
    slots_add(&loop.carried, slot);
    IrValue *t = loop_open(f, &loop, s->count, false), *at[IR_MAX_RANK];
    Vals now = env_get(f, slot), next = vals_new(f->lw, now.n);
    uint32_t n = scatter_at(f, s, now.at[0], t, at);
    Vals old = vals_new(f->lw, now.n), value = vals_new(f->lw, now.n);
    for (uint32_t i = 0; i < now.n; i++) {
        old.at[i] = emit_index(f, now.at[i], n, at);
        value.at[i] = emit_index(f, s->values.at[i], 1, &t);
    }
    Vals made = combine(f, s, old, value);
    for (uint32_t i = 0; i < now.n; i++)
        next.at[i] = irb_update(&f->b, now.at[i], n, at, made.at[i]);
    env_set(f, slot, next);
    loop_close(f, &loop, NULL);
    return env_get(f, slot);
}

Vals builtin_accumulate(Fn *f, const Tree *t) {
    Vals args[4];
    function_args(f, t, args);
    Scatter s = {t->instance, args[0], args[1], args[2], args[3], NULL, NULL};
    s.count = irb_dim(&f->b, s.indices.at[0], 0);
    s.name = emit_source_text(f, t->args[1]->span, false);
    IrValue *pair[] = {s.count, irb_dim(&f->b, s.values.at[0], 0)};
    if (pair[0] != pair[1])
        emit_check(f, emit_binary(f, IR_EQ, pair[0], pair[1]), LOWER_ERROR_SIZE,
                   "accumulate has {0} indices, but {1} values", 2, pair);
    bool floats = true;
    for (uint32_t i = 0; i < s.into.n; i++) floats = floats && ir_is_float(s.into.at[i]->type);
    if (floats && is_plain_sum(s.op)) return scatter_sum(f, &s);
    return scatter_loop(f, &s, t->type);
}
