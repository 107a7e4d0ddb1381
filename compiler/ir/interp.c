/* The interpreter: calls, regions, scalars, control, tapes. */
#include "ir/interp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ir/internal.h"
#include "ir/interp-internal.h"

/* Regions within regions, in all calls together: bounds the C stack. */
enum { MAX_DEPTH = 6000, DEFAULT_CALLS = 500 };

IrInterp *ir_interp_new(IrModule *module) {
    IrInterp *interp = memory_zeroed(1, sizeof *interp);
    interp->module = module;
    interp->arena = arena_new();
    interp->call_limit = DEFAULT_CALLS;
    return interp;
}

void ir_interp_free(IrInterp *interp) {
    if (!interp) return;
    arena_free(interp->arena);
    strbuf_free(&interp->message);
    map_free(&interp->last_uses);
    vec_free(&interp->runtime);
    free(interp);
}

void ir_interp_set_output(IrInterp *interp, StrBuf *out) {
    interp->out = out;
}

void ir_interp_set_limits(IrInterp *interp, uint64_t steps, uint32_t calls) {
    interp->step_limit = steps;
    interp->call_limit = calls;
}

void ir_interp_set_runtime(IrInterp *interp, const char *name, IrRuntimeFn fn, void *data) {
    IrRuntimeEntry entry = {arena_strndup(interp->arena, name, strlen(name)), fn, data};
    vec_push(&interp->runtime, entry);
}

/* ---- errors ---- */

static bool fail_list(IrInterp *interp, int kind, Pos pos, const char *format, va_list args) {
    if (interp->error_kind) return false;
    interp->error_kind = kind;
    interp->error_pos = pos;
    strbuf_vprintf(&interp->message, format, args);
    return false;
}

bool ir_interp_fail(IrInterp *interp, int kind, Pos pos, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_list(interp, kind, pos, format, args);
    va_end(args);
    return false;
}

bool ir_invalid(IrFrame *frame, const IrInst *inst, const char *format, ...) {
    IrInterp *interp = frame->interp;
    va_list args;
    if (interp->error_kind) return false;
    ir_print_inst(&interp->message, inst);
    strbuf_add(&interp->message, ": ");
    va_start(args, format);
    fail_list(interp, IR_ERROR_INVALID, inst->pos, format, args);
    va_end(args);
    return false;
}

IrInterpError ir_interp_error(const IrInterp *interp) {
    const char *text = interp->message.text;
    return (IrInterpError){interp->error_kind, interp->error_pos, text ? text : ""};
}

/* ---- operands and results ---- */

IrDatum ir_peek(const IrFrame *frame, const IrInst *inst, uint32_t i) {
    return frame->slots[inst->operands[i]->id];
}

int64_t ir_peek_int(const IrFrame *frame, const IrInst *inst, uint32_t i) {
    return ir_peek(frame, inst, i).as.i;
}

IrDatum ir_take(IrFrame *frame, const IrInst *inst, uint32_t i) {
    const IrValue *value = inst->operands[i];
    IrDatum *slot = &frame->slots[value->id], datum = *slot;
    bool last = frame->last[value->id] == inst;
    for (uint32_t k = i + 1; last && k < inst->noperands; k++) last = inst->operands[k] != value;
    if (!last) return ir_datum_share(datum);
    *slot = (IrDatum){0};
    return datum;
}

static bool set_slot(IrFrame *frame, const IrInst *inst, const IrValue *value, IrDatum datum) {
    IrDatum *slot = &frame->slots[value->id];
    ir_datum_drop(slot);
    *slot = datum;
    if (datum.kind != IR_D_ARRAY) return true;
    const IrArray *array = datum.as.array;
    for (uint32_t k = 0; k < array->rank; k++)
        if (value->type->dims[k] >= 0 && value->type->dims[k] != array->dims[k])
            return ir_invalid(frame, inst, "a dimension %u of type %" PRId64 " is %" PRId64, k,
                              value->type->dims[k], array->dims[k]);
    return true;
}

bool ir_give(IrFrame *frame, const IrInst *inst, uint32_t i, IrDatum datum) {
    return set_slot(frame, inst, inst->results[i], datum);
}

bool ir_set_param(IrFrame *frame, const IrInst *inst, IrValue *param, IrDatum datum) {
    return set_slot(frame, inst, param, datum);
}

static void drop_all(IrDatum *data, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) ir_datum_drop(&data[i]);
    free(data);
}

static IrDatum *room(uint32_t n) {
    return memory_zeroed((size_t)n + 1, sizeof(IrDatum));
}

/* Gives all of DATA, which is freed. */
static bool give_all(IrFrame *frame, const IrInst *inst, IrDatum *data, uint32_t first,
                     uint32_t n) {
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) ok = ir_give(frame, inst, first + i, data[i]) && ok;
    free(data);
    return ok;
}

/* ---- scalars ---- */

static bool run_const(IrFrame *frame, const IrInst *inst) {
    IrScalar scalar = inst->results[0]->type->scalar;
    IrDatum value = ir_scalar_float(scalar) ? ir_datum_float(inst->fimm) : ir_datum_int(inst->imm);
    if (ir_scalar_lanes(scalar) == 1) return ir_give(frame, inst, 0, value);
    IrDatum all = ir_datum_lanes(scalar);
    for (uint32_t k = 0; k < ir_scalar_lanes(scalar); k++) ir_datum_set_lane(all, k, value);
    return ir_give(frame, inst, 0, all);
}

static bool run_lanes(IrFrame *frame, const IrInst *inst) {
    IrDatum all = ir_datum_lanes(inst->results[0]->type->scalar);
    for (uint32_t k = 0; k < inst->noperands; k++)
        ir_datum_set_lane(all, k, ir_peek(frame, inst, k));
    return ir_give(frame, inst, 0, all);
}

static bool run_lane(IrFrame *frame, const IrInst *inst) {
    int64_t k = ir_peek_int(frame, inst, 1);
    if (k < 0 || k >= ir_scalar_lanes(inst->operands[0]->type->scalar))
        return ir_invalid(frame, inst, "there is no lane %" PRId64, k);
    return ir_give(frame, inst, 0, ir_datum_lane(ir_peek(frame, inst, 0), (uint32_t)k));
}

static bool run_lane_sum(IrFrame *frame, const IrInst *inst) {
    IrDatum all = ir_peek(frame, inst, 0), sum = ir_datum_lane(all, 0);
    IrScalar scalar = inst->results[0]->type->scalar;
    for (uint32_t k = 1; k < ir_scalar_lanes(inst->operands[0]->type->scalar); k++) {
        IrDatum args[] = {sum, ir_datum_lane(all, k)};
        ir_eval_datum(IR_ADD, scalar, scalar, 0, args, 2, &sum);
    }
    return ir_give(frame, inst, 0, sum);
}

static bool run_scalar(IrFrame *frame, const IrInst *inst) {
    IrDatum args[3] = {{0}}, value;
    IrScalar type = inst->operands[0]->type->scalar, result = inst->results[0]->type->scalar;
    for (uint32_t i = 0; i < inst->noperands && i < 3; i++) args[i] = ir_peek(frame, inst, i);
    if (!ir_eval_datum(inst->op, type, result, inst->imm, args, inst->noperands, &value))
        return ir_invalid(frame, inst, "not defined for these operands");
    return ir_give(frame, inst, 0, value);
}

/* ---- control ---- */

static bool run_if(IrFrame *frame, const IrInst *inst) {
    IrDatum *out = room(inst->nresults);
    const IrRegion *region = inst->regions[ir_peek_int(frame, inst, 0) ? 0 : 1];
    if (!ir_run_region(frame, inst, region, out)) {
        free(out);
        return false;
    }
    return give_all(frame, inst, out, 0, inst->nresults);
}

/* One trip; *GO_ON is false after a yielded false. */
static bool run_trip(IrFrame *frame, const IrInst *inst, int64_t t, bool *go_on) {
    const IrRegion *body = inst->regions[0];
    uint32_t exit = inst->flags & IR_LOOP_EXIT ? 1 : 0, n = inst->nresults;
    IrDatum *out = room(n + exit);
    bool ok = ir_set_param(frame, inst, body->params[0], ir_datum_int(t)) &&
              ir_run_region(frame, inst, body, out);
    if (ok && exit) *go_on = out[0].as.i != 0;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = ir_set_param(frame, inst, body->params[i + 1], out[i + exit]);
        out[i + exit] = (IrDatum){0};
    }
    drop_all(out, n + exit);
    return ok;
}

static bool run_loop(IrFrame *frame, const IrInst *inst) {
    const IrRegion *body = inst->regions[0];
    int64_t count = ir_peek_int(frame, inst, 0);
    bool go_on = true;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!ir_set_param(frame, inst, body->params[i + 1], ir_take(frame, inst, i + 1)))
            return false;
    for (int64_t t = 0; t < count && go_on; t++)
        if (!run_trip(frame, inst, t, &go_on)) return false;
    for (uint32_t i = 0; i < inst->nresults; i++) {
        IrDatum *slot = &frame->slots[body->params[i + 1]->id], value = *slot;
        *slot = (IrDatum){0};
        if (!ir_give(frame, inst, i, value)) return false;
    }
    return true;
}

static bool run_func(IrInterp *interp, IrFunc *func, const IrInst *call, IrDatum *args,
                     IrDatum *results);

static bool run_call(IrFrame *frame, const IrInst *inst) {
    if (inst->func->flags & IR_FUNC_EXTERN)
        return ir_run_runtime(frame, inst,
                              inst->func->symbol ? inst->func->symbol : inst->func->name);
    IrDatum *args = room(inst->noperands), *results = room(inst->nresults);
    for (uint32_t i = 0; i < inst->noperands; i++) args[i] = ir_take(frame, inst, i);
    bool ok = run_func(frame->interp, inst->func, inst, args, results);
    drop_all(args, inst->noperands);
    if (ok) return give_all(frame, inst, results, 0, inst->nresults);
    free(results);
    return false;
}

/* ---- accumulators ---- */

/* An accumulator holds an array of its own, of rank 0 for a scalar. */
static bool run_with_acc(IrFrame *frame, const IrInst *inst) {
    uint32_t n = inst->noperands, extra = inst->nresults - n;
    const IrRegion *region = inst->regions[0];
    for (uint32_t i = 0; i < n; i++) {
        IrDatum init = ir_take(frame, inst, i), acc;
        if (init.kind == IR_D_ARRAY) {
            acc.as.array = ir_array_own(&init);
        } else {
            acc = ir_datum_array(inst->operands[i]->type->scalar, 0, NULL);
            ir_array_set(acc.as.array, 0, init);
            ir_datum_drop(&init);
        }
        acc.kind = IR_D_ACC;
        ir_set_param(frame, inst, region->params[i], acc);
    }
    IrDatum *out = room(extra);
    if (!ir_run_region(frame, inst, region, out)) {
        free(out);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        IrDatum *slot = &frame->slots[region->params[i]->id], value = *slot;
        bool scalar = inst->results[i]->type->kind == IR_T_SCALAR;
        *slot = (IrDatum){0};
        value.kind = IR_D_ARRAY;
        IrDatum element = scalar ? ir_array_get(value.as.array, 0) : ir_datum_share(value);
        ir_datum_drop(&value);
        if (!ir_give(frame, inst, i, element)) {
            drop_all(out, extra);
            return false;
        }
    }
    return give_all(frame, inst, out, n, extra);
}

/* ---- tapes ---- */

static bool run_push(IrFrame *frame, const IrInst *inst) {
    IrDatum tape = ir_take(frame, inst, 0);
    IrTapeCell *cell = ir_tape_push(&tape, inst);
    for (uint32_t i = 1; i < inst->noperands; i++) cell->values[i - 1] = ir_take(frame, inst, i);
    return ir_give(frame, inst, 0, (IrDatum){IR_D_TAPE, {.tape = cell}});
}

static bool kind_fits(IrDatum datum, IrType type) {
    switch (type->kind) {
    case IR_T_SCALAR:
        if (ir_scalar_lanes(type->scalar) > 1)
            return datum.kind == IR_D_LANES && datum.as.array->scalar == type->scalar;
        return datum.kind == (ir_scalar_float(type->scalar) ? IR_D_FLOAT : IR_D_INT);
    case IR_T_ARRAY:
        return datum.kind == IR_D_ARRAY && datum.as.array->scalar == type->scalar &&
               datum.as.array->rank == type->rank;
    case IR_T_STR: return datum.kind == IR_D_TEXT;
    case IR_T_TAPE: return datum.kind == IR_D_TAPE;
    case IR_T_ACC: return false;
    }
    return false;
}

static bool run_empty(IrFrame *frame, const IrInst *inst) {
    IrDatum tape = ir_datum_share(ir_peek(frame, inst, 0));
    IrDatum empty = {IR_D_INT, {.i = !tape.as.tape}};
    ir_datum_drop(&tape);
    return ir_give(frame, inst, 0, empty);
}

static bool run_sum(IrFrame *frame, const IrInst *inst) {
    IrDatum x = ir_peek(frame, inst, 0), y = ir_peek(frame, inst, 1);
    IrTapeCell *sum = NULL;
    if (!ir_tape_sum(x.as.tape, y.as.tape, &sum))
        return ir_invalid(frame, inst, "the tapes are not alike");
    return ir_give(frame, inst, 0, (IrDatum){IR_D_TAPE, {.tape = sum}});
}

static bool run_pop(IrFrame *frame, const IrInst *inst) {
    IrDatum tape = ir_datum_share(ir_peek(frame, inst, 0));
    const IrTapeCell *cell = tape.as.tape;
    bool ok = cell && cell->n == inst->nresults - 1;
    ok = ok && !((cell->pushed->flags ^ inst->flags) & IR_TAPE_TYPED);
    for (uint32_t i = 0; ok && i < cell->n; i++)
        ok = kind_fits(cell->values[i], inst->results[i + 1]->type);
    if (!ok) ir_invalid(frame, inst, cell ? "something else was pushed" : "the tape is empty");
    if (ok) {
        IrDatum below = {IR_D_TAPE, {.tape = cell->below}};
        ok = ir_give(frame, inst, 0, ir_datum_share(below));
    }
    for (uint32_t i = 0; ok && i < cell->n; i++)
        ok = ir_give(frame, inst, i + 1, ir_datum_share(cell->values[i]));
    ir_datum_drop(&tape);
    return ok;
}

/* ---- instructions, regions ---- */

static bool run_inst(IrFrame *frame, const IrInst *inst) {
    switch (inst->op) {
    case IR_CONST: return run_const(frame, inst);
    case IR_STRING: return ir_give(frame, inst, 0, ir_datum_text(inst->text, strlen(inst->text)));
    case IR_IF: return run_if(frame, inst);
    case IR_LOOP: return run_loop(frame, inst);
    case IR_CALL: return run_call(frame, inst);
    case IR_BUILD: return ir_run_build(frame, inst);
    case IR_REDUCE: return ir_run_reduce(frame, inst);
    case IR_DIM:
    case IR_INDEX:
    case IR_UPDATE:
    case IR_SLICE:
    case IR_ASSIGN:
    case IR_TRANSPOSE:
    case IR_RESHAPE:
    case IR_PACK:
    case IR_CONCAT:
    case IR_ASSUME:
    case IR_ARGSORT:
    case IR_CONTRACT: return ir_run_array(frame, inst);
    case IR_STOP: return ir_give(frame, inst, 0, ir_take(frame, inst, 0));
    case IR_WITH_ACC: return run_with_acc(frame, inst);
    case IR_ACC_ADD: return ir_run_acc_add(frame, inst);
    case IR_TAPE_NEW: return ir_give(frame, inst, 0, (IrDatum){IR_D_TAPE, {.tape = NULL}});
    case IR_TAPE_PUSH: return run_push(frame, inst);
    case IR_TAPE_POP: return run_pop(frame, inst);
    case IR_TAPE_EMPTY: return run_empty(frame, inst);
    case IR_TAPE_SUM: return run_sum(frame, inst);
    case IR_CHECK: return ir_run_check(frame, inst);
    case IR_CHECK_INDEX: return ir_run_check_index(frame, inst);
    case IR_FAIL: return ir_run_fail(frame, inst);
    case IR_RUNTIME: return ir_run_runtime(frame, inst, inst->text);
    case IR_NEG:
    case IR_ABS:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_MOD:
    case IR_REM:
    case IR_POWI:
    case IR_MIN:
    case IR_MAX:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_NOT:
    case IR_SHL:
    case IR_SHR:
    case IR_MULHI:
    case IR_MULADD:
    case IR_SELECT:
    case IR_CAST:
    case IR_MATH: return run_scalar(frame, inst);
    case IR_LANES: return run_lanes(frame, inst);
    case IR_LANE: return run_lane(frame, inst);
    case IR_LANE_SUM: return run_lane_sum(frame, inst);
    case IR_YIELD:
    case IR_OP_COUNT: break;
    }
    return ir_invalid(frame, inst, "cannot be run");
}

static bool count_step(IrInterp *interp, const IrInst *inst) {
    interp->steps++;
    if (!interp->step_limit || interp->steps <= interp->step_limit) return true;
    return ir_interp_fail(interp, IR_ERROR_LIMIT, inst->pos, "too many steps");
}

static bool run_body(IrFrame *frame, const IrRegion *region, IrDatum *out) {
    const IrInst *inst = region->first;
    for (; inst->op != IR_YIELD; inst = inst->next)
        if (!count_step(frame->interp, inst) || !run_inst(frame, inst)) return false;
    for (uint32_t i = 0; i < inst->noperands; i++) out[i] = ir_take(frame, inst, i);
    return true;
}

bool ir_run_region(IrFrame *frame, const IrInst *inst, const IrRegion *region, IrDatum *out) {
    if (++frame->interp->depth > MAX_DEPTH) {
        Pos pos = inst ? inst->pos : 0;
        ir_interp_fail(frame->interp, IR_ERROR_LIMIT, pos, "calls and loops are nested too deeply");
    }
    bool ok = !frame->interp->error_kind && run_body(frame, region, out);
    frame->interp->depth--;
    return ok;
}

/* ---- calls ---- */

/* The walk goes on from INST into its regions and then to what follows: what it writes last, holds.
   A value that is used in a region of an instruction is not moved out by that instruction. */
static void note_uses(IrInst *inst, void *data) {
    const IrInst **last = data;
    for (uint32_t i = 0; i < inst->noperands; i++) {
        const IrValue *value = inst->operands[i];
        last[value->id] = ir_home(value) == inst->parent ? inst : NULL;
    }
}

static const IrInst **last_uses(IrInterp *interp, IrFunc *func) {
    const IrInst **last = map_getp(&interp->last_uses, func);
    if (last) return last;
    last = ARENA_ARRAY(interp->scratch, const IrInst *, func->nvalues + 1);
    ir_walk(func->body, note_uses, last);
    map_setp(&interp->last_uses, func, last);
    return last;
}

static bool no_body(IrInterp *interp, const IrFunc *func, Pos pos) {
    bool deriv = func->deriv.mode != IR_DERIV_NONE;
    return ir_interp_fail(interp, IR_ERROR_INVALID, pos, "@%s cannot be run: %s", func->name,
                          deriv ? "this derivative has not been made" : "it has no body");
}

/* Takes over what ARGS hold. */
static bool run_func(IrInterp *interp, IrFunc *func, const IrInst *call, IrDatum *args,
                     IrDatum *results) {
    Pos pos = call ? call->pos : func->pos;
    if (!func->body) return no_body(interp, func, pos);
    if (interp->calls >= interp->call_limit)
        return ir_interp_fail(interp, IR_ERROR_LIMIT, pos, "calls are nested too deeply");
    interp->calls++;
    IrFrame frame = {interp, room(func->nvalues), last_uses(interp, func)};
    for (uint32_t i = 0; i < func->nparams; i++) {
        frame.slots[func->body->params[i]->id] = args[i];
        args[i] = (IrDatum){0};
    }
    bool ok = ir_run_region(&frame, call, func->body, results);
    drop_all(frame.slots, func->nvalues);
    interp->calls--;
    return ok;
}

bool ir_interp_call(IrInterp *interp, IrFunc *func, const IrDatum *args, IrDatum *results) {
    interp->error_kind = IR_ERROR_NONE;
    interp->error_pos = 0;
    interp->steps = 0;
    strbuf_clear(&interp->message);
    map_clear(&interp->last_uses);
    interp->scratch = arena_new();
    IrDatum *copies = room(func->nparams), *values = room(func->nresults);
    for (uint32_t i = 0; i < func->nparams; i++) copies[i] = ir_datum_share(args[i]);
    bool ok = run_func(interp, func, NULL, copies, values);
    for (uint32_t i = 0; ok && i < func->nresults; i++) results[i] = values[i];
    drop_all(copies, func->nparams);
    free(values);
    arena_free(interp->scratch);
    interp->scratch = NULL;
    return ok;
}
