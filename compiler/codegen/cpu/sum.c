/* Sums and products of floats in a fixed order, which depends on the number of elements only.

   Blocks of SUM_BLOCK elements, of which the last also has the rest; in a block, fewer than
   SUM_LANES elements one after the other, else SUM_LANES running sums, element i going to sum i mod
   SUM_LANES, but those beyond the last multiple of SUM_LANES to the last sums; then the sums are
   added in halves.  Block sums are added pairwise.  So the result is the same for every vector
   width, number of threads and position, and the error grows with log n.  Values with lanes are
   added one after the other in a block.  All written as plain
   vector code without fast-math flags, in helper functions that a module gets when it uses them. */
#include "codegen/cpu/gen.h"

#include <stdio.h>

#include "codegen/common/compat.h"
#include "codegen/cpu/vector.h"

LLVMValueRef sum_identity(const Emit *e, IrReduce kind, IrScalar scalar) {
    LLVMTypeRef type = emit_type(e, scalar);
    if (ir_scalar_float(scalar)) return LLVMConstReal(type, kind == IR_PROD ? 1 : -0.0);
    return LLVMConstInt(type, kind == IR_PROD, false);
}

typedef struct Helper {
    Gen *g;
    Emit *e;
    LLVMValueRef fn;
    LLVMBasicBlockRef back; /* where the caller was building */
    LLVMMetadataRef position;
} Helper;

/* Begins the body of FN. */
static Helper helper_begin(Gen *g, LLVMValueRef fn) {
    Helper h = {g, &g->e, fn, LLVMGetInsertBlock(g->e.b), LLVMGetCurrentDebugLocation2(g->e.b)};
    LLVMPositionBuilderAtEnd(g->e.b, LLVMAppendBasicBlockInContext(g->e.context, fn, "entry"));
    LLVMSetCurrentDebugLocation2(g->e.b, NULL);
    return h;
}

static void helper_end(Helper *h) {
    LLVMPositionBuilderAtEnd(h->e->b, h->back);
    LLVMSetCurrentDebugLocation2(h->e->b, h->position);
}

static LLVMBasicBlockRef block(const Helper *h, const char *name) {
    return LLVMAppendBasicBlockInContext(h->e->context, h->fn, name);
}

static LLVMValueRef combine(Emit *e, IrReduce kind, LLVMValueRef x, LLVMValueRef y) {
    return kind == IR_PROD ? LLVMBuildFMul(e->b, x, y, "") : LLVMBuildFAdd(e->b, x, y, "");
}

static LLVMValueRef splat(LLVMValueRef scalar, unsigned lanes) {
    LLVMValueRef all[SUM_LANES];
    for (unsigned i = 0; i < lanes; i++) all[i] = scalar;
    return LLVMConstVector(all, lanes);
}

/* A loop i = 0, step, ... below END with one carried value. */
typedef struct Steps {
    LLVMBasicBlockRef before, head, body, done;
    LLVMValueRef i, value;
} Steps;

static Steps steps_open(const Helper *h, LLVMTypeRef type, LLVMValueRef init, LLVMValueRef end) {
    Emit *e = h->e;
    Steps s = {
        LLVMGetInsertBlock(e->b), block(h, "head"), block(h, "step"), block(h, "end"), NULL, NULL};
    LLVMValueRef zero = gen_int(e, 0);
    LLVMBuildBr(e->b, s.head);
    LLVMPositionBuilderAtEnd(e->b, s.head);
    s.i = LLVMBuildPhi(e->b, e->i64, "i");
    s.value = LLVMBuildPhi(e->b, type, "sum");
    LLVMAddIncoming(s.i, &zero, &s.before, 1);
    LLVMAddIncoming(s.value, &init, &s.before, 1);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, s.i, end, ""), s.body, s.done);
    LLVMPositionBuilderAtEnd(e->b, s.body);
    return s;
}

static void steps_close(const Helper *h, Steps *s, int64_t step, LLVMValueRef value) {
    Emit *e = h->e;
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMValueRef next = emit_size_add(e, s->i, gen_int(e, step));
    LLVMAddIncoming(s->i, &next, &latch, 1);
    LLVMAddIncoming(s->value, &value, &latch, 1);
    LLVMBuildBr(e->b, s->head);
    LLVMPositionBuilderAtEnd(e->b, s->done);
}

/* What is summed: elements at A, or products of those at A and B. */
typedef struct Source {
    IrReduce kind;
    IrScalar scalar;
    LLVMTypeRef type;
    LLVMValueRef a, b; /* B: NULL for plain sums */
} Source;

static LLVMValueRef load_at(Emit *e, const Source *s, LLVMTypeRef type, LLVMValueRef p,
                            LLVMValueRef i) {
    LLVMTypeRef element = emit_element_type(e, s->scalar);
    LLVMValueRef load =
        LLVMBuildLoad2(e->b, type, LLVMBuildInBoundsGEP2(e->b, element, p, &i, 1, ""), "");
    LLVMSetAlignment(load, ir_scalar_align(s->scalar));
    return load;
}

static LLVMValueRef take(Emit *e, const Source *s, LLVMTypeRef type, LLVMValueRef i) {
    LLVMValueRef x = load_at(e, s, type, s->a, i);
    return s->b ? LLVMBuildFMul(e->b, x, load_at(e, s, type, s->b, i), "") : x;
}

LLVMValueRef sum_last(Emit *e, IrReduce kind, IrScalar scalar, LLVMValueRef values,
                      LLVMValueRef left) {
    LLVMValueRef lanes[SUM_LANES];
    for (unsigned k = 0; k < SUM_LANES; k++) lanes[k] = gen_int(e, SUM_LANES - k);
    LLVMValueRef mask = LLVMBuildICmp(e->b, LLVMIntSLE, LLVMConstVector(lanes, SUM_LANES),
                                      vector_splat(e, left), "");
    LLVMValueRef none = splat(sum_identity(e, kind, scalar), SUM_LANES);
    return LLVMBuildSelect(e->b, mask, values, none, "");
}

/* The last LEFT of COUNT elements, in the last lanes; the others hold the identity. */
static LLVMValueRef take_last(Emit *e, const Source *s, LLVMTypeRef type, LLVMValueRef count,
                              LLVMValueRef left) {
    LLVMValueRef from = LLVMBuildSub(e->b, count, gen_int(e, SUM_LANES), "");
    return sum_last(e, s->kind, s->scalar, take(e, s, type, from), left);
}

/* In halves. */
LLVMValueRef sum_fold(Emit *e, IrReduce kind, LLVMValueRef sums) {
    for (unsigned half = SUM_LANES / 2; half >= 1; half /= 2) {
        LLVMValueRef low[SUM_LANES], high[SUM_LANES];
        for (unsigned k = 0; k < half; k++) {
            low[k] = LLVMConstInt(e->i32, k, false);
            high[k] = LLVMConstInt(e->i32, half + k, false);
        }
        LLVMValueRef a = LLVMBuildShuffleVector(e->b, sums, sums, LLVMConstVector(low, half), "");
        LLVMValueRef b = LLVMBuildShuffleVector(e->b, sums, sums, LLVMConstVector(high, half), "");
        sums = combine(e, kind, a, b);
    }
    return LLVMBuildExtractElement(e->b, sums, LLVMConstInt(e->i32, 0, false), "");
}

/* Returns the sum of COUNT elements, one after the other. */
static void in_row(const Helper *h, const Source *s, LLVMValueRef count) {
    Emit *e = h->e;
    Steps one = steps_open(h, s->type, sum_identity(e, s->kind, s->scalar), count);
    steps_close(h, &one, 1, combine(e, s->kind, one.value, take(e, s, s->type, one.i)));
    LLVMBuildRet(e->b, one.value);
}

/* Body of a helper (a, [b,] count): the elements of one block. */
static void block_body(const Helper *h, const Source *s, LLVMValueRef count) {
    Emit *e = h->e;
    LLVMValueRef none = sum_identity(e, s->kind, s->scalar);
    if (ir_scalar_lanes(s->scalar) > 1) {
        in_row(h, s, count);
        return;
    }
    LLVMTypeRef wide = LLVMVectorType(s->type, SUM_LANES);
    LLVMBasicBlockRef few = block(h, "few"), many = block(h, "many");
    LLVMValueRef small = LLVMBuildICmp(e->b, LLVMIntSLT, count, gen_int(e, SUM_LANES), "");
    LLVMBuildCondBr(e->b, small, few, many);
    LLVMPositionBuilderAtEnd(e->b, few);
    in_row(h, s, count);
    LLVMPositionBuilderAtEnd(e->b, many);
    LLVMValueRef whole = LLVMBuildAnd(e->b, count, gen_int(e, -SUM_LANES), "");
    Steps all = steps_open(h, wide, splat(none, SUM_LANES), whole);
    steps_close(h, &all, SUM_LANES, combine(e, s->kind, all.value, take(e, s, wide, all.i)));
    LLVMBasicBlockRef rest = block(h, "rest"), fold = block(h, "fold");
    LLVMValueRef left = LLVMBuildSub(e->b, count, whole, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, left, gen_int(e, 0), ""), rest, fold);
    LLVMPositionBuilderAtEnd(e->b, rest);
    LLVMValueRef more = combine(e, s->kind, all.value, take_last(e, s, wide, count, left));
    LLVMBuildBr(e->b, fold);
    LLVMPositionBuilderAtEnd(e->b, fold);
    LLVMValueRef sums = LLVMBuildPhi(e->b, wide, ""), values[] = {all.value, more};
    LLVMBasicBlockRef from[] = {all.done, rest};
    LLVMAddIncoming(sums, values, from, 2);
    LLVMBuildRet(e->b, sum_fold(e, s->kind, sums));
}

/* The helper NAME for KIND and SCALAR with the parameters of TYPE. */
static LLVMValueRef helper(Gen *g, const char *name, IrReduce kind, IrScalar scalar,
                           LLVMTypeRef type, bool *fresh) {
    char full[64];
    uint32_t lanes = ir_scalar_lanes(scalar);
    int n = snprintf(full, sizeof full, "adl.%s.%s.%s", name, kind == IR_PROD ? "prod" : "sum",
                     ir_scalar_name(scalar));
    if (lanes > 1) snprintf(full + n, sizeof full - (size_t)n, "x%u", lanes);
    return gen_helper(g, full, type, fresh);
}

static LLVMTypeRef source_type(const Emit *e, LLVMTypeRef type, bool product) {
    LLVMTypeRef params[] = {e->ptr, product ? e->ptr : e->i64, e->i64};
    return LLVMFunctionType(type, params, product ? 3 : 2, false);
}

static Source source_of(const Emit *e, IrReduce kind, IrScalar scalar, LLVMValueRef fn,
                        bool product) {
    return (Source){kind, scalar, emit_type(e, scalar), LLVMGetParam(fn, 0),
                    product ? LLVMGetParam(fn, 1) : NULL};
}

static LLVMValueRef block_helper(Gen *g, IrReduce kind, IrScalar scalar, bool product) {
    LLVMTypeRef type = source_type(&g->e, emit_type(&g->e, scalar), product);
    bool fresh;
    LLVMValueRef fn = helper(g, product ? "dot_block" : "block", kind, scalar, type, &fresh);
    if (!fresh) return fn;
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "memory", COMPAT_MEMORY_READS_ARGS);
    Helper h = helper_begin(g, fn);
    Source s = source_of(&g->e, kind, scalar, fn, product);
    block_body(&h, &s, LLVMGetParam(fn, product ? 2 : 1));
    helper_end(&h);
    return fn;
}

/* ---- pairwise addition of blocks ---- */

enum { SUM_ALIGN = 4 }; /* of partial sums, whatever they are */

static LLVMValueRef level_at(Emit *e, LLVMTypeRef type, LLVMValueRef stack, LLVMValueRef level) {
    return LLVMBuildInBoundsGEP2(e->b, type, stack, &level, 1, "");
}

static LLVMTypeRef push_type(const Emit *e, LLVMTypeRef type) {
    LLVMTypeRef params[] = {e->ptr, e->i64, type};
    return LLVMFunctionType(e->none, params, 3, false);
}

/* (stack, k, value): adds the sum of block k.  The stack then holds one entry for each bit of k
 * + 1. */
static void push_body(const Helper *h, IrReduce kind, LLVMTypeRef type) {
    Emit *e = h->e;
    LLVMValueRef stack = LLVMGetParam(h->fn, 0), k = LLVMGetParam(h->fn, 1);
    LLVMValueRef depth = emit_intrinsic(e, "llvm.ctpop", e->i64, &k, 1);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = block(h, "head"),
                      body = block(h, "add"), done = block(h, "done");
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef bits = LLVMBuildPhi(e->b, e->i64, ""), at = LLVMBuildPhi(e->b, e->i64, ""),
                 sum = LLVMBuildPhi(e->b, type, "");
    LLVMValueRef odd = LLVMBuildTrunc(e->b, bits, e->i1, "");
    LLVMBuildCondBr(e->b, odd, body, done);
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMValueRef below = LLVMBuildSub(e->b, at, gen_int(e, 1), "");
    LLVMValueRef other = LLVMBuildLoad2(e->b, type, level_at(e, type, stack, below), "");
    LLVMSetAlignment(other, SUM_ALIGN);
    LLVMValueRef added = combine(e, kind, other, sum);
    LLVMValueRef next = LLVMBuildLShr(e->b, bits, gen_int(e, 1), "");
    LLVMBuildBr(e->b, head);
    LLVMBasicBlockRef from[] = {before, body};
    LLVMValueRef ins[][2] = {{k, next}, {depth, below}, {LLVMGetParam(h->fn, 2), added}};
    LLVMAddIncoming(bits, ins[0], from, 2);
    LLVMAddIncoming(at, ins[1], from, 2);
    LLVMAddIncoming(sum, ins[2], from, 2);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMSetAlignment(LLVMBuildStore(e->b, sum, level_at(e, type, stack, at)), SUM_ALIGN);
    LLVMBuildRetVoid(e->b);
}

void sum_push(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef stack, LLVMValueRef k,
              LLVMValueRef value) {
    Gen *g = f->g;
    LLVMTypeRef element = emit_type(&g->e, scalar), type = push_type(&g->e, element);
    bool fresh;
    LLVMValueRef fn = helper(g, "push", kind, scalar, type, &fresh);
    if (fresh) {
        gen_attribute(g, fn, LLVMAttributeFunctionIndex, "noinline", 0);
        Helper h = helper_begin(g, fn);
        push_body(&h, kind, element);
        helper_end(&h);
    }
    LLVMValueRef args[] = {stack, k, value};
    LLVMBuildCall2(g->e.b, type, fn, args, 3, "");
}

/* (stack, blocks): what is left, from the top down. */
static void finish_body(const Helper *h, IrReduce kind, IrScalar scalar, LLVMTypeRef type) {
    Emit *e = h->e;
    LLVMValueRef stack = LLVMGetParam(h->fn, 0), blocks = LLVMGetParam(h->fn, 1);
    LLVMValueRef depth = emit_intrinsic(e, "llvm.ctpop", e->i64, &blocks, 1);
    LLVMValueRef last = LLVMBuildSub(e->b, depth, gen_int(e, 1), "");
    Steps s = steps_open(h, type, sum_identity(e, kind, scalar), depth);
    LLVMValueRef level = LLVMBuildSub(e->b, last, s.i, "");
    LLVMValueRef other = LLVMBuildLoad2(e->b, type, level_at(e, type, stack, level), "");
    LLVMSetAlignment(other, SUM_ALIGN);
    steps_close(h, &s, 1, combine(e, kind, other, s.value));
    LLVMBuildRet(e->b, s.value);
}

LLVMValueRef sum_finish(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef stack,
                        LLVMValueRef blocks) {
    Gen *g = f->g;
    LLVMTypeRef element = emit_type(&g->e, scalar), params[] = {g->e.ptr, g->e.i64};
    LLVMTypeRef type = LLVMFunctionType(element, params, 2, false);
    bool fresh;
    LLVMValueRef fn = helper(g, "finish", kind, scalar, type, &fresh);
    if (fresh) {
        gen_attribute(g, fn, LLVMAttributeFunctionIndex, "noinline", 0);
        Helper h = helper_begin(g, fn);
        finish_body(&h, kind, scalar, element);
        helper_end(&h);
    }
    LLVMValueRef args[] = {stack, blocks};
    return LLVMBuildCall2(g->e.b, type, fn, args, 2, "");
}

LLVMValueRef sum_pairs(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef at,
                       LLVMValueRef blocks) {
    Gen *g = f->g;
    Emit *e = &g->e;
    LLVMTypeRef element = emit_type(e, scalar), params[] = {e->ptr, e->i64};
    LLVMTypeRef type = LLVMFunctionType(element, params, 2, false);
    bool fresh;
    LLVMValueRef fn = helper(g, "pairs", kind, scalar, type, &fresh);
    if (fresh) {
        gen_attribute(g, fn, LLVMAttributeFunctionIndex, "memory", COMPAT_MEMORY_READS_ARGS);
        Helper h = helper_begin(g, fn);
        Fn inner = {.g = g, .e = e};
        LLVMValueRef stack = LLVMBuildArrayAlloca(e->b, element, gen_int(e, SUM_LEVELS), "stack");
        Steps loop = steps_open(&h, e->i64, gen_int(e, 0), LLVMGetParam(fn, 1));
        LLVMValueRef from = level_at(e, emit_element_type(e, scalar), LLVMGetParam(fn, 0), loop.i);
        LLVMValueRef sum = LLVMBuildLoad2(e->b, element, from, "");
        LLVMSetAlignment(sum, ir_scalar_align(scalar));
        sum_push(&inner, kind, scalar, stack, loop.i, sum);
        steps_close(&h, &loop, 1, loop.i);
        LLVMBuildRet(e->b, sum_finish(&inner, kind, scalar, stack, LLVMGetParam(fn, 1)));
        helper_end(&h);
    }
    LLVMValueRef args[] = {at, blocks};
    return LLVMBuildCall2(e->b, type, fn, args, 2, "");
}

/* ---- whole ranges ---- */

_Static_assert(SUM_BLOCK == 1 << 8, "the shift below");

LLVMValueRef sum_blocks(Emit *e, LLVMValueRef count) {
    LLVMValueRef args[] = {LLVMBuildAShr(e->b, count, gen_int(e, 8), ""), gen_int(e, 1)};
    return emit_intrinsic(e, "llvm.smax", e->i64, args, 2);
}

LLVMValueRef sum_block_len(Emit *e, LLVMValueRef count, LLVMValueRef blocks, LLVMValueRef k,
                           LLVMValueRef *begin) {
    *begin = emit_size_mul(e, k, gen_int(e, SUM_BLOCK));
    LLVMValueRef last = LLVMBuildSub(e->b, blocks, gen_int(e, 1), "");
    LLVMValueRef is_last = LLVMBuildICmp(e->b, LLVMIntEQ, k, last, "");
    LLVMValueRef rest = LLVMBuildNSWSub(e->b, count, *begin, "");
    return LLVMBuildSelect(e->b, is_last, rest, gen_int(e, SUM_BLOCK), "");
}

/* Body of a helper for any number of elements. */
static void range_body(Helper *h, const Source *s, LLVMValueRef count) {
    Emit *e = h->e;
    Fn f = {.g = h->g, .e = e};
    bool product = s->b != NULL;
    LLVMTypeRef type = source_type(e, s->type, product);
    LLVMValueRef helper_fn = block_helper(h->g, s->kind, s->scalar, product);
    LLVMValueRef stack = LLVMBuildArrayAlloca(e->b, s->type, gen_int(e, SUM_LEVELS), "stack");
    LLVMBasicBlockRef one = block(h, "one"), many = block(h, "many");
    LLVMValueRef small = LLVMBuildICmp(e->b, LLVMIntSLT, count, gen_int(e, 2 * SUM_BLOCK), "");
    LLVMBuildCondBr(e->b, small, one, many);
    LLVMPositionBuilderAtEnd(e->b, one);
    LLVMValueRef args[] = {s->a, product ? s->b : count, count};
    LLVMBuildRet(e->b, LLVMBuildCall2(e->b, type, helper_fn, args, product ? 3 : 2, ""));
    LLVMPositionBuilderAtEnd(e->b, many);
    LLVMValueRef blocks = sum_blocks(e, count), begin;
    Steps loop = steps_open(h, e->i64, gen_int(e, 0), blocks);
    LLVMValueRef len = sum_block_len(e, count, blocks, loop.i, &begin);
    LLVMTypeRef element = emit_element_type(e, s->scalar);
    LLVMValueRef a = LLVMBuildInBoundsGEP2(e->b, element, s->a, &begin, 1, "");
    LLVMValueRef b = product ? LLVMBuildInBoundsGEP2(e->b, element, s->b, &begin, 1, "") : len;
    LLVMValueRef inner[] = {a, b, len};
    LLVMValueRef sum = LLVMBuildCall2(e->b, type, helper_fn, inner, product ? 3 : 2, "");
    sum_push(&f, s->kind, s->scalar, stack, loop.i, sum);
    steps_close(h, &loop, 1, loop.i);
    LLVMBuildRet(e->b, sum_finish(&f, s->kind, s->scalar, stack, blocks));
}

static LLVMValueRef range(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef count) {
    Gen *g = f->g;
    bool product = b != NULL, fresh;
    LLVMTypeRef type = source_type(&g->e, emit_type(&g->e, scalar), product);
    LLVMValueRef fn = helper(g, product ? "dot" : "range", kind, scalar, type, &fresh);
    if (fresh) {
        gen_attribute(g, fn, LLVMAttributeFunctionIndex, "memory", COMPAT_MEMORY_READS_ARGS);
        Helper h = helper_begin(g, fn);
        Source s = source_of(&g->e, kind, scalar, fn, product);
        range_body(&h, &s, LLVMGetParam(fn, product ? 2 : 1));
        helper_end(&h);
    }
    LLVMValueRef args[] = {a, product ? b : count, count};
    return LLVMBuildCall2(g->e.b, type, fn, args, product ? 3 : 2, "");
}

LLVMValueRef sum_elements(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef at,
                          LLVMValueRef count) {
    return range(f, kind, scalar, at, NULL, count);
}

LLVMValueRef sum_block(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef at, LLVMValueRef count) {
    LLVMValueRef args[] = {at, count};
    LLVMTypeRef type = source_type(f->e, emit_type(f->e, scalar), false);
    return LLVMBuildCall2(f->e->b, type, block_helper(f->g, kind, scalar, false), args, 2, "");
}

LLVMValueRef sum_products(Fn *f, IrScalar scalar, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef count) {
    return range(f, IR_SUM, scalar, a, b, count);
}
