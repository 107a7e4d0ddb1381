/* Loads, stores, atomic operations and addresses. */
#include "tests/ptxsim/run.h"

#include <string.h>

static const char *const space_names[] = {"generic", "global", "shared",
                                          "local",   "param",  "constant"};

static PtxToucher toucher(const PtxLaunch *launch, const PtxThread *thread, uint32_t line) {
    return (PtxToucher){
        .launch = launch->number,
        .thread = thread->in_block,
        .block = launch->block_number,
        .phase = launch->phase,
        .line = line,
    };
}

void ptx_flush_read(PtxLaunch *launch, PtxThread *thread) {
    if (!thread->read.area) return;
    PtxToucher who = toucher(launch, thread, thread->read.line);
    who.noncoherent = thread->read.noncoherent;
    PtxArea *area = thread->read.area;
    thread->read.area = NULL;
    ptx_area_touch(area, thread->read.at, thread->read.size, TOUCH_READ, &who,
                   area == &launch->shared ? "shared" : "global", launch->failure);
}

static PtxSpace space_of(uint64_t address) {
    if (address - PTX_SHARED_WINDOW < PTX_WINDOW_SIZE) return SPACE_shared;
    if (address - PTX_LOCAL_WINDOW < PTX_WINDOW_SIZE) return SPACE_local;
    if (address - PTX_PARAM_WINDOW < PTX_WINDOW_SIZE) return SPACE_param;
    return SPACE_global;
}

static uint64_t window_of(PtxSpace space) {
    switch (space) {
    case SPACE_shared: return PTX_SHARED_WINDOW;
    case SPACE_local: return PTX_LOCAL_WINDOW;
    case SPACE_param: return PTX_PARAM_WINDOW;
    case SPACE_generic:
    case SPACE_global:
    case SPACE_const: break;
    }
    return 0;
}

typedef struct Place {
    PtxArea *area;
    uint64_t at;
    const char *space;
} Place;

static PtxArea *area_of(PtxLaunch *launch, PtxThread *thread, PtxSpace space, uint64_t address,
                        const PtxInst *inst) {
    switch (space) {
    case SPACE_shared: return &launch->shared;
    case SPACE_local: return &thread->local;
    case SPACE_param: return &thread->frame->params;
    case SPACE_generic:
    case SPACE_global:
    case SPACE_const: break;
    }
    PtxArea *area = ptx_memory_find(launch->memory, address);
    if (!area) area = ptx_memory_find(&launch->heap, address);
    if (!area)
        ptx_fail(launch->failure, inst->line, "the address %#llx is in no allocation",
                 (unsigned long long)address);
    return area;
}

static Place locate(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst,
                    const PtxOperand *memory, uint64_t size) {
    PtxSpace space = inst->space;
    uint64_t address = memory->bits;
    if (memory->based) {
        address += ptx_known(launch, inst, thread->frame->regs[memory->index], "an address");
    } else if (memory->symbol) {
        address += memory->symbol->address;
        if (memory->symbol->space == SPACE_local) address += thread->frame->local_base;
        if (!space) space = memory->symbol->space;
    }
    if (!space) {
        space = space_of(address);
        address -= window_of(space);
    }
    Place place = {.area = area_of(launch, thread, space, address, inst),
                   .space = space_names[space]};
    place.at = ptx_area_at(place.area, address, size, place.space, launch->failure, inst->line);
    return place;
}

static PtxValue get(const Place *place, uint64_t at, PtxType type, uint32_t line) {
    PtxValue value = {0};
    uint64_t size = ptx_type_bits(type) / 8;
    memcpy(&value.bits, place->area->bytes + at, size);
    for (uint64_t i = at; i < at + size; i++)
        if (!place->area->known[i]) value.unknown = line;
    value.bits = ptx_extend(type, value.bits);
    return value;
}

static void put(const Place *place, uint64_t at, PtxType type, PtxValue value) {
    uint64_t size = ptx_type_bits(type) / 8;
    memcpy(place->area->bytes + at, &value.bits, size);
    memset(place->area->known + at, value.unknown == 0, size);
}

static const PtxOperand *part(const PtxThread *thread, const PtxOperand *o, unsigned i) {
    return o->kind == OPERAND_VECTOR ? &thread->frame->func->parts[o->index + i] : o;
}

static void touch(PtxLaunch *launch, PtxThread *thread, const Place *place, uint64_t size,
                  PtxTouch how, uint32_t line) {
    ptx_flush_read(launch, thread);
    PtxToucher who = toucher(launch, thread, line);
    ptx_area_touch(place->area, place->at, size, how, &who, place->space, launch->failure);
}

static void load(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    uint64_t item = ptx_type_bits(inst->type) / 8, size = item * inst->vec;
    Place place = locate(launch, thread, inst, &inst->operand[1], size);
    if (inst->order == ORDER_strong) {
        touch(launch, thread, &place, size, TOUCH_ATOMIC, inst->line);
    } else if (place.area->cells) {
        ptx_flush_read(launch, thread);
        thread->read.area = place.area;
        thread->read.at = place.at;
        thread->read.size = size;
        thread->read.line = inst->line;
        thread->read.noncoherent = inst->noncoherent;
    }
    for (unsigned i = 0; i < inst->vec; i++)
        ptx_operand_set(thread, part(thread, &inst->operand[0], i),
                        get(&place, place.at + i * item, inst->type, inst->line));
}

static void store(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    uint64_t item = ptx_type_bits(inst->type) / 8, size = item * inst->vec;
    Place place = locate(launch, thread, inst, &inst->operand[0], size);
    touch(launch, thread, &place, size, inst->order == ORDER_strong ? TOUCH_ATOMIC : TOUCH_WRITE,
          inst->line);
    for (unsigned i = 0; i < inst->vec; i++)
        put(&place, place.at + i * item, inst->type,
            ptx_operand_value(launch, thread, inst, part(thread, &inst->operand[1], i)));
}

static void atomic(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    const PtxOperand *o = &inst->operand[inst->op == OP_atom];
    uint64_t size = ptx_type_bits(inst->type) / 8;
    Place place = locate(launch, thread, inst, &o[0], size);
    if (inst->atom == ATOM_cas && thread->read.area == place.area && thread->read.at == place.at)
        thread->read.area = NULL;
    touch(launch, thread, &place, size, TOUCH_ATOMIC, inst->line);
    PtxValue old = get(&place, place.at, inst->type, inst->line);
    ptx_known(launch, inst, old, "what is updated");
    uint64_t in[2] = {0};
    for (int i = 0; i < (inst->atom == ATOM_cas ? 2 : 1); i++)
        in[i] = ptx_extend(inst->type, ptx_known(launch, inst,
                                                 ptx_operand_value(launch, thread, inst, &o[i + 1]),
                                                 "an update"));
    put(&place, place.at, inst->type, (PtxValue){ptx_combine(inst, old.bits, in[0], in[1]), 0});
    if (inst->op == OP_atom) ptx_operand_set(thread, &inst->operand[0], old);
}

static void convert_address(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    PtxValue value = ptx_operand_value(launch, thread, inst, &inst->operand[1]);
    uint64_t window = window_of(inst->space);
    if (inst->to && window && space_of(ptx_known(launch, inst, value, "an address")) != inst->space)
        ptx_fail(launch->failure, inst->line, "cvta.to.%s of an address elsewhere",
                 space_names[inst->space]);
    value.bits += inst->to ? -window : window;
    ptx_operand_set(thread, &inst->operand[0], value);
}

void ptx_run_access(PtxLaunch *launch, PtxThread *thread, const PtxInst *inst) {
    if (inst->op == OP_ld) {
        load(launch, thread, inst);
    } else if (inst->op == OP_st) {
        store(launch, thread, inst);
    } else if (inst->op == OP_cvta) {
        convert_address(launch, thread, inst);
    } else if (inst->op == OP_isspacep) {
        PtxValue value = ptx_operand_value(launch, thread, inst, &inst->operand[1]);
        value.bits = space_of(value.bits) == inst->space;
        ptx_operand_set(thread, &inst->operand[0], value);
    } else {
        atomic(launch, thread, inst);
    }
}
