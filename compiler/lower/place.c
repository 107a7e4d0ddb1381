/* Places: variables, their fields, elements and slices; assignment. */
#include "lower/internal.h"

typedef struct PlaceStep {
    bool is_part;
    uint32_t begin, count; /* of a part: which leaves */
    Sub *subs;
    uint32_t nsubs;
} PlaceStep;

struct Place {
    const TreePlace *tree;
    uint32_t slot;
    PlaceStep *steps;
};

static Vals read_subs(Fn *f, Vals x, const PlaceStep *step) {
    Vals out = vals_new(f->lw, x.n);
    for (uint32_t i = 0; i < x.n; i++) out.at[i] = index_read(f, x.at[i], step->subs, step->nsubs);
    return out;
}

Place *lower_place_open(Fn *f, const TreePlace *tree) {
    Place *place = ARENA_NEW(f->lw->arena, Place);
    place->tree = tree;
    place->slot = env_slot(f, tree->local);
    CHECK_INTERNAL(place->slot);
    place->steps = ARENA_ARRAY(f->lw->arena, PlaceStep, tree->nsteps);
    Vals now = env_get(f, place->slot);
    Type type = tree->local->type;
    const char *name = tree->local->name ? tree->local->name->text : NULL;
    for (uint32_t i = 0; i < tree->nsteps; i++) {
        PlaceStep *step = &place->steps[i];
        step->is_part = tree->steps[i].is_part;
        if (step->is_part) {
            shape_part(f->lw, type, tree->steps[i].part, &step->begin, &step->count);
            type = type_element(type);
            if (type->kind != TYPE_SCALAR) type = type->parts[tree->steps[i].part].type;
            now = vals_slice(now, step->begin, step->count);
            continue;
        }
        IrValue *dims[IR_MAX_RANK];
        if (now.n) size_dims(f, now.at[0], dims);
        step->nsubs = tree->steps[i].nsubs;
        step->subs = lower_subs(f, tree->steps[i].subs, step->nsubs, dims, name);
        if (i + 1 < tree->nsteps) now = read_subs(f, now, step);
    }
    return place;
}

Vals lower_place_read(Fn *f, Place *place) {
    Vals now = env_get(f, place->slot);
    for (uint32_t i = 0; i < place->tree->nsteps; i++) {
        const PlaceStep *step = &place->steps[i];
        now = step->is_part ? vals_slice(now, step->begin, step->count) : read_subs(f, now, step);
    }
    return now;
}

/* V in the shape of NOW: a scalar fills an array. */
static Vals fitted(Fn *f, Vals now, Vals v) {
    Vals out = vals_copy(f->lw, v);
    CHECK_INTERNAL(v.n == now.n);
    for (uint32_t i = 0; i < v.n; i++) {
        IrValue *sizes[IR_MAX_RANK];
        if (now.at[i]->type->kind != IR_T_ARRAY || v.at[i]->type->kind == IR_T_ARRAY) continue;
        size_dims(f, now.at[i], sizes);
        out.at[i] = emit_fill(f, v.at[i], now.at[i]->type->rank, sizes);
    }
    return out;
}

static Vals put(Fn *f, const Place *place, uint32_t i, Vals now, Vals v) {
    if (i == place->tree->nsteps) return fitted(f, now, v);
    const PlaceStep *step = &place->steps[i];
    Vals out = vals_copy(f->lw, now);
    if (step->is_part) {
        Vals part = put(f, place, i + 1, vals_slice(now, step->begin, step->count), v);
        for (uint32_t k = 0; k < part.n; k++) out.at[step->begin + k] = part.at[k];
        return out;
    }
    bool last = i + 1 == place->tree->nsteps;
    Vals old = last ? (Vals){0} : read_subs(f, now, step);
    Vals part = last ? v : put(f, place, i + 1, old, v);
    CHECK_INTERNAL(part.n == now.n);
    for (uint32_t k = 0; k < part.n; k++)
        if (last || part.at[k] != old.at[k])
            out.at[k] = index_write(f, now.at[k], step->subs, step->nsubs, part.at[k]);
    return out;
}

void lower_place_write(Fn *f, Place *place, Vals v) {
    if (place->tree->local->is_const) v = emit_stop(f, v);
    env_set(f, place->slot, put(f, place, 0, env_get(f, place->slot), v));
}

/* On a device: one cell of an array of numbers. */
static void add_atomically(Fn *f, const Tree *t, Place *place, Vals value) {
    const PlaceStep *step = place->steps;
    Vals now = env_get(f, place->slot);
    IrValue *args[IR_MAX_RANK + 2] = {now.n ? now.at[0] : NULL, value.n ? value.at[0] : NULL};
    bool fits = now.n == 1 && value.n == 1 && now.at[0]->type->kind == IR_T_ARRAY &&
                value.at[0]->type->kind == IR_T_SCALAR && place->tree->nsteps == 1 &&
                !step->is_part && step->nsubs == now.at[0]->type->rank;
    for (uint32_t i = 0; fits && i < step->nsubs; i++) {
        fits = step->subs[i].kind == SUB_INDEX;
        args[i + 2] = step->subs[i].at;
    }
    IrScalar scalar = fits ? now.at[0]->type->scalar : IR_BOOL;
    fits = fits && (scalar == IR_F32 || scalar == IR_F64 || scalar == IR_I32 || scalar == IR_I64 ||
                    scalar == IR_U32 || scalar == IR_U64);
    if (!fits) {
        lower_unsupported(f, t->span, "`atomic_add` to this place on a device");
        return;
    }
    IrInst *call =
        irb_runtime(&f->b, "adl__device_atomic_add", step->nsubs + 2, args, 1, &now.at[0]->type);
    env_set(f, place->slot, vals_one(f->lw, call->results[0]));
}

static void assign_one(Fn *f, const Tree *t, Place *place, Type type, Vals value) {
    if (t->atomic && f->lw->options->device) {
        add_atomically(f, t, place, value);
        return;
    }
    if (t->op != AST_OP_NONE) {
        Type types[] = {place->tree->type, type};
        Vals args[] = {lower_place_read(f, place), value};
        value = lift_op(f, (AstOp)t->op, place->tree->type, types, args);
    }
    lower_place_write(f, place, value);
}

void lower_assign(Fn *f, const Tree *t, Vals value) {
    Place **places = ARENA_ARRAY(f->lw->arena, Place *, t->nplaces);
    for (uint32_t i = 0; i < t->nplaces; i++) places[i] = lower_place_open(f, &t->targets[i]);
    size_checks(f, t);
    Type type = t->args[0]->type;
    if (t->nplaces == 1) {
        assign_one(f, t, places[0], type, value);
        return;
    }
    for (uint32_t i = 0; i < t->nplaces; i++)
        assign_one(f, t, places[i], type->parts[i].type, lower_take_part(f, type, value, i));
}

/* ---- two places of one variable ---- */

/* May these two subscripts of one dimension select the same? */
static IrValue *subs_meet(Fn *f, const Sub *a, const Sub *b) {
    if (a->kind == SUB_GATHER || b->kind == SUB_GATHER) return emit_bool(f, true);
    IrValue *one = emit_int(f, 1), *from[2], *to[2];
    const Sub *subs[] = {a, b};
    for (int i = 0; i < 2; i++) {
        const Sub *s = subs[i];
        if (s->step) return emit_bool(f, true);
        from[i] = s->kind == SUB_INDEX ? s->at : s->start;
        to[i] = emit_add(f, from[i], s->kind == SUB_INDEX ? one : s->count);
    }
    return emit_and(f, emit_binary(f, IR_LT, from[0], to[1]),
                    emit_binary(f, IR_LT, from[1], to[0]));
}

void lower_place_apart(Fn *f, const Place *a, const Place *b) {
    IrValue *meet = emit_bool(f, true);
    for (uint32_t i = 0; i < a->tree->nsteps && i < b->tree->nsteps; i++) {
        const PlaceStep *x = &a->steps[i], *y = &b->steps[i];
        if (x->is_part || y->is_part) {
            if (x->is_part != y->is_part) break;
            if (x->begin != y->begin) return;
            continue;
        }
        for (uint32_t k = 0; k < x->nsubs && k < y->nsubs; k++)
            meet = emit_and(f, meet, subs_meet(f, &x->subs[k], &y->subs[k]));
    }
    emit_check(f, emit_not(f, meet), LOWER_ERROR_ARGUMENT,
               "two arguments of a call share memory, and one of them is mut", 0, NULL);
}
