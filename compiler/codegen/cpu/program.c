/* Programs and tests: the table that the runtime's option parser reads, the function that it calls,
   C's main. */
#include "codegen/cpu/entry.h"

#include <string.h>

static LLVMValueRef text_or_null(Gen *g, const char *text) {
    return text ? gen_text(g, text, strlen(text)) : emit_null(&g->e);
}

/* "[n, d]f64" without the element type; where no names are given, as far as sizes are known. */
static const char *shape_text(Gen *g, const IrOption *option) {
    StrBuf text = {0};
    IrType type = option->type;
    if (option->shape) return option->shape;
    if (type->kind != IR_T_ARRAY) return NULL;
    for (uint32_t k = 0; k < type->rank; k++) {
        strbuf_add(&text, k ? ", " : "[");
        if (type->dims[k] >= 0) strbuf_printf(&text, "%lld", (long long)type->dims[k]);
        else strbuf_add(&text, "_");
    }
    strbuf_add(&text, "]");
    const char *kept = arena_strndup(g->plan->arena, text.text, text.len);
    strbuf_free(&text);
    return kept;
}

static LLVMValueRef global(Gen *g, LLVMValueRef value, const char *name, bool visible) {
    LLVMValueRef at = LLVMAddGlobal(g->e.module, LLVMTypeOf(value), name);
    LLVMSetInitializer(at, value);
    LLVMSetGlobalConstant(at, true);
    if (!visible) LLVMSetLinkage(at, LLVMPrivateLinkage);
    return at;
}

/* An AdlParam. */
static LLVMValueRef param_row(Gen *g, const IrOption *option) {
    Emit *e = &g->e;
    IrType type = option->type;
    int kind = type->kind == IR_T_STR ? ADL_KIND_STR : (int)type->scalar;
    LLVMValueRef fields[] = {
        text_or_null(g, option->name),
        text_or_null(g, option->doc),
        text_or_null(g, option->default_text),
        text_or_null(g, shape_text(g, option)),
        emit_int32(e, kind),
        emit_int32(e, (int32_t)type->rank),
        emit_int32(e, option->has_default ? ADL_PARAM_DEFAULT : 0),
        emit_int32(e, 0),
    };
    return LLVMConstStructInContext(e->context, fields, 8, false);
}

/* ---- run ---- */

static LLVMValueRef field(Fn *f, LLVMTypeRef type, LLVMValueRef from, size_t offset) {
    return LLVMBuildLoad2(f->e->b, type, emit_offset(f->e, from, (int64_t)offset), "");
}

static Val given_value(Fn *f, const IrOption *option, LLVMValueRef from) {
    Emit *e = f->e;
    IrType type = option->type;
    Val val = {.block = emit_null(e)};
    val.dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, IR_MAX_RANK);
    if (type->kind == IR_T_SCALAR) {
        LLVMValueRef x = LLVMBuildLoad2(e->b, emit_memory_type(e, type->scalar), from, "");
        val.at = emit_from_memory(e, type->scalar, x);
    } else if (type->kind == IR_T_STR) {
        val.at = field(f, e->ptr, from, offsetof(AdlStr, ptr));
        val.dims[0] = field(f, e->i64, from, offsetof(AdlStr, len));
    } else {
        val.at = field(f, e->ptr, from, offsetof(AdlParamValue, data));
        val.block = val.at;
        for (uint32_t k = 0; k < type->rank; k++)
            val.dims[k] = type->dims[k] >= 0
                              ? gen_int(e, type->dims[k])
                              : field(f, e->i64, from, offsetof(AdlParamValue, dims) + 8 * k);
    }
    return val;
}

/* The default function's value, computed from the earlier ones. */
static Val default_value(Fn *f, const IrOption *options, uint32_t i, const Val *vals) {
    const IrFunc *func = options[i].default_func;
    EntryArgs args = {0};
    vec_push(&args, f->context);
    for (uint32_t k = 0; k < func->nparams && k < i; k++)
        entry_push_arg(f, func, k, &vals[k], &args);
    LLVMValueRef memory = entry_result_memory(f, func, 0);
    vec_push(&args, memory);
    gen_check_status(f, entry_call(f, func, &args));
    vec_free(&args);
    return gen_load_result(f, func->results[0], memory);
}

static void merge(Fn *f, LLVMTypeRef type, LLVMValueRef *a, LLVMBasicBlockRef from_a,
                  LLVMValueRef b, LLVMBasicBlockRef from_b) {
    LLVMValueRef phi = LLVMBuildPhi(f->e->b, type, "");
    LLVMAddIncoming(phi, a, &from_a, 1);
    LLVMAddIncoming(phi, &b, &from_b, 1);
    *a = phi;
}

static Val option_value(Fn *f, const IrOption *options, uint32_t i, const Val *vals,
                        LLVMValueRef from) {
    Emit *e = f->e;
    const IrOption *option = &options[i];
    IrType type = option->type;
    if (!option->has_default || !option->default_func) return given_value(f, option, from);
    LLVMValueRef given = field(f, e->i64, from, offsetof(AdlParamValue, given));
    LLVMBasicBlockRef read = gen_block(f, "given"), compute = gen_block(f, "default"),
                      done = gen_block(f, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, given, gen_int(e, 0), ""), read, compute);
    LLVMPositionBuilderAtEnd(e->b, read);
    Val val = given_value(f, option, from);
    read = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, compute);
    Val computed = default_value(f, options, i, vals);
    compute = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    merge(f, type->kind == IR_T_SCALAR ? emit_type(e, type->scalar) : e->ptr, &val.at, read,
          computed.at, compute);
    if (type->kind == IR_T_SCALAR) return val;
    merge(f, e->ptr, &val.block, read, computed.block, compute);
    uint32_t n = type->kind == IR_T_STR ? 1 : type->rank;
    for (uint32_t k = 0; k < n; k++)
        merge(f, e->i64, &val.dims[k], read, computed.dims[k], compute);
    return val;
}

static LLVMValueRef gen_run(Gen *g, const IrExport *export) {
    Fn f;
    Emit *e = &g->e;
    const IrFunc *func = export->func;
    LLVMTypeRef params[] = {e->ptr, e->ptr, e->ptr};
    EntryArgs args = {0};
    entry_begin(g, &f, "adl.run", LLVMFunctionType(e->i32, params, 3, false), func);
    LLVMSetLinkage(f.llvm, LLVMInternalLinkage);
    f.context = LLVMGetParam(f.llvm, 0);
    LLVMBasicBlockRef body = gen_block(&f, "body");
    LLVMPositionBuilderAtEnd(e->b, body);
    Val *vals = ARENA_ARRAY(g->plan->arena, Val, export->noptions);
    Val *by_param = ARENA_ARRAY(g->plan->arena, Val, func->nparams);
    for (uint32_t i = 0; i < export->noptions; i++) {
        int64_t at = (int64_t)(i * sizeof(AdlParamValue));
        LLVMValueRef from = emit_offset(e, LLVMGetParam(f.llvm, 1), at);
        vals[i] = option_value(&f, export->options, i, vals, from);
        if (export->options[i].param >= 0) by_param[export->options[i].param] = vals[i];
    }
    vec_push(&args, f.context);
    for (uint32_t k = 0; k < func->nparams; k++) entry_push_arg(&f, func, k, &by_param[k], &args);
    uint32_t first = args.len;
    for (uint32_t i = 0; i < func->nresults; i++) vec_push(&args, entry_result_memory(&f, func, i));
    gen_check_status(&f, entry_call(&f, func, &args));
    if (func->nresults && func->results[0]->kind == IR_T_SCALAR) {
        Val status = gen_load_result(&f, func->results[0], args.at[first]);
        LLVMBuildStore(e->b, LLVMBuildIntCast2(e->b, status.at, e->i32, true, ""),
                       LLVMGetParam(f.llvm, 2));
    }
    vec_free(&args);
    LLVMBuildRet(e->b, emit_int32(e, 0));
    LLVMPositionBuilderAtEnd(e->b, f.allocas);
    LLVMBuildBr(e->b, body);
    debug_nowhere(g->debug, e->b);
    return f.llvm;
}

static void gen_main(Gen *g, LLVMValueRef table, const IrExport *export) {
    Fn f;
    Emit *e = &g->e;
    LLVMTypeRef params[] = {e->i32, e->ptr};
    entry_begin(g, &f, "main", LLVMFunctionType(e->i32, params, 2, false), export->func);
    LLVMValueRef args[] = {table, LLVMGetParam(f.llvm, 0), LLVMGetParam(f.llvm, 1)};
    if (g->options->weak_main) LLVMSetLinkage(f.llvm, LLVMWeakAnyLinkage);
    LLVMBuildRet(e->b, gen_runtime(g, "adl__main_run", args, 3));
    debug_nowhere(g->debug, e->b);
}

static void find_args(IrInst *inst, void *data) {
    bool *found = data;
    if (inst->op == IR_RUNTIME && strstr(inst->text, "args_")) *found = true;
}

static bool reads_args(const IrModule *ir) {
    bool found = false;
    for (uint32_t i = 0; i < ir->funcs.len; i++)
        if (ir->funcs.at[i]->body) ir_walk(ir->funcs.at[i]->body, find_args, &found);
    return found;
}

void gen_program(Gen *g, const IrExport *export) {
    Emit *e = &g->e;
    LLVMTypeRef words[] = {e->ptr, e->ptr, e->ptr, e->ptr, e->i32, e->i32, e->i32, e->i32};
    LLVMTypeRef row = LLVMStructTypeInContext(e->context, words, 8, false);
    LLVMValueRef *rows = ARENA_ARRAY(g->plan->arena, LLVMValueRef, export->noptions);
    for (uint32_t i = 0; i < export->noptions; i++) rows[i] = param_row(g, &export->options[i]);
    LLVMValueRef params = global(g, LLVMConstArray2(row, rows, export->noptions), "params", false);
    LLVMValueRef fields[] = {text_or_null(g, export->doc), params, gen_run(g, export),
                             emit_int32(e, (int32_t) export->noptions),
                             emit_int32(e, reads_args(g->ir) ? ADL_MAIN_ARGS : 0)};
    LLVMValueRef table = global(g, LLVMConstStructInContext(e->context, fields, 5, false),
                                "adl__program", g->options->in_process);
    if (g->options->program) gen_main(g, table, export);
}

/* ---- tests ---- */

void gen_test(Gen *g, const IrExport *export, uint32_t place) {
    Fn f;
    Emit *e = &g->e;
    char *name = arena_printf(g->plan->arena, "adl__%s_%u",
                              export->kind == IR_EXPORT_TEST ? "test" : "bench", place);
    EntryArgs args = {0};
    entry_begin(g, &f, name, LLVMFunctionType(e->i32, &e->ptr, 1, false), export->func);
    f.context = LLVMGetParam(f.llvm, 0);
    vec_push(&args, f.context);
    for (uint32_t i = 0; i < export->func->nresults; i++)
        vec_push(&args, entry_result_memory(&f, export->func, i));
    LLVMBuildRet(e->b, entry_call(&f, export->func, &args));
    vec_free(&args);
    debug_nowhere(g->debug, e->b);
}
