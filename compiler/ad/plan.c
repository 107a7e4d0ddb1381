/* The residual plan: which nonlinear values the reverse sweep gets over a tape, and which it
   computes again.

   A minimum cut of one graph over the whole function.  A node stands for a nonlinear value as the
   reverse region of its own scope has it.  Values that cannot be computed there (what a loop
   carries, results of calls and inner loops, parameters of a pair) hang on the source; those that
   can hang on their operands, and on the source by what it costs to compute them again; those that
   linear instructions use hang on the sink.  Cutting through a value is to save it, at the price of
   its size and of how often its scope runs.  In a LITE scope nothing can be saved, so demands go
   through to what it captures. */
#include "ad/plan.h"

#include <stdlib.h>

#include "base/fatal.h"

enum { LOOP_FACTOR = 64, FREQ_LIMIT = 1 << 28 };

typedef struct Planner {
    Ad *ad;
    Mixed *mixed;
    Plan *plan;
    uint32_t nvalues;
    Bitset sinks;
    uint32_t *taint;       /* by id: depth of the innermost scope that a value cannot be computed
                              without; 0: it can always */
    VEC(IrValue *) values; /* those with nodes */
    uint32_t *node;        /* by id: number of the first of its two nodes, or 0 */
    Map shared;            /* instruction with several results to the node before theirs */
    uint32_t next_node;
    Cut *cut;
    Bitset seen;
    VEC(IrValue *) todo;
} Planner;

/* ---- scopes ---- */

static ScopeKind inner_kind(const IrInst *inst, int64_t checkpoint, ScopeKind outer) {
    if (inst->op == IR_LOOP) return checkpoint ? SCOPE_FULL : SCOPE_SPLIT;
    if (inst->op == IR_IF) return outer == SCOPE_LITE ? SCOPE_LITE : SCOPE_SPLIT;
    return SCOPE_LITE;
}

static int64_t inner_freq(const IrInst *inst, int64_t freq) {
    int64_t inner = inst->op == IR_IF ? freq + freq / 16 : freq * LOOP_FACTOR;
    return inner < FREQ_LIMIT ? inner : FREQ_LIMIT;
}

/* States lie on the tape that is threaded through the scope round the loop, or on its own. */
static void mark_checkpointed(Scope *body, int64_t checkpoint) {
    body->checkpoint = checkpoint;
    body->tape = body->reruns = true;
    if (body->parent->kind == SCOPE_SPLIT) body->parent->tape = true;
}

static void make_scopes(Planner *p, const IrRegion *region, Scope *parent, ScopeKind kind,
                        int64_t freq) {
    Scope *scope = ARENA_NEW(p->ad->arena, Scope);
    scope->kind = kind;
    scope->freq = freq;
    scope->depth = parent ? parent->depth + 1 : 1;
    scope->region = region;
    scope->parent = parent;
    map_setp(&p->plan->scopes, region, scope);
    vec_push(&p->plan->all, scope);
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        if (!has_linear(p->mixed, inst)) continue;
        ad_keep(p->mixed, inst, scope);
        if (inst->op == IR_CALL && kind == SCOPE_SPLIT && !is_rule_call(p->mixed, inst))
            scope->tape = true;
        int64_t checkpoint = ad_checkpoint(p->mixed, inst);
        for (uint32_t r = 0; r < inst->nregions; r++)
            make_scopes(p, inst->regions[r], scope, inner_kind(inst, checkpoint, kind),
                        inner_freq(inst, freq));
        if (checkpoint) mark_checkpointed(plan_scope(p->plan, inst->regions[0]), checkpoint);
    }
}

static Scope *scope_of(const Planner *p, const IrValue *value) {
    return plan_scope(p->plan, ad_home(value));
}

/* ---- what can be computed again ---- */

/* The reverse region of its scope has it in any case. */
static bool is_free(const Planner *p, const IrValue *value) {
    const Scope *scope = scope_of(p, value);
    if (!scope || scope->kind == SCOPE_FULL) return true;
    if (value->def) return false;
    const IrInst *owner = value->region->owner;
    return owner && (owner->op == IR_BUILD || owner->op == IR_REDUCE ||
                     (owner->op == IR_LOOP && value->index == 0));
}

/* Only the forward sweep can give it. */
static bool is_source(const Planner *p, const IrValue *value) {
    if (!value->def) return true;
    if (scope_of(p, value)->kind == SCOPE_LITE)
        return ad_asks_world(p->ad, value->def) || ad_reads_shared(p->mixed, value->def);
    return ad_cost_again(p->mixed, value->def) >= CUT_INFINITE;
}

/* What it takes to have VALUE in the reverse region of its scope. */
static void inputs_of_value(const Planner *p, const IrValue *value,
                            void (*visit)(IrValue *, void *), void *data) {
    IrValue *kept = ad_kept(p->mixed, value);
    if (kept) visit(kept, data);
    else ad_nonlinear_inputs(p->mixed, value->def, visit, data);
}

static void max_taint(IrValue *value, void *data) {
    void **pair = data;
    const Planner *p = pair[0];
    uint32_t *taint = pair[1];
    if (p->taint[value->id] > *taint) *taint = p->taint[value->id];
}

static void taint_value(Planner *p, IrValue *value) {
    uint32_t taint = 0;
    if (is_linear(p->mixed, value) || is_free(p, value)) return;
    const IrValue *kept = ad_kept(p->mixed, value);
    if (!kept && is_source(p, value)) {
        taint = scope_of(p, value)->depth;
    } else {
        void *pair[] = {p, &taint};
        ad_nonlinear_inputs(p->mixed, kept ? kept->def : value->def, max_taint, pair);
    }
    p->taint[value->id] = taint;
    vec_push(&p->values, value);
}

static void taint_region(Planner *p, const IrRegion *region) {
    for (uint32_t i = 0; i < region->nparams; i++) taint_value(p, region->params[i]);
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (plan_scope(p->plan, inst->regions[r])) taint_region(p, inst->regions[r]);
        for (uint32_t i = 0; i < inst->nresults; i++) taint_value(p, inst->results[i]);
    }
}

/* ---- demands ---- */

typedef struct Demand {
    Planner *p;
    uint32_t deepest; /* taint of the values asked for in a region */
} Demand;

static void demand(IrValue *value, void *data) {
    Demand *d = data;
    if (is_linear(d->p->mixed, value)) return;
    bitset_add(&d->p->sinks, value->id);
    if (d->p->taint[value->id] > d->deepest) d->deepest = d->p->taint[value->id];
}

/* What the regions within ask for; a loop in a LITE scope that needs a tape is run again as a
   whole, and needs all its inputs.  Returns the deepest taint among what is asked for. */
static uint32_t demand_region(Planner *p, const IrRegion *region) {
    const Scope *scope = plan_scope(p->plan, region);
    uint32_t deepest = scope->tape ? scope->depth : 0;
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        Demand d = {p, 0};
        if (!has_linear(p->mixed, inst) || inst->op == IR_YIELD) continue;
        ad_linear_needs(p->mixed, inst, demand, &d);
        for (uint32_t r = 0; r < inst->nregions; r++) {
            uint32_t inner = demand_region(p, inst->regions[r]);
            if (inner > d.deepest) d.deepest = inner;
        }
        if (inst->op == IR_LOOP && plan_scope(p->plan, inst->regions[0])->checkpoint)
            ad_nonlinear_captures(p->mixed, inst, demand, &d);
        bool reruns = scope->kind == SCOPE_LITE && inst->op == IR_LOOP && d.deepest > scope->depth;
        if (reruns) plan_scope(p->plan, inst->regions[0])->reruns = true;
        bool calls = inst->op == IR_CALL && !is_rule_call(p->mixed, inst);
        if (reruns || (scope->kind == SCOPE_LITE && calls))
            ad_nonlinear_inputs(p->mixed, inst, demand, &d);
        if (d.deepest > deepest) deepest = d.deepest;
    }
    return deepest;
}

static void demand_ends(Planner *p) {
    const IrFunc *func = p->mixed->func;
    for (uint32_t i = 0; i < func->body->nparams; i++) {
        IrValue *param = func->body->params[i];
        if (param->type->kind != IR_T_ARRAY || !is_linear(p->mixed, param)) continue;
        const Dim *dims = mixed_dims(p->mixed, param);
        for (uint32_t k = 0; k < param->type->rank; k++)
            if (dims[k].value) bitset_add(&p->sinks, dims[k].value->id);
    }
}

/* ---- the graph ---- */

typedef struct EdgeTo {
    Planner *p;
    uint32_t node;
} EdgeTo;

static void edge_from(IrValue *value, void *data) {
    EdgeTo *to = data;
    uint32_t from = to->p->node[value->id];
    if (from) cut_edge(to->p->cut, from + 1, to->node, CUT_INFINITE);
}

static int64_t often(int64_t cost, const Scope *scope) {
    int64_t total;
    if (__builtin_mul_overflow(cost, scope->freq, &total) || total > CUT_INFINITE)
        return CUT_INFINITE;
    return total;
}

/* In a parallel region only a loop that runs again leaves a tape. */
static bool can_save(const Scope *scope) {
    if (scope->kind == SCOPE_LITE) return false;
    while (scope->parent && scope->parent->kind != SCOPE_LITE) scope = scope->parent;
    return !scope->parent || scope->reruns;
}

enum { SOURCE = 0, SINK = 1 };

/* Computing the results of an instruction again: NODE needs its inputs, and costs. */
static void add_inputs(Planner *p, const IrInst *def, const Scope *scope, uint32_t node) {
    int64_t cost = scope->kind == SCOPE_LITE ? 0 : often(ad_cost_again(p->mixed, def), scope);
    EdgeTo to = {p, node};
    if (cost) cut_edge(p->cut, SOURCE, node, cost);
    ad_nonlinear_inputs(p->mixed, def, edge_from, &to);
}

/* The node that several results of one instruction have in common. */
static uint32_t shared_node(Planner *p, const IrInst *def, const Scope *scope) {
    uintptr_t node = (uintptr_t)map_getp(&p->shared, def);
    if (node) return (uint32_t)node;
    node = p->next_node++;
    map_setp(&p->shared, def, (void *)node);
    add_inputs(p, def, scope, (uint32_t)node);
    return (uint32_t)node;
}

static void add_node(Planner *p, IrValue *value) {
    const Scope *scope = scope_of(p, value);
    uint32_t in = p->node[value->id];
    cut_edge(p->cut, in, in + 1,
             can_save(scope) && !ad_is_shared(p->mixed, value)
                 ? often(ad_cost_save(value->type), scope)
                 : CUT_INFINITE);
    if (bitset_has(&p->sinks, value->id)) cut_edge(p->cut, in + 1, SINK, CUT_INFINITE);
    if (ad_kept(p->mixed, value)) inputs_of_value(p, value, edge_from, &(EdgeTo){p, in});
    else if (is_source(p, value)) cut_edge(p->cut, SOURCE, in, CUT_INFINITE);
    else if (value->def->nresults > 1)
        cut_edge(p->cut, shared_node(p, value->def, scope), in, CUT_INFINITE);
    else add_inputs(p, value->def, scope, in);
}

/* What a parallel region computes can be computed again, but for what it gets from the world; what
   it takes from around it can be kept, but for texts. */
static void report_unkept(Planner *p) {
    bool texts = false;
    for (uint32_t i = 0; i < p->values.len; i++) {
        const IrValue *value = p->values.at[i];
        texts |= value->type->kind == IR_T_STR;
        if (!value->def || scope_of(p, value)->kind != SCOPE_LITE || !is_source(p, value)) continue;
        ad_report(p->ad, DIAG_DERIV_WORLD, value->def->pos,
                  "the derivative of a parallel body needs this again, which comes from outside "
                  "of the program");
        return;
    }
    if (!texts) UNREACHABLE("no plan for %s", p->mixed->func->name);
    ad_report(p->ad, DIAG_DERIV_WORLD, p->mixed->func->pos,
              "the derivative of a parallel body here needs a text again, which no tape holds");
}

static void solve(Planner *p) {
    p->node = ARENA_ARRAY(p->ad->arena, uint32_t, p->nvalues);
    for (uint32_t i = 0; i < p->values.len; i++) p->node[p->values.at[i]->id] = 2 + 2 * i;
    p->next_node = 2 + 2 * p->values.len;
    p->cut = cut_new(p->ad->arena, 2 + 3 * p->values.len);
    for (uint32_t i = 0; i < p->values.len; i++) add_node(p, p->values.at[i]);
    if (cut_solve(p->cut, SOURCE, SINK) >= CUT_INFINITE) report_unkept(p);
}

/* ---- from the cut to the plan ---- */

static void fetch(IrValue *value, void *data) {
    Planner *p = data;
    if (is_linear(p->mixed, value) || is_free(p, value) || !bitset_add(&p->seen, value->id)) return;
    Scope *scope = scope_of(p, value);
    if (cut_sink_side(p->cut, p->node[value->id]) && value->def) {
        bitset_add(&p->plan->again, value->id);
        vec_push(&p->todo, value);
    } else {
        bitset_add(&p->plan->saved, value->id);
        vec_push(&scope->saved, value);
        scope->tape = true;
    }
}

static void fetch_all(Planner *p) {
    for (uint32_t i = 0; i < p->values.len; i++)
        if (bitset_has(&p->sinks, p->values.at[i]->id)) fetch(p->values.at[i], p);
    while (p->todo.len) {
        IrValue *value = vec_pop(&p->todo);
        inputs_of_value(p, value, fetch, p);
    }
}

static int by_id(const void *a, const void *b) {
    uint32_t x = (*(IrValue *const *)a)->id, y = (*(IrValue *const *)b)->id;
    return x < y ? -1 : x > y;
}

static void read_off(Planner *p) {
    Plan *plan = p->plan;
    fetch_all(p);
    for (uint32_t i = plan->all.len; i-- > 0;) {
        Scope *scope = plan->all.at[i];
        if (scope->saved.len)
            qsort(scope->saved.at, scope->saved.len, sizeof *scope->saved.at, by_id);
        if (scope->kind == SCOPE_SPLIT && scope->tape && scope->parent &&
            scope->parent->kind == SCOPE_SPLIT)
            scope->parent->tape = true;
    }
}

Plan *ad_plan(Ad *ad, Mixed *mixed, ScopeKind kind) {
    Plan *plan = ARENA_NEW(ad->arena, Plan);
    Planner p = {.ad = ad, .mixed = mixed, .plan = plan};
    ad_survey(mixed);
    make_scopes(&p, mixed->func->body, NULL, kind, 1);
    p.nvalues = mixed->func->nvalues;
    p.taint = ARENA_ARRAY(ad->arena, uint32_t, p.nvalues);
    taint_region(&p, mixed->func->body);
    demand_region(&p, mixed->func->body);
    demand_ends(&p);
    solve(&p);
    if (!ad->failed) read_off(&p);
    cut_free(p.cut);
    vec_free(&p.values);
    vec_free(&p.todo);
    bitset_free(&p.sinks);
    map_free(&p.shared);
    bitset_free(&p.seen);
    return plan;
}

void plan_free(Plan *plan) {
    for (uint32_t i = 0; i < plan->all.len; i++) vec_free(&plan->all.at[i]->saved);
    vec_free(&plan->all);
    map_free(&plan->scopes);
    bitset_free(&plan->saved);
    bitset_free(&plan->again);
}
