/* The verifier: the structure of functions and regions, and who may use what.  What each operation
   asks of its operands is in verify-ops.c.

   Values are marked live where they are defined and dead at the end of their region, so one table
   answers both whether a use is visible and whether it comes after the definition. */
#include "ir/verify.h"

#include "ir/internal.h"

bool ir_need(Verifier *v, const IrInst *inst, bool ok, const char *format, ...) {
    StrBuf text = {0};
    va_list args;
    if (ok || v->fault) return ok;
    va_start(args, format);
    if (v->func) strbuf_printf(&text, "@%s: ", v->func->name);
    if (inst) {
        ir_print_inst(&text, inst);
        strbuf_add(&text, ": ");
    }
    strbuf_vprintf(&text, format, args);
    va_end(args);
    v->fault = arena_strndup(v->module->arena, text.text, text.len);
    strbuf_free(&text);
    return false;
}

/* ---- values ---- */

static bool define(Verifier *v, const IrInst *inst, IrValue *value) {
    bool ok = ir_need(v, inst, value->type != NULL, "a value has no type") &&
              ir_need(v, inst, value->id < v->func->nvalues && !v->seen[value->id],
                      "id %u is not unique", value->id);
    if (!ok) return false;
    v->seen[value->id] = true;
    v->live[value->id] = value;
    return true;
}

static bool check_operand(Verifier *v, const IrInst *inst, uint32_t i) {
    IrValue *value = inst->operands[i];
    if (!ir_need(v, inst, value != NULL, "operand %u is missing", i)) return false;
    if (!ir_need(v, inst, !value->forward, "operand %u was replaced, but not settled", i))
        return false;
    if (value->id < v->func->nvalues && v->live[value->id] == value)
        return ir_need(v, inst, value->type->kind != IR_T_ACC || (inst->op == IR_ACC_ADD && i == 0),
                       "operand %u is an accumulator", i);
    bool visible = ir_visible(value, inst->parent);
    return ir_need(
        v, inst, false,
        visible ? "operand %u is used before its definition" : "operand %u is not visible here", i);
}

static bool check_result(Verifier *v, const IrInst *inst, uint32_t i) {
    IrValue *value = inst->results[i];
    return ir_need(v, inst, value->def == inst && value->index == i,
                   "result %u does not know its instruction", i) &&
           define(v, inst, value) &&
           ir_need(v, inst, value->type->kind != IR_T_ACC, "result %u is an accumulator", i);
}

/* ---- regions ---- */

static bool check_region(Verifier *v, const IrRegion *region, const IrInst *owner);

static bool check_inst(Verifier *v, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->noperands; i++)
        if (!check_operand(v, inst, i)) return false;
    if (!ir_need(v, inst, inst->nregions == ir_op_info(inst->op)->regions, "has %u regions, not %u",
                 inst->nregions, ir_op_info(inst->op)->regions))
        return false;
    for (uint32_t i = 0; i < inst->nregions; i++)
        if (!check_region(v, inst->regions[i], inst)) return false;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!check_result(v, inst, i)) return false;
    return ir_verify_op(v, inst);
}

static bool check_links(Verifier *v, const IrRegion *region, const IrInst *inst) {
    return ir_need(v, inst, (int)inst->op >= 0 && inst->op < IR_OP_COUNT, "unknown operation") &&
           ir_need(v, inst, inst->parent == region, "is linked to another region") &&
           ir_need(v, inst, inst->prev ? inst->prev->next == inst : region->first == inst,
                   "its predecessor does not know it") &&
           ir_need(v, inst, inst->next ? inst->next->prev == inst : region->last == inst,
                   "its successor does not know it") &&
           ir_need(v, inst, (inst->op == IR_YIELD) == (inst->next == NULL),
                   inst->next ? "a yield stands before the end of its region"
                              : "the region does not end with a yield");
}

static void end_region(Verifier *v, const IrRegion *region) {
    for (uint32_t i = 0; i < region->nparams; i++) v->live[region->params[i]->id] = NULL;
    for (const IrInst *inst = region->first; inst; inst = inst->next)
        for (uint32_t i = 0; i < inst->nresults; i++) v->live[inst->results[i]->id] = NULL;
}

static bool check_param(Verifier *v, const IrRegion *region, const IrInst *owner, uint32_t i) {
    IrValue *param = region->params[i];
    return ir_need(v, owner, !param->def && param->region == region && param->index == i,
                   "parameter %u does not know its region", i) &&
           define(v, owner, param) &&
           ir_need(v, owner, param->type->kind != IR_T_ACC || (owner && owner->op == IR_WITH_ACC),
                   "parameter %u is an accumulator", i);
}

static bool check_region(Verifier *v, const IrRegion *region, const IrInst *owner) {
    if (!ir_need(v, owner, region->owner == owner && region->func == v->func,
                 "a region does not know its owner"))
        return false;
    for (uint32_t i = 0; i < region->nparams; i++)
        if (!check_param(v, region, owner, i)) return false;
    if (!ir_need(v, owner, region->first != NULL, "a region is empty")) return false;
    for (const IrInst *inst = region->first; inst; inst = inst->next)
        if (!check_links(v, region, inst) || !check_inst(v, inst)) return false;
    end_region(v, region);
    return true;
}

/* ---- functions ---- */

static bool check_body(Verifier *v, const IrFunc *func) {
    const IrRegion *body = func->body;
    if (!ir_need(v, NULL, body->nparams == func->nparams, "the body has %u parameters, not %u",
                 body->nparams, func->nparams))
        return false;
    for (uint32_t i = 0; i < func->nparams; i++)
        if (!ir_need(v, NULL, ir_compatible(body->params[i]->type, func->params[i]),
                     "parameter %u of the body has another type", i))
            return false;
    if (!check_region(v, body, NULL)) return false;
    const IrInst *yield = body->last;
    if (!ir_need(v, yield, yield->noperands == func->nresults, "the function has %u results",
                 func->nresults))
        return false;
    for (uint32_t i = 0; i < func->nresults; i++)
        if (!ir_need(v, yield, ir_compatible(yield->operands[i]->type, func->results[i]),
                     "operand %u has not the type of the result", i))
            return false;
    return true;
}

static uint32_t count_active(const uint8_t *active, uint32_t n) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += active[i] != 0;
    return count;
}

static bool check_reverse_rule(Verifier *v, const IrFunc *func) {
    const IrFunc *reverse = func->reverse_rule, *augmented = func->augmented;
    uint32_t nsaved = augmented ? augmented->nresults - func->nresults : 0, nfloats = 0;
    if (!reverse) return ir_need(v, NULL, !augmented, "has an augmented form, but no reverse rule");
    for (uint32_t i = 0; i < func->nresults; i++) nfloats += ir_is_float(func->results[i]);
    uint32_t wanted = func->nparams + nsaved + func->nresults + nfloats;
    return ir_need(v, NULL,
                   !augmented || (augmented->nparams == func->nparams &&
                                  augmented->nresults >= func->nresults),
                   "its augmented form does not fit it") &&
           ir_need(v, NULL, reverse->nparams == wanted,
                   "its reverse rule has %u parameters, not %u", reverse->nparams, wanted) &&
           ir_need(v, NULL, reverse->nresults == count_active(func->rule_active, func->nparams),
                   "its reverse rule has %u results", reverse->nresults);
}

static bool check_rule(Verifier *v, const IrFunc *func) {
    if (!func->rule) return true;
    if (!ir_need(v, NULL, func->rule_active != NULL, "its rule has no activities")) return false;
    uint32_t wanted =
        func->nparams + func->nresults + count_active(func->rule_active, func->nparams);
    return ir_need(v, NULL, func->rule->nparams == wanted, "its rule has %u parameters, not %u",
                   func->rule->nparams, wanted) &&
           check_reverse_rule(v, func);
}

static bool check_func(Verifier *v, IrFunc *func) {
    v->func = func;
    bool known = func->body || (func->flags & IR_FUNC_EXTERN) || func->deriv.mode != IR_DERIV_NONE;
    bool fits = func->deriv.mode == IR_DERIV_NONE || ir_deriv_fits(func);
    if (!ir_need(v, NULL, known, "has no body") ||
        !ir_need(v, NULL, fits, "is not what the derivative of @%s takes and gives",
                 func->deriv.base ? func->deriv.base->name : "") ||
        !check_rule(v, func))
        return false;
    if (!func->body) return true;
    Arena *scratch = arena_new();
    v->live = ARENA_ARRAY(scratch, IrValue *, func->nvalues);
    v->seen = ARENA_ARRAY(scratch, bool, func->nvalues);
    bool ok = check_body(v, func);
    arena_free(scratch);
    return ok;
}

static bool check_math_rule(Verifier *v, IrMath fn, const IrFunc *rule) {
    v->func = NULL;
    return !rule ||
           ir_need(v, NULL, rule->nparams == 2 * ir_math_arity(fn) + 1 && rule->nresults == 1,
                   "@%s: the rule of %s has the wrong number of parameters or results", rule->name,
                   ir_math_name(fn));
}

const char *ir_verify(IrModule *module) {
    Verifier v = {.module = module};
    for (uint32_t i = 0; i < module->funcs.len; i++)
        if (!check_func(&v, module->funcs.at[i])) return v.fault;
    for (int fn = 0; fn < IR_MATH_COUNT; fn++)
        for (int width = 0; width < 2; width++)
            if (!check_math_rule(&v, (IrMath)fn, module->math_rules[fn][width])) return v.fault;
    return NULL;
}
