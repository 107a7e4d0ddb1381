/* What invocations do together: places, barriers, shared arrays. */
#include "codegen/ptx/gen.h"

#include <stdio.h>
#include <string.h>

/* ---- what knows of blocks ---- */

LLVMValueRef ptx_special(Ptx *g, const char *what, char axis) {
    char name[64];
    snprintf(name, sizeof name, "llvm.nvvm.read.ptx.sreg.%s.%c", what, axis);
    return LLVMBuildZExt(g->e.b, emit_intrinsic(&g->e, name, NULL, NULL, 0), g->e.i64, "");
}

LLVMValueRef ptx_own_block(Ptx *g, char axis) {
    LLVMValueRef first = g->first[axis - 'x'], block = ptx_special(g, "ctaid", axis);
    return first ? emit_size_add(&g->e, first, block) : block;
}

LLVMValueRef ptx_own_index(Ptx *g, char axis) {
    Emit *e = &g->e;
    LLVMValueRef before = emit_size_mul(e, ptx_own_block(g, axis), ptx_special(g, "ntid", axis));
    return emit_size_add(e, before, ptx_special(g, "tid", axis));
}

/* Which axis the first operand says. */
static char axis_of(const IrInst *inst) {
    int64_t dim = 0;
    ir_const_int(inst->operands[0], &dim);
    return "xyz"[dim];
}

/* Two barriers with nothing between them are one. */
void ptx_barrier(Ptx *g) {
    Emit *e = &g->e;
    static const char old[] = "llvm.nvvm.barrier0";
    LLVMValueRef last = LLVMGetLastInstruction(LLVMGetInsertBlock(e->b)), callee;
    callee = last && LLVMIsACallInst(last) ? LLVMGetCalledValue(last) : NULL;
    size_t len;
    if (callee && strstr(LLVMGetValueName2(callee, &len), "llvm.nvvm.barrier")) return;
    if (LLVMLookupIntrinsicID(old, strlen(old))) {
        emit_intrinsic(e, old, NULL, NULL, 0);
    } else {
        LLVMValueRef zero = emit_int32(e, 0);
        emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, &zero, 1);
    }
}

static void gen_barrier(Body *b, const IrInst *inst) {
    ptx_barrier(b->g);
    for (uint32_t k = 0; k < inst->nresults; k++)
        b->vals[inst->results[k]->id] = ptx_written(ptx_current(b, inst->operands[k]));
}

static uint64_t shared_count(IrType type) {
    uint64_t count = 1;
    for (uint32_t k = 0; k < type->rank; k++) count *= (uint64_t)type->dims[k];
    return count;
}

LLVMValueRef ptx_shared(Ptx *g, LLVMTypeRef type) {
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(g->e.module, type, "shared", 3);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetInitializer(global, LLVMGetUndef(type));
    /* Loads side by side become wide ones, for which the text comes too late to ask for this. */
    LLVMSetAlignment(global, 16);
    return global;
}

static LLVMValueRef open_shared(Body *b, IrValue *result) {
    Emit *e = &b->g->e;
    IrType type = result->type;
    LLVMTypeRef memory = LLVMArrayType2(emit_memory_type(e, type->scalar), shared_count(type));
    LLVMValueRef global = ptx_shared(b->g, memory);
    b->vals[result->id] = ptx_array(b->g, global, type, NULL, true);
    return global;
}

static void gen_shared(Body *b, const IrInst *inst) {
    open_shared(b, inst->results[0]);
}

void ptx_place_in_block(Ptx *g, LLVMValueRef *place, LLVMValueRef *count) {
    *place = gen_int(&g->e, 0);
    *count = gen_int(&g->e, 1);
    for (int k = 3; k-- > 0;) {
        LLVMValueRef size = ptx_special(g, "ntid", "xyz"[k]);
        *place = emit_size_add(&g->e, emit_size_mul(&g->e, *place, size),
                               ptx_special(g, "tid", "xyz"[k]));
        *count = emit_size_mul(&g->e, *count, size);
    }
}

/* Each invocation sets every so-manieth element. */
static void gen_zeros(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    LLVMValueRef place, step;
    ptx_place_in_block(g, &place, &step);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrScalar scalar = inst->results[r]->type->scalar;
        LLVMValueRef global = open_shared(b, inst->results[r]);
        LLVMValueRef count = gen_int(e, (int64_t)shared_count(inst->results[r]->type)), i;
        LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = ptx_block(g, "zeros"),
                          body = ptx_block(g, ""), done = ptx_block(g, "");
        LLVMBuildBr(e->b, head);
        LLVMPositionBuilderAtEnd(e->b, head);
        i = LLVMBuildPhi(e->b, e->i64, "");
        LLVMAddIncoming(i, &place, &before, 1);
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, i, count, ""), body, done);
        LLVMPositionBuilderAtEnd(e->b, body);
        ptx_store(g, scalar, emit_zero(e, scalar), ptx_element(g, scalar, global, i));
        LLVMValueRef next = emit_size_add(e, i, step);
        LLVMAddIncoming(i, &next, &body, 1);
        LLVMBuildBr(e->b, head);
        LLVMPositionBuilderAtEnd(e->b, done);
    }
    ptx_barrier(g);
}

static void gen_own_index(Body *b, const IrInst *inst) {
    LLVMValueRef first = ptx_scalar(b, inst->operands[1]);
    LLVMValueRef own = ptx_own_index(b->g, axis_of(inst));
    ptx_set_scalar(b, inst->results[0], LLVMBuildAdd(b->g->e.b, first, own, ""));
}

static void gen_own_block(Body *b, const IrInst *inst) {
    ptx_set_scalar(b, inst->results[0], ptx_own_block(b->g, axis_of(inst)));
}

void ptx_runtime(Body *b, const IrInst *inst) {
    static const struct {
        const char *name, *special;
        void (*run)(Body *, const IrInst *);
    } rows[] = {
        {"adl__device_local", "tid", NULL},
        {"adl__device_block", NULL, gen_own_block},
        {"adl__device_index", NULL, gen_own_index},
        {"adl__device_size", "ntid", NULL},
        {"adl__device_barrier", NULL, gen_barrier},
        {"adl__device_shared", NULL, gen_shared},
        {"adl__device_zeros", NULL, gen_zeros},
        {"adl__device_atomic_add", NULL, ptx_atomic_add},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(inst->text, rows[i].name) != 0) continue;
        if (rows[i].run) rows[i].run(b, inst);
        else ptx_set_scalar(b, inst->results[0], ptx_special(b->g, rows[i].special, axis_of(inst)));
        return;
    }
    /* Texts are for messages, and what stops there has none. */
    if (inst->nresults == 1 && inst->results[0]->type->kind == IR_T_STR)
        ptx_set_scalar(b, inst->results[0], emit_null(&b->g->e));
    else ptx_refuse(b->g, "a function of the runtime library (%s)", inst->text);
}
