/* REDUCE.  Sums and products of floats follow the order that sum.c defines, dimension by dimension:
   the values of a block are first computed into a buffer, by a loop like any BUILD's, and then
   added up.  Everything else may be combined in any order and runs straight on. */
#include "codegen/cpu/reduce.h"

#include "codegen/cpu/device.h"
#include "codegen/cpu/vector.h"

enum { MAX_PLAIN = 48 }; /* operations of a body that is made several times */

static IrScalar scalar_of(const Reduction *r, uint32_t i) {
    return ir_resolve(r->inst->regions[0]->last->operands[i])->type->scalar;
}

static LLVMValueRef size_of(const Reduction *r, uint32_t k) {
    return gen_scalar(r->f, r->inst->operands[k]);
}

static void set_index(Reduction *r, uint32_t k, LLVMValueRef i) {
    r->at[k] = i;
    gen_set_scalar(r->f, r->inst->regions[0]->params[k], i);
}

/* The body once; scalars that it yields go to VALUES. */
static void run_body(Reduction *r, LLVMValueRef *values) {
    Fn *f = r->f;
    const IrRegion *region = r->inst->regions[0];
    const IrInst *yield = gen_region(f, region);
    for (uint32_t i = 0; i < yield->noperands; i++) values[i] = gen_scalar(f, yield->operands[i]);
    gen_dead(f, yield);
}

/* ---- sums and products of floats ---- */

static void sum_level(Reduction *r, uint32_t k, LLVMValueRef *sums);

static void sum_element(Reduction *r, uint32_t k, LLVMValueRef *values) {
    if (k + 1 == r->n) run_body(r, values);
    else sum_level(r, k + 1, values);
}

/* Fewer than SUM_LANES, known to be so: one after the other. */
static void sum_few(Reduction *r, uint32_t k, LLVMValueRef *sums) {
    Fn *f = r->f;
    Emit *e = f->e;
    LLVMValueRef *values = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, r->results);
    Loop loop;
    loop_open_group(f);
    gen_loop_open(f, &loop, "sum");
    for (uint32_t i = 0; i < r->results; i++)
        sums[i] = LLVMBuildPhi(e->b, emit_type(e, scalar_of(r, i)), "sum");
    loop_enter(f, &loop, size_of(r, k));
    set_index(r, k, loop.i);
    sum_element(r, k, values);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    for (uint32_t i = 0; i < r->results; i++) {
        LLVMValueRef next = emit_combine(e, r->kind, scalar_of(r, i), sums[i], values[i]);
        loop_phi(&loop, sums[i], sum_identity(e, r->kind, scalar_of(r, i)), next, latch);
    }
    LLVMMetadataRef parallel = loop_close_group(f, false);
    int64_t known;
    bool unknown = !ir_const_int(r->inst->operands[k], &known);
    gen_loop_close(f, &loop, unknown ? loop_as_it_is(f) : parallel);
}

/* A is the phi of itself and B. */
static void merge_values(Fn *f, LLVMValueRef *a, uint32_t n, LLVMBasicBlockRef from_a,
                         LLVMValueRef *b, LLVMBasicBlockRef from_b) {
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef phi = LLVMBuildPhi(f->e->b, LLVMTypeOf(a[i]), "");
        LLVMAddIncoming(phi, &a[i], &from_a, 1);
        LLVMAddIncoming(phi, &b[i], &from_b, 1);
        a[i] = phi;
    }
}

static void merge_sums(Reduction *r, LLVMValueRef *a, LLVMBasicBlockRef from_a, LLVMValueRef *b,
                       LLVMBasicBlockRef from_b) {
    merge_values(r->f, a, r->results, from_a, b, from_b);
}

/* A buffer that no sum around this one uses. */
static LLVMValueRef new_buffer(Fn *f, IrScalar scalar, int64_t count) {
    return gen_alloca(f, emit_type(f->e, scalar), gen_int(f->e, count), 64, "sums");
}

static bool has_lanes(const Reduction *r, uint32_t i) {
    return ir_scalar_lanes(scalar_of(r, i)) > 1;
}

/* Values with lanes are added up at once, into SUMS (unless that is NULL). */
static void fill_block(Reduction *r, uint32_t k, LLVMValueRef begin, LLVMValueRef len,
                       LLVMValueRef *buffers, LLVMValueRef *sums) {
    Fn *f = r->f;
    Emit *e = f->e;
    LLVMValueRef *values = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, r->results);
    Loop loop;
    uint32_t depth = f->groups.len;
    loop_open_group(f);
    gen_loop_open(f, &loop, "fill");
    for (uint32_t i = 0; i < r->results; i++)
        if (sums && has_lanes(r, i))
            sums[i] = LLVMBuildPhi(e->b, emit_type(e, scalar_of(r, i)), "sum");
    loop_enter(f, &loop, len);
    set_index(r, k, emit_size_add(e, begin, loop.i));
    sum_element(r, k, values);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    for (uint32_t i = 0; i < r->results; i++) {
        if (sums && has_lanes(r, i)) {
            LLVMValueRef next = emit_combine(e, r->kind, scalar_of(r, i), sums[i], values[i]);
            loop_phi(&loop, sums[i], sum_identity(e, r->kind, scalar_of(r, i)), next, latch);
            continue;
        }
        Val buffer = {.at = buffers[i], .depth = depth};
        gen_store(f, &buffer, scalar_of(r, i), loop.i, values[i]);
    }
    bool fold_tail = f->g->used_libm && k + 1 == r->n;
    f->g->used_libm = false;
    gen_loop_close(f, &loop, loop_close_group(f, fold_tail));
}

typedef void (*SumBlock)(Reduction *r, uint32_t k, LLVMValueRef begin, LLVMValueRef len,
                         LLVMValueRef *sums, void *data);

/* The blocks of dimension K, each by BLOCK, and their sums pairwise. */
static void all_blocks(Reduction *r, uint32_t k, LLVMValueRef *sums, SumBlock block, void *data) {
    Fn *f = r->f;
    Emit *e = f->e;
    Arena *arena = f->g->plan->arena;
    LLVMValueRef *stacks = ARENA_ARRAY(arena, LLVMValueRef, r->results);
    LLVMValueRef *one = ARENA_ARRAY(arena, LLVMValueRef, r->results);
    LLVMValueRef count = size_of(r, k), blocks = sum_blocks(e, count), begin;
    for (uint32_t i = 0; i < r->results; i++)
        stacks[i] = new_buffer(f, scalar_of(r, i), SUM_LEVELS);
    Loop loop;
    gen_loop_open(f, &loop, "blocks");
    loop_enter(f, &loop, blocks);
    LLVMValueRef len = sum_block_len(e, count, blocks, loop.i, &begin);
    block(r, k, begin, len, one, data);
    LLVMBasicBlockRef push = gen_block(f, "push"), done = gen_block(f, "summed"),
                      from_one = LLVMGetInsertBlock(e->b);
    LLVMValueRef single = LLVMBuildICmp(e->b, LLVMIntEQ, blocks, gen_int(e, 1), "");
    LLVMBuildCondBr(e->b, single, done, push);
    LLVMPositionBuilderAtEnd(e->b, push);
    for (uint32_t i = 0; i < r->results; i++)
        sum_push(f, r->kind, scalar_of(r, i), stacks[i], loop.i, one[i]);
    gen_loop_close(f, &loop, loop_as_it_is(f));
    for (uint32_t i = 0; i < r->results; i++)
        sums[i] = sum_finish(f, r->kind, scalar_of(r, i), stacks[i], blocks);
    LLVMBasicBlockRef from_many = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    merge_sums(r, sums, from_many, one, from_one);
}

/* A block through a buffer. */
static void buffered_block(Reduction *r, uint32_t k, LLVMValueRef begin, LLVMValueRef len,
                           LLVMValueRef *sums, void *data) {
    LLVMValueRef *buffers = data;
    fill_block(r, k, begin, len, buffers, sums);
    for (uint32_t i = 0; i < r->results; i++)
        if (!has_lanes(r, i)) sums[i] = sum_block(r->f, r->kind, scalar_of(r, i), buffers[i], len);
}

static void sum_many(Reduction *r, uint32_t k, LLVMValueRef *sums) {
    Fn *f = r->f;
    LLVMValueRef *buffers = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, r->results);
    for (uint32_t i = 0; i < r->results; i++)
        if (!has_lanes(r, i)) buffers[i] = new_buffer(f, scalar_of(r, i), 2 * SUM_BLOCK);
    all_blocks(r, k, sums, buffered_block, buffers);
}

/* A block of at least SUM_LANES places, SUM_LANES at once. */
static void wide_block(Reduction *r, uint32_t k, LLVMValueRef begin, LLVMValueRef len,
                       LLVMValueRef *sums, void *data) {
    Fn *f = r->f;
    Emit *e = f->e;
    const IrRegion *region = r->inst->regions[0];
    Arena *arena = f->g->plan->arena;
    LLVMValueRef *phis = ARENA_ARRAY(arena, LLVMValueRef, r->results);
    LLVMValueRef *values = ARENA_ARRAY(arena, LLVMValueRef, r->results);
    LLVMValueRef *more = ARENA_ARRAY(arena, LLVMValueRef, r->results);
    LLVMValueRef steps = LLVMBuildLShr(e->b, len, gen_int(e, 4), "");
    Loop loop;
    (void)data;
    gen_loop_open(f, &loop, "lanes");
    for (uint32_t i = 0; i < r->results; i++)
        phis[i] = LLVMBuildPhi(e->b, LLVMVectorType(emit_type(e, scalar_of(r, i)), SUM_LANES), "");
    loop_enter(f, &loop, steps);
    LLVMValueRef at = emit_size_mul(e, loop.i, gen_int(e, SUM_LANES));
    vector_body(f, region, k, emit_size_add(e, begin, at), values);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    for (uint32_t i = 0; i < r->results; i++) {
        LLVMValueRef none = vector_splat(e, sum_identity(e, r->kind, scalar_of(r, i)));
        loop_phi(&loop, phis[i], none,
                 emit_combine(e, r->kind, scalar_of(r, i), phis[i], values[i]), latch);
    }
    gen_loop_close(f, &loop, loop_as_it_is(f));
    LLVMBasicBlockRef whole = LLVMGetInsertBlock(e->b), rest = gen_block(f, "rest"),
                      fold = gen_block(f, "fold");
    LLVMValueRef left = LLVMBuildAnd(e->b, len, gen_int(e, SUM_LANES - 1), "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, left, gen_int(e, 0), ""), rest, fold);
    LLVMPositionBuilderAtEnd(e->b, rest);
    LLVMValueRef end = LLVMBuildSub(e->b, len, gen_int(e, SUM_LANES), "");
    vector_body(f, region, k, emit_size_add(e, begin, end), values);
    for (uint32_t i = 0; i < r->results; i++)
        more[i] = emit_combine(e, r->kind, scalar_of(r, i), phis[i],
                               sum_last(e, r->kind, scalar_of(r, i), values[i], left));
    rest = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, fold);
    LLVMPositionBuilderAtEnd(e->b, fold);
    merge_values(f, phis, r->results, whole, more, rest);
    for (uint32_t i = 0; i < r->results; i++) sums[i] = sum_fold(e, r->kind, phis[i]);
}

_Static_assert(SUM_LANES == 1 << 4, "the shift in wide_block");

/* Scalar operations only: a body that may be made more than once. */
static bool is_plain(const IrRegion *region) {
    uint32_t n = 0;
    for (const IrInst *inst = region->first; inst->op != IR_YIELD; inst = inst->next) {
        bool element = inst->op == IR_INDEX && inst->results[0]->type->kind == IR_T_SCALAR;
        if (!element && inst->op != IR_DIM && inst->op > IR_MATH) return false;
        if (++n > MAX_PLAIN) return false;
    }
    return true;
}

/* Few, one after the other, without a buffer; or many. */
static void sum_plain(Reduction *r, uint32_t k, LLVMValueRef *sums) {
    Fn *f = r->f;
    Emit *e = f->e;
    LLVMValueRef *many_sums = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, r->results);
    LLVMBasicBlockRef few = gen_block(f, "few"), many = gen_block(f, "many"),
                      done = gen_block(f, "");
    LLVMValueRef small = LLVMBuildICmp(e->b, LLVMIntSLT, size_of(r, k), gen_int(e, SUM_LANES), "");
    LLVMBuildCondBr(e->b, small, few, many);
    LLVMPositionBuilderAtEnd(e->b, few);
    sum_few(r, k, sums);
    few = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, many);
    if (vector_can(f, r->inst->regions[0], k)) all_blocks(r, k, many_sums, wide_block, NULL);
    else sum_many(r, k, many_sums);
    many = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    merge_sums(r, sums, few, many_sums, many);
}

/* The body is x[..., i] of one array from outside, i being the last index: its elements lie in a
   row.  The array, else NULL. */
static const IrInst *plain_row(const Reduction *r) {
    const IrRegion *region = r->inst->regions[0];
    const IrInst *index = region->first;
    if (r->results != 1 || index->op != IR_INDEX || index->next != region->last) return NULL;
    const IrValue *x = ir_resolve(index->operands[0]);
    if (ir_resolve(region->last->operands[0]) != index->results[0]) return NULL;
    if (x->type->rank != index->noperands - 1) return NULL;
    for (uint32_t k = 1; k < index->noperands; k++) {
        bool last = ir_resolve(index->operands[k]) == region->params[r->n - 1];
        if (last != (k + 1 == index->noperands)) return NULL;
    }
    return index;
}

static LLVMValueRef sum_row(Reduction *r, const IrInst *index) {
    Fn *f = r->f;
    const IrValue *x = ir_resolve(index->operands[0]);
    const Val *val = gen_val(f, x);
    LLVMValueRef at[IR_MAX_RANK], count = size_of(r, r->n - 1);
    uint32_t n = x->type->rank - 1;
    for (uint32_t k = 0; k < n; k++) at[k] = gen_scalar(f, index->operands[1 + k]);
    LLVMValueRef row = gen_element_at(f, x->type, val->at, gen_flat(f, val, x->type, n, at));
    return sum_elements(f, r->kind, x->type->scalar, row, count);
}

static void sum_level(Reduction *r, uint32_t k, LLVMValueRef *sums) {
    int64_t known;
    if (r->parts && k + 1 == r->n) {
        reduce_parts(r, sums);
        return;
    }
    const IrInst *row = k + 1 == r->n ? plain_row(r) : NULL;
    if (ir_const_int(r->inst->operands[k], &known) && known < SUM_LANES) sum_few(r, k, sums);
    else if (row) sums[0] = sum_row(r, row);
    else if (k + 1 == r->n && is_plain(r->inst->regions[0])) sum_plain(r, k, sums);
    else sum_many(r, k, sums);
}

/* ---- on threads ---- */

/* Units BEGIN..END of the first dimension into memory: values, all in one stretch, or, where there
   are fewer units than values, the sums of whole blocks. */
static void units_piece(Piece *piece, void *data) {
    Fn *f = &piece->f;
    Emit *e = f->e;
    Reduction r = *(Reduction *)data;
    LLVMValueRef *at = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, r.results);
    LLVMValueRef *buffers = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, r.results);
    r.f = f;
    for (uint32_t i = 0; i < r.results; i++)
        buffers[i] = new_buffer(f, scalar_of(&r, i), 2 * SUM_BLOCK);
    LLVMValueRef count = size_of(&r, 0), blocks = sum_blocks(e, count), first;
    /* Without results, there being checks alone, each value is a unit. */
    LLVMValueRef given = r.results ? piece->extras[0].dims[0] : count;
    LLVMValueRef whole = LLVMBuildICmp(e->b, LLVMIntNE, given, count, "");
    LLVMValueRef units = LLVMBuildSub(e->b, piece->end, piece->begin, "");
    Loop loop;
    gen_loop_open(f, &loop, "stretches");
    loop_enter(f, &loop, LLVMBuildSelect(e->b, whole, units, gen_int(e, 1), ""));
    LLVMValueRef unit = emit_size_add(e, piece->begin, loop.i);
    LLVMValueRef len = sum_block_len(e, count, blocks, unit, &first);
    first = LLVMBuildSelect(e->b, whole, first, piece->begin, "");
    len = LLVMBuildSelect(e->b, whole, len, units, "");
    for (uint32_t i = 0; i < r.results; i++) {
        LLVMTypeRef type = emit_element_type(e, scalar_of(&r, i));
        LLVMValueRef there = LLVMBuildInBoundsGEP2(e->b, type, piece->extras[i].at, &unit, 1, "");
        at[i] = LLVMBuildSelect(e->b, whole, buffers[i], there, "");
    }
    fill_block(&r, 0, first, len, at, NULL);
    LLVMBasicBlockRef sum = gen_block(f, "sum"), next = gen_block(f, "");
    LLVMBuildCondBr(e->b, whole, sum, next);
    LLVMPositionBuilderAtEnd(e->b, sum);
    for (uint32_t i = 0; i < r.results; i++)
        gen_store(f, &piece->extras[i], scalar_of(&r, i), unit,
                  sum_block(f, r.kind, scalar_of(&r, i), buffers[i], len));
    LLVMBuildBr(e->b, next);
    LLVMPositionBuilderAtEnd(e->b, next);
    gen_loop_close(f, &loop, loop_as_it_is(f));
}

enum {
    ROOM = 2 * SUM_BLOCK,       /* values on the stack */
    FEW_BLOCKS = 16 * SUM_BLOCK /* as many values go to threads one by one */
};

/* What threads share out: blocks, or the values themselves where blocks would be too few for the
   work to be shared evenly. */
static LLVMValueRef share_blocks(Fn *f, LLVMValueRef count, LLVMValueRef work) {
    Emit *e = f->e;
    LLVMValueRef few = LLVMBuildSelect(e->b, parallel_long(f, count, work), gen_int(e, FEW_BLOCKS),
                                       gen_int(e, ROOM), "");
    return LLVMBuildICmp(e->b, LLVMIntSGT, count, few, "");
}

/* The sum of UNITS values or block sums. */
static LLVMValueRef sum_units(Fn *f, IrReduce kind, IrScalar scalar, LLVMValueRef at,
                              LLVMValueRef units, LLVMValueRef whole) {
    Emit *e = f->e;
    LLVMBasicBlockRef of_blocks = gen_block(f, "blocks"), of_values = gen_block(f, "values"),
                      done = gen_block(f, "");
    LLVMBuildCondBr(e->b, whole, of_blocks, of_values);
    LLVMPositionBuilderAtEnd(e->b, of_blocks);
    LLVMValueRef a = sum_pairs(f, kind, scalar, at, units);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, of_values);
    LLVMValueRef b = sum_elements(f, kind, scalar, at, units);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    merge_values(f, &a, 1, of_blocks, &b, of_values);
    return a;
}

/* Values or sums of blocks by threads, then their sum: its order is the same as ever. */
static bool sum_on_threads(Reduction *r, LLVMValueRef *sums) {
    Fn *f = r->f;
    Emit *e = f->e;
    const IrRegion *region = r->inst->regions[0];
    int64_t own;
    if (!parallel_pays(f, region)) return false;
    Val *rooms = ARENA_ARRAY(f->g->plan->arena, Val, r->results);
    IrType *types = ARENA_ARRAY(f->g->plan->arena, IrType, r->results);
    LLVMValueRef count = size_of(r, 0), work = cost_of_region(f, region, &own);
    for (uint32_t k = 1; k < r->n; k++) work = LLVMBuildMul(e->b, work, size_of(r, k), "");
    LLVMValueRef whole = r->results ? share_blocks(f, count, work) : LLVMConstNull(e->i1);
    LLVMValueRef units = LLVMBuildSelect(e->b, whole, sum_blocks(e, count), count, "");
    LLVMValueRef block_work = LLVMBuildMul(e->b, work, gen_int(e, SUM_BLOCK), "");
    work = LLVMBuildSelect(e->b, whole, block_work, work, "");
    for (uint32_t i = 0; i < r->results; i++) {
        types[i] = ir_array(f->ir->module, scalar_of(r, i), 1, NULL);
        rooms[i] = gen_short_array(f, types[i], &units, ROOM);
    }
    parallel_run(f, region, units, work, rooms, types, r->results, true, units_piece, r);
    for (uint32_t i = 0; i < r->results; i++) {
        sums[i] = sum_units(f, r->kind, scalar_of(r, i), rooms[i].at, units, whole);
        gen_release(f, &rooms[i], types[i]);
    }
    return true;
}

/* ---- any order ---- */

/* Runs DONE for each place, innermost, with CARRIED values through all loops. */
static void straight_level(Reduction *r, uint32_t k, uint32_t n, LLVMTypeRef const *types,
                           LLVMValueRef *carried, void (*place)(Reduction *, LLVMValueRef *)) {
    Fn *f = r->f;
    Emit *e = f->e;
    if (k == r->n) {
        place(r, carried);
        return;
    }
    LLVMValueRef *phis = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, n);
    Loop loop;
    loop_open_group(f);
    gen_loop_open(f, &loop, "reduce");
    for (uint32_t i = 0; i < n; i++) phis[i] = LLVMBuildPhi(e->b, types[i], "");
    loop_enter(f, &loop, size_of(r, k));
    set_index(r, k, loop.i);
    LLVMValueRef *inner = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, n);
    for (uint32_t i = 0; i < n; i++) inner[i] = phis[i];
    straight_level(r, k + 1, n, types, inner, place);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    for (uint32_t i = 0; i < n; i++) loop_phi(&loop, phis[i], carried[i], inner[i], latch);
    bool fold_tail = f->g->used_libm && k + 1 == r->n && n > 0;
    f->g->used_libm = false;
    gen_loop_close(f, &loop, loop_close_group(f, fold_tail));
    for (uint32_t i = 0; i < n; i++) carried[i] = phis[i];
}

static void combine_place(Reduction *r, LLVMValueRef *carried) {
    LLVMValueRef *values = ARENA_ARRAY(r->f->g->plan->arena, LLVMValueRef, r->results);
    run_body(r, values);
    for (uint32_t i = 0; i < r->results; i++)
        carried[i] = emit_combine(r->f->e, r->kind, scalar_of(r, i), carried[i], values[i]);
}

static void reduce_straight(Reduction *r, LLVMValueRef *results) {
    Fn *f = r->f;
    LLVMTypeRef *types = ARENA_ARRAY(f->g->plan->arena, LLVMTypeRef, r->results);
    for (uint32_t i = 0; i < r->results; i++) {
        types[i] = emit_type(f->e, scalar_of(r, i));
        results[i] = gen_scalar(f, r->inst->operands[r->n + i]);
    }
    straight_level(r, 0, r->results, types, results, combine_place);
}

/* ---- the place of the best ---- */

/* A NaN is better than any number; the first of equals stays. */
static LLVMValueRef is_better(Emit *e, IrReduce kind, IrScalar scalar, LLVMValueRef x,
                              LLVMValueRef best) {
    bool less = kind == IR_ARGMIN;
    if (ir_scalar_float(scalar)) {
        LLVMRealPredicate predicate = less ? LLVMRealULT : LLVMRealUGT;
        LLVMValueRef better = LLVMBuildFCmp(e->b, predicate, x, best, "");
        return LLVMBuildAnd(e->b, better, LLVMBuildFCmp(e->b, LLVMRealORD, best, best, ""), "");
    }
    if (ir_scalar_signed(scalar))
        return LLVMBuildICmp(e->b, less ? LLVMIntSLT : LLVMIntSGT, x, best, "");
    return LLVMBuildICmp(e->b, less ? LLVMIntULT : LLVMIntUGT, x, best, "");
}

/* Carried: how many were seen, the best, its place. */
static void arg_place(Reduction *r, LLVMValueRef *carried) {
    Emit *e = r->f->e;
    LLVMValueRef value;
    run_body(r, &value);
    LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, carried[0], gen_int(e, 0), "");
    LLVMValueRef better = is_better(e, r->kind, scalar_of(r, 0), value, carried[1]);
    LLVMValueRef take = LLVMBuildOr(e->b, first, better, "");
    carried[1] = LLVMBuildSelect(e->b, take, value, carried[1], "");
    carried[2] = LLVMBuildSelect(e->b, take, carried[0], carried[2], "");
    carried[0] = emit_size_add(e, carried[0], gen_int(e, 1));
}

static void reduce_arg(Reduction *r) {
    Fn *f = r->f;
    Emit *e = f->e;
    IrScalar scalar = scalar_of(r, 0);
    LLVMTypeRef types[] = {e->i64, emit_type(e, scalar), e->i64};
    LLVMValueRef carried[] = {gen_int(e, 0), emit_zero(e, scalar), gen_int(e, 0)};
    straight_level(r, 0, 3, types, carried, arg_place);
    gen_set_scalar(f, r->inst->results[0], carried[2]);
}

/* ---- arrays ---- */

/* Scalars beside arrays add up in memory, too. */
static void array_place(Reduction *r, LLVMValueRef *carried) {
    Fn *f = r->f;
    const IrRegion *region = r->inst->regions[0];
    (void)carried;
    for (uint32_t i = 0; i < r->results; i++) {
        Dest dest = {r->accs[i].at, f->groups.len, true, r->kind, false};
        if (r->inst->results[i]->type->kind == IR_T_ARRAY) gen_want(f, region->last, i, dest);
    }
    const IrInst *yield = gen_region(f, region);
    for (uint32_t i = 0; i < r->results; i++) {
        Dest dest = {r->accs[i].at, f->groups.len, true, r->kind, false};
        if (r->inst->results[i]->type->kind == IR_T_ARRAY) {
            gen_put(f, yield, i, dest);
            continue;
        }
        Val acc = {.at = dest.at, .depth = dest.depth};
        IrScalar scalar = scalar_of(r, i);
        LLVMValueRef zero = gen_int(f->e, 0), old = gen_load(f, &acc, scalar, zero);
        gen_store(f, &acc, scalar, zero,
                  emit_combine(f->e, r->kind, scalar, old, gen_scalar(f, yield->operands[i])));
    }
    gen_dead(f, yield);
}

static void reduce_arrays(Reduction *r) {
    Fn *f = r->f;
    Emit *e = f->e;
    LLVMValueRef zero = gen_int(e, 0);
    r->accs = ARENA_ARRAY(f->g->plan->arena, Val, r->results);
    for (uint32_t i = 0; i < r->results; i++) {
        if (r->inst->results[i]->type->kind == IR_T_ARRAY) {
            r->accs[i] = gen_base(f, r->inst, r->n + i);
            continue;
        }
        LLVMTypeRef type = emit_memory_type(e, scalar_of(r, i));
        r->accs[i].at = gen_alloca(f, type, NULL, 8, "acc");
        gen_store(f, &r->accs[i], scalar_of(r, i), zero,
                  gen_scalar(f, r->inst->operands[r->n + i]));
    }
    straight_level(r, 0, 0, NULL, NULL, array_place);
    for (uint32_t i = 0; i < r->results; i++) {
        if (r->inst->results[i]->type->kind == IR_T_ARRAY)
            gen_set(f, r->inst->results[i], r->accs[i]);
        else
            gen_set_scalar(f, r->inst->results[i], gen_load(f, &r->accs[i], scalar_of(r, i), zero));
    }
}

static bool has_arrays(const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (inst->results[i]->type->kind == IR_T_ARRAY) return true;
    return false;
}

static bool all_floats(const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!ir_scalar_float(inst->results[i]->type->scalar)) return false;
    return true;
}

bool reduce_is_ordered(const Reduction *r) {
    return (r->kind == IR_SUM || r->kind == IR_PROD) && all_floats(r->inst) && r->n > 0;
}

void reduce_scalars(Reduction *r, LLVMValueRef *values) {
    if (!reduce_is_ordered(r)) {
        reduce_straight(r, values);
        return;
    }
    if (r->parts || !sum_on_threads(r, values)) sum_level(r, 0, values);
    for (uint32_t i = 0; i < r->results; i++)
        values[i] = emit_combine(r->f->e, r->kind, scalar_of(r, i),
                                 gen_scalar(r->f, r->inst->operands[r->n + i]), values[i]);
}

void gen_reduce(Fn *f, const IrInst *inst) {
    Reduction r = {.f = f, .inst = inst, .kind = (IrReduce)inst->flags};
    r.n = (uint32_t)inst->imm;
    r.results = inst->nresults;
    if (r.kind >= IR_ARGMIN) {
        reduce_arg(&r);
        return;
    }
    if (has_arrays(inst)) {
        reduce_arrays(&r);
        return;
    }
    LLVMValueRef *values = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, r.results);
    const DeviceKernel *kernel = device_kernel(f, inst);
    if (kernel) reduce_on_device(&r, kernel, values);
    else reduce_scalars(&r, values);
    for (uint32_t i = 0; i < r.results; i++) gen_set_scalar(f, inst->results[i], values[i]);
}
