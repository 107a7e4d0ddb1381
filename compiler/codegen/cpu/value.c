/* Arrays in memory: sizes, elements, new blocks, references, who owns what. */
#include "codegen/cpu/gen.h"

#include <string.h>

#include "base/fatal.h"
#include "codegen/cpu/device.h"
#include "runtime/layout.h"

/* ---- sizes and elements ---- */

LLVMValueRef *gen_dims(Fn *f, IrType type, LLVMValueRef const *given) {
    LLVMValueRef *dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, type->rank);
    for (uint32_t k = 0; k < type->rank; k++)
        dims[k] = type->dims[k] >= 0 ? gen_int(f->e, type->dims[k]) : given[k];
    return dims;
}

LLVMValueRef gen_count(Fn *f, const Val *val, IrType type) {
    LLVMValueRef count = gen_int(f->e, 1);
    for (uint32_t k = 0; k < type->rank; k++) count = emit_size_mul(f->e, count, val->dims[k]);
    return count;
}

LLVMValueRef gen_element_at(Fn *f, IrType type, LLVMValueRef at, LLVMValueRef index) {
    return LLVMBuildInBoundsGEP2(f->e->b, emit_element_type(f->e, type->scalar), at, &index, 1, "");
}

LLVMValueRef gen_flat(Fn *f, const Val *val, IrType type, uint32_t n, LLVMValueRef const *indices) {
    LLVMValueRef flat = gen_int(f->e, 0);
    for (uint32_t k = 0; k < type->rank; k++) {
        if (k > 0) flat = emit_size_mul(f->e, flat, val->dims[k]);
        if (k < n) flat = emit_size_add(f->e, flat, indices[k]);
    }
    return flat;
}

void gen_tag(Fn *f, LLVMValueRef access, uint32_t depth) {
    uint32_t n = f->groups.len > depth ? f->groups.len - depth : 0;
    if (!n) return;
    LLVMMetadataRef group =
        n == 1 ? f->groups.at[depth] : LLVMMDNodeInContext2(f->e->context, f->groups.at + depth, n);
    LLVMSetMetadata(access, f->g->group_kind, LLVMMetadataAsValue(f->e->context, group));
}

static LLVMValueRef element(Fn *f, const Val *val, IrScalar scalar, LLVMValueRef index) {
    LLVMTypeRef type = emit_element_type(f->e, scalar);
    return LLVMBuildInBoundsGEP2(f->e->b, type, val->at, &index, 1, "");
}

LLVMValueRef gen_load(Fn *f, const Val *val, IrScalar scalar, LLVMValueRef index) {
    LLVMValueRef load, value = emit_load(f->e, scalar, element(f, val, scalar, index), &load);
    gen_tag(f, load, val->depth);
    return value;
}

void gen_store(Fn *f, const Val *val, IrScalar scalar, LLVMValueRef index, LLVMValueRef value) {
    LLVMValueRef store = emit_store(f->e, scalar, value, element(f, val, scalar, index));
    gen_tag(f, store, val->depth);
}

void gen_copy(Fn *f, IrScalar scalar, LLVMValueRef to, LLVMValueRef from, LLVMValueRef count) {
    unsigned align = ir_scalar_align(scalar);
    LLVMValueRef bytes = emit_size_mul(f->e, count, gen_int(f->e, ir_scalar_bytes(scalar)));
    if (to == from) return;
    LLVMBuildMemCpy(f->e->b, to, align, from, align, bytes);
}

/* ---- new memory ---- */

/* The size in bytes if it is constant, else -1. */
static int64_t constant_bytes(IrType type) {
    int64_t bytes = ir_scalar_bytes(type->scalar);
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0 || __builtin_mul_overflow(bytes, type->dims[k], &bytes)) return -1;
    return bytes;
}

void gen_check_memory(Fn *f, LLVMValueRef p) {
    Emit *e = f->e;
    LLVMValueRef none = LLVMBuildICmp(e->b, LLVMIntEQ, p, emit_null(e), "");
    LLVMBasicBlockRef bad = gen_block(f, "no_memory"), good = gen_block(f, "");
    gen_unlikely(f, LLVMBuildCondBr(e->b, none, bad, good));
    LLVMPositionBuilderAtEnd(e->b, bad);
    LLVMValueRef args[] = {f->context, LLVMBuildLoad2(e->b, e->i32, f->context, ""),
                           gen_site(f->g, f->ir, f->pos)};
    gen_leave(f, gen_runtime(f->g, "adl__fail_called", args, 3));
    LLVMPositionBuilderAtEnd(e->b, good);
}

static LLVMValueRef dims_in_memory(Fn *f, uint32_t rank, LLVMValueRef const *dims) {
    Emit *e = f->e;
    if (!f->scratch_dims)
        f->scratch_dims = gen_alloca(f, e->i64, gen_int(e, IR_MAX_RANK), 8, "dims");
    for (uint32_t k = 0; k < rank; k++)
        LLVMBuildStore(e->b, dims[k], emit_offset(e, f->scratch_dims, 8 * (int64_t)k));
    return f->scratch_dims;
}

LLVMValueRef gen_dims_memory(Fn *f, const Val *val, IrType type) {
    return dims_in_memory(f, type->rank, val->dims);
}

Val gen_heap_array(Fn *f, IrType type, LLVMValueRef const *given) {
    Emit *e = f->e;
    Val val = {.dims = gen_dims(f, type, given), .depth = f->groups.len};
    int64_t bytes = constant_bytes(type);
    if (bytes >= 0) {
        LLVMValueRef args[] = {f->context, gen_int(e, bytes)};
        val.at = gen_runtime(f->g, "adl__alloc", args, 2);
    } else {
        LLVMValueRef args[] = {f->context, gen_int(e, ir_scalar_bytes(type->scalar)),
                               emit_int32(e, (int32_t)type->rank),
                               dims_in_memory(f, type->rank, val.dims)};
        val.at = gen_runtime(f->g, "adl__alloc_array", args, 4);
    }
    gen_check_memory(f, val.at);
    val.block = val.at;
    return val;
}

Val gen_slot(Fn *f, IrType type) {
    Emit *e = f->e;
    int64_t count = constant_bytes(type) / (int64_t)ir_scalar_bytes(type->scalar);
    LLVMTypeRef array = LLVMArrayType2(emit_element_type(e, type->scalar), (uint64_t)count);
    return (Val){.at = gen_alloca(f, array, NULL, 16, "slot"),
                 .block = emit_null(e),
                 .dims = gen_dims(f, type, NULL),
                 .depth = f->groups.len,
                 .slot = true};
}

static void merge(Fn *f, LLVMTypeRef type, LLVMValueRef *into, LLVMValueRef a,
                  LLVMBasicBlockRef from_a, LLVMValueRef b, LLVMBasicBlockRef from_b) {
    LLVMValueRef phi = LLVMBuildPhi(f->e->b, type, "");
    LLVMAddIncoming(phi, &a, &from_a, 1);
    LLVMAddIncoming(phi, &b, &from_b, 1);
    *into = phi;
}

/* At DEST if that is not null, else in a new block. */
static Val maybe_there(Fn *f, IrType type, LLVMValueRef dest, LLVMValueRef const *dims) {
    Emit *e = f->e;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), anywhere = gen_block(f, "anywhere"),
                      done = gen_block(f, "");
    LLVMValueRef none = LLVMBuildICmp(e->b, LLVMIntEQ, dest, emit_null(e), "");
    LLVMBuildCondBr(e->b, none, anywhere, done);
    LLVMPositionBuilderAtEnd(e->b, anywhere);
    Val val = gen_heap_array(f, type, dims);
    anywhere = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    merge(f, e->ptr, &val.at, dest, before, val.at, anywhere);
    merge(f, e->ptr, &val.block, emit_null(e), before, val.block, anywhere);
    return val;
}

/* ---- scratch: what a loop's iteration makes and reads, and nobody else has ---- */

enum { SCRATCH_BYTES = 2048 };

typedef struct Readers {
    Fn *f;
    const IrValue *value;
    bool only; /* of elements */
} Readers;

static void check_reader(IrInst *inst, void *data) {
    Readers *r = data;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        if (ir_resolve(inst->operands[k]) != r->value) continue;
        bool element = inst->op == IR_INDEX && inst->results[0]->type->kind == IR_T_SCALAR;
        if (!element && inst->op != IR_DIM) r->only = false;
    }
    const MemReuse *reuse = inst->op == IR_BUILD ? gen_plan(r->f, inst)->reuse : NULL;
    for (uint32_t i = 0; reuse && i < inst->nresults; i++)
        for (uint32_t k = 0; k < reuse[i].n; k++)
            if (reuse[i].roots[k] == r->value) r->only = false;
}

/* Is VALUE, a BUILD's, read element by element only, before its iteration ends? */
static bool is_scratch(Fn *f, const IrValue *value) {
    Readers r = {f, value, true};
    const IrInst *def = value->def;
    if (!def || def->op != IR_BUILD || !def->parent->owner || value->type->rank != 1) return false;
    if (def->parent->owner->op == IR_IF) return false;
    ir_walk(def->parent, check_reader, &r);
    return r.only;
}

Val gen_short_array(Fn *f, IrType type, LLVMValueRef const *dims, int64_t most) {
    Emit *e = f->e;
    Val val = {.dims = gen_dims(f, type, dims), .depth = f->groups.len};
    LLVMValueRef stack =
        gen_alloca(f, emit_memory_type(e, type->scalar), gen_int(e, most), 64, "scratch");
    LLVMValueRef count = gen_count(f, &val, type), none = emit_null(e);
    LLVMValueRef few = LLVMBuildICmp(e->b, LLVMIntULE, count, gen_int(e, most), "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), many = gen_block(f, "many"),
                      done = gen_block(f, "");
    LLVMBuildCondBr(e->b, few, done, many);
    LLVMPositionBuilderAtEnd(e->b, many);
    Val heap = gen_heap_array(f, type, dims);
    many = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    merge(f, e->ptr, &val.at, stack, before, heap.at, many);
    merge(f, e->ptr, &val.block, none, before, heap.block, many);
    return val;
}

Val gen_new_array(Fn *f, const IrValue *value, LLVMValueRef const *dims) {
    const Dest *dest = &f->dests[value->id];
    if (dest->maybe) return maybe_there(f, value->type, dest->at, dims);
    if (dest->at)
        return (Val){.at = dest->at,
                     .block = emit_null(f->e),
                     .dims = gen_dims(f, value->type, dims),
                     .depth = dest->depth};
    if (mem_is_small(value->type)) return gen_slot(f, value->type);
    if (!is_scratch(f, value)) return gen_heap_array(f, value->type, dims);
    int64_t most = SCRATCH_BYTES / ir_scalar_bytes(value->type->scalar);
    return gen_short_array(f, value->type, dims, most);
}

/* ---- references ---- */

void gen_retain(Fn *f, const Val *val, IrType type) {
    LLVMValueRef args[] = {f->context, type->kind == IR_T_TAPE ? val->at : val->block};
    if (LLVMIsNull(args[1])) return;
    gen_runtime(f->g, type->kind == IR_T_TAPE ? "adl__tape_retain" : "adl__retain", args, 2);
}

void gen_release(Fn *f, const Val *val, IrType type) {
    LLVMValueRef args[] = {f->context, type->kind == IR_T_TAPE ? val->at : val->block};
    if (LLVMIsNull(args[1])) return;
    gen_runtime(f->g, type->kind == IR_T_TAPE ? "adl__tape_release" : "adl__release", args, 2);
}

static Val copy_to_heap(Fn *f, const Val *val, IrType from, IrType type) {
    Val copy = gen_heap_array(f, type, val->dims);
    device_copy(f, type->scalar, &copy, val, gen_count(f, val, from));
    return copy;
}

/* Is its memory a slot of the stack?  The type of a view need not say the sizes that its root has.
 */
static bool in_slot(const Fn *f, const IrValue *value) {
    return mem_is_small(value->type) || mem_is_small(f->plan->root[value->id]->type);
}

Val gen_hand_over(Fn *f, const IrInst *inst, uint32_t k, IrType type) {
    const IrValue *value = ir_resolve(inst->operands[k]);
    Val val = *gen_val(f, value);
    bool take = gen_plan(f, inst)->take[k];
    if (type->kind == IR_T_SCALAR || type->kind == IR_T_ACC || mem_is_small(type)) return val;
    if (type->kind == IR_T_ARRAY && (in_slot(f, value) || f->plan->on_tape[value->id])) {
        Val copy = copy_to_heap(f, &val, value->type, type);
        if (take) gen_release(f, &val, value->type);
        return copy;
    }
    if (!take) gen_retain(f, &val, type);
    if (type->kind == IR_T_ARRAY) val.dims = gen_dims(f, type, val.dims);
    return val;
}

void gen_hand_into(Fn *f, const IrInst *inst, uint32_t k, LLVMValueRef to) {
    const IrValue *value = ir_resolve(inst->operands[k]);
    const Val *val = gen_val(f, value);
    device_ask(f, val, false);
    gen_copy(f, value->type->scalar, to, val->at, gen_count(f, val, value->type));
    if (gen_plan(f, inst)->take[k]) gen_release(f, val, value->type);
}

/* One if BLOCK has no other names than ours; the wrapper of an exported function may hold one more,
   which its header says. */
static LLVMValueRef is_unique(Fn *f, LLVMValueRef block) {
    Emit *e = f->e;
    LLVMValueRef header = emit_offset(e, block, -(int64_t)sizeof(AdlBlock));
    LLVMValueRef refs =
        LLVMBuildLoad2(e->b, e->i64, emit_offset(e, header, (int64_t)offsetof(AdlBlock, refs)), "");
    LLVMSetOrdering(refs, LLVMAtomicOrderingAcquire);
    LLVMSetAlignment(refs, 8);
    LLVMValueRef spare = LLVMBuildLoad2(
        e->b, e->i32, emit_offset(e, header, (int64_t)offsetof(AdlBlock, spare)), "");
    LLVMValueRef ours =
        LLVMBuildAdd(e->b, LLVMBuildZExt(e->b, spare, e->i64, ""), gen_int(e, 1), "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, refs, ours, "");
}

/* Are the sizes of OLD those that a TYPE of DIMS has? */
static LLVMValueRef same_sizes(Fn *f, IrType type, const Val *old, LLVMValueRef const *dims) {
    Emit *e = f->e;
    LLVMValueRef same = LLVMConstInt(e->i1, 1, false);
    for (uint32_t k = 0; k < type->rank; k++)
        if (old->dims[k] != dims[k])
            same = LLVMBuildAnd(e->b, same,
                                LLVMBuildICmp(e->b, LLVMIntEQ, old->dims[k], dims[k], ""), "");
    return same;
}

/* Goes to DONE from a block of its own if OLD may be written over by VALUE; the builder then stands
   where it may not.  The block that goes to DONE. */
static LLVMBasicBlockRef try_over(Fn *f, IrType type, const Val *old, LLVMValueRef const *dims,
                                  LLVMBasicBlockRef done) {
    Emit *e = f->e;
    LLVMBasicBlockRef check = gen_block(f, "unique"), over = gen_block(f, "over"),
                      next = gen_block(f, "");
    LLVMValueRef counted = LLVMBuildICmp(e->b, LLVMIntNE, old->block, emit_null(e), "");
    counted = LLVMBuildAnd(e->b, counted, same_sizes(f, type, old, dims), "");
    LLVMBuildCondBr(e->b, counted, check, next);
    LLVMPositionBuilderAtEnd(e->b, check);
    LLVMBuildCondBr(e->b, is_unique(f, old->block), over, next);
    LLVMPositionBuilderAtEnd(e->b, over);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, next);
    return over;
}

Val gen_over(Fn *f, const IrValue *value, LLVMValueRef const *given, uint32_t n, Val *olds) {
    Emit *e = f->e;
    Arena *arena = f->g->plan->arena;
    LLVMBasicBlockRef *from = ARENA_ARRAY(arena, LLVMBasicBlockRef, n + 1);
    LLVMBasicBlockRef done = gen_block(f, "");
    LLVMValueRef *dims = gen_dims(f, value->type, given);
    for (uint32_t k = 0; k < n; k++)
        from[k] = LLVMIsNull(olds[k].block) ? NULL : try_over(f, value->type, &olds[k], dims, done);
    Val val = gen_new_array(f, value, given);
    from[n] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef at = LLVMBuildPhi(e->b, e->ptr, ""), block = LLVMBuildPhi(e->b, e->ptr, "");
    LLVMValueRef none = emit_null(e);
    LLVMAddIncoming(at, &val.at, &from[n], 1);
    LLVMAddIncoming(block, &val.block, &from[n], 1);
    for (uint32_t k = 0; k < n; k++) {
        if (!from[k]) continue;
        LLVMAddIncoming(at, &olds[k].at, &from[k], 1);
        LLVMAddIncoming(block, &olds[k].block, &from[k], 1);
    }
    for (uint32_t k = 0; k < n; k++) {
        if (!from[k]) continue;
        LLVMValueRef left = LLVMBuildPhi(e->b, e->ptr, "");
        for (uint32_t j = 0; j <= n; j++)
            if (from[j]) LLVMAddIncoming(left, j == k ? &none : &olds[k].block, &from[j], 1);
        olds[k].block = left;
    }
    return (Val){.at = at, .block = block, .dims = dims, .depth = f->groups.len};
}

Val gen_own(Fn *f, const Val *val, IrType type) {
    Emit *e = f->e;
    Val owned = *val;
    if (LLVMIsNull(val->block)) return copy_to_heap(f, val, type, type);
    LLVMBasicBlockRef test = gen_block(f, "unique"), copy = gen_block(f, "copy"),
                      done = gen_block(f, "owned");
    LLVMValueRef counted = LLVMBuildICmp(e->b, LLVMIntNE, val->block, emit_null(e), "");
    LLVMBuildCondBr(e->b, counted, test, copy);
    LLVMPositionBuilderAtEnd(e->b, test);
    LLVMBuildCondBr(e->b, is_unique(f, val->block), done, copy);
    LLVMPositionBuilderAtEnd(e->b, copy);
    Val made = copy_to_heap(f, val, type, type);
    gen_release(f, val, type);
    LLVMBasicBlockRef from_copy = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    merge(f, e->ptr, &owned.at, val->at, test, made.at, from_copy);
    merge(f, e->ptr, &owned.block, val->block, test, made.block, from_copy);
    owned.depth = f->groups.len;
    return owned;
}

Val gen_base(Fn *f, const IrInst *inst, uint32_t k) {
    const IrValue *value = ir_resolve(inst->operands[k]);
    const IrValue *result = inst->results[inst->op == IR_REDUCE     ? k - (uint32_t)inst->imm
                                          : inst->op == IR_WITH_ACC ? k
                                                                    : 0];
    Val val = *gen_val(f, value);
    const MemInst *plan = gen_plan(f, inst);
    MemBase base = (MemBase)plan->base[k];
    bool small = mem_is_small(value->type);
    bool here = f->dests[result->id].at != NULL && !f->dests[result->id].maybe;
    bool movable = base != MEM_COPY && !f->plan->on_tape[value->id];
    bool counted = !in_slot(f, value) && !mem_is_small(result->type);
    if (here && val.at == f->dests[result->id].at) return val;
    if (movable && !here && small && val.slot) return val;
    if (movable && !here && !small && counted)
        return base == MEM_IN_PLACE ? val : gen_own(f, &val, value->type);
    Val copy = gen_new_array(f, result, val.dims);
    device_copy(f, value->type->scalar, &copy, &val, gen_count(f, &val, value->type));
    if (plan->take[k]) gen_release(f, &val, value->type);
    return copy;
}
