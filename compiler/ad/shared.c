/* Arrays that the invocations of a kernel on a device have in common: those that it changes are
   memory, which has one value at a time.  So what was read of them cannot be read again, and is
   kept one by one.

   Their tangents and cotangents are such memory, too: the shadows of parameters, and a second
   shared array for each one.  The cotangents go backwards through the same phases: a read adds to a
   cell, to which other invocations may add in the same phase, by an atomic addition; a write takes
   the cell's cotangent and leaves zero; an atomic addition reads it; a barrier is one.  They are
   there from the beginning of the reverse sweep, so that no barrier ever stands under a condition
   of one invocation. */
#include "ir/shared.h"
#include "ad/linearise.h"
#include "base/fatal.h"

/* ---- the primal arrays ---- */

bool ad_is_shared(const Mixed *mixed, const IrValue *value) {
    if (!mixed->func->module->device || is_linear(mixed, value)) return false;
    const IrValue *root = ir_shared_seen(value);
    return root && bitset_has(&mixed->changed, root->id);
}

bool ad_reads_shared(const Mixed *mixed, const IrInst *inst) {
    if (!mixed->func->module->device || inst->op == IR_DIM) return false;
    for (uint32_t k = 0; k < inst->noperands; k++)
        if (ad_is_shared(mixed, inst->operands[k])) return true;
    return false;
}

/* ---- tangents ---- */

static void linearise_call_of(Lin *l, IrShared call, uint32_t n, IrValue *const *args,
                              uint32_t nresults, IrValue *const *of) {
    IrType *types = ARENA_ARRAY(l->ad->arena, IrType, nresults);
    for (uint32_t i = 0; i < nresults; i++) types[i] = tangent_type(l, of[i]->type);
    IrInst *inst = irb_runtime(l->b, ir_shared_name(call), n, args, nresults, types);
    for (uint32_t i = 0; i < nresults; i++) set_tangent(l, of[i], inst->results[i]);
}

static void linearise_barrier(Lin *l, const IrInst *inst) {
    IrValue **args = ARENA_ARRAY(l->ad->arena, IrValue *, inst->noperands);
    IrValue **of = ARENA_ARRAY(l->ad->arena, IrValue *, inst->noperands);
    uint32_t n = 0;
    for (uint32_t i = 0; i < inst->noperands; i++) {
        args[n] = tangent_of(l, inst->operands[i]);
        of[n] = inst->results[i];
        n += args[n] != NULL;
    }
    if (n) linearise_call_of(l, IR_SHARED_BARRIER, n, args, n, of);
}

static void linearise_addition(Lin *l, const IrInst *inst) {
    IrValue **args = ARENA_ARRAY(l->ad->arena, IrValue *, inst->noperands);
    args[0] = tangent_of(l, inst->operands[0]);
    args[1] = tangent_of(l, inst->operands[1]);
    for (uint32_t i = 2; i < inst->noperands; i++) args[i] = primal_of(l, inst->operands[i]);
    if (!args[1]) set_tangent(l, inst->results[0], args[0]);
    else if (args[0]) linearise_call_of(l, IR_SHARED_ADD, inst->noperands, args, 1, inst->results);
}

void linearise_shared(Lin *l, IrInst *inst) {
    copy_primal(l, inst);
    switch (ir_shared_call(inst)) {
    case IR_SHARED_NONE: break;
    case IR_SHARED_ARRAY:
    case IR_SHARED_ZEROS:
        linearise_call_of(l, ir_shared_call(inst), 0, NULL, inst->nresults, inst->results);
        break;
    case IR_SHARED_BARRIER: linearise_barrier(l, inst); break;
    case IR_SHARED_ADD: linearise_addition(l, inst); break;
    }
}

/* ---- cotangents ---- */

void ct_open_shared(Transposer *t, const IrRegion *body) {
    VEC(IrValue *) arrays = {0};
    for (IrInst *inst = body->first; inst; inst = inst->next) {
        bool shared = t->is_kernel && (ir_shared_call(inst) == IR_SHARED_ARRAY ||
                                       ir_shared_call(inst) == IR_SHARED_ZEROS);
        for (uint32_t r = 0; shared && r < inst->nresults; r++)
            if (is_linear(t->mixed, inst->results[r])) vec_push(&arrays, inst->results[r]);
    }
    if (arrays.len) {
        IrType *types = ARENA_ARRAY(t->ad->arena, IrType, arrays.len);
        for (uint32_t i = 0; i < arrays.len; i++) types[i] = arrays.at[i]->type;
        IrInst *zeros =
            irb_runtime(&t->b, ir_shared_name(IR_SHARED_ZEROS), 0, NULL, arrays.len, types);
        for (uint32_t i = 0; i < arrays.len; i++)
            ct_add(t, arrays.at[i], zeros->results[i], (When){.zero = ZERO_MAY_BE_NOTHING});
    }
    vec_free(&arrays);
}

bool ct_is_shared(const Transposer *t, const IrValue *linear) {
    const Ct *sum = ct_at(t, linear);
    return sum->value && !sum->is_acc && t->is_kernel && linear->type->kind == IR_T_ARRAY &&
           ir_shared_root(linear);
}

void ct_add_shared(Transposer *t, const IrValue *linear, uint32_t n, IrValue *const *at,
                   IrValue *value, When when) {
    Ct *sum = ct_at(t, linear);
    IrValue *args[IR_MAX_RANK + 2];
    if (value->type->kind != IR_T_SCALAR) {
        IrInst *with = irb_with_acc(&t->b, 1, &sum->value, 0, NULL);
        IrBuilder inner = t->b;
        irb_at_end(&inner, with->regions[0]);
        irb_acc_add(&inner, with->regions[0]->params[0], n, at, value);
        irb_yield(&inner, 0, NULL);
        *sum = (Ct){.value = with->results[0], .when = ct_either(t, sum->when, when)};
        return;
    }
    args[0] = sum->value;
    args[1] = value;
    for (uint32_t k = 0; k < n; k++) args[2 + k] = at[k];
    sum->value =
        irb_runtime(&t->b, ir_shared_name(IR_SHARED_ADD), n + 2, args, 1, &sum->value->type)
            ->results[0];
    sum->when = ct_either(t, sum->when, when);
    sum->mask = NULL;
}

static void transpose_barrier(Transposer *t, IrInst *inst) {
    IrValue **cts = ARENA_ARRAY(t->ad->arena, IrValue *, inst->nresults);
    IrType *types = ARENA_ARRAY(t->ad->arena, IrType, inst->nresults);
    When *when = ARENA_ARRAY(t->ad->arena, When, inst->nresults);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        when[i] = ct_at(t, inst->results[i])->when;
        cts[i] = ct_value(t, inst->results[i]);
        types[i] = cts[i]->type;
    }
    IrInst *back = irb_runtime(&t->b, ir_shared_name(IR_SHARED_BARRIER), inst->nresults, cts,
                               inst->nresults, types);
    for (uint32_t i = 0; i < inst->nresults; i++)
        ct_add(t, inst->operands[i], back->results[i], when[i]);
}

static void transpose_addition(Transposer *t, IrInst *inst) {
    uint32_t n = inst->noperands - 2;
    Ct ct = ct_take(t, inst->results[0]);
    IrValue *at[IR_MAX_RANK];
    if (!ct.value) return;
    for (uint32_t k = 0; k < n; k++) at[k] = now_of(t, inst->operands[2 + k]);
    IrValue *element = irb_index(&t->b, ct.value, n, at);
    ct_add(t, inst->operands[1], element, ct_element(element, ct.when));
    ct_add(t, inst->operands[0], ct.value, ct.when);
}

void transpose_shared(Transposer *t, IrInst *inst) {
    switch (ir_shared_call(inst)) {
    case IR_SHARED_NONE: UNREACHABLE("no transpose of %s", inst->text);
    case IR_SHARED_ARRAY:
    case IR_SHARED_ZEROS:
        for (uint32_t i = 0; i < inst->nresults; i++) ct_take(t, inst->results[i]);
        break;
    case IR_SHARED_BARRIER: transpose_barrier(t, inst); break;
    case IR_SHARED_ADD: transpose_addition(t, inst); break;
    }
}
