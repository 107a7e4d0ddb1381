/* The C interface: a wrapper for each export makes a context, looks at the arguments, calls, puts
   the results where the caller wants them.  Memory that is read has no block.  Memory that is
   written
   (`mut`) gets a header on the stack that looks like a block with one name more than is counted, so
   that it is written in place and never freed; memory that the caller keeps as it is while a tape
   lives, one that looks like that of a constant, so that the tape need not copy it. */
#include "codegen/cpu/c-args.h"
#include "codegen/cpu/device.h"
#include "codegen/cpu/entry.h"

#include <string.h>

#include "base/fatal.h"
#include "runtime/include/adl/adl.h"

typedef struct Wrapper {
    Fn f;
    const IrExport *export;
    const IrFunc *func;
    LLVMValueRef *given;    /* by leaf: see c_args_leaf */
    LLVMValueRef *used;     /* by leaf, of arrays: where the call has them */
    const CPlace *arg;      /* by C argument */
    Val *args;              /* by IR parameter */
    LLVMValueRef *places;   /* by IR result: where C wants it */
    LLVMValueRef *memories; /* by IR result: where the call puts it */
    LLVMValueRef *sources;  /* by IR result, if it is an array: its elements */
    LLVMBasicBlockRef end;
    LLVMValueRef status; /* the phi in END */
} Wrapper;

/* ---- leaving ---- */

static void leave(Wrapper *w, LLVMValueRef status) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(w->f.e->b);
    LLVMAddIncoming(w->status, &status, &here, 1);
    LLVMBuildBr(w->f.e->b, w->end);
}

/* The end of the wrapper: returns the status, a phi that `leave` adds to.  A context that has
   nothing to give back and no error, as in most calls of small functions, is left as it is. */
static void end_context(Wrapper *w) {
    static const size_t owns[] = {offsetof(AdlContext, live), offsetof(AdlContext, tapes),
                                  offsetof(AdlContext, recent), offsetof(AdlContext, cache),
                                  offsetof(AdlContext, message)};
    Emit *e = w->f.e;
    w->status = LLVMBuildPhi(e->b, e->i32, "status");
    LLVMValueRef any = LLVMBuildZExt(e->b, w->status, e->i64, "");
    for (size_t i = 0; i < sizeof owns / sizeof owns[0]; i++) {
        LLVMValueRef at = emit_offset(e, w->f.context, (int64_t)owns[i]);
        any = LLVMBuildOr(e->b, any, LLVMBuildLoad2(e->b, e->i64, at, ""), "");
    }
    LLVMBasicBlockRef some = gen_block(&w->f, "give_back"), none = gen_block(&w->f, "");
    LLVMValueRef idle = LLVMBuildICmp(e->b, LLVMIntEQ, any, gen_int(e, 0), "");
    LLVMBuildCondBr(e->b, idle, none, some);
    LLVMPositionBuilderAtEnd(e->b, none);
    LLVMBuildRet(e->b, emit_int32(e, 0));
    LLVMPositionBuilderAtEnd(e->b, some);
    LLVMValueRef args[] = {w->f.context, w->status};
    LLVMBuildRet(e->b, gen_runtime(w->f.g, "adl__context_end", args, 2));
}

/* Leaves with an error about an argument if BAD. */
static void refuse(Wrapper *w, LLVMValueRef bad, const char *name, const char *what) {
    Emit *e = w->f.e;
    StrBuf text = {0};
    LLVMBasicBlockRef off = gen_block(&w->f, "refused"), on = gen_block(&w->f, "");
    gen_unlikely(&w->f, LLVMBuildCondBr(e->b, bad, off, on));
    LLVMPositionBuilderAtEnd(e->b, off);
    strbuf_printf(&text, "%s: %s %s", w->export->name, name, what);
    LLVMValueRef args[] = {w->f.context, emit_int32(e, ADL_ERROR_ARGUMENT),
                           gen_site(w->f.g, w->func, w->export->pos),
                           gen_text(w->f.g, text.text, text.len)};
    strbuf_free(&text);
    leave(w, gen_runtime(w->f.g, "adl__fail_text", args, 4));
    LLVMPositionBuilderAtEnd(e->b, on);
}

static LLVMValueRef is_null(Emit *e, LLVMValueRef p) {
    return LLVMBuildICmp(e->b, LLVMIntEQ, p, emit_null(e), "");
}

/* ---- sizes ---- */

/* The size that leaf I is. */
static LLVMValueRef size_at(Wrapper *w, uint32_t i) {
    Emit *e = w->f.e;
    return LLVMBuildIntCast2(e->b, w->given[i], e->i64, true, "");
}

static LLVMValueRef computed(Wrapper *w, const IrCDim *dim) {
    LLVMBuilderRef b = w->f.e->b;
    LLVMValueRef *stack = ARENA_ARRAY(w->f.g->plan->arena, LLVMValueRef, dim->nsteps);
    uint32_t n = 0;
    for (uint32_t i = 0; i < dim->nsteps; i++) {
        const IrCStep *step = &dim->steps[i];
        switch (step->kind) {
        case IR_STEP_NUMBER: stack[n++] = gen_int(w->f.e, step->value); break;
        case IR_STEP_LEAF: stack[n++] = size_at(w, (uint32_t)step->value); break;
        case IR_STEP_ADD: n--, stack[n - 1] = LLVMBuildAdd(b, stack[n - 1], stack[n], ""); break;
        case IR_STEP_MUL: n--, stack[n - 1] = LLVMBuildMul(b, stack[n - 1], stack[n], ""); break;
        case IR_STEP_DIV:
            n--;
            refuse(w, LLVMBuildICmp(b, LLVMIntEQ, stack[n], gen_int(w->f.e, 0), ""), dim->text,
                   "divides by 0");
            stack[n - 1] = emit_divide(w->f.e, IR_DIV, stack[n - 1], stack[n]);
            break;
        }
    }
    return stack[0];
}

static LLVMValueRef size_of(Wrapper *w, const IrCDim *dim) {
    if (dim->constant >= 0) return gen_int(w->f.e, dim->constant);
    if (dim->place >= 0) return size_at(w, (uint32_t)dim->place);
    CHECK_INTERNAL(dim->nsteps > 0);
    return computed(w, dim);
}

static LLVMValueRef *sizes_of(Wrapper *w, const IrCParam *param) {
    LLVMValueRef *dims = ARENA_ARRAY(w->f.g->plan->arena, LLVMValueRef, param->rank);
    for (uint32_t k = 0; k < param->rank; k++) dims[k] = size_of(w, &param->dims[k]);
    return dims;
}

/* ---- arguments ---- */

static void store_header(Wrapper *w, LLVMValueRef header, size_t offset, LLVMValueRef value) {
    LLVMBuildStore(w->f.e->b, value, emit_offset(w->f.e, header, (int64_t)offset));
}

/* A header on the stack with so many names. */
static LLVMValueRef header_with(Wrapper *w, int64_t refs) {
    Emit *e = w->f.e;
    LLVMTypeRef type = LLVMArrayType2(e->i64, sizeof(AdlBlock) / 8);
    LLVMValueRef header = gen_alloca(&w->f, type, NULL, 64, "block");
    LLVMBuildMemSet(e->b, header, LLVMConstInt(e->i8, 0, false), gen_int(e, sizeof(AdlBlock)), 64);
    store_header(w, header, offsetof(AdlBlock, refs), gen_int(e, refs));
    return header;
}

/* The block of memory that the caller lets us write to.  Its header counts the caller's name, and
   one more where the callee gets the array as its own, as any argument that it owns. */
static LLVMValueRef borrowed_block(Wrapper *w, uint32_t k) {
    bool owned = w->f.g->plan->funcs[w->func->id].owned_param[k];
    LLVMValueRef header = header_with(w, owned ? 2 : 1);
    store_header(w, header, offsetof(AdlBlock, spare), emit_int32(w->f.e, 1));
    store_header(w, header, offsetof(AdlBlock, owner), w->f.context);
    return emit_offset(w->f.e, header, (int64_t)sizeof(AdlBlock));
}

/* The block of memory that nobody writes to. */
static LLVMValueRef constant_block(Wrapper *w) {
    return emit_offset(w->f.e, header_with(w, ADL_REFS_STATIC), (int64_t)sizeof(AdlBlock));
}

/* Bytes of an element as C sees it. */
static int64_t element_bytes(const IrCParam *param) {
    return (int64_t)ir_scalar_bytes(param->type->scalar) * (param->pairs ? 2 : 1);
}

static uint32_t view_rank(const IrCParam *param) {
    return param->rank - (param->pairs ? 1 : 0);
}

/* Sizes and strides of a view, one behind the other. */
static LLVMValueRef view_dims(Wrapper *w, const IrCParam *param) {
    LLVMValueRef view = LLVMGetParam(w->f.llvm, w->arg[param->arg].first);
    return emit_offset(w->f.e, view, ir_view_shape());
}

/* Leaves with STATUS unless it is 0. */
static void leave_if_failed(Wrapper *w, LLVMValueRef status) {
    Emit *e = w->f.e;
    LLVMBasicBlockRef off = gen_block(&w->f, "refused"), on = gen_block(&w->f, "");
    LLVMValueRef bad = LLVMBuildICmp(e->b, LLVMIntNE, status, emit_int32(e, 0), "");
    gen_unlikely(&w->f, LLVMBuildCondBr(e->b, bad, off, on));
    LLVMPositionBuilderAtEnd(e->b, off);
    leave(w, status);
    LLVMPositionBuilderAtEnd(e->b, on);
}

/* The elements of a view, gathered if they are not one behind the other. */
static LLVMValueRef take_view(Wrapper *w, const IrCParam *param, LLVMValueRef given) {
    Emit *e = w->f.e;
    Gen *g = w->f.g;
    StrBuf name = {0};
    strbuf_printf(&name, "%s: %s", w->export->name, param->name);
    LLVMValueRef out = gen_alloca(&w->f, e->ptr, NULL, 8, "view");
    LLVMValueRef args[] = {w->f.context,
                           gen_site(g, w->func, w->export->pos),
                           gen_text(g, name.text, name.len),
                           given,
                           gen_int(e, element_bytes(param)),
                           gen_int(e, ir_scalar_bytes(param->type->scalar)),
                           emit_int32(e, (int32_t)view_rank(param)),
                           view_dims(w, param),
                           emit_int32(e, param->kind == IR_C_MUT),
                           out};
    strbuf_free(&name);
    leave_if_failed(w, gen_runtime(g, "adl__view_take", args, 10));
    return LLVMBuildLoad2(e->b, e->ptr, out, param->name);
}

/* What was written goes to where the view shows it. */
static void give_views(Wrapper *w) {
    Emit *e = w->f.e;
    for (uint32_t i = 0; i < w->export->nparams; i++) {
        const IrCParam *param = &w->export->params[i];
        if (!param->view || param->kind != IR_C_MUT) continue;
        LLVMValueRef args[] = {w->given[i], gen_int(e, element_bytes(param)),
                               emit_int32(e, (int32_t)view_rank(param)), view_dims(w, param),
                               w->used[i]};
        gen_runtime(w->f.g, "adl__view_give", args, 5);
    }
}

static void take_array(Wrapper *w, uint32_t i) {
    Emit *e = w->f.e;
    const IrCParam *param = &w->export->params[i];
    LLVMValueRef *dims = sizes_of(w, param), given = w->given[i];
    bool small = mem_is_small(w->func->params[param->param]);
    LLVMValueRef block = emit_null(e);
    for (uint32_t k = 0; k < param->rank; k++) {
        if (!param->dims[k].nsteps) continue;
        LLVMValueRef negative = LLVMBuildICmp(e->b, LLVMIntSLT, dims[k], gen_int(e, 0), "");
        refuse(w, negative, param->dims[k].text, "is negative");
    }
    Val sized = entry_array(&w->f, w->func->params[param->param], given, block, dims);
    LLVMValueRef some =
        LLVMBuildICmp(e->b, LLVMIntNE, gen_count(&w->f, &sized, param->type), gen_int(e, 0), "");
    refuse(w, LLVMBuildAnd(e->b, is_null(e, given), some, ""), param->name, "is NULL");
    if (param->view) given = take_view(w, param, given);
    if (param->kind == IR_C_MUT && !small) block = borrowed_block(w, param->param);
    if (param->kept && !small) block = constant_block(w);
    w->args[param->param] = entry_array(&w->f, w->func->params[param->param], given, block, dims);
    w->used[i] = given;
    if (param->kind == IR_C_MUT) w->places[param->result] = given;
}

static void take_scalar(Wrapper *w, const IrCParam *param, LLVMValueRef given) {
    Emit *e = w->f.e;
    IrScalar scalar = param->type->scalar;
    if (param->kind == IR_C_MUT) {
        refuse(w, is_null(e, given), param->name, "is NULL");
        w->places[param->result] = given;
        given = LLVMBuildLoad2(e->b, emit_memory_type(e, scalar), given, "");
    }
    w->args[param->param] = (Val){.at = emit_from_memory(e, scalar, given)};
}

static void take_text(Wrapper *w, const IrCParam *param, LLVMValueRef given) {
    Emit *e = w->f.e;
    LLVMTypeRef type = LLVMFunctionType(e->i64, &e->ptr, 1, false);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, "strlen");
    if (!fn) fn = LLVMAddFunction(e->module, "strlen", type);
    refuse(w, is_null(e, given), param->name, "is NULL");
    Val val = {.at = given, .block = emit_null(e)};
    val.dims = ARENA_ARRAY(w->f.g->plan->arena, LLVMValueRef, 1);
    val.dims[0] = LLVMBuildCall2(e->b, type, fn, &given, 1, "");
    w->args[param->param] = val;
}

static void take_tape(Wrapper *w, const IrCParam *param, LLVMValueRef given) {
    Gen *g = w->f.g;
    if (param->kind == IR_C_OUT) {
        refuse(w, is_null(w->f.e, given), param->name, "is NULL");
        w->places[param->result] = given;
        return;
    }
    LLVMValueRef args[] = {w->f.context, gen_site(g, w->func, w->export->pos), given,
                           gen_int(w->f.e, param->tape),
                           gen_text(g, w->export->name, strlen(w->export->name))};
    leave_if_failed(w, gen_runtime(g, "adl__tape_check", args, 5));
    w->args[param->param] = gen_tape_fetch(&w->f, given);
}

/* A size is not negative, and what it was said to be before. */
static void take_size(Wrapper *w, uint32_t i) {
    Emit *e = w->f.e;
    const IrCParam *param = &w->export->params[i];
    LLVMValueRef given = w->given[i];
    LLVMValueRef negative = LLVMBuildICmp(e->b, LLVMIntSLT, given, gen_int(e, 0), "");
    refuse(w, negative, param->name, "is negative");
    if (!param->again) return;
    LLVMValueRef wanted = size_of(w, &param->want);
    LLVMBasicBlockRef off = gen_block(&w->f, "refused"), on = gen_block(&w->f, "");
    LLVMValueRef bad = LLVMBuildICmp(e->b, LLVMIntNE, given, wanted, "");
    gen_unlikely(&w->f, LLVMBuildCondBr(e->b, bad, off, on));
    LLVMPositionBuilderAtEnd(e->b, off);
    StrBuf name = {0};
    strbuf_printf(&name, "%s: %s", w->export->name, param->name);
    const char *text = param->want.text ? param->want.text : "what it has to be";
    if (param->want.constant >= 0) text = "what its type says";
    LLVMValueRef args[] = {w->f.context,
                           gen_site(w->f.g, w->func, w->export->pos),
                           gen_text(w->f.g, name.text, name.len),
                           given,
                           gen_text(w->f.g, text, strlen(text)),
                           wanted};
    strbuf_free(&name);
    leave(w, gen_runtime(w->f.g, "adl__fail_size", args, 6));
    LLVMPositionBuilderAtEnd(e->b, on);
}

static void take_param(Wrapper *w, uint32_t i) {
    const IrCParam *param = &w->export->params[i];
    Emit *e = w->f.e;
    LLVMValueRef given = w->given[i];
    if (param->type->kind == IR_T_TAPE) {
        take_tape(w, param, given);
    } else if (param->kind == IR_C_OUT) {
        /* An empty array may be NULL; then nothing is written. */
        w->places[param->result] = given;
        if (param->type->kind == IR_T_SCALAR || mem_is_small(param->type))
            refuse(w, is_null(e, given), param->name, "is NULL");
    } else if (param->kind == IR_C_STR) {
        take_text(w, param, given);
    } else if (param->type->kind == IR_T_ARRAY) {
        take_array(w, i);
    } else {
        take_scalar(w, param, given);
    }
}

/* Structs are there; then the sizes, as arrays need them, wherever they stand. */
static void take_params(Wrapper *w, const CPlace *places) {
    const IrExport *export = w->export;
    for (uint32_t i = 0; i < export->nargs; i++) {
        const IrCArg *arg = &export->args[i];
        bool by_value = arg->kind == IR_ARG_LEAF || (arg->kind == IR_ARG_COMPLEX && !arg->written);
        if (by_value) continue;
        LLVMValueRef given = LLVMGetParam(w->f.llvm, places[i].first);
        refuse(w, is_null(w->f.e, given), arg->name, "is NULL");
    }
    for (uint32_t i = 0; i < export->nparams; i++)
        w->given[i] = c_args_leaf(w->f.e, w->f.llvm, export, places, i);
    for (uint32_t i = 0; i < export->nparams; i++)
        if (export->params[i].kind == IR_C_SIZE) take_size(w, i);
    for (uint32_t i = 0; i < export->nparams; i++)
        if (export->params[i].kind != IR_C_SIZE) take_param(w, i);
}

/* ---- --check: memory that is written to against all other ---- */

static LLVMValueRef bytes_of(Wrapper *w, const IrCParam *param) {
    Emit *e = w->f.e;
    LLVMValueRef bytes = gen_int(e, ir_scalar_bytes(param->type->scalar));
    for (uint32_t k = 0; k < param->rank; k++)
        bytes = emit_size_mul(e, bytes, size_of(w, &param->dims[k]));
    return bytes;
}

static bool is_memory(const IrCParam *param) {
    for (uint32_t k = 0; k < param->rank; k++)
        if (!ir_c_dim_known(&param->dims[k])) return false;
    return param->kind == IR_C_ARRAY || param->kind == IR_C_MUT ||
           (param->kind == IR_C_OUT && param->type->kind != IR_T_TAPE);
}

/* Where leaf I lies, as the runtime takes a view: sizes and strides in memory. */
static LLVMValueRef shape_of_memory(Wrapper *w, uint32_t i, int32_t *rank, int64_t *bytes) {
    Emit *e = w->f.e;
    const IrCParam *param = &w->export->params[i];
    *rank = param->view ? (int32_t)view_rank(param) : 1;
    *bytes = param->view ? element_bytes(param) : 1;
    if (param->view) return view_dims(w, param);
    LLVMValueRef dims = gen_alloca(&w->f, LLVMArrayType2(e->i64, 2), NULL, 8, "dims");
    LLVMBuildStore(e->b, bytes_of(w, param), dims);
    LLVMBuildStore(e->b, gen_int(e, 1), emit_offset(e, dims, 8));
    return dims;
}

static void check_views(Wrapper *w, uint32_t i, uint32_t j) {
    const IrCParam *a = &w->export->params[i], *b = &w->export->params[j];
    Emit *e = w->f.e;
    Gen *g = w->f.g;
    int32_t ranks[2];
    int64_t bytes[2];
    LLVMValueRef adims = shape_of_memory(w, i, &ranks[0], &bytes[0]);
    LLVMValueRef bdims = shape_of_memory(w, j, &ranks[1], &bytes[1]);
    LLVMValueRef args[] = {w->f.context,
                           gen_site(g, w->func, w->export->pos),
                           w->given[i],
                           gen_int(e, bytes[0]),
                           emit_int32(e, ranks[0]),
                           adims,
                           gen_text(g, a->name, strlen(a->name)),
                           w->given[j],
                           gen_int(e, bytes[1]),
                           emit_int32(e, ranks[1]),
                           bdims,
                           gen_text(g, b->name, strlen(b->name))};
    leave_if_failed(w, gen_runtime(g, "adl__view_overlap", args, 12));
}

static void check_pair(Wrapper *w, uint32_t i, uint32_t j) {
    const IrCParam *params = w->export->params;
    if (params[i].view || params[j].view) {
        /* The one that is written has its elements apart. */
        bool swap = params[i].kind == IR_C_ARRAY;
        check_views(w, swap ? j : i, swap ? i : j);
        return;
    }
    const IrCParam *a = &w->export->params[i], *b = &w->export->params[j];
    Gen *g = w->f.g;
    LLVMValueRef args[] = {w->f.context,   gen_site(g, w->func, w->export->pos),  w->given[i],
                           bytes_of(w, a), gen_text(g, a->name, strlen(a->name)), w->given[j],
                           bytes_of(w, b), gen_text(g, b->name, strlen(b->name))};
    leave_if_failed(w, gen_runtime(g, "adl__check_overlap", args, 8));
}

static void check_overlaps(Wrapper *w) {
    const IrCParam *params = w->export->params;
    for (uint32_t i = 0; i < w->export->nparams; i++)
        for (uint32_t j = 0; j < i; j++)
            if (is_memory(&params[i]) && is_memory(&params[j]) &&
                (params[i].kind != IR_C_ARRAY || params[j].kind != IR_C_ARRAY))
                check_pair(w, j, i);
}

/* ---- results ---- */

/* Scalars and small arrays that are only written go straight to their place. */
static LLVMValueRef memory_for(Wrapper *w, uint32_t i) {
    IrType type = w->func->results[i];
    bool mut = false;
    for (uint32_t k = 0; k < w->export->nparams; k++)
        if (w->export->params[k].kind == IR_C_MUT && w->export->params[k].result == (int32_t)i)
            mut = true;
    if (w->places[i] && !mut && (type->kind == IR_T_SCALAR || mem_is_small(type)))
        return w->places[i];
    LLVMValueRef memory = entry_result_memory(&w->f, w->func, i);
    if (w->places[i] && !mut && type->kind == IR_T_ARRAY)
        LLVMBuildStore(w->f.e->b, w->places[i], memory);
    return memory;
}

/* What the tape is of that the call leaves in result I. */
static int64_t tape_of_result(const Wrapper *w, uint32_t i) {
    for (uint32_t k = 0; k < w->export->nparams; k++)
        if (w->export->params[k].kind == IR_C_OUT && w->export->params[k].result == (int32_t)i)
            return w->export->params[k].tape;
    return 0;
}

static void give_tape(Wrapper *w, const Val *val, uint32_t i, LLVMValueRef place) {
    LLVMValueRef args[] = {w->f.context, val->at, gen_int(w->f.e, tape_of_result(w, i))};
    gen_tape_flush(&w->f, val);
    if (w->f.device) {
        LLVMValueRef read[] = {w->f.context, gen_site(w->f.g, w->func, w->export->pos), val->at};
        leave_if_failed(w, gen_runtime(w->f.g, "adl__gpu_read_tape", read, 3));
    }
    gen_runtime(w->f.g, "adl__tape_export", args, 3);
    LLVMBuildStore(w->f.e->b, val->at, place);
}

/* Memory that the caller lent to be written, other than the place of result I. */
static bool is_lent(const IrCParam *param, uint32_t i) {
    return param->kind == IR_C_MUT && param->type->kind == IR_T_ARRAY &&
           param->result != (int32_t)i;
}

/* What an array result is may lie in memory that another result is about to overwrite: after
   (a, b) = (b, a) both do.  Such elements are put aside before any result is given. */
static void find_source(Wrapper *w, uint32_t i) {
    Emit *e = w->f.e;
    IrType type = w->func->results[i];
    if (type->kind != IR_T_ARRAY || !w->places[i] || w->places[i] == w->memories[i]) return;
    Val val = gen_load_result(&w->f, type, w->memories[i]);
    LLVMValueRef bytes =
        emit_size_mul(e, gen_count(&w->f, &val, type), gen_int(e, ir_scalar_bytes(type->scalar)));
    w->sources[i] = val.at;
    LLVMValueRef moved = device_status(&w->f, &val, false);
    if (moved) leave_if_failed(w, moved);
    for (uint32_t k = 0; k < w->export->nparams; k++) {
        const IrCParam *param = &w->export->params[k];
        if (!is_lent(param, i)) continue;
        LLVMValueRef args[] = {w->f.context, w->sources[i], bytes, w->used[k], bytes_of(w, param)};
        LLVMValueRef apart = gen_runtime(w->f.g, "adl__apart", args, 5);
        LLVMValueRef none =
            LLVMBuildAnd(e->b, is_null(e, apart), LLVMBuildNot(e->b, is_null(e, val.at), ""), "");
        leave_if_failed(
            w, LLVMBuildSelect(e->b, none, emit_int32(e, ADL_ERROR_MEMORY), emit_int32(e, 0), ""));
        w->sources[i] = apart;
    }
}

static void give_result(Wrapper *w, uint32_t i) {
    Emit *e = w->f.e;
    IrType type = w->func->results[i];
    LLVMValueRef place = w->places[i], from = w->memories[i];
    if (!place || place == from) return;
    Val val = gen_load_result(&w->f, type, from);
    if (type->kind == IR_T_SCALAR) {
        LLVMBuildStore(e->b, emit_to_memory(e, type->scalar, val.at), place);
    } else if (type->kind == IR_T_TAPE) {
        give_tape(w, &val, i, place);
    } else {
        LLVMValueRef count = gen_count(&w->f, &val, type);
        LLVMBasicBlockRef copy = gen_block(&w->f, "copy"), done = gen_block(&w->f, "");
        LLVMValueRef at = w->sources[i];
        LLVMValueRef away = LLVMBuildICmp(e->b, LLVMIntNE, at, place, "");
        LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, count, gen_int(e, 0), "");
        LLVMBuildCondBr(e->b, LLVMBuildAnd(e->b, away, some, ""), copy, done);
        LLVMPositionBuilderAtEnd(e->b, copy);
        gen_copy(&w->f, type->scalar, place, at, count);
        LLVMBuildBr(e->b, done);
        LLVMPositionBuilderAtEnd(e->b, done);
    }
}

/* An `out` array that is not empty needs memory. */
static void check_places(Wrapper *w) {
    Emit *e = w->f.e;
    for (uint32_t k = 0; k < w->export->nparams; k++) {
        const IrCParam *param = &w->export->params[k];
        if (param->kind != IR_C_OUT || param->type->kind != IR_T_ARRAY || mem_is_small(param->type))
            continue;
        Val val =
            gen_load_result(&w->f, w->func->results[param->result], w->memories[param->result]);
        LLVMValueRef count = gen_count(&w->f, &val, w->func->results[param->result]);
        LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, count, gen_int(e, 0), "");
        LLVMValueRef null = is_null(e, w->places[param->result]);
        refuse(w, LLVMBuildAnd(e->b, null, some, ""), param->name, "is NULL");
    }
}

static void call(Wrapper *w) {
    Emit *e = w->f.e;
    EntryArgs args = {0};
    vec_push(&args, w->f.context);
    for (uint32_t k = 0; k < w->func->nparams; k++) {
        if (!w->args[k].at) UNREACHABLE("parameter %u of %s is not given", k, w->export->name);
        /* Arrays have no block here, or one whose header counts this name already. */
        if (w->func->params[k]->kind == IR_T_TAPE)
            entry_push_arg(&w->f, w->func, k, &w->args[k], &args);
        else entry_push_counted(w->func, k, &w->args[k], &args);
    }
    for (uint32_t i = 0; i < w->func->nresults; i++) {
        w->memories[i] = memory_for(w, i);
        vec_push(&args, w->memories[i]);
    }
    LLVMValueRef status = entry_call(&w->f, w->func, &args);
    vec_free(&args);
    LLVMBasicBlockRef good = gen_block(&w->f, "results"), bad = gen_block(&w->f, "failed");
    LLVMValueRef ok = LLVMBuildICmp(e->b, LLVMIntEQ, status, emit_int32(e, 0), "");
    LLVMBuildCondBr(e->b, ok, good, bad);
    LLVMPositionBuilderAtEnd(e->b, bad);
    if (w->func->flags & IR_FUNC_LIBRARY) {
        LLVMValueRef told[] = {w->f.context, status, gen_site(w->f.g, w->func, w->export->pos)};
        status = gen_runtime(w->f.g, "adl__fail_called", told, 3);
    }
    leave(w, status);
    LLVMPositionBuilderAtEnd(e->b, good);
}

static void gen_wrapper(Gen *g, const IrExport *export) {
    Wrapper w = {.export = export, .func = export->func};
    Emit *e = &g->e;
    StrBuf name = {0};
    strbuf_printf(&name, "%s%s", g->options->prefix ? g->options->prefix : "", export->name);
    CPlace *places = ARENA_ARRAY(g->plan->arena, CPlace, export->nargs + 1);
    entry_begin(g, &w.f, name.text, c_args_type(e, export, places), export->func);
    c_args_describe(g, w.f.llvm, export, places);
    strbuf_free(&name);
    w.f.device = device_launches(g, w.func);
    w.given = ARENA_ARRAY(g->plan->arena, LLVMValueRef, export->nparams + 1);
    w.used = ARENA_ARRAY(g->plan->arena, LLVMValueRef, export->nparams + 1);
    w.arg = places;
    w.args = ARENA_ARRAY(g->plan->arena, Val, w.func->nparams);
    w.places = ARENA_ARRAY(g->plan->arena, LLVMValueRef, w.func->nresults);
    w.memories = ARENA_ARRAY(g->plan->arena, LLVMValueRef, w.func->nresults);
    w.sources = ARENA_ARRAY(g->plan->arena, LLVMValueRef, w.func->nresults);
    LLVMTypeRef words = LLVMArrayType2(e->i64, sizeof(AdlContext) / 8);
    w.f.context = gen_alloca(&w.f, words, NULL, 16, "context");
    LLVMBasicBlockRef body = gen_block(&w.f, "body");
    w.end = gen_block(&w.f, "end");
    LLVMPositionBuilderAtEnd(e->b, w.end);
    end_context(&w);
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMBuildMemSet(e->b, w.f.context, LLVMConstInt(e->i8, 0, false),
                    gen_int(e, sizeof(AdlContext)), 16);
    take_params(&w, places);
    if (g->options->check_overlap) check_overlaps(&w);
    call(&w);
    check_places(&w);
    for (uint32_t i = 0; i < w.func->nresults; i++) find_source(&w, i);
    for (uint32_t i = 0; i < w.func->nresults; i++) give_result(&w, i);
    give_views(&w);
    leave(&w, emit_int32(e, 0));
    LLVMPositionBuilderAtEnd(e->b, w.f.allocas);
    LLVMBuildBr(e->b, body);
    debug_nowhere(g->debug, e->b);
}

void gen_exports(Gen *g) {
    for (uint32_t i = 0; i < g->ir->exports.len; i++) {
        const IrExport *export = g->ir->exports.at[i];
        switch (export->kind) {
        case IR_EXPORT_C: gen_wrapper(g, export); break;
        case IR_EXPORT_MAIN:
            if (g->options->program || g->options->in_process) gen_program(g, export);
            break;
        case IR_EXPORT_TEST:
        case IR_EXPORT_BENCH:
            if (g->options->in_process) gen_test(g, export, i);
            break;
        case IR_EXPORT_OPEN:
            LLVMSetVisibility(gen_entry(g, export->func, export->name), LLVMHiddenVisibility);
            break;
        case IR_EXPORT_CHECK: break; /* called through uniform entries */
        }
    }
}
