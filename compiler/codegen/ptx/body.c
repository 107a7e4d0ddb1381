/* Instructions of kernels.  Calls are put in place. */
#include "codegen/ptx/gen.h"

#include <stdio.h>
#include <string.h>

#include "base/fatal.h"

static Val *get(Body *b, const IrValue *value) {
    return &b->vals[ir_resolve((IrValue *)value)->id];
}

static LLVMValueRef scalar(Body *b, const IrValue *value) {
    return get(b, value)->at;
}

static void set_scalar(Body *b, const IrValue *value, LLVMValueRef at) {
    b->vals[value->id] = (Val){.at = at};
}

static LLVMBasicBlockRef new_block(Ptx *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->e.context, g->entry, name);
}

/* ---- arrays ---- */

Val ptx_array(Ptx *g, LLVMValueRef at, IrType type, LLVMValueRef const *open_dims, bool shared) {
    Val val = {.at = at, .root = ARENA_NEW(g->arena, Root)};
    val.root->shared = shared;
    for (uint32_t k = 0, open = 0; k < type->rank; k++)
        val.dims[k] = type->dims[k] >= 0 ? gen_int(&g->e, type->dims[k]) : open_dims[open++];
    return val;
}

/* An array that is read or passed on. */
static const Val *current(Body *b, const IrValue *value) {
    Val *val = get(b, value);
    if (val->root && val->version != val->root->version)
        ptx_refuse(b->g, "an array is read after it was changed, which takes a copy");
    return val;
}

/* The value of VAL's memory behind a write. */
static Val written(const Val *val) {
    Val next = *val;
    next.version = ++val->root->version;
    val->root->written = true;
    return next;
}

/* The address of X[I...], of the first N indices. */
static LLVMValueRef address(Body *b, const Val *x, IrType type, uint32_t n,
                            IrValue *const *indices) {
    Emit *e = &b->g->e;
    LLVMValueRef flat = gen_int(e, 0);
    for (uint32_t k = 0; k < type->rank; k++) {
        flat = emit_size_mul(e, flat, x->dims[k]);
        if (k < n) flat = emit_size_add(e, flat, scalar(b, indices[k]));
    }
    return LLVMBuildInBoundsGEP2(e->b, emit_memory_type(e, type->scalar), x->at, &flat, 1, "");
}

static void gen_index(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    const Val *x = current(b, inst->operands[0]);
    IrType type = ir_resolve(inst->operands[0])->type;
    uint32_t n = inst->noperands - 1;
    LLVMValueRef at = address(b, x, type, n, inst->operands + 1);
    if (n == type->rank) {
        LLVMValueRef load = LLVMBuildLoad2(e->b, emit_memory_type(e, type->scalar), at, "");
        set_scalar(b, inst->results[0], emit_from_memory(e, type->scalar, load));
        return;
    }
    Val part = *x;
    part.at = at;
    for (uint32_t k = n; k < type->rank; k++) part.dims[k - n] = x->dims[k];
    b->vals[inst->results[0]->id] = part;
}

static void gen_update(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    const Val *x = current(b, inst->operands[0]);
    IrType type = ir_resolve(inst->operands[0])->type;
    const IrValue *v = ir_resolve(inst->operands[inst->noperands - 1]);
    if (v->type->kind != IR_T_SCALAR) {
        ptx_refuse(b->g, "a part of an array is assigned as a whole");
        return;
    }
    LLVMValueRef at = address(b, x, type, inst->noperands - 2, inst->operands + 1);
    LLVMBuildStore(e->b, emit_to_memory(e, type->scalar, scalar(b, v)), at);
    b->vals[inst->results[0]->id] = written(x);
}

/* ---- checks ---- */

static void check(Body *b, LLVMValueRef holds) {
    Ptx *g = b->g;
    if (!g->trap) g->trap = new_block(g, "trap");
    LLVMBasicBlockRef good = new_block(g, "");
    LLVMBuildCondBr(g->e.b, holds, good, g->trap);
    LLVMPositionBuilderAtEnd(g->e.b, good);
}

static void gen_check_index(Body *b, const IrInst *inst) {
    LLVMValueRef i = scalar(b, inst->operands[0]), n = scalar(b, inst->operands[1]);
    check(b, LLVMBuildICmp(b->g->e.b, LLVMIntULT, i, n, ""));
}

/* ---- control ---- */

static void gen_region(Body *b, const IrRegion *region);

/* What two ways give, where they meet: values A from FROM_A, and B. */
static Val join(Body *b, IrType type, const Val *a, LLVMBasicBlockRef from_a, const Val *other,
                LLVMBasicBlockRef from_b) {
    Emit *e = &b->g->e;
    if (type->kind == IR_T_ARRAY) {
        if (a->root != other->root || a->at != other->at)
            ptx_refuse(b->g, "which array a value is depends on a condition");
        Val val = *a;
        val.version = a->root ? a->root->version : 0;
        return val;
    }
    if (a->dims[0] != other->dims[0])
        ptx_refuse(b->g, "which tape a value is depends on a condition");
    LLVMValueRef phi = LLVMBuildPhi(e->b, LLVMTypeOf(a->at), "");
    LLVMValueRef values[] = {a->at, other->at};
    LLVMBasicBlockRef from[] = {from_a, from_b};
    LLVMAddIncoming(phi, values, from, 2);
    return (Val){.at = phi, .dims = {a->dims[0]}};
}

static void yields(Body *b, const IrRegion *region, uint32_t from, Val *out) {
    for (uint32_t k = from; k < region->last->noperands; k++) {
        const IrValue *value = ir_resolve(region->last->operands[k]);
        out[k - from] = value->type->kind == IR_T_ARRAY ? *current(b, value) : *get(b, value);
    }
}

#define NO_MEMORY UINT32_MAX

/* Of the memory of each value. */
static uint32_t *versions(Body *b) {
    uint32_t *all = ARENA_ARRAY(b->g->arena, uint32_t, b->func->nvalues + 1);
    for (uint32_t i = 0; i < b->func->nvalues; i++)
        all[i] = b->vals[i].root ? b->vals[i].root->version : NO_MEMORY;
    return all;
}

static void gen_if(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    LLVMBasicBlockRef sides[] = {new_block(b->g, "then"), new_block(b->g, "else")}, ends[2];
    LLVMBasicBlockRef done = new_block(b->g, "");
    Val *vals[2];
    LLVMBuildCondBr(e->b, scalar(b, inst->operands[0]), sides[0], sides[1]);
    /* What one side writes, the other has not. */
    uint32_t count = b->func->nvalues, *before = versions(b), *first = NULL;
    for (int s = 0; s < 2; s++) {
        LLVMPositionBuilderAtEnd(e->b, sides[s]);
        gen_region(b, inst->regions[s]);
        vals[s] = ARENA_ARRAY(b->g->arena, Val, inst->nresults + 1);
        yields(b, inst->regions[s], 0, vals[s]);
        ends[s] = LLVMGetInsertBlock(e->b);
        LLVMBuildBr(e->b, done);
        if (s == 0) first = versions(b);
        for (uint32_t i = 0; i < count; i++) {
            Root *root = b->vals[i].root;
            if (before[i] == NO_MEMORY) continue;
            if (s == 0) root->version = before[i];
            else if (first[i] > root->version) root->version = first[i];
        }
    }
    LLVMPositionBuilderAtEnd(e->b, done);
    for (uint32_t k = 0; k < inst->nresults; k++) {
        Val val = join(b, inst->results[k]->type, &vals[0][k], ends[0], &vals[1][k], ends[1]);
        if (val.root && (vals[0][k].version || vals[1][k].version)) val = written(&val);
        b->vals[inst->results[k]->id] = val;
    }
}

/* A loop's variables: arrays are where they are, scalars phis. */
static void gen_loop(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    const IrRegion *body = inst->regions[0];
    uint32_t n = inst->nresults;
    bool has_exit = (inst->flags & IR_LOOP_EXIT) != 0;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = new_block(b->g, "loop");
    LLVMBasicBlockRef inside = new_block(b->g, ""), done = new_block(b->g, "");
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef t = LLVMBuildPhi(e->b, e->i64, "t"), zero = gen_int(e, 0);
    LLVMAddIncoming(t, &zero, &before, 1);
    Val *carried = ARENA_ARRAY(b->g->arena, Val, n + 1),
        *next = ARENA_ARRAY(b->g->arena, Val, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const Val *init = inst->results[k]->type->kind == IR_T_ARRAY
                              ? current(b, inst->operands[k + 1])
                              : get(b, inst->operands[k + 1]);
        carried[k] = *init;
        if (init->root) {
            carried[k] = written(init);
        } else {
            carried[k].at = LLVMBuildPhi(e->b, LLVMTypeOf(init->at), "");
            LLVMValueRef first = init->at;
            LLVMAddIncoming(carried[k].at, &first, &before, 1);
        }
        b->vals[body->params[k + 1]->id] = carried[k];
    }
    set_scalar(b, body->params[0], t);
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntSLT, t, scalar(b, inst->operands[0]), "");
    LLVMBuildCondBr(e->b, more, inside, done);
    LLVMPositionBuilderAtEnd(e->b, inside);
    gen_region(b, body);
    yields(b, body, has_exit, next);
    LLVMValueRef up = LLVMBuildAdd(e->b, t, gen_int(e, 1), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    if (has_exit) {
        LLVMBasicBlockRef left = new_block(b->g, "");
        LLVMBuildCondBr(e->b, scalar(b, body->last->operands[0]), head, left);
        LLVMPositionBuilderAtEnd(e->b, left);
        LLVMBuildBr(e->b, done);
        LLVMPositionBuilderAtEnd(e->b, done);
        for (uint32_t k = 0; k < n; k++) {
            Val end = carried[k];
            if (!end.root) end = join(b, inst->results[k]->type, &carried[k], head, &next[k], left);
            b->vals[inst->results[k]->id] = end;
        }
    } else {
        LLVMBuildBr(e->b, head);
        for (uint32_t k = 0; k < n; k++) b->vals[inst->results[k]->id] = carried[k];
        LLVMPositionBuilderAtEnd(e->b, done);
    }
    LLVMAddIncoming(t, &up, &latch, 1);
    for (uint32_t k = 0; k < n; k++) {
        if (!carried[k].root) {
            LLVMAddIncoming(carried[k].at, &next[k].at, &latch, 1);
            continue;
        }
        if (next[k].root != carried[k].root || next[k].at != carried[k].at)
            ptx_refuse(b->g, "arrays change places in a loop");
        b->vals[inst->results[k]->id] = written(&carried[k]);
    }
}

/* A reduction to one number, in the order of its indices. */
static void gen_reduce(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    const IrRegion *body = inst->regions[0];
    uint32_t rank = (uint32_t)inst->imm;
    IrType type = inst->results[0]->type;
    if (type->kind != IR_T_SCALAR || inst->nresults != 1 || inst->flags > IR_ANY) {
        ptx_refuse(b->g, "this kind of reduction");
        return;
    }
    LLVMValueRef total = scalar(b, inst->operands[rank]), *phis, *counts;
    phis = ARENA_ARRAY(b->g->arena, LLVMValueRef, 2 * rank + 1);
    counts = ARENA_ARRAY(b->g->arena, LLVMValueRef, rank + 1);
    LLVMBasicBlockRef *heads = ARENA_ARRAY(b->g->arena, LLVMBasicBlockRef, 2 * rank + 1);
    for (uint32_t d = 0; d < rank; d++) {
        LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), inside = new_block(b->g, "");
        heads[d] = new_block(b->g, "reduce");
        heads[rank + d] = new_block(b->g, "");
        counts[d] = scalar(b, inst->operands[d]);
        LLVMBuildBr(e->b, heads[d]);
        LLVMPositionBuilderAtEnd(e->b, heads[d]);
        phis[d] = LLVMBuildPhi(e->b, e->i64, "");
        phis[rank + d] = LLVMBuildPhi(e->b, emit_type(e, type->scalar), "");
        LLVMValueRef zero = gen_int(e, 0);
        LLVMAddIncoming(phis[d], &zero, &before, 1);
        LLVMAddIncoming(phis[rank + d], &total, &before, 1);
        total = phis[rank + d];
        set_scalar(b, body->params[d], phis[d]);
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, phis[d], counts[d], ""), inside,
                        heads[rank + d]);
        LLVMPositionBuilderAtEnd(e->b, inside);
    }
    gen_region(b, body);
    total = emit_combine(e, (IrReduce)inst->flags, type->scalar, total,
                         scalar(b, body->last->operands[0]));
    for (uint32_t d = rank; d-- > 0;) {
        LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
        LLVMValueRef up = LLVMBuildAdd(e->b, phis[d], gen_int(e, 1), "");
        LLVMBuildBr(e->b, heads[d]);
        LLVMAddIncoming(phis[d], &up, &latch, 1);
        LLVMAddIncoming(phis[rank + d], &total, &latch, 1);
        LLVMPositionBuilderAtEnd(e->b, heads[rank + d]);
        total = phis[rank + d];
    }
    set_scalar(b, inst->results[0], total);
}

static void gen_call(Body *b, const IrInst *inst) {
    Val *args = ARENA_ARRAY(b->g->arena, Val, inst->noperands + 1);
    Val *results = ARENA_ARRAY(b->g->arena, Val, inst->nresults + 1);
    for (uint32_t k = 0; k < inst->noperands; k++)
        args[k] = ir_resolve(inst->operands[k])->type->kind == IR_T_ARRAY
                      ? *current(b, inst->operands[k])
                      : *get(b, inst->operands[k]);
    ptx_inline(b->g, b, inst->func, args, results);
    for (uint32_t k = 0; k < inst->nresults; k++) b->vals[inst->results[k]->id] = results[k];
}

/* ---- tapes: some memory of the invocation, and a height ---- */

enum { TAPE_NUMBERS = 128 };

static void gen_tape_new(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(b->g->entry);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first) LLVMPositionBuilderBefore(e->b, first);
    else LLVMPositionBuilderAtEnd(e->b, entry);
    LLVMValueRef memory = LLVMBuildAlloca(e->b, LLVMArrayType2(e->i64, TAPE_NUMBERS), "tape");
    LLVMPositionBuilderAtEnd(e->b, here);
    b->vals[inst->results[0]->id] = (Val){.at = gen_int(e, 0), .dims = {memory}};
}

static LLVMValueRef tape_slot(Body *b, const Val *tape, LLVMValueRef height, uint32_t k) {
    Emit *e = &b->g->e;
    LLVMValueRef at = LLVMBuildAdd(e->b, height, gen_int(e, k), "");
    return LLVMBuildInBoundsGEP2(e->b, e->i64, tape->dims[0], &at, 1, "");
}

static bool can_be_kept(Body *b, const IrValue *value) {
    if (value->type->kind == IR_T_SCALAR) return true;
    ptx_refuse(b->g, "an array that is kept for a reverse pass");
    return false;
}

static void gen_tape_push(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    Val tape = *get(b, inst->operands[0]);
    LLVMValueRef next = LLVMBuildAdd(e->b, tape.at, gen_int(e, inst->noperands - 1), "");
    check(b, LLVMBuildICmp(e->b, LLVMIntULE, next, gen_int(e, TAPE_NUMBERS), ""));
    for (uint32_t k = 1; k < inst->noperands; k++) {
        const IrValue *value = ir_resolve(inst->operands[k]);
        if (!can_be_kept(b, value)) return;
        LLVMBuildStore(e->b, emit_to_memory(e, value->type->scalar, scalar(b, value)),
                       tape_slot(b, &tape, tape.at, k - 1));
    }
    tape.at = next;
    b->vals[inst->results[0]->id] = tape;
}

static void gen_tape_pop(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    Val tape = *get(b, inst->operands[0]);
    tape.at = LLVMBuildSub(e->b, tape.at, gen_int(e, inst->nresults - 1), "");
    for (uint32_t k = 1; k < inst->nresults; k++) {
        if (!can_be_kept(b, inst->results[k])) return;
        IrScalar type = inst->results[k]->type->scalar;
        LLVMValueRef load = LLVMBuildLoad2(e->b, emit_memory_type(e, type),
                                           tape_slot(b, &tape, tape.at, k - 1), "");
        set_scalar(b, inst->results[k], emit_from_memory(e, type, load));
    }
    b->vals[inst->results[0]->id] = tape;
}

/* ---- what knows of blocks ---- */

static LLVMValueRef special(Ptx *g, const char *what, const IrInst *inst) {
    char name[64];
    int64_t dim = 0;
    ir_const_int(inst->operands[0], &dim);
    snprintf(name, sizeof name, "llvm.nvvm.read.ptx.sreg.%s.%c", what, "xyz"[dim]);
    return LLVMBuildZExt(g->e.b, emit_intrinsic(&g->e, name, NULL, NULL, 0), g->e.i64, "");
}

static void gen_barrier(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    static const char old[] = "llvm.nvvm.barrier0";
    if (LLVMLookupIntrinsicID(old, strlen(old))) {
        emit_intrinsic(e, old, NULL, NULL, 0);
    } else {
        LLVMValueRef zero = emit_int32(e, 0);
        emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, &zero, 1);
    }
    for (uint32_t k = 0; k < inst->nresults; k++)
        b->vals[inst->results[k]->id] = written(current(b, inst->operands[k]));
}

static void gen_shared(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    IrType type = inst->results[0]->type;
    uint64_t count = 1;
    for (uint32_t k = 0; k < type->rank; k++) count *= (uint64_t)type->dims[k];
    LLVMTypeRef memory = LLVMArrayType2(emit_memory_type(e, type->scalar), count);
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(e->module, memory, "shared", 3);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetInitializer(global, LLVMGetUndef(memory));
    b->vals[inst->results[0]->id] = ptx_array(b->g, global, type, NULL, true);
}

static void gen_atomic_add(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    const Val *x = current(b, inst->operands[0]);
    IrType type = ir_resolve(inst->operands[0])->type;
    bool real = ir_scalar_float(type->scalar);
    LLVMValueRef at = address(b, x, type, inst->noperands - 2, inst->operands + 2);
    LLVMBuildAtomicRMW(e->b, real ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd, at,
                       scalar(b, inst->operands[1]), LLVMAtomicOrderingMonotonic, false);
    b->vals[inst->results[0]->id] = written(x);
}

/* ---- accumulators ---- */

/* The dimensions of the launch of which VALUE is the invocation's own index, as bits. */
static unsigned own_dimension(const Ptx *g, const IrValue *value) {
    value = ir_resolve((IrValue *)value);
    const IrInst *def = value->def;
    int64_t dim;
    if (!def && g->region && value->region == g->region) return 1U << value->index;
    bool own = def && def->op == IR_RUNTIME && strcmp(def->text, "adl__device_index") == 0;
    return own && ir_const_int(def->operands[0], &dim) ? 1U << dim : 0;
}

typedef struct Additions {
    const IrValue *acc;
    const IrInst *first;
    bool alike; /* all at the place of the first */
} Additions;

static void look_at_addition(IrInst *inst, void *data) {
    Additions *a = data;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        if (ir_resolve(inst->operands[k]) != a->acc) continue;
        if (inst->op != IR_ACC_ADD || k) a->alike = false;
        else if (!a->first) a->first = inst;
        if (!a->first || inst->noperands != a->first->noperands) a->alike = false;
        for (uint32_t i = 1; a->alike && i + 1 < inst->noperands; i++)
            a->alike = ir_resolve(inst->operands[i]) == ir_resolve(a->first->operands[i]);
    }
}

bool ptx_is_alone(Ptx *g, const IrRegion *region, const IrValue *acc) {
    Additions a = {.acc = acc, .alike = true};
    ir_walk((IrRegion *)(uintptr_t)region, look_at_addition, &a);
    unsigned own = 0;
    for (uint32_t i = 1; a.first && i + 1 < a.first->noperands; i++)
        own |= own_dimension(g, a.first->operands[i]);
    return a.alike && own == (1U << g->rank) - 1;
}

static void gen_with_acc(Body *b, const IrInst *inst) {
    const IrRegion *body = inst->regions[0];
    for (uint32_t k = 0; k < body->nparams; k++) {
        const Val *init = current(b, inst->operands[k]);
        if (!init->root) ptx_refuse(b->g, "a number that many parts add to");
        if (*b->g->error) return;
        Val acc = written(init);
        acc.alone = ptx_is_alone(b->g, inst->regions[0], body->params[k]);
        b->vals[body->params[k]->id] = acc;
    }
    gen_region(b, body);
    if (*b->g->error) return;
    yields(b, body, 0, ARENA_ARRAY(b->g->arena, Val, inst->nresults + 1));
    for (uint32_t k = 0; k < inst->nresults; k++)
        b->vals[inst->results[k]->id] = k < body->nparams
                                            ? written(get(b, body->params[k]))
                                            : *get(b, body->last->operands[k - body->nparams]);
}

/* Adds V to the cell AT. */
static void add_to(Body *b, LLVMValueRef at, IrScalar type, LLVMValueRef v, bool alone) {
    Emit *e = &b->g->e;
    if (!alone) {
        LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpFAdd, at, v, LLVMAtomicOrderingMonotonic, false);
        return;
    }
    LLVMValueRef old = LLVMBuildLoad2(e->b, emit_type(e, type), at, "");
    LLVMBuildStore(e->b, LLVMBuildFAdd(e->b, old, v, ""), at);
}

static void gen_acc_add(Body *b, const IrInst *inst) {
    const IrValue *acc = ir_resolve(inst->operands[0]);
    const IrValue *v = ir_resolve(inst->operands[inst->noperands - 1]);
    if (v->type->kind != IR_T_SCALAR) {
        ptx_refuse(b->g, "a part of an array is added as a whole");
        return;
    }
    const Val *x = get(b, acc);
    LLVMValueRef at = address(b, x, acc->type, inst->noperands - 2, inst->operands + 1);
    add_to(b, at, v->type->scalar, scalar(b, v), x->alone);
}

static LLVMValueRef own_index(Ptx *g, const IrInst *inst) {
    LLVMValueRef before = emit_size_mul(&g->e, special(g, "ctaid", inst), special(g, "ntid", inst));
    return emit_size_add(&g->e, before, special(g, "tid", inst));
}

static void gen_own_index(Body *b, const IrInst *inst) {
    set_scalar(b, inst->results[0], own_index(b->g, inst));
}

static void gen_runtime(Body *b, const IrInst *inst) {
    static const struct {
        const char *name, *special;
        void (*run)(Body *, const IrInst *);
    } rows[] = {
        {"adl__device_local", "tid", NULL},
        {"adl__device_block", "ctaid", NULL},
        {"adl__device_index", NULL, gen_own_index},
        {"adl__device_size", "ntid", NULL},
        {"adl__device_barrier", NULL, gen_barrier},
        {"adl__device_shared", NULL, gen_shared},
        {"adl__device_atomic_add", NULL, gen_atomic_add},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(inst->text, rows[i].name) != 0) continue;
        if (rows[i].run) rows[i].run(b, inst);
        else set_scalar(b, inst->results[0], special(b->g, rows[i].special, inst));
        return;
    }
    ptx_refuse(b->g, "a function of the runtime library (%s)", inst->text);
}

/* ---- all ---- */

static void gen_scalar_inst(Body *b, const IrInst *inst) {
    LLVMValueRef args[4];
    CHECK_INTERNAL(inst->noperands <= 4);
    for (uint32_t k = 0; k < inst->noperands; k++) args[k] = scalar(b, inst->operands[k]);
    set_scalar(b, inst->results[0], emit_scalar(&b->g->e, inst, args));
}

static void gen_inst(Body *b, const IrInst *inst) {
    switch ((int)inst->op) {
    case IR_CONST: set_scalar(b, inst->results[0], emit_const(&b->g->e, inst)); return;
    case IR_STRING: set_scalar(b, inst->results[0], emit_null(&b->g->e)); return;
    case IR_IF: gen_if(b, inst); return;
    case IR_LOOP: gen_loop(b, inst); return;
    case IR_CALL: gen_call(b, inst); return;
    case IR_DIM:
        set_scalar(b, inst->results[0], get(b, inst->operands[0])->dims[inst->imm]);
        return;
    case IR_REDUCE: gen_reduce(b, inst); return;
    case IR_INDEX: gen_index(b, inst); return;
    case IR_UPDATE: gen_update(b, inst); return;
    case IR_ASSUME:
    case IR_STOP: b->vals[inst->results[0]->id] = *get(b, inst->operands[0]); return;
    case IR_CHECK: check(b, scalar(b, inst->operands[0])); return;
    case IR_CHECK_INDEX: gen_check_index(b, inst); return;
    case IR_FAIL: check(b, LLVMConstInt(b->g->e.i1, 0, false)); return;
    case IR_RUNTIME: gen_runtime(b, inst); return;
    case IR_WITH_ACC: gen_with_acc(b, inst); return;
    case IR_ACC_ADD: gen_acc_add(b, inst); return;
    case IR_TAPE_NEW: gen_tape_new(b, inst); return;
    case IR_TAPE_PUSH: gen_tape_push(b, inst); return;
    case IR_TAPE_POP: gen_tape_pop(b, inst); return;
    default: break;
    }
    bool arrays = inst->nresults != 1 || inst->results[0]->type->kind != IR_T_SCALAR;
    if (arrays || inst->nregions || inst->op == IR_CONTRACT)
        ptx_refuse(b->g, "an array that belongs to one invocation (%s)",
                   ir_op_info(inst->op)->name);
    else gen_scalar_inst(b, inst);
}

static void gen_region(Body *b, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst && inst != region->last; inst = inst->next) {
        if (*b->g->error) return;
        if (inst->pos) b->g->pos = inst->pos;
        gen_inst(b, inst);
    }
}

void ptx_region(Ptx *g, const IrRegion *region, Val *vals, Val *results) {
    Body b = {g, NULL, region->func, vals};
    gen_region(&b, region);
    if (!*g->error) yields(&b, region, 0, results);
}

void ptx_inline(Ptx *g, const Body *caller, const IrFunc *func, const Val *args, Val *results) {
    for (const Body *b = caller; b; b = b->caller)
        if (b->func == func) ptx_refuse(g, "a function that calls itself");
    if (!func->body) ptx_refuse(g, "a call of the C function %s", func->symbol);
    if (*g->error) return;
    Body b = {g, caller, func, ARENA_ARRAY(g->arena, Val, func->nvalues + 1)};
    for (uint32_t k = 0; k < func->nparams; k++) b.vals[func->body->params[k]->id] = args[k];
    gen_region(&b, func->body);
    if (*g->error) return;
    yields(&b, func->body, 0, results);
}
