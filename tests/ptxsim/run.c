/* One thread: registers, operands, control flow and calls. */
#include "tests/ptxsim/run.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_DEPTH = 64, LOCAL_ALIGN = 16 };

/* ---- frames -----------------------------------------------------------------------------------
 */

/* Local memory grows with the calls; its addresses are offsets, so that it may move. */
static void grow_local(PtxThread *thread, uint64_t size) {
    if (size <= thread->local.size) return;
    PtxArea bigger;
    ptx_area_init(&bigger, 0, size * 2, false, false);
    if (thread->local.size) {
        memcpy(bigger.bytes, thread->local.bytes, thread->local.size);
        memcpy(bigger.known, thread->local.known, thread->local.size);
    }
    ptx_area_free(&thread->local);
    thread->local = bigger;
}

void ptx_push_frame(PtxLaunch *launch, PtxThread *thread, const PtxFunc *func,
                    const PtxInst *call) {
    if (!func->defined)
        ptx_fail(launch->failure, call ? call->line : 0, "'%s' has no body", func->name);
    if (++thread->depth > CALL_DEPTH)
        ptx_fail(launch->failure, call ? call->line : 0, "%d calls deep", CALL_DEPTH);
    PtxFrame *frame = calloc(1, sizeof *frame);
    PtxValue *regs = calloc(func->reg_count ? func->reg_count : 1, sizeof *regs);
    if (!frame || !regs) abort();
    for (uint32_t i = 0; i < func->reg_count; i++) regs[i].unknown = PTX_NEVER_SET;
    *frame = (PtxFrame){.caller = thread->frame,
                        .func = func,
                        .regs = regs,
                        .call = call,
                        .local_base = thread->local_used};
    ptx_area_init(&frame->params, 0, func->param_size, false, false);
    thread->frame = frame;
    thread->local_used += (func->local_size + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
    grow_local(thread, thread->local_used);
}

void ptx_pop_frame(PtxThread *thread) {
    PtxFrame *frame = thread->frame;
    if (thread->local.known)
        memset(thread->local.known + frame->local_base, 0, thread->local_used - frame->local_base);
    thread->local_used = frame->local_base;
    thread->frame = frame->caller;
    thread->depth--;
    ptx_area_free(&frame->params);
    free(frame->regs);
    free(frame);
}

static void copy_param(PtxFrame *to, const PtxSymbol *there, const PtxFrame *from,
                       const PtxSymbol *here) {
    memcpy(to->params.bytes + there->address, from->params.bytes + here->address, here->size);
    memcpy(to->params.known + there->address, from->params.known + here->address, here->size);
}

static void enter(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    const PtxFunc *func = inst->operand[1].func;
    if (ptx_heap_call(launch, thread, inst)) return;
    PtxFrame *caller = thread->frame;
    const PtxOperand *args = &caller->func->parts[inst->operand[2].index];
    ptx_push_frame(launch, thread, func, inst);
    for (uint32_t i = 0; i < inst->operand[2].count; i++)
        copy_param(thread->frame, func->params[i], caller, args[i].symbol);
}

static void leave(PtxThread *thread) {
    PtxFrame *frame = thread->frame, *caller = frame->caller;
    if (caller && frame->call->operand[0].count) {
        const PtxOperand *list = &frame->call->operand[0];
        for (uint32_t i = 0; i < list->count; i++)
            copy_param(caller, caller->func->parts[list->index + i].symbol, frame,
                       frame->func->results[i]);
    }
    ptx_pop_frame(thread);
    if (!thread->frame) thread->state = STATE_DONE;
}

/* ---- operands ---------------------------------------------------------------------------------
 */

uint64_t ptx_known(PtxLaunch *launch, const PtxInst *inst, PtxValue value, const char *what) {
    if (value.unknown == PTX_NEVER_SET)
        ptx_fail(launch->failure, inst->line, "%s depends on a register that was never set", what);
    if (value.unknown)
        ptx_fail(launch->failure, inst->line, "%s depends on what line %u read, which nobody wrote",
                 what, value.unknown);
    return value.bits;
}

static uint64_t special_value(const PtxLaunch *launch, const PtxThread *thread,
                              PtxSpecial special) {
    const uint32_t *const groups[] = {thread->index, launch->block, launch->at, launch->grid};
    if (special == SPECIAL_laneid) return thread->in_block % 32;
    return groups[special / 3][special % 3];
}

static PtxValue symbol_address(const PtxThread *thread, const PtxOperand *operand) {
    PtxValue value = {operand->symbol->address + operand->bits, 0};
    if (operand->symbol->space == SPACE_local) value.bits += thread->frame->local_base;
    return value;
}

PtxValue ptx_operand_value(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst,
                           const PtxOperand *operand) {
    PtxValue value = {0};
    switch (operand->kind) {
    case OPERAND_REG:
        value = thread->frame->regs[operand->index];
        if (operand->negate) value.bits ^= 1;
        return value;
    case OPERAND_IMM: value.bits = operand->bits; return value;
    case OPERAND_SPECIAL: value.bits = special_value(launch, thread, operand->index); return value;
    case OPERAND_SYMBOL: return symbol_address(thread, operand);
    case OPERAND_NONE: return value;
    case OPERAND_VECTOR: { /* packed, the first one lowest */
        unsigned width = ptx_type_bits(inst->type) / operand->count;
        for (uint32_t i = 0; i < operand->count; i++) {
            PtxValue part = ptx_operand_value(launch, thread, inst,
                                              &thread->frame->func->parts[operand->index + i]);
            value.bits |= (part.bits & ((UINT64_C(1) << width) - 1)) << (i * width);
            if (part.unknown) value.unknown = part.unknown;
        }
        return value;
    }
    case OPERAND_MEMORY:
    case OPERAND_LABEL:
    case OPERAND_FUNC: break;
    }
    ptx_fail(launch->failure, inst->line, "this operand has no value");
}

void ptx_operand_set(PtxThread *thread, const PtxOperand *operand, PtxValue value) {
    if (operand->kind != OPERAND_REG) return; /* "_" */
    value.bits = ptx_truncate(thread->frame->func->regs[operand->index], value.bits);
    thread->frame->regs[operand->index] = value;
}

static void move(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    PtxValue value = ptx_operand_value(launch, thread, inst, &inst->operand[1]);
    const PtxOperand *to = &inst->operand[0];
    if (to->kind != OPERAND_VECTOR) {
        ptx_operand_set(thread, to, value);
        return;
    }
    for (uint32_t i = 0; i < to->count; i++) {
        PtxValue part = value;
        part.bits >>= i * (ptx_type_bits(inst->type) / to->count);
        ptx_operand_set(thread, &thread->frame->func->parts[to->index + i], part);
    }
}

static void compute(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    PtxValue in[PTX_OPERANDS] = {0}, out[2] = {0};
    for (int i = 1; i < PTX_OPERANDS; i++)
        in[i - 1] = ptx_operand_value(launch, thread, inst, &inst->operand[i]);
    if (!ptx_compute(inst, in, out, &thread->carry))
        ptx_fail(launch->failure, inst->line, "'%s' does not take this type",
                 ptx_op_name(inst->op));
    ptx_operand_set(thread, &inst->operand[0], out[0]);
    ptx_operand_set(thread, &inst->second, out[1]);
}

/* ---- control ----------------------------------------------------------------------------------
 */

static void jump(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    const PtxOperand *to = &inst->operand[0];
    if (inst->op == OP_brx) {
        uint64_t index =
            ptx_known(launch, inst, ptx_operand_value(launch, thread, inst, to), "a branch");
        if (index >= inst->operand[1].count)
            ptx_fail(launch->failure, inst->line, "brx.idx beyond its list");
        to = &thread->frame->func->parts[inst->operand[1].index + index];
    }
    thread->frame->pc = to->index;
}

static void wait(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst, PtxState state) {
    ptx_flush_read(launch, thread);
    thread->state = state;
    thread->waits = inst;
}

static void step(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    switch (inst->op) {
    case OP_bra:
    case OP_brx: jump(launch, thread, inst); return;
    case OP_call: enter(launch, thread, inst); return;
    case OP_ret: leave(thread); return;
    case OP_exit:
        while (thread->frame) ptx_pop_frame(thread);
        thread->state = STATE_DONE;
        return;
    case OP_trap: ptx_fail(launch->failure, inst->line, "trap");
    case OP_mov: move(launch, thread, inst); return;
    case OP_ld:
    case OP_st:
    case OP_atom:
    case OP_red:
    case OP_cvta:
    case OP_isspacep: ptx_run_access(launch, thread, inst); return;
    case OP_fence:
    case OP_membar: return;
    case OP_bar:
    case OP_barrier: wait(launch, thread, inst, inst->warp ? STATE_SHUFFLE : STATE_BARRIER); return;
    case OP_shfl: wait(launch, thread, inst, STATE_SHUFFLE); return;
    default: compute(launch, thread, inst);
    }
}

void ptx_run_thread(PtxLaunch *launch, PtxThread *thread) {
    launch->current = thread;
    while (thread->state == STATE_READY) {
        PtxFrame *frame = thread->frame;
        if (frame->pc >= frame->func->inst_count) { /* as ret */
            leave(thread);
            continue;
        }
        const PtxInst *inst = &frame->func->insts[frame->pc++];
        if (++launch->steps > launch->step_limit)
            ptx_fail(launch->failure, inst->line, "more than %llu instructions",
                     (unsigned long long)launch->step_limit);
        if (inst->guard != PTX_NO_GUARD) {
            uint64_t on = ptx_known(launch, inst, frame->regs[inst->guard], "a condition");
            if ((on != 0) == inst->guard_not) continue;
        }
        step(launch, thread, inst);
    }
    ptx_flush_read(launch, thread);
}
