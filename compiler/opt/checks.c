/* Checks that a loop repeats move in front of it: those that do not depend on all of its indices,
   with what they are computed from.  They then run over the indices that they do depend on, if the
   others take any values at all; and the loop that does the work is left without a way out.

   Checks keep their order among themselves and with other effects, as long as the loop they stand
   in is the same: what cannot move keeps in place what comes behind it, so that a subscript is
   checked before it is used for the next. */
#include "ir/build.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { MOST_DEPTH = 16, MOST_DIMS = 31 };

typedef struct Mover {
    OptContext *context;
    IrInst *loop;  /* whose checks move */
    IrInst *inner; /* a loop in its body, whose checks do; or NULL */
    uint32_t uses; /* bit k: what moves now depends on index k of LOOP */
    bool is_open;  /* is there a place, for checks of OPEN_INNER that depend on OPEN_USES? */
    uint32_t open_uses;
    const IrInst *open_inner;
    IrBuilder b; /* there */
    Map map;     /* what was cloned there */
} Mover;

static bool is_check(const IrInst *inst) {
    return inst->op == IR_CHECK || inst->op == IR_CHECK_INDEX;
}

static bool is_loop(const IrInst *inst) {
    return inst->op == IR_BUILD || inst->op == IR_REDUCE;
}

/* Does REGION, apart from computing, do nothing but check? */
static bool only_checks(const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_LOOP || inst->op == IR_WITH_ACC || inst->op == IR_TAPE_PUSH)
            return false;
        if (inst->op != IR_YIELD && !is_check(inst) && !inst->nregions && !ir_removable(inst))
            return false;
        for (uint32_t r = 0; r < inst->nregions; r++)
            if (!only_checks(inst->regions[r])) return false;
    }
    return true;
}

/* Nothing but checks: one, or a loop or branch of them. */
static bool is_checking(const IrInst *inst) {
    if (is_check(inst)) return true;
    if (inst->nresults || (!is_loop(inst) && inst->op != IR_IF)) return false;
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (!only_checks(inst->regions[r])) return false;
    return !ir_removable(inst);
}

/* ---- what a value is computed from ---- */

static bool can_have(Mover *m, const IrValue *value, uint32_t depth);

static bool inst_can_be_had(Mover *m, const IrInst *inst, uint32_t depth) {
    if (depth == 0 || inst->nregions || !ir_op_info(inst->op)->pure || inst->nresults != 1)
        return false;
    if (inst->op == IR_CALL || inst->op > IR_INDEX) return false;
    for (uint32_t k = 0; k < inst->noperands; k++)
        if (!can_have(m, inst->operands[k], depth - 1)) return false;
    return true;
}

/* Can VALUE be had from the indices and what is outside of the loop?  Notes which indices. */
static bool can_have(Mover *m, const IrValue *value, uint32_t depth) {
    value = ir_resolve((IrValue *)value);
    if (ir_visible(value, m->loop->parent)) return true;
    const IrRegion *home = value->def ? value->def->parent : value->region;
    bool is_inner = m->inner && home == m->inner->regions[0];
    if (home != m->loop->regions[0] && !is_inner) return false;
    if (value->def) return inst_can_be_had(m, value->def, depth);
    if (!is_inner) m->uses |= UINT32_C(1) << value->index;
    return true;
}

typedef struct Captures {
    Mover *mover;
    bool all;
} Captures;

static void check_capture(IrValue *value, void *data) {
    Captures *c = data;
    c->all = c->all && can_have(c->mover, value, MOST_DEPTH);
}

static bool can_move(Mover *m, const IrInst *inst) {
    Captures c = {m, true};
    for (uint32_t k = 0; k < inst->noperands; k++) check_capture(inst->operands[k], &c);
    for (uint32_t r = 0; r < inst->nregions; r++) ir_captures(inst->regions[r], check_capture, &c);
    return c.all;
}

/* ---- moving ---- */

static void clone_value(Mover *m, IrValue *value);

static void clone_capture(IrValue *value, void *data) {
    clone_value(data, value);
}

static void clone_value(Mover *m, IrValue *value) {
    value = ir_resolve(value);
    if (!value->def || map_hasp(&m->map, value) || ir_visible(value, m->loop->parent)) return;
    for (uint32_t k = 0; k < value->def->noperands; k++) clone_value(m, value->def->operands[k]);
    ir_clone(&m->b, value->def, &m->map);
}

/* A branch that runs if LOOP's indices outside of USES take any values; none if they do. */
static void open_guard(Mover *m) {
    IrValue *any = NULL;
    for (uint32_t k = 0; k < (uint32_t)m->loop->imm; k++) {
        IrValue *size = ir_resolve(m->loop->operands[k]);
        int64_t known;
        if (m->uses >> k & 1 || (ir_const_int(size, &known) && known > 0)) continue;
        IrValue *some = irb_binary(&m->b, IR_GT, size, irb_int(&m->b, 0));
        any = any ? irb_binary(&m->b, IR_AND, any, some) : some;
    }
    if (!any) return;
    IrInst *guard = irb_if(&m->b, any, 0, NULL);
    for (uint32_t r = 2; r-- > 0;) {
        irb_at_end(&m->b, guard->regions[r]);
        irb_before(&m->b, irb_yield(&m->b, 0, NULL));
    }
}

/* A loop over those sizes of FROM that are in USES, with an empty body. */
static void open_loop(Mover *m, const IrInst *from, uint32_t uses) {
    IrValue *sizes[MOST_DIMS];
    uint32_t n = 0;
    for (uint32_t k = 0; k < (uint32_t)from->imm; k++) {
        const IrValue *size = ir_resolve(from->operands[k]), *here = map_getp(&m->map, size);
        if (uses >> k & 1) sizes[n++] = (IrValue *)(here ? here : size);
    }
    if (!n) return;
    IrInst *loop = irb_build(&m->b, n, sizes, 0, NULL, 0, NULL);
    irb_at_end(&m->b, loop->regions[0]);
    irb_before(&m->b, irb_yield(&m->b, 0, NULL));
    n = 0;
    for (uint32_t k = 0; k < (uint32_t)from->imm; k++)
        if (uses >> k & 1)
            map_setp(&m->map, from->regions[0]->params[k], loop->regions[0]->params[n++]);
}

/* The place for a check that depends on USES: behind the last one, if that does, too. */
static void open(Mover *m) {
    if (m->is_open && m->open_uses == m->uses && m->open_inner == m->inner) return;
    map_free(&m->map);
    m->map = (Map){0};
    m->b = (IrBuilder){.module = m->context->module, .func = m->context->func};
    irb_before(&m->b, m->loop);
    open_guard(m);
    open_loop(m, m->loop, m->uses);
    if (m->inner) {
        for (uint32_t k = 0; k < (uint32_t)m->inner->imm; k++)
            clone_value(m, m->inner->operands[k]);
        open_loop(m, m->inner, UINT32_MAX);
    }
    m->is_open = true;
    m->open_uses = m->uses;
    m->open_inner = m->inner;
}

static void move(Mover *m, IrInst *check) {
    open(m);
    for (uint32_t k = 0; k < check->noperands; k++) clone_value(m, check->operands[k]);
    for (uint32_t r = 0; r < check->nregions; r++) ir_captures(check->regions[r], clone_capture, m);
    ir_clone(&m->b, check, &m->map);
    ir_remove(check);
    m->context->changed = true;
}

static uint32_t all_indices(const IrInst *loop) {
    return (UINT32_C(1) << loop->imm) - 1;
}

/* CHECK moves if it does not depend on all indices.  Where LOOP itself does work over the others, a
   second loop for the checks would cost more than it saves. */
static bool try_move(Mover *m, IrInst *check) {
    m->uses = 0;
    for (uint32_t k = 0; m->inner && k < (uint32_t)m->inner->imm; k++)
        if (!can_have(m, m->inner->operands[k], MOST_DEPTH)) return false;
    if (!can_move(m, check) || m->uses == all_indices(m->loop)) return false;
    if (!m->inner && m->uses && !is_checking(m->loop)) return false;
    move(m, check);
    return true;
}

/* Does INST, not a check, neither fail nor keep others from being reached? */
static bool is_silent(const IrInst *inst) {
    if (inst->op == IR_LOOP && inst->flags & IR_LOOP_EXIT) return false;
    if (inst->op == IR_ACC_ADD) return true;
    if (!inst->nregions) return ir_removable(inst);
    for (uint32_t r = 0; r < inst->nregions; r++)
        for (const IrInst *in = inst->regions[r]->first; in; in = in->next)
            if (in->op != IR_YIELD && !is_silent(in)) return false;
    return true;
}

/* The checks of INNER, a loop in the body, from the first on; false: not all of them moved. */
static bool move_inner(Mover *m, IrInst *inner) {
    m->inner = inner;
    bool all = true;
    for (IrInst *inst = inner->regions[0]->first, *next; all && inst->op != IR_YIELD; inst = next) {
        next = inst->next;
        if (is_checking(inst)) all = try_move(m, inst);
        else all = is_silent(inst);
    }
    m->inner = NULL;
    return all;
}

static void move_checks(OptContext *c, IrInst *loop) {
    Mover m = {.context = c, .loop = loop};
    bool all = true;
    for (IrInst *inst = loop->regions[0]->first, *next; all && inst->op != IR_YIELD; inst = next) {
        next = inst->next;
        if (is_checking(inst)) all = try_move(&m, inst) || (is_loop(inst) && move_inner(&m, inst));
        else if (is_loop(inst) && !is_silent(inst)) all = move_inner(&m, inst);
        else all = is_silent(inst);
    }
    map_free(&m.map);
}

static void checks_region(OptContext *c, IrRegion *region) {
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        for (uint32_t r = 0; r < inst->nregions; r++) checks_region(c, inst->regions[r]);
        if (is_loop(inst) && inst->imm > 0 && inst->imm < MOST_DIMS) move_checks(c, inst);
    }
}

void opt_checks(OptContext *c) {
    checks_region(c, c->func->body);
}
