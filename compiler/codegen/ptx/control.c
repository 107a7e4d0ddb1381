/* Branches and loops: what arrays are where ways meet. */
#include "codegen/ptx/gen.h"

#include "base/fatal.h"

#define NO_MEMORY UINT32_MAX

/* Of the memory of each value. */
static uint32_t *versions(Body *b) {
    uint32_t *all = ARENA_ARRAY(b->g->arena, uint32_t, b->func->nvalues + 1);
    for (uint32_t i = 0; i < b->func->nvalues; i++)
        all[i] = b->vals[i].root ? b->vals[i].root->version : NO_MEMORY;
    return all;
}

static LLVMValueRef phi_of(Emit *e, LLVMValueRef x, LLVMBasicBlockRef from_x, LLVMValueRef y,
                           LLVMBasicBlockRef from_y) {
    if (x == y) return x;
    LLVMValueRef phi = LLVMBuildPhi(e->b, LLVMTypeOf(x), "");
    LLVMAddIncoming(phi, &x, &from_x, 1);
    LLVMAddIncoming(phi, &y, &from_y, 1);
    return phi;
}

/* X or Y, wherever they came from: the place and the sizes. */
static Val phi_of_vals(Ptx *g, IrType type, const Val *x, LLVMBasicBlockRef from_x, const Val *y,
                       LLVMBasicBlockRef from_y) {
    Val val = {.at = phi_of(&g->e, x->at, from_x, y->at, from_y)};
    uint32_t n = type->kind == IR_T_ARRAY ? type->rank : type->kind == IR_T_TAPE ? 1 : 0;
    for (uint32_t k = 0; k < n; k++)
        val.dims[k] = phi_of(&g->e, x->dims[k], from_x, y->dims[k], from_y);
    return val;
}

/* ---- branches ---- */

typedef struct Side {
    Scope scope;
    LLVMBasicBlockRef end;
    Val *vals;
} Side;

static bool is_same(const Val *x, const Val *y) {
    return x->root == y->root && x->at == y->at;
}

/* Puts result K of the SIDES, an array, where it is behind the branch, if that is another place;
   the builder is moved to the ends of the sides. */
static void bring_together(Ptx *g, IrType type, Side *sides, uint32_t k, Val *frame) {
    Emit *e = &g->e;
    if (is_same(&sides[0].vals[k], &sides[1].vals[k])) return;
    for (int s = 0; s < 2; s++) {
        Scope *up = g->scope;
        Val *val = &sides[s].vals[k];
        g->scope = &sides[s].scope;
        LLVMPositionBuilderAtEnd(e->b, sides[s].end);
        if (ptx_in_frame(type)) {
            if (s == 0) *frame = ptx_new_array(g, type, NULL);
            ptx_copy(g, type->scalar, frame->at, val->at, ptx_count(g, frame, type));
        } else {
            *val = ptx_leave_scope(g, val, type);
        }
        sides[s].end = LLVMGetInsertBlock(e->b);
        g->scope = up;
    }
}

static Val join(Ptx *g, IrType type, const Side *sides, uint32_t k, const Val *frame) {
    const Val *x = &sides[0].vals[k], *y = &sides[1].vals[k];
    if (type->kind != IR_T_ARRAY) return phi_of_vals(g, type, x, sides[0].end, y, sides[1].end);
    if (frame->at) return *frame;
    if (!is_same(x, y)) return phi_of_vals(g, type, x, sides[0].end, y, sides[1].end);
    Val val = *x;
    val.version = x->root->version;
    return x->version || y->version ? ptx_written(&val) : val;
}

void ptx_if(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    LLVMBasicBlockRef starts[] = {ptx_block(g, "then"), ptx_block(g, "else")};
    LLVMBasicBlockRef done = ptx_block(g, "");
    Side sides[2];
    LLVMBuildCondBr(e->b, ptx_scalar(b, inst->operands[0]), starts[0], starts[1]);
    /* What one side writes, the other has not. */
    uint32_t count = b->func->nvalues, *before = versions(b), *first = NULL;
    for (int s = 0; s < 2; s++) {
        LLVMPositionBuilderAtEnd(e->b, starts[s]);
        ptx_scope_open(g, &sides[s].scope);
        ptx_instructions(b, inst->regions[s]);
        if (*g->error) return;
        sides[s].vals = ARENA_ARRAY(g->arena, Val, inst->nresults + 1);
        ptx_yields(b, inst->regions[s], 0, sides[s].vals);
        sides[s].end = LLVMGetInsertBlock(e->b);
        g->scope = sides[s].scope.up;
        if (s == 0) first = versions(b);
        for (uint32_t i = 0; i < count; i++) {
            Root *root = b->vals[i].root;
            if (before[i] == NO_MEMORY) continue;
            if (s == 0) root->version = before[i];
            else if (first[i] > root->version) root->version = first[i];
        }
    }
    Val *frames = ARENA_ARRAY(g->arena, Val, inst->nresults + 1);
    for (uint32_t k = 0; k < inst->nresults; k++)
        if (inst->results[k]->type->kind == IR_T_ARRAY)
            bring_together(g, inst->results[k]->type, sides, k, &frames[k]);
    for (int s = 0; s < 2; s++) {
        g->scope = &sides[s].scope;
        LLVMPositionBuilderAtEnd(e->b, sides[s].end);
        ptx_scope_close(g);
        LLVMBuildBr(e->b, done);
    }
    LLVMPositionBuilderAtEnd(e->b, done);
    for (uint32_t k = 0; k < inst->nresults; k++) {
        Val val = join(g, inst->results[k]->type, sides, k, &frames[k]);
        bool array = inst->results[k]->type->kind == IR_T_ARRAY;
        b->vals[inst->results[k]->id] = array && !val.root ? ptx_join_scope(g, val) : val;
    }
}

/* ---- does a loop keep an array where it is? ---- */

static const IrValue *origin(const Body *b, const IrValue *value, const IrRegion *region);

/* The operand whose memory result VALUE of an instruction certainly has, or NULL. */
static const IrValue *step(const Body *b, const IrValue *value) {
    const IrInst *inst = value->def;
    const MemInst *plan = ptx_plan(b, inst);
    uint32_t k = value->index, skip = inst->op == IR_LOOP && (inst->flags & IR_LOOP_EXIT) ? 1 : 0;
    uint32_t rank = inst->op == IR_REDUCE ? (uint32_t)inst->imm : 0;
    switch ((int)inst->op) {
    case IR_ASSUME:
    case IR_STOP: return inst->operands[0];
    case IR_UPDATE:
    case IR_ASSIGN: return plan->base[0] == MEM_IN_PLACE ? inst->operands[0] : NULL;
    case IR_WITH_ACC:
        return k < inst->noperands && plan->base[k] == MEM_IN_PLACE ? inst->operands[k] : NULL;
    case IR_REDUCE:
        if (inst->flags >= IR_ARGMIN || plan->base[rank + k] != MEM_IN_PLACE) return NULL;
        return inst->operands[rank + k];
    case IR_IF: {
        const IrValue *x = origin(b, inst->regions[0]->last->operands[k], inst->regions[0]);
        return x == origin(b, inst->regions[1]->last->operands[k], inst->regions[1]) ? x : NULL;
    }
    case IR_LOOP: {
        const IrRegion *body = inst->regions[0];
        const IrValue *x = origin(b, body->last->operands[skip + k], body);
        bool taken = plan->take[k + 1] && !plan->own[k + 1];
        return x == body->params[k + 1] && taken ? inst->operands[k + 1] : NULL;
    }
    default: return NULL;
    }
}

/* The value from outside of REGION's instructions whose memory VALUE has, or NULL. */
static const IrValue *origin(const Body *b, const IrValue *value, const IrRegion *region) {
    value = ir_resolve((IrValue *)value);
    while (value && value->def && value->def->parent == region) {
        value = step(b, value);
        if (value) value = ir_resolve((IrValue *)value);
    }
    return value;
}

/* ---- loops ---- */

/* How a loop's variable goes on: as a value; as memory that stays; copied into one place of the
   frame; from block to block of the heap. */
typedef enum Carry { CARRY_VALUE, CARRY_PLACE, CARRY_FRAME, CARRY_HEAP } Carry;

typedef struct Carried {
    Carry how;
    IrType type;
    Val val, next;
} Carried;

static bool is_others(const Val *val) {
    return val->root->kind == ROOT_MUT || val->root->kind == ROOT_SHARED;
}

/* How variable K goes on, and its first value. */
static void start(Body *b, const IrInst *inst, uint32_t k, Carried *c) {
    Ptx *g = b->g;
    const IrRegion *body = inst->regions[0];
    uint32_t skip = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    bool take = ptx_plan(b, inst)->take[k + 1];
    c->type = inst->results[k]->type;
    if (c->type->kind != IR_T_ARRAY) {
        c->val = *ptx_get(b, inst->operands[k + 1]);
        c->how = CARRY_VALUE;
        return;
    }
    c->val = *ptx_current(b, inst->operands[k + 1]);
    bool stays = origin(b, body->last->operands[skip + k], body) == body->params[k + 1];
    bool ours = take && !ptx_plan(b, inst)->own[k + 1] && c->val.root->kind == ROOT_OWN;
    c->how = CARRY_PLACE;
    if (take && is_others(&c->val)) {
        c->val = ptx_written(&c->val);
    } else if (stays) {
        c->val = ours ? ptx_written(&c->val) : ptx_copied(g, &c->val, c->type);
    } else if (ptx_in_frame(c->type)) {
        c->how = CARRY_FRAME;
        c->val = ptx_copied(g, &c->val, c->type);
    } else {
        c->how = CARRY_HEAP;
        c->val = ptx_leave_scope(g, &c->val, c->type);
    }
}

static LLVMValueRef phi_from(Emit *e, LLVMValueRef first, LLVMBasicBlockRef before) {
    LLVMValueRef phi = LLVMBuildPhi(e->b, LLVMTypeOf(first), "");
    LLVMAddIncoming(phi, &first, &before, 1);
    return phi;
}

static void open_phis(Ptx *g, Carried *c, LLVMBasicBlockRef before) {
    Emit *e = &g->e;
    if (c->how != CARRY_VALUE && c->how != CARRY_HEAP) return;
    c->val.at = phi_from(e, c->val.at, before);
    if (c->type->kind == IR_T_TAPE) c->val.dims[0] = phi_from(e, c->val.dims[0], before);
    if (c->how != CARRY_HEAP) return;
    for (uint32_t k = 0; k < c->type->rank; k++)
        if (c->type->dims[k] < 0) c->val.dims[k] = phi_from(e, c->val.dims[k], before);
    c->val.root = ARENA_NEW(g->arena, Root);
    *c->val.root = (Root){.kind = ROOT_OWN};
    c->val.version = 0;
}

static void close_phis(Carried *c, LLVMBasicBlockRef latch) {
    if (c->how != CARRY_VALUE && c->how != CARRY_HEAP) return;
    LLVMAddIncoming(c->val.at, &c->next.at, &latch, 1);
    if (c->type->kind == IR_T_TAPE) LLVMAddIncoming(c->val.dims[0], &c->next.dims[0], &latch, 1);
    if (c->how != CARRY_HEAP) return;
    for (uint32_t k = 0; k < c->type->rank; k++)
        if (c->type->dims[k] < 0) LLVMAddIncoming(c->val.dims[k], &c->next.dims[k], &latch, 1);
}

/* A tape that the trip has made is copied to where the next trip does not make its own. */
static void pass_tape_on(Ptx *g, Carried *all, uint32_t n, uint32_t k) {
    Carried *c = &all[k];
    if (c->next.dims[0] == c->val.dims[0]) return;
    for (uint32_t j = 0; j < n; j++)
        if (all[j].type->kind == IR_T_TAPE && all[j].val.dims[0] == c->next.dims[0])
            ptx_refuse(g, "tapes change places in a loop");
    c->next = ptx_tape_copied(g, &c->next);
}

/* At the end of a trip: brings what it yields to where the next one finds it. */
static void pass_on(Ptx *g, Carried *all, uint32_t n) {
    /* What is in another variable's place must be read before that is written over. */
    for (uint32_t k = 0; k < n; k++) {
        if (all[k].how != CARRY_FRAME || is_same(&all[k].next, &all[k].val)) continue;
        for (uint32_t j = 0; j < n; j++) {
            if (all[j].how != CARRY_FRAME || all[k].next.root != all[j].val.root) continue;
            all[k].next = ptx_copied(g, &all[k].next, all[k].type);
            break;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        Carried *c = &all[k];
        if (c->type->kind == IR_T_TAPE) pass_tape_on(g, all, n, k);
        if (c->how == CARRY_PLACE && !is_same(&c->next, &c->val))
            ptx_refuse(g, "arrays change places in a loop");
        if (is_same(&c->next, &c->val)) continue;
        if (c->how == CARRY_FRAME)
            ptx_copy(g, c->type->scalar, c->val.at, c->next.at, ptx_count(g, &c->val, c->type));
        if (c->how == CARRY_HEAP) c->next = ptx_leave_scope(g, &c->next, c->type);
    }
    for (uint32_t k = 0; k < n; k++)
        if (all[k].how == CARRY_HEAP && !is_same(&all[k].next, &all[k].val))
            ptx_release(g, all[k].val.at);
}

/* What a variable is behind the loop, which was left from LEFT if that is there. */
static Val result_of(Ptx *g, const Carried *c, LLVMBasicBlockRef head, LLVMBasicBlockRef left) {
    bool moves = c->how == CARRY_VALUE || c->how == CARRY_HEAP;
    if (!moves) return ptx_written(&c->val);
    Val val = left ? phi_of_vals(g, c->type, &c->val, head, &c->next, left) : c->val;
    return val;
}

void ptx_loop(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    Emit *e = &g->e;
    const IrRegion *body = inst->regions[0];
    uint32_t n = inst->nresults;
    bool has_exit = (inst->flags & IR_LOOP_EXIT) != 0;
    Carried *all = ARENA_ARRAY(g->arena, Carried, n + 1);
    Val *next = ARENA_ARRAY(g->arena, Val, n + 1);
    for (uint32_t k = 0; k < n; k++) start(b, inst, k, &all[k]);
    for (uint32_t k = 0; k < n; k++)
        if (all[k].how == CARRY_HEAP) ptx_scope_forget(g->scope, all[k].val.at);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = ptx_block(g, "loop");
    LLVMBasicBlockRef inside = ptx_block(g, ""), done = ptx_block(g, ""), left = NULL;
    LLVMBuildBr(e->b, head);
    LLVMPositionBuilderAtEnd(e->b, head);
    LLVMValueRef t = phi_from(e, gen_int(e, 0), before);
    for (uint32_t k = 0; k < n; k++) {
        open_phis(g, &all[k], before);
        b->vals[body->params[k + 1]->id] = all[k].val;
    }
    ptx_set_scalar(b, body->params[0], t);
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntSLT, t, ptx_scalar(b, inst->operands[0]), "");
    LLVMBuildCondBr(e->b, more, inside, done);
    LLVMPositionBuilderAtEnd(e->b, inside);
    Scope scope;
    ptx_scope_open(g, &scope);
    for (uint32_t k = 0; k < n; k++)
        if (all[k].how == CARRY_HEAP) ptx_scope_pass(g, &scope, all[k].val.at);
    ptx_instructions(b, body);
    if (*g->error) return;
    ptx_yields(b, body, has_exit, next);
    for (uint32_t k = 0; k < n; k++) all[k].next = next[k];
    pass_on(g, all, n);
    ptx_scope_close(g);
    LLVMValueRef up = LLVMBuildAdd(e->b, t, gen_int(e, 1), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    if (has_exit) {
        left = ptx_block(g, "");
        LLVMBuildCondBr(e->b, ptx_scalar(b, body->last->operands[0]), head, left);
        LLVMPositionBuilderAtEnd(e->b, left);
        LLVMBuildBr(e->b, done);
    } else {
        LLVMBuildBr(e->b, head);
    }
    LLVMAddIncoming(t, &up, &latch, 1);
    for (uint32_t k = 0; k < n; k++) close_phis(&all[k], latch);
    LLVMPositionBuilderAtEnd(e->b, done);
    for (uint32_t k = 0; k < n; k++) next[k] = result_of(g, &all[k], head, left);
    for (uint32_t k = 0; k < n; k++)
        b->vals[inst->results[k]->id] =
            all[k].how == CARRY_HEAP ? ptx_join_scope(g, next[k]) : next[k];
}
