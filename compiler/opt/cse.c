/* Common subexpressions.  Equal pure instructions become the first one that is visible: the table
   is scoped by region.  Of those with regions, loops, branches and reductions that give scalars are
   compared (arrays would live longer than they need to); the first one may check more. */
#include "opt/opt.h"

#include <string.h>

typedef struct Entry {
    IrInst *inst;
    struct Entry *shadowed; /* next in the same bucket, from this or an outer region */
} Entry;

typedef struct Cse {
    OptContext *context;
    Map buckets; /* hash -> Entry * */
} Cse;

static bool has_no_identity(const IrInst *inst) {
    const IrOpInfo *info = ir_op_info(inst->op);
    /* Each TAPE_NEW and TAPE_SUM is a tape of its own; equal pushes would share storage. */
    if (inst->op == IR_TAPE_NEW || inst->op == IR_TAPE_PUSH || inst->op == IR_TAPE_SUM)
        return false;
    if (inst->op == IR_CALL) return ir_removable(inst);
    return info->pure && info->regions == 0 && !info->terminator;
}

/* Gives scalars, from regions. */
static bool gives_scalars(const IrInst *inst) {
    if (inst->op != IR_LOOP && inst->op != IR_IF && inst->op != IR_REDUCE) return false;
    for (uint32_t k = 0; k < inst->nresults; k++)
        if (inst->results[k]->type->kind != IR_T_SCALAR) return false;
    return inst->nresults > 0;
}

static uint64_t double_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t hash_inst(const IrInst *inst) {
    uint64_t h = hash_mix((uint64_t)inst->op, inst->flags);
    h = hash_mix(h, (uint64_t)inst->imm);
    h = hash_mix(h, double_bits(inst->fimm));
    for (uint32_t k = 0; k < inst->noperands; k++)
        h = hash_mix(h, (uint64_t)(uintptr_t)ir_resolve(inst->operands[k]));
    for (uint32_t k = 0; k < inst->nints; k++) h = hash_mix(h, (uint64_t)inst->ints[k]);
    h = hash_mix(h, (uint64_t)(uintptr_t)inst->func);
    if (inst->text) h = hash_mix(h, hash_bytes(inst->text, strlen(inst->text)));
    if (inst->nresults) h = hash_mix(h, (uint64_t)(uintptr_t)inst->results[0]->type);
    return h;
}

/* What VALUE, of the second of two regions, is in the first. */
static const IrValue *paired(const Map *pairs, IrValue *value) {
    const IrValue *other = map_getp(pairs, ir_resolve(value));
    return other ? other : ir_resolve(value);
}

static bool same_operands(const Map *pairs, const IrInst *a, const IrInst *b) {
    bool straight = true, crossed = ir_op_info(a->op)->commutative && a->noperands == 2;
    for (uint32_t k = 0; k < a->noperands; k++)
        straight = straight && ir_resolve(a->operands[k]) == paired(pairs, b->operands[k]);
    for (uint32_t k = 0; crossed && k < 2; k++)
        crossed = ir_resolve(a->operands[k]) == paired(pairs, b->operands[1 - k]);
    return straight || crossed;
}

/* But for operands and regions. */
static bool same_kind(const IrInst *a, const IrInst *b) {
    if (a->op != b->op || a->flags != b->flags || a->imm != b->imm ||
        double_bits(a->fimm) != double_bits(b->fimm) || a->noperands != b->noperands ||
        a->nresults != b->nresults || a->nints != b->nints || a->func != b->func)
        return false;
    if (a->text != b->text && (!a->text || !b->text || strcmp(a->text, b->text))) return false;
    for (uint32_t k = 0; k < a->nints; k++)
        if (a->ints[k] != b->ints[k]) return false;
    for (uint32_t k = 0; k < a->nresults; k++)
        if (a->results[k]->type != b->results[k]->type) return false;
    return true;
}

static bool is_repeated_check(const IrInst *inst) {
    return inst->op == IR_CHECK_INDEX || inst->op == IR_CHECK;
}

static bool same_region(Map *pairs, const IrRegion *a, const IrRegion *b) {
    const IrInst *x = a->first, *y = b->first;
    if (a->nparams != b->nparams) return false;
    for (uint32_t k = 0; k < a->nparams; k++) {
        if (a->params[k]->type != b->params[k]->type) return false;
        map_setp(pairs, b->params[k], a->params[k]);
    }
    for (; x && y; x = x->next) {
        if (is_repeated_check(x) && !is_repeated_check(y)) continue;
        if (!same_kind(x, y) || !same_operands(pairs, x, y) || x->nregions != y->nregions)
            return false;
        for (uint32_t r = 0; r < x->nregions; r++)
            if (!same_region(pairs, x->regions[r], y->regions[r])) return false;
        for (uint32_t k = 0; k < x->nresults; k++) map_setp(pairs, y->results[k], x->results[k]);
        y = y->next;
    }
    return !x && !y;
}

static bool same_inst(const IrInst *a, const IrInst *b) {
    Map pairs = {0};
    bool same = same_kind(a, b) && same_operands(&pairs, a, b) && a->nregions == b->nregions;
    for (uint32_t r = 0; same && r < a->nregions; r++)
        same = same_region(&pairs, a->regions[r], b->regions[r]);
    map_free(&pairs);
    return same;
}

/* Has INST, with regions, no effect but checks? */
static bool only_checks(const IrInst *inst) {
    if (is_repeated_check(inst) || inst->op == IR_YIELD) return true;
    if (!inst->nregions) return ir_removable(inst) && inst->op != IR_TAPE_PUSH;
    if (inst->op == IR_WITH_ACC) return false;
    for (uint32_t r = 0; r < inst->nregions; r++)
        for (const IrInst *in = inst->regions[r]->first; in; in = in->next)
            if (!only_checks(in)) return false;
    return true;
}

/* The operand order of commutative operations: by id, so that both orders are equal. */
static void normalise(IrInst *inst) {
    if (!ir_op_info(inst->op)->commutative || inst->noperands != 2) return;
    IrValue *a = ir_resolve(inst->operands[0]), *b = ir_resolve(inst->operands[1]);
    if (a->id > b->id) {
        inst->operands[0] = b;
        inst->operands[1] = a;
    }
}

static void cse_region(Cse *cse, IrRegion *region) {
    VEC(uint64_t) added = {0};
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        next = inst->next;
        for (uint32_t r = 0; r < inst->nregions; r++) cse_region(cse, inst->regions[r]);
        bool check = is_repeated_check(inst);
        bool whole = inst->nregions && gives_scalars(inst) && only_checks(inst);
        if (!check && !whole && !has_no_identity(inst)) continue;
        normalise(inst);
        uint64_t h = hash_inst(inst);
        Entry *head = map_get(&cse->buckets, h), *e = head;
        while (e && !same_inst(e->inst, inst)) e = e->shadowed;
        if (e && (!whole || ir_removable(inst))) {
            for (uint32_t k = 0; k < inst->nresults; k++)
                ir_replace(inst->results[k], e->inst->results[k]);
            ir_remove(inst);
            cse->context->changed = true;
            continue;
        }
        Entry *fresh = ARENA_NEW(cse->context->scratch, Entry);
        *fresh = (Entry){inst, head};
        map_set(&cse->buckets, h, fresh);
        vec_push(&added, h);
    }
    while (added.len) {
        uint64_t h = vec_pop(&added);
        map_set(&cse->buckets, h, ((Entry *)map_get(&cse->buckets, h))->shadowed);
    }
    vec_free(&added);
}

void opt_cse(OptContext *c) {
    Cse cse = {c, {0}};
    cse_region(&cse, c->func->body);
    map_free(&cse.buckets);
    ir_settle(c->func);
}
