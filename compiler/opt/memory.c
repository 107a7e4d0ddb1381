/* Ownership and last uses.  See memory.h for the method; memory-unique.c proves uniqueness. */
#include "opt/memory.h"

#include "base/fatal.h"
#include "base/vec.h"
#include "ir/export.h"
#include "opt/memory-internal.h"

/* ---- kinds of values ---- */

bool mem_is_small(IrType type) {
    int64_t count = 1;
    if (type->kind != IR_T_ARRAY) return false;
    for (uint32_t k = 0; k < type->rank; k++) {
        if (type->dims[k] < 0 || type->dims[k] > MEM_SMALL) return false;
        count *= type->dims[k];
        if (count > MEM_SMALL) return false;
    }
    return true;
}

bool mem_is_counted(IrType type) {
    return type->kind == IR_T_ARRAY || type->kind == IR_T_STR || type->kind == IR_T_TAPE;
}

bool mem_same_size(const IrValue *a, const IrValue *x, uint32_t k) {
    int64_t size;
    a = ir_resolve((IrValue *)a);
    if (ir_const_int(a, &size) && size == x->type->dims[k]) return true;
    if (a->def && a->def->op == IR_DIM && a->def->imm == k && ir_resolve(a->def->operands[0]) == x)
        return true;
    return ir_known_dim(x, k) == a;
}

static bool is_int(const IrValue *value, int64_t wanted) {
    int64_t known;
    return ir_const_int(value, &known) && known == wanted;
}

/* A slice that is contiguous whatever the sizes: step 1 everywhere, all inner dimensions whole. */
static bool is_leading_slice(const IrInst *inst) {
    const IrValue *x = ir_resolve(inst->operands[0]);
    uint32_t rank = x->type->rank;
    IrValue **start = inst->operands + 1, **count = start + rank, **step = count + rank;
    bool inner = false; /* a dimension before this one holds more than one */
    for (uint32_t k = 0; k < rank; k++) {
        bool whole = is_int(start[k], 0) && mem_same_size(count[k], x, k);
        if (!is_int(step[k], 1) || (inner && !whole)) return false;
        inner = inner || !is_int(count[k], 1);
    }
    return true;
}

bool mem_is_view(const IrInst *inst) {
    switch ((int)inst->op) {
    case IR_INDEX: return inst->results[0]->type->kind == IR_T_ARRAY;
    case IR_RESHAPE:
    case IR_ASSUME:
    case IR_STOP: return true;
    case IR_SLICE: return is_leading_slice(inst);
    case IR_TRANSPOSE:
        for (uint32_t k = 0; k < inst->nints; k++)
            if (inst->ints[k] != k) return false;
        return true;
    default: return false;
    }
}

/* ---- consuming uses ---- */

/* The value is kept by whoever gets what the region yields. */
static bool yield_consumes(const IrInst *yield) {
    const IrInst *owner = yield->parent->owner;
    return !owner || (owner->op != IR_BUILD && owner->op != IR_REDUCE);
}

bool mem_consumes(const MemPlan *plan, const IrInst *inst, uint32_t k) {
    if (!mem_is_counted(ir_resolve(inst->operands[k])->type)) return false;
    switch ((int)inst->op) {
    case IR_YIELD: return yield_consumes(inst);
    case IR_LOOP: return k > 0;
    case IR_UPDATE:
    case IR_ASSIGN: return k == 0;
    case IR_WITH_ACC: return true;
    case IR_REDUCE: return k >= (uint32_t)inst->imm;
    case IR_CALL: return plan->funcs[inst->func->id].owned_param[k];
    default: return false;
    }
}

bool mem_writes(const IrInst *inst, uint32_t k) {
    switch ((int)inst->op) {
    case IR_UPDATE:
    case IR_ASSIGN: return k == 0;
    case IR_WITH_ACC: return true;
    case IR_REDUCE: return k >= (uint32_t)inst->imm;
    default: return false;
    }
}

/* ---- roots ---- */

static void find_root(Planner *p, IrValue *value, const IrInst *inst) {
    MemFunc *f = p->f;
    if (!mem_is_counted(value->type)) return;
    f->root[value->id] = value;
    if (!inst) return;
    bool pop = inst->op == IR_TAPE_POP;
    if (mem_is_view(inst) || inst->op == IR_TAPE_PUSH || pop) {
        const IrValue *x = ir_resolve(inst->operands[0]);
        f->root[value->id] = f->root[x->id];
        f->on_tape[value->id] = f->on_tape[x->id] || (pop && value->index > 0);
    }
}

static void find_roots_inst(IrInst *inst, void *data) {
    Planner *p = data;
    for (uint32_t i = 0; i < inst->nresults; i++) find_root(p, inst->results[i], inst);
    for (uint32_t r = 0; r < inst->nregions; r++)
        for (uint32_t i = 0; i < inst->regions[r]->nparams; i++)
            find_root(p, inst->regions[r]->params[i], NULL);
    MemInst *plan = ARENA_NEW(p->arena, MemInst);
    plan->take = ARENA_ARRAY(p->arena, bool, inst->noperands);
    plan->base = ARENA_ARRAY(p->arena, uint8_t, inst->noperands);
    plan->own = ARENA_ARRAY(p->arena, bool, inst->noperands);
    map_setp(&p->f->insts, inst, plan);
}

static void find_roots(Planner *p, IrFunc *func) {
    p->f = &p->plan->funcs[func->id];
    p->f->root = ARENA_ARRAY(p->arena, IrValue *, func->nvalues);
    p->f->on_tape = ARENA_ARRAY(p->arena, bool, func->nvalues);
    for (uint32_t i = 0; i < func->nparams; i++) find_root(p, func->body->params[i], NULL);
    ir_walk(func->body, find_roots_inst, p);
}

IrValue *mem_root(const MemFunc *f, const IrValue *value) {
    return f->root[ir_resolve((IrValue *)value)->id];
}

bool mem_region_uses(const MemFunc *f, const IrRegion *region, const IrValue *root) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t k = 0; k < inst->noperands; k++)
            if (mem_root(f, inst->operands[k]) == root) return true;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (mem_region_uses(f, inst->regions[r], root)) return true;
    }
    return false;
}

/* ---- parameters that a function hands on ---- */

/* What a C caller passes is his, but for `mut` parameters. */
static bool may_be_written_over(const Planner *p, const IrFunc *func, uint32_t param) {
    for (uint32_t i = 0; i < p->module->exports.len; i++) {
        const IrExport *export = p->module->exports.at[i];
        if (export->func != func || export->kind != IR_EXPORT_C) continue;
        for (uint32_t k = 0; k < export->nparams; k++)
            if (export->params[k].param == (int32_t)param)
                return export->params[k].kind == IR_C_MUT;
    }
    return true;
}

/* A parameter whose memory a result could be built in, if a caller has no use for it. */
static void mark_written_over(Planner *p, const IrInst *build) {
    const IrInst *yield = build->parent->last;
    for (uint32_t i = 0; i < build->parent->nparams; i++) {
        const IrValue *param = build->parent->params[i];
        if (p->f->owned_param[i] || !may_be_written_over(p, build->parent->func, i)) continue;
        int r = mem_reusing_result(p->f, build, param);
        if (r < 0 || !mem_region_uses(p->f, build->regions[0], param)) continue;
        for (uint32_t k = 0; k < yield->noperands; k++) {
            if (ir_resolve(yield->operands[k]) != build->results[r]) continue;
            p->f->owned_param[i] = true;
            p->changed = true;
        }
    }
}

/* Small arrays are copied by who wants to write to them; but a kernel's are the caller's memory. */
static bool is_lent(const IrValue *param) {
    const IrFunc *func = param->region->func;
    bool kernel = func->module->device && (func->flags & IR_FUNC_ROOT);
    return mem_is_small(param->type) && !kernel;
}

static void mark_consumed(IrInst *inst, void *data) {
    Planner *p = data;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        const IrValue *root = mem_root(p->f, inst->operands[k]);
        if (!root || root->def || root->region->owner || is_lent(root)) continue;
        if (!mem_consumes(p->plan, inst, k) || p->f->owned_param[root->index]) continue;
        p->f->owned_param[root->index] = true;
        p->changed = true;
    }
    if (inst->op == IR_BUILD && inst->parent->owner == NULL) mark_written_over(p, inst);
}

static void find_owned_params(Planner *p) {
    do {
        p->changed = false;
        for (uint32_t i = 0; i < p->module->funcs.len; i++) {
            IrFunc *func = p->module->funcs.at[i];
            p->f = &p->plan->funcs[func->id];
            if (func->body) ir_walk(func->body, mark_consumed, p);
        }
    } while (p->changed);
}

/* ---- last uses ---- */

typedef VEC(IrValue *) Values;

/* Notes INST, of the region at hand, as a use of the roots that INNER (INST itself or something in
   its regions) has as operands. */
static void note_uses(Planner *p, IrRegion *region, IrInst *inst, const IrInst *inner) {
    for (uint32_t k = 0; k < inner->noperands; k++) {
        IrValue *root = mem_root(p->f, inner->operands[k]);
        if (root && p->owner[root->id] == region) p->last[root->id] = inst;
    }
    for (uint32_t r = 0; r < inner->nregions; r++)
        for (const IrInst *at = inner->regions[r]->first; at; at = at->next)
            note_uses(p, region, inst, at);
}

static bool nested_use(Planner *p, const IrInst *inst, const IrValue *root) {
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (mem_region_uses(p->f, inst->regions[r], root)) return true;
    return false;
}

static void add_dead(Planner *p, MemInst *plan, IrValue *root) {
    if (mem_is_small(root->type)) return;
    IrValue **more = ARENA_ARRAY(p->arena, IrValue *, plan->ndead + 1);
    for (uint32_t i = 0; i < plan->ndead; i++) more[i] = plan->dead[i];
    more[plan->ndead++] = root;
    plan->dead = more;
}

static bool write_over(Planner *p, const IrInst *inst, MemInst *plan, IrValue *root) {
    int r = mem_reusing_result(p->f, inst, root);
    if (r < 0) return false;
    if (!plan->reuse) plan->reuse = ARENA_ARRAY(p->arena, MemReuse, inst->nresults);
    MemReuse *reuse = &plan->reuse[r];
    IrValue **more = ARENA_ARRAY(p->arena, IrValue *, reuse->n + 1);
    for (uint32_t i = 0; i < reuse->n; i++) more[i] = reuse->roots[i];
    more[reuse->n++] = root;
    reuse->roots = more;
    return true;
}

/* INST is the last use of ROOT: hands its reference over, or has it released. */
static void end_root(Planner *p, IrInst *inst, IrValue *root) {
    MemInst *plan = map_getp(&p->f->insts, inst);
    int taker = -1;
    bool direct = false, reads = false;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        IrValue *value = ir_resolve(inst->operands[k]);
        if (p->f->root[value->id] != root) continue;
        direct = true;
        if (!mem_consumes(p->plan, inst, k)) reads = true;
        else if (!p->f->on_tape[value->id]) taker = (int)k;
    }
    bool nested = nested_use(p, inst, root);
    bool once = inst->op == IR_IF || inst->op == IR_WITH_ACC;
    if (nested && !direct && once) {
        for (uint32_t r = 0; r < inst->nregions; r++) vec_push(&p->moved, root);
        for (uint32_t r = 0; r < inst->nregions; r++) vec_push(&p->moved_to, inst->regions[r]);
    } else if (taker >= 0 && !reads && !nested) {
        plan->take[taker] = true;
    } else if (!direct && nested && write_over(p, inst, plan, root)) {
        return;
    } else {
        add_dead(p, plan, root);
    }
}

static void plan_region(Planner *p, IrRegion *region, const Values *owned_outside);

static void plan_inner_regions(Planner *p, IrInst *inst, uint32_t moved_from) {
    for (uint32_t r = 0; r < inst->nregions; r++) {
        IrRegion *inner = inst->regions[r];
        Values owned = {0};
        for (uint32_t i = moved_from; i < p->moved.len; i++)
            if (p->moved_to.at[i] == inner) vec_push(&owned, p->moved.at[i]);
        plan_region(p, inner, &owned);
        vec_free(&owned);
    }
}

static void own_value(Planner *p, Values *owned, IrRegion *region, IrValue *value) {
    if (p->f->root[value->id] != value) return;
    p->owner[value->id] = region;
    p->last[value->id] = NULL;
    vec_push(owned, value);
}

static void collect_owned(Planner *p, IrRegion *region, Values *owned) {
    for (uint32_t i = 0; i < region->nparams; i++) {
        IrValue *param = region->params[i];
        bool borrowed = !region->owner && !p->f->owned_param[i];
        if (!borrowed) own_value(p, owned, region, param);
    }
    for (IrInst *inst = region->first; inst; inst = inst->next)
        for (uint32_t i = 0; i < inst->nresults; i++) own_value(p, owned, region, inst->results[i]);
}

/* Roots that REGION never uses: released at its entry, or right behind their definition. */
static void end_unused(Planner *p, IrRegion *region, const Values *owned) {
    MemList *entry = ARENA_NEW(p->arena, MemList);
    entry->at = ARENA_ARRAY(p->arena, IrValue *, owned->len);
    for (uint32_t i = 0; i < owned->len; i++) {
        IrValue *root = owned->at[i];
        if (p->last[root->id] || mem_is_small(root->type)) continue;
        if (root->def && root->def->parent == region)
            add_dead(p, map_getp(&p->f->insts, root->def), root);
        else entry->at[entry->n++] = root;
    }
    if (entry->n) map_setp(&p->f->entries, region, entry);
}

static void plan_region(Planner *p, IrRegion *region, const Values *owned_outside) {
    Values owned = {0};
    for (uint32_t i = 0; i < owned_outside->len; i++)
        own_value(p, &owned, region, owned_outside->at[i]);
    collect_owned(p, region, &owned);
    for (IrInst *inst = region->first; inst; inst = inst->next) note_uses(p, region, inst, inst);
    end_unused(p, region, &owned);
    uint32_t moved_from = p->moved.len;
    for (uint32_t i = 0; i < owned.len; i++)
        if (p->last[owned.at[i]->id]) end_root(p, p->last[owned.at[i]->id], owned.at[i]);
    for (IrInst *inst = region->first; inst; inst = inst->next)
        if (inst->nregions) plan_inner_regions(p, inst, moved_from);
    p->moved.len = p->moved_to.len = moved_from;
    vec_free(&owned);
}

static void plan_func(Planner *p, IrFunc *func) {
    Values none = {0};
    p->f = &p->plan->funcs[func->id];
    p->owner = ARENA_ARRAY(p->arena, IrRegion *, func->nvalues);
    p->last = ARENA_ARRAY(p->arena, IrInst *, func->nvalues);
    plan_region(p, func->body, &none);
}

/* ---- the whole ---- */

MemPlan *mem_plan(const IrModule *module) {
    Arena *arena = arena_new();
    Planner p = {.module = module, .arena = arena};
    p.plan = ARENA_NEW(arena, MemPlan);
    p.plan->arena = arena;
    p.plan->nfuncs = ir_func_ids(module);
    p.plan->funcs = ARENA_ARRAY(arena, MemFunc, p.plan->nfuncs);
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        IrFunc *func = module->funcs.at[i];
        MemFunc *f = &p.plan->funcs[func->id];
        f->owned_param = ARENA_ARRAY(arena, bool, func->nparams);
        f->fresh_result = ARENA_ARRAY(arena, bool, func->nresults);
        if (func->body) find_roots(&p, func);
    }
    find_owned_params(&p);
    for (uint32_t i = 0; i < module->funcs.len; i++)
        if (module->funcs.at[i]->body) plan_func(&p, module->funcs.at[i]);
    vec_free(&p.moved);
    vec_free(&p.moved_to);
    mem_prove_unique(&p);
    return p.plan;
}

void mem_plan_free(MemPlan *plan) {
    if (!plan) return;
    Arena *arena = plan->arena;
    for (uint32_t i = 0; i < plan->nfuncs; i++) {
        MemFunc *f = &plan->funcs[i];
        map_free(&f->insts);
        map_free(&f->entries);
    }
    arena_free(arena);
}
