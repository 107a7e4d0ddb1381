/* Texts, checks and failures, calls of the runtime by name. */
#include "codegen/cpu/gen.h"

#include <string.h>

#include "base/fatal.h"
#include "codegen/cpu/calls.h"

static Val text_val(Fn *f, LLVMValueRef at, LLVMValueRef block, LLVMValueRef len) {
    Val val = {.at = at, .block = block};
    val.dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, 1);
    val.dims[0] = len;
    return val;
}

void gen_string(Fn *f, const IrInst *inst) {
    size_t len = strlen(inst->text);
    gen_set(
        f, inst->results[0],
        text_val(f, gen_text(f->g, inst->text, len), emit_null(f->e), gen_int(f->e, (int64_t)len)));
}

/* ---- failures ---- */

/* Field OFFSET of element I of the array of AdlArgs at ARGS. */
static void store_field(Fn *f, LLVMValueRef args, uint32_t i, size_t offset, LLVMValueRef value) {
    LLVMValueRef at = emit_offset(f->e, args, (int64_t)(i * sizeof(AdlArg) + offset));
    LLVMSetAlignment(LLVMBuildStore(f->e->b, value, at), 8);
}

static void store_arg(Fn *f, LLVMValueRef args, uint32_t i, const IrValue *value) {
    Emit *e = f->e;
    const Val *val = gen_val(f, value);
    IrScalar scalar = value->type->scalar;
    AdlArgTag tag = ADL_ARG_I64;
    LLVMValueRef word = val->at;
    if (value->type->kind == IR_T_STR) {
        tag = ADL_ARG_STR;
        store_field(f, args, i, offsetof(AdlArg, len), val->dims[0]);
    } else if (ir_scalar_float(scalar)) {
        tag = ADL_ARG_F64;
        if (scalar == IR_F32) word = LLVMBuildFPExt(e->b, word, e->f64, "");
    } else if (scalar == IR_BOOL) {
        tag = ADL_ARG_BOOL;
        word = LLVMBuildZExt(e->b, word, e->i64, "");
    } else if (ir_scalar_signed(scalar)) {
        word = LLVMBuildSExt(e->b, word, e->i64, "");
    } else {
        tag = ADL_ARG_U64;
        word = LLVMBuildZExt(e->b, word, e->i64, "");
    }
    store_field(f, args, i, offsetof(AdlArg, tag), gen_int(e, (int64_t)tag));
    store_field(f, args, i, offsetof(AdlArg, value), word);
}

/* Goes on where GOOD holds; the builder then stands where it does not. */
static LLVMBasicBlockRef branch_off(Fn *f, LLVMValueRef bad) {
    LLVMBasicBlockRef off = gen_block(f, "failed"), on = gen_block(f, "");
    gen_unlikely(f, LLVMBuildCondBr(f->e->b, bad, off, on));
    LLVMPositionBuilderAtEnd(f->e->b, off);
    return on;
}

void gen_check(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    uint32_t n = inst->noperands - 1;
    LLVMValueRef bad = LLVMBuildNot(e->b, gen_scalar(f, inst->operands[0]), "");
    LLVMBasicBlockRef on = branch_off(f, bad);
    LLVMValueRef args = emit_null(e);
    if (n) {
        LLVMTypeRef words = LLVMArrayType2(e->i64, n * sizeof(AdlArg) / 8);
        args = gen_alloca(f, words, NULL, 8, "args");
    }
    for (uint32_t i = 0; i < n; i++) store_arg(f, args, i, ir_resolve(inst->operands[1 + i]));
    LLVMValueRef call[] = {f->context,
                           emit_int32(e, (int32_t)inst->flags),
                           gen_site(f->g, f->ir, inst->pos),
                           gen_text(f->g, inst->text, strlen(inst->text)),
                           emit_int32(e, (int32_t)n),
                           args};
    gen_leave(f, gen_runtime(f->g, "adl__fail", call, 6));
    LLVMPositionBuilderAtEnd(e->b, on);
}

void gen_check_index(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    LLVMValueRef i = gen_scalar(f, inst->operands[0]), n = gen_scalar(f, inst->operands[1]);
    /* Sizes are not negative, so one comparison does. */
    LLVMBasicBlockRef on = branch_off(f, LLVMBuildICmp(e->b, LLVMIntUGE, i, n, ""));
    LLVMValueRef name = inst->text ? gen_text(f->g, inst->text, strlen(inst->text)) : emit_null(e);
    LLVMValueRef args[] = {f->context, gen_site(f->g, f->ir, inst->pos), i, n, emit_int32(e, -1),
                           name};
    gen_leave(f, gen_runtime(f->g, "adl__fail_index", args, 6));
    LLVMPositionBuilderAtEnd(e->b, on);
}

/* A text of any kind through the template "{0}". */
void gen_fail(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    LLVMTypeRef words = LLVMArrayType2(e->i64, sizeof(AdlArg) / 8);
    LLVMValueRef args = gen_alloca(f, words, NULL, 8, "args");
    store_arg(f, args, 0, ir_resolve(inst->operands[0]));
    LLVMValueRef call[] = {f->context,
                           emit_int32(e, (int32_t)inst->flags),
                           gen_site(f->g, f->ir, inst->pos),
                           gen_text(f->g, "{0}", 3),
                           emit_int32(e, 1),
                           args};
    gen_leave(f, gen_runtime(f->g, "adl__fail", call, 6));
    LLVMPositionBuilderAtEnd(e->b, gen_block(f, "unreachable"));
}

/* ---- RUNTIME ---- */

/* Matches a call's parameters with an instruction's operands and results, both from left to right.
   A text takes two parameters, an array what the tokens ask for (kind, rank, sizes, elements), an
   array result likewise (kind, rank, place of data, place of sizes). */
typedef struct Matching {
    Fn *f;
    const IrInst *inst;
    LLVMValueRef args[CALL_PARAMS];
    unsigned n;
    uint32_t operand;           /* the next one */
    LLVMValueRef out, out_dims; /* where the call puts its result, NULL: it returns it */
} Matching;

static LLVMValueRef as_token(Fn *f, CallToken token, const IrValue *value) {
    Emit *e = f->e;
    LLVMValueRef x = gen_scalar(f, value);
    IrScalar scalar = value->type->scalar;
    LLVMTypeRef wanted = call_token_type(e, token), have = LLVMTypeOf(x);
    if (wanted == have) return x;
    if (ir_scalar_float(scalar))
        return wanted == e->f64 ? LLVMBuildFPExt(e->b, x, wanted, "")
                                : LLVMBuildFPTrunc(e->b, x, wanted, "");
    if (LLVMGetIntTypeWidth(have) > LLVMGetIntTypeWidth(wanted))
        return LLVMBuildTrunc(e->b, x, wanted, "");
    return ir_scalar_signed(scalar) ? LLVMBuildSExt(e->b, x, wanted, "")
                                    : LLVMBuildZExt(e->b, x, wanted, "");
}

/* The array at hand: the next operand if it is one, else the result. */
static IrType array_at_hand(const Matching *m) {
    if (m->operand < m->inst->noperands) return ir_resolve(m->inst->operands[m->operand])->type;
    return m->inst->results[0]->type;
}

static LLVMValueRef match_int(Matching *m, CallToken token, bool previous_was_kind) {
    Emit *e = m->f->e;
    IrType type = m->operand < m->inst->noperands || m->inst->nresults ? array_at_hand(m) : NULL;
    if (type && type->kind == IR_T_ARRAY && token == TOKEN_T_I32)
        return emit_int32(e, previous_was_kind ? (int32_t)type->rank : (int32_t)type->scalar);
    CHECK_INTERNAL(m->operand < m->inst->noperands);
    return as_token(m->f, token, ir_resolve(m->inst->operands[m->operand++]));
}

/* A text that is left out (the form of a number) is empty. */
static LLVMValueRef match_text(Matching *m, LLVMValueRef *len) {
    bool left_out = m->operand == m->inst->noperands ||
                    ir_resolve(m->inst->operands[m->operand])->type->kind != IR_T_STR;
    if (left_out) {
        *len = gen_int(m->f->e, 0);
        return gen_text(m->f->g, "", 0);
    }
    const Val *val = gen_val(m->f, m->inst->operands[m->operand++]);
    *len = val->dims[0];
    return val->at;
}

static void match_param(Matching *m, const RuntimeCall *call, unsigned k) {
    Fn *f = m->f;
    Emit *e = f->e;
    CallToken token = call->params[k];
    LLVMValueRef *arg = &m->args[k];
    if (*arg) return;
    switch ((int)token) {
    case TOKEN_T_CTX: *arg = f->context; break;
    case TOKEN_T_SITE: *arg = gen_site(f->g, f->ir, m->inst->pos); break;
    case TOKEN_T_TEXT: *arg = match_text(m, &m->args[k + 1]); break;
    case TOKEN_T_PSTR:
        m->out = *arg = gen_alloca(f, LLVMArrayType2(e->i64, 2), NULL, 8, "text");
        break;
    case TOKEN_T_PDATA: m->out = *arg = gen_alloca(f, e->ptr, NULL, 8, "data"); break;
    case TOKEN_T_PI64:
        m->out_dims = *arg = gen_alloca(f, e->i64, gen_int(e, IR_MAX_RANK), 8, "sizes");
        break;
    case TOKEN_T_DIMS: {
        const IrValue *x = ir_resolve(m->inst->operands[m->operand]);
        *arg = gen_dims_memory(f, gen_val(f, x), x->type);
        break;
    }
    case TOKEN_T_CTAPE: {
        /* The runtime reads the tape's own fields. */
        const Val *tape = gen_val(f, m->inst->operands[m->operand++]);
        gen_tape_flush(f, tape);
        *arg = tape->at;
        break;
    }
    case TOKEN_T_CDATA:
    case TOKEN_T_CF64:
    case TOKEN_T_CF32: *arg = gen_val(f, m->inst->operands[m->operand++])->at; break;
    default:
        *arg = match_int(m, token,
                         k > 0 && token == TOKEN_T_I32 && call->params[k - 1] == TOKEN_T_I32);
    }
}

static void set_text(Matching *m) {
    Emit *e = m->f->e;
    LLVMValueRef at = LLVMBuildLoad2(e->b, e->ptr, m->out, "");
    LLVMValueRef len = LLVMBuildLoad2(e->b, e->i64, emit_offset(e, m->out, 8), "");
    gen_set(m->f, m->inst->results[0], text_val(m->f, at, at, len));
}

static void set_array(Matching *m) {
    Fn *f = m->f;
    Emit *e = f->e;
    const IrValue *result = m->inst->results[0];
    LLVMValueRef dims[IR_MAX_RANK], at = LLVMBuildLoad2(e->b, e->ptr, m->out, "");
    for (uint32_t k = 0; k < result->type->rank; k++)
        dims[k] = LLVMBuildLoad2(e->b, e->i64, emit_offset(e, m->out_dims, 8 * (int64_t)k), "");
    gen_set(f, result,
            (Val){.at = at,
                  .block = at,
                  .dims = gen_dims(f, result->type, dims),
                  .depth = f->groups.len});
}

static void set_value(Fn *f, const IrValue *result, LLVMValueRef value) {
    Emit *e = f->e;
    LLVMTypeRef wanted = emit_type(e, result->type->scalar), have = LLVMTypeOf(value);
    if (result->type->scalar == IR_BOOL)
        value = LLVMBuildICmp(e->b, LLVMIntNE, value, LLVMConstNull(have), "");
    else if (wanted != have && ir_scalar_float(result->type->scalar))
        value = LLVMBuildFPCast(e->b, value, wanted, "");
    else if (wanted != have) value = LLVMBuildIntCast2(e->b, value, wanted, true, "");
    gen_set_scalar(f, result, value);
}

/* Several texts, from left to right; what lies between is let go. */
static void concat_texts(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    IrType type = inst->results[0]->type;
    Val left = text_val(f, gen_text(f->g, "", 0), emit_null(e), gen_int(e, 0));
    LLVMValueRef out = gen_alloca(f, LLVMArrayType2(e->i64, 2), NULL, 8, "text");
    for (uint32_t k = 0; k < inst->noperands; k++) {
        const Val *right = gen_val(f, inst->operands[k]);
        LLVMValueRef args[] = {f->context, left.at, left.dims[0], right->at, right->dims[0], out};
        gen_check_status(f, gen_runtime(f->g, "adl__str_concat", args, 6));
        gen_release(f, &left, type);
        LLVMValueRef at = LLVMBuildLoad2(e->b, e->ptr, out, "");
        left = text_val(f, at, at, LLVMBuildLoad2(e->b, e->i64, emit_offset(e, out, 8), ""));
    }
    gen_set(f, inst->results[0], left);
}

void gen_runtime_inst(Fn *f, const IrInst *inst) {
    char name[64] = "adl__";
    const char *given = strncmp(inst->text, "adl__", 5) == 0 ? inst->text + 5 : inst->text;
    CHECK_INTERNAL(strlen(given) + 6 <= sizeof name);
    strcpy(name + 5, given);
    const RuntimeCall *call = call_find(name);
    if (!call) UNREACHABLE("no runtime function %s", name);
    if (strcmp(given, "str_concat") == 0 && inst->noperands != 2) {
        concat_texts(f, inst);
        return;
    }
    Matching m = {.f = f, .inst = inst};
    for (; m.n < CALL_PARAMS && call->params[m.n] != TOKEN_T_VOID; m.n++)
        match_param(&m, call, m.n);
    CHECK_INTERNAL(m.operand == inst->noperands);
    LLVMValueRef value = call_build(f->g, call, m.args, m.n);
    if (call->attributes & ADL_STATUS) gen_check_status(f, value);
    if (!inst->nresults) return;
    if (m.out && m.out_dims) set_array(&m);
    else if (m.out) set_text(&m);
    else set_value(f, inst->results[0], value);
}
