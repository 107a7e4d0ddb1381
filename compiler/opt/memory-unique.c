/* Uniqueness: where nobody else can hold the block of a value, so that it is written in place
   without asking, and which loop values are worth making unique once, before the loop. */
#include "opt/memory.h"

#include "opt/memory-internal.h"

typedef struct Prover {
    Planner *p;
    MemFunc *f;
    bool *fresh;  /* by id: unique where it is defined */
    bool *shared; /* by id: some use takes a second reference */
    bool *wanted; /* by id: some use writes to it */
    bool changed;
} Prover;

static MemInst *plan_of(const Prover *v, const IrInst *inst) {
    return map_getp(&v->f->insts, inst);
}

/* Is operand K, which is handed over, unique at that point? */
static bool unique_operand(const Prover *v, const IrInst *inst, uint32_t k) {
    const IrValue *root = mem_root(v->f, inst->operands[k]);
    if (!root || !plan_of(v, inst)->take[k]) return false;
    return v->fresh[root->id] && !v->shared[root->id];
}

static void note_shared(IrInst *inst, void *data) {
    Prover *v = data;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        const IrValue *root = mem_root(v->f, inst->operands[k]);
        bool keeps = root && mem_consumes(v->p->plan, inst, k) && !mem_writes(inst, k);
        bool held = inst->op == IR_TAPE_PUSH && k > 0 && !(inst->flags & IR_TAPE_COPIES);
        if (root && held) v->shared[root->id] = true;
        if (keeps && !plan_of(v, inst)->take[k]) v->shared[root->id] = true;
    }
}

/* ---- what is written to ---- */

static bool consumer_writes(const Prover *v, const IrInst *inst, uint32_t k) {
    const IrInst *owner = inst->op == IR_YIELD ? inst->parent->owner : NULL;
    if (mem_writes(inst, k)) return true;
    if (inst->op == IR_LOOP && k > 0) return v->wanted[inst->regions[0]->params[k]->id];
    if (!owner) return false;
    if (owner->op == IR_IF) return v->wanted[owner->results[k]->id];
    if (owner->op != IR_LOOP) return false;
    uint32_t carried = k - (owner->flags & IR_LOOP_EXIT ? 1 : 0);
    return v->wanted[owner->regions[0]->params[1 + carried]->id];
}

static void note_wanted(IrInst *inst, void *data) {
    Prover *v = data;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        const IrValue *root = mem_root(v->f, inst->operands[k]);
        if (!root || v->wanted[root->id] || !plan_of(v, inst)->take[k]) continue;
        if (!consumer_writes(v, inst, k)) continue;
        v->wanted[root->id] = true;
        v->changed = true;
    }
}

/* ---- what is unique where it is defined ---- */

static void prove_region(Prover *v, const IrRegion *region);

static void prove_if(Prover *v, const IrInst *inst) {
    prove_region(v, inst->regions[0]);
    prove_region(v, inst->regions[1]);
    for (uint32_t i = 0; i < inst->nresults; i++)
        v->fresh[inst->results[i]->id] = unique_operand(v, inst->regions[0]->last, i) &&
                                         unique_operand(v, inst->regions[1]->last, i);
}

/* Supposes that all carried values that are written to are unique, until the body's yield says
   otherwise. */
static void prove_loop(Prover *v, const IrInst *inst) {
    const IrRegion *body = inst->regions[0];
    uint32_t skip = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    bool again = true;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        const IrValue *param = body->params[1 + i];
        v->fresh[param->id] = v->wanted[param->id];
    }
    while (again) {
        again = false;
        prove_region(v, body);
        for (uint32_t i = 0; i < inst->nresults; i++) {
            uint32_t id = body->params[1 + i]->id;
            if (!v->fresh[id] || unique_operand(v, body->last, skip + i)) continue;
            v->fresh[id] = false;
            again = true;
        }
    }
    MemInst *plan = plan_of(v, inst);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        bool fresh = v->fresh[body->params[1 + i]->id];
        v->fresh[inst->results[i]->id] = fresh;
        plan->own[1 + i] = fresh && !unique_operand(v, inst, 1 + i);
    }
}

static bool is_fresh(const Prover *v, const IrInst *inst, uint32_t i) {
    switch ((int)inst->op) {
    case IR_CALL: return v->p->plan->funcs[inst->func->id].fresh_result[i];
    case IR_WITH_ACC:
        return i < inst->noperands ||
               unique_operand(v, inst->regions[0]->last, i - inst->noperands);
    case IR_STRING: return false;
    default: return true;
    }
}

/* One that certainly can be written over comes first. */
static void choose_reuse(const Prover *v, const IrInst *build, MemReuse *reuse) {
    reuse->sure = false;
    for (uint32_t i = 0; i < reuse->n && !reuse->sure; i++) {
        IrValue *root = reuse->roots[i];
        if (!v->fresh[root->id] || v->shared[root->id] || !mem_same_shape(build, root)) continue;
        reuse->roots[i] = reuse->roots[0];
        reuse->roots[0] = root;
        reuse->sure = true;
    }
}

static void prove_inst(Prover *v, const IrInst *inst) {
    MemInst *plan = plan_of(v, inst);
    for (uint32_t k = 0; k < inst->noperands; k++)
        if (mem_writes(inst, k))
            plan->base[k] = !plan->take[k]               ? MEM_COPY
                            : unique_operand(v, inst, k) ? MEM_IN_PLACE
                                                         : MEM_TEST;
    if (inst->op == IR_IF) {
        prove_if(v, inst);
        return;
    }
    if (inst->op == IR_LOOP) {
        prove_loop(v, inst);
        return;
    }
    for (uint32_t r = 0; r < inst->nregions; r++) prove_region(v, inst->regions[r]);
    for (uint32_t r = 0; plan->reuse && r < inst->nresults; r++)
        choose_reuse(v, inst, &plan->reuse[r]);
    for (uint32_t i = 0; i < inst->nresults; i++)
        v->fresh[inst->results[i]->id] = is_fresh(v, inst, i);
}

static void prove_region(Prover *v, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) prove_inst(v, inst);
}

static void prove_func(Planner *p, IrFunc *func) {
    MemFunc *f = &p->plan->funcs[func->id];
    Prover v = {.p = p, .f = f};
    v.fresh = ARENA_ARRAY(p->arena, bool, func->nvalues);
    v.shared = ARENA_ARRAY(p->arena, bool, func->nvalues);
    v.wanted = ARENA_ARRAY(p->arena, bool, func->nvalues);
    ir_walk(func->body, note_shared, &v);
    do {
        v.changed = false;
        ir_walk(func->body, note_wanted, &v);
    } while (v.changed);
    prove_region(&v, func->body);
    const IrInst *yield = func->body->last;
    for (uint32_t i = 0; i < func->nresults; i++) f->fresh_result[i] = unique_operand(&v, yield, i);
}

void mem_prove_unique(Planner *p) {
    /* Twice, so that most calls see what their callee's first round found. */
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < p->module->funcs.len; i++)
            if (p->module->funcs.at[i]->body) prove_func(p, p->module->funcs.at[i]);
}
