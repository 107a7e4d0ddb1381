/* Subscripts: indices, ranges and gathers, read and written. */
#include "lower/internal.h"

/* ---- evaluation and checks ---- */

/* LO <= HI <= DIM, or downwards -1 <= HI <= LO < DIM: a slice that ends where it starts is empty,
   one that ends before is a mistake.  DOWN: a bool, NULL where the step is known to be positive. */
static void check_range(Fn *f, IrValue *lo, IrValue *hi, IrValue *dim, IrValue *down,
                        const char *name) {
    IrValue *zero = emit_int(f, 0), *args[] = {lo, hi, dim};
    int64_t a, b;
    bool to_end = hi == dim, constant = ir_const_int(lo, &a) && ir_const_int(hi, &b);
    bool from_zero = size_nonneg(f, lo), from_start = from_zero && ir_const_int(lo, &a) && a == 0;
    IrValue *order = constant ? emit_bool(f, a <= b) : emit_binary(f, IR_LE, lo, hi);
    if (from_start && (to_end || size_nonneg(f, hi))) order = emit_bool(f, true);
    if (ir_const_int(hi, &a) && ir_const_int(dim, &b)) to_end = a <= b;
    IrValue *ok = from_zero ? emit_bool(f, true) : emit_binary(f, IR_GE, lo, zero);
    if (!to_end) ok = emit_and(f, ok, emit_binary(f, IR_LE, hi, dim));
    if (down) {
        IrValue *below =
            emit_and(f, emit_binary(f, IR_LT, lo, dim), emit_binary(f, IR_GE, hi, emit_int(f, -1)));
        ok = irb_select(&f->b, down, below, ok);
        order = irb_select(&f->b, down, emit_binary(f, IR_LE, hi, lo), order);
    }
    name = name ? name : "an array";
    emit_check(f, order, LOWER_ERROR_INDEX,
               module_text(f->lw, "the slice {0}..{1} of %s ends before it starts", name), 2, args);
    emit_check(f, ok, LOWER_ERROR_INDEX,
               module_text(f->lw, "the range {0}..{1} is out of 0..{2} for %s", name), 3, args);
}

static void open_range(Fn *f, const TreeSub *tree, IrValue *dim, const char *name, Sub *s) {
    s->start = tree->lo ? emit_to_i64(f, lower_scalar(f, tree->lo)) : emit_int(f, 0);
    IrValue *hi = tree->hi ? emit_to_i64(f, lower_scalar(f, tree->hi)) : dim, *down = NULL;
    s->step = tree->step ? emit_to_i64(f, lower_scalar(f, tree->step)) : NULL;
    if (s->step && emit_is_int(s->step, 1)) s->step = NULL;
    IrValue *count = emit_trip_count(f, s->start, hi, s->step);
    int64_t step;
    if (s->step && !(ir_const_int(s->step, &step) && step > 0))
        down = emit_binary(f, IR_LT, s->step, emit_int(f, 0));
    check_range(f, s->start, hi, dim, down, name);
    if (!f->lw->options->unchecked) size_note_checked(f, count);
    s->count = emit_at_least_zero(f, count);
    size_note_nonneg(f, s->count);
}

Sub *lower_subs(Fn *f, const TreeSub *subs, uint32_t n, IrValue *const *dims, const char *name) {
    Sub *out = ARENA_ARRAY(f->lw->arena, Sub, n);
    Pos pos = f->b.pos;
    for (uint32_t i = 0; i < n; i++) {
        Sub *s = &out[i];
        s->kind = subs[i].kind;
        s->name = name;
        if (subs[i].span.begin) f->b.pos = subs[i].span.begin;
        switch (s->kind) {
        case SUB_INDEX:
            s->at = emit_to_i64(f, lower_scalar(f, subs[i].lo));
            emit_check_index(f, s->at, dims[i], name);
            break;
        case SUB_RANGE: open_range(f, &subs[i], dims[i], name, s); break;
        case SUB_GATHER:
            s->at = lower_scalar(f, subs[i].lo);
            s->count = irb_dim(&f->b, s->at, 0);
            size_note_nonneg(f, s->count);
            break;
        }
    }
    f->b.pos = pos;
    return out;
}

/* ---- reading ---- */

static bool all_of(const Sub *subs, uint32_t n, SubKind kind) {
    for (uint32_t i = 0; i < n; i++)
        if (subs[i].kind != kind) return false;
    return true;
}

static IrValue *gathered(Fn *f, const Sub *s, IrValue *x, uint32_t dim, IrValue *t) {
    IrValue *at = emit_to_i64(f, emit_index(f, s->at, 1, &t));
    emit_check_index(f, at, irb_dim(&f->b, x, dim), s->name);
    return at;
}

static IrValue *ranged(Fn *f, const Sub *s, IrValue *t) {
    return emit_add(f, s->start, s->step ? emit_mul(f, t, s->step) : t);
}

static IrValue *slice(Fn *f, IrValue *x, const Sub *subs, uint32_t n) {
    IrValue *start[IR_MAX_RANK], *count[IR_MAX_RANK], *step[IR_MAX_RANK];
    bool whole = true;
    for (uint32_t k = 0; k < x->type->rank; k++) {
        IrValue *dim = irb_dim(&f->b, x, k);
        start[k] = k < n ? subs[k].start : emit_int(f, 0);
        count[k] = k < n ? subs[k].count : dim;
        step[k] = k < n && subs[k].step ? subs[k].step : emit_int(f, 1);
        if (count[k] != dim) whole = false;
    }
    return whole ? x : irb_slice(&f->b, x, start, count, step);
}

/* What is left of x[at..., subs...], at[] being NAT indices that are known. */
static IrValue *read(Fn *f, IrValue *x, uint32_t nat, IrValue **at, const Sub *subs, uint32_t n) {
    IrValue *sizes[IR_MAX_RANK];
    uint32_t ninner = 0;
    while (n && subs[0].kind == SUB_INDEX) {
        at[nat++] = subs[0].at;
        subs++;
        n--;
    }
    if (!n) return emit_index(f, x, nat, at);
    if (all_of(subs, n, SUB_RANGE)) return slice(f, emit_index(f, x, nat, at), subs, n);
    for (uint32_t i = 0; i < n; i++)
        if (subs[i].kind != SUB_INDEX) sizes[ninner++] = subs[i].count;
    for (uint32_t k = nat + n; k < x->type->rank; k++) sizes[ninner++] = irb_dim(&f->b, x, k);
    IrType elem = ir_array(f->lw->module, x->type->scalar, ninner - 1, NULL);
    IrInst *build = irb_build(&f->b, 1, sizes, 1, &elem, ninner - 1, sizes + 1);
    IrRegion *outside = f->b.region;
    irb_at_end(&f->b, build->regions[0]);
    IrValue *t = build->regions[0]->params[0];
    at[nat] =
        subs[0].kind == SUB_GATHER ? gathered(f, &subs[0], x, nat, t) : ranged(f, &subs[0], t);
    IrValue *inner = read(f, x, nat + 1, at, subs + 1, n - 1);
    irb_yield(&f->b, 1, &inner);
    irb_at_end(&f->b, outside);
    return build->results[0];
}

IrValue *index_read(Fn *f, IrValue *x, const Sub *subs, uint32_t n) {
    IrValue *at[IR_MAX_RANK];
    return read(f, x, 0, at, subs, n);
}

Vals lower_index(Fn *f, const Tree *t) {
    IrValue *dims[IR_MAX_RANK];
    Vals x = lower_expr(f, t->args[0]);
    size_checks(f, t);
    if (!x.n) return x;
    size_dims(f, x.at[0], dims);
    const char *name = emit_source_text(f, t->args[0]->span, false);
    Sub *subs = lower_subs(f, t->subs, t->nsubs, dims, name);
    Vals out = vals_new(f->lw, x.n);
    for (uint32_t i = 0; i < x.n; i++) out.at[i] = index_read(f, x.at[i], subs, t->nsubs);
    return out;
}

/* ---- writing ---- */

static IrValue *write_range(Fn *f, IrValue *x, const Sub *subs, uint32_t n, IrValue *v) {
    IrValue *start[IR_MAX_RANK], *step[IR_MAX_RANK], *sizes[IR_MAX_RANK];
    uint32_t rank = x->type->rank;
    for (uint32_t k = 0; k < rank; k++) {
        bool index = k < n && subs[k].kind == SUB_INDEX;
        start[k] = k >= n ? emit_int(f, 0) : index ? subs[k].at : subs[k].start;
        step[k] = k < n && !index && subs[k].step ? subs[k].step : emit_int(f, 1);
        sizes[k] = k >= n ? irb_dim(&f->b, x, k) : index ? emit_int(f, 1) : subs[k].count;
    }
    if (v->type->kind == IR_T_SCALAR) v = emit_fill(f, v, rank, sizes);
    else if (v->type->rank != rank) v = irb_reshape(&f->b, v, rank, sizes);
    return irb_assign(&f->b, x, start, step, v);
}

/* v[.., t] with .. standing for DIM dimensions. */
static IrValue *take_at(Fn *f, IrValue *v, uint32_t dim, IrValue *t) {
    Sub subs[IR_MAX_RANK];
    if (v->type->kind == IR_T_SCALAR) return v;
    for (uint32_t k = 0; k < dim; k++)
        subs[k] = (Sub){.kind = SUB_RANGE, .start = emit_int(f, 0), .count = irb_dim(&f->b, v, k)};
    subs[dim] = (Sub){.kind = SUB_INDEX, .at = t};
    return index_read(f, v, subs, dim + 1);
}

/* A gather is written in order: of repeated indices the last one stays. */
static IrValue *write_gather(Fn *f, IrValue *x, const Sub *subs, uint32_t n, uint32_t which,
                             IrValue *v) {
    uint32_t dim = 0;
    Sub *own = ARENA_ARRAY(f->lw->arena, Sub, n);
    for (uint32_t i = 0; i < n; i++) {
        own[i] = subs[i];
        if (i < which && subs[i].kind != SUB_INDEX) dim++;
    }
    IrInst *loop = irb_loop(&f->b, subs[which].count, 1, &x, false);
    IrRegion *outside = f->b.region;
    irb_at_end(&f->b, loop->regions[0]);
    IrValue *t = loop->regions[0]->params[0], *now = loop->regions[0]->params[1];
    own[which] = (Sub){.kind = SUB_INDEX, .at = gathered(f, &subs[which], now, which, t)};
    IrValue *next = index_write(f, now, own, n, take_at(f, v, dim, t));
    irb_yield(&f->b, 1, &next);
    irb_at_end(&f->b, outside);
    return loop->results[0];
}

IrValue *index_write(Fn *f, IrValue *x, const Sub *subs, uint32_t n, IrValue *v) {
    IrValue *at[IR_MAX_RANK], *sizes[IR_MAX_RANK];
    for (uint32_t i = 0; i < n; i++)
        if (subs[i].kind == SUB_GATHER) return write_gather(f, x, subs, n, i, v);
    if (!all_of(subs, n, SUB_INDEX)) return write_range(f, x, subs, n, v);
    for (uint32_t i = 0; i < n; i++) at[i] = subs[i].at;
    if (v->type->kind == IR_T_SCALAR && n < x->type->rank) {
        for (uint32_t k = n; k < x->type->rank; k++) sizes[k - n] = irb_dim(&f->b, x, k);
        v = emit_fill(f, v, x->type->rank - n, sizes);
    }
    return irb_update(&f->b, x, n, at, v);
}
