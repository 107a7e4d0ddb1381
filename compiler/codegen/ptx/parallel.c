/* Maps, reductions and products: loops of one invocation, in the order of their indices. */
#include "codegen/ptx/gen.h"

static void sizes_of(Body *b, const IrInst *inst, LLVMValueRef *sizes) {
    for (uint32_t d = 0; d < (uint32_t)inst->imm; d++) sizes[d] = ptx_scalar(b, inst->operands[d]);
}

/* The body at the place of NEST; what it yields goes to OUT. */
static void run_body(Body *b, const IrInst *inst, const Nest *nest, Val *out) {
    const IrRegion *body = inst->regions[0];
    for (uint32_t d = 0; d < nest->n; d++) ptx_set_scalar(b, body->params[d], nest->i[d]);
    ptx_instructions(b, body);
    if (!*b->g->error) ptx_yields(b, body, 0, out);
}

void ptx_build(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    uint32_t rank = (uint32_t)inst->imm, inner = rank;
    LLVMValueRef dims[IR_MAX_RANK];
    Val *outs = ARENA_ARRAY(g->arena, Val, inst->nresults + 1);
    Val *parts = ARENA_ARRAY(g->arena, Val, inst->nresults + 1);
    sizes_of(b, inst, dims);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        uint32_t own = inst->nints ? (uint32_t)inst->ints[r] : 0;
        for (uint32_t k = 0; k < own; k++) dims[rank + k] = ptx_scalar(b, inst->operands[inner++]);
        outs[r] = ptx_new_array(g, inst->results[r]->type, dims);
    }
    Nest nest;
    Scope scope;
    ptx_nest_open(g, &nest, rank, dims);
    ptx_scope_open(g, &scope);
    run_body(b, inst, &nest, parts);
    if (*g->error) return;
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrType type = inst->results[r]->type;
        const IrValue *part = ir_resolve(inst->regions[0]->last->operands[r]);
        LLVMValueRef to = ptx_address(g, &outs[r], type, rank, nest.i);
        if (part->type->kind == IR_T_SCALAR) ptx_store(g, type->scalar, parts[r].at, to);
        else ptx_copy(g, type->scalar, to, parts[r].at, ptx_count(g, &parts[r], part->type));
    }
    ptx_scope_close(g);
    ptx_nest_close(g, &nest);
    for (uint32_t r = 0; r < inst->nresults; r++) b->vals[inst->results[r]->id] = outs[r];
}

/* ---- reductions ---- */

static LLVMValueRef variable(Ptx *g, IrScalar scalar, LLVMValueRef first) {
    LLVMValueRef place = ptx_alloca(g, emit_memory_type(&g->e, scalar), "");
    ptx_store(g, scalar, first, place);
    return place;
}

/* Is X better than BEST?  A NaN is better than any number; the first of equals stays. */
static LLVMValueRef is_better(Ptx *g, bool less, IrScalar scalar, LLVMValueRef x,
                              LLVMValueRef best) {
    LLVMBuilderRef b = g->e.b;
    if (ir_scalar_float(scalar)) {
        if (LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMIntegerTypeKind)
            ptx_refuse(g, "the place of the best of half floats");
        if (*g->error) return LLVMGetUndef(g->e.i1);
        LLVMValueRef better = LLVMBuildFCmp(b, less ? LLVMRealULT : LLVMRealUGT, x, best, "");
        return LLVMBuildAnd(b, better, LLVMBuildFCmp(b, LLVMRealORD, best, best, ""), "");
    }
    if (ir_scalar_signed(scalar))
        return LLVMBuildICmp(b, less ? LLVMIntSLT : LLVMIntSGT, x, best, "");
    return LLVMBuildICmp(b, less ? LLVMIntULT : LLVMIntUGT, x, best, "");
}

static void reduce_to_place(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    IrScalar scalar = ir_resolve(inst->regions[0]->last->operands[0])->type->scalar;
    LLVMValueRef seen = variable(g, IR_I64, gen_int(e, 0)), sizes[IR_MAX_RANK];
    LLVMValueRef best = variable(g, scalar, emit_zero(e, scalar)),
                 place = variable(g, IR_I64, gen_int(e, 0));
    Val value;
    Nest nest;
    Scope scope;
    sizes_of(b, inst, sizes);
    ptx_nest_open(g, &nest, (uint32_t)inst->imm, sizes);
    ptx_scope_open(g, &scope);
    run_body(b, inst, &nest, &value);
    if (*g->error) return;
    LLVMValueRef count = ptx_load(g, IR_I64, seen), old = ptx_load(g, scalar, best);
    LLVMValueRef take =
        LLVMBuildOr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, count, gen_int(e, 0), ""),
                    is_better(g, inst->flags == IR_ARGMIN, scalar, value.at, old), "");
    ptx_store(g, scalar, LLVMBuildSelect(e->b, take, value.at, old, ""), best);
    ptx_store(g, IR_I64, LLVMBuildSelect(e->b, take, count, ptx_load(g, IR_I64, place), ""), place);
    ptx_store(g, IR_I64, LLVMBuildAdd(e->b, count, gen_int(e, 1), ""), seen);
    ptx_scope_close(g);
    ptx_nest_close(g, &nest);
    ptx_set_scalar(b, inst->results[0], ptx_load(g, IR_I64, place));
}

/* Combines what is at TO with VALUE, of TYPE, element by element. */
static void combine(Ptx *g, IrReduce kind, IrType type, const Val *total, const Val *value) {
    IrScalar scalar = type->scalar;
    LLVMValueRef to = total->at, with = value->at, count;
    Nest nest;
    if (type->kind == IR_T_ARRAY) {
        count = ptx_count(g, total, type);
        ptx_nest_open(g, &nest, 1, &count);
        to = ptx_element(g, scalar, to, nest.i[0]);
        with = ptx_load(g, scalar, ptx_element(g, scalar, with, nest.i[0]));
    }
    with = emit_widened(&g->e, with, scalar);
    ptx_store(g, scalar, emit_combine(&g->e, kind, scalar, ptx_load(g, scalar, to), with), to);
    if (type->kind == IR_T_ARRAY) ptx_nest_close(g, &nest);
}

void ptx_reduce(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    uint32_t rank = (uint32_t)inst->imm, n = inst->nresults;
    if (inst->flags >= IR_ARGMIN) {
        reduce_to_place(b, inst);
        return;
    }
    Val *totals = ARENA_ARRAY(g->arena, Val, n + 1), *values = ARENA_ARRAY(g->arena, Val, n + 1);
    LLVMValueRef sizes[IR_MAX_RANK];
    for (uint32_t r = 0; r < n; r++) {
        IrType type = inst->results[r]->type;
        if (type->kind == IR_T_ARRAY) totals[r] = ptx_base(b, inst, rank + r);
        else totals[r].at = variable(g, type->scalar, ptx_scalar(b, inst->operands[rank + r]));
    }
    Nest nest;
    Scope scope;
    sizes_of(b, inst, sizes);
    ptx_nest_open(g, &nest, rank, sizes);
    ptx_scope_open(g, &scope);
    run_body(b, inst, &nest, values);
    if (*g->error) return;
    for (uint32_t r = 0; r < n; r++)
        combine(g, (IrReduce)inst->flags, inst->results[r]->type, &totals[r], &values[r]);
    ptx_scope_close(g);
    ptx_nest_close(g, &nest);
    for (uint32_t r = 0; r < n; r++) {
        IrType type = inst->results[r]->type;
        if (type->kind == IR_T_ARRAY) b->vals[inst->results[r]->id] = ptx_written(&totals[r]);
        else ptx_set_scalar(b, inst->results[r], ptx_load(g, type->scalar, totals[r].at));
    }
}

/* ---- products ---- */

typedef struct Factor {
    Val val;
    IrType type;
    bool turned;
} Factor;

static Factor factor(Body *b, const IrInst *inst, uint32_t k, bool turned) {
    const IrValue *value = ir_resolve(inst->operands[k]);
    return (Factor){*ptx_current(b, value), value->type, turned};
}

/* Element (OUTER, L), L being what is summed over; OUTER NULL: of a vector. */
static LLVMValueRef element(Ptx *g, const Factor *x, LLVMValueRef outer, LLVMValueRef l,
                            bool l_first) {
    LLVMValueRef i[2] = {l, outer};
    if (outer && !l_first) i[0] = outer, i[1] = l;
    return ptx_load(g, x->type->scalar, ptx_address(g, &x->val, x->type, outer ? 2 : 1, i));
}

void ptx_contract(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    IrType type = inst->results[0]->type;
    IrScalar scalar = type->scalar;
    Factor x = factor(b, inst, 0, inst->flags & IR_CONTRACT_TA),
           y = factor(b, inst, 1, inst->flags & IR_CONTRACT_TB);
    bool rows = x.type->rank == 2, columns = y.type->rank == 2;
    LLVMValueRef sizes[2], inner = x.val.dims[rows && !x.turned];
    uint32_t n = 0;
    if (rows) sizes[n++] = x.val.dims[x.turned];
    if (columns) sizes[n++] = y.val.dims[!y.turned];
    Val out = {0};
    if (n) out = ptx_new_array(g, type, sizes);
    Nest nest, sum;
    ptx_nest_open(g, &nest, n, sizes);
    LLVMValueRef total = variable(g, scalar, emit_zero(e, scalar));
    ptx_nest_open(g, &sum, 1, &inner);
    LLVMValueRef a = element(g, &x, rows ? nest.i[0] : NULL, sum.i[0], x.turned);
    LLVMValueRef c = element(g, &y, columns ? nest.i[n - 1] : NULL, sum.i[0], !y.turned);
    a = emit_widened(e, a, scalar);
    c = emit_widened(e, c, scalar);
    LLVMValueRef old = ptx_load(g, scalar, total);
    if (LLVMGetTypeKind(LLVMTypeOf(a)) != LLVMIntegerTypeKind) a = emit_muladd(e, a, c, old);
    else a = emit_combine(e, IR_SUM, scalar, old, emit_combine(e, IR_PROD, scalar, a, c));
    ptx_store(g, scalar, a, total);
    ptx_nest_close(g, &sum);
    LLVMValueRef value = ptx_load(g, scalar, total);
    if (n) ptx_store(g, scalar, value, ptx_address(g, &out, type, n, nest.i));
    ptx_nest_close(g, &nest);
    if (n) b->vals[inst->results[0]->id] = out;
    else ptx_set_scalar(b, inst->results[0], value);
}
