/* IF, LOOP, CALL, counted loops, leaving a function. */
#include "codegen/cpu/gen.h"

#include <llvm-c/DebugInfo.h>

#include <string.h>

#include "base/fatal.h"
#include "codegen/cpu/device.h"

/* ---- leaving ---- */

void gen_unlikely(Fn *f, LLVMValueRef branch) {
    Emit *e = f->e;
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(e->context, "branch_weights", 14),
                               LLVMValueAsMetadata(emit_int32(e, 1)),
                               LLVMValueAsMetadata(emit_int32(e, 100000))};
    LLVMSetMetadata(branch, f->g->prof_kind,
                    LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, parts, 3)));
}

void gen_leave(Fn *f, LLVMValueRef code) {
    Emit *e = f->e;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    if (!f->fail) {
        f->fail = gen_block(f, "fail");
        LLVMPositionBuilderAtEnd(e->b, f->fail);
        f->fail_code = LLVMBuildPhi(e->b, e->i32, "code");
        LLVMBuildRet(e->b, f->fail_code);
        LLVMPositionBuilderAtEnd(e->b, here);
    }
    LLVMAddIncoming(f->fail_code, &code, &here, 1);
    LLVMBuildBr(e->b, f->fail);
}

/* Leaves if STATUS is an error.  SITE: NULL, or where an error of the library is told. */
static void check_status(Fn *f, LLVMValueRef status, LLVMValueRef site) {
    Emit *e = f->e;
    LLVMValueRef bad = LLVMBuildICmp(e->b, LLVMIntNE, status, emit_int32(e, 0), "");
    LLVMBasicBlockRef leave = gen_block(f, "leave"), good = gen_block(f, "");
    gen_unlikely(f, LLVMBuildCondBr(e->b, bad, leave, good));
    LLVMPositionBuilderAtEnd(e->b, leave);
    if (site) {
        LLVMValueRef args[] = {f->context, status, site};
        status = gen_runtime(f->g, "adl__fail_called", args, 3);
    }
    gen_leave(f, status);
    LLVMPositionBuilderAtEnd(e->b, good);
}

void gen_check_status(Fn *f, LLVMValueRef status) {
    check_status(f, status, NULL);
}

/* ---- counted loops ---- */

void gen_loop_open(Fn *f, Loop *loop, const char *name) {
    Emit *e = f->e;
    loop->before = LLVMGetInsertBlock(e->b);
    loop->head = gen_block(f, name);
    LLVMBuildBr(e->b, loop->head);
    LLVMPositionBuilderAtEnd(e->b, loop->head);
    loop->i = LLVMBuildPhi(e->b, e->i64, "i");
    LLVMValueRef zero = gen_int(e, 0);
    LLVMAddIncoming(loop->i, &zero, &loop->before, 1);
}

void loop_enter(Fn *f, Loop *loop, LLVMValueRef count) {
    Emit *e = f->e;
    loop->body = gen_block(f, "loop");
    loop->done = gen_block(f, "done");
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntSLT, loop->i, count, "");
    LLVMBuildCondBr(e->b, more, loop->body, loop->done);
    LLVMPositionBuilderAtEnd(e->b, loop->body);
}

void gen_loop_close(Fn *f, Loop *loop, LLVMMetadataRef metadata) {
    Emit *e = f->e;
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMValueRef next = LLVMBuildNSWAdd(e->b, loop->i, gen_int(e, 1), "");
    LLVMSetNUW(next, true);
    LLVMAddIncoming(loop->i, &next, &latch, 1);
    LLVMValueRef back = LLVMBuildBr(e->b, loop->head);
    if (metadata) LLVMSetMetadata(back, f->g->loop_kind, LLVMMetadataAsValue(e->context, metadata));
    LLVMPositionBuilderAtEnd(e->b, loop->done);
}

void loop_phi(Loop *loop, LLVMValueRef phi, LLVMValueRef init, LLVMValueRef next,
              LLVMBasicBlockRef latch) {
    LLVMAddIncoming(phi, &init, &loop->before, 1);
    LLVMAddIncoming(phi, &next, &latch, 1);
}

static LLVMMetadataRef text_node(Emit *e, const char *text) {
    return LLVMMDStringInContext2(e->context, text, strlen(text));
}

static LLVMMetadataRef flag_node(Emit *e, const char *name) {
    LLVMMetadataRef parts[] = {text_node(e, name),
                               LLVMValueAsMetadata(LLVMConstInt(e->i1, 1, false))};
    return LLVMMDNodeInContext2(e->context, parts, 2);
}

/* A distinct node, which contains itself first. */
static LLVMMetadataRef loop_node(Emit *e, LLVMMetadataRef *parts, unsigned n) {
    LLVMMetadataRef self = LLVMTemporaryMDNode(e->context, NULL, 0);
    parts[0] = self;
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, parts, n);
    LLVMMetadataReplaceAllUsesWith(self, node);
    return node;
}

void loop_open_group(Fn *f) {
    Gen *g = f->g;
    if (!g->free_nodes) {
        compat_distinct_nodes(g->e.context, g->nodes);
        g->free_nodes = COMPAT_NODES;
    }
    vec_push(&f->groups, g->nodes[--g->free_nodes]);
    vec_push(&f->indices, NULL);
    g->used_libm = false;
}

LLVMMetadataRef loop_as_it_is(Fn *f) {
    Emit *e = f->e;
    LLVMMetadataRef disable = text_node(e, "llvm.loop.unroll.disable");
    LLVMMetadataRef width[] = {text_node(e, "llvm.loop.vectorize.width"),
                               LLVMValueAsMetadata(emit_int32(e, 1))};
    LLVMMetadataRef parts[] = {NULL, LLVMMDNodeInContext2(e->context, &disable, 1),
                               LLVMMDNodeInContext2(e->context, width, 2)};
    return loop_node(e, parts, 3);
}

LLVMMetadataRef loop_close_group(Fn *f, bool fold_tail) {
    Emit *e = f->e;
    LLVMMetadataRef accesses[] = {text_node(e, "llvm.loop.parallel_accesses"), vec_pop(&f->groups)};
    (void)vec_pop(&f->indices);
    LLVMMetadataRef parts[5] = {NULL};
    unsigned n = 1;
    parts[n++] = LLVMMDNodeInContext2(e->context, accesses, 2);
    LLVMMetadataRef progress = text_node(e, "llvm.loop.mustprogress");
    parts[n++] = LLVMMDNodeInContext2(e->context, &progress, 1);
    if (fold_tail) {
        parts[n++] = flag_node(e, "llvm.loop.vectorize.enable");
        parts[n++] = flag_node(e, "llvm.loop.vectorize.predicate.enable");
    }
    return loop_node(e, parts, n);
}

/* ---- values through phis ---- */

static void add_part(Parts *parts, LLVMValueRef *at, LLVMTypeRef type) {
    parts->at[parts->n] = at;
    parts->types[parts->n++] = type;
}

Parts gen_parts(const Emit *e, IrType type, Val *val) {
    Parts parts = {.n = 0};
    add_part(&parts, &val->at, type->kind == IR_T_SCALAR ? emit_type(e, type->scalar) : e->ptr);
    switch (type->kind) {
    case IR_T_SCALAR: break;
    case IR_T_STR:
        add_part(&parts, &val->block, e->ptr);
        add_part(&parts, &val->dims[0], e->i64);
        break;
    case IR_T_TAPE:
        for (int i = 0; i < 3; i++) add_part(&parts, &val->dims[i], e->ptr);
        break;
    case IR_T_ARRAY:
    case IR_T_ACC:
        if (type->kind == IR_T_ARRAY) add_part(&parts, &val->block, e->ptr);
        for (uint32_t k = 0; k < type->rank; k++)
            if (type->dims[k] < 0) add_part(&parts, &val->dims[k], e->i64);
        break;
    }
    return parts;
}

static Val empty_val(Fn *f, IrType type) {
    uint32_t n = type->kind == IR_T_TAPE ? 3 : type->kind == IR_T_STR ? 1 : type->rank;
    Val val = {.block = emit_null(f->e), .depth = f->groups.len};
    val.dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, n);
    for (uint32_t k = 0; type->kind == IR_T_ARRAY && k < n; k++)
        if (type->dims[k] >= 0) val.dims[k] = gen_int(f->e, type->dims[k]);
    return val;
}

static Val val_phis(Fn *f, IrType type) {
    Val val = empty_val(f, type);
    Parts parts = gen_parts(f->e, type, &val);
    for (unsigned i = 0; i < parts.n; i++) *parts.at[i] = LLVMBuildPhi(f->e->b, parts.types[i], "");
    return val;
}

static void add_incoming(const Emit *e, IrType type, Val *phis, Val *from,
                         LLVMBasicBlockRef block) {
    Parts to = gen_parts(e, type, phis), source = gen_parts(e, type, from);
    for (unsigned i = 0; i < to.n; i++) LLVMAddIncoming(*to.at[i], source.at[i], &block, 1);
}

/* ---- IF ---- */

static void yield_vals(Fn *f, const IrInst *inst, const IrInst *yield, Val *vals) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        vals[i] = gen_hand_over(f, yield, i, inst->results[i]->type);
}

/* A small result lies where both sides have it already, handed over, or in a slot that both copy
   to. */
static LLVMValueRef common_place(Fn *f, const IrInst *inst, uint32_t i, const Val *a,
                                 const Val *b) {
    const Dest *dest = &f->dests[inst->results[i]->id];
    bool handed_over = gen_plan(f, inst->regions[0]->last)->take[i] &&
                       gen_plan(f, inst->regions[1]->last)->take[i];
    if (a->at == b->at && ((a->slot && handed_over) || a->at == dest->at)) return a->at;
    return dest->at ? dest->at : gen_slot(f, inst->results[i]->type).at;
}

static void move_small(Fn *f, const IrInst *yield, uint32_t i, const Val *val, LLVMValueRef to) {
    if (val->at != to) gen_hand_into(f, yield, i, to);
}

static void want_yields(Fn *f, const IrInst *inst, const IrRegion *region) {
    for (uint32_t i = 0; i < inst->nresults; i++)
        gen_want(f, region->last, i, f->dests[inst->results[i]->id]);
}

void gen_if(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    uint32_t n = inst->nresults;
    Val *vals[2];
    const IrInst *yields[2];
    LLVMBasicBlockRef starts[2] = {gen_block(f, "then"), gen_block(f, "else")}, ends[2];
    LLVMBuildCondBr(e->b, gen_scalar(f, inst->operands[0]), starts[0], starts[1]);
    for (int s = 0; s < 2; s++) {
        LLVMPositionBuilderAtEnd(e->b, starts[s]);
        want_yields(f, inst, inst->regions[s]);
        yields[s] = gen_region(f, inst->regions[s]);
        vals[s] = ARENA_ARRAY(f->g->plan->arena, Val, n);
        yield_vals(f, inst, yields[s], vals[s]);
        ends[s] = LLVMGetInsertBlock(e->b);
    }
    Val *results = ARENA_ARRAY(f->g->plan->arena, Val, n);
    for (uint32_t i = 0; i < n; i++) {
        IrType type = inst->results[i]->type;
        if (!mem_is_small(type)) continue;
        const Dest *dest = &f->dests[inst->results[i]->id];
        results[i] = empty_val(f, type);
        results[i].at = common_place(f, inst, i, &vals[0][i], &vals[1][i]);
        results[i].slot = results[i].at != dest->at;
        if (!results[i].slot) results[i].depth = dest->depth;
    }
    for (int s = 0; s < 2; s++) {
        LLVMPositionBuilderAtEnd(e->b, ends[s]);
        for (uint32_t i = 0; i < n; i++)
            if (mem_is_small(inst->results[i]->type))
                move_small(f, yields[s], i, &vals[s][i], results[i].at);
        gen_dead(f, yields[s]);
        ends[s] = LLVMGetInsertBlock(e->b);
    }
    LLVMBasicBlockRef done = gen_block(f, "endif");
    for (int s = 0; s < 2; s++) {
        LLVMPositionBuilderAtEnd(e->b, ends[s]);
        LLVMBuildBr(e->b, done);
    }
    LLVMPositionBuilderAtEnd(e->b, done);
    for (uint32_t i = 0; i < n; i++) {
        IrType type = inst->results[i]->type;
        const Dest *dest = &f->dests[inst->results[i]->id];
        bool in_place = dest->at && vals[0][i].at == dest->at && vals[1][i].at == dest->at;
        if (!mem_is_small(type)) {
            results[i] = in_place ? vals[0][i] : val_phis(f, type);
            for (int s = 0; s < 2 && !in_place; s++)
                add_incoming(e, type, &results[i], &vals[s][i], ends[s]);
        }
        gen_set(f, inst->results[i], results[i]);
    }
}

/* ---- LOOP ---- */

typedef struct Carried {
    Val init, phi;
    LLVMValueRef slot; /* of small ones */
} Carried;

static void start_carried(Fn *f, const IrInst *inst, uint32_t i, Carried *c) {
    IrType type = inst->results[i]->type;
    if (mem_is_small(type)) {
        c->phi = gen_slot(f, type);
        gen_hand_into(f, inst, 1 + i, c->phi.at);
        return;
    }
    const MemInst *plan = gen_plan(f, inst);
    const IrValue *value = ir_resolve(inst->operands[1 + i]);
    if (plan->own[1 + i] && !mem_is_small(value->type) && !f->plan->on_tape[value->id]) {
        /* Nobody else's from now on: without a second reference that would hinder it. */
        c->init = *gen_val(f, value);
        if (plan->take[1 + i]) {
            c->init = gen_own(f, &c->init, type);
        } else {
            Val copy = gen_heap_array(f, type, c->init.dims);
            device_copy(f, type->scalar, &copy, &c->init, gen_count(f, &copy, type));
            c->init = copy;
        }
        c->init.dims = gen_dims(f, type, c->init.dims);
        return;
    }
    c->init = gen_hand_over(f, inst, 1 + i, type);
}

/* Small carried values are copied to their slots; those that lie in a slot of this loop already go
   through a third place first. */
static void next_small(Fn *f, const IrInst *inst, const IrInst *yield, uint32_t skip,
                       Carried *carried) {
    LLVMValueRef *from = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, inst->nresults);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        IrType type = inst->results[i]->type;
        if (!mem_is_small(type)) continue;
        const IrValue *value = ir_resolve(yield->operands[skip + i]);
        const IrValue *root = f->plan->root[value->id];
        if (gen_val(f, value)->at == carried[i].phi.at || root->region != inst->regions[0])
            continue;
        from[i] = gen_slot(f, type).at;
        gen_hand_into(f, yield, skip + i, from[i]);
    }
    for (uint32_t i = 0; i < inst->nresults; i++) {
        IrType type = inst->results[i]->type;
        if (!mem_is_small(type)) continue;
        if (from[i])
            gen_copy(f, type->scalar, carried[i].phi.at, from[i],
                     gen_count(f, &carried[i].phi, type));
        else if (gen_val(f, yield->operands[skip + i])->at != carried[i].phi.at)
            gen_hand_into(f, yield, skip + i, carried[i].phi.at);
    }
}

/* The loop itself, from INIT, which gets what comes out. */
static void loop_from(Fn *f, const IrInst *inst, Carried *carried) {
    Emit *e = f->e;
    const IrRegion *body = inst->regions[0];
    uint32_t n = inst->nresults, skip = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    Val *next = ARENA_ARRAY(f->g->plan->arena, Val, n);
    Loop loop;
    LLVMValueRef count = gen_scalar(f, inst->operands[0]);
    gen_loop_open(f, &loop, "for");
    gen_set_scalar(f, body->params[0], loop.i);
    for (uint32_t i = 0; i < n; i++) {
        IrType type = inst->results[i]->type;
        if (!mem_is_small(type)) {
            carried[i].phi = val_phis(f, type);
            add_incoming(e, type, &carried[i].phi, &carried[i].init, loop.before);
        }
        gen_set(f, body->params[1 + i], carried[i].phi);
    }
    loop_enter(f, &loop, count);
    const IrInst *yield = gen_region(f, body);
    next_small(f, inst, yield, skip, carried);
    for (uint32_t i = 0; i < n; i++)
        next[i] = gen_hand_over(f, yield, skip + i, inst->results[i]->type);
    gen_dead(f, yield);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b), stop = latch;
    if (skip) {
        LLVMBasicBlockRef on = gen_block(f, "next");
        LLVMBuildCondBr(e->b, gen_scalar(f, yield->operands[0]), on, loop.done);
        LLVMPositionBuilderAtEnd(e->b, on);
        latch = on;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!mem_is_small(inst->results[i]->type))
            add_incoming(e, inst->results[i]->type, &carried[i].phi, &next[i], latch);
    gen_loop_close(f, &loop, NULL);
    for (uint32_t i = 0; i < n; i++) {
        IrType type = inst->results[i]->type;
        carried[i].init = carried[i].phi;
        if (skip && !mem_is_small(type)) {
            carried[i].init = val_phis(f, type);
            add_incoming(e, type, &carried[i].init, &carried[i].phi, loop.head);
            add_incoming(e, type, &carried[i].init, &next[i], stop);
        }
    }
}

/* None of what a scan carries is small. */
static void loop_otherwise(Fn *f, const IrInst *inst, Val *init) {
    Carried *carried = ARENA_ARRAY(f->g->plan->arena, Carried, inst->nresults);
    for (uint32_t i = 0; i < inst->nresults; i++) carried[i].init = init[i];
    loop_from(f, inst, carried);
    for (uint32_t i = 0; i < inst->nresults; i++) init[i] = carried[i].init;
}

static void gen_scan(Fn *f, const IrInst *inst, const DeviceKernel *kernel) {
    Val *init = ARENA_ARRAY(f->g->plan->arena, Val, inst->nresults);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        Carried c = {0};
        start_carried(f, inst, i, &c);
        init[i] = c.init;
    }
    scan_on_device(f, kernel, init, loop_otherwise);
    for (uint32_t i = 0; i < inst->nresults; i++) gen_set(f, inst->results[i], init[i]);
}

void gen_loop(Fn *f, const IrInst *inst) {
    const DeviceKernel *kernel = device_kernel(f, inst);
    Carried *carried = ARENA_ARRAY(f->g->plan->arena, Carried, inst->nresults);
    if (kernel) {
        gen_scan(f, inst, kernel);
        return;
    }
    for (uint32_t i = 0; i < inst->nresults; i++) start_carried(f, inst, i, &carried[i]);
    loop_from(f, inst, carried);
    for (uint32_t i = 0; i < inst->nresults; i++) gen_set(f, inst->results[i], carried[i].init);
}

/* ---- CALL ---- */

typedef VEC(LLVMValueRef) Args;

static void push_open_dims(IrType type, const Val *val, Args *args) {
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0) vec_push(args, val->dims[k]);
}

static void push_arg(IrType type, const Val *val, Args *args) {
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

/* Memory for result I of CALL. */
static LLVMValueRef result_memory(Fn *f, const IrInst *call, uint32_t i) {
    IrType type = call->func->results[i];
    const Emit *e = f->e;
    uint32_t words = type->kind == IR_T_TAPE ? 4 : type->kind == IR_T_STR ? 3 : 2;
    if (type->kind == IR_T_SCALAR)
        return gen_alloca(f, emit_memory_type(e, type->scalar), NULL, ir_scalar_align(type->scalar),
                          "result");
    if (mem_is_small(type)) {
        const Dest *dest = &f->dests[call->results[i]->id];
        return dest->at ? dest->at : gen_slot(f, type).at;
    }
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0) words++;
    return gen_alloca(f, LLVMArrayType2(e->i64, words), NULL, 8, "result");
}

static LLVMValueRef load_word(Fn *f, LLVMTypeRef type, LLVMValueRef from, uint32_t word) {
    LLVMValueRef load =
        LLVMBuildLoad2(f->e->b, type, emit_offset(f->e, from, 8 * (int64_t)word), "");
    LLVMSetAlignment(load, 8);
    return load;
}

Val gen_load_result(Fn *f, IrType type, LLVMValueRef from) {
    Emit *e = f->e;
    Val val = empty_val(f, type);
    uint32_t word = 2;
    if (type->kind == IR_T_SCALAR) {
        LLVMValueRef load;
        val.at = emit_load(e, type->scalar, from, &load);
        return val;
    }
    if (mem_is_small(type)) {
        val.at = from;
        return val;
    }
    val.at = load_word(f, e->ptr, from, 0);
    if (type->kind == IR_T_TAPE) {
        for (uint32_t k = 0; k < 3; k++) val.dims[k] = load_word(f, e->ptr, from, 1 + k);
        return val;
    }
    val.block = load_word(f, e->ptr, from, 1);
    if (type->kind == IR_T_STR) val.dims[0] = load_word(f, e->i64, from, word);
    for (uint32_t k = 0; type->kind == IR_T_ARRAY && k < type->rank; k++)
        if (type->dims[k] < 0) val.dims[k] = load_word(f, e->i64, from, word++);
    return val;
}

static void call_extern(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    const IrFunc *func = inst->func;
    Args args = {0};
    uint32_t first = 0;
    for (uint32_t k = 0; k < func->nparams; k++) {
        IrType type = func->params[k];
        LLVMValueRef arg = gen_val(f, inst->operands[k])->at;
        vec_push(&args, type->kind == IR_T_SCALAR ? emit_to_memory(e, type->scalar, arg) : arg);
    }
    if (func->nresults && func->results[0]->kind == IR_T_SCALAR) first = 1;
    /* Array results are the `mut` parameters, in order, which stand last among those of their type:
       the call writes to copies of them. */
    for (uint32_t i = func->nresults, k = func->nparams; i-- > first;) {
        do CHECK_INTERNAL(k-- > 0);
        while (!ir_compatible(func->params[k], func->results[i]));
        const IrValue *from = ir_resolve(inst->operands[k]);
        const Val *source = gen_val(f, from);
        Val copy = gen_new_array(f, inst->results[i], source->dims);
        gen_copy(f, from->type->scalar, copy.at, source->at, gen_count(f, source, from->type));
        gen_set(f, inst->results[i], copy);
        args.at[k] = copy.at;
    }
    LLVMValueRef result = LLVMBuildCall2(e->b, f->g->func_types[func->id], f->g->funcs[func->id],
                                         args.at, args.len, "");
    if (first)
        gen_set_scalar(f, inst->results[0], emit_from_memory(e, func->results[0]->scalar, result));
    vec_free(&args);
}

void call_open(Fn *f, const IrInst *call, Val *args, LLVMValueRef *memory) {
    const IrFunc *func = call->func;
    const bool *owned = f->g->plan->funcs[func->id].owned_param;
    for (uint32_t k = 0; k < func->nparams; k++)
        args[k] =
            owned[k] ? gen_hand_over(f, call, k, func->params[k]) : *gen_val(f, call->operands[k]);
    for (uint32_t i = 0; i < func->nresults; i++) {
        memory[i] = result_memory(f, call, i);
        gen_no_place(f, func, i, memory[i]);
    }
}

void call_make(Fn *f, const IrInst *call, const Val *vals, LLVMValueRef const *memory) {
    const IrFunc *func = call->func;
    Args args = {0};
    vec_push(&args, f->context);
    for (uint32_t k = 0; k < func->nparams; k++) push_arg(func->params[k], &vals[k], &args);
    for (uint32_t i = 0; i < func->nresults; i++) vec_push(&args, memory[i]);
    bool enters = (func->flags & IR_FUNC_LIBRARY) && !(f->ir->flags & IR_FUNC_LIBRARY);
    LLVMValueRef status = LLVMBuildCall2(f->e->b, f->g->func_types[func->id], f->g->funcs[func->id],
                                         args.at, args.len, "");
    check_status(f, status, enters ? gen_site(f->g, f->ir, call->pos) : NULL);
    vec_free(&args);
}

void call_close(Fn *f, const IrInst *call, LLVMValueRef const *memory) {
    const IrFunc *func = call->func;
    for (uint32_t i = 0; i < func->nresults; i++) {
        Val val = gen_load_result(f, func->results[i], memory[i]);
        const Dest *dest = &f->dests[call->results[i]->id];
        if (mem_is_small(func->results[i])) {
            val.slot = val.at != dest->at;
            if (!val.slot) val.depth = dest->depth;
        }
        gen_set(f, call->results[i], val);
    }
}

void gen_call(Fn *f, const IrInst *inst) {
    const IrFunc *func = inst->func;
    if (func->flags & IR_FUNC_EXTERN) {
        if (func->flags & IR_FUNC_OPEN) gen_call_open(f, inst);
        else call_extern(f, inst);
        return;
    }
    if (!f->g->funcs[func->id]) UNREACHABLE("a call of %s, which has no body", func->name);
    Val *args = ARENA_ARRAY(f->g->plan->arena, Val, func->nparams + 1);
    LLVMValueRef *memory = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, func->nresults + 1);
    const DeviceKernel *kernel = device_launched(f, inst);
    call_open(f, inst, args, memory);
    if (kernel) launch_call(f, inst, kernel, args, memory);
    else call_make(f, inst, args, memory);
    call_close(f, inst, memory);
}
