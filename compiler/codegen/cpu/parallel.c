/* Loops on several threads.  The loop becomes an internal function (context, begin, end, captured
   values...); for threads, a second one takes the captured values from memory and calls it.  A
   short loop calls the first one at once, so that both ways run the same code.  The pieces are cut
   by sizes and guessed work alone, never by the number of threads. */
#include "codegen/cpu/gen.h"

#include <string.h>

#include "base/fatal.h"

/* In units of the guess: loops below about 200 us stay on one thread, pieces take about 50. */
enum { WORTH_THREADS = 800000, PIECE_WORK = 200000, WORTH_OUTLINING = 24 };
/* An iteration of so much is long, however wrong the guess: see runtime/par/parallel.c. */
enum { LONG_FOR_SURE = 64 * PIECE_WORK };

/* Does anything in REGION add to an accumulator from outside of OUTER, where iterations may meet?
 */
static bool adds_outside(Fn *f, const IrRegion *region, const IrRegion *outer) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        const IrValue *acc = inst->op == IR_ACC_ADD ? ir_resolve(inst->operands[0]) : NULL;
        if (acc && ir_visible(acc, outer) && !gen_val(f, acc)->unset) return true;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (adds_outside(f, inst->regions[r], outer)) return true;
    }
    return false;
}

bool parallel_pays(Fn *f, const IrRegion *region) {
    int64_t own;
    if (f->serial || !f->g->options->threads || f->g->options->opt_level == 0) return false;
    if (adds_outside(f, region, region->owner->parent)) return false;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(f->e->b);
    /* The guess makes code; here it is only asked for its constant part. */
    LLVMBasicBlockRef aside = gen_block(f, "cost");
    LLVMPositionBuilderAtEnd(f->e->b, aside);
    cost_of_region(f, region, &own);
    LLVMPositionBuilderAtEnd(f->e->b, here);
    LLVMDeleteBasicBlock(aside);
    return own >= WORTH_OUTLINING;
}

/* ---- captured values ---- */

typedef struct Capture {
    const IrValue *value; /* NULL: an extra */
    IrType type;
    Val val;
} Capture;

typedef struct Outline {
    Fn *f;
    const IrRegion *region;
    VEC(Capture) captures;
    VEC(LLVMValueRef) parts; /* what is passed, in order */
    VEC(LLVMTypeRef) types;
} Outline;

/* Constants need no passing. */
static void pass_parts(Outline *o, Capture *c) {
    Parts parts = gen_parts(o->f->e, c->type, &c->val);
    for (unsigned i = 0; i < parts.n; i++) {
        if (LLVMIsConstant(*parts.at[i])) continue;
        vec_push(&o->parts, *parts.at[i]);
        vec_push(&o->types, parts.types[i]);
    }
}

/* Where each part stands among the captured values in memory, in bytes, and how many there are. */
static int64_t part_place(const Outline *o, uint32_t part) {
    int64_t at = 0;
    for (uint32_t i = 0; i < part; i++) {
        bool vector = LLVMGetTypeKind(o->types.at[i]) == LLVMVectorTypeKind;
        at += 8 * (vector ? (int64_t)LLVMGetVectorSize(o->types.at[i]) : 1);
    }
    return at;
}

/* Own copies of the sizes, so that they can be changed to parameters. */
static Val copy_val(Fn *f, IrType type, const Val *val) {
    uint32_t n = type->kind == IR_T_TAPE ? 3 : type->kind == IR_T_STR ? 1 : type->rank;
    Val copy = *val;
    copy.dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, n);
    for (uint32_t k = 0; k < n; k++) copy.dims[k] = val->dims[k];
    return copy;
}

static void capture(IrValue *value, void *data) {
    Outline *o = data;
    value = ir_resolve(value);
    const Val *val = gen_val(o->f, value);
    vec_push(&o->captures, ((Capture){value, value->type, copy_val(o->f, value->type, val)}));
}

/* The loop's own operands (sizes) that the body does not use. */
static void capture_operands(Outline *o) {
    const IrInst *owner = o->region->owner;
    for (uint32_t k = 0; k < owner->noperands; k++) {
        IrValue *value = ir_resolve(owner->operands[k]);
        bool known = false;
        for (uint32_t i = 0; i < o->captures.len; i++)
            known = known || o->captures.at[i].value == value;
        if (!known) capture(value, o);
    }
}

/* ---- the functions ---- */

static LLVMTypeRef piece_type(const Emit *e, const Outline *o) {
    VEC(LLVMTypeRef) types = {0};
    vec_push(&types, e->ptr);
    vec_push(&types, e->i64);
    vec_push(&types, e->i64);
    for (uint32_t i = 0; i < o->types.len; i++) vec_push(&types, o->types.at[i]);
    LLVMTypeRef type = LLVMFunctionType(e->i32, types.at, types.len, false);
    vec_free(&types);
    return type;
}

/* Elements that are read are not written to by this loop, nor by anyone. */
static void describe(Fn *f, unsigned at, const Capture *c, bool alone) {
    bool array = c->type->kind == IR_T_ARRAY;
    if (!alone || !array) return;
    gen_attribute(f->g, f->llvm, at + 1, "noalias", 0);
    if (c->value) gen_attribute(f->g, f->llvm, at + 1, "readonly", 0);
}

/* The captured values as parameters of the piece. */
static void take_captures(Fn *inner, Outline *o, bool alone) {
    unsigned at = 3;
    for (uint32_t i = 0; i < o->captures.len; i++) {
        Capture *c = &o->captures.at[i];
        Parts parts = gen_parts(inner->e, c->type, &c->val);
        for (unsigned k = 0; k < parts.n; k++) {
            if (LLVMIsConstant(*parts.at[k])) continue;
            if (k == 0) describe(inner, at, c, alone);
            *parts.at[k] = LLVMGetParam(inner->llvm, at++);
        }
        c->val.depth = 0;
        c->val.slot = false;
        if (c->value) gen_set(inner, c->value, c->val);
    }
}

static LLVMValueRef make_piece(Outline *o, LLVMTypeRef type, bool alone, PieceBody body,
                               void *data) {
    Fn *f = o->f;
    Gen *g = f->g;
    Emit *e = &g->e;
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->b);
    Piece piece = {.f = {.g = g, .e = e, .ir = f->ir, .plan = f->plan, .uses = f->uses}};
    Fn *inner = &piece.f;
    inner->serial = true;
    inner->llvm = LLVMAddFunction(e->module, "adl.piece", type);
    LLVMSetLinkage(inner->llvm, LLVMInternalLinkage);
    gen_attribute(g, inner->llvm, LLVMAttributeFunctionIndex, "nounwind", 0);
    debug_function(g->debug, inner->llvm, f->ir);
    inner->context = LLVMGetParam(inner->llvm, 0);
    piece.begin = LLVMGetParam(inner->llvm, 1);
    piece.end = LLVMGetParam(inner->llvm, 2);
    inner->vals = ARENA_ARRAY(g->plan->arena, Val, f->ir->nvalues);
    inner->dests = ARENA_ARRAY(g->plan->arena, Dest, f->ir->nvalues);
    inner->allocas = gen_block(inner, "entry");
    LLVMBasicBlockRef first = gen_block(inner, "body");
    LLVMPositionBuilderAtEnd(e->b, first);
    debug_position(g->debug, e->b, f->ir, 0);
    take_captures(inner, o, alone);
    piece.extras = ARENA_ARRAY(g->plan->arena, Val, o->captures.len);
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->captures.len; i++)
        if (!o->captures.at[i].value) piece.extras[n++] = o->captures.at[i].val;
    body(&piece, data);
    LLVMBuildRet(e->b, emit_int32(e, 0));
    LLVMPositionBuilderAtEnd(e->b, inner->allocas);
    LLVMBuildBr(e->b, first);
    vec_free(&inner->groups);
    vec_free(&inner->indices);
    vec_free(&inner->sum_buffers);
    map_free(&inner->done);
    debug_back(g->debug, f->llvm, f->ir);
    LLVMPositionBuilderAtEnd(e->b, back);
    return inner->llvm;
}

/* int32 (context, env, begin, end), as the runtime calls it: PIECE with what ENV holds. */
static LLVMValueRef make_thread_body(Outline *o, LLVMValueRef piece, LLVMTypeRef type) {
    Gen *g = o->f->g;
    Emit *e = &g->e;
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->b);
    LLVMTypeRef params[] = {e->ptr, e->ptr, e->i64, e->i64};
    LLVMValueRef fn =
        LLVMAddFunction(e->module, "adl.thread", LLVMFunctionType(e->i32, params, 4, false));
    VEC(LLVMValueRef) args = {0};
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    debug_function(g->debug, fn, o->f->ir);
    LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->context, fn, "entry"));
    debug_position(g->debug, e->b, o->f->ir, 0);
    vec_push(&args, LLVMGetParam(fn, 0));
    vec_push(&args, LLVMGetParam(fn, 2));
    vec_push(&args, LLVMGetParam(fn, 3));
    for (uint32_t i = 0; i < o->types.len; i++) {
        LLVMValueRef from = emit_offset(e, LLVMGetParam(fn, 1), part_place(o, i));
        vec_push(&args, LLVMBuildLoad2(e->b, o->types.at[i], from, ""));
        LLVMSetAlignment(args.at[args.len - 1], 8);
    }
    LLVMBuildRet(e->b, LLVMBuildCall2(e->b, type, piece, args.at, args.len, ""));
    vec_free(&args);
    debug_back(g->debug, o->f->llvm, o->f->ir);
    LLVMPositionBuilderAtEnd(e->b, back);
    return fn;
}

/* ---- the call ---- */

static LLVMValueRef at_least_one(Emit *e, LLVMValueRef work) {
    LLVMValueRef both[] = {work, gen_int(e, 1)};
    return emit_intrinsic(e, "llvm.smax", e->i64, both, 2);
}

LLVMValueRef parallel_long(Fn *f, LLVMValueRef count, LLVMValueRef work) {
    Emit *e = f->e;
    LLVMValueRef all = LLVMBuildMul(e->b, at_least_one(e, work), count, "");
    return LLVMBuildICmp(e->b, LLVMIntSGT, all, gen_int(e, WORTH_THREADS), "");
}

static LLVMValueRef call_threads(Outline *o, LLVMValueRef body, LLVMValueRef count,
                                 LLVMValueRef work) {
    Fn *f = o->f;
    Emit *e = f->e;
    LLVMTypeRef words = LLVMArrayType2(e->i64, (uint64_t)part_place(o, o->types.len) / 8 + 1);
    LLVMValueRef env = gen_alloca(f, words, NULL, 8, "captured");
    for (uint32_t i = 0; i < o->parts.len; i++)
        LLVMSetAlignment(
            LLVMBuildStore(e->b, o->parts.at[i], emit_offset(e, env, part_place(o, i))), 8);
    LLVMValueRef own = at_least_one(e, work);
    LLVMValueRef bounds[] = {LLVMBuildUDiv(e->b, gen_int(e, PIECE_WORK), own, ""), gen_int(e, 1)};
    LLVMValueRef grain = emit_intrinsic(e, "llvm.umax", e->i64, bounds, 2);
    LLVMValueRef sure = LLVMBuildICmp(e->b, LLVMIntUGT, own, gen_int(e, LONG_FOR_SURE), "");
    grain = LLVMBuildSelect(e->b, sure, gen_int(e, 0), grain, "");
    LLVMValueRef args[] = {f->context, gen_int(e, 0), count, grain, body, env};
    return gen_runtime(f->g, "adl__parallel_for", args, 6);
}

static LLVMValueRef call_piece(Outline *o, LLVMValueRef piece, LLVMTypeRef type,
                               LLVMValueRef count) {
    VEC(LLVMValueRef) args = {0};
    vec_push(&args, o->f->context);
    vec_push(&args, gen_int(o->f->e, 0));
    vec_push(&args, count);
    for (uint32_t i = 0; i < o->parts.len; i++) vec_push(&args, o->parts.at[i]);
    LLVMValueRef status = LLVMBuildCall2(o->f->e->b, type, piece, args.at, args.len, "");
    vec_free(&args);
    return status;
}

static void call_either(Outline *o, LLVMValueRef piece, LLVMTypeRef type, LLVMValueRef count,
                        LLVMValueRef work) {
    Fn *f = o->f;
    Emit *e = f->e;
    LLVMValueRef body = make_thread_body(o, piece, type);
    LLVMBasicBlockRef threads = gen_block(f, "threads"), alone = gen_block(f, "alone"),
                      done = gen_block(f, "");
    debug_position(f->g->debug, e->b, f->ir, o->region->owner->pos);
    LLVMBuildCondBr(e->b, parallel_long(f, count, work), threads, alone);
    LLVMPositionBuilderAtEnd(e->b, threads);
    LLVMValueRef a = call_threads(o, body, count, work);
    threads = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, alone);
    LLVMValueRef b = call_piece(o, piece, type, count);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef status = LLVMBuildPhi(e->b, e->i32, "");
    LLVMAddIncoming(status, &a, &threads, 1);
    LLVMAddIncoming(status, &b, &alone, 1);
    gen_check_status(f, status);
}

void parallel_run(Fn *f, const IrRegion *region, LLVMValueRef count, LLVMValueRef work,
                  const Val *extras, const IrType *types, uint32_t nextras, bool alone,
                  PieceBody body, void *data) {
    Outline o = {.f = f, .region = region};
    ir_captures(region, capture, &o);
    capture_operands(&o);
    for (uint32_t i = 0; i < nextras; i++)
        vec_push(&o.captures, ((Capture){NULL, types[i], copy_val(f, types[i], &extras[i])}));
    for (uint32_t i = 0; i < o.captures.len; i++) pass_parts(&o, &o.captures.at[i]);
    LLVMTypeRef type = piece_type(f->e, &o);
    LLVMValueRef piece = make_piece(&o, type, alone, body, data);
    debug_position(f->g->debug, f->e->b, f->ir, region->owner->pos);
    call_either(&o, piece, type, count, work);
    vec_free(&o.captures);
    vec_free(&o.parts);
    vec_free(&o.types);
}
