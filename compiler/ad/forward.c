/* The forward sweep: the nonlinear part of a mixed function, as itself or once more inside of the
   reverse sweep, with the pushes that the plan wants. */
#include "ad/internal.h"

#include "ad/plan.h"
#include "base/fatal.h"

typedef struct List {
    IrValue **at;
    uint32_t n;
} List;

static List list_new(Transposer *t, uint32_t room) {
    return (List){ARENA_ARRAY(t->ad->arena, IrValue *, room), 0};
}

static void list_add(List *list, IrValue *value) {
    list->at[list->n++] = value;
}

IrValue *emit_value(const Emit *emit, const IrValue *value) {
    IrValue *copy = emit->map[value->id];
    if (!copy) UNREACHABLE("value %%%u is not available in this sweep", value->id);
    return copy;
}

static void bind(const Emit *emit, const IrValue *value, IrValue *copy) {
    emit->map[value->id] = copy;
    if (!copy->name) copy->name = value->name;
}

static void bind_params(const Emit *emit, const Mixed *mixed, const IrRegion *from, IrRegion *to) {
    for (uint32_t i = 0; i < from->nparams; i++) {
        const IrValue *param = from->params[i];
        if (is_linear(mixed, param)) continue;
        bind(emit, param, ir_region_param(to, param->type, param->name));
    }
}

/* ---- the tape of an instruction ---- */

static bool is_taped(const Transposer *t, const IrInst *inst, const Emit *emit) {
    if (!emit->tape || !has_linear(t->mixed, inst)) return false;
    for (uint32_t r = 0; r < inst->nregions; r++) {
        const Scope *scope = plan_scope(t->plan, inst->regions[r]);
        if (scope && scope->tape) return true;
    }
    return false;
}

IrValue *emit_tape_in(Transposer *t) {
    return t->tape ? t->tape : irb_tape_new(&t->b);
}

void emit_tape_out(Transposer *t, const IrInst *inst, IrValue *outer, IrValue *tape) {
    if (!outer) map_setp(&t->tapes, inst, tape);
    t->tape = outer ? tape : NULL;
}

void emit_pushes(Transposer *t, const Scope *scope, const Emit *emit) {
    List values = list_new(t, scope->saved.len);
    if (!scope->saved.len) return;
    for (uint32_t i = 0; i < scope->saved.len; i++)
        list_add(&values, emit_value(emit, scope->saved.at[i]));
    t->tape = irb_tape_push(&t->b, t->tape, values.n, values.at);
}

/* ---- parts of instructions ---- */

/* A copy of INST with these operands and the nonlinear ones of its results, and MORE of type LAST.
 */
static IrInst *copy_with(Transposer *t, const IrInst *inst, const List *operands, IrType last) {
    IrType *types = ARENA_ARRAY(t->ad->arena, IrType, inst->nresults + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!is_linear(t->mixed, inst->results[i])) types[n++] = inst->results[i]->type;
    if (last) types[n++] = last;
    IrInst *copy = irb_inst(&t->b, inst->op, operands->n, operands->at, n, types, inst->nregions);
    copy->flags = inst->flags;
    copy->imm = inst->imm;
    copy->fimm = inst->fimm;
    copy->nints = inst->nints;
    copy->ints = inst->ints;
    copy->text = inst->text;
    copy->func = inst->func;
    return copy;
}

static void bind_results(Transposer *t, const IrInst *inst, const IrInst *copy, const Emit *emit) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!is_linear(t->mixed, inst->results[i]))
            bind(emit, inst->results[i], copy->results[at++]);
}

static List nonlinear_operands(Transposer *t, const IrInst *inst, const Emit *emit) {
    List list = list_new(t, inst->noperands + 1);
    for (uint32_t i = 0; i < inst->noperands; i++)
        if (!is_linear(t->mixed, inst->operands[i]))
            list_add(&list, emit_value(emit, inst->operands[i]));
    return list;
}

/* The content of a region, its pushes, and its YIELD. */
static void emit_body(Transposer *t, const IrRegion *from, IrRegion *to, const Emit *emit,
                      bool taped) {
    IrBuilder outer = t->b;
    irb_at_end(&t->b, to);
    emit_region(t, from, emit);
    if (taped) emit_pushes(t, plan_scope(t->plan, from), emit);
    List values = nonlinear_operands(t, from->last, emit);
    if (taped) list_add(&values, t->tape);
    irb_yield(&t->b, values.n, values.at);
    t->b = outer;
}

/* ---- instructions ---- */

static void emit_if(Transposer *t, const IrInst *inst, const Emit *emit) {
    const Scope *scope = plan_scope(t->plan, inst->regions[0]);
    Emit inner = *emit;
    bool taped = is_taped(t, inst, emit);
    IrValue *outer = t->tape, *start = taped ? emit_tape_in(t) : NULL;
    inner.tape = emit->tape && scope && scope->kind == SCOPE_SPLIT;
    List operands = nonlinear_operands(t, inst, emit);
    IrInst *copy = copy_with(t, inst, &operands, taped ? ir_tape(t->b.module) : NULL);
    for (uint32_t r = 0; r < 2; r++) {
        if (taped) t->tape = start;
        emit_body(t, inst->regions[r], copy->regions[r], &inner, taped);
    }
    if (taped) emit_tape_out(t, inst, outer, copy->results[copy->nresults - 1]);
    bind_results(t, inst, copy, emit);
}

static void emit_loop(Transposer *t, const IrInst *inst, const Emit *emit) {
    bool taped = is_taped(t, inst, emit);
    IrValue *outer = t->tape;
    if (taped && plan_scope(t->plan, inst->regions[0])->checkpoint) {
        emit_checkpointed(t, inst, emit);
        return;
    }
    List operands = nonlinear_operands(t, inst, emit);
    if (taped) list_add(&operands, emit_tape_in(t));
    IrInst *copy = copy_with(t, inst, &operands, taped ? ir_tape(t->b.module) : NULL);
    bind_params(emit, t->mixed, inst->regions[0], copy->regions[0]);
    if (taped) t->tape = ir_region_param(copy->regions[0], ir_tape(t->b.module), "tape");
    if (taped) copy->imm = IR_KEEP_DEFAULT; /* there is no state of a tape */
    emit_body(t, inst->regions[0], copy->regions[0], emit, taped);
    if (taped) emit_tape_out(t, inst, outer, copy->results[copy->nresults - 1]);
    bind_results(t, inst, copy, emit);
}

static void emit_build(Transposer *t, const IrInst *inst, const Emit *emit) {
    Emit inner = *emit;
    uint32_t n = 0, at = (uint32_t)inst->imm;
    List operands = list_new(t, inst->noperands);
    int64_t *ranks = ARENA_ARRAY(t->ad->module->arena, int64_t, inst->nresults);
    for (uint32_t i = 0; i < at; i++) list_add(&operands, emit_value(emit, inst->operands[i]));
    for (uint32_t i = 0; i < inst->nresults; i++) {
        bool keep = !is_linear(t->mixed, inst->results[i]);
        for (uint32_t k = 0; k < (uint32_t)inst->ints[i]; k++, at++)
            if (keep) list_add(&operands, emit_value(emit, inst->operands[at]));
        if (keep) ranks[n++] = inst->ints[i];
    }
    IrInst *copy = copy_with(t, inst, &operands, NULL);
    copy->ints = ranks;
    copy->nints = n;
    inner.tape = false;
    bind_params(&inner, t->mixed, inst->regions[0], copy->regions[0]);
    emit_body(t, inst->regions[0], copy->regions[0], &inner, false);
    bind_results(t, inst, copy, emit);
}

/* REDUCE, WITH_ACC */
static void emit_lite(Transposer *t, const IrInst *inst, const Emit *emit) {
    Emit inner = *emit;
    List operands = nonlinear_operands(t, inst, emit);
    IrInst *copy = copy_with(t, inst, &operands, NULL);
    inner.tape = false;
    bind_params(&inner, t->mixed, inst->regions[0], copy->regions[0]);
    emit_body(t, inst->regions[0], copy->regions[0], &inner, false);
    bind_results(t, inst, copy, emit);
}

/* A call whose derivative is wanted leaves a tape. */
static void emit_taped_call(Transposer *t, const IrInst *inst, const Emit *emit) {
    const MixedCall *info = map_getp(&t->mixed->calls, inst);
    const AdRequest *pair =
        ad_pair(t->ad, info->callee, info->in_active, info->out_active, t->options);
    IrValue *outer = t->tape;
    List operands = list_new(t, info->callee->nparams + 1);
    for (uint32_t i = 0; i < info->callee->nparams; i++)
        list_add(&operands, emit_value(emit, inst->operands[i]));
    list_add(&operands, emit_tape_in(t));
    IrInst *copy = irb_call(&t->b, pair->func, operands.at);
    emit_tape_out(t, inst, outer, copy->results[copy->nresults - 1]);
    bind_results(t, inst, copy, emit);
}

static void emit_simple(Transposer *t, const IrInst *inst, const Emit *emit) {
    List operands = nonlinear_operands(t, inst, emit);
    IrInst *copy = copy_with(t, inst, &operands, NULL);
    bind_results(t, inst, copy, emit);
}

/* An addition is made once, by the program; one to an accumulator of the copy belongs to it. */
static bool adds_again(const IrInst *inst, const Emit *emit) {
    if (emit->effects) return true;
    const IrRegion *region = inst->operands[0]->region;
    for (; region && region->owner; region = region->owner->parent)
        if (region->owner == emit->root) return true;
    return false;
}

void emit_inst(Transposer *t, const IrInst *inst, const Emit *emit) {
    if (inst->op == IR_YIELD || ad_only_linear(t->mixed, inst)) return;
    t->b.pos = inst->pos;
    switch ((int)inst->op) {
    case IR_CHECK:
    case IR_CHECK_INDEX:
    case IR_FAIL:
        if (emit->effects) emit_simple(t, inst, emit);
        break;
    case IR_RUNTIME:
        if (emit->effects || ir_runtime_repeats(inst)) emit_simple(t, inst, emit);
        break;
    case IR_ACC_ADD:
        if (adds_again(inst, emit)) emit_simple(t, inst, emit);
        break;
    case IR_IF: emit_if(t, inst, emit); break;
    case IR_LOOP: emit_loop(t, inst, emit); break;
    case IR_BUILD: emit_build(t, inst, emit); break;
    case IR_REDUCE:
    case IR_WITH_ACC: emit_lite(t, inst, emit); break;
    case IR_CALL:
        if (emit->tape && has_linear(t->mixed, inst)) emit_taped_call(t, inst, emit);
        else emit_simple(t, inst, emit);
        break;
    default: emit_simple(t, inst, emit);
    }
}

void emit_region(Transposer *t, const IrRegion *region, const Emit *emit) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) emit_inst(t, inst, emit);
}
