/* What `dslc gradcheck` compares: a function with its forward and its reverse derivative, in what a
   named derivative or a rule makes active. */
#include "lower/internal.h"

static bool is_active(const Root *root, uint32_t p) {
    const Instance *inst = root->instance;
    return root->deriv ? root->deriv->act[p] != ACT_CONST : inst->rule_active[p];
}

static uint32_t options_of(const Root *root) {
    const DerivSpec *deriv = root->deriv;
    if (!deriv) return 0;
    return (deriv->strong_zero ? IR_STRONG_ZERO : 0u) | ir_checkpoint_option(deriv->checkpoint);
}

/* The masks of ir_deriv for FUNC, the entry of ROOT's instance. */
static void mark_active(Lower *lw, const Root *root, const IrFunc *func, uint8_t *in,
                        uint8_t *out) {
    const Instance *inst = root->instance;
    uint32_t at = 0, result = 0, n = shape_count(lw, inst->result);
    bool *seed = ARENA_ARRAY(lw->arena, bool, n + 1);
    deriv_mark_seed(lw, inst->result, inst->result_act, seed, &result);
    for (uint32_t i = 0; i < n; i++) out[i] = seed[i] && ir_can_be_active(func->results[i]);
    for (uint32_t p = 0; p < inst->nparams; p++) {
        n = shape_count(lw, inst->params[p]->type);
        for (uint32_t i = 0; i < n; i++)
            in[at + i] = is_active(root, p) && ir_can_be_active(func->params[at + i]);
        for (uint32_t i = 0; inst->params[p]->mut && i < n; i++) out[result++] = in[at + i];
        at += n;
    }
}

void export_check(Lower *lw, const Root *root) {
    if (root->skipped) return;
    IrExport *export = ARENA_NEW(lw->module->arena, IrExport);
    IrFunc *func = export_entry(lw, root->instance, "checked");
    uint8_t *in = ARENA_ARRAY(lw->arena, uint8_t, func->nparams + 1);
    uint8_t *out = ARENA_ARRAY(lw->arena, uint8_t, func->nresults + 1);
    mark_active(lw, root, func, in, out);
    export->kind = IR_EXPORT_CHECK;
    export->name = module_text(lw, "%s", root->name);
    export->func = func;
    export->jvp = ir_deriv(lw->module, IR_DERIV_JVP, func, in, out, options_of(root));
    export->grad = ir_deriv(lw->module, IR_DERIV_GRAD, func, in, out, options_of(root));
    export->jvp->flags |= IR_FUNC_ROOT;
    export->grad->flags |= IR_FUNC_ROOT;
    export_put(lw, root, export);
}
