/* Where arrays of a kernel are: the frame, the heap, the caller's memory; loops over them. */
#include "codegen/ptx/gen.h"

#include "base/fatal.h"

/* An array of at most so many bytes is in the frame. */
enum { FRAME_BYTES = 1024, COPY_WRITTEN_OUT = 8 };

/* ---- the frame and the heap ---- */

LLVMValueRef ptx_alloca(Ptx *g, LLVMTypeRef type, const char *name) {
    Emit *e = &g->e;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(g->entry);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first) LLVMPositionBuilderBefore(e->b, first);
    else LLVMPositionBuilderAtEnd(e->b, entry);
    LLVMValueRef memory = LLVMBuildAlloca(e->b, type, name);
    LLVMPositionBuilderAtEnd(e->b, here);
    return memory;
}

/* A function that PTX offers, of one argument. */
static LLVMValueRef call_heap(Ptx *g, const char *name, LLVMTypeRef result, LLVMValueRef arg) {
    Emit *e = &g->e;
    LLVMTypeRef param = LLVMTypeOf(arg), type = LLVMFunctionType(result, &param, 1, false);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, name);
    if (!fn) fn = LLVMAddFunction(e->module, name, type);
    return LLVMBuildCall2(e->b, type, fn, &arg, 1, "");
}

LLVMValueRef ptx_allocate(Ptx *g, LLVMValueRef bytes) {
    Emit *e = &g->e;
    /* Nothing of nothing would look like a heap that is full. */
    bytes = LLVMBuildOr(e->b, bytes, gen_int(e, 1), "");
    LLVMValueRef block = call_heap(g, "malloc", e->ptr, bytes);
    g->takes_heap = true;
    ptx_check(g, LLVMBuildICmp(e->b, LLVMIntNE, block, emit_null(e), ""));
    return block;
}

void ptx_release(Ptx *g, LLVMValueRef block) {
    call_heap(g, "free", g->e.none, block);
}

/* ---- scopes ---- */

void ptx_scope_open(Ptx *g, Scope *scope) {
    *scope = (Scope){.up = g->scope};
    g->scope = scope;
}

void ptx_scope_close(Ptx *g) {
    for (const Held *h = g->scope->held; h; h = h->next)
        if (!h->passing) ptx_release(g, h->block);
    g->scope = g->scope->up;
}

static void hold(Ptx *g, Scope *scope, LLVMValueRef block, bool passing) {
    Held *held = ARENA_NEW(g->arena, Held), **at = &scope->held;
    *held = (Held){NULL, block, passing};
    while (*at) at = &(*at)->next;
    *at = held;
}

void ptx_scope_pass(Ptx *g, Scope *scope, LLVMValueRef block) {
    hold(g, scope, block, true);
}

void ptx_scope_forget(Scope *scope, LLVMValueRef block) {
    for (Held **at = &scope->held; *at; at = &(*at)->next) {
        if ((*at)->block != block) continue;
        *at = (*at)->next;
        return;
    }
}

bool ptx_holds_blocks(const Ptx *g) {
    for (const Scope *s = g->scope; s; s = s->up)
        if (s->held) return true;
    return false;
}

void ptx_drop_blocks(Ptx *g) {
    for (const Scope *s = g->scope; s; s = s->up)
        for (const Held *h = s->held; h; h = h->next) ptx_release(g, h->block);
}

static bool take_from_scope(Scope *scope, const Val *val) {
    if (!val->root || !val->root->block || val->at != val->root->block) return false;
    for (Held *h = scope->held; h; h = h->next) {
        if (h->block != val->at || h->passing) continue;
        h->passing = true;
        return true;
    }
    return false;
}

Val ptx_join_scope(Ptx *g, Val val) {
    val.root = ARENA_NEW(g->arena, Root);
    *val.root = (Root){.kind = ROOT_OWN, .block = val.at};
    val.version = 0;
    hold(g, g->scope, val.at, false);
    return val;
}

/* ---- arrays ---- */

Val ptx_array(Ptx *g, LLVMValueRef at, IrType type, LLVMValueRef const *open_dims, bool shared) {
    Val val = {.at = at, .root = ARENA_NEW(g->arena, Root)};
    *val.root = (Root){.kind = shared ? ROOT_SHARED : ROOT_MUT};
    vec_push(&g->seen, val.root);
    for (uint32_t k = 0, open = 0; k < type->rank; k++)
        val.dims[k] = type->dims[k] >= 0 ? gen_int(&g->e, type->dims[k]) : open_dims[open++];
    return val;
}

/* How many elements, if that is known and they fit into the frame; else -1. */
static int64_t elements_in_frame(IrType type) {
    int64_t most = FRAME_BYTES / ir_scalar_bytes(type->scalar), count = 1;
    for (uint32_t k = 0; k < type->rank; k++) {
        if (type->dims[k] < 0 || type->dims[k] > most) return -1;
        count *= type->dims[k];
        if (count > most) return -1;
    }
    return count;
}

bool ptx_in_frame(IrType type) {
    return elements_in_frame(type) >= 0;
}

LLVMValueRef ptx_count(Ptx *g, const Val *x, IrType type) {
    LLVMValueRef count = gen_int(&g->e, 1);
    for (uint32_t k = 0; k < type->rank; k++) count = emit_size_mul(&g->e, count, x->dims[k]);
    return count;
}

static Val new_on_heap(Ptx *g, IrType type, LLVMValueRef const *dims) {
    Emit *e = &g->e;
    Val val = {0};
    for (uint32_t k = 0; k < type->rank; k++)
        val.dims[k] = type->dims[k] >= 0 ? gen_int(e, type->dims[k]) : dims[k];
    LLVMValueRef size = gen_int(e, (int64_t)ir_scalar_bytes(type->scalar));
    val.at = ptx_allocate(g, emit_size_mul(e, ptx_count(g, &val, type), size));
    return val;
}

Val ptx_new_array(Ptx *g, IrType type, LLVMValueRef const *dims) {
    Emit *e = &g->e;
    int64_t count = elements_in_frame(type);
    if (count < 0) return ptx_join_scope(g, new_on_heap(g, type, dims));
    LLVMTypeRef memory =
        LLVMArrayType2(emit_element_type(e, type->scalar), (uint64_t)count + !count);
    Val val = {.at = ptx_alloca(g, memory, "array"), .root = ARENA_NEW(g->arena, Root)};
    LLVMSetAlignment(val.at, 8);
    *val.root = (Root){.kind = ROOT_OWN};
    for (uint32_t k = 0; k < type->rank; k++) val.dims[k] = gen_int(e, type->dims[k]);
    return val;
}

LLVMValueRef ptx_element(Ptx *g, IrScalar scalar, LLVMValueRef at, LLVMValueRef flat) {
    return LLVMBuildInBoundsGEP2(g->e.b, emit_element_type(&g->e, scalar), at, &flat, 1, "");
}

LLVMValueRef ptx_address(Ptx *g, const Val *x, IrType type, uint32_t n, LLVMValueRef const *i) {
    Emit *e = &g->e;
    LLVMValueRef flat = gen_int(e, 0);
    for (uint32_t k = 0; k < type->rank; k++) {
        flat = emit_size_mul(e, flat, x->dims[k]);
        if (k < n) flat = emit_size_add(e, flat, i[k]);
    }
    return ptx_element(g, type->scalar, x->at, flat);
}

LLVMValueRef ptx_load(Ptx *g, IrScalar scalar, LLVMValueRef from) {
    LLVMValueRef made;
    return emit_load(&g->e, scalar, from, &made);
}

void ptx_store(Ptx *g, IrScalar scalar, LLVMValueRef value, LLVMValueRef to) {
    emit_store(&g->e, scalar, emit_widened(&g->e, value, scalar), to);
}

/* ---- copies ---- */

static void copy_element(Ptx *g, IrScalar scalar, LLVMValueRef to, LLVMValueRef from,
                         LLVMValueRef at) {
    ptx_store(g, scalar, ptx_load(g, scalar, ptx_element(g, scalar, from, at)),
              ptx_element(g, scalar, to, at));
}

void ptx_copy(Ptx *g, IrScalar scalar, LLVMValueRef to, LLVMValueRef from, LLVMValueRef count) {
    Nest nest;
    if (LLVMIsAConstantInt(count) && LLVMConstIntGetZExtValue(count) <= COPY_WRITTEN_OUT) {
        for (uint64_t i = 0; i < LLVMConstIntGetZExtValue(count); i++)
            copy_element(g, scalar, to, from, gen_int(&g->e, (int64_t)i));
        return;
    }
    ptx_nest_open(g, &nest, 1, &count);
    copy_element(g, scalar, to, from, nest.i[0]);
    ptx_nest_close(g, &nest);
}

Val ptx_copied(Ptx *g, const Val *val, IrType type) {
    Val copy = ptx_new_array(g, type, val->dims);
    ptx_copy(g, type->scalar, copy.at, val->at, ptx_count(g, val, type));
    return copy;
}

Val ptx_leave_scope(Ptx *g, const Val *val, IrType type) {
    if (take_from_scope(g->scope, val)) return *val;
    Val copy = new_on_heap(g, type, val->dims);
    ptx_copy(g, type->scalar, copy.at, val->at, ptx_count(g, val, type));
    ptx_scope_pass(g, g->scope, copy.at);
    return copy;
}

Val ptx_base(Body *b, const IrInst *inst, uint32_t k) {
    const IrValue *value = ir_resolve(inst->operands[k]);
    const Val *val = ptx_current(b, value);
    MemBase plan = (MemBase)ptx_plan(b, inst)->base[k];
    switch (val->root->kind) {
    case ROOT_OWN:
        if (plan == MEM_IN_PLACE) return *val;
        break;
    case ROOT_MUT:
    case ROOT_SHARED:
        if (plan != MEM_COPY) return *val;
        break;
    case ROOT_CONST: break;
    }
    return ptx_copied(b->g, val, value->type);
}

/* ---- loops ---- */

void ptx_nest_open(Ptx *g, Nest *nest, uint32_t n, LLVMValueRef const *sizes) {
    Emit *e = &g->e;
    nest->n = n;
    for (uint32_t k = 0; k < n; k++) {
        LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), inside;
        LLVMValueRef zero = gen_int(e, 0);
        nest->head[k] = ptx_block(g, "each");
        inside = ptx_block(g, "");
        nest->done[k] = ptx_block(g, "");
        LLVMBuildBr(e->b, nest->head[k]);
        LLVMPositionBuilderAtEnd(e->b, nest->head[k]);
        nest->i[k] = LLVMBuildPhi(e->b, e->i64, "");
        LLVMAddIncoming(nest->i[k], &zero, &before, 1);
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, nest->i[k], sizes[k], ""), inside,
                        nest->done[k]);
        LLVMPositionBuilderAtEnd(e->b, inside);
    }
}

void ptx_nest_close(Ptx *g, Nest *nest) {
    Emit *e = &g->e;
    for (uint32_t k = nest->n; k-- > 0;) {
        LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
        LLVMValueRef up = emit_size_add(e, nest->i[k], gen_int(e, 1));
        LLVMAddIncoming(nest->i[k], &up, &latch, 1);
        LLVMBuildBr(e->b, nest->head[k]);
        LLVMPositionBuilderAtEnd(e->b, nest->done[k]);
    }
}
