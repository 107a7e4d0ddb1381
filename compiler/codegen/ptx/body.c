/* Instructions of kernels.  Calls are put in place. */
#include "codegen/ptx/gen.h"

#include "base/fatal.h"
#include "codegen/ptx/regions.h"

Val *ptx_get(Body *b, const IrValue *value) {
    return &b->vals[ir_resolve((IrValue *)value)->id];
}

LLVMValueRef ptx_scalar(Body *b, const IrValue *value) {
    return ptx_get(b, value)->at;
}

void ptx_set_scalar(Body *b, const IrValue *value, LLVMValueRef at) {
    b->vals[value->id] = (Val){.at = at};
}

const Val *ptx_current(Body *b, const IrValue *value) {
    Val *val = ptx_get(b, value);
    if (val->root && val->version != val->root->version)
        ptx_refuse(b->g, "an array is read after it was changed, which takes a copy");
    return val;
}

Val ptx_written(const Val *val) {
    Val next = *val;
    next.version = ++val->root->version;
    val->root->written = true;
    return next;
}

void ptx_yields(Body *b, const IrRegion *region, uint32_t from, Val *out) {
    for (uint32_t k = from; k < region->last->noperands; k++) {
        const IrValue *value = ir_resolve(region->last->operands[k]);
        out[k - from] =
            value->type->kind == IR_T_ARRAY ? *ptx_current(b, value) : *ptx_get(b, value);
    }
}

const MemInst *ptx_plan(const Body *b, const IrInst *inst) {
    return map_getp(&b->plan->insts, inst);
}

LLVMBasicBlockRef ptx_block(Ptx *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->e.context, g->entry, name);
}

/* ---- checks ---- */

/* The number of the place at hand among those whose checks may fail; a place has one. */
static LLVMValueRef number_check(Ptx *g) {
    DeviceCode *code = g->code;
    DeviceSite *last = code->sites.len ? &vec_last(&code->sites) : NULL;
    if (!last || last->pos != g->pos || last->name != g->name)
        vec_push(&code->sites, ((DeviceSite){g->name, g->pos}));
    return emit_int32(&g->e, (int32_t)code->sites.len);
}

static void open_trap(Ptx *g) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->e.b);
    g->trap = ptx_block(g, "trap");
    if (!g->code) return;
    LLVMPositionBuilderAtEnd(g->e.b, g->trap);
    g->failure = LLVMBuildPhi(g->e.b, g->e.i32, "");
    LLVMPositionBuilderAtEnd(g->e.b, here);
}

/* What failed checks have come to; the builder then stands behind it. */
static void close_trap(Ptx *g, bool left) {
    Emit *e = &g->e;
    LLVMPositionBuilderAtEnd(e->b, g->trap);
    for (uint32_t k = 0; k < g->tapes.len && left; k++) ptx_tape_free(g, g->tapes.at[k]);
    LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpXchg, LLVMGetParam(g->entry, 0), g->failure,
                       LLVMAtomicOrderingMonotonic, false);
    g->trap = NULL;
    g->checks = true;
}

void ptx_finish_checks(Ptx *g) {
    if (!g->trap) return;
    close_trap(g, true);
    LLVMBuildRetVoid(g->e.b);
}

void ptx_meet(Ptx *g, uint32_t n, LLVMValueRef *values, bool left) {
    Emit *e = &g->e;
    if (!g->trap || !g->code) return; /* what is exported stops the grid */
    LLVMBasicBlockRef meet = ptx_block(g, "meet"), here = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, meet);
    close_trap(g, left);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, meet);
    LLVMPositionBuilderAtEnd(e->b, meet);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef phi = LLVMBuildPhi(e->b, LLVMTypeOf(values[i]), "");
        LLVMValueRef none = LLVMConstNull(LLVMTypeOf(values[i]));
        LLVMAddIncoming(phi, &values[i], &here, 1);
        LLVMAddIncoming(phi, &none, &from, 1);
        values[i] = phi;
    }
}

/* A program's kernel goes on to be launched: the heap has to get back what the invocation holds. */
void ptx_check(Ptx *g, LLVMValueRef holds) {
    Emit *e = &g->e;
    if (!g->trap) open_trap(g);
    g->unbounded = true;
    LLVMBasicBlockRef good = ptx_block(g, ""), bad = g->trap, here = LLVMGetInsertBlock(e->b);
    if (g->code && ptx_holds_blocks(g)) {
        bad = ptx_block(g, "fails");
        LLVMPositionBuilderAtEnd(e->b, bad);
        ptx_drop_blocks(g);
        LLVMBuildBr(e->b, g->trap);
        LLVMPositionBuilderAtEnd(e->b, here);
    }
    LLVMBuildCondBr(e->b, holds, good, bad);
    if (g->code) {
        LLVMValueRef number = number_check(g);
        LLVMAddIncoming(g->failure, &number, bad == g->trap ? &here : &bad, 1);
    }
    LLVMPositionBuilderAtEnd(e->b, good);
}

static void gen_check_index(Body *b, const IrInst *inst) {
    LLVMValueRef i = ptx_scalar(b, inst->operands[0]), n = ptx_scalar(b, inst->operands[1]);
    bool unbounded = b->g->unbounded || !ptx_is_bounded(b, inst);
    ptx_check(b->g, LLVMBuildICmp(b->g->e.b, LLVMIntULT, i, n, ""));
    b->g->unbounded = unbounded;
}

/* ---- calls ---- */

static void gen_call(Body *b, const IrInst *inst) {
    Val *args = ARENA_ARRAY(b->g->arena, Val, inst->noperands + 1);
    Val *results = ARENA_ARRAY(b->g->arena, Val, inst->nresults + 1);
    for (uint32_t k = 0; k < inst->noperands; k++)
        args[k] = ir_resolve(inst->operands[k])->type->kind == IR_T_ARRAY
                      ? *ptx_current(b, inst->operands[k])
                      : *ptx_get(b, inst->operands[k]);
    ptx_inline(b->g, b, inst->func, args, results);
    for (uint32_t k = 0; k < inst->nresults; k++) b->vals[inst->results[k]->id] = results[k];
}

/* ---- all ---- */

static void gen_scalar_inst(Body *b, const IrInst *inst) {
    LLVMValueRef args[IR_MAX_LANES];
    CHECK_INTERNAL(inst->noperands <= IR_MAX_LANES);
    for (uint32_t k = 0; k < inst->noperands; k++) args[k] = ptx_scalar(b, inst->operands[k]);
    ptx_set_scalar(b, inst->results[0], emit_scalar(&b->g->e, inst, args));
}

static void gen_inst(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    switch ((int)inst->op) {
    case IR_CONST: ptx_set_scalar(b, inst->results[0], emit_const(&g->e, inst)); return;
    case IR_STRING: ptx_set_scalar(b, inst->results[0], emit_null(&g->e)); return;
    case IR_IF: ptx_if(b, inst); return;
    case IR_LOOP: ptx_loop(b, inst); return;
    case IR_CALL: gen_call(b, inst); return;
    case IR_DIM:
        ptx_set_scalar(b, inst->results[0], ptx_get(b, inst->operands[0])->dims[inst->imm]);
        return;
    case IR_BUILD: ptx_build(b, inst); return;
    case IR_REDUCE: ptx_reduce(b, inst); return;
    case IR_INDEX: ptx_index(b, inst); return;
    case IR_UPDATE: ptx_update(b, inst); return;
    case IR_SLICE: ptx_slice(b, inst); return;
    case IR_ASSIGN: ptx_assign(b, inst); return;
    case IR_TRANSPOSE: ptx_transpose(b, inst); return;
    case IR_RESHAPE: ptx_reshape(b, inst); return;
    case IR_PACK: ptx_pack(b, inst); return;
    case IR_CONCAT: ptx_concat(b, inst); return;
    case IR_ARGSORT: ptx_argsort(b, inst); return;
    case IR_CONTRACT: ptx_contract(b, inst); return;
    case IR_ASSUME:
    case IR_STOP: b->vals[inst->results[0]->id] = *ptx_get(b, inst->operands[0]); return;
    case IR_CHECK: ptx_check(g, ptx_scalar(b, inst->operands[0])); return;
    case IR_CHECK_INDEX: gen_check_index(b, inst); return;
    case IR_FAIL: ptx_check(g, LLVMConstInt(g->e.i1, 0, false)); return;
    case IR_RUNTIME: ptx_runtime(b, inst); return;
    case IR_WITH_ACC: ptx_with_acc(b, inst); return;
    case IR_ACC_ADD: ptx_acc_add(b, inst); return;
    case IR_TAPE_NEW: ptx_tape_new(b, inst); return;
    case IR_TAPE_PUSH: ptx_tape_push(b, inst); return;
    case IR_TAPE_POP: ptx_tape_pop(b, inst); return;
    case IR_TAPE_EMPTY: ptx_tape_empty(b, inst); return;
    case IR_TAPE_SUM: ptx_refuse(g, "a sum of tapes"); return;
    default: gen_scalar_inst(b, inst);
    }
}

void ptx_instructions(Body *b, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst && inst != region->last; inst = inst->next) {
        if (*b->g->error) return;
        if (inst->pos) b->g->pos = inst->pos;
        gen_inst(b, inst);
    }
}

void ptx_region(Ptx *g, const IrRegion *region, Val *vals, Val *results) {
    Body b = {g, NULL, region->func, &g->plan->funcs[region->func->id], vals};
    if (!g->scope) g->scope = &g->kernel;
    ptx_instructions(&b, region);
    if (!*g->error) ptx_yields(&b, region, 0, results);
}

void ptx_some(Ptx *g, const IrRegion *region, Val *vals,
              bool (*wanted)(const IrInst *inst, const void *data), const void *data) {
    Body b = {g, NULL, region->func, &g->plan->funcs[region->func->id], vals};
    for (const IrInst *inst = region->first; inst != region->last && !*g->error;
         inst = inst->next) {
        if (!wanted(inst, data)) continue;
        if (inst->pos) g->pos = inst->pos;
        gen_inst(&b, inst);
    }
}

void ptx_inline(Ptx *g, const Body *caller, const IrFunc *func, const Val *args, Val *results) {
    for (const Body *b = caller; b; b = b->caller)
        if (b->func == func) ptx_refuse(g, "a function that calls itself");
    if (!func->body) ptx_refuse(g, "a call of the C function %s", func->symbol);
    if (*g->error) return;
    Body b = {g, caller, func, &g->plan->funcs[func->id],
              ARENA_ARRAY(g->arena, Val, func->nvalues + 1)};
    if (!g->scope) g->scope = &g->kernel;
    for (uint32_t k = 0; k < func->nparams; k++) b.vals[func->body->params[k]->id] = args[k];
    ptx_instructions(&b, func->body);
    if (*g->error) return;
    ptx_yields(&b, func->body, 0, results);
}

void ptx_leave(Ptx *g) {
    if (g->scope) ptx_scope_close(g);
    for (uint32_t k = 0; k < g->tapes.len; k++) ptx_tape_free(g, g->tapes.at[k]);
    if (!g->code) vec_free(&g->tapes);
}
