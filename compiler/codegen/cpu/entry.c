/* Entries of uniform type, for tools that call functions in the process: see CodegenArray. */
#include "codegen/cpu/entry.h"

#include "base/fatal.h"
#include "codegen/cpu/device.h"

LLVMValueRef entry_begin(Gen *g, Fn *f, const char *name, LLVMTypeRef type, const IrFunc *func) {
    *f = (Fn){.g = g, .e = &g->e, .ir = func};
    f->llvm = LLVMAddFunction(g->e.module, name, type);
    gen_attribute(g, f->llvm, LLVMAttributeFunctionIndex, "nounwind", 0);
    debug_function(g->debug, f->llvm, func);
    debug_position(g->debug, g->e.b, func, 0);
    f->allocas = gen_block(f, "entry");
    LLVMPositionBuilderAtEnd(g->e.b, f->allocas);
    return f->llvm;
}

static void push_open_dims(IrType type, const Val *val, EntryArgs *args) {
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0) vec_push(args, val->dims[k]);
}

void entry_push_counted(const IrFunc *func, uint32_t k, const Val *val, EntryArgs *args) {
    IrType type = func->params[k];
    vec_push(args, val->at);
    switch (type->kind) {
    case IR_T_SCALAR: break;
    case IR_T_ARRAY:
        if (!mem_is_small(type)) vec_push(args, val->block);
        push_open_dims(type, val, args);
        break;
    case IR_T_ACC: push_open_dims(type, val, args); break;
    case IR_T_STR:
        vec_push(args, val->block);
        vec_push(args, val->dims[0]);
        break;
    case IR_T_TAPE:
        for (int i = 0; i < 3; i++) vec_push(args, val->dims[i]);
        break;
    }
}

void entry_push_arg(Fn *f, const IrFunc *func, uint32_t k, const Val *val, EntryArgs *args) {
    if (f->g->plan->funcs[func->id].owned_param[k]) gen_retain(f, val, func->params[k]);
    entry_push_counted(func, k, val, args);
}

LLVMValueRef entry_result_memory(Fn *f, const IrFunc *func, uint32_t i) {
    IrType type = func->results[i];
    const Emit *e = f->e;
    uint32_t words = type->kind == IR_T_TAPE ? 4 : type->kind == IR_T_STR ? 3 : 2;
    if (type->kind == IR_T_SCALAR)
        return gen_alloca(f, emit_memory_type(e, type->scalar), NULL, ir_scalar_align(type->scalar),
                          "result");
    if (mem_is_small(type)) return gen_slot(f, type).at;
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0) words++;
    LLVMValueRef memory = gen_alloca(f, LLVMArrayType2(e->i64, words), NULL, 8, "result");
    gen_no_place(f, func, i, memory);
    return memory;
}

LLVMValueRef entry_call(Fn *f, const IrFunc *func, const EntryArgs *args) {
    if (!f->g->funcs[func->id]) UNREACHABLE("an entry to %s, which has no body", func->name);
    return LLVMBuildCall2(f->e->b, f->g->func_types[func->id], f->g->funcs[func->id], args->at,
                          args->len, "");
}

Val entry_array(Fn *f, IrType type, LLVMValueRef data, LLVMValueRef block,
                LLVMValueRef const *dims) {
    return (Val){.at = data, .block = block, .dims = gen_dims(f, type, dims)};
}

/* ---- uniform entries ---- */

static LLVMValueRef word(Fn *f, LLVMTypeRef type, LLVMValueRef from, uint32_t k) {
    return LLVMBuildLoad2(f->e->b, type, emit_offset(f->e, from, 8 * (int64_t)k), "");
}

static void set_word(Fn *f, LLVMValueRef to, uint32_t k, LLVMValueRef value) {
    LLVMBuildStore(f->e->b, value, emit_offset(f->e, to, 8 * (int64_t)k));
}

static Val read_arg(Fn *f, IrType type, LLVMValueRef from) {
    Emit *e = f->e;
    Val val = {.block = emit_null(e)};
    LLVMValueRef *dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, IR_MAX_RANK);
    if (type->kind == IR_T_SCALAR) {
        LLVMValueRef load;
        val.at = emit_load(e, type->scalar, from, &load);
        return val;
    }
    val.at = word(f, e->ptr, from, 0);
    val.block = word(f, e->ptr, from, 1);
    val.dims = dims;
    if (type->kind == IR_T_TAPE) {
        dims[0] = val.block;
        dims[1] = word(f, e->ptr, from, 2);
        dims[2] = word(f, e->ptr, from, 3);
        return val;
    }
    uint32_t n = type->kind == IR_T_STR ? 1 : type->rank;
    for (uint32_t k = 0; k < n; k++)
        dims[k] = type->kind == IR_T_STR || type->dims[k] < 0 ? word(f, e->i64, from, 2 + k)
                                                              : gen_int(e, type->dims[k]);
    return val;
}

static void write_result(Fn *f, IrType type, LLVMValueRef memory, LLVMValueRef to) {
    Emit *e = f->e;
    Val val = gen_load_result(f, type, memory);
    if (type->kind == IR_T_SCALAR) {
        emit_store(e, type->scalar, val.at, to);
        return;
    }
    if (mem_is_small(type)) {
        Val block = gen_heap_array(f, type, val.dims);
        gen_copy(f, type->scalar, block.at, val.at, gen_count(f, &val, type));
        val = block;
    }
    if (type->kind == IR_T_ARRAY) device_ask(f, &val, false);
    set_word(f, to, 0, val.at);
    if (type->kind == IR_T_TAPE) {
        for (uint32_t k = 0; k < 3; k++) set_word(f, to, 1 + k, val.dims[k]);
        return;
    }
    set_word(f, to, 1, val.block);
    uint32_t n = type->kind == IR_T_STR ? 1 : type->rank;
    for (uint32_t k = 0; k < n; k++) set_word(f, to, 2 + k, val.dims[k]);
}

static LLVMTypeRef entry_type(const Emit *e) {
    LLVMTypeRef params[] = {e->ptr, e->ptr};
    return LLVMFunctionType(e->i32, params, 2, false);
}

LLVMValueRef gen_entry(Gen *g, const IrFunc *func, const char *name) {
    Fn f;
    EntryArgs args = {0};
    entry_begin(g, &f, name, entry_type(&g->e), func);
    f.context = LLVMGetParam(f.llvm, 0);
    f.device = device_launches(g, func);
    LLVMValueRef table = LLVMGetParam(f.llvm, 1);
    vec_push(&args, f.context);
    for (uint32_t k = 0; k < func->nparams; k++) {
        Val val = read_arg(&f, func->params[k], word(&f, g->e.ptr, table, k));
        entry_push_arg(&f, func, k, &val, &args);
    }
    uint32_t first = args.len;
    for (uint32_t i = 0; i < func->nresults; i++) vec_push(&args, entry_result_memory(&f, func, i));
    gen_check_status(&f, entry_call(&f, func, &args));
    for (uint32_t i = 0; i < func->nresults; i++)
        write_result(&f, func->results[i], args.at[first + i],
                     word(&f, g->e.ptr, table, func->nparams + i));
    LLVMBuildRet(g->e.b, emit_int32(&g->e, 0));
    vec_free(&args);
    debug_nowhere(g->debug, g->e.b);
    return f.llvm;
}

/* ---- the other side: calls of what another object gives ---- */

/* The place of a value at a uniform entry; with VAL it is filled. */
static LLVMValueRef entry_place(Fn *f, IrType type, const Val *val) {
    Emit *e = f->e;
    if (type->kind == IR_T_SCALAR) {
        LLVMValueRef place = gen_alloca(f, emit_memory_type(e, type->scalar), NULL,
                                        ir_scalar_bytes(type->scalar), "place");
        if (val) LLVMBuildStore(e->b, emit_to_memory(e, type->scalar, val->at), place);
        return place;
    }
    uint32_t words = type->kind == IR_T_TAPE ? 4 : type->kind == IR_T_STR ? 3 : 2 + type->rank;
    LLVMValueRef place = gen_alloca(f, LLVMArrayType2(e->i64, words), NULL, 8, "place");
    if (!val) return place;
    set_word(f, place, 0, val->at);
    if (type->kind == IR_T_TAPE) {
        for (uint32_t k = 0; k < 3; k++) set_word(f, place, 1 + k, val->dims[k]);
        return place;
    }
    set_word(f, place, 1, mem_is_small(type) ? emit_null(e) : val->block);
    for (uint32_t k = 2; k < words; k++) set_word(f, place, k, val->dims[k - 2]);
    return place;
}

/* A small array comes as a block, but lives on the stack. */
static Val take_small(Fn *f, const IrInst *inst, uint32_t i, const Val *block) {
    IrType type = inst->func->results[i];
    const Dest *dest = &f->dests[inst->results[i]->id];
    Val val = gen_slot(f, type);
    val.slot = !dest->at;
    if (dest->at) {
        val.at = dest->at;
        val.depth = dest->depth;
    }
    gen_copy(f, type->scalar, val.at, block->at, gen_count(f, block, type));
    LLVMValueRef args[] = {f->context, block->block};
    gen_runtime(f->g, "adl__release", args, 2);
    return val;
}

void gen_call_open(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    const IrFunc *func = inst->func;
    uint32_t n = func->nparams;
    LLVMValueRef table =
        gen_alloca(f, LLVMArrayType2(e->ptr, n + func->nresults + 1), NULL, 8, "table");
    LLVMValueRef *places = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, n + func->nresults + 1);
    for (uint32_t k = 0; k < n; k++)
        places[k] = entry_place(f, func->params[k], gen_val(f, inst->operands[k]));
    for (uint32_t i = 0; i < func->nresults; i++)
        places[n + i] = entry_place(f, func->results[i], NULL);
    for (uint32_t k = 0; k < n + func->nresults; k++) set_word(f, table, k, places[k]);
    LLVMValueRef callee = LLVMGetNamedFunction(e->module, func->symbol);
    if (!callee) callee = LLVMAddFunction(e->module, func->symbol, entry_type(e));
    gen_attribute(f->g, callee, LLVMAttributeFunctionIndex, "nounwind", 0);
    LLVMValueRef args[] = {f->context, table};
    gen_check_status(f, LLVMBuildCall2(e->b, entry_type(e), callee, args, 2, ""));
    for (uint32_t i = 0; i < func->nresults; i++) {
        IrType type = func->results[i];
        Val val = read_arg(f, type, places[n + i]);
        gen_set(f, inst->results[i], mem_is_small(type) ? take_small(f, inst, i, &val) : val);
    }
}
