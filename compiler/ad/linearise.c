/* Linearisation: walks over a function and writes the mixed one, where behind each instruction with
   an active result stand the instructions that map the tangents of its operands to that of the
   result.  A tangent that is known to be zero does not exist.  In a request with lanes the tangents
   have them; the instructions are the same.

   Rules (of scalar functions and of functions with a custom derivative) are put in place by
   linearising their bodies in the tangent parameters, at tangents that are zero: being linear, a
   rule is its own derivative.  So tangents that are absent vanish from the rule, too. */
#include "ad/linearise.h"

#include <string.h>

#include "base/fatal.h"

/* ---- the mixed function's values ---- */

IrValue *mark_linear(Lin *l, IrValue *value) {
    bitset_add(&l->mixed->linear, value->id);
    return value;
}

static void mark_zero(Lin *l, IrValue *value) {
    bitset_add(&l->mixed->linear, value->id);
    bitset_add(&l->mixed->zero, value->id);
}

void set_primal(Lin *l, const IrValue *value, IrValue *copy) {
    map_setp(&l->primal, value, copy);
}

void set_tangent(Lin *l, const IrValue *value, IrValue *tangent) {
    if (!tangent) return;
    uint32_t lanes = ir_scalar_lanes(value->type->scalar);
    if (lanes > ir_scalar_lanes(tangent->type->scalar) && tangent->type->kind == IR_T_SCALAR)
        tangent = irb_splat(l->b, tangent, lanes);
    mark_linear(l, tangent);
    if (!tangent->name && value->name && strlen(value->name) < 24)
        tangent->name = arena_printf(l->ad->module->arena, "d%s", value->name);
    if (tangent->type->kind == IR_T_ARRAY && !map_hasp(&l->mixed->partners, tangent))
        map_setp(&l->mixed->partners, tangent, primal_of(l, value));
    map_setp(&l->tangent, value, tangent);
}

IrValue *linear_zero(Lin *l, IrValue *primal) {
    IrValue *zero;
    if (primal->type->kind == IR_T_TAPE) zero = irb_tape_new(l->b);
    else zero = irb_zeros_of(l->b, tangent_type(l, primal->type), primal);
    mark_zero(l, zero);
    if (zero->def->op == IR_BUILD) {
        for (IrInst *inst = zero->def->regions[0]->first; inst; inst = inst->next)
            if (inst->nresults) mark_zero(l, inst->results[0]);
        map_setp(&l->mixed->partners, zero, primal);
    }
    return zero;
}

IrValue *tangent_or_zero(Lin *l, const IrValue *value) {
    IrValue *tangent = tangent_of(l, value);
    return tangent ? tangent : linear_zero(l, primal_of(l, value));
}

/* ---- linear arithmetic ---- */

/* Element by element, over the sizes of the primal value. */
static IrValue *add_arrays(Lin *l, IrValue *x, IrValue *y) {
    IrValue *sizes[IR_MAX_RANK], *like = map_getp(&l->mixed->partners, x);
    uint32_t rank = x->type->rank;
    IrType elem = ir_scalar(l->b->module, x->type->scalar);
    CHECK_INTERNAL(like);
    for (uint32_t k = 0; k < rank; k++) sizes[k] = irb_dim(l->b, like, k);
    IrInst *build = irb_build(l->b, rank, sizes, 1, &elem, 0, NULL);
    IrBuilder outer = *l->b;
    irb_at_end(l->b, build->regions[0]);
    IrValue **at = build->regions[0]->params;
    IrValue *sum = linear_add(l, mark_linear(l, irb_index(l->b, x, rank, at)),
                              mark_linear(l, irb_index(l->b, y, rank, at)));
    irb_yield(l->b, 1, &sum);
    *l->b = outer;
    return mark_linear(l, build->results[0]);
}

IrValue *linear_add(Lin *l, IrValue *x, IrValue *y) {
    if (!x || !y) return x ? x : y;
    if (x->type->kind == IR_T_ARRAY) return add_arrays(l, x, y);
    return mark_linear(l, irb_binary(l->b, IR_ADD, x, y));
}

IrValue *linear_sub(Lin *l, IrValue *x, IrValue *y) {
    if (!y) return x;
    if (!x) return linear_neg(l, y);
    return mark_linear(l, irb_binary(l->b, IR_SUB, x, y));
}

IrValue *linear_neg(Lin *l, IrValue *x) {
    return x ? mark_linear(l, irb_unary(l->b, IR_NEG, x)) : NULL;
}

/* strong_zero in a JVP: zero times anything is zero (transposing sees to it for cotangents). */
static IrValue *strong(Lin *l, IrValue *product, IrValue *x, IrValue *factor) {
    if (!(l->mixed->options & IR_STRONG_ZERO) || l->mixed->transposed) return product;
    IrValue *zero = irb_zero(l->b, x->type->scalar);
    IrValue *none = irb_binary(l->b, IR_EQ, x, zero);
    if (factor) none = irb_binary(l->b, IR_OR, none, irb_binary(l->b, IR_EQ, factor, zero));
    return ad_zero_for_nan(l->b, product, none);
}

IrValue *linear_mul(Lin *l, IrValue *x, IrValue *factor) {
    double known;
    if (!x) return NULL;
    if (ir_const_float(factor, &known) && known == 1.0) return x;
    return mark_linear(l, strong(l, irb_binary(l->b, IR_MUL, x, factor), x, factor));
}

IrValue *linear_div(Lin *l, IrValue *x, IrValue *divisor) {
    double known;
    if (!x) return NULL;
    if (ir_const_float(divisor, &known) && known == 1.0) return x;
    return mark_linear(l, strong(l, irb_binary(l->b, IR_DIV, x, divisor), x, NULL));
}

/* A zero like TANGENT, a scalar. */
static IrValue *zero_like(Lin *l, const IrValue *tangent) {
    IrValue *zero = irb_zero(l->b, tangent->type->scalar);
    mark_zero(l, zero);
    return zero;
}

IrValue *linear_select(Lin *l, IrValue *c, IrValue *x, IrValue *y) {
    if (!x && !y) return NULL;
    if (!x) x = zero_like(l, y);
    if (!y) y = zero_like(l, x);
    return mark_linear(l, irb_select(l->b, c, x, y));
}

/* ---- instructions ---- */

static bool inst_is_active(const Lin *l, const IrInst *inst) {
    if (inst->op == IR_ACC_ADD)
        return is_active(l, inst->operands[0]) && is_active(l, inst->operands[inst->noperands - 1]);
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (is_active(l, inst->results[i])) return true;
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (region_is_active(l, inst->regions[r])) return true;
    return false;
}

bool region_is_active(const Lin *l, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next)
        if (inst_is_active(l, inst)) return true;
    return false;
}

void copy_primal(Lin *l, const IrInst *inst) {
    if (l->is_again && inst->nresults == 0 && ir_op_info(inst->op)->effect &&
        inst->op != IR_ACC_ADD)
        return;
    ir_clone(l->b, inst, &l->primal);
}

static bool is_float_scalar(IrType type) {
    return type->kind == IR_T_SCALAR && ir_scalar_float(type->scalar);
}

/* In a rule, what depends on a tangent is zero: no instruction is needed for it. */
static bool is_known_zero(const Lin *l, const IrInst *inst) {
    return l->is_rule && inst->nresults == 1 && !inst->nregions && inst->op != IR_CALL &&
           is_active(l, inst->results[0]) && is_float_scalar(inst->results[0]->type);
}

static void copy_or_zero(Lin *l, IrInst *inst) {
    if (is_known_zero(l, inst))
        set_primal(l, inst->results[0], irb_zero(l->b, inst->results[0]->type->scalar));
    else copy_primal(l, inst);
}

static bool is_scalar_op(IrOp op) {
    return op <= IR_STRING;
}

/* ---- calls ---- */

/* Every tangent must go to a parameter that the rule covers. */
static void check_covered(Lin *l, const IrFunc *callee, IrValue *const *tangents) {
    for (uint32_t i = 0; i < callee->nparams; i++) {
        const char *name = callee->param_names[i];
        if (callee->rule_active[i] || !tangents[i]) continue;
        ad_report(l->ad, DIAG_DERIV_LACKS, l->b->pos,
                  "the derivative of '%s' says nothing of '%s', which gets a value that is "
                  "differentiated here",
                  callee->name, name ? name : "a parameter");
        if (callee->rule->pos)
            diag_note(l->ad->diags, (Span){callee->rule->pos, callee->rule->pos},
                      "the derivative of '%s' is here", callee->name);
        return;
    }
}

/* The results of a function with a rule are there; its tangents come from the rule. */
static void apply_rule(Lin *l, const IrFunc *callee, IrValue *const *args, IrValue *const *tangents,
                       IrValue *const *results, IrValue **result_tangents) {
    IrFunc *rule = callee->rule;
    uint32_t n = rule->nparams, at = 0, k = 0;
    RuleCall call = {rule, ARENA_ARRAY(l->ad->arena, IrValue *, n),
                     ARENA_ARRAY(l->ad->arena, IrValue *, n),
                     ARENA_ARRAY(l->ad->arena, IrValue *, n),
                     ARENA_ARRAY(l->ad->arena, IrValue *, rule->nresults)};
    for (uint32_t i = 0; i < callee->nparams; i++) call.args[at++] = args[i];
    for (uint32_t i = 0; i < callee->nparams; i++) {
        if (!callee->rule_active[i]) continue;
        call.like[at] = args[i];
        call.tangents[at++] = tangents[i];
    }
    for (uint32_t i = 0; i < callee->nresults && at < n; i++) call.args[at++] = results[i];
    linearise_rule(l, &call);
    for (uint32_t i = 0; i < callee->nresults; i++)
        result_tangents[i] = ir_is_float(callee->results[i]) ? call.results[k++] : NULL;
}

static bool any_tangent(IrValue *const *tangents, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (tangents[i]) return true;
    return false;
}

/* A call of a function with a rule, and the TANGENTS of its results. */
static IrInst *call_with_rule(Lin *l, IrFunc *callee, IrValue *const *args,
                              IrValue *const *tangents, IrValue **out) {
    bool any = any_tangent(tangents, callee->nparams);
    bool reversed = any && l->mixed->transposed && callee->reverse_rule;
    IrInst *call = linearise_primal_call(l, callee, args, reversed);
    check_covered(l, callee, tangents);
    if (l->ad->failed) memset(out, 0, callee->nresults * sizeof *out);
    else if (!reversed) apply_rule(l, callee, args, tangents, call->results, out);
    else linearise_reverse_rule(l, callee, args, tangents, call, out);
    return call;
}

static void linearise_ruled_call(Lin *l, IrInst *inst) {
    uint32_t n = inst->noperands;
    IrValue **args = ARENA_ARRAY(l->ad->arena, IrValue *, n);
    IrValue **tangents = ARENA_ARRAY(l->ad->arena, IrValue *, n);
    IrValue **out = ARENA_ARRAY(l->ad->arena, IrValue *, inst->nresults);
    for (uint32_t i = 0; i < n; i++) args[i] = primal_of(l, inst->operands[i]);
    for (uint32_t i = 0; i < n; i++) tangents[i] = tangent_of(l, inst->operands[i]);
    IrInst *call = call_with_rule(l, inst->func, args, tangents, out);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        call->results[i]->name = inst->results[i]->name;
        set_primal(l, inst->results[i], call->results[i]);
    }
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (is_active(l, inst->results[i])) set_tangent(l, inst->results[i], out[i]);
}

static bool has_no_body(const Ad *ad, const IrFunc *func) {
    return !func->body && func->deriv.mode == IR_DERIV_NONE && !map_hasp(&ad->by_func, func);
}

static void report_extern(Lin *l, const IrFunc *callee) {
    ad_report(l->ad, DIAG_DERIV_NONE, l->b->pos,
              "'%s' is extern and has no derivative, but gets a value that is differentiated here",
              callee->name);
    if (callee->pos)
        diag_note(l->ad->diags, (Span){callee->pos, callee->pos}, "'%s' is declared here",
                  callee->name);
}

static void linearise_call(Lin *l, IrInst *inst) {
    IrFunc *callee = inst->func;
    Arena *arena = l->ad->module->arena;
    uint32_t n = inst->noperands, nin = 0, nout = 0, at = inst->nresults;
    uint8_t *in = ARENA_ARRAY(arena, uint8_t, n),
            *out = ARENA_ARRAY(arena, uint8_t, inst->nresults);
    if (callee->rule) {
        linearise_ruled_call(l, inst);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool is_tape = inst->operands[i]->type->kind == IR_T_TAPE;
        in[i] = is_active(l, inst->operands[i]) && (is_tape || tangent_of(l, inst->operands[i]));
        nin += in[i];
    }
    bool gives_tape = false;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        nout += out[i] = is_active(l, inst->results[i]);
        gives_tape |= out[i] && inst->results[i]->type->kind == IR_T_TAPE;
    }
    if (nin && has_no_body(l->ad, callee)) report_extern(l, callee);
    if ((!nin && !gives_tape) || has_no_body(l->ad, callee)) {
        copy_primal(l, inst);
        return;
    }
    IrValue **operands = ARENA_ARRAY(l->ad->arena, IrValue *, n + nin);
    IrType *types = ARENA_ARRAY(l->ad->arena, IrType, inst->nresults + nout);
    uint32_t noperands = n;
    for (uint32_t i = 0; i < n; i++) operands[i] = primal_of(l, inst->operands[i]);
    for (uint32_t i = 0; i < inst->nresults; i++) types[i] = inst->results[i]->type;
    for (uint32_t i = 0; i < n; i++)
        if (in[i]) operands[noperands++] = tangent_or_zero(l, inst->operands[i]);
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (out[i]) types[at++] = tangent_type(l, inst->results[i]->type);
    IrInst *call = irb_inst(l->b, IR_CALL, noperands, operands, at, types, 0);
    call->func = l->mixed->transposed ? callee : ad_jvp(l->ad, callee, in, out, l->mixed->options);
    MixedCall *info = ARENA_NEW(l->ad->arena, MixedCall);
    *info = (MixedCall){.callee = callee, .in_active = in, .out_active = out};
    map_setp(&l->mixed->calls, call, info);
    at = inst->nresults;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        call->results[i]->name = inst->results[i]->name;
        set_primal(l, inst->results[i], call->results[i]);
    }
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (out[i]) set_tangent(l, inst->results[i], call->results[at++]);
}

/* What comes of a rule of the library stands where the rule is used. */
static bool is_elsewhere(const Lin *l, const IrInst *inst) {
    const Sources *sources = l->ad->module->sources;
    return l->is_rule && sources && sources_in_library(sources, inst->pos);
}

void linearise_inst(Lin *l, IrInst *inst) {
    if (!is_elsewhere(l, inst)) l->b->pos = inst->pos;
    if (!inst_is_active(l, inst)) {
        copy_primal(l, inst);
    } else if (inst->op == IR_CALL) {
        linearise_call(l, inst);
    } else if (inst->op == IR_RUNTIME) {
        linearise_shared(l, inst);
    } else if (is_scalar_op(inst->op)) {
        copy_or_zero(l, inst);
        linearise_scalar(l, inst);
    } else if (inst->op == IR_REDUCE) {
        linearise_reduce(l, inst);
    } else if (inst->nregions) {
        linearise_control(l, inst);
    } else {
        copy_or_zero(l, inst);
        linearise_array(l, inst);
    }
}

void linearise_region(Lin *l, const IrRegion *region) {
    for (IrInst *inst = region->first; inst && inst->op != IR_YIELD; inst = inst->next)
        linearise_inst(l, inst);
}

/* ---- rules ---- */

static void free_lin(Lin *l) {
    map_free(&l->primal);
    map_free(&l->tangent);
    bitset_free(&l->active);
}

void linearise_rule(Lin *outer, RuleCall *call) {
    IrFunc *rule = call->rule;
    Ad *ad = outer->ad;
    Lin l = {.ad = ad,
             .mixed = outer->mixed,
             .b = outer->b,
             .base = rule,
             .is_rule = true,
             .lanes = outer->lanes};
    uint8_t *in = ARENA_ARRAY(ad->arena, uint8_t, rule->nparams);
    uint8_t *out = ARENA_ARRAY(ad->arena, uint8_t, rule->nresults);
    Pos pos = l.b->pos;
    for (uint32_t i = 0; i < ad->inlining.len; i++) {
        if (ad->inlining.at[i] != rule) continue;
        ad_report(ad, DIAG_DERIV_ENDLESS, pos, "the derivative '%s' needs itself", rule->name);
        return;
    }
    if (!rule->body) {
        report_extern(outer, rule);
        return;
    }
    for (uint32_t i = 0; i < rule->nparams; i++) {
        IrValue *param = rule->body->params[i];
        set_primal(&l, param, call->args[i] ? call->args[i] : irb_zeros_like(l.b, call->like[i]));
        set_tangent(&l, param, call->tangents[i]);
        in[i] = call->tangents[i] != NULL;
    }
    for (uint32_t i = 0; i < rule->nresults; i++) out[i] = 1;
    vec_push(&ad->inlining, rule);
    ad_activity(ad, rule, in, out, &l.active);
    linearise_region(&l, rule->body);
    for (uint32_t i = 0; i < rule->nresults; i++) {
        IrValue *yield = rule->body->last->operands[i];
        call->results[i] = is_active(&l, yield) ? tangent_of(&l, yield) : NULL;
    }
    (void)vec_pop(&ad->inlining);
    l.b->pos = pos;
    free_lin(&l);
}

/* ---- functions ---- */

static void yield_all(Lin *l, const AdRequest *request, IrValue *const *results,
                      IrValue *const *tangents) {
    const IrFunc *base = request->base;
    uint32_t n = 0, nresults = base->nresults;
    IrValue **values = ARENA_ARRAY(l->ad->arena, IrValue *, 2 * nresults);
    for (uint32_t i = 0; i < nresults; i++) values[n++] = results[i];
    for (uint32_t i = 0; i < nresults; i++)
        if (request->out_active[i])
            values[n++] = tangents[i] ? tangents[i] : linear_zero(l, results[i]);
    irb_yield(l->b, n, values);
}

static IrValue *whole_tangent(Lin *l, IrValue *primal, IrValue *tangent) {
    if (tangent->type->kind == IR_T_ARRAY) map_setp(&l->mixed->partners, tangent, primal);
    return mark_linear(l, tangent);
}

/* A function with a rule, or extern: a call of it, and the rule. */
static void linearise_whole(Lin *l, const AdRequest *request, IrRegion *body) {
    IrFunc *base = request->base;
    uint32_t n = base->nparams, at = n;
    IrValue **tangents = ARENA_ARRAY(l->ad->arena, IrValue *, n);
    IrValue **out = ARENA_ARRAY(l->ad->arena, IrValue *, base->nresults);
    IrInst *call;
    for (uint32_t i = 0; i < n; i++)
        if (request->in_active[i])
            tangents[i] = whole_tangent(l, body->params[i], body->params[at++]);
    if (base->rule) {
        call = call_with_rule(l, base, body->params, tangents, out);
    } else {
        call = irb_call(l->b, base, body->params);
        report_extern(l, base);
    }
    yield_all(l, request, call->results, out);
}

static void linearise_body(Lin *l, const AdRequest *request, IrRegion *body) {
    const IrFunc *base = request->base;
    IrValue **results = ARENA_ARRAY(l->ad->arena, IrValue *, base->nresults);
    IrValue **tangents = ARENA_ARRAY(l->ad->arena, IrValue *, base->nresults);
    uint32_t at = base->nparams;
    ad_activity(l->ad, base, request->in_active, request->out_active, &l->active);
    for (uint32_t i = 0; i < base->nparams; i++)
        set_primal(l, base->body->params[i], body->params[i]);
    for (uint32_t i = 0; i < base->nparams; i++)
        if (request->in_active[i]) set_tangent(l, base->body->params[i], body->params[at++]);
    linearise_region(l, base->body);
    IrValue **yields = base->body->last->operands;
    for (uint32_t i = 0; i < base->nresults; i++) results[i] = primal_of(l, yields[i]);
    for (uint32_t i = 0; i < base->nresults; i++) tangents[i] = tangent_of(l, yields[i]);
    yield_all(l, request, results, tangents);
}

Mixed *ad_linearise(Ad *ad, const AdRequest *request, IrFunc *func, bool transposed) {
    Mixed *mixed = ARENA_NEW(ad->arena, Mixed);
    IrBuilder b = {0};
    Lin l = {.ad = ad,
             .mixed = mixed,
             .b = &b,
             .base = request->base,
             .lanes = ir_option_lanes(request->options)};
    mixed->ad = ad;
    mixed->func = func;
    mixed->options = request->options;
    mixed->transposed = transposed;
    irb_at_end(&b, func->body);
    b.pos = request->base->pos;
    if (request->base->rule || has_no_body(ad, request->base))
        linearise_whole(&l, request, func->body);
    else linearise_body(&l, request, func->body);
    free_lin(&l);
    return mixed;
}

void mixed_free(Mixed *mixed) {
    bitset_free(&mixed->linear);
    bitset_free(&mixed->zero);
    bitset_free(&mixed->changed);
    map_free(&mixed->partners);
    map_free(&mixed->calls);
    map_free(&mixed->dims);
    map_free(&mixed->inputs);
    map_free(&mixed->kept);
    map_free(&mixed->has_linear);
}
