/* Ifs: both sides are lowered in the environment before, and what they assign comes out merged. */
#include "lower/internal.h"

typedef struct Side {
    Vals *values; /* of each slot */
} Side;

static bool same_value(const IrValue *a, const IrValue *b) {
    int64_t x, y;
    if (a == b) return true;
    return a->type == b->type && ir_const_int(a, &x) && ir_const_int(b, &y) && x == y;
}

/* What comes out without the IF: unchanged or constant on both sides; else NULL. */
static IrValue *common(Fn *f, IrValue *a, IrValue *b) {
    int64_t known;
    if (!same_value(a, b)) return NULL;
    if (ir_const_int(a, &known)) return irb_scalar_const(&f->b, a->type->scalar, known, 0);
    return ir_visible(a, f->b.region) ? a : NULL;
}

static void run_side(Fn *f, IrInst *inst, bool taken, const SlotSet *set, MergeRun run, void *data,
                     Side *side) {
    uint32_t mark = env_mark(f);
    irb_at_end(&f->b, inst->regions[taken ? 0 : 1]);
    run(f, taken, data);
    for (uint32_t i = 0; i < set->len; i++) {
        Vals now = env_get(f, set->at[i]);
        side->values[i] = now.at ? vals_copy(f->lw, now) : now;
    }
    env_rollback(f, mark);
}

/* A slot that one side left empty gets something there. */
static void fill_side(Fn *f, IrInst *inst, bool taken, const SlotSet *set, Side *side,
                      const Side *other) {
    irb_at_end(&f->b, inst->regions[taken ? 0 : 1]);
    for (uint32_t i = 0; i < set->len; i++)
        if (!side->values[i].at && other->values[i].at) {
            side->values[i] = emit_nothing(f, f->slots.at[set->at[i]].shape);
            f->slots.at[set->at[i]].vague = true;
        }
}

static void yield_side(Fn *f, IrInst *inst, bool taken, const SlotSet *set, const Side *side) {
    Vals all = vals_join(f->lw, set->len, side->values);
    irb_at_end(&f->b, inst->regions[taken ? 0 : 1]);
    irb_yield(&f->b, all.n, all.at);
}

static IrInst *open_if(Fn *f, IrValue *cond, const SlotSet *set) {
    VEC(IrType) types = {0};
    for (uint32_t i = 0; i < set->len; i++) {
        const Shape *shape = f->slots.at[set->at[i]].shape;
        for (uint32_t k = 0; k < shape->n; k++) vec_push(&types, shape->leaf[k].type);
    }
    IrInst *inst = irb_if(&f->b, cond, types.len, types.at);
    vec_free(&types);
    return inst;
}

void merge_if(Fn *f, IrValue *cond, const SlotSet *set, MergeRun run, void *data) {
    int64_t known;
    if (ir_const_int(cond, &known)) {
        run(f, known != 0, data);
        return;
    }
    IrRegion *outside = f->b.region;
    Pos pos = f->b.pos;
    Side sides[2];
    /* Slots that are empty after both sides stay so; the IF has results for them that nobody reads.
     */
    bool *empty = ARENA_ARRAY(f->lw->arena, bool, set->len);
    for (int s = 0; s < 2; s++) sides[s].values = ARENA_ARRAY(f->lw->arena, Vals, set->len);
    IrInst *inst = open_if(f, cond, set);
    run_side(f, inst, true, set, run, data, &sides[0]);
    run_side(f, inst, false, set, run, data, &sides[1]);
    fill_side(f, inst, true, set, &sides[0], &sides[1]);
    fill_side(f, inst, false, set, &sides[1], &sides[0]);
    for (uint32_t i = 0; i < set->len; i++) {
        empty[i] = !sides[0].values[i].at;
        if (!empty[i]) continue;
        for (int s = 0; s < 2; s++) {
            irb_at_end(&f->b, inst->regions[s]);
            sides[s].values[i] = emit_nothing(f, f->slots.at[set->at[i]].shape);
        }
    }
    yield_side(f, inst, true, set, &sides[0]);
    yield_side(f, inst, false, set, &sides[1]);
    irb_at_end(&f->b, outside);
    f->b.pos = pos;
    for (uint32_t i = 0, at = 0; i < set->len; i++) {
        Vals merged = vals_new(f->lw, sides[0].values[i].n);
        for (uint32_t k = 0; k < merged.n; k++, at++) {
            IrValue *same = common(f, sides[0].values[i].at[k], sides[1].values[i].at[k]);
            merged.at[k] = same ? same : inst->results[at];
        }
        if (empty[i]) continue;
        const Slot *slot = &f->slots.at[set->at[i]];
        if (!slot->vague) merged = size_assume_shape(f, slot->shape, merged);
        env_set(f, set->at[i], merged);
    }
}
