/* Identities of arrays: views of views, elements of what was just made, sizes that are known. */
#include "ir/build.h"
#include "opt/simplify.h"

static IrInst *maker(const IrValue *x, IrOp op) {
    return x->def && x->def->op == op ? x->def : NULL;
}

static bool is_const(const IrValue *x, int64_t value) {
    int64_t c;
    return ir_const_int(x, &c) && c == value;
}

/* ---- INDEX ---- */

static IrValue *index_of_slice(IrBuilder *b, const IrInst *slice, uint32_t n, IrValue **indices) {
    IrValue *at[IR_MAX_RANK];
    uint32_t rank = slice->results[0]->type->rank;
    if (n != rank) return NULL;
    for (uint32_t k = 0; k < rank; k++) {
        IrValue *start = ir_resolve(slice->operands[1 + k]);
        IrValue *step = ir_resolve(slice->operands[1 + 2 * rank + k]);
        at[k] = irb_binary(b, IR_ADD, irb_binary(b, IR_MUL, indices[k], step), start);
    }
    return irb_index(b, ir_resolve(slice->operands[0]), rank, at);
}

static IrValue *index_of_update(const IrInst *update, uint32_t n, IrValue **indices) {
    if (update->noperands != n + 2) return NULL;
    for (uint32_t k = 0; k < n; k++)
        if (ir_resolve(update->operands[1 + k]) != indices[k]) return NULL;
    return ir_resolve(update->operands[n + 1]);
}

/* x[i][j] is x[i, j]; a subscript of a view is one of what is viewed. */
static IrValue *simplify_index(IrBuilder *b, const IrInst *inst) {
    IrValue *x = ir_resolve(inst->operands[0]), *at[2 * IR_MAX_RANK];
    uint32_t n = inst->noperands - 1;
    for (uint32_t k = 0; k < n; k++) at[k] = ir_resolve(inst->operands[1 + k]);
    const IrInst *def = x->def;
    int64_t c;
    if (!n) return x;
    if (!def) return NULL;
    switch (def->op) {
    case IR_ASSUME: {
        /* A parameter keeps the sizes that only this says of it. */
        IrValue *base = ir_resolve(def->operands[0]);
        return base->def ? irb_index(b, base, n, at) : NULL;
    }
    case IR_INDEX: {
        IrValue *all[2 * IR_MAX_RANK];
        uint32_t m = def->noperands - 1;
        for (uint32_t k = 0; k < m; k++) all[k] = ir_resolve(def->operands[1 + k]);
        for (uint32_t k = 0; k < n; k++) all[m + k] = at[k];
        return irb_index(b, ir_resolve(def->operands[0]), m + n, all);
    }
    case IR_SLICE: return index_of_slice(b, def, n, at);
    case IR_TRANSPOSE: {
        IrValue *from[IR_MAX_RANK];
        if (n != x->type->rank) return NULL;
        for (uint32_t k = 0; k < n; k++) from[def->ints[k]] = at[k];
        return irb_index(b, ir_resolve(def->operands[0]), n, from);
    }
    case IR_UPDATE: return index_of_update(def, n, at);
    case IR_PACK:
        if (!ir_const_int(at[0], &c) || c < 0 || c >= def->noperands) return NULL;
        if (n == 1) return ir_resolve(def->operands[c]);
        return irb_index(b, ir_resolve(def->operands[c]), n - 1, at + 1);
    case IR_RESHAPE: {
        IrValue *base = ir_resolve(def->operands[0]), *flat;
        if (base->type->rank != 1 || n != x->type->rank) return NULL;
        flat = at[0];
        for (uint32_t k = 1; k < n; k++)
            flat = irb_binary(b, IR_ADD,
                              irb_binary(b, IR_MUL, flat, ir_resolve(def->operands[1 + k])), at[k]);
        return irb_index(b, base, 1, &flat);
    }
    default: return NULL;
    }
}

/* ---- the others ---- */

static bool has_sizes(IrBuilder *b, IrValue *x, const IrInst *inst) {
    uint32_t rank = x->type->rank;
    if (inst->noperands != rank + 1) return false;
    for (uint32_t k = 0; k < rank; k++) {
        IrValue *want = ir_resolve(inst->operands[1 + k]);
        IrValue *have = ir_known_dim(x, k);
        int64_t c;
        if (have && ir_resolve(have) == want) continue;
        if (x->type->dims[k] >= 0 && ir_const_int(want, &c) && c == x->type->dims[k]) continue;
        IrInst *dim = maker(want, IR_DIM);
        if (dim && ir_resolve(dim->operands[0]) == x && dim->imm == (int64_t)k) continue;
        return false;
    }
    (void)b;
    return true;
}

static IrValue *simplify_reshape(IrBuilder *b, const IrInst *inst) {
    IrValue *x = ir_resolve(inst->operands[0]);
    if (x->type == inst->results[0]->type && has_sizes(b, x, inst)) return x;
    IrInst *inner = maker(x, IR_RESHAPE);
    if (!inner && !(inner = maker(x, IR_ASSUME))) return NULL;
    IrValue *sizes[IR_MAX_RANK];
    for (uint32_t k = 1; k < inst->noperands; k++) sizes[k - 1] = ir_resolve(inst->operands[k]);
    return irb_reshape(b, ir_resolve(inner->operands[0]), inst->noperands - 1, sizes);
}

static IrValue *simplify_transpose(IrBuilder *b, const IrInst *inst) {
    IrValue *x = ir_resolve(inst->operands[0]);
    const IrInst *inner = maker(x, IR_TRANSPOSE);
    int64_t perm[IR_MAX_RANK];
    bool identity = true;
    for (uint32_t k = 0; k < inst->nints; k++) {
        perm[k] = inner ? inner->ints[inst->ints[k]] : inst->ints[k];
        identity = identity && perm[k] == (int64_t)k;
    }
    if (inner) x = ir_resolve(inner->operands[0]);
    if (identity) return x;
    return inner ? irb_transpose(b, x, perm) : NULL;
}

/* All of an array, from its start, step by step. */
static IrValue *simplify_slice(const IrInst *inst) {
    IrValue *x = ir_resolve(inst->operands[0]);
    uint32_t rank = x->type->rank;
    for (uint32_t k = 0; k < rank; k++) {
        IrValue *count = ir_resolve(inst->operands[1 + rank + k]), *known = ir_known_dim(x, k);
        IrInst *dim = maker(count, IR_DIM);
        int64_t c;
        bool whole = known && ir_resolve(known) == count;
        whole =
            whole || (x->type->dims[k] >= 0 && ir_const_int(count, &c) && c == x->type->dims[k]);
        whole = whole || (dim && ir_resolve(dim->operands[0]) == x && dim->imm == (int64_t)k);
        if (!whole || !is_const(ir_resolve(inst->operands[1 + k]), 0) ||
            !is_const(ir_resolve(inst->operands[1 + 2 * rank + k]), 1))
            return NULL;
    }
    return x;
}

static IrValue *simplify_tape_empty(IrBuilder *b, const IrInst *inst) {
    const IrValue *tape = ir_resolve(inst->operands[0]);
    bool known = tape->def && (tape->def->op == IR_TAPE_NEW || tape->def->op == IR_TAPE_PUSH);
    return known ? irb_bool(b, tape->def->op == IR_TAPE_NEW) : NULL;
}

static IrValue *simplify_dim(IrBuilder *b, const IrInst *inst) {
    IrValue *x = ir_resolve(inst->operands[0]);
    uint32_t k = (uint32_t)inst->imm;
    if (x->type->dims[k] >= 0) return irb_int(b, x->type->dims[k]);
    IrValue *known = ir_known_dim(x, k);
    if (known && ir_visible(ir_resolve(known), inst->parent)) return ir_resolve(known);
    /* What keeps its operand's sizes. */
    const IrInst *def = x->def;
    if (def && (def->op == IR_UPDATE || def->op == IR_ASSIGN))
        return irb_dim(b, ir_resolve(def->operands[0]), k);
    if (def && def->op == IR_INDEX)
        return irb_dim(b, ir_resolve(def->operands[0]), k + def->noperands - 1);
    if (def && def->op == IR_TRANSPOSE)
        return irb_dim(b, ir_resolve(def->operands[0]), (uint32_t)def->ints[k]);
    if (def && def->op == IR_CONTRACT) {
        IrValue *a = ir_resolve(def->operands[0]), *y = ir_resolve(def->operands[1]);
        if (k == 0 && a->type->rank == 2) return irb_dim(b, a, def->flags & IR_CONTRACT_TA ? 1 : 0);
        return irb_dim(b, y, def->flags & IR_CONTRACT_TB ? 0 : 1);
    }
    if (def && def->op == IR_WITH_ACC && x->index < def->noperands)
        return irb_dim(b, ir_resolve(def->operands[x->index]), k);
    return NULL;
}

IrValue *opt_simplify_array(OptContext *c, IrBuilder *b, const IrInst *inst) {
    switch (inst->op) {
    case IR_INDEX: return simplify_index(b, inst);
    case IR_DIM: return simplify_dim(b, inst);
    case IR_TAPE_EMPTY: return simplify_tape_empty(b, inst);
    case IR_RESHAPE: return simplify_reshape(b, inst);
    case IR_TRANSPOSE: return simplify_transpose(b, inst);
    case IR_SLICE: return simplify_slice(inst);
    case IR_ASSUME: {
        IrValue *x = ir_resolve(inst->operands[0]);
        return x->type == inst->results[0]->type && has_sizes(b, x, inst) ? x : NULL;
    }
    case IR_STOP: return c->after_ad ? ir_resolve(inst->operands[0]) : NULL;
    case IR_CONCAT: return inst->noperands == 1 ? ir_resolve(inst->operands[0]) : NULL;
    default: return NULL;
    }
}
