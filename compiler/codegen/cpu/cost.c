/* A rough guess of how long code runs. */
#include "codegen/cpu/gen.h"

enum { GUESSED_TRIPS = 8, COST_DIVIDE = 12, COST_MATH = 30, COST_CALL = 200, COST_ALLOC = 400 };

static int64_t scalar_cost(const IrInst *inst) {
    switch ((int)inst->op) {
    case IR_CONST: return 0;
    case IR_DIV:
    case IR_MOD:
    case IR_REM: return COST_DIVIDE;
    case IR_MATH:
        return inst->imm == IR_MATH_SQRT                                ? COST_DIVIDE
               : inst->imm == IR_MATH_FMA || inst->imm == IR_MATH_FLOOR ? 1
                                                                        : COST_MATH;
    case IR_CALL: return COST_CALL;
    default: return 1;
    }
}

/* A size, if it can be had outside of the region. */
static LLVMValueRef size_outside(Fn *f, const IrValue *size) {
    int64_t known;
    size = ir_resolve((IrValue *)size);
    if (ir_const_int(size, &known)) return gen_int(f->e, known);
    LLVMValueRef at = f->vals[size->id].at;
    return at ? at : gen_int(f->e, GUESSED_TRIPS);
}

static LLVMValueRef trips(Fn *f, const IrInst *inst) {
    LLVMValueRef n = gen_int(f->e, 1);
    uint32_t dims = inst->op == IR_LOOP ? 1 : (uint32_t)inst->imm;
    for (uint32_t k = 0; k < dims; k++)
        n = LLVMBuildMul(f->e->b, n, size_outside(f, inst->operands[k]), "");
    return n;
}

/* Elements of a product's inner dimension, guessed. */
static LLVMValueRef inst_cost(Fn *f, const IrInst *inst, int64_t *own) {
    Emit *e = f->e;
    int64_t inner = 0;
    switch ((int)inst->op) {
    case IR_BUILD:
    case IR_REDUCE:
    case IR_LOOP: {
        LLVMValueRef body = cost_of_region(f, inst->regions[0], &inner);
        int64_t fixed = inst->op == IR_BUILD ? COST_ALLOC : GUESSED_TRIPS;
        *own += fixed + GUESSED_TRIPS * inner;
        return LLVMBuildAdd(e->b, gen_int(e, fixed), LLVMBuildMul(e->b, trips(f, inst), body, ""),
                            "");
    }
    case IR_IF:
    case IR_WITH_ACC: {
        LLVMValueRef cost = cost_of_region(f, inst->regions[0], &inner);
        *own += inner;
        return cost;
    }
    case IR_CONTRACT: *own += COST_CALL; return gen_int(e, COST_CALL);
    default: *own += scalar_cost(inst); return gen_int(e, scalar_cost(inst));
    }
}

LLVMValueRef cost_of_region(Fn *f, const IrRegion *region, int64_t *own) {
    LLVMValueRef sum = gen_int(f->e, 0);
    *own = 0;
    for (const IrInst *inst = region->first; inst->op != IR_YIELD; inst = inst->next)
        sum = LLVMBuildAdd(f->e->b, sum, inst_cost(f, inst, own), "");
    return sum;
}
