/* Custom derivatives of which the reverse is given.  In what is transposed, a linear call stands
   for the rule; its transpose is the call of the rule as it was written. */
#include "ad/linearise.h"

typedef struct Uses {
    const IrFunc *rule;
    bool *read;
} Uses;

static void note_uses(IrInst *inst, void *data) {
    const Uses *uses = data;
    for (uint32_t i = 0; i < inst->noperands; i++) {
        const IrValue *value = inst->operands[i];
        if (!value->def && value->region == uses->rule->body) uses->read[value->index] = true;
    }
}

/* Which of its parameters the rule reads; the others need not be kept for it. */
static const bool *uses_of(Ad *ad, IrFunc *rule) {
    bool *read = map_getp(&ad->uses, rule);
    if (read) return read;
    read = ARENA_ARRAY(ad->arena, bool, rule->nparams + 1);
    Uses uses = {rule, read};
    ad_clean(rule);
    ir_walk(rule->body, note_uses, &uses);
    map_setp(&ad->uses, rule, read);
    return read;
}

static MixedCall *rule_info(Lin *l, const IrFunc *callee, IrValue *const *tangents) {
    MixedCall *info = ARENA_NEW(l->ad->arena, MixedCall);
    uint8_t *in = ARENA_ARRAY(l->ad->arena, uint8_t, callee->nparams + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < callee->nparams; i++)
        if (callee->rule_active[i]) in[n++] = tangents[i] != NULL;
    *info = (MixedCall){.callee = callee->reverse_rule,
                        .in_active = in,
                        .is_rule = true,
                        .uses = uses_of(l->ad, callee->reverse_rule)};
    return info;
}

IrInst *linearise_primal_call(Lin *l, IrFunc *callee, IrValue *const *args, bool reversed) {
    if (reversed && callee->augmented) callee = callee->augmented;
    return irb_call(l->b, callee, args);
}

void linearise_reverse_rule(Lin *l, const IrFunc *callee, IrValue *const *args,
                            IrValue *const *tangents, const IrInst *primal, IrValue **out) {
    const IrFunc *rule = callee->reverse_rule;
    IrValue **operands = ARENA_ARRAY(l->ad->arena, IrValue *, rule->nparams + callee->nparams);
    IrType *types = ARENA_ARRAY(l->ad->arena, IrType, callee->nresults);
    uint32_t n = 0, nout = 0, at = 0;
    for (uint32_t i = 0; i < callee->nparams; i++) operands[n++] = args[i];
    for (uint32_t i = callee->nresults; i < primal->nresults; i++)
        operands[n++] = primal->results[i];
    for (uint32_t i = 0; i < callee->nresults; i++) operands[n++] = primal->results[i];
    for (uint32_t i = 0; i < callee->nparams; i++)
        if (tangents[i]) operands[n++] = tangents[i];
    for (uint32_t i = 0; i < callee->nresults; i++)
        if (ir_is_float(callee->results[i])) types[nout++] = tangent_type(l, callee->results[i]);
    IrInst *call = irb_inst(l->b, IR_CALL, n, operands, nout, types, 0);
    call->func = callee->reverse_rule;
    map_setp(&l->mixed->calls, call, rule_info(l, callee, tangents));
    for (uint32_t i = 0; i < callee->nresults; i++) {
        out[i] = ir_is_float(callee->results[i]) ? mark_linear(l, call->results[at++]) : NULL;
        if (out[i] && out[i]->type->kind == IR_T_ARRAY)
            map_setp(&l->mixed->partners, out[i], primal->results[i]);
    }
}

/* ---- the transpose ---- */

/* Something of TYPE for an operand that is not read. */
static IrValue *anything(Transposer *t, IrType type) {
    IrBuilder *b = &t->b;
    IrValue *sizes[IR_MAX_RANK];
    if (type->kind == IR_T_STR) return irb_string(b, "");
    if (type->kind == IR_T_TAPE) return irb_tape_new(b);
    if (type->kind == IR_T_SCALAR) return irb_zero(b, type->scalar);
    IrType elem = ir_scalar(b->module, type->scalar);
    for (uint32_t k = 0; k < type->rank; k++)
        sizes[k] = irb_int(b, type->dims[k] < 0 ? 0 : type->dims[k]);
    IrInst *build = irb_build(b, type->rank, sizes, 1, &elem, 0, NULL);
    IrBuilder inner = *b;
    irb_at_end(&inner, build->regions[0]);
    IrValue *zero = irb_zero(&inner, type->scalar);
    irb_yield(&inner, 1, &zero);
    return build->results[0];
}

/* A value of the rule's results in each lane, put together. */
static IrValue *together(Transposer *t, IrInst *const *calls, uint32_t lanes, uint32_t i) {
    IrValue *all[IR_MAX_LANES];
    for (uint32_t k = 0; k < lanes; k++) all[k] = calls[k]->results[i];
    return irb_lanes(&t->b, lanes, all);
}

/* What is not wanted of the rule's results is left alone.  The rule, as it is written, takes one
   lane at a time. */
void transpose_rule(Transposer *t, IrInst *inst, const MixedCall *info) {
    IrFunc *rule = info->callee;
    uint32_t n = rule->nparams - inst->nresults, at = n;
    IrValue **operands = ARENA_ARRAY(t->ad->arena, IrValue *, rule->nparams);
    for (uint32_t i = 0; i < n; i++)
        operands[i] = info->uses[i] ? now_of(t, inst->operands[i]) : anything(t, rule->params[i]);
    IrValue **seeds = ARENA_ARRAY(t->ad->arena, IrValue *, inst->nresults);
    IrInst *calls[IR_MAX_LANES];
    uint32_t lanes = ir_option_lanes(t->options);
    for (uint32_t i = 0; i < inst->nresults; i++) seeds[i] = ct_value(t, inst->results[i]);
    for (uint32_t k = 0; k < lanes; k++) {
        for (uint32_t i = 0; i < inst->nresults; i++)
            operands[n + i] = irb_lane(&t->b, seeds[i], irb_int(&t->b, k));
        calls[k] = irb_call(&t->b, rule, operands);
    }
    for (uint32_t i = 0; i < rule->nresults; i++)
        if (info->in_active[i]) ct_add_given(t, inst->operands[at++], together(t, calls, lanes, i));
}
