/* Additions to a cell that a loop does not leave: they are summed first, and the sum is added
   behind the loop.  So the loop does not load and store the cell in each step, which keeps it from
   running several steps at once, and the sum has the order of all sums.  Not so where it runs step
   by step anyway. */
#include "ir/build.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { MOST_SUMS = 8 };

typedef struct Cells {
    OptContext *context;
    IrInst *adds[MOST_SUMS];
    uint32_t n;
} Cells;

/* Does VALUE stay the same in REGION, a loop's body?  Constants of the body do, and are moved. */
static bool stays(const IrValue *value, const IrRegion *region) {
    value = ir_resolve((IrValue *)value);
    if (ir_visible(value, region->owner->parent)) return true;
    return value->def && value->def->op == IR_CONST;
}

static bool is_one_cell(const IrInst *inst, const IrRegion *body) {
    if (inst->op != IR_ACC_ADD) return false;
    uint32_t last = inst->noperands - 1;
    if (ir_resolve(inst->operands[last])->type->kind != IR_T_SCALAR) return false;
    for (uint32_t k = 0; k < last; k++)
        if (!stays(inst->operands[k], body)) return false;
    return true;
}

/* The subscript of ADD that moves with INDEX. */
static const IrValue *moving(const IrInst *add, const IrValue *index) {
    for (uint32_t k = 1; k + 1 < add->noperands; k++)
        if (opt_moves_with(add->operands[k], index)) return ir_resolve(add->operands[k]);
    return NULL;
}

/* Does no step meet another at ADD's place?  Else the loop runs step by step anyway, and sums would
   be further loops. */
static bool is_apart(const IrInst *add, const IrRegion *body) {
    const IrValue *index = body->params[body->nparams - 1], *place = moving(add, index);
    if (!place) return false;
    for (const IrInst *inst = body->first; inst; inst = inst->next)
        if (inst->op == IR_ACC_ADD &&
            ir_resolve(inst->operands[0]) == ir_resolve(add->operands[0]) &&
            !is_one_cell(inst, body) && moving(inst, index) != place)
            return false;
    return true;
}

static void find(Cells *c, const IrInst *build) {
    const IrRegion *body = build->regions[0];
    c->n = 0;
    if (build->nresults || build->imm == 0) return;
    for (IrInst *inst = body->first; inst; inst = inst->next)
        if (c->n < MOST_SUMS && is_one_cell(inst, body)) c->adds[c->n++] = inst;
    for (const IrInst *inst = body->first; c->n && inst; inst = inst->next)
        if (inst->op == IR_ACC_ADD && !is_one_cell(inst, body) && !is_apart(inst, body)) c->n = 0;
}

/* The addition itself, behind the loop. */
static void add_behind(Cells *c, IrInst *add, IrInst *loop, IrValue *sum) {
    IrBuilder b = {.module = c->context->module, .func = c->context->func};
    for (uint32_t k = 0; k + 1 < add->noperands; k++) {
        IrInst *def = ir_resolve(add->operands[k])->def;
        if (def && def->op == IR_CONST && def->parent == loop->regions[0])
            ir_move_before(def, loop);
    }
    irb_before(&b, loop->next);
    irb_acc_add(&b, ir_resolve(add->operands[0]), add->noperands - 2, add->operands + 1, sum);
}

/* BUILD as a reduction; what else it does stays in its body. */
static IrInst *as_sums(Cells *c, IrInst *build) {
    IrBuilder b = {.module = c->context->module, .func = c->context->func};
    IrValue *zeros[MOST_SUMS], *values[MOST_SUMS];
    irb_before(&b, build);
    b.pos = build->pos;
    for (uint32_t i = 0; i < c->n; i++) {
        values[i] = ir_resolve(c->adds[i]->operands[c->adds[i]->noperands - 1]);
        zeros[i] = irb_scalar_const(&b, values[i]->type->scalar, 0, -0.0);
    }
    IrInst *sums = irb_reduce(&b, IR_SUM, (uint32_t)build->imm, build->operands, c->n, zeros);
    sums->regions[0] = build->regions[0];
    sums->regions[0]->owner = sums;
    sums->regions[0]->last->operands = ARENA_ARRAY(c->context->module->arena, IrValue *, c->n);
    sums->regions[0]->last->noperands = c->n;
    for (uint32_t i = 0; i < c->n; i++) sums->regions[0]->last->operands[i] = values[i];
    return sums;
}

static void cells_region(Cells *c, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++) cells_region(c, inst->regions[r]);
        if (inst->op != IR_BUILD) continue;
        find(c, inst);
        if (!c->n) continue;
        IrInst *sums = as_sums(c, inst);
        ir_remove(inst);
        for (uint32_t i = c->n; i-- > 0;) {
            add_behind(c, c->adds[i], sums, sums->results[i]);
            ir_remove(c->adds[i]);
        }
        c->context->changed = true;
    }
}

void opt_cells(OptContext *context) {
    Cells c = {.context = context};
    cells_region(&c, context->func->body);
}
