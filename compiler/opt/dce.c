/* Dead code.  A value is live if an effect or the function's result needs it.  Marking goes through
   regions value by value, so that a loop that carries something for its own use only stops carrying
   it, and a map of which one result is read makes only this one. */
#include "opt/opt.h"

#include "base/bitset.h"

typedef struct Marker {
    Bitset live; /* values by id */
    Map insts;   /* instructions that are needed themselves */
    VEC(const IrValue *) work;
} Marker;

static void mark_value(Marker *m, const IrValue *value) {
    if (bitset_add(&m->live, value->id)) vec_push(&m->work, value);
}

static void mark_yield_part(Marker *m, const IrRegion *region, uint32_t k) {
    mark_value(m, region->last->operands[k]);
}

/* What makes an instruction run at all, whichever of its results is wanted. */
static void mark_inst(Marker *m, const IrInst *inst) {
    for (;;) {
        if (map_hasp(&m->insts, inst)) return;
        map_setp(&m->insts, inst, (void *)inst);
        switch (inst->op) {
        case IR_LOOP:
            mark_value(m, inst->operands[0]);
            if (inst->flags & IR_LOOP_EXIT) mark_yield_part(m, inst->regions[0], 0);
            break;
        case IR_IF: mark_value(m, inst->operands[0]); break;
        case IR_BUILD:
            for (uint32_t k = 0; k < inst->noperands; k++) mark_value(m, inst->operands[k]);
            break;
        case IR_REDUCE:
            for (int64_t k = 0; k < inst->imm; k++) mark_value(m, inst->operands[k]);
            if (inst->flags >= IR_ARGMIN) mark_yield_part(m, inst->regions[0], 0);
            break;
        case IR_WITH_ACC: break;
        default:
            for (uint32_t k = 0; k < inst->noperands; k++) mark_value(m, inst->operands[k]);
            break;
        }
        const IrInst *owner = inst->parent->owner;
        if (!owner) return;
        inst = owner;
    }
}

/* A result of an instruction with regions, or a parameter of a region, needs its counterparts. */
static void mark_result(Marker *m, const IrInst *inst, uint32_t k) {
    uint32_t exit = inst->op == IR_LOOP && (inst->flags & IR_LOOP_EXIT) ? 1 : 0;
    switch (inst->op) {
    case IR_LOOP:
        mark_value(m, inst->operands[1 + k]);
        mark_yield_part(m, inst->regions[0], exit + k);
        mark_value(m, inst->results[k]);
        break;
    case IR_IF:
        mark_yield_part(m, inst->regions[0], k);
        mark_yield_part(m, inst->regions[1], k);
        break;
    case IR_BUILD: mark_yield_part(m, inst->regions[0], k); break;
    case IR_REDUCE:
        if (inst->flags < IR_ARGMIN) {
            mark_value(m, inst->operands[(uint32_t)inst->imm + k]);
            mark_yield_part(m, inst->regions[0], k);
        }
        break;
    case IR_WITH_ACC:
        if (k < inst->noperands) mark_value(m, inst->operands[k]);
        else mark_yield_part(m, inst->regions[0], k - inst->noperands);
        break;
    default: break;
    }
    mark_inst(m, inst);
}

static void mark_effects(IrInst *inst, void *data) {
    Marker *m = data;
    if (inst->op == IR_ACC_ADD) {
        /* Needed only if the accumulator's final value is: found from the parameter's side. */
        return;
    }
    if (inst->op == IR_YIELD) {
        if (inst->parent->owner) return;
        for (uint32_t k = 0; k < inst->noperands; k++) mark_value(m, inst->operands[k]);
        return;
    }
    bool effect = ir_op_info(inst->op)->effect;
    if (inst->op == IR_CALL) effect = !ir_removable(inst);
    if (effect) mark_inst(m, inst);
}

typedef struct AccAdds {
    Marker *marker;
    bool added;
} AccAdds;

static void mark_acc_adds(IrInst *inst, void *data) {
    AccAdds *a = data;
    if (inst->op != IR_ACC_ADD || map_hasp(&a->marker->insts, inst)) return;
    const IrValue *acc = inst->operands[0];
    const IrInst *owner = acc->region->owner;
    if (bitset_has(&a->marker->live, owner->results[acc->index]->id)) {
        mark_inst(a->marker, inst);
        a->added = true;
    }
}

static void propagate(Marker *m) {
    while (m->work.len) {
        const IrValue *value = vec_pop(&m->work);
        if (value->def) mark_result(m, value->def, value->index);
        else if (value->region->owner) {
            const IrInst *owner = value->region->owner;
            if (owner->op == IR_LOOP && value->index > 0) mark_result(m, owner, value->index - 1);
            else mark_inst(m, owner);
        }
    }
}

/* ---- removal ---- */

static uint32_t keep_values(IrValue **values, uint32_t n, const bool *keep) {
    uint32_t to = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (!keep[k]) continue;
        values[to] = values[k];
        values[to]->index = to;
        to++;
    }
    return to;
}

static uint32_t keep_operands(IrValue **values, uint32_t n, const bool *keep) {
    uint32_t to = 0;
    for (uint32_t k = 0; k < n; k++)
        if (keep[k]) values[to++] = values[k];
    return to;
}

static void trim_loop(IrInst *loop, bool *keep) {
    IrRegion *body = loop->regions[0];
    uint32_t n = loop->nresults, exit = loop->flags & IR_LOOP_EXIT ? 1 : 0;
    loop->noperands = 1 + keep_operands(loop->operands + 1, n, keep);
    body->last->noperands = exit + keep_operands(body->last->operands + exit, n, keep);
    uint32_t to = 1;
    for (uint32_t k = 0; k < n; k++) {
        if (!keep[k]) continue;
        body->params[to] = body->params[1 + k];
        body->params[to]->index = to;
        to++;
    }
    body->nparams = to;
    loop->nresults = keep_values(loop->results, n, keep);
}

static void trim_build(IrInst *build, const bool *keep) {
    uint32_t inner = (uint32_t)build->imm, to = inner, place = 0;
    for (uint32_t r = 0; r < build->nresults; r++) {
        uint32_t rank = (uint32_t)build->ints[r];
        for (uint32_t k = 0; k < rank; k++, inner++)
            if (keep[r]) build->operands[to++] = build->operands[inner];
        if (keep[r]) build->ints[place++] = rank;
    }
    build->noperands = to;
    build->nints = place;
    IrInst *yield = build->regions[0]->last;
    yield->noperands = keep_operands(yield->operands, build->nresults, keep);
    build->nresults = keep_values(build->results, build->nresults, keep);
}

static void trim_reduce(IrInst *reduce, const bool *keep) {
    uint32_t n = reduce->nresults, sizes = (uint32_t)reduce->imm;
    IrInst *yield = reduce->regions[0]->last;
    reduce->noperands = sizes + keep_operands(reduce->operands + sizes, n, keep);
    yield->noperands = keep_operands(yield->operands, n, keep);
    reduce->nresults = keep_values(reduce->results, n, keep);
}

static void trim_if(IrInst *inst, const bool *keep) {
    for (int side = 0; side < 2; side++) {
        IrInst *yield = inst->regions[side]->last;
        yield->noperands = keep_operands(yield->operands, inst->nresults, keep);
    }
    inst->nresults = keep_values(inst->results, inst->nresults, keep);
}

static void trim_with_acc(IrInst *inst, bool *keep) {
    IrRegion *body = inst->regions[0];
    uint32_t n = inst->noperands, nextra = inst->nresults - n;
    body->last->noperands = keep_operands(body->last->operands, nextra, keep + n);
    uint32_t to = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (!keep[k]) continue;
        inst->operands[to] = inst->operands[k];
        body->params[to] = body->params[k];
        body->params[to]->index = to;
        to++;
    }
    inst->noperands = body->nparams = to;
    inst->nresults = keep_values(inst->results, n + nextra, keep);
}

static void trim(OptContext *c, const Marker *m, IrInst *inst) {
    bool *keep = ARENA_ARRAY(c->scratch, bool, inst->nresults + 1), all = true;
    for (uint32_t k = 0; k < inst->nresults; k++) {
        keep[k] = bitset_has(&m->live, inst->results[k]->id);
        all = all && keep[k];
    }
    if (all) return;
    switch (inst->op) {
    case IR_LOOP: trim_loop(inst, keep); break;
    case IR_BUILD: trim_build(inst, keep); break;
    case IR_REDUCE:
        if (inst->flags < IR_ARGMIN) {
            trim_reduce(inst, keep);
            break;
        }
        return;
    case IR_IF: trim_if(inst, keep); break;
    case IR_WITH_ACC: trim_with_acc(inst, keep); break;
    default: return;
    }
    c->changed = true;
}

static void sweep(OptContext *c, const Marker *m, IrRegion *region) {
    for (IrInst *inst = region->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        if (inst->op != IR_YIELD && !map_hasp(&m->insts, inst)) {
            ir_remove(inst);
            c->changed = true;
            continue;
        }
        if (inst->op == IR_YIELD) continue;
        trim(c, m, inst);
        for (uint32_t r = 0; r < inst->nregions; r++) sweep(c, m, inst->regions[r]);
    }
}

void opt_dce(OptContext *c) {
    Marker m = {0};
    ir_walk(c->func->body, mark_effects, &m);
    AccAdds adds = {&m, true};
    propagate(&m);
    while (adds.added) {
        adds.added = false;
        ir_walk(c->func->body, mark_acc_adds, &adds);
        propagate(&m);
    }
    sweep(c, &m, c->func->body);
    bitset_free(&m.live);
    map_free(&m.insts);
    vec_free(&m.work);
}
