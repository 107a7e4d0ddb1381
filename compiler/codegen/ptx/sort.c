/* Entries of sorts: Batcher's bitonic network in the form all of whose comparators put the smaller
   value at the lower place (Knuth, The Art of Computer Programming, vol. 3, 5.3.4), so that what
   stands behind the last element can be thought infinite.  The runtime launches an entry for each
   layer: comparators join places that differ by the bits of a mask.  What is sorted are indices; by
   value, then by index, they have one order, which is the stable one. */
#include "codegen/ptx/entry.h"

typedef struct Sort {
    Ptx *g;
    LLVMValueRef keys, places;
    IrScalar scalar;
} Sort;

static LLVMValueRef key_of(const Sort *s, LLVMValueRef index) {
    return ptx_load(s->g, s->scalar, ptx_element(s->g, s->scalar, s->keys, index));
}

/* The comparator at the places AT and WITH. */
static void compare(const Sort *s, LLVMValueRef at, LLVMValueRef with) {
    Ptx *g = s->g;
    Emit *e = &g->e;
    LLVMBasicBlockRef swap = ptx_block(g, "swap"), done = ptx_block(g, "");
    LLVMValueRef lower = ptx_element(g, IR_I64, s->places, at),
                 upper = ptx_element(g, IR_I64, s->places, with);
    LLVMValueRef a = ptx_load(g, IR_I64, lower), b = ptx_load(g, IR_I64, upper);
    LLVMValueRef x = key_of(s, a), y = key_of(s, b);
    LLVMValueRef behind = ptx_is_behind(e, s->scalar, x, y);
    LLVMValueRef later = LLVMBuildICmp(e->b, LLVMIntSGT, a, b, "");
    LLVMValueRef equal = LLVMBuildNot(e->b, ptx_is_behind(e, s->scalar, y, x), "");
    behind = LLVMBuildOr(e->b, behind, LLVMBuildAnd(e->b, equal, later, ""), "");
    LLVMBuildCondBr(e->b, behind, swap, done);
    LLVMPositionBuilderAtEnd(e->b, swap);
    ptx_store(g, IR_I64, b, lower);
    ptx_store(g, IR_I64, a, upper);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

/* Without a mask each place gets its own index. */
void entry_sort(Entry *x) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    const IrValue *keys = ir_resolve(x->kernel->inst->operands[0]);
    Sort s = {g, x->vals[keys->id].at, x->outs[0], keys->type->scalar};
    LLVMValueRef mask = x->extents[1], count = x->extents[0];
    Axis axis;
    if (ptx_is_half(e, s.scalar)) ptx_refuse(g, "sorting half floats");
    if (*g->error) return;
    axis_open(g, &axis, 'x', count);
    LLVMBasicBlockRef begin = ptx_block(g, "begin"), step = ptx_block(g, "step"),
                      meet = ptx_block(g, "compare"), done = ptx_block(g, "");
    LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, mask, gen_int(e, 0), "");
    LLVMBuildCondBr(e->b, first, begin, step);
    LLVMPositionBuilderAtEnd(e->b, begin);
    ptx_store(g, IR_I64, axis.i, ptx_element(g, IR_I64, s.places, axis.i));
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, step);
    LLVMValueRef with = LLVMBuildXor(e->b, axis.i, mask, "");
    LLVMValueRef upper = LLVMBuildICmp(e->b, LLVMIntSGT, with, axis.i, "");
    LLVMValueRef there = LLVMBuildICmp(e->b, LLVMIntSLT, with, count, "");
    LLVMBuildCondBr(e->b, LLVMBuildAnd(e->b, upper, there, ""), meet, done);
    LLVMPositionBuilderAtEnd(e->b, meet);
    compare(&s, axis.i, with);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    axis_close(g, &axis);
}
