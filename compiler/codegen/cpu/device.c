/* Arrays that may be on a device.  Functions that launch kernels ask before the CPU touches
   elements: each instruction of theirs that launches nothing asks once for all it reads and writes,
   loops as a whole.  Parallel code, and functions that launch nothing, never see such arrays. */
#include "codegen/cpu/device.h"

#include <string.h>

#include "runtime/layout.h"

const DeviceKernel *device_kernel(const Fn *f, const IrInst *inst) {
    return f->device ? map_getp(&f->g->device->kernels, inst) : NULL;
}

/* ---- which functions launch ---- */

bool device_launches(const Gen *g, const IrFunc *func) {
    return g->device && g->launches[func->id];
}

static bool launches_inside(const Gen *g, const IrInst *inst) {
    if (map_hasp(&g->device->kernels, inst)) return true;
    if (inst->op == IR_CALL)
        return device_launches(g, inst->func) || map_hasp(&g->device->launches, inst->func);
    /* What a tape holds may be on the device, and is asked for one by one. */
    for (uint32_t i = 0; inst->op == IR_TAPE_POP && i < inst->nresults; i++)
        if (inst->results[i]->type->kind == IR_T_ARRAY) return true;
    if (inst->op == IR_BUILD || inst->op == IR_REDUCE) return false;
    for (uint32_t r = 0; r < inst->nregions; r++)
        for (const IrInst *at = inst->regions[r]->first; at; at = at->next)
            if (launches_inside(g, at)) return true;
    return false;
}

void device_find_launching(Gen *g) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->ir->funcs.len; i++) {
            const IrFunc *func = g->ir->funcs.at[i];
            if (!func->body || g->launches[func->id] || !g->device->plan.level[func->id]) continue;
            for (const IrInst *at = func->body->first; at && !g->launches[func->id]; at = at->next)
                g->launches[func->id] = launches_inside(g, at);
            changed |= g->launches[func->id];
        }
    }
}

/* ---- asking ---- */

/* Why the runtime is asked: all elements, or one, with its address and size, are about to be read,
   or all written; one was written. */
typedef enum Reason { READ_ALL, WRITE_ALL, READ_ONE, WROTE_ONE } Reason;

/* i32 (context, block, site[, address, bytes]): 0 or an error code. */
static LLVMValueRef asking(Gen *g, Reason reason, LLVMTypeRef *type) {
    static const struct {
        const char *helper, *call;
        int32_t mask; /* of the block's word: none of it, then there is nothing to do */
    } rows[] = {{"adl.device_read", "adl__gpu_read", ADL_DEVICE_ONLY},
                {"adl.device_write", "adl__gpu_write", ADL_DEVICE_VALID},
                {"adl.device_peek", "adl__gpu_peek", ADL_DEVICE_ONLY},
                {"adl.device_poke", "adl__gpu_poke", ADL_DEVICE_VALID}};
    Emit *e = &g->e;
    LLVMTypeRef params[] = {e->ptr, e->ptr, e->ptr, e->ptr, e->i64};
    uint32_t n = reason >= READ_ONE ? 5 : 3;
    bool fresh;
    *type = LLVMFunctionType(e->i32, params, n, false);
    LLVMValueRef fn = gen_helper(g, rows[reason].helper, *type, &fresh);
    if (!fresh) return fn;
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->b), blocks[4];
    static const char *const names[] = {"", "look", "call", "done"};
    for (int i = 0; i < 4; i++) blocks[i] = LLVMAppendBasicBlockInContext(e->context, fn, names[i]);
    LLVMValueRef block = LLVMGetParam(fn, 1);
    debug_nowhere(g->debug, e->b);
    LLVMPositionBuilderAtEnd(e->b, blocks[0]);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, block, emit_null(e), ""), blocks[1],
                    blocks[3]);
    LLVMPositionBuilderAtEnd(e->b, blocks[1]);
    int64_t place = (int64_t)offsetof(AdlBlock, device) - (int64_t)sizeof(AdlBlock);
    LLVMValueRef word = LLVMBuildLoad2(e->b, e->i32, emit_offset(e, block, place), "");
    LLVMValueRef bits = LLVMBuildAnd(e->b, word, emit_int32(e, rows[reason].mask), "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, bits, emit_int32(e, 0), ""), blocks[2],
                    blocks[3]);
    LLVMPositionBuilderAtEnd(e->b, blocks[2]);
    LLVMValueRef args[5] = {LLVMGetParam(fn, 0), LLVMGetParam(fn, 2), block};
    for (uint32_t i = 3; i < n; i++) args[i] = LLVMGetParam(fn, i);
    LLVMBuildRet(e->b, gen_runtime(g, rows[reason].call, args, n));
    LLVMPositionBuilderAtEnd(e->b, blocks[3]);
    LLVMBuildRet(e->b, emit_int32(e, 0));
    LLVMPositionBuilderAtEnd(e->b, back);
    return fn;
}

/* The block whose header knows of VAL's elements; NULL: none does. */
static LLVMValueRef home_of(const Val *val) {
    LLVMValueRef home = val->home ? val->home : val->block;
    return home && !LLVMIsNull(home) ? home : NULL;
}

/* NULL: VAL's elements are on the host for sure.  ADDRESS: of one, with its size. */
static LLVMValueRef status_of(Fn *f, const Val *val, Reason reason, LLVMValueRef address,
                              int64_t bytes) {
    LLVMTypeRef type;
    LLVMValueRef home = home_of(val);
    if (!f->device || !val->at || !home) return NULL;
    LLVMValueRef fn = asking(f->g, reason, &type);
    debug_position(f->g->debug, f->e->b, f->ir, f->pos);
    LLVMValueRef args[] = {f->context, home, gen_site(f->g, f->ir, f->pos), address,
                           gen_int(f->e, bytes)};
    return LLVMBuildCall2(f->e->b, type, fn, args, address ? 5 : 3, "");
}

LLVMValueRef device_status(Fn *f, const Val *val, bool write) {
    return status_of(f, val, write ? WRITE_ALL : READ_ALL, NULL, 0);
}

void device_element(Fn *f, const Val *val, IrType type, LLVMValueRef flat, bool written) {
    if (!f->device) return;
    LLVMValueRef address = gen_element_at(f, type, val->at, flat);
    LLVMValueRef status = status_of(f, val, written ? WROTE_ONE : READ_ONE, address,
                                    (int64_t)ir_scalar_bytes(type->scalar));
    if (status) gen_check_status(f, status);
}

void device_ask(Fn *f, const Val *val, bool write) {
    LLVMValueRef status = device_status(f, val, write);
    if (status) gen_check_status(f, status);
}

void device_copy(Fn *f, IrScalar scalar, const Val *to, const Val *from, LLVMValueRef count) {
    Emit *e = f->e;
    LLVMValueRef home = home_of(from);
    if (!f->device || !home || LLVMIsNull(to->block)) {
        device_ask(f, from, false);
        gen_copy(f, scalar, to->at, from->at, count);
        return;
    }
    LLVMValueRef bytes = emit_size_mul(e, count, gen_int(e, ir_scalar_bytes(scalar)));
    LLVMValueRef args[] = {
        f->context, gen_site(f->g, f->ir, f->pos), to->at, to->block, from->at, home, bytes};
    gen_check_status(f, gen_runtime(f->g, "adl__gpu_copy", args, 7));
}

/* ---- what an instruction reads and writes ---- */

typedef struct Touched {
    Fn *f;
    const IrInst *inst;
} Touched;

static bool writes_over(const Fn *f, const IrInst *inst, const IrValue *root) {
    const MemReuse *reuse = gen_plan(f, inst)->reuse;
    for (uint32_t r = 0; reuse && r < inst->nresults; r++)
        for (uint32_t k = 0; k < reuse[r].n; k++)
            if (reuse[r].roots[k] == root) return true;
    return false;
}

/* Could something in REGION come to own VALUE, and then write to it, or be put into its memory?
   What the region yields is asked for again. */
static bool may_be_changed(const Fn *f, const IrRegion *region, const IrValue *value,
                           bool outermost) {
    const IrValue *root = f->plan->root[value->id];
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        bool yields = outermost && inst == region->last;
        for (uint32_t k = 0; k < inst->noperands && !yields; k++) {
            const IrValue *operand = ir_resolve(inst->operands[k]);
            if ((operand == value || (root && f->plan->root[operand->id] == root)) &&
                mem_consumes(f->g->plan, inst, k))
                return true;
        }
        if (root && writes_over(f, inst, root)) return true;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (may_be_changed(f, inst->regions[r], value, false)) return true;
    }
    return false;
}

/* What a tape holds, for code that does not ask. */
static void ask_for_tape(Touched *t, const Val *tape) {
    Fn *f = t->f;
    LLVMValueRef args[] = {f->context, gen_site(f->g, f->ir, f->pos), tape->at};
    if (tape->at) gen_check_status(f, gen_runtime(f->g, "adl__gpu_read_tape", args, 3));
}

static void ask_for(Touched *t, IrValue *value, bool write) {
    const Val *val = &t->f->vals[value->id];
    bool parallel = t->inst->op == IR_CALL || t->inst->op == IR_BUILD || t->inst->op == IR_REDUCE;
    if (value->type->kind == IR_T_TAPE && parallel) ask_for_tape(t, val);
    if (value->type->kind == IR_T_ARRAY || value->type->kind == IR_T_ACC)
        device_ask(t->f, val, write || value->type->kind == IR_T_ACC);
}

static void ask_captured(IrValue *value, void *data) {
    Touched *t = data;
    const IrInst *inst = t->inst;
    value = ir_resolve(value);
    if (value->type->kind == IR_T_TAPE) ask_for(t, value, false);
    if (value->type->kind != IR_T_ARRAY && value->type->kind != IR_T_ACC) return;
    bool write = writes_over(t->f, inst, t->f->plan->root[value->id]);
    for (uint32_t r = 0; r < inst->nregions && !write; r++)
        write = may_be_changed(t->f, inst->regions[r], value, true);
    ask_for(t, value, write);
}

/* The array that BUILD's only result is put into, if it is made there (sink.c). */
static void ask_for_base(Touched *t) {
    const IrValue *result = t->inst->results[0];
    for (const IrInst *user = t->inst->next; user; user = user->next) {
        bool uses = false;
        for (uint32_t k = 0; k < user->noperands; k++)
            uses |= ir_resolve(user->operands[k]) == result;
        if (!uses) continue;
        if (user->op == IR_RESHAPE) {
            result = user->results[0];
            continue;
        }
        if (user->op == IR_UPDATE || user->op == IR_ASSIGN || user->op == IR_ACC_ADD)
            ask_for(t, ir_resolve(user->operands[0]), true);
        return;
    }
}

/* Such instructions ask for the one element that they touch. */
static bool touches_one(const IrInst *inst) {
    const IrValue *x = inst->noperands ? ir_resolve(inst->operands[0]) : NULL;
    if (inst->op == IR_INDEX) return inst->noperands - 1 == x->type->rank;
    return (inst->op == IR_UPDATE || inst->op == IR_ACC_ADD) && x->type->rank &&
           inst->noperands - 2 == x->type->rank;
}

static bool touches_nothing(const IrInst *inst) {
    if (touches_one(inst)) return true;
    switch ((int)inst->op) {
    case IR_DIM:
    case IR_STOP:
    case IR_TAPE_NEW:
    case IR_TAPE_PUSH: /* asks for itself */
    case IR_TAPE_POP:
    case IR_TAPE_EMPTY: return true;
    default: return mem_is_view(inst) || (inst->op <= IR_MATH && !inst->nregions);
    }
}

bool device_before(Fn *f, const IrInst *inst) {
    Touched t = {f, inst};
    if (!f->device || (touches_nothing(inst) && inst->op != IR_CALL)) return false;
    bool launches = launches_inside(f->g, inst);
    if (device_launched(f, inst)) return false;
    for (uint32_t k = 0; k < inst->noperands; k++) {
        IrValue *value = ir_resolve(inst->operands[k]);
        /* Accumulators and arrays of a tape come to a function without a block. */
        const Val *val = &f->vals[value->id];
        bool lent = inst->op == IR_CALL && (value->type->kind == IR_T_ACC || val->home);
        if (!launches || lent) ask_for(&t, value, mem_consumes(f->g->plan, inst, k));
    }
    if (launches) return false;
    for (uint32_t r = 0; r < inst->nregions; r++) ir_captures(inst->regions[r], ask_captured, &t);
    if (inst->op == IR_BUILD && inst->nresults == 1) ask_for_base(&t);
    return true;
}

/* ---- launches ---- */

static void push(LaunchArgs *args, int kind, LLVMValueRef word, LLVMValueRef block,
                 LLVMValueRef bytes) {
    vec_push(&args->fields, gen_int(args->f->e, kind));
    vec_push(&args->fields, word);
    vec_push(&args->fields, block);
    vec_push(&args->fields, bytes);
}

void launch_pass_scalar(LaunchArgs *args, LLVMValueRef word) {
    push(args, ADL_GPU_SCALAR, word, emit_null(args->f->e), gen_int(args->f->e, 0));
}

void launch_pass_memory(LaunchArgs *args, int kind, const Val *val, IrType type) {
    Fn *f = args->f;
    LLVMValueRef bytes =
        emit_size_mul(f->e, gen_count(f, val, type), gen_int(f->e, ir_scalar_bytes(type->scalar)));
    LLVMValueRef home = home_of(val), block = home ? home : emit_null(f->e);
    push(args, kind, val->at, block, bytes);
}

int32_t launch_passed(const LaunchArgs *args) {
    return (int32_t)args->fields.len / 4;
}

LLVMValueRef launch_args(LaunchArgs *args) {
    Fn *f = args->f;
    Emit *e = f->e;
    uint32_t n = args->fields.len;
    LLVMValueRef memory = gen_alloca(f, LLVMArrayType2(e->i64, n ? n : 1), NULL, 8, "launch");
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef at = emit_offset(e, memory, 8 * (int64_t)i);
        LLVMSetAlignment(LLVMBuildStore(e->b, args->fields.at[i], at), 8);
    }
    vec_free(&args->fields);
    return memory;
}

/* An argument has a word: each lane is one. */
static void pass_lanes(LaunchArgs *args, IrScalar scalar, LLVMValueRef value) {
    Emit *e = args->f->e;
    uint32_t lanes = ir_scalar_lanes(scalar);
    value = emit_to_memory(e, scalar, emit_widened(e, value, scalar));
    for (uint32_t k = 0; k < lanes && lanes > 1; k++)
        launch_pass_scalar(args,
                           LLVMBuildExtractElement(e->b, value, emit_int32(e, (int32_t)k), ""));
    if (lanes == 1) launch_pass_scalar(args, value);
}

static void push_capture(LaunchArgs *args, const IrValue *value) {
    Fn *f = args->f;
    IrType type = value->type;
    if (type->kind == IR_T_STR || (value->def && value->def->op == IR_CONST)) return;
    const Val *val = gen_val(f, value);
    if (type->kind == IR_T_SCALAR) {
        pass_lanes(args, type->scalar, val->at);
        return;
    }
    launch_pass_memory(args, type->kind == IR_T_ACC ? ADL_GPU_UPDATE : ADL_GPU_READ, val, type);
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0) launch_pass_scalar(args, val->dims[k]);
}

LLVMValueRef device_module(Gen *g) {
    Emit *e = &g->e;
    LLVMValueRef table = LLVMGetNamedGlobal(e->module, "adl.device");
    if (table) return table;
    LLVMTypeRef words[] = {e->ptr, e->ptr, e->ptr, e->ptr, e->i64, e->i64, e->i64, e->ptr};
    table = LLVMAddGlobal(e->module, LLVMStructTypeInContext(e->context, words, 8, false),
                          "adl.device");
    LLVMSetLinkage(table, LLVMInternalLinkage);
    return table;
}

/* The extents along x, y and z. */
static void extents_of(Fn *f, const IrInst *inst, LLVMValueRef *extents) {
    uint32_t n = (uint32_t)inst->imm;
    for (int i = 0; i < 3; i++) extents[i] = gen_int(f->e, 1);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t axis = n - 1 - k < 2 ? n - 1 - k : 2;
        extents[axis] = emit_size_mul(f->e, extents[axis], gen_scalar(f, inst->operands[k]));
    }
}

/* What the runtime's call takes between the kernel's number and the arguments. */
typedef struct Asking {
    const char *call;
    LLVMValueRef words[4];
    uint32_t n;
} Asking;

static LLVMValueRef ask_runtime(Fn *f, const DeviceKernel *kernel, const Out *outs, uint32_t nouts,
                                const Asking *asking) {
    Emit *e = f->e;
    LaunchArgs args = {.f = f};
    for (uint32_t i = 0; i < kernel->ncaptures; i++) push_capture(&args, kernel->captures[i]);
    for (uint32_t r = 0; r < nouts; r++) {
        int kind = outs[r].part ? ADL_GPU_PART : outs[r].read ? ADL_GPU_UPDATE : ADL_GPU_WRITE;
        launch_pass_memory(&args, kind, &outs[r].val, outs[r].type);
        for (uint32_t k = 0; k < outs[r].nto; k++) launch_pass_scalar(&args, outs[r].to[k]);
    }
    LLVMValueRef call[10] = {f->context, gen_site(f->g, f->ir, kernel->inst->pos),
                             device_module(f->g), emit_int32(e, (int32_t)kernel->number)};
    uint32_t n = 4;
    for (uint32_t i = 0; i < asking->n; i++) call[n++] = asking->words[i];
    call[n++] = emit_int32(e, launch_passed(&args));
    call[n++] = launch_args(&args);
    return gen_runtime(f->g, asking->call, call, n);
}

static Launch open_launch(Fn *f, const DeviceKernel *kernel, const Out *outs, uint32_t nouts,
                          const Asking *asking) {
    Emit *e = f->e;
    const IrInst *inst = kernel->inst;
    Touched t = {f, inst};
    Launch launch = {.device = gen_block(f, "device"), .done = gen_block(f, "launched")};
    launch.status = ask_runtime(f, kernel, outs, nouts, asking);
    LLVMBasicBlockRef cpu = gen_block(f, "cpu");
    LLVMValueRef elsewhere =
        LLVMBuildICmp(e->b, LLVMIntEQ, launch.status, emit_int32(e, ADL_GPU_ELSEWHERE), "");
    LLVMBuildCondBr(e->b, elsewhere, cpu, launch.device);
    LLVMPositionBuilderAtEnd(e->b, cpu);
    for (uint32_t r = 0; r < nouts; r++) device_ask(f, &outs[r].val, true);
    if (inst->nregions) ir_captures(inst->regions[0], ask_captured, &t);
    for (uint32_t k = 0; k < inst->noperands && !inst->nregions; k++)
        ask_for(&t, ir_resolve(inst->operands[k]), false);
    f->device = false;
    return launch;
}

Launch launch_open(Fn *f, const DeviceKernel *kernel, const Out *outs, LLVMValueRef const *extents,
                   LLVMValueRef work) {
    Asking asking = {"adl__gpu_launch", {extents[0], extents[1], extents[2], work}, 4};
    return open_launch(f, kernel, outs, kernel->inst->nresults, &asking);
}

Launch launch_open_product(Fn *f, const DeviceKernel *kernel, const Val *out,
                           const LaunchedProduct *product) {
    Asking asking = {"adl__gpu_product", {product->how, product->m, product->n, product->k}, 4};
    Out made = {.val = *out, .type = kernel->inst->results[0]->type};
    return open_launch(f, kernel, &made, 1, &asking);
}

Launch launch_open_scan(Fn *f, const DeviceKernel *kernel, const Out *outs, uint32_t nouts,
                        LLVMValueRef trips, LLVMValueRef work) {
    Asking asking = {"adl__gpu_scan", {trips, emit_int32(f->e, nouts > 1), work}, 3};
    return open_launch(f, kernel, outs, nouts, &asking);
}

Launch launch_open_sort(Fn *f, const DeviceKernel *kernel, const Val *out, LLVMValueRef count,
                        LLVMValueRef spare) {
    Asking asking = {"adl__gpu_sort", {count, spare}, 2};
    Out made = {.val = *out, .type = kernel->inst->results[0]->type};
    return open_launch(f, kernel, &made, 1, &asking);
}

void launch_done(Fn *f, Launch *launch) {
    launch->from_cpu = LLVMGetInsertBlock(f->e->b);
    f->device = true;
    LLVMBuildBr(f->e->b, launch->done);
    LLVMPositionBuilderAtEnd(f->e->b, launch->device);
    gen_check_status(f, launch->status);
}

void launch_close(Fn *f, Launch *launch, uint32_t n, LLVMValueRef *here, LLVMValueRef *there) {
    Emit *e = f->e;
    LLVMBasicBlockRef from_device = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, launch->done);
    LLVMPositionBuilderAtEnd(e->b, launch->done);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef phi = LLVMBuildPhi(e->b, LLVMTypeOf(here[i]), "");
        LLVMAddIncoming(phi, &here[i], &launch->from_cpu, 1);
        LLVMAddIncoming(phi, &there[i], &from_device, 1);
        here[i] = phi;
    }
}

/* The strides of BUILD's indices in OUT, its one result, which lies there alone. */
static void own_strides(Fn *f, const IrInst *inst, const Val *out, LLVMValueRef *to) {
    uint32_t n = (uint32_t)inst->imm;
    LLVMValueRef stride = gen_int(f->e, 1);
    for (uint32_t k = n; k < inst->results[0]->type->rank; k++)
        stride = emit_size_mul(f->e, stride, out->dims[k]);
    to[n] = gen_int(f->e, 0);
    for (uint32_t k = n; k-- > 0;) {
        to[k] = stride;
        stride = emit_size_mul(f->e, stride, gen_scalar(f, inst->operands[k]));
    }
}

/* The same in SINK's base. */
static void sunk_strides(Fn *f, const IrInst *inst, const Sink *sink, LLVMValueRef *to) {
    Emit *e = f->e;
    uint32_t n = (uint32_t)inst->imm;
    LLVMValueRef stride = gen_int(e, 1);
    for (uint32_t k = 0; k < n; k++) to[k] = gen_int(e, 0);
    to[n] = gen_int(e, 0);
    for (uint32_t k = sink->type->rank; k-- > 0;) {
        to[n] = LLVMBuildAdd(e->b, to[n], LLVMBuildMul(e->b, sink->start[k], stride, ""), "");
        if (sink->from[k] != IR_MAX_RANK)
            to[sink->from[k]] = LLVMBuildMul(e->b, sink->step[k], stride, "");
        stride = emit_size_mul(e, stride, sink->base.dims[k]);
    }
}

/* Result R of INST as the launch sees it: in SINK's base, or OUT. */
static Out out_of(Fn *f, const IrInst *inst, uint32_t r, const Val *out, const Sink *sink) {
    IrType type = inst->results[r]->type;
    Out made = {.val = *out, .type = type};
    if (inst->nresults == 1) {
        made.nto = (uint32_t)inst->imm + 1;
        made.to = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, made.nto);
        if (sink && sink->strided) sunk_strides(f, inst, sink, made.to);
        else own_strides(f, inst, out, made.to);
    }
    if (!sink) return made;
    made.part = true;
    made.val.block = sink->base.block;
    made.val.home = sink->base.home;
    if (!sink->strided) return made;
    made.val = sink->base;
    made.type = sink->type;
    return made;
}

void launch_build(Fn *f, const DeviceKernel *kernel, const Val *outs, const Sink *sink,
                  void (*otherwise)(Fn *f, void *data), void *data) {
    const IrInst *inst = kernel->inst;
    LLVMValueRef extents[3];
    int64_t own;
    Out *all = ARENA_ARRAY(f->g->plan->arena, Out, inst->nresults + 1);
    for (uint32_t r = 0; r < inst->nresults; r++) all[r] = out_of(f, inst, r, &outs[r], sink);
    extents_of(f, inst, extents);
    Launch launch = launch_open(f, kernel, all, extents, cost_of_region(f, inst->regions[0], &own));
    otherwise(f, data);
    launch_done(f, &launch);
    launch_close(f, &launch, 0, NULL, NULL);
}

/* ---- tables ---- */

static LLVMValueRef image(Gen *g, AdlGpuKind kind, int32_t sm, const char *bytes, size_t len) {
    Emit *e = &g->e;
    LLVMValueRef data = gen_constant(
        g, LLVMConstStringInContext2(e->context, bytes, len, kind != ADL_GPU_PTX), "image");
    LLVMSetAlignment(data, 64);
    LLVMValueRef fields[] = {emit_int32(e, (int32_t)kind), emit_int32(e, sm),
                             gen_int(e, (int64_t)len), data};
    return LLVMConstStructInContext(e->context, fields, 4, false);
}

typedef VEC(LLVMValueRef) Rows;

static LLVMValueRef table(Gen *g, const Rows *rows, const char *name) {
    if (!rows->len) return emit_null(&g->e);
    LLVMTypeRef row = LLVMTypeOf(rows->at[0]);
    return gen_constant(g, LLVMConstArray2(row, rows->at, rows->len), name);
}

void device_tables(Gen *g) {
    Emit *e = &g->e;
    const DeviceCode *code = g->device;
    if (!code || !code->list.len) return;
    Rows names = {0}, checks = {0}, images = {0}, sites = {0};
    for (uint32_t i = 0; i < code->list.len; i++) {
        const DeviceKernel *kernel = code->list.at[i];
        vec_push(&names, gen_text(g, kernel->name, strlen(kernel->name)));
        int what = (kernel->checks ? ADL_GPU_CHECKS : 0) | (kernel->heap ? ADL_GPU_TAKES_HEAP : 0);
        vec_push(&checks, LLVMConstInt(e->i8, (unsigned)what, false));
    }
    vec_push(&images, image(g, ADL_GPU_PTX, 75, code->ptx.text, code->ptx.len));
    for (uint32_t i = 0; i < code->images.len; i++) {
        const DeviceImage *made = &code->images.at[i];
        vec_push(&images, image(g, ADL_GPU_CUBIN, made->sm, made->code.text, made->code.len));
    }
    for (uint32_t i = 0; i < code->sites.len; i++)
        vec_push(&sites, gen_site_value(g, code->sites.at[i].name, code->sites.at[i].pos));
    LLVMValueRef fields[] = {table(g, &images, "images"), table(g, &names, "names"),
                             table(g, &checks, "checks"), table(g, &sites, "sites"),
                             gen_int(e, images.len),      gen_int(e, checks.len),
                             gen_int(e, sites.len),       emit_null(e)};
    LLVMSetInitializer(device_module(g), LLVMConstStructInContext(e->context, fields, 8, false));
    vec_free(&names);
    vec_free(&checks);
    vec_free(&images);
    vec_free(&sites);
}
