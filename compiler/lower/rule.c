/* Derivative rules: those of functions, and those of the scalar functions of the IR. */
#include "lower/internal.h"

typedef VEC(IrType) Types;

static bool all_floats(const Shape *shape) {
    for (uint32_t i = 0; i < shape->n; i++)
        if (!ir_is_float(shape->leaf[i].type)) return false;
    return true;
}

/* Does the rule's function take and give float parts only where the IR expects nothing else? */
static bool fits(Lower *lw, const Instance *inst) {
    const Instance *rule = inst->rule;
    for (uint32_t i = inst->nparams; i + 1 < rule->nparams; i++)
        if (!all_floats(shape_of(lw, rule->params[i]->type))) return false;
    return all_floats(shape_of(lw, rule->result));
}

static void add_types(Types *types, const Shape *shape, bool floats_only) {
    for (uint32_t i = 0; i < shape->n; i++)
        if (!floats_only || ir_is_float(shape->leaf[i].type)) vec_push(types, shape->leaf[i].type);
}

static IrFunc *adapter_signature(Lower *lw, const Instance *inst) {
    const Instance *rule = inst->rule;
    Types params = {0}, results = {0};
    for (uint32_t i = 0; i < rule->nparams; i++) {
        bool tangent = i >= inst->nparams && i + 1 < rule->nparams;
        add_types(&params, shape_of(lw, rule->params[i]->type), tangent);
    }
    add_types(&results, shape_of(lw, rule->result), true);
    IrFunc *func =
        ir_func_new(lw->module, "rule", params.len, params.at, NULL, results.len, results.at);
    vec_free(&params);
    vec_free(&results);
    return func;
}

/* Parts of tangents that are no floats are zeros like those of what they belong to. */
static IrFunc *adapter(Lower *lw, const Instance *inst) {
    const Instance *rule = inst->rule;
    IrFunc *inner = lower_func(lw, rule), *func = adapter_signature(lw, inst);
    Fn *f = fn_open(lw, rule, func);
    VEC(IrValue *) args = {0}, out = {0};
    uint32_t at = 0, owner = 0, owner_at = 0;
    for (uint32_t i = 0; i < rule->nparams; i++) {
        const Shape *shape = shape_of(lw, rule->params[i]->type);
        bool tangent = i >= inst->nparams && i + 1 < rule->nparams;
        while (tangent && !inst->rule_active[owner])
            owner_at += shape_count(lw, inst->params[owner++]->type);
        for (uint32_t k = 0; k < shape->n; k++) {
            if (!tangent || ir_is_float(shape->leaf[k].type))
                vec_push(&args, func->body->params[at++]);
            else vec_push(&args, irb_zeros_like(&f->b, func->body->params[owner_at + k]));
        }
        if (tangent) owner_at += shape_count(lw, inst->params[owner++]->type);
    }
    IrInst *call = irb_call(&f->b, inner, args.at);
    for (uint32_t i = 0; i < call->nresults; i++)
        if (ir_is_float(call->results[i]->type)) vec_push(&out, call->results[i]);
    irb_yield(&f->b, out.len, out.at);
    vec_free(&args);
    vec_free(&out);
    fn_close(f);
    return func;
}

void rule_attach(Lower *lw, const Instance *inst, IrFunc *func) {
    if (!inst->rule) return;
    uint32_t at = 0;
    func->rule_active = ARENA_ARRAY(lw->module->arena, uint8_t, func->nparams + 1);
    for (uint32_t i = 0; i < inst->nparams; i++) {
        const Shape *shape = shape_of(lw, inst->params[i]->type);
        for (uint32_t k = 0; k < shape->n; k++, at++)
            func->rule_active[at] = inst->rule_active[i] && ir_is_float(shape->leaf[k].type);
    }
    func->rule = fits(lw, inst) ? lower_func(lw, inst->rule) : adapter(lw, inst);
}

void lower_rules(Lower *lw) {
    for (uint32_t which = 0; which < 2; which++) {
        if (!lw->program->math_rules[which]) continue;
        for (uint32_t row = 0; row < IR_MATH_COUNT; row++) {
            const Instance *rule = lw->program->math_rules[which][row];
            if (rule) lw->module->math_rules[row][which] = lower_func(lw, rule);
        }
    }
}
