/* Heads and comprehensions. */
#include "lower/internal.h"

#include <string.h>

/* ---- heads ---- */

static void open_array(Fn *f, const TreeHead *tree, Head *head) {
    head->array = lower_expr(f, tree->array);
    head->lo = emit_int(f, 0);
    head->count = head->array.n ? irb_dim(&f->b, head->array.at[0], 0) : emit_int(f, 0);
}

void head_open(Fn *f, const TreeHead *tree, Head *head) {
    Pos pos = f->b.pos;
    if (tree->span.begin) f->b.pos = tree->span.begin;
    memset(head, 0, sizeof *head);
    head->tree = tree;
    if (tree->array) {
        open_array(f, tree, head);
    } else {
        IrValue *hi;
        head->lo = tree->lo ? emit_to_i64(f, lower_scalar(f, tree->lo)) : emit_int(f, 0);
        if (tree->hi) {
            hi = emit_to_i64(f, lower_scalar(f, tree->hi));
        } else {
            hi = tree->count ? size_value(f, tree->count) : NULL;
            if (!hi) UNREACHABLE("a range of %s has no end", f->inst->name);
        }
        head->step = tree->step ? emit_to_i64(f, lower_scalar(f, tree->step)) : NULL;
        if (head->step && emit_is_int(head->step, 1)) head->step = NULL;
        head->count = emit_trip_count(f, head->lo, hi, head->step);
    }
    f->b.pos = pos;
}

IrValue *head_index(Fn *f, const Head *head, IrValue *t) {
    IrValue *i = emit_add(f, head->lo, head->step ? emit_mul(f, t, head->step) : t);
    if (!head->step && size_nonneg(f, head->lo)) size_note_nonneg(f, i);
    return i;
}

bool head_depends(const TreeHead *head, const TreeHead *on) {
    const TreePattern *p = &on->pattern;
    return scan_uses(head->lo, p, 1) || scan_uses(head->hi, p, 1) || scan_uses(head->step, p, 1) ||
           scan_uses(head->array, p, 1);
}

static Type element_type(Fn *f, Type type) {
    if (type->rank <= 1) return type->elem;
    return type_array(f->lw->program->types, type->elem, type->rank - 1, type->dims + 1);
}

void head_bind(Fn *f, const Head *head, IrValue *t) {
    const TreePattern *pattern = &head->tree->pattern;
    size_note_nonneg(f, t);
    if (!head->tree->array) {
        if (!pattern->local) return;
        IrValue *i = head_index(f, head, t);
        Type type = pattern->local->type;
        i = irb_cast(&f->b, i, ir_of_scalar(type->scalar));
        lower_bind_pattern(f, pattern, type, vals_one(f->lw, i));
        return;
    }
    Vals element = vals_new(f->lw, head->array.n);
    for (uint32_t k = 0; k < element.n; k++)
        element.at[k] = emit_index(f, head->array.at[k], 1, &t);
    lower_bind_pattern(f, pattern, element_type(f, head->tree->array->type), element);
}

/* ---- comprehensions ---- */

typedef struct Comp {
    const Tree *body;
    const Head *heads;
    uint32_t n;
    IrValue *chosen; /* the trips that WHERE let through, or NULL */
} Comp;

static Vals comp_body(Fn *f, IrValue *const *indices, void *data) {
    const Comp *comp = data;
    for (uint32_t i = 0; i < comp->n; i++) {
        IrValue *t = indices[i];
        if (comp->chosen) t = emit_index(f, comp->chosen, 1, &t);
        head_bind(f, &comp->heads[i], t);
    }
    return lower_expr(f, comp->body);
}

static Vals mask_body(Fn *f, IrValue *const *indices, void *data) {
    const Comp *comp = data;
    head_bind(f, &comp->heads[0], indices[0]);
    return vals_one(f->lw, lower_scalar(f, comp->body));
}

/* Every trip is written to the list; the place moves on only behind one that holds. */
IrValue *comp_filter(Fn *f, const Head *head, const Tree *where) {
    Comp comp = {.body = where, .heads = head, .n = 1};
    IrValue *count = emit_at_least_zero(f, head->count);
    TypeTable *types = f->lw->program->types;
    Size any = size_any(types);
    Type i64 = type_scalar(types, SCALAR_I64);
    const Shape *bools =
        shape_of(f->lw, type_array(types, type_scalar(types, SCALAR_BOOL), 1, &any));
    const Shape *list = shape_of(f->lw, type_array(types, i64, 1, &any));
    IrValue *mask = emit_build(f, 1, &count, bools, mask_body, &comp).at[0];
    uint32_t kept = env_new_slot(f, list), at = env_new_slot(f, shape_of(f->lw, i64));
    Loop loop = {0};
    env_set(f, kept, vals_one(f->lw, emit_fill(f, emit_int(f, 0), 1, &count)));
    env_set(f, at, vals_one(f->lw, emit_int(f, 0)));
    slots_add(&loop.carried, kept);
    slots_add(&loop.carried, at);
    IrValue *t = loop_open(f, &loop, count, false);
    IrValue *place = env_get(f, at).at[0];
    IrValue *holds = emit_to_i64(f, emit_index(f, mask, 1, &t));
    env_set(f, kept, vals_one(f->lw, irb_update(&f->b, env_get(f, kept).at[0], 1, &place, t)));
    env_set(f, at, vals_one(f->lw, emit_add(f, place, holds)));
    loop_close(f, &loop, NULL);
    IrValue *start = emit_int(f, 0), *step = emit_int(f, 1), *n = env_get(f, at).at[0];
    size_note_nonneg(f, n);
    return irb_slice(&f->b, env_get(f, kept).at[0], &start, &n, &step);
}

/* ---- heads that make no regular array: of a reduction by a function of the library ---- */

/* The trips of all heads, as lists of the same length. */
typedef struct Trips {
    const Tree *tree;
    uint32_t *lists, count; /* slots; lists NULL: only counted */
    IrValue **now;
    SlotSet carried;
} Trips;

static void trip(Fn *f, Trips *trips) {
    IrValue *at = env_get(f, trips->count).at[0];
    for (uint32_t k = 0; trips->lists && k < trips->tree->nheads; k++) {
        IrValue *list = env_get(f, trips->lists[k]).at[0];
        list = irb_update(&f->b, list, 1, &at, trips->now[k]);
        env_set(f, trips->lists[k], vals_one(f->lw, list));
    }
    env_set(f, trips->count, vals_one(f->lw, emit_add(f, at, emit_int(f, 1))));
}

static void trip_side(Fn *f, bool taken, void *data) {
    if (taken) trip(f, data);
}

static void trips_level(Fn *f, Trips *trips, uint32_t level) {
    const Tree *t = trips->tree;
    Head head;
    Loop loop = {0};
    head_open(f, &t->heads[level], &head);
    for (uint32_t i = 0; i < trips->carried.len; i++)
        slots_add(&loop.carried, trips->carried.at[i]);
    trips->now[level] = loop_open(f, &loop, head.count, false);
    head_bind(f, &head, trips->now[level]);
    if (level + 1 < t->nheads) trips_level(f, trips, level + 1);
    else if (t->where) merge_if(f, lower_scalar(f, t->where), &trips->carried, trip_side, trips);
    else trip(f, trips);
    loop_close(f, &loop, NULL);
}

static void run_trips(Fn *f, Trips *trips) {
    uint32_t mark = env_mark(f);
    env_set(f, trips->count, vals_one(f->lw, emit_int(f, 0)));
    slots_add(&trips->carried, trips->count);
    trips_level(f, trips, 0);
    env_forget_sizes(f, mark);
}

typedef struct Listed {
    const Tree *tree;
    IrValue **lists;
} Listed;

static Vals listed_body(Fn *f, IrValue *const *indices, void *data) {
    const Listed *listed = data;
    for (uint32_t k = 0; k < listed->tree->nheads; k++) {
        Head head;
        head_open(f, &listed->tree->heads[k], &head);
        head_bind(f, &head, emit_index(f, listed->lists[k], 1, indices));
    }
    return lower_expr(f, listed->tree->body);
}

/* All elements in a row; the other dimensions of the type, which mean nothing, are 1. */
static Vals irregular_comp(Fn *f, const Tree *t) {
    TypeTable *types = f->lw->program->types;
    Size any = size_any(types);
    Type i64 = type_scalar(types, SCALAR_I64);
    Trips trips = {.tree = t, .count = env_new_slot(f, shape_of(f->lw, i64))};
    IrValue *sizes[IR_MAX_RANK];
    trips.now = ARENA_ARRAY(f->lw->arena, IrValue *, t->nheads);
    run_trips(f, &trips);
    sizes[0] = env_get(f, trips.count).at[0];
    size_note_nonneg(f, sizes[0]);
    trips.lists = ARENA_ARRAY(f->lw->arena, uint32_t, t->nheads);
    for (uint32_t k = 0; k < t->nheads; k++) {
        trips.lists[k] = env_new_slot(f, shape_of(f->lw, type_array(types, i64, 1, &any)));
        env_set(f, trips.lists[k], vals_one(f->lw, emit_fill(f, emit_int(f, 0), 1, sizes)));
        slots_add(&trips.carried, trips.lists[k]);
    }
    run_trips(f, &trips);
    vec_free(&trips.carried);
    Listed listed = {t, ARENA_ARRAY(f->lw->arena, IrValue *, t->nheads)};
    for (uint32_t k = 0; k < t->nheads; k++) listed.lists[k] = env_get(f, trips.lists[k]).at[0];
    uint32_t rank = t->where ? 1 : t->nheads;
    for (uint32_t k = 1; k < rank; k++) sizes[k] = emit_int(f, 1);
    return emit_build(f, rank, sizes, shape_of(f->lw, t->type), listed_body, &listed);
}

static bool is_regular(const Tree *t) {
    if (t->where && t->nheads > 1) return false;
    for (uint32_t i = 1; i < t->nheads; i++)
        for (uint32_t k = 0; k < i; k++)
            if (head_depends(&t->heads[i], &t->heads[k])) return false;
    return true;
}

Vals lower_comp(Fn *f, const Tree *t) {
    Head *heads = ARENA_ARRAY(f->lw->arena, Head, t->nheads);
    IrValue *sizes[IR_MAX_RANK];
    Comp comp = {.body = t->body, .heads = heads, .n = t->nheads};
    if (!is_regular(t)) {
        size_checks(f, t);
        return irregular_comp(f, t);
    }
    for (uint32_t i = 0; i < t->nheads; i++) {
        head_open(f, &t->heads[i], &heads[i]);
        sizes[i] = t->heads[i].count && !t->heads[i].array ? size_dim(f, t->heads[i].count) : NULL;
        if (!sizes[i]) sizes[i] = emit_at_least_zero(f, heads[i].count);
        size_note_nonneg(f, sizes[i]);
    }
    size_checks(f, t);
    if (t->where) {
        comp.chosen = comp_filter(f, &heads[0], t->where);
        sizes[0] = irb_dim(&f->b, comp.chosen, 0);
    }
    return emit_build(f, t->nheads, sizes, shape_of(f->lw, t->type), comp_body, &comp);
}
