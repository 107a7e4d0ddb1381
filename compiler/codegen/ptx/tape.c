/* Tapes: memory of the invocation, and a height in words of eight bytes.

   A tape's memory is {address, room in words} in the frame.  It begins with a few words of the
   frame and goes to the heap when they are full; it is one for each TAPE_NEW, which empties it.
   What is popped is copied, since a push may move the memory. */
#include "codegen/ptx/gen.h"

enum { FRAME_WORDS = 64, WORD = 8 };

static LLVMTypeRef memory_type(Emit *e) {
    LLVMTypeRef parts[] = {e->ptr, e->i64};
    return LLVMStructTypeInContext(e->context, parts, 2, false);
}

static LLVMValueRef part(Emit *e, LLVMValueRef memory, unsigned k) {
    return LLVMBuildStructGEP2(e->b, memory_type(e), memory, k, "");
}

/* At the start of the entry, so that the end of it finds every tape as something. */
static LLVMValueRef open_memory(Ptx *g) {
    Emit *e = &g->e;
    LLVMValueRef words = ptx_alloca(g, LLVMArrayType2(e->i64, FRAME_WORDS), "words");
    LLVMValueRef memory = ptx_alloca(g, memory_type(e), "tape");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMValueRef last = words; /* the one that was made before stands behind */
    LLVMValueRef next = LLVMGetNextInstruction(last);
    if (next) LLVMPositionBuilderBefore(e->b, next);
    else LLVMPositionBuilderAtEnd(e->b, LLVMGetEntryBasicBlock(g->entry));
    LLVMBuildStore(e->b, words, part(e, memory, 0));
    LLVMBuildStore(e->b, gen_int(e, FRAME_WORDS), part(e, memory, 1));
    LLVMPositionBuilderAtEnd(e->b, here);
    return memory;
}

void ptx_tape_new(Body *b, const IrInst *inst) {
    LLVMValueRef memory = open_memory(b->g);
    vec_push(&b->g->tapes, memory);
    b->vals[inst->results[0]->id] = (Val){.at = gen_int(&b->g->e, 0), .dims = {memory}};
}

/* Only what is larger than the frame's part has come from the heap. */
static void free_if(Ptx *g, LLVMValueRef room, LLVMValueRef address) {
    Emit *e = &g->e;
    LLVMBasicBlockRef large = ptx_block(g, ""), done = ptx_block(g, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, room, gen_int(e, FRAME_WORDS), ""), large,
                    done);
    LLVMPositionBuilderAtEnd(e->b, large);
    ptx_release(g, address);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

void ptx_tape_free(Ptx *g, LLVMValueRef tape) {
    Emit *e = &g->e;
    LLVMValueRef room = LLVMBuildLoad2(e->b, e->i64, part(e, tape, 1), "");
    free_if(g, room, LLVMBuildLoad2(e->b, e->ptr, part(e, tape, 0), ""));
}

/* Makes room for a tape that is NEXT words high, of which HEIGHT are there. */
static void grow(Ptx *g, LLVMValueRef memory, LLVMValueRef height, LLVMValueRef next) {
    Emit *e = &g->e;
    LLVMBasicBlockRef more = ptx_block(g, "grow"), done = ptx_block(g, "");
    LLVMValueRef room = LLVMBuildLoad2(e->b, e->i64, part(e, memory, 1), "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, next, room, ""), more, done);
    LLVMPositionBuilderAtEnd(e->b, more);
    LLVMValueRef twice = LLVMBuildMul(e->b, next, gen_int(e, 2), "");
    LLVMValueRef block = ptx_allocate(g, LLVMBuildMul(e->b, twice, gen_int(e, WORD), ""));
    LLVMValueRef old = LLVMBuildLoad2(e->b, e->ptr, part(e, memory, 0), "");
    ptx_copy(g, IR_I64, block, old, height);
    free_if(g, room, old);
    LLVMBuildStore(e->b, block, part(e, memory, 0));
    LLVMBuildStore(e->b, twice, part(e, memory, 1));
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

Val ptx_tape_copied(Ptx *g, const Val *tape) {
    Emit *e = &g->e;
    Val copy = {.at = tape->at, .dims = {open_memory(g)}};
    vec_push(&g->tapes, copy.dims[0]);
    grow(g, copy.dims[0], gen_int(e, 0), tape->at);
    ptx_copy(g, IR_I64, LLVMBuildLoad2(e->b, e->ptr, part(e, copy.dims[0], 0), ""),
             LLVMBuildLoad2(e->b, e->ptr, part(e, tape->dims[0], 0), ""), tape->at);
    return copy;
}

/* An array's words are its elements, then its sizes: what pops it may know fewer of them. */
static LLVMValueRef words_of(Ptx *g, LLVMValueRef count, IrScalar scalar) {
    Emit *e = &g->e;
    LLVMValueRef bytes = emit_size_mul(e, count, gen_int(e, (int64_t)ir_scalar_bytes(scalar)));
    LLVMValueRef up = emit_size_add(e, bytes, gen_int(e, WORD - 1));
    return LLVMBuildLShr(e->b, up, gen_int(e, 3), "");
}

static LLVMValueRef words_of_value(Body *b, const IrValue *value) {
    Ptx *g = b->g;
    IrType type = value->type;
    if (type->kind == IR_T_SCALAR) return words_of(g, gen_int(&g->e, 1), type->scalar);
    LLVMValueRef count = ptx_count(g, ptx_current(b, value), type);
    return emit_size_add(&g->e, words_of(g, count, type->scalar), gen_int(&g->e, type->rank));
}

static LLVMValueRef word_at(Ptx *g, const Val *tape, LLVMValueRef height) {
    Emit *e = &g->e;
    LLVMValueRef words = LLVMBuildLoad2(e->b, e->ptr, part(e, tape->dims[0], 0), "");
    return LLVMBuildInBoundsGEP2(e->b, e->i64, words, &height, 1, "");
}

static bool can_be_kept(Body *b, const IrValue *value) {
    if (value->type->kind == IR_T_SCALAR || value->type->kind == IR_T_ARRAY) return true;
    ptx_refuse(b->g, "a value that is no number or array and is kept for a reverse pass");
    return false;
}

static LLVMValueRef below(Emit *e, LLVMValueRef height, LLVMValueRef words) {
    return LLVMBuildSub(e->b, height, words, "");
}

/* Makes the last of WORDS at TO known as a whole, where SCALARs need not fill it; where there is
   none, the first one behind, which is a size that is still to come. */
static void clear_last(Ptx *g, IrScalar scalar, LLVMValueRef to, LLVMValueRef words) {
    Emit *e = &g->e;
    if (ir_scalar_bytes(scalar) % WORD == 0) return;
    LLVMValueRef none = LLVMBuildICmp(e->b, LLVMIntEQ, words, gen_int(e, 0), "");
    LLVMValueRef last = LLVMBuildSelect(e->b, none, words, below(e, words, gen_int(e, 1)), "");
    ptx_store(g, IR_I64, gen_int(e, 0), ptx_element(g, IR_I64, to, last));
}

static void push(Body *b, const Val *tape, LLVMValueRef height, const IrValue *value) {
    Ptx *g = b->g;
    IrType type = value->type;
    LLVMValueRef to = word_at(g, tape, height);
    if (type->kind == IR_T_SCALAR) {
        clear_last(g, type->scalar, to, words_of(g, gen_int(&g->e, 1), type->scalar));
        ptx_store(g, type->scalar, ptx_scalar(b, value), to);
        return;
    }
    const Val *x = ptx_current(b, value);
    LLVMValueRef count = ptx_count(g, x, type), words = words_of(g, count, type->scalar);
    clear_last(g, type->scalar, to, words);
    ptx_copy(g, type->scalar, to, x->at, count);
    to = ptx_element(g, IR_I64, to, words);
    for (uint32_t k = 0; k < type->rank; k++)
        ptx_store(g, IR_I64, x->dims[k], ptx_element(g, IR_I64, to, gen_int(&g->e, k)));
}

void ptx_tape_push(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    Val tape = *ptx_get(b, inst->operands[0]);
    LLVMValueRef next = tape.at;
    for (uint32_t k = 1; k < inst->noperands; k++) {
        const IrValue *value = ir_resolve(inst->operands[k]);
        if (!can_be_kept(b, value)) return;
        next = LLVMBuildAdd(e->b, next, words_of_value(b, value), "");
    }
    grow(b->g, tape.dims[0], tape.at, next);
    for (uint32_t k = 1; k < inst->noperands; k++) {
        const IrValue *value = ir_resolve(inst->operands[k]);
        push(b, &tape, tape.at, value);
        tape.at = LLVMBuildAdd(e->b, tape.at, words_of_value(b, value), "");
    }
    b->vals[inst->results[0]->id] = tape;
}

static Val pop_array(Ptx *g, Val *tape, IrType type) {
    Emit *e = &g->e;
    Val there = {0};
    tape->at = below(e, tape->at, gen_int(e, type->rank));
    LLVMValueRef sizes = word_at(g, tape, tape->at);
    for (uint32_t k = 0; k < type->rank; k++)
        there.dims[k] = type->dims[k] >= 0
                            ? gen_int(e, type->dims[k])
                            : ptx_load(g, IR_I64, ptx_element(g, IR_I64, sizes, gen_int(e, k)));
    tape->at = below(e, tape->at, words_of(g, ptx_count(g, &there, type), type->scalar));
    there.at = word_at(g, tape, tape->at);
    return ptx_copied(g, &there, type);
}

void ptx_tape_pop(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Val tape = *ptx_get(b, inst->operands[0]);
    for (uint32_t k = inst->nresults; k-- > 1;) {
        IrValue *result = inst->results[k];
        if (!can_be_kept(b, result)) return;
        if (result->type->kind == IR_T_ARRAY) {
            b->vals[result->id] = pop_array(g, &tape, result->type);
            continue;
        }
        IrScalar scalar = result->type->scalar;
        tape.at = below(&g->e, tape.at, words_of(g, gen_int(&g->e, 1), scalar));
        ptx_set_scalar(b, result, ptx_load(g, scalar, word_at(g, &tape, tape.at)));
    }
    b->vals[inst->results[0]->id] = tape;
}

void ptx_tape_empty(Body *b, const IrInst *inst) {
    Emit *e = &b->g->e;
    LLVMValueRef height = ptx_scalar(b, inst->operands[0]);
    ptx_set_scalar(b, inst->results[0], LLVMBuildICmp(e->b, LLVMIntEQ, height, gen_int(e, 0), ""));
}
