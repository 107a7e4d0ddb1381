/* Additions that meet across the steps of a loop, as the transpose of a stencil makes them: [i, j -
   1], [i, j], [i, j + 1].  A loop with them cannot do several steps at once.  So all but those at
   one place for each step are stored beside the loop, and added by loops of their own, one for each
   place, of which no two steps meet.  What all steps add to one cell is summed.

   Looked at are innermost loops that do nothing but compute and add.  */
#include "ir/build.h"
#include "opt/adds.h"
#include "opt/opt.h"
#include "opt/uses.h"

/* BLOCK: so many steps are stored at once, which fit on the stack. */
enum { MOST_ADDS = 24, MOST_STORED = 12, BLOCK = 256 };

typedef enum Place {
    PLACE_FIXED,  /* the same in all steps */
    PLACE_MOVING, /* the step plus something that stays the same */
    PLACE_OTHER
} Place;

typedef struct Add {
    IrInst *inst;
    Place place;
    uint32_t at;          /* which subscript moves */
    const IrValue *value; /* that one */
    bool stored;
} Add;

typedef struct Scatter {
    OptContext *context;
    IrInst *build;
    const IrValue *step; /* the innermost index */
    IrBuilder b;
    IrValue *from, *len; /* of the block at hand: its first step, and how many it has */
    Add adds[MOST_ADDS];
    uint32_t n, stored;
} Scatter;

/* ---- what there is ---- */

static void classify(const Scatter *s, Add *add) {
    add->place = PLACE_FIXED;
    for (uint32_t k = 1; k + 1 < add->inst->noperands; k++) {
        const IrValue *value = ir_resolve(add->inst->operands[k]);
        if (opt_is_free_of(value, s->step)) continue;
        bool is_first = add->place == PLACE_FIXED;
        add->place = is_first && opt_moves_with(value, s->step) ? PLACE_MOVING : PLACE_OTHER;
        add->at = k;
        add->value = value;
    }
}

static bool find_adds(Scatter *s) {
    s->n = 0;
    for (IrInst *inst = s->build->regions[0]->first; inst; inst = inst->next) {
        if (inst->nregions ||
            (inst->op != IR_ACC_ADD && inst->op != IR_YIELD && !ir_removable(inst)))
            return false;
        if (inst->op != IR_ACC_ADD) continue;
        IrType type = ir_resolve(inst->operands[inst->noperands - 1])->type;
        /* A loop with lanes is wide already. */
        if (type->kind != IR_T_SCALAR || ir_scalar_lanes(type->scalar) > 1) return false;
        if (s->n == MOST_ADDS) return false;
        Add *add = &s->adds[s->n++];
        *add = (Add){.inst = inst};
        classify(s, add);
        if (add->place == PLACE_OTHER) return false;
    }
    return s->n > 1;
}

/* May the two add to one cell? */
static bool may_meet(const Add *a, const Add *b) {
    return ir_resolve(a->inst->operands[0]) == ir_resolve(b->inst->operands[0]) &&
           !adds_never_meet(a->inst, b->inst);
}

/* How many additions move as ADD does, of those that may meet it. */
static uint32_t company(const Scatter *s, const Add *add) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++)
        if (may_meet(&s->adds[k], add) && s->adds[k].place == PLACE_MOVING &&
            s->adds[k].value == add->value && s->adds[k].at == add->at)
            n++;
    return n;
}

/* The one that most additions which may meet ADD move as, or NULL: none moves. */
static const Add *best_of(const Scatter *s, const Add *add) {
    const Add *best = NULL;
    for (uint32_t k = 0; k < s->n; k++) {
        const Add *one = &s->adds[k];
        if (!may_meet(one, add) || one->place != PLACE_MOVING) continue;
        if (!best || company(s, one) > company(s, best)) best = one;
    }
    return best;
}

/* Which are stored: of those that may meet all but those that move as most of them.  True if
   additions met. */
static bool choose(Scatter *s) {
    bool meet = false;
    s->stored = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        Add *add = &s->adds[k];
        const Add *best = best_of(s, add);
        add->stored =
            add->place != PLACE_MOVING || add->value != best->value || add->at != best->at;
        s->stored += add->stored;
        meet = meet || (add->stored && add->place != PLACE_FIXED);
    }
    return meet && s->stored <= MOST_STORED;
}

/* ---- the loops ---- */

static void clone_value(Scatter *s, IrBuilder *b, IrValue *value, Map *map) {
    value = ir_resolve(value);
    if (!value->def || map_hasp(map, value) || value->def->parent != s->build->regions[0]) return;
    for (uint32_t k = 0; k < value->def->noperands; k++)
        clone_value(s, b, value->def->operands[k], map);
    ir_clone(b, value->def, map);
}

static IrValue *mapped(const Map *map, IrValue *value) {
    IrValue *here = map_getp(map, ir_resolve(value));
    return here ? here : ir_resolve(value);
}

/* The indices of the loops round the innermost one, as OUTER has them. */
static void map_indices(const Scatter *s, const Map *outer, Map *map) {
    for (uint32_t k = 0; k + 1 < (uint32_t)s->build->imm; k++) {
        IrValue *param = s->build->regions[0]->params[k];
        map_setp(map, param, mapped(outer, param));
    }
}

/* What the steps stored in VALUES for ADD is added where that says. */
static void add_all(Scatter *s, const Add *add, IrValue *values, const Map *outer) {
    IrInst *loop = irb_build(&s->b, 1, &s->len, 0, NULL, 0, NULL);
    IrBuilder b = s->b;
    Map map = {0};
    IrValue *at[IR_MAX_RANK], *step = loop->regions[0]->params[0];
    uint32_t n = add->inst->noperands - 2;
    irb_at_end(&b, loop->regions[0]);
    map_indices(s, outer, &map);
    map_setp(&map, s->step, irb_binary(&b, IR_ADD, s->from, step));
    for (uint32_t k = 0; k < n; k++) {
        clone_value(s, &b, add->inst->operands[1 + k], &map);
        at[k] = mapped(&map, add->inst->operands[1 + k]);
    }
    irb_acc_add(&b, ir_resolve(add->inst->operands[0]), n, at, irb_index(&b, values, 1, &step));
    irb_yield(&b, 0, NULL);
    map_free(&map);
}

static void add_sum(Scatter *s, const Add *add, IrValue *values, Map *outer) {
    IrValue *none = irb_scalar_const(&s->b, values->type->scalar, 0, -0.0), *at[IR_MAX_RANK];
    IrInst *sum = irb_reduce(&s->b, IR_SUM, 1, &s->len, 1, &none);
    IrBuilder b = s->b;
    irb_at_end(&b, sum->regions[0]);
    IrValue *value = irb_index(&b, values, 1, &sum->regions[0]->params[0]);
    irb_yield(&b, 1, &value);
    uint32_t n = add->inst->noperands - 2;
    for (uint32_t k = 0; k < n; k++) {
        clone_value(s, &s->b, add->inst->operands[1 + k], outer);
        at[k] = mapped(outer, add->inst->operands[1 + k]);
    }
    irb_acc_add(&s->b, ir_resolve(add->inst->operands[0]), n, at, sum->results[0]);
}

/* The addition that INST is, if it is stored. */
static const Add *stored_add(const Scatter *s, const IrInst *inst) {
    for (uint32_t k = 0; k < s->n; k++)
        if (s->adds[k].inst == inst && s->adds[k].stored) return &s->adds[k];
    return NULL;
}

/* The loop itself, which stores. */
static IrInst *storing_loop(Scatter *s, const Map *outer) {
    IrType types[MOST_STORED];
    IrValue *values[MOST_STORED];
    uint32_t n = 0;
    for (const IrInst *inst = s->build->regions[0]->first; inst; inst = inst->next)
        if (stored_add(s, inst)) types[n++] = ir_resolve(inst->operands[inst->noperands - 1])->type;
    IrInst *loop = irb_build(&s->b, 1, &s->len, n, types, 0, NULL);
    IrBuilder b = s->b;
    Map map = {0};
    irb_at_end(&b, loop->regions[0]);
    map_indices(s, outer, &map);
    map_setp(&map, s->step, irb_binary(&b, IR_ADD, s->from, loop->regions[0]->params[0]));
    n = 0;
    for (IrInst *inst = s->build->regions[0]->first; inst->op != IR_YIELD; inst = inst->next) {
        if (stored_add(s, inst)) values[n++] = mapped(&map, inst->operands[inst->noperands - 1]);
        else ir_clone(&b, inst, &map);
    }
    irb_yield(&b, n, values);
    map_free(&map);
    return loop;
}

/* A loop over the outer indices, which MAP gets, and over blocks of steps. */
static void open_blocks(Scatter *s, Map *map) {
    uint32_t rank = (uint32_t)s->build->imm;
    IrValue *sizes[IR_MAX_RANK], *size = ir_resolve(s->build->operands[rank - 1]);
    IrValue *block = irb_int(&s->b, BLOCK), *up = irb_int(&s->b, BLOCK - 1);
    for (uint32_t k = 0; k + 1 < rank; k++) sizes[k] = ir_resolve(s->build->operands[k]);
    sizes[rank - 1] = irb_binary(&s->b, IR_DIV, irb_binary(&s->b, IR_ADD, size, up), block);
    IrInst *outer = irb_build(&s->b, rank, sizes, 0, NULL, 0, NULL);
    irb_at_end(&s->b, outer->regions[0]);
    for (uint32_t k = 0; k + 1 < rank; k++)
        map_setp(map, s->build->regions[0]->params[k], outer->regions[0]->params[k]);
    s->from = irb_binary(&s->b, IR_MUL, outer->regions[0]->params[rank - 1], block);
    s->len = irb_binary(&s->b, IR_MIN, block, irb_binary(&s->b, IR_SUB, size, s->from));
}

static void by_place(Scatter *s) {
    uint32_t n = 0;
    Map map = {0};
    irb_before(&s->b, s->build);
    open_blocks(s, &map);
    IrInst *loop = storing_loop(s, &map);
    /* In the order in which the loop gives them. */
    for (const IrInst *inst = s->build->regions[0]->first; inst; inst = inst->next) {
        const Add *add = stored_add(s, inst);
        if (!add) continue;
        IrValue *values = loop->results[n++];
        if (add->place == PLACE_FIXED) add_sum(s, add, values, &map);
        else add_all(s, add, values, &map);
    }
    irb_yield(&s->b, 0, NULL);
    map_free(&map);
    ir_remove(s->build);
    s->context->changed = true;
}

static void scatter_region(OptContext *c, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++) scatter_region(c, inst->regions[r]);
        if (inst->op != IR_BUILD || inst->nresults || inst->imm == 0) continue;
        Scatter s = {.context = c, .build = inst, .b = {.module = c->module, .func = c->func}};
        s.step = inst->regions[0]->params[inst->imm - 1];
        if (find_adds(&s) && choose(&s)) by_place(&s);
    }
}

void opt_scatter(OptContext *c) {
    adds_sum(c, c->func->body);
    scatter_region(c, c->func->body);
}
