/* Functions: signatures, prologue, the walk over instructions, results. */
#include "codegen/cpu/gen.h"

#include <string.h>

#include "base/fatal.h"
#include "codegen/common/compat.h"
#include "codegen/cpu/device.h"
#include "runtime/layout.h"

/* ---- signatures ---- */

typedef VEC(LLVMTypeRef) Types;

static void push_open_dims(const Emit *e, IrType type, Types *types) {
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0) vec_push(types, e->i64);
}

static void push_param(const Emit *e, IrType type, Types *types) {
    switch (type->kind) {
    case IR_T_SCALAR: vec_push(types, emit_type(e, type->scalar)); break;
    case IR_T_ARRAY:
        vec_push(types, e->ptr);
        if (!mem_is_small(type)) vec_push(types, e->ptr);
        push_open_dims(e, type, types);
        break;
    case IR_T_STR:
        vec_push(types, e->ptr);
        vec_push(types, e->ptr);
        vec_push(types, e->i64);
        break;
    case IR_T_ACC:
        vec_push(types, e->ptr);
        push_open_dims(e, type, types);
        break;
    case IR_T_TAPE:
        for (int i = 0; i < 4; i++) vec_push(types, e->ptr);
        break;
    }
}

/* A C function: one argument for each parameter, a scalar result by value. */
static LLVMTypeRef extern_type(const Emit *e, const IrFunc *func) {
    Types types = {0};
    for (uint32_t i = 0; i < func->nparams; i++) {
        IrType type = func->params[i];
        vec_push(&types, type->kind == IR_T_SCALAR ? emit_memory_type(e, type->scalar) : e->ptr);
    }
    bool value = func->nresults > 0 && func->results[0]->kind == IR_T_SCALAR;
    LLVMTypeRef result = value ? emit_memory_type(e, func->results[0]->scalar) : e->none;
    LLVMTypeRef type = LLVMFunctionType(result, types.at, types.len, false);
    vec_free(&types);
    return type;
}

LLVMTypeRef gen_func_type(Gen *g, const IrFunc *func) {
    const Emit *e = &g->e;
    Types types = {0};
    if (func->flags & IR_FUNC_EXTERN) return extern_type(e, func);
    vec_push(&types, e->ptr);
    for (uint32_t i = 0; i < func->nparams; i++) push_param(e, func->params[i], &types);
    for (uint32_t i = 0; i < func->nresults; i++) vec_push(&types, e->ptr);
    LLVMTypeRef type = LLVMFunctionType(e->i32, types.at, types.len, false);
    vec_free(&types);
    return type;
}

static void take_open_dims(Fn *f, IrType type, unsigned *at, Val *val) {
    val->dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, type->rank);
    for (uint32_t k = 0; k < type->rank; k++)
        val->dims[k] =
            type->dims[k] >= 0 ? gen_int(f->e, type->dims[k]) : LLVMGetParam(f->llvm, (*at)++);
}

/* Borrowed elements are never written to while the function runs, by anyone. */
static void describe_borrowed(Fn *f, unsigned at, IrType type) {
    gen_attribute(f->g, f->llvm, at + 1, "noalias", 0);
    gen_attribute(f->g, f->llvm, at + 1, "readonly", 0);
    LLVMAddAttributeAtIndex(f->llvm, at + 1,
                            LLVMCreateEnumAttribute(f->e->context,
                                                    LLVMGetEnumAttributeKindForName("align", 5),
                                                    ir_scalar_align(type->scalar)));
}

static void take_param(Fn *f, IrValue *param, unsigned *at) {
    IrType type = param->type;
    Val val = {.block = emit_null(f->e)};
    unsigned first = *at;
    val.at = LLVMGetParam(f->llvm, (*at)++);
    switch (type->kind) {
    case IR_T_SCALAR: break;
    case IR_T_ARRAY:
        if (!mem_is_small(type)) val.block = LLVMGetParam(f->llvm, (*at)++);
        /* Where launches change what is where, elements do change. */
        if (!f->plan->owned_param[param->index] && !f->device) describe_borrowed(f, first, type);
        take_open_dims(f, type, at, &val);
        break;
    case IR_T_ACC: take_open_dims(f, type, at, &val); break;
    case IR_T_STR:
        val.block = LLVMGetParam(f->llvm, (*at)++);
        val.dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, 1);
        val.dims[0] = LLVMGetParam(f->llvm, (*at)++);
        break;
    case IR_T_TAPE:
        val.dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, 3);
        for (int i = 0; i < 3; i++) val.dims[i] = LLVMGetParam(f->llvm, (*at)++);
        break;
    }
    if (param->name && type->kind == IR_T_SCALAR)
        LLVMSetValueName2(val.at, param->name, strlen(param->name));
    gen_set(f, param, val);
}

/* ---- values ---- */

Val *gen_val(Fn *f, const IrValue *value) {
    Val *val = &f->vals[ir_resolve((IrValue *)value)->id];
    CHECK_INTERNAL(val->at != NULL);
    return val;
}

LLVMValueRef gen_scalar(Fn *f, const IrValue *value) {
    return gen_val(f, value)->at;
}

void gen_set(Fn *f, const IrValue *value, Val val) {
    f->vals[value->id] = val;
}

void gen_set_scalar(Fn *f, const IrValue *value, LLVMValueRef scalar) {
    f->vals[value->id] = (Val){.at = scalar};
}

const MemInst *gen_plan(const Fn *f, const IrInst *inst) {
    return map_getp(&f->plan->insts, inst);
}

LLVMValueRef gen_alloca(Fn *f, LLVMTypeRef type, LLVMValueRef count, unsigned align,
                        const char *name) {
    Emit *e = f->e;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMValueRef last = LLVMGetBasicBlockTerminator(f->allocas);
    if (last) LLVMPositionBuilderBefore(e->b, last);
    else LLVMPositionBuilderAtEnd(e->b, f->allocas);
    LLVMValueRef slot =
        count ? LLVMBuildArrayAlloca(e->b, type, count, name) : LLVMBuildAlloca(e->b, type, name);
    LLVMSetAlignment(slot, align);
    LLVMPositionBuilderAtEnd(e->b, here);
    return slot;
}

/* ---- instructions ---- */

static void gen_scalar_inst(Fn *f, const IrInst *inst) {
    LLVMValueRef args[IR_MAX_LANES];
    CHECK_INTERNAL(inst->noperands <= IR_MAX_LANES);
    for (uint32_t k = 0; k < inst->noperands; k++) args[k] = gen_scalar(f, inst->operands[k]);
    gen_set_scalar(f, inst->results[0], emit_scalar(f->e, inst, args));
}

/* The INDEX that LANE reads from, with nothing in between that could write, or NULL. */
static const IrInst *read_before(const IrInst *lane) {
    const IrInst *read = ir_resolve(lane->operands[0])->def;
    if (!read || read->op != IR_INDEX || read->parent != lane->parent) return NULL;
    for (const IrInst *inst = read->next; inst != lane; inst = inst->next)
        if (!inst || (inst->op > IR_MATH && inst->op != IR_INDEX && inst->op != IR_DIM))
            return NULL;
    return read;
}

/* Of an element of an array, only the lane is loaded. */
static void gen_lane(Fn *f, const IrInst *inst) {
    const IrInst *read = read_before(inst);
    LLVMValueRef at[IR_MAX_RANK];
    if (!read) {
        gen_scalar_inst(f, inst);
        return;
    }
    const IrValue *x = ir_resolve(read->operands[0]);
    const Val *val = gen_val(f, x);
    IrScalar scalar = x->type->scalar;
    for (uint32_t k = 0; k < x->type->rank; k++) at[k] = gen_scalar(f, read->operands[1 + k]);
    LLVMValueRef flat = gen_flat(f, val, x->type, x->type->rank, at);
    flat = emit_size_mul(f->e, flat, gen_int(f->e, ir_scalar_lanes(scalar)));
    flat = emit_size_add(f->e, flat, gen_scalar(f, inst->operands[1]));
    gen_set_scalar(f, inst->results[0], gen_load(f, val, ir_scalar_base(scalar), flat));
}

static void gen_inst(Fn *f, const IrInst *inst) {
    switch (inst->op) {
    case IR_CONST: gen_set_scalar(f, inst->results[0], emit_const(f->e, inst)); break;
    case IR_STRING: gen_string(f, inst); break;
    case IR_IF: gen_if(f, inst); break;
    case IR_LOOP: gen_loop(f, inst); break;
    case IR_CALL: gen_call(f, inst); break;
    case IR_DIM: gen_dim(f, inst); break;
    case IR_BUILD: gen_build(f, inst); break;
    case IR_REDUCE: gen_reduce(f, inst); break;
    case IR_INDEX: gen_index(f, inst); break;
    case IR_UPDATE: gen_update(f, inst); break;
    case IR_SLICE: gen_slice(f, inst); break;
    case IR_ASSIGN: gen_assign(f, inst); break;
    case IR_TRANSPOSE: gen_transpose(f, inst); break;
    case IR_RESHAPE:
    case IR_ASSUME: gen_reshape(f, inst); break;
    case IR_PACK: gen_pack(f, inst); break;
    case IR_CONCAT: gen_concat(f, inst); break;
    case IR_ARGSORT: gen_argsort(f, inst); break;
    case IR_CONTRACT: gen_contract(f, inst); break;
    case IR_STOP: gen_set(f, inst->results[0], *gen_val(f, inst->operands[0])); break;
    case IR_WITH_ACC: gen_with_acc(f, inst); break;
    case IR_ACC_ADD: gen_acc_add(f, inst); break;
    case IR_TAPE_NEW: gen_tape_new(f, inst); break;
    case IR_TAPE_PUSH: gen_tape_push(f, inst); break;
    case IR_TAPE_POP: gen_tape_pop(f, inst); break;
    case IR_TAPE_EMPTY: gen_tape_empty(f, inst); break;
    case IR_TAPE_SUM: gen_tape_sum(f, inst); break;
    case IR_CHECK: gen_check(f, inst); break;
    case IR_CHECK_INDEX: gen_check_index(f, inst); break;
    case IR_FAIL: gen_fail(f, inst); break;
    case IR_RUNTIME: gen_runtime_inst(f, inst); break;
    case IR_LANE: gen_lane(f, inst); break;
    case IR_YIELD:
    case IR_OP_COUNT: UNREACHABLE("operation %d in a body", (int)inst->op);
    case IR_NEG:
    case IR_ABS:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_MOD:
    case IR_REM:
    case IR_POWI:
    case IR_MIN:
    case IR_MAX:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_NOT:
    case IR_SHL:
    case IR_SHR:
    case IR_MULHI:
    case IR_MULADD:
    case IR_SELECT:
    case IR_CAST:
    case IR_LANES:
    case IR_LANE_SUM:
    case IR_MATH: gen_scalar_inst(f, inst); break;
    }
}

/* What launches nothing finds all elements on the CPU. */
static void gen_inst_there(Fn *f, const IrInst *inst) {
    if (map_hasp(&f->done, inst)) return;
    if (!device_before(f, inst)) {
        gen_inst(f, inst);
        return;
    }
    f->device = false;
    gen_inst(f, inst);
    f->device = true;
}

void gen_dead(Fn *f, const IrInst *inst) {
    const MemInst *plan = gen_plan(f, inst);
    for (uint32_t i = 0; i < plan->ndead; i++)
        gen_release(f, gen_val(f, plan->dead[i]), plan->dead[i]->type);
}

const IrInst *gen_region(Fn *f, const IrRegion *region) {
    const MemList *entry = map_getp(&f->plan->entries, region);
    const IrInst *inst = region->first;
    for (uint32_t i = 0; entry && i < entry->n; i++)
        gen_release(f, gen_val(f, entry->at[i]), entry->at[i]->type);
    for (; inst->op != IR_YIELD; inst = inst->next) {
        f->pos = inst->pos;
        debug_position(f->g->debug, f->e->b, f->ir, inst->pos);
        gen_inst_there(f, inst);
        gen_dead(f, inst);
    }
    debug_position(f->g->debug, f->e->b, f->ir, inst->pos);
    return inst;
}

/* ---- results ---- */

static void store_word(Fn *f, LLVMValueRef to, uint32_t word, LLVMValueRef value) {
    LLVMSetAlignment(LLVMBuildStore(f->e->b, value, emit_offset(f->e, to, 8 * (int64_t)word)), 8);
}

static void return_value(Fn *f, const IrInst *yield, uint32_t i, LLVMValueRef to) {
    IrType type = f->ir->results[i];
    Emit *e = f->e;
    uint32_t word = 2;
    if (type->kind == IR_T_SCALAR) {
        emit_store(e, type->scalar, gen_scalar(f, yield->operands[i]), to);
        return;
    }
    if (mem_is_small(type)) {
        gen_hand_into(f, yield, i, to);
        return;
    }
    Val val = gen_hand_over(f, yield, i, type);
    store_word(f, to, 0, val.at);
    if (type->kind == IR_T_TAPE) {
        for (uint32_t k = 0; k < 3; k++) store_word(f, to, 1 + k, val.dims[k]);
        return;
    }
    store_word(f, to, 1, val.block);
    if (type->kind == IR_T_STR) store_word(f, to, word, val.dims[0]);
    for (uint32_t k = 0; type->kind == IR_T_ARRAY && k < type->rank; k++)
        if (type->dims[k] < 0) store_word(f, to, word++, val.dims[k]);
}

static void return_all(Fn *f, const IrInst *yield) {
    unsigned first = LLVMCountParams(f->llvm) - f->ir->nresults;
    for (uint32_t i = 0; i < f->ir->nresults; i++)
        return_value(f, yield, i, LLVMGetParam(f->llvm, first + i));
    gen_dead(f, yield);
    LLVMBuildRet(f->e->b, emit_int32(f->e, 0));
}

static void describe_results(Fn *f) {
    unsigned n = LLVMCountParams(f->llvm), first = n - f->ir->nresults;
    for (unsigned i = first; i < n; i++) {
        gen_attribute(f->g, f->llvm, i + 1, "noalias", 0);
        LLVMAddAttributeAtIndex(f->llvm, i + 1, compat_nocapture(f->e->context));
    }
}

static bool has_place(const Gen *g, const IrFunc *func, uint32_t i) {
    return g->places[func->id] && func->results[i]->kind == IR_T_ARRAY &&
           !mem_is_small(func->results[i]);
}

void gen_no_place(Fn *f, const IrFunc *func, uint32_t result, LLVMValueRef memory) {
    if (has_place(f->g, func, result)) store_word(f, memory, 0, emit_null(f->e));
}

/* Results are made where the caller would like to have them. */
static void want_results(Fn *f) {
    unsigned first = LLVMCountParams(f->llvm) - f->ir->nresults;
    for (uint32_t i = 0; i < f->ir->nresults; i++) {
        if (!has_place(f->g, f->ir, i)) continue;
        LLVMValueRef place =
            LLVMBuildLoad2(f->e->b, f->e->ptr, LLVMGetParam(f->llvm, first + i), "");
        gen_want(f, f->ir->body->last, i, (Dest){.at = place, .maybe = true});
    }
}

/* Recursion without an end is an error, not a crash.  See ADL_STACK_NEAR. */
static void check_stack(Fn *f) {
    Emit *e = f->e;
    LLVMValueRef here = emit_intrinsic(e, "llvm.stacksave", e->ptr, NULL, 0);
    LLVMValueRef known =
        LLVMBuildLoad2(e->b, e->i64, emit_offset(e, f->context, offsetof(AdlContext, stack)), "");
    LLVMValueRef below = LLVMBuildSub(e->b, known, LLVMBuildPtrToInt(e->b, here, e->i64, ""), "");
    LLVMValueRef far = LLVMBuildICmp(e->b, LLVMIntUGE, below, gen_int(e, ADL_STACK_NEAR), "");
    LLVMBasicBlockRef ask = gen_block(f, "stack"), done = gen_block(f, "");
    gen_unlikely(f, LLVMBuildCondBr(e->b, far, ask, done));
    LLVMPositionBuilderAtEnd(e->b, ask);
    LLVMValueRef args[] = {f->context, gen_site(f->g, f->ir, 0)};
    gen_check_status(f, gen_runtime(f->g, "adl__stack_check", args, 2));
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

void gen_func(Gen *g, const IrFunc *func) {
    Fn f = {.g = g, .e = &g->e, .ir = func, .plan = &g->plan->funcs[func->id]};
    unsigned at = 1;
    f.llvm = g->funcs[func->id];
    f.device = device_launches(g, func);
    f.context = LLVMGetParam(f.llvm, 0);
    f.vals = ARENA_ARRAY(g->plan->arena, Val, func->nvalues);
    f.dests = ARENA_ARRAY(g->plan->arena, Dest, func->nvalues);
    f.uses = ir_count_uses(func, g->plan->arena);
    debug_function(g->debug, f.llvm, func);
    debug_position(g->debug, g->e.b, func, 0);
    f.allocas = gen_block(&f, "entry");
    LLVMBasicBlockRef body = gen_block(&f, "body");
    LLVMPositionBuilderAtEnd(g->e.b, body);
    for (uint32_t i = 0; i < func->nparams; i++) take_param(&f, func->body->params[i], &at);
    describe_results(&f);
    if (g->recursive[func->id]) check_stack(&f);
    want_results(&f);
    return_all(&f, gen_region(&f, func->body));
    LLVMPositionBuilderAtEnd(g->e.b, f.allocas);
    LLVMBuildBr(g->e.b, body);
    debug_nowhere(g->debug, g->e.b);
    vec_free(&f.groups);
    vec_free(&f.indices);
    map_free(&f.done);
    vec_free(&f.sum_buffers);
}
