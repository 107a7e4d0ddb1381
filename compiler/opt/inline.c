/* Inlining, callees before callers: functions marked for it, small ones, and those with a single
   call.  Recursive functions stay.  Functions that nothing reaches are dropped by `prune`. */
#include "ir/build.h"
#include "opt/opt.h"

#include "base/bitset.h"

enum { SMALL_BODY = 40, LOOP_BODY = 2000, LARGE_CALLER = 20000 };

typedef struct Inliner {
    OptContext *context;
    uint32_t *size;  /* instructions, by function id */
    uint32_t *calls; /* call sites, by function id */
    uint8_t *state;  /* 0 unseen, 1 on the stack, 2 done; by function id */
    bool *recursive;
} Inliner;

static uint32_t max_func_id(const IrModule *module) {
    uint32_t max = 0;
    for (uint32_t k = 0; k < module->funcs.len; k++)
        if (module->funcs.at[k]->id > max) max = module->funcs.at[k]->id;
    return max;
}

static void count_inst(IrInst *inst, void *data) {
    Inliner *in = data;
    in->size[inst->parent->func->id]++;
    if (inst->op == IR_CALL) in->calls[inst->func->id]++;
}

/* In the body of a map or loop the derivative of a call gives whole arrays for each argument that
   is one, trip after trip; put in place, it adds to the elements that were read. */
static bool arrays_in_loop(const IrInst *call) {
    bool loop = false, arrays = false;
    for (const IrRegion *r = call->parent; r->owner; r = r->owner->parent)
        loop |= r->owner->op == IR_BUILD || r->owner->op == IR_REDUCE || r->owner->op == IR_LOOP;
    for (uint32_t k = 0; k < call->noperands; k++)
        arrays |= call->operands[k]->type->kind == IR_T_ARRAY;
    return loop && arrays;
}

static bool worth_it(const Inliner *in, const IrInst *call) {
    const IrFunc *callee = call->func, *caller = call->parent->func;
    if (!callee->body || in->recursive[callee->id] || callee == caller) return false;
    /* A device runs it as a whole. */
    if (callee->launch && callee->launch->func) return false;
    /* A custom rule belongs to the function as a whole; it is taken apart once differentiation is
       over. */
    if (callee->rule && !in->context->after_ad) return false;
    if (callee->flags & IR_FUNC_INLINE) return true;
    if (in->context->marked_only) return false;
    if (in->size[caller->id] > LARGE_CALLER) return false;
    if (in->size[callee->id] <= SMALL_BODY) return true;
    if (in->size[callee->id] <= LOOP_BODY && arrays_in_loop(call)) return true;
    return in->calls[callee->id] == 1 && !(callee->flags & IR_FUNC_ROOT);
}

/* Whoever calls the library wants to see his own line; what the library calls of his (a lambda that
   was put in there) has it already. */
static void move_position(IrInst *inst, void *data) {
    const IrInst *call = data;
    const Sources *sources = call->func->module->sources;
    if (!sources || !inst->pos || sources_in_library(sources, inst->pos)) inst->pos = call->pos;
    for (uint32_t r = 0; r < inst->nregions; r++) ir_walk(inst->regions[r], move_position, data);
}

/* What a call that runs ahead calls, runs ahead. */
static void mark_ahead(IrInst *inst, void *data) {
    if (inst->op == IR_CALL) inst->flags |= IR_CALL_AHEAD;
    for (uint32_t r = 0; r < inst->nregions; r++) ir_walk(inst->regions[r], mark_ahead, data);
}

static void inline_call(Inliner *in, IrInst *call) {
    IrFunc *callee = call->func, *caller = call->parent->func;
    IrBuilder b = {.module = in->context->module, .func = caller};
    irb_before(&b, call);
    b.pos = call->pos;
    Map map = {0};
    for (uint32_t k = 0; k < callee->nparams; k++)
        map_setp(&map, callee->body->params[k], ir_resolve(call->operands[k]));
    IrInst *before = call->prev;
    IrValue **results = ir_clone_body(&b, callee->body, &map);
    if ((callee->flags & IR_FUNC_LIBRARY) && !(caller->flags & IR_FUNC_LIBRARY))
        for (IrInst *i = before ? before->next : call->parent->first; i != call; i = i->next)
            move_position(i, call);
    if (call->flags & IR_CALL_AHEAD)
        for (IrInst *i = before ? before->next : call->parent->first; i != call; i = i->next)
            mark_ahead(i, NULL);
    for (uint32_t k = 0; k < call->nresults; k++) ir_replace(call->results[k], results[k]);
    ir_remove(call);
    map_free(&map);
    in->size[caller->id] += in->size[callee->id];
    in->context->changed = true;
}

static void inline_region(Inliner *in, IrRegion *region);

/* Callees first, so that what is put in is finished. */
static void visit(Inliner *in, IrFunc *func) {
    if (!func->body || in->state[func->id]) return;
    in->state[func->id] = 1;
    inline_region(in, func->body);
    ir_settle(func);
    in->state[func->id] = 2;
}

static void inline_region(Inliner *in, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++) inline_region(in, inst->regions[r]);
        if (inst->op != IR_CALL) continue;
        if (in->state[inst->func->id] == 1) in->recursive[inst->func->id] = true;
        visit(in, inst->func);
        if (worth_it(in, inst)) inline_call(in, inst);
    }
}

void opt_inline(OptContext *c) {
    IrModule *module = c->module;
    uint32_t n = max_func_id(module) + 1;
    Inliner in = {c, ARENA_ARRAY(c->scratch, uint32_t, n), ARENA_ARRAY(c->scratch, uint32_t, n),
                  ARENA_ARRAY(c->scratch, uint8_t, n), ARENA_ARRAY(c->scratch, bool, n)};
    for (uint32_t k = 0; k < module->funcs.len; k++)
        if (module->funcs.at[k]->body) ir_walk(module->funcs.at[k]->body, count_inst, &in);
    for (uint32_t k = 0; k < module->funcs.len; k++) visit(&in, module->funcs.at[k]);
}

/* ---- prune ---- */

typedef struct Pruner {
    Bitset reached;
    VEC(IrFunc *) work;
} Pruner;

static void reach(Pruner *p, IrFunc *func) {
    if (func && bitset_add(&p->reached, func->id)) vec_push(&p->work, func);
}

static void reach_call(IrInst *inst, void *data) {
    if (inst->op == IR_CALL) reach(data, inst->func);
}

static void reach_rules(Pruner *p, const IrFunc *func) {
    reach(p, func->rule);
    reach(p, func->reverse_rule);
    reach(p, func->augmented);
}

void opt_prune(OptContext *c) {
    IrModule *module = c->module;
    Pruner p = {0};
    for (uint32_t k = 0; k < module->funcs.len; k++)
        if (module->funcs.at[k]->flags & IR_FUNC_ROOT) reach(&p, module->funcs.at[k]);
    while (p.work.len) {
        IrFunc *func = vec_pop(&p.work);
        if (func->body) ir_walk(func->body, reach_call, &p);
        else if (func->deriv.mode != IR_DERIV_NONE) reach(&p, func->deriv.base);
        if (!c->after_ad) reach_rules(&p, func);
    }
    /* Rules of scalar functions stay as long as there are derivatives to be made. */
    bool pending = false;
    for (uint32_t k = 0; k < module->funcs.len; k++) {
        const IrFunc *func = module->funcs.at[k];
        if (bitset_has(&p.reached, func->id) && !func->body && func->deriv.mode != IR_DERIV_NONE)
            pending = true;
    }
    if (pending) {
        for (uint32_t k = 0; k < IR_MATH_COUNT; k++)
            for (int w = 0; w < 2; w++) reach(&p, module->math_rules[k][w]);
        while (p.work.len) {
            IrFunc *func = vec_pop(&p.work);
            if (func->body) ir_walk(func->body, reach_call, &p);
            reach_rules(&p, func);
        }
    } else {
        for (uint32_t k = 0; k < IR_MATH_COUNT; k++)
            for (int w = 0; w < 2; w++) module->math_rules[k][w] = NULL;
    }
    uint32_t to = 0;
    for (uint32_t k = 0; k < module->funcs.len; k++)
        if (bitset_has(&p.reached, module->funcs.at[k]->id))
            module->funcs.at[to++] = module->funcs.at[k];
    c->changed |= to != module->funcs.len;
    module->funcs.len = to;
    /* Ids are dense: side tables are indexed by them. */
    for (uint32_t k = 0; k < to; k++) module->funcs.at[k]->id = k;
    bitset_free(&p.reached);
    vec_free(&p.work);
}
