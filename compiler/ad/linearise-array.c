/* Tangents of the operations that move elements of arrays about, of products, and of tapes and
   accumulators.  Where one operand has a tangent and another has none, the structure needs zeros.
 */
#include "ad/linearise.h"

#include "base/fatal.h"

/* INST with its operands FIRST and, if it has one, LAST replaced, the others primal. */
static IrValue *same_with(Lin *l, const IrInst *inst, IrValue *first, IrValue *last) {
    IrValue **operands = ARENA_ARRAY(l->ad->arena, IrValue *, inst->noperands);
    for (uint32_t i = 0; i < inst->noperands; i++) operands[i] = primal_of(l, inst->operands[i]);
    operands[0] = first;
    if (last) operands[inst->noperands - 1] = last;
    IrType type = tangent_type(l, inst->results[0]->type);
    IrInst *copy = irb_inst(l->b, inst->op, inst->noperands, operands, 1, &type, 0);
    copy->nints = inst->nints;
    copy->ints = inst->ints;
    copy->flags = inst->flags;
    copy->imm = inst->imm;
    return mark_linear(l, copy->results[0]);
}

/* INDEX, SLICE, TRANSPOSE, RESHAPE */
static void moved(Lin *l, IrInst *inst) {
    IrValue *dx = tangent_of(l, inst->operands[0]);
    if (dx) set_tangent(l, inst->results[0], same_with(l, inst, dx, NULL));
}

/* UPDATE, ASSIGN */
static void written(Lin *l, IrInst *inst) {
    const IrValue *x = inst->operands[0], *v = inst->operands[inst->noperands - 1];
    if (!tangent_of(l, x) && !tangent_of(l, v)) return;
    IrValue *dx = tangent_or_zero(l, x), *dv = tangent_or_zero(l, v);
    set_tangent(l, inst->results[0], same_with(l, inst, dx, dv));
}

/* PACK, CONCAT */
static void joined(Lin *l, IrInst *inst) {
    IrValue **operands = ARENA_ARRAY(l->ad->arena, IrValue *, inst->noperands);
    IrType type = tangent_type(l, inst->results[0]->type);
    bool any = false;
    for (uint32_t i = 0; i < inst->noperands; i++) any |= tangent_of(l, inst->operands[i]) != NULL;
    if (!any) return;
    for (uint32_t i = 0; i < inst->noperands; i++)
        operands[i] = tangent_or_zero(l, inst->operands[i]);
    IrInst *copy = irb_inst(l->b, inst->op, inst->noperands, operands, 1, &type, 0);
    set_tangent(l, inst->results[0], copy->results[0]);
}

static void contracted(Lin *l, IrInst *inst) {
    IrValue *x = primal_of(l, inst->operands[0]), *y = primal_of(l, inst->operands[1]);
    IrValue *dx = tangent_of(l, inst->operands[0]), *dy = tangent_of(l, inst->operands[1]);
    if (dx) dx = mark_linear(l, irb_contract(l->b, dx, y, inst->flags));
    if (dy) dy = mark_linear(l, irb_contract(l->b, x, dy, inst->flags));
    IrValue *z = primal_of(l, inst->results[0]);
    if (dx && z->type->rank) map_setp(&l->mixed->partners, dx, z);
    if (dy && z->type->rank) map_setp(&l->mixed->partners, dy, z);
    set_tangent(l, inst->results[0], linear_add(l, dx, dy));
}

static void accumulated(Lin *l, IrInst *inst) {
    uint32_t n = inst->noperands - 2;
    IrValue *indices[IR_MAX_RANK], *dacc = tangent_of(l, inst->operands[0]);
    IrValue *dv = tangent_of(l, inst->operands[n + 1]);
    if (!dacc || !dv) return;
    for (uint32_t i = 0; i < n; i++) indices[i] = primal_of(l, inst->operands[1 + i]);
    irb_acc_add(l->b, dacc, n, indices, dv);
}

/* The tape of tangents holds one for each float that the tape holds. */
static void pushed(Lin *l, IrInst *inst) {
    IrValue **values = ARENA_ARRAY(l->ad->arena, IrValue *, inst->noperands);
    IrValue *tape = tangent_or_zero(l, inst->operands[0]);
    uint32_t n = 0;
    for (uint32_t i = 1; i < inst->noperands; i++)
        if (ad_carries(inst->operands[i]->type))
            values[n++] = tangent_or_zero(l, inst->operands[i]);
    if (n) tape = irb_tape_push_typed(l->b, tape, n, values);
    set_tangent(l, inst->results[0], tape);
}

static void popped(Lin *l, IrInst *inst) {
    IrType *types = ARENA_ARRAY(l->ad->arena, IrType, inst->nresults);
    IrValue *tape = tangent_or_zero(l, inst->operands[0]);
    uint32_t n = 0, at = 1;
    for (uint32_t i = 1; i < inst->nresults; i++)
        if (ad_carries(inst->results[i]->type))
            types[n++] = tangent_type(l, inst->results[i]->type);
    if (!n) {
        set_tangent(l, inst->results[0], tape);
        return;
    }
    IrInst *pop = irb_tape_pop_typed(l->b, tape, n, types);
    set_tangent(l, inst->results[0], pop->results[0]);
    for (uint32_t i = 1; i < inst->nresults; i++)
        if (ad_carries(inst->results[i]->type))
            set_tangent(l, inst->results[i], pop->results[at++]);
}

void linearise_array(Lin *l, IrInst *inst) {
    switch ((int)inst->op) {
    case IR_INDEX:
    case IR_SLICE:
    case IR_TRANSPOSE:
    case IR_RESHAPE: moved(l, inst); break;
    case IR_ASSUME: set_tangent(l, inst->results[0], tangent_of(l, inst->operands[0])); break;
    case IR_UPDATE:
    case IR_ASSIGN: written(l, inst); break;
    case IR_PACK:
    case IR_CONCAT: joined(l, inst); break;
    case IR_CONTRACT: contracted(l, inst); break;
    case IR_ACC_ADD: accumulated(l, inst); break;
    case IR_TAPE_NEW:
        set_tangent(l, inst->results[0], linear_zero(l, primal_of(l, inst->results[0])));
        break;
    case IR_TAPE_PUSH: pushed(l, inst); break;
    case IR_TAPE_POP: popped(l, inst); break;
    case IR_TAPE_SUM:
        set_tangent(l, inst->results[0],
                    irb_tape_sum(l->b, tangent_or_zero(l, inst->operands[0]),
                                 tangent_or_zero(l, inst->operands[1])));
        break;
    default: UNREACHABLE("no tangent for %s", ir_op_info(inst->op)->name);
    }
}
