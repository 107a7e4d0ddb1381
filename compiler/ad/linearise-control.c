/* Tangents of the operations with regions: each becomes one operation that gives the primal results
   and, behind them, the tangents of the active ones. */
#include "ad/linearise.h"

#include "base/fatal.h"

/* Values collected for an instruction. */
typedef struct Values {
    IrValue **at;
    uint32_t n;
} Values;

static Values room(Lin *l, uint32_t n) {
    return (Values){ARENA_ARRAY(l->ad->arena, IrValue *, n), 0};
}

static void put(Values *values, IrValue *value) {
    values->at[values->n++] = value;
}

/* The builder enters a region; its old place comes back. */
static IrBuilder enter(Lin *l, IrRegion *region) {
    IrBuilder outer = *l->b;
    irb_at_end(l->b, region);
    return outer;
}

/* The tangents of INST's results with ACTIVE: COPY's from AT on. */
static void bind_tangents(Lin *l, const IrInst *inst, IrInst *copy, const bool *active,
                          uint32_t at) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (active[i]) set_tangent(l, inst->results[i], copy->results[at++]);
}

/* Puts tangents of FROM[i], N values, for which ACTIVE says so, zeros where there are none. */
static void put_tangents(Lin *l, IrValue *const *from, uint32_t n, const bool *active,
                         Values *values) {
    for (uint32_t i = 0; i < n; i++)
        if (active[i]) put(values, tangent_or_zero(l, from[i]));
}

/* The results of INST: first the primal ones of COPY, tangents of those with ACTIVE behind. */
static void bind_results(Lin *l, const IrInst *inst, IrInst *copy, const bool *active) {
    uint32_t at = inst->nresults;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        copy->results[i]->name = inst->results[i]->name;
        set_primal(l, inst->results[i], copy->results[i]);
    }
    bind_tangents(l, inst, copy, active, at);
}

static bool *active_results(Lin *l, const IrInst *inst) {
    bool *active = ARENA_ARRAY(l->ad->arena, bool, inst->nresults);
    for (uint32_t i = 0; i < inst->nresults; i++) active[i] = is_active(l, inst->results[i]);
    return active;
}

/* Types of the results, then of the tangents of the active ones. */
static IrType *doubled_types(Lin *l, const IrInst *inst, const bool *active, uint32_t *n) {
    IrType *types = ARENA_ARRAY(l->ad->arena, IrType, 2 * inst->nresults);
    *n = 0;
    for (uint32_t i = 0; i < inst->nresults; i++) types[(*n)++] = inst->results[i]->type;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (active[i]) types[(*n)++] = tangent_type(l, inst->results[i]->type);
    return types;
}

/* Ends a region with what FROM yields and the tangents of the active ones. */
static void yield_doubled(Lin *l, const IrRegion *from, const bool *active) {
    const IrInst *yield = from->last;
    Values values = room(l, 2 * yield->noperands);
    for (uint32_t i = 0; i < yield->noperands; i++) put(&values, primal_of(l, yield->operands[i]));
    put_tangents(l, yield->operands, yield->noperands, active, &values);
    irb_yield(l->b, values.n, values.at);
}

static void linearise_if(Lin *l, IrInst *inst) {
    bool *active = active_results(l, inst);
    uint32_t n;
    IrType *types = doubled_types(l, inst, active, &n);
    IrInst *copy = irb_if(l->b, primal_of(l, inst->operands[0]), n, types);
    for (uint32_t r = 0; r < 2; r++) {
        IrBuilder outer = enter(l, copy->regions[r]);
        linearise_region(l, inst->regions[r]);
        yield_doubled(l, inst->regions[r], active);
        *l->b = outer;
    }
    bind_results(l, inst, copy, active);
}

/* ---- loops ---- */

/* The reverse loop has to know how often the body ran. */
static bool needs_counter(const Lin *l, const IrInst *inst) {
    return l->mixed->transposed && (inst->flags & IR_LOOP_EXIT);
}

static void yield_loop(Lin *l, const IrInst *inst, IrInst *copy, const bool *active) {
    const IrInst *yield = inst->regions[0]->last;
    uint32_t first = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    Values values = room(l, 2 * yield->noperands + 1);
    for (uint32_t i = 0; i < yield->noperands; i++) put(&values, primal_of(l, yield->operands[i]));
    put_tangents(l, yield->operands + first, inst->nresults, active, &values);
    if (needs_counter(l, inst))
        put(&values, irb_binary(l->b, IR_ADD, copy->regions[0]->params[0], irb_int(l->b, 1)));
    irb_yield(l->b, values.n, values.at);
}

static void bind_param(Lin *l, const IrValue *from, IrValue *to, bool is_tangent) {
    if (is_tangent) {
        set_tangent(l, from, to);
    } else {
        to->name = from->name;
        set_primal(l, from, to);
    }
}

static void linearise_loop(Lin *l, IrInst *inst) {
    const IrRegion *from = inst->regions[0];
    uint32_t n = inst->nresults, at = n;
    bool *active = active_results(l, inst);
    Values inits = room(l, 2 * n + 1);
    for (uint32_t i = 0; i < n; i++) active[i] |= is_active(l, from->params[1 + i]);
    for (uint32_t i = 0; i < n; i++) put(&inits, primal_of(l, inst->operands[1 + i]));
    put_tangents(l, inst->operands + 1, n, active, &inits);
    if (needs_counter(l, inst)) put(&inits, irb_int(l->b, 0));
    IrInst *copy = irb_loop(l->b, primal_of(l, inst->operands[0]), inits.n, inits.at,
                            inst->flags & IR_LOOP_EXIT);
    IrRegion *body = copy->regions[0];
    copy->imm = inst->imm;
    copy->flags |= inst->flags & IR_LOOP_SCAN;
    bind_param(l, from->params[0], body->params[0], false);
    for (uint32_t i = 0; i < n; i++) {
        bind_param(l, from->params[1 + i], body->params[1 + i], false);
        body->params[1 + i]->type = from->params[1 + i]->type;
        copy->results[i]->type = inst->results[i]->type;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!active[i]) continue;
        body->params[1 + at]->type = tangent_type(l, from->params[1 + i]->type);
        copy->results[at]->type = tangent_type(l, inst->results[i]->type);
        bind_param(l, from->params[1 + i], body->params[1 + at++], true);
    }
    IrBuilder outer = enter(l, body);
    linearise_region(l, from);
    yield_loop(l, inst, copy, active);
    *l->b = outer;
    bind_results(l, inst, copy, active);
}

/* ---- parallel regions ---- */

static void bind_params(Lin *l, const IrRegion *from, IrRegion *to) {
    for (uint32_t i = 0; i < from->nparams; i++) {
        IrValue *param = ir_region_param(to, from->params[i]->type, from->params[i]->name);
        set_primal(l, from->params[i], param);
    }
}

static void linearise_build(Lin *l, IrInst *inst) {
    bool *active = active_results(l, inst);
    uint32_t n, k = 0;
    IrType *types = doubled_types(l, inst, active, &n);
    Values operands = room(l, 2 * inst->noperands);
    int64_t *ranks = ARENA_ARRAY(l->ad->module->arena, int64_t, n);
    for (uint32_t i = 0; i < inst->noperands; i++) put(&operands, primal_of(l, inst->operands[i]));
    for (uint32_t i = 0; i < inst->nresults; i++) ranks[k++] = inst->ints[i];
    for (uint32_t i = 0, at = (uint32_t)inst->imm; i < inst->nresults; i++) {
        for (uint32_t d = 0; d < (uint32_t)inst->ints[i]; d++, at++)
            if (active[i]) put(&operands, primal_of(l, inst->operands[at]));
        if (active[i]) ranks[k++] = inst->ints[i];
    }
    IrInst *copy = irb_inst(l->b, IR_BUILD, operands.n, operands.at, n, types, 1);
    copy->imm = inst->imm;
    copy->ints = ranks;
    copy->nints = n;
    bind_params(l, inst->regions[0], copy->regions[0]);
    IrBuilder outer = enter(l, copy->regions[0]);
    linearise_region(l, inst->regions[0]);
    yield_doubled(l, inst->regions[0], active);
    *l->b = outer;
    bind_results(l, inst, copy, active);
}

static void linearise_sum(Lin *l, IrInst *inst) {
    bool *active = active_results(l, inst);
    uint32_t n, first = (uint32_t)inst->imm;
    IrType *types = doubled_types(l, inst, active, &n);
    Values operands = room(l, 2 * inst->noperands);
    for (uint32_t i = 0; i < inst->noperands; i++) put(&operands, primal_of(l, inst->operands[i]));
    put_tangents(l, inst->operands + first, inst->nresults, active, &operands);
    IrInst *copy = irb_inst(l->b, IR_REDUCE, operands.n, operands.at, n, types, 1);
    copy->imm = inst->imm;
    copy->flags = inst->flags;
    bind_params(l, inst->regions[0], copy->regions[0]);
    IrBuilder outer = enter(l, copy->regions[0]);
    linearise_region(l, inst->regions[0]);
    yield_doubled(l, inst->regions[0], active);
    *l->b = outer;
    bind_results(l, inst, copy, active);
}

/* ---- the other reductions ---- */

static void keep_outer(IrValue *value, void *data) {
    const Lin **pair = data;
    Lin *inner = (Lin *)pair[0];
    map_setp(&inner->primal, value, primal_of(pair[1], value));
    IrValue *tangent = tangent_of(pair[1], value);
    if (tangent) map_setp(&inner->tangent, value, tangent);
}

/* A walk over INST's body that knows what the body takes from outside, and leaves no trace of the
   values within: the body can be gone through several times.  Effects happen the first time. */
static Lin walk_apart(const Lin *l, const IrInst *inst) {
    Lin inner = *l;
    const Lin *pair[] = {&inner, l};
    inner.primal = (Map){0};
    inner.tangent = (Map){0};
    inner.is_again = true;
    for (uint32_t i = 0; i < inst->noperands; i++) keep_outer(inst->operands[i], pair);
    ir_captures(inst->regions[0], keep_outer, pair);
    return inner;
}

static void end_apart(Lin *inner) {
    map_free(&inner->primal);
    map_free(&inner->tangent);
}

/* The primal reduction. */
static void copy_apart(Lin *l, const IrInst *inst) {
    Lin inner = walk_apart(l, inst);
    IrInst *copy = ir_clone(l->b, inst, &inner.primal);
    for (uint32_t i = 0; i < inst->nresults; i++) set_primal(l, inst->results[i], copy->results[i]);
    end_apart(&inner);
}

/* Is V (or NaN both) what was found? */
static IrValue *ties(Lin *l, IrValue *v, IrValue *found) {
    IrValue *both = irb_binary(l->b, IR_AND, irb_binary(l->b, IR_NE, v, v),
                               irb_binary(l->b, IR_NE, found, found));
    return irb_binary(l->b, IR_OR, irb_binary(l->b, IR_EQ, v, found), both);
}

static IrValue *one_if(Lin *l, IrValue *condition, IrScalar type) {
    return irb_select(l->b, condition, irb_scalar_const(l->b, type, 0, 1), irb_zero(l->b, type));
}

/* Opens a map over the elements of LIKE, an array, that gives N values: the last one a tangent,
   those before it not. */
static IrInst *open_elements(Lin *l, IrValue *like, uint32_t n) {
    IrValue *sizes[IR_MAX_RANK];
    IrType types[2], elem = ir_scalar(l->b->module, like->type->scalar);
    for (uint32_t i = 0; i < n; i++) types[i] = i + 1 < n ? elem : tangent_type(l, elem);
    for (uint32_t k = 0; k < like->type->rank; k++) sizes[k] = irb_dim(l->b, like, k);
    return irb_build(l->b, like->type->rank, sizes, n, types, 0, NULL);
}

static void mark_elements(Lin *l, IrValue *tangent, IrValue *like) {
    map_setp(&l->mixed->partners, mark_linear(l, tangent), like);
}

static void close_elements(Lin *l, IrInst *map, IrBuilder outer, IrValue *like,
                           IrValue *const *values) {
    irb_yield(l->b, map->nresults, values);
    *l->b = outer;
    mark_elements(l, map->results[map->nresults - 1], like);
}

/* Element of an array in MAP's body; NULL of NULL. */
static IrValue *element(Lin *l, const IrInst *map, IrValue *array) {
    const IrRegion *body = map->regions[0];
    return array ? irb_index(l->b, array, body->nparams, body->params) : NULL;
}

static IrValue *linear_element(Lin *l, const IrInst *map, IrValue *array) {
    return array ? mark_linear(l, element(l, map, array)) : NULL;
}

/* 1 if V ties with what was FOUND, and its tangent DV if it does, else zeros. */
static void tied(Lin *l, IrValue *v, IrValue *dv, IrValue *found, IrValue **out) {
    IrValue *is_tied = ties(l, v, found), *part = linear_select(l, is_tied, dv, NULL);
    out[0] = one_if(l, is_tied, found->type->scalar);
    out[1] = part ? part : linear_zero(l, found);
}

static void put_tied(Lin *l, const IrValue *value, IrValue *found, Values *values) {
    IrValue *v = primal_of(l, value), *dv = tangent_of(l, value), *out[2];
    if (found->type->rank) {
        IrInst *map = open_elements(l, found, 2);
        IrBuilder outer = enter(l, map->regions[0]);
        tied(l, element(l, map, v), linear_element(l, map, dv), element(l, map, found), out);
        close_elements(l, map, outer, found, out);
        out[0] = map->results[0];
        out[1] = map->results[1];
    } else {
        tied(l, v, dv, found, out);
    }
    put(values, out[0]);
    put(values, out[1]);
}

/* The tangent SUM over COUNT, of arrays like FOUND element by element. */
static IrValue *mean_of_tied(Lin *l, IrValue *sum, IrValue *count, IrValue *found) {
    if (!found->type->rank) return linear_div(l, mark_linear(l, sum), count);
    mark_elements(l, sum, found);
    IrInst *map = open_elements(l, found, 1);
    IrBuilder outer = enter(l, map->regions[0]);
    IrValue *mean = linear_div(l, linear_element(l, map, sum), element(l, map, count));
    close_elements(l, map, outer, found, &mean);
    return map->results[0];
}

/* MIN, MAX: (sum of the tangents of those tied) / (number of those tied), in one more reduction. */
static IrValue *extremum_tangent(Lin *l, IrInst *inst, uint32_t result, IrValue *found) {
    uint32_t n = (uint32_t)inst->imm;
    IrType types[] = {found->type, tangent_type(l, found->type)};
    Values operands = room(l, n + 2), values = room(l, 2);
    for (uint32_t i = 0; i < n; i++) put(&operands, primal_of(l, inst->operands[i]));
    put_tied(l, inst->operands[n + result], found, &operands);
    IrInst *sum = irb_inst(l->b, IR_REDUCE, operands.n, operands.at, 2, types, 1);
    sum->imm = inst->imm;
    sum->flags = IR_SUM;
    bind_params(l, inst->regions[0], sum->regions[0]);
    IrBuilder outer = enter(l, sum->regions[0]);
    linearise_region(l, inst->regions[0]);
    put_tied(l, inst->regions[0]->last->operands[result], found, &values);
    irb_yield(l->b, values.n, values.at);
    *l->b = outer;
    return mean_of_tied(l, sum->results[1], sum->results[0], found);
}

/* P, a product so far and its tangent, times V with tangent DV. */
static void times(Lin *l, IrValue *const *p, IrValue *v, IrValue *dv, IrValue **out) {
    out[0] = irb_binary(l->b, IR_MUL, p[0], v);
    out[1] = linear_add(l, linear_mul(l, p[1], v), linear_mul(l, dv, p[0]));
}

static void times_elements(Lin *l, IrValue *const *p, IrValue *v, IrValue *dv, IrValue **out) {
    IrInst *map = open_elements(l, v, 2);
    IrBuilder outer = enter(l, map->regions[0]);
    IrValue *q[] = {element(l, map, p[0]), linear_element(l, map, p[1])};
    times(l, q, element(l, map, v), linear_element(l, map, dv), out);
    close_elements(l, map, outer, map->results[0], out);
    out[0] = map->results[0];
    out[1] = map->results[1];
}

static void mark_product(Lin *l, IrValue *const *p) {
    if (p[0]->type->rank) mark_elements(l, p[1], p[0]);
    else mark_linear(l, p[1]);
}

/* PROD: a nest of loops that carries the product so far and its tangent, P; no division. */
static void linearise_product(Lin *l, IrInst *inst, uint32_t result, uint32_t depth,
                              IrValue *const *p, IrValue **out) {
    uint32_t n = (uint32_t)inst->imm;
    if (depth == n) {
        linearise_region(l, inst->regions[0]);
        IrValue *yield = inst->regions[0]->last->operands[result];
        IrValue *v = primal_of(l, yield), *dv = tangent_of(l, yield);
        if (v->type->rank) times_elements(l, p, v, dv, out);
        else times(l, p, v, dv, out);
        return;
    }
    IrInst *loop = irb_loop(l->b, primal_of(l, inst->operands[depth]), 2, p, false);
    IrValue **params = loop->regions[0]->params;
    set_primal(l, inst->regions[0]->params[depth], params[0]);
    mark_product(l, params + 1);
    IrBuilder outer = enter(l, loop->regions[0]);
    linearise_product(l, inst, result, depth + 1, params + 1, out);
    irb_yield(l->b, 2, out);
    *l->b = outer;
    out[0] = loop->results[0];
    out[1] = loop->results[1];
    mark_product(l, out);
}

static IrValue *product_tangent(Lin *l, IrInst *inst, uint32_t result) {
    const IrValue *init = inst->operands[(uint32_t)inst->imm + result];
    IrValue *start[] = {primal_of(l, init), tangent_or_zero(l, init)}, *out[2];
    linearise_product(l, inst, result, 0, start, out);
    return out[1];
}

static void linearise_other(Lin *l, IrInst *inst) {
    copy_apart(l, inst);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        IrValue *found = primal_of(l, inst->results[i]), *tangent;
        if (!is_active(l, inst->results[i])) continue;
        Lin inner = walk_apart(l, inst);
        if (inst->flags == IR_PROD) tangent = product_tangent(&inner, inst, i);
        else tangent = extremum_tangent(&inner, inst, i, found);
        end_apart(&inner);
        set_tangent(l, inst->results[i], tangent);
    }
}

void linearise_reduce(Lin *l, IrInst *inst) {
    if (inst->flags == IR_SUM) linearise_sum(l, inst);
    else linearise_other(l, inst);
}

/* ---- accumulators ---- */

/* The types of PARTS results of INST from FIRST on, then of the tangents of those with ACTIVE. */
static void add_types(const Lin *l, const IrInst *inst, uint32_t first, uint32_t parts,
                      const bool *active, IrType *types, uint32_t *n) {
    for (uint32_t i = 0; i < parts; i++) types[(*n)++] = inst->results[first + i]->type;
    for (uint32_t i = 0; i < parts; i++)
        if (active[first + i]) types[(*n)++] = tangent_type(l, inst->results[first + i]->type);
}

/* The same for the results themselves: COPY's from *AT on. */
static void bind_part(Lin *l, const IrInst *inst, uint32_t first, uint32_t parts,
                      const bool *active, IrInst *copy, uint32_t *at) {
    for (uint32_t i = 0; i < parts; i++)
        set_primal(l, inst->results[first + i], copy->results[(*at)++]);
    for (uint32_t i = 0; i < parts; i++)
        if (active[first + i]) set_tangent(l, inst->results[first + i], copy->results[(*at)++]);
}

static void linearise_with_acc(Lin *l, IrInst *inst) {
    const IrRegion *from = inst->regions[0];
    uint32_t n = inst->noperands, m = inst->nresults - n, at = 0, nresults = 0;
    bool *active = active_results(l, inst);
    Values operands = room(l, 2 * n), values = room(l, 2 * m);
    IrType *types = ARENA_ARRAY(l->ad->arena, IrType, 2 * inst->nresults);
    for (uint32_t i = 0; i < n; i++) active[i] |= is_active(l, from->params[i]);
    for (uint32_t i = 0; i < n; i++) put(&operands, primal_of(l, inst->operands[i]));
    put_tangents(l, inst->operands, n, active, &operands);
    add_types(l, inst, 0, n, active, types, &nresults);
    add_types(l, inst, n, m, active, types, &nresults);
    IrInst *copy = irb_inst(l->b, IR_WITH_ACC, operands.n, operands.at, nresults, types, 1);
    bind_params(l, from, copy->regions[0]);
    for (uint32_t i = 0; i < n; i++) {
        IrType type = tangent_type(l, from->params[i]->type);
        if (active[i])
            set_tangent(l, from->params[i], ir_region_param(copy->regions[0], type, NULL));
    }
    IrBuilder outer = enter(l, copy->regions[0]);
    linearise_region(l, from);
    for (uint32_t i = 0; i < m; i++) put(&values, primal_of(l, from->last->operands[i]));
    put_tangents(l, from->last->operands, m, active + n, &values);
    irb_yield(l->b, values.n, values.at);
    *l->b = outer;
    bind_part(l, inst, 0, n, active, copy, &at);
    bind_part(l, inst, n, m, active, copy, &at);
}

void linearise_control(Lin *l, IrInst *inst) {
    switch ((int)inst->op) {
    case IR_IF: linearise_if(l, inst); break;
    case IR_LOOP: linearise_loop(l, inst); break;
    case IR_BUILD: linearise_build(l, inst); break;
    case IR_WITH_ACC: linearise_with_acc(l, inst); break;
    default: UNREACHABLE("no tangent for %s", ir_op_info(inst->op)->name);
    }
}
