/* Activity: which values depend on an active parameter (varied) and reach an active result
   (useful). Both spread over the instructions of a function until nothing changes; values of inner
   regions share the ids of the function, so captures need no care.

   A tape is active as a whole: all values of a chain of pushes and pops together, so that the tape
   of tangents is pushed and popped in step with it. */
#include "ad/internal.h"
#include "ir/shared.h"

typedef struct Pass {
    Ad *ad;
    Bitset varied, useful;
    bool changed;
} Pass;

bool ad_carries(IrType type) {
    return ir_is_float(type) || type->kind == IR_T_TAPE;
}

const IrRegion *ad_home(const IrValue *value) {
    return value->def ? value->def->parent : value->region;
}

static void add(Pass *pass, Bitset *set, const IrValue *value) {
    if (ad_carries(value->type) && bitset_add(set, value->id)) pass->changed = true;
}

static bool any(const Bitset *set, uint32_t n, IrValue *const *values) {
    for (uint32_t i = 0; i < n; i++)
        if (bitset_has(set, values[i]->id)) return true;
    return false;
}

static void add_all(Pass *pass, Bitset *set, uint32_t n, IrValue *const *values) {
    for (uint32_t i = 0; i < n; i++) add(pass, set, values[i]);
}

/* FROM in the set puts TO there. */
static void spread(Pass *pass, Bitset *set, const IrValue *from, const IrValue *to) {
    if (bitset_has(set, from->id)) add(pass, set, to);
}

static bool is_tape(const IrValue *value) {
    return value->type->kind == IR_T_TAPE;
}

/* Both are the same tape, at some time. */
static void same_tape(Pass *pass, const IrValue *a, const IrValue *b) {
    if (!is_tape(a) || !is_tape(b)) return;
    spread(pass, &pass->varied, a, b);
    spread(pass, &pass->varied, b, a);
    spread(pass, &pass->useful, a, b);
    spread(pass, &pass->useful, b, a);
}

static void unite_tapes(Pass *pass, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->noperands; i++)
        for (uint32_t r = 0; r < inst->nresults; r++)
            same_tape(pass, inst->operands[i], inst->results[r]);
}

static bool is_tape_op(const IrInst *inst) {
    return inst->op == IR_TAPE_PUSH || inst->op == IR_TAPE_POP || inst->op == IR_TAPE_SUM;
}

static uint32_t math_mask(Pass *pass, const IrInst *inst) {
    return ad_math_mask(pass->ad, (IrMath)inst->imm, inst->results[0]->type->scalar);
}

static bool reduces_floats(const IrInst *inst) {
    return inst->flags == IR_SUM || inst->flags == IR_PROD || inst->flags == IR_MINIMUM ||
           inst->flags == IR_MAXIMUM;
}

/* Values that flow into one another at the edge of a region: visits (from, to). */
static void region_edges(Pass *pass, const IrInst *inst, bool forward) {
    Bitset *set = forward ? &pass->varied : &pass->useful;
#define EDGE(from, to)                                                                             \
    (forward ? spread(pass, set, (from), (to)) : spread(pass, set, (to), (from)),                  \
     same_tape(pass, (from), (to)))
    for (uint32_t r = 0; r < inst->nregions; r++) {
        const IrRegion *body = inst->regions[r];
        IrValue **yields = body->last->operands;
        bool is_exit = inst->op == IR_LOOP && (inst->flags & IR_LOOP_EXIT);
        for (uint32_t i = 0; i < inst->nresults; i++) {
            IrValue *result = inst->results[i];
            if (inst->op == IR_IF || inst->op == IR_BUILD) EDGE(yields[i], result);
            if (inst->op == IR_REDUCE && reduces_floats(inst)) {
                EDGE(yields[i], result);
                EDGE(inst->operands[(uint32_t)inst->imm + i], result);
            }
            if (inst->op == IR_LOOP) {
                EDGE(inst->operands[1 + i], body->params[1 + i]);
                EDGE(yields[i + is_exit], body->params[1 + i]);
                EDGE(inst->operands[1 + i], result);
                EDGE(yields[i + is_exit], result);
            }
            if (inst->op == IR_WITH_ACC && i < inst->noperands) {
                EDGE(inst->operands[i], body->params[i]);
                EDGE(inst->operands[i], result);
                EDGE(body->params[i], result);
            }
            if (inst->op == IR_WITH_ACC && i >= inst->noperands)
                EDGE(yields[i - inst->noperands], result);
        }
    }
#undef EDGE
}

/* Arguments and results of a call, by what the callee makes of them. */
static void call_edges(Pass *pass, const IrInst *inst, bool forward) {
    for (uint32_t i = 0; i < inst->noperands; i++) {
        for (uint32_t r = 0; r < inst->nresults; r++) {
            const IrValue *from = forward ? inst->operands[i] : inst->results[r];
            const IrValue *to = forward ? inst->results[r] : inst->operands[i];
            Bitset *set = forward ? &pass->varied : &pass->useful;
            if (!bitset_has(set, from->id) || !ad_carries(to->type)) continue;
            if (ad_depends(pass->ad, inst->func, i, r)) add(pass, set, to);
        }
    }
    unite_tapes(pass, inst);
}

/* What invocations do together on a device. */
static void shared_edges(Pass *pass, const IrInst *inst, bool forward) {
    Bitset *set = forward ? &pass->varied : &pass->useful;
    IrShared call = ir_shared_call(inst);
    if (call == IR_SHARED_NONE) return;
    for (uint32_t i = 0; i < inst->noperands && call == IR_SHARED_BARRIER; i++)
        if (forward) spread(pass, set, inst->operands[i], inst->results[i]);
        else spread(pass, set, inst->results[i], inst->operands[i]);
    for (uint32_t i = 0; i < 2 && call == IR_SHARED_ADD; i++)
        if (forward) spread(pass, set, inst->operands[i], inst->results[0]);
        else spread(pass, set, inst->results[0], inst->operands[i]);
}

/* A shared array to which anything varied is written has a tangent from the beginning: there is one
   array of tangents, too. */
static void vary_roots(IrInst *inst, void *data) {
    Pass *pass = data;
    for (uint32_t r = 0; r < inst->nresults; r++) {
        if (!bitset_has(&pass->varied, inst->results[r]->id)) continue;
        const IrValue *root = ir_shared_root(inst->results[r]);
        if (root && root->def) add(pass, &pass->varied, root);
    }
}

static void forward_inst(Pass *pass, const IrInst *inst) {
    Bitset *set = &pass->varied;
    if (inst->nregions) {
        region_edges(pass, inst, true);
        return;
    }
    switch ((int)inst->op) {
    case IR_STOP: return;
    case IR_RUNTIME: shared_edges(pass, inst, true); break;
    case IR_CALL: call_edges(pass, inst, true); break;
    case IR_ACC_ADD:
        spread(pass, set, inst->operands[inst->noperands - 1], inst->operands[0]);
        break;
    case IR_MATH:
        for (uint32_t k = 0; k < inst->noperands; k++)
            if (math_mask(pass, inst) >> k & 1)
                spread(pass, set, inst->operands[k], inst->results[0]);
        break;
    default:
        if (any(set, inst->noperands, inst->operands))
            add_all(pass, set, inst->nresults, inst->results);
    }
    if (is_tape_op(inst)) unite_tapes(pass, inst);
}

static void backward_inst(Pass *pass, const IrInst *inst) {
    Bitset *set = &pass->useful;
    if (inst->nregions) {
        region_edges(pass, inst, false);
        return;
    }
    switch ((int)inst->op) {
    case IR_STOP: return;
    case IR_RUNTIME: shared_edges(pass, inst, false); break;
    case IR_CALL: call_edges(pass, inst, false); break;
    case IR_ACC_ADD:
        spread(pass, set, inst->operands[0], inst->operands[inst->noperands - 1]);
        break;
    case IR_MATH:
        for (uint32_t k = 0; k < inst->noperands; k++)
            if (math_mask(pass, inst) >> k & 1)
                spread(pass, set, inst->results[0], inst->operands[k]);
        break;
    default:
        if (any(set, inst->nresults, inst->results))
            add_all(pass, set, inst->noperands, inst->operands);
    }
    if (is_tape_op(inst)) unite_tapes(pass, inst);
}

static void forward_region(Pass *pass, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_YIELD) continue;
        if (inst->nregions) forward_inst(pass, inst); /* inits reach the parameters first */
        for (uint32_t r = 0; r < inst->nregions; r++) forward_region(pass, inst->regions[r]);
        forward_inst(pass, inst);
    }
}

/* All that depends on what varies by now. */
static void forward_all(Pass *pass, const IrFunc *func) {
    forward_region(pass, func->body);
    if (func->module->device) ir_walk(func->body, vary_roots, pass);
}

static void backward_region(Pass *pass, const IrRegion *region) {
    for (const IrInst *inst = region->last; inst; inst = inst->prev) {
        if (inst->op == IR_YIELD) continue;
        if (inst->nregions) backward_inst(pass, inst);
        for (uint32_t r = inst->nregions; r-- > 0;) backward_region(pass, inst->regions[r]);
        backward_inst(pass, inst);
    }
}

/* An active parameter or result.  A tape that comes from or goes to a place where it has tangents
   has them here, even if these are zeros: its pushes and pops must be in step with those there. */
static void add_end(Pass *pass, Bitset *set, const IrValue *value) {
    add(pass, set, value);
    if (!is_tape(value)) return;
    add(pass, &pass->varied, value);
    add(pass, &pass->useful, value);
}

void ad_activity(Ad *ad, const IrFunc *base, const uint8_t *in_active, const uint8_t *out_active,
                 Bitset *active) {
    Pass pass = {.ad = ad};
    const IrInst *yield = base->body->last;
    for (uint32_t i = 0; i < base->nparams; i++)
        if (in_active[i]) add_end(&pass, &pass.varied, base->body->params[i]);
    for (uint32_t i = 0; i < yield->noperands; i++)
        if (out_active[i]) add_end(&pass, &pass.useful, yield->operands[i]);
    do {
        pass.changed = false;
        forward_all(&pass, base);
        backward_region(&pass, base->body);
    } while (pass.changed);
    for (uint32_t w = 0; w < pass.varied.nwords && w < pass.useful.nwords; w++)
        for (uint32_t k = 0; k < 64; k++)
            if (pass.varied.words[w] & pass.useful.words[w] & UINT64_C(1) << k)
                bitset_add(active, w * 64 + k);
    bitset_free(&pass.varied);
    bitset_free(&pass.useful);
}

void ad_varied(Ad *ad, const IrFunc *base, uint32_t param, Bitset *varied) {
    Pass pass = {.ad = ad};
    add(&pass, &pass.varied, base->body->params[param]);
    do {
        pass.changed = false;
        forward_all(&pass, base);
    } while (pass.changed);
    *varied = pass.varied;
    bitset_free(&pass.useful);
}

uint32_t ad_math_mask(Ad *ad, IrMath fn, IrScalar scalar) {
    uint32_t arity = ir_math_arity(fn), all = (1u << arity) - 1, mask = 0;
    IrFunc *rule = ad->module->math_rules[fn][scalar == IR_F64];
    if (!rule || !rule->body) return all;
    uintptr_t known = (uintptr_t)map_getp(&ad->masks, rule);
    if (known) return (uint32_t)known - 1;
    map_setp(&ad->masks, rule, (void *)(uintptr_t)(all + 1)); /* while the rule is looked at */
    for (uint32_t k = 0; k < arity; k++) {
        Bitset varied = {0};
        ad_varied(ad, rule, arity + k, &varied);
        if (bitset_has(&varied, rule->body->last->operands[0]->id)) mask |= 1u << k;
        bitset_free(&varied);
    }
    map_setp(&ad->masks, rule, (void *)(uintptr_t)(mask + 1));
    return mask;
}
