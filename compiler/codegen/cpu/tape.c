/* Tapes.  A tape value is its storage and a height, as a place in a chunk: cur, end, chunk. Writing
   and reading are a few instructions on these; the tape's own fields are brought up to date where
   the runtime is called and where a tape leaves the program.

   An entry's scalars stand together, 8 bytes each (of lanes: what they need, in eights), and of
   each array its sizes and an address.  Where the tape holds the array's block, that is the address
   of the elements; else it is NULL, and the elements stand before, in order, so that the reader,
   coming from above, knows the sizes first.
   Arrays read from a tape are views of its memory, or of what it holds.  A tape on a tape is held
   by it. The last word of a typed entry tells the runtime what it holds (see adl__tape_sum).  In
   modules with device code an address has its highest bit set where it is that of a block, whose
   header knows more. */
#include "codegen/cpu/device.h"

#include "runtime/layout.h"

enum { CUR, END, CHUNK };

/* From so many bytes on a tape would rather hold an array than copy it. */
enum { HOLD_FROM = 1024 };

static Val tape_val(Fn *f, LLVMValueRef tape, LLVMValueRef cur, LLVMValueRef end,
                    LLVMValueRef chunk) {
    Val val = {.at = tape, .block = emit_null(f->e)};
    val.dims = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, 3);
    val.dims[CUR] = cur;
    val.dims[END] = end;
    val.dims[CHUNK] = chunk;
    return val;
}

static LLVMValueRef load_field(Fn *f, LLVMValueRef from, size_t offset) {
    LLVMValueRef at = emit_offset(f->e, from, (int64_t)offset);
    LLVMValueRef load = LLVMBuildLoad2(f->e->b, f->e->ptr, at, "");
    LLVMSetAlignment(load, 8);
    return load;
}

static void store_field(Fn *f, LLVMValueRef to, size_t offset, LLVMValueRef value) {
    LLVMSetAlignment(LLVMBuildStore(f->e->b, value, emit_offset(f->e, to, (int64_t)offset)), 8);
}

void gen_tape_flush(Fn *f, const Val *tape) {
    store_field(f, tape->at, offsetof(AdlTape, cur), tape->dims[CUR]);
    store_field(f, tape->at, offsetof(AdlTape, end), tape->dims[END]);
    store_field(f, tape->at, offsetof(AdlTape, chunk), tape->dims[CHUNK]);
}

Val gen_tape_fetch(Fn *f, LLVMValueRef tape) {
    return tape_val(f, tape, load_field(f, tape, offsetof(AdlTape, cur)),
                    load_field(f, tape, offsetof(AdlTape, end)),
                    load_field(f, tape, offsetof(AdlTape, chunk)));
}

void gen_tape_new(Fn *f, const IrInst *inst) {
    LLVMValueRef args[] = {f->context, gen_int(f->e, 0)}, none = emit_null(f->e);
    LLVMValueRef tape = gen_runtime(f->g, "adl__tape_new", args, 2);
    gen_check_memory(f, tape);
    gen_set(f, inst->results[0], tape_val(f, tape, none, none, none));
}

static LLVMValueRef as_int(Fn *f, LLVMValueRef p) {
    return LLVMBuildPtrToInt(f->e->b, p, f->e->i64, "");
}

/* A tape gets its first chunk when something is pushed; where all was popped, it is at the
   beginning of that. */
void gen_tape_empty(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    const Val *tape = gen_val(f, inst->operands[0]);
    LLVMValueRef cur = tape->dims[CUR], chunk = tape->dims[CHUNK], null = emit_null(e);
    LLVMValueRef begin =
        LLVMBuildAdd(e->b, as_int(f, chunk), gen_int(e, (int64_t)sizeof(AdlChunk)), "");
    LLVMValueRef fresh = LLVMBuildICmp(e->b, LLVMIntEQ, cur, null, "");
    LLVMValueRef below = LLVMBuildICmp(e->b, LLVMIntEQ, as_int(f, cur), begin, "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), look = gen_block(f, "empty"),
                      done = gen_block(f, "");
    LLVMBuildCondBr(e->b, below, look, done);
    LLVMPositionBuilderAtEnd(e->b, look);
    LLVMValueRef first =
        LLVMBuildICmp(e->b, LLVMIntEQ, load_field(f, chunk, offsetof(AdlChunk, prev)), null, "");
    look = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef phi = LLVMBuildPhi(e->b, e->i1, ""), values[] = {fresh, first};
    LLVMBasicBlockRef from[] = {before, look};
    LLVMAddIncoming(phi, values, from, 2);
    gen_set_scalar(f, inst->results[0], phi);
}

void gen_tape_sum(Fn *f, const IrInst *inst) {
    const Val *x = gen_val(f, inst->operands[0]), *y = gen_val(f, inst->operands[1]);
    LLVMValueRef args[] = {f->context, x->dims[CUR], x->dims[CHUNK], y->dims[CUR], y->dims[CHUNK]};
    LLVMValueRef sum = gen_runtime(f->g, "adl__tape_sum", args, 5);
    gen_check_memory(f, sum);
    gen_set(f, inst->results[0], gen_tape_fetch(f, sum));
}

/* What a typed entry with N values of these types ends with. */
static LLVMValueRef types_of(Fn *f, uint32_t n, IrValue *const *values) {
    char *text = ARENA_ARRAY(f->g->plan->arena, char, 3 * n + 1);
    for (uint32_t i = 0; i < n; i++) {
        IrType type = ir_resolve(values[i])->type;
        bool is_tape = type->kind == IR_T_TAPE;
        char kind = ir_scalar_base(type->scalar) == IR_F32 ? ADL_TAPE_F32 : ADL_TAPE_F64;
        text[3 * i] = is_tape ? ADL_TAPE_TAPE : kind;
        text[3 * i + 1] = is_tape ? 1 : (char)ir_scalar_lanes(type->scalar);
        text[3 * i + 2] = (char)(1 + (type->kind == IR_T_ARRAY ? type->rank : 0));
    }
    return gen_text(f->g, text, 3 * n);
}

/* ---- writing ---- */

/* Room for BYTES (a multiple of 8): its address; *TAPE is the tape above it. */
static LLVMValueRef reserve(Fn *f, Val *tape, LLVMValueRef bytes) {
    Emit *e = f->e;
    LLVMValueRef cur = tape->dims[CUR], end = tape->dims[END], chunk = tape->dims[CHUNK];
    LLVMValueRef room = LLVMBuildSub(e->b, as_int(f, end), as_int(f, cur), "");
    LLVMBasicBlockRef slow = gen_block(f, "push.slow"), done = gen_block(f, "push");
    LLVMValueRef full = LLVMBuildICmp(e->b, LLVMIntSLT, room, bytes, "");
    LLVMValueRef above = LLVMBuildGEP2(e->b, e->i8, cur, &bytes, 1, "");
    LLVMBasicBlockRef fast = LLVMGetInsertBlock(e->b);
    gen_unlikely(f, LLVMBuildCondBr(e->b, full, slow, done));
    LLVMPositionBuilderAtEnd(e->b, slow);
    gen_tape_flush(f, tape);
    LLVMValueRef args[] = {f->context, tape->at, bytes};
    LLVMValueRef entry = gen_runtime(f->g, "adl__tape_push_slow", args, 3);
    gen_check_memory(f, entry);
    Val fetched = gen_tape_fetch(f, tape->at);
    LLVMBasicBlockRef from[] = {fast, LLVMGetInsertBlock(e->b)};
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef ins[][2] = {{cur, entry},
                             {above, fetched.dims[CUR]},
                             {end, fetched.dims[END]},
                             {chunk, fetched.dims[CHUNK]}};
    LLVMValueRef phis[4];
    for (int i = 0; i < 4; i++) {
        phis[i] = LLVMBuildPhi(e->b, e->ptr, "");
        LLVMAddIncoming(phis[i], ins[i], from, 2);
    }
    *tape = tape_val(f, tape->at, phis[1], phis[2], phis[3]);
    return phis[0];
}

static LLVMValueRef round_up(Fn *f, LLVMValueRef bytes) {
    Emit *e = f->e;
    return LLVMBuildAnd(e->b, emit_size_add(e, bytes, gen_int(e, 7)), gen_int(e, -8), "");
}

static LLVMValueRef array_bytes(Fn *f, const Val *val, IrType type) {
    LLVMValueRef count = gen_count(f, val, type);
    return round_up(f, emit_size_mul(f->e, count, gen_int(f->e, ir_scalar_bytes(type->scalar))));
}

/* Words of the fixed part of an entry with values of these types.  All sizes of an array are there,
   also those that its type knows: the type that a value is pushed with may know more than the one
   that it is popped with. */
static uint32_t fixed_words(IrType type) {
    if (type->kind == IR_T_ARRAY) return type->rank + 1;
    if (type->kind == IR_T_TAPE) return ADL_TAPE_WORDS;
    return type->kind == IR_T_SCALAR ? (ir_scalar_bytes(type->scalar) + 7) / 8 : 1;
}

static void write_word(Fn *f, LLVMValueRef entry, uint32_t word, LLVMValueRef value) {
    LLVMSetAlignment(LLVMBuildStore(f->e->b, value, emit_offset(f->e, entry, 8 * (int64_t)word)),
                     8);
}

static uint32_t write_fixed(Fn *f, LLVMValueRef entry, uint32_t word, const IrValue *value,
                            LLVMValueRef address) {
    IrType type = value->type;
    const Val *val = gen_val(f, value);
    if (type->kind == IR_T_SCALAR) {
        write_word(f, entry, word, emit_to_memory(f->e, type->scalar, val->at));
        word += fixed_words(type);
    }
    for (uint32_t k = 0; type->kind == IR_T_ARRAY && k < type->rank; k++)
        write_word(f, entry, word++, val->dims[k]);
    if (type->kind == IR_T_ARRAY) write_word(f, entry, word++, address);
    if (type->kind == IR_T_TAPE) {
        write_word(f, entry, word++, val->at);
        for (uint32_t k = 0; k < 3; k++) write_word(f, entry, word++, val->dims[k]);
    }
    return word;
}

/* A bool: does the tape hold the block of VAL, BYTES long?  NULL: certainly not. */
static LLVMValueRef hold(Fn *f, const Val *tape, const Val *val, IrType type, LLVMValueRef bytes) {
    Emit *e = f->e;
    if (mem_is_small(type) || LLVMIsNull(val->block)) return NULL;
    LLVMValueRef null = emit_null(e), none = LLVMConstInt(e->i1, 0, false);
    LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, val->block, null, "");
    LLVMValueRef large = LLVMBuildICmp(e->b, LLVMIntSGE, bytes, gen_int(e, HOLD_FROM), "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), ask = gen_block(f, "hold"),
                      done = gen_block(f, "");
    LLVMBuildCondBr(e->b, LLVMBuildAnd(e->b, some, large, ""), ask, done);
    LLVMPositionBuilderAtEnd(e->b, ask);
    LLVMValueRef args[] = {f->context, tape->at, val->block, bytes};
    LLVMValueRef held = LLVMBuildICmp(e->b, LLVMIntNE, gen_runtime(f->g, "adl__tape_hold", args, 4),
                                      emit_int32(e, 0), "");
    ask = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef phi = LLVMBuildPhi(e->b, e->i1, "held");
    LLVMAddIncoming(phi, &none, &before, 1);
    LLVMAddIncoming(phi, &held, &ask, 1);
    return phi;
}

static LLVMValueRef with_mark(Fn *f, LLVMValueRef address, bool set) {
    Emit *e = f->e;
    LLVMValueRef bits = LLVMBuildPtrToInt(e->b, address, e->i64, "");
    bits = set ? LLVMBuildOr(e->b, bits, gen_int(e, INT64_MIN), "")
               : LLVMBuildAnd(e->b, bits, gen_int(e, INT64_MAX), "");
    return LLVMBuildIntToPtr(e->b, bits, e->ptr, "");
}

/* The rest of push_array where elements may be on a device: what is held as a whole block stays
   there, all else is asked for. */
static LLVMValueRef push_there(Fn *f, const IrInst *inst, const Val *val, IrType type,
                               LLVMValueRef held, LLVMValueRef to, LLVMValueRef count) {
    Emit *e = f->e;
    Val asked = *val;
    LLVMValueRef none = emit_null(e);
    if (!held) {
        device_ask(f, val, false);
        gen_copy(f, type->scalar, to, val->at, count);
        return none;
    }
    /* The runtime reads typed entries. */
    LLVMValueRef whole = inst->flags & IR_TAPE_TYPED
                             ? LLVMConstInt(e->i1, 0, false)
                             : LLVMBuildICmp(e->b, LLVMIntEQ, val->at, val->block, "");
    whole = LLVMBuildAnd(e->b, whole, held, "");
    asked.block = LLVMBuildSelect(e->b, whole, none, val->block, "");
    device_ask(f, &asked, false);
    gen_copy(f, type->scalar, to, val->at, count);
    LLVMValueRef address = LLVMBuildSelect(e->b, whole, with_mark(f, val->at, true), val->at, "");
    return LLVMBuildSelect(e->b, held, address, none, "");
}

/* The elements of VAL onto the tape, or their block into its care; the address for the entry. */
static LLVMValueRef push_array(Fn *f, const IrInst *inst, Val *tape, const Val *val, IrType type) {
    Emit *e = f->e;
    LLVMValueRef bytes = array_bytes(f, val, type), count = gen_count(f, val, type);
    LLVMValueRef held = inst->flags & IR_TAPE_COPIES ? NULL : hold(f, tape, val, type, bytes);
    if (held) bytes = LLVMBuildSelect(e->b, held, gen_int(e, 0), bytes, "");
    LLVMValueRef to = reserve(f, tape, bytes);
    if (held) count = LLVMBuildSelect(e->b, held, gen_int(e, 0), count, "");
    if (f->device) return push_there(f, inst, val, type, held, to, count);
    gen_copy(f, type->scalar, to, val->at, count);
    return held ? LLVMBuildSelect(e->b, held, val->at, emit_null(e), "") : emit_null(e);
}

void gen_tape_push(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    Val tape = *gen_val(f, inst->operands[0]);
    LLVMValueRef *addresses = ARENA_ARRAY(f->g->plan->arena, LLVMValueRef, inst->noperands);
    bool typed = inst->flags & IR_TAPE_TYPED;
    uint32_t words = typed, word = 0;
    for (uint32_t i = 1; i < inst->noperands; i++) {
        const IrValue *value = ir_resolve(inst->operands[i]);
        words += fixed_words(value->type);
        if (value->type->kind == IR_T_TAPE) {
            LLVMValueRef args[] = {f->context, tape.at, gen_val(f, value)->at};
            gen_check_status(f, gen_runtime(f->g, "adl__tape_keep_tape", args, 3));
        }
        if (value->type->kind != IR_T_ARRAY) continue;
        addresses[i] = push_array(f, inst, &tape, gen_val(f, value), value->type);
    }
    if (words) {
        LLVMValueRef entry = reserve(f, &tape, gen_int(e, 8 * (int64_t)words));
        for (uint32_t i = 1; i < inst->noperands; i++)
            word = write_fixed(f, entry, word, ir_resolve(inst->operands[i]), addresses[i]);
        if (typed) write_word(f, entry, word, types_of(f, inst->noperands - 1, inst->operands + 1));
    }
    gen_set(f, inst->results[0], tape);
}

/* ---- reading ---- */

/* The address of the topmost BYTES; *TAPE is the tape below them.  Chunks that hold nothing more
   are left behind. */
static LLVMValueRef back(Fn *f, Val *tape, LLVMValueRef bytes) {
    Emit *e = f->e;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), check = gen_block(f, "pop.check"),
                      leave = gen_block(f, "pop.chunk"), done = gen_block(f, "pop");
    LLVMBuildBr(e->b, check);
    LLVMPositionBuilderAtEnd(e->b, check);
    LLVMValueRef phis[3];
    for (int i = 0; i < 3; i++) {
        phis[i] = LLVMBuildPhi(e->b, e->ptr, "");
        LLVMAddIncoming(phis[i], &tape->dims[i], &before, 1);
    }
    LLVMValueRef begin = emit_offset(e, phis[CHUNK], (int64_t)sizeof(AdlChunk));
    LLVMValueRef empty = LLVMBuildICmp(e->b, LLVMIntEQ, phis[CUR], begin, "");
    LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntSGT, bytes, gen_int(e, 0), "");
    gen_unlikely(f, LLVMBuildCondBr(e->b, LLVMBuildAnd(e->b, empty, some, ""), leave, done));
    LLVMPositionBuilderAtEnd(e->b, leave);
    LLVMValueRef previous = load_field(f, phis[CHUNK], offsetof(AdlChunk, prev));
    LLVMValueRef next[] = {load_field(f, previous, offsetof(AdlChunk, used)),
                           load_field(f, previous, offsetof(AdlChunk, end)), previous};
    for (int i = 0; i < 3; i++) LLVMAddIncoming(phis[i], &next[i], &leave, 1);
    LLVMBuildBr(e->b, check);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef down = LLVMBuildNeg(e->b, bytes, "");
    LLVMValueRef entry = LLVMBuildGEP2(e->b, e->i8, phis[CUR], &down, 1, "");
    *tape = tape_val(f, tape->at, entry, phis[END], phis[CHUNK]);
    return entry;
}

static LLVMValueRef read_word(Fn *f, LLVMTypeRef type, LLVMValueRef entry, uint32_t word) {
    LLVMValueRef at = emit_offset(f->e, entry, 8 * (int64_t)word);
    LLVMValueRef load = LLVMBuildLoad2(f->e->b, type, at, "");
    LLVMSetAlignment(load, 8);
    return load;
}

/* Of an array: with the address that the entry has. */
static uint32_t read_fixed(Fn *f, LLVMValueRef entry, uint32_t word, const IrValue *result) {
    Emit *e = f->e;
    IrType type = result->type;
    LLVMValueRef dims[IR_MAX_RANK];
    if (type->kind == IR_T_SCALAR) {
        LLVMValueRef x = read_word(f, emit_memory_type(e, type->scalar), entry, word);
        gen_set_scalar(f, result, emit_from_memory(e, type->scalar, x));
        return word + fixed_words(type);
    }
    if (type->kind == IR_T_TAPE) {
        for (uint32_t k = 0; k < ADL_TAPE_WORDS; k++) dims[k] = read_word(f, e->ptr, entry, word++);
        gen_set(f, result, tape_val(f, dims[0], dims[1], dims[2], dims[3]));
        return word;
    }
    for (uint32_t k = 0; k < type->rank; k++) dims[k] = read_word(f, e->i64, entry, word++);
    gen_set(f, result,
            (Val){.at = read_word(f, e->ptr, entry, word++),
                  .block = emit_null(e),
                  .dims = gen_dims(f, type, dims),
                  .depth = f->groups.len});
    return word;
}

/* Takes the mark from the address of an array that is read. */
static void unmark(Fn *f, Val *val) {
    Emit *e = f->e;
    LLVMValueRef bits = LLVMBuildPtrToInt(e->b, val->at, e->i64, "");
    LLVMValueRef marked = LLVMBuildICmp(e->b, LLVMIntSLT, bits, gen_int(e, 0), "");
    val->at = with_mark(f, val->at, false);
    val->home = LLVMBuildSelect(e->b, marked, val->at, emit_null(e), "");
}

void gen_tape_pop(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    Val tape = *gen_val(f, inst->operands[0]);
    uint32_t words = inst->flags & IR_TAPE_TYPED ? 1 : 0, word = 0;
    for (uint32_t i = 1; i < inst->nresults; i++) words += fixed_words(inst->results[i]->type);
    LLVMValueRef entry = emit_null(e);
    if (words) entry = back(f, &tape, gen_int(e, 8 * (int64_t)words));
    for (uint32_t i = 1; i < inst->nresults; i++)
        word = read_fixed(f, entry, word, inst->results[i]);
    for (uint32_t i = inst->nresults; i-- > 1;) {
        IrType type = inst->results[i]->type;
        if (type->kind != IR_T_ARRAY) continue;
        Val val = *gen_val(f, inst->results[i]);
        if (f->g->device) unmark(f, &val);
        LLVMValueRef bytes = array_bytes(f, &val, type);
        LLVMValueRef here = LLVMBuildICmp(e->b, LLVMIntEQ, val.at, emit_null(e), "");
        LLVMValueRef below = back(f, &tape, LLVMBuildSelect(e->b, here, bytes, gen_int(e, 0), ""));
        val.at = LLVMBuildSelect(e->b, here, below, val.at, "");
        gen_set(f, inst->results[i], val);
    }
    gen_set(f, inst->results[0], tape);
}
