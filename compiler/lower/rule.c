/* Derivative rules: those of functions, and those of the scalar functions of the IR.

   Each part of a rule becomes a function as the IR wants it (see IrFunc): over flattened parts, of
   which only floats have tangents and cotangents.  What the rule's body sees is made of these:
   whole values, in which parts without a tangent are zero. */
#include "lower/internal.h"

typedef VEC(IrType) Types;
typedef VEC(IrValue *) Values;

static void add_types(Types *types, const Shape *shape, bool floats_only) {
    for (uint32_t i = 0; i < shape->n; i++)
        if (!floats_only || ir_is_float(shape->leaf[i].type)) vec_push(types, shape->leaf[i].type);
}

static void add_params(Lower *lw, Types *types, const Instance *of) {
    for (uint32_t i = 0; i < of->nparams; i++)
        add_types(types, shape_of(lw, of->params[i]->type), false);
}

/* Floats of the parameters that the rule covers. */
static void add_covered(Lower *lw, Types *types, const Instance *of) {
    for (uint32_t i = 0; i < of->nparams; i++)
        if (of->rule_active[i]) add_types(types, shape_of(lw, of->params[i]->type), true);
}

/* The function's result, then what it leaves in memory. */
static void add_results(Lower *lw, Types *types, const Instance *of, bool floats_only) {
    add_types(types, shape_of(lw, of->result), floats_only);
    for (uint32_t i = 0; i < of->nparams; i++)
        if (of->params[i]->mut) add_types(types, shape_of(lw, of->params[i]->type), floats_only);
}

/* Of the tuple that `augmented` returns. */
static const Shape *saved_shape(Lower *lw, const Instance *augmented) {
    Type type = augmented->result;
    return shape_of(lw, augmented->rule_of->result->kind == TYPE_UNIT ? type : type->parts[1].type);
}

static void signature(Lower *lw, const Instance *rule, Types *params, Types *results) {
    const Instance *of = rule->rule_of;
    add_params(lw, params, of);
    switch (rule->rule_part) {
    case RULE_FORWARD:
        add_covered(lw, params, of);
        add_results(lw, params, of, false);
        add_results(lw, results, of, true);
        break;
    case RULE_REVERSE:
        if (of->rule_augmented) add_types(params, saved_shape(lw, of->rule_augmented), false);
        add_results(lw, params, of, false);
        add_results(lw, params, of, true);
        add_covered(lw, results, of);
        break;
    case RULE_AUGMENTED:
        add_results(lw, results, of, false);
        add_types(results, saved_shape(lw, rule), false);
        break;
    }
}

IrFunc *rule_func(Lower *lw, const Instance *rule, const char *name) {
    Types params = {0}, results = {0};
    signature(lw, rule, &params, &results);
    IrFunc *func =
        ir_func_new(lw->module, name, params.len, params.at, NULL, results.len, results.at);
    vec_free(&params);
    vec_free(&results);
    return func;
}

/* ---- bodies ---- */

/* The parameters of the IR's function, in order. */
typedef struct Body {
    Fn *f;
    const Instance *rule, *of;
    Vals *primal; /* by parameter of the function */
    Vals *linear; /* tangents or cotangents of it: floats only; n is 0 where there are none */
    Vals saved, result, *finals;
    Vals seed; /* cotangents of the result: floats only */
} Body;

static Vals take(const Body *b, uint32_t *at, uint32_t n) {
    Vals all = {b->f->func->body->params, b->f->func->nparams};
    Vals part = vals_slice(all, *at, n);
    *at += n;
    return part;
}

static uint32_t count_floats(Lower *lw, Type type) {
    const Shape *shape = shape_of(lw, type);
    uint32_t n = 0;
    for (uint32_t i = 0; i < shape->n; i++) n += ir_is_float(shape->leaf[i].type);
    return n;
}

static void take_results(Body *b, uint32_t *at) {
    Lower *lw = b->f->lw;
    b->result = take(b, at, shape_count(lw, b->of->result));
    for (uint32_t i = 0; i < b->of->nparams; i++)
        if (b->of->params[i]->mut)
            b->finals[i] = take(b, at, shape_count(lw, b->of->params[i]->type));
}

static void take_params(Body *b) {
    Lower *lw = b->f->lw;
    const Instance *of = b->of;
    uint32_t at = 0;
    b->primal = ARENA_ARRAY(lw->arena, Vals, of->nparams + 1);
    b->linear = ARENA_ARRAY(lw->arena, Vals, of->nparams + 1);
    b->finals = ARENA_ARRAY(lw->arena, Vals, of->nparams + 1);
    for (uint32_t i = 0; i < of->nparams; i++)
        b->primal[i] = take(b, &at, shape_count(lw, of->params[i]->type));
    if (b->rule->rule_part == RULE_FORWARD) {
        for (uint32_t i = 0; i < of->nparams; i++)
            if (of->rule_active[i])
                b->linear[i] = take(b, &at, count_floats(lw, of->params[i]->type));
        take_results(b, &at);
    } else if (b->rule->rule_part == RULE_REVERSE) {
        if (of->rule_augmented) b->saved = take(b, &at, saved_shape(lw, of->rule_augmented)->n);
        take_results(b, &at);
        b->seed = take(b, &at, count_floats(lw, of->result));
        for (uint32_t i = 0; i < of->nparams; i++)
            if (of->params[i]->mut)
                b->linear[i] = take(b, &at, count_floats(lw, of->params[i]->type));
    }
    CHECK_INTERNAL(at == b->f->func->nparams);
}

/* All of LIKE, with the values of FLOATS (none: zeros) where it has floats. */
static Vals with_floats(const Body *b, Vals like, Type type, Vals floats) {
    const Shape *shape = shape_of(b->f->lw, type);
    Vals all = vals_new(b->f->lw, shape->n);
    uint32_t at = 0;
    for (uint32_t i = 0; i < shape->n; i++) {
        bool is_float = ir_is_float(shape->leaf[i].type) && floats.n;
        all.at[i] = is_float ? floats.at[at++] : deriv_zero(b->f, like.at[i], &shape->leaf[i]);
    }
    return all;
}

/* The seed: what is left of the result's type, in order. */
static Vals seed_value(const Body *b) {
    Lower *lw = b->f->lw;
    uint32_t n = b->result.n, at = 0, to = 0;
    bool *marks = ARENA_ARRAY(lw->arena, bool, n + 1);
    Vals all = with_floats(b, b->result, b->of->result, b->seed), left = vals_new(lw, n);
    deriv_mark_seed(lw, b->of->result, b->of->result_act, marks, &at);
    for (uint32_t i = 0; i < n; i++)
        if (marks[i]) left.at[to++] = all.at[i];
    left.n = to;
    return left;
}

static Vals slot_value(const Body *b, const DerivSlot *slot) {
    Type type = slot->role == ROLE_PRIMAL || slot->role == ROLE_SHADOW || slot->role == ROLE_TANGENT
                    ? b->of->params[slot->of]->type
                    : NULL;
    switch (slot->role) {
    case ROLE_PRIMAL: return b->primal[slot->of];
    case ROLE_TANGENT:
    case ROLE_SHADOW: return with_floats(b, b->primal[slot->of], type, b->linear[slot->of]);
    case ROLE_SEED: return seed_value(b);
    case ROLE_SAVED: return b->saved;
    case ROLE_RESULT: return b->result;
    default: UNREACHABLE("a rule has no parameter of role %d", (int)slot->role);
    }
}

/* What the parameter of ROLE that belongs to OF was last. */
static Vals last_value(const Body *b, DerivRole role, uint32_t of) {
    for (uint32_t i = 0; i < b->rule->nparams; i++) {
        const DerivSlot *slot = &b->rule->slots[i];
        if (slot->role == role && slot->of == of)
            return env_get(b->f, env_slot(b->f, b->rule->params[i]));
    }
    UNREACHABLE("no parameter of role %d", (int)role);
}

static void put_all(Values *out, Vals values) {
    for (uint32_t i = 0; i < values.n; i++) vec_push(out, values.at[i]);
}

static void put_floats(Values *out, Vals values) {
    for (uint32_t i = 0; i < values.n; i++)
        if (ir_is_float(values.at[i]->type)) vec_push(out, values.at[i]);
}

static void yield_forward(const Body *b, Vals tangent, Values *out) {
    Lower *lw = b->f->lw;
    const Shape *shape = shape_of(lw, b->of->result);
    bool *marks = ARENA_ARRAY(lw->arena, bool, shape->n + 1);
    uint32_t at = 0, from = 0;
    deriv_mark_seed(lw, b->of->result, b->of->result_act, marks, &at);
    for (uint32_t i = 0; i < shape->n; i++) {
        IrValue *value =
            marks[i] ? tangent.at[from++] : deriv_zero(b->f, b->result.at[i], &shape->leaf[i]);
        if (ir_is_float(shape->leaf[i].type)) vec_push(out, value);
    }
    for (uint32_t i = 0; i < b->of->nparams; i++) {
        if (!b->of->params[i]->mut) continue;
        if (b->of->rule_active[i]) put_floats(out, last_value(b, ROLE_TANGENT, i));
        else put_floats(out, with_floats(b, b->finals[i], b->of->params[i]->type, (Vals){0}));
    }
}

static void yield_reverse(const Body *b, Vals returned, Values *out) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < b->of->nparams; i++) {
        uint32_t n = shape_count(b->f->lw, b->of->params[i]->type);
        bool shadow = false;
        for (uint32_t k = 0; k < b->rule->nparams; k++)
            shadow |= b->rule->slots[k].role == ROLE_SHADOW && b->rule->slots[k].of == i;
        if (!b->of->rule_active[i]) continue;
        if (shadow) put_floats(out, last_value(b, ROLE_SHADOW, i));
        else put_floats(out, vals_slice(returned, at, n));
        if (!shadow) at += n;
    }
}

static void yield_augmented(const Body *b, Vals returned, Values *out) {
    uint32_t n = shape_count(b->f->lw, b->of->result);
    put_all(out, vals_slice(returned, 0, n));
    for (uint32_t i = 0; i < b->of->nparams; i++)
        if (b->of->params[i]->mut) put_all(out, last_value(b, ROLE_PRIMAL, i));
    put_all(out, vals_slice(returned, n, returned.n - n));
}

void lower_rule(Lower *lw, const Instance *rule) {
    IrFunc *func = map_getp(&lw->funcs, rule);
    Body b = {.f = fn_open(lw, rule, func), .rule = rule, .of = rule->rule_of};
    Values out = {0};
    Vals *own = ARENA_ARRAY(lw->arena, Vals, rule->nparams + 1);
    take_params(&b);
    for (uint32_t i = 0; i < rule->nparams; i++) own[i] = slot_value(&b, &rule->slots[i]);
    fn_bind_params(b.f, own);
    Vals returned = fn_value(b.f);
    if (rule->rule_part == RULE_FORWARD) yield_forward(&b, returned, &out);
    if (rule->rule_part == RULE_REVERSE) yield_reverse(&b, returned, &out);
    if (rule->rule_part == RULE_AUGMENTED) yield_augmented(&b, returned, &out);
    irb_yield(&b.f->b, out.len, out.at);
    vec_free(&out);
    fn_close(b.f);
}

/* ---- the forward rule behind a reverse one ---- */

static IrFunc *gradient_of(Lower *lw, const IrFunc *func) {
    IrFunc *reverse = func->reverse_rule;
    uint8_t *in = ARENA_ARRAY(lw->arena, uint8_t, reverse->nparams + 1);
    uint8_t *out = ARENA_ARRAY(lw->arena, uint8_t, reverse->nresults + 1);
    uint32_t nfloats = 0;
    for (uint32_t i = 0; i < func->nresults; i++) nfloats += ir_is_float(func->results[i]);
    for (uint32_t i = 0; i < nfloats; i++) in[reverse->nparams - 1 - i] = 1;
    for (uint32_t i = 0; i < reverse->nresults; i++) out[i] = 1;
    return ir_deriv(lw->module, IR_DERIV_GRAD, reverse, in, out, 0);
}

/* The reverse is linear in the cotangents it takes; its transpose maps tangents to tangents. */
static IrFunc *transposed(Lower *lw, const Instance *of, const IrFunc *func) {
    Types params = {0}, results = {0};
    Values args = {0};
    add_params(lw, &params, of);
    add_covered(lw, &params, of);
    add_results(lw, &params, of, false);
    add_results(lw, &results, of, true);
    const char *name = module_text(lw, "derivative_%s", func->name);
    IrFunc *rule =
        ir_func_new(lw->module, name, params.len, params.at, NULL, results.len, results.at);
    IrBuilder b = {0};
    irb_at_end(&b, rule->body);
    rule->pos = b.pos = of->rule_reverse->span.begin;
    IrValue **own = rule->body->params;
    uint32_t ntangents = func->reverse_rule->nresults, nresults = func->nresults;
    for (uint32_t i = 0; i < func->nparams; i++) vec_push(&args, own[i]);
    if (func->augmented) {
        IrInst *call = irb_call(&b, func->augmented, own);
        for (uint32_t i = nresults; i < call->nresults; i++) vec_push(&args, call->results[i]);
    }
    IrValue **values = own + func->nparams + ntangents;
    for (uint32_t i = 0; i < nresults; i++) vec_push(&args, values[i]);
    for (uint32_t i = 0; i < nresults; i++)
        if (ir_is_float(func->results[i])) vec_push(&args, irb_zeros_like(&b, values[i]));
    for (uint32_t i = 0; i < ntangents; i++) vec_push(&args, own[func->nparams + i]);
    IrInst *call = irb_call(&b, gradient_of(lw, func), args.at);
    irb_yield(&b, results.len, call->results + ntangents);
    vec_free(&params);
    vec_free(&results);
    vec_free(&args);
    return rule;
}

/* ---- attaching ---- */

void rule_attach(Lower *lw, const Instance *inst, IrFunc *func) {
    if (!inst->rule && !inst->rule_reverse) return;
    uint32_t at = 0;
    func->rule_active = ARENA_ARRAY(lw->module->arena, uint8_t, func->nparams + 1);
    for (uint32_t i = 0; i < inst->nparams; i++) {
        const Shape *shape = shape_of(lw, inst->params[i]->type);
        for (uint32_t k = 0; k < shape->n; k++, at++)
            func->rule_active[at] = inst->rule_active[i] && ir_is_float(shape->leaf[k].type);
    }
    if (inst->rule_augmented) func->augmented = lower_func(lw, inst->rule_augmented);
    if (inst->rule_reverse) func->reverse_rule = lower_func(lw, inst->rule_reverse);
    func->rule = inst->rule ? lower_func(lw, inst->rule) : transposed(lw, inst, func);
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
