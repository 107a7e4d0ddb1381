/* What the parts of a mixed function need of one another, and what it costs to have it. */
#include "ad/plan.h"
#include "ir/shared.h"

/* ---- linear and not ---- */

bool ad_only_linear(const Mixed *mixed, const IrInst *inst) {
    if (inst->op == IR_ACC_ADD) return is_linear(mixed, inst->operands[0]);
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!is_linear(mixed, inst->results[i])) return false;
    return inst->nresults > 0;
}

static void survey_value(Mixed *mixed, IrValue *value) {
    if (value->type->kind == IR_T_ARRAY && is_linear(mixed, value)) mixed_dims(mixed, value);
}

static bool survey_region(Mixed *mixed, const IrRegion *region) {
    bool any = false;
    for (uint32_t i = 0; i < region->nparams; i++) {
        survey_value(mixed, region->params[i]);
        any |= is_linear(mixed, region->params[i]);
    }
    for (IrInst *inst = region->first; inst; inst = inst->next) {
        bool has = false;
        for (uint32_t i = 0; i < inst->noperands; i++) has |= is_linear(mixed, inst->operands[i]);
        for (uint32_t i = 0; i < inst->nresults; i++) {
            has |= is_linear(mixed, inst->results[i]);
            survey_value(mixed, inst->results[i]);
        }
        for (uint32_t r = 0; r < inst->nregions; r++) has |= survey_region(mixed, inst->regions[r]);
        if (has) map_setp(&mixed->has_linear, inst, inst);
        any |= has;
    }
    return any;
}

void ad_survey(Mixed *mixed) {
    ir_shared_changes(mixed->func, &mixed->changed);
    survey_region(mixed, mixed->func->body);
}

/* ---- captures ---- */

typedef struct Walk {
    Mixed *mixed;
    const IrInst *root;
    bool linear;
    void (*visit)(IrValue *value, void *data);
    void *data;
} Walk;

static bool is_inside(const IrInst *root, const IrRegion *region) {
    for (; region && region->owner; region = region->owner->parent)
        if (region->owner == root) return true;
    return false;
}

static void walk_captures(const Walk *walk, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (!walk->linear && ad_only_linear(walk->mixed, inst)) continue;
        for (uint32_t i = 0; i < inst->noperands; i++) {
            IrValue *value = inst->operands[i];
            if (is_linear(walk->mixed, value) != walk->linear) continue;
            if (value->type->kind == IR_T_ACC) continue;
            if (!is_inside(walk->root, ad_home(value))) walk->visit(value, walk->data);
        }
        for (uint32_t r = 0; r < inst->nregions; r++) walk_captures(walk, inst->regions[r]);
    }
}

void ad_linear_captures(Mixed *mixed, const IrInst *inst, void (*visit)(IrValue *, void *),
                        void *data) {
    Walk walk = {mixed, inst, true, visit, data};
    for (uint32_t r = 0; r < inst->nregions; r++) walk_captures(&walk, inst->regions[r]);
}

typedef struct Inputs {
    Arena *arena;
    Bitset seen;
    uint32_t n, cap;
    IrValue **at;
} Inputs;

static void note_input(IrValue *value, void *data) {
    Inputs *inputs = data;
    if (!bitset_add(&inputs->seen, value->id)) return;
    if (inputs->n == inputs->cap) {
        inputs->cap = inputs->cap ? inputs->cap * 2 : 8;
        IrValue **more = ARENA_ARRAY(inputs->arena, IrValue *, inputs->cap);
        for (uint32_t i = 0; i < inputs->n; i++) more[i] = inputs->at[i];
        inputs->at = more;
    }
    inputs->at[inputs->n++] = value;
}

/* Of an instruction with regions, found once. */
static const Inputs *inputs_of(Mixed *mixed, const IrInst *inst) {
    Inputs *inputs = map_getp(&mixed->inputs, inst);
    if (inputs) return inputs;
    inputs = ARENA_NEW(mixed->ad->arena, Inputs);
    inputs->arena = mixed->ad->arena;
    Walk walk = {mixed, inst, false, note_input, inputs};
    for (uint32_t r = 0; r < inst->nregions; r++) walk_captures(&walk, inst->regions[r]);
    bitset_free(&inputs->seen);
    map_setp(&mixed->inputs, inst, inputs);
    return inputs;
}

void ad_nonlinear_inputs(Mixed *mixed, const IrInst *inst, void (*visit)(IrValue *, void *),
                         void *data) {
    for (uint32_t i = 0; i < inst->noperands; i++)
        if (!is_linear(mixed, inst->operands[i])) visit(inst->operands[i], data);
    if (inst->nregions) ad_nonlinear_captures(mixed, inst, visit, data);
}

void ad_nonlinear_captures(Mixed *mixed, const IrInst *inst, void (*visit)(IrValue *, void *),
                           void *data) {
    const Inputs *inputs = inputs_of(mixed, inst);
    for (uint32_t i = 0; i < inputs->n; i++) visit(inputs->at[i], data);
}

/* ---- what the transposed instructions need ---- */

typedef struct DimVisit {
    Mixed *mixed;
    void (*visit)(IrValue *value, void *data);
    void *data;
} DimVisit;

static void visit_dims(IrValue *value, void *data) {
    DimVisit *visit = data;
    if (value->type->kind != IR_T_ARRAY || !is_linear(visit->mixed, value)) return;
    const Dim *dims = mixed_dims(visit->mixed, value);
    for (uint32_t k = 0; k < value->type->rank; k++)
        if (dims[k].value) visit->visit(dims[k].value, visit->data);
}

static IrValue *trips(const IrInst *loop) {
    return loop->flags & IR_LOOP_EXIT ? loop->results[loop->nresults - 1] : loop->operands[0];
}

void ad_linear_needs(Mixed *mixed, IrInst *inst, void (*visit)(IrValue *, void *), void *data) {
    DimVisit dims = {mixed, visit, data};
    uint32_t direct = inst->noperands;
    if (inst->op == IR_LOOP) visit(trips(inst), data);
    if (inst->op == IR_LOOP || inst->op == IR_WITH_ACC || inst->op == IR_CALL) direct = 0;
    if (inst->op == IR_BUILD || inst->op == IR_REDUCE) direct = (uint32_t)inst->imm;
    const MixedCall *rule = rule_call(mixed, inst);
    if (rule) direct = inst->noperands;
    for (uint32_t i = 0; i < direct; i++)
        if (!is_linear(mixed, inst->operands[i]) && (!rule || rule->uses[i]))
            visit(inst->operands[i], data);
    for (uint32_t i = 0; i < inst->noperands; i++) visit_dims(inst->operands[i], &dims);
    for (uint32_t i = 0; i < inst->nresults; i++) visit_dims(inst->results[i], &dims);
    for (uint32_t r = 0; r < inst->nregions; r++)
        for (uint32_t i = 0; i < inst->regions[r]->nparams; i++)
            visit_dims(inst->regions[r]->params[i], &dims);
    if (inst->nregions) ad_linear_captures(mixed, inst, visit_dims, &dims);
}

/* ---- what may differ when it is run again ---- */

static bool region_asks_world(Ad *ad, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next)
        if (ad_asks_world(ad, inst)) return true;
    return false;
}

static bool func_asks_world(Ad *ad, const IrFunc *func) {
    uintptr_t known = (uintptr_t)map_getp(&ad->worlds, func);
    if (known) return known == 2;
    map_setp(&ad->worlds, func, (void *)(uintptr_t)1); /* while it is looked at */
    bool asks = func->body && region_asks_world(ad, func->body);
    if (asks) map_setp(&ad->worlds, func, (void *)(uintptr_t)2);
    return asks;
}

bool ad_asks_world(Ad *ad, const IrInst *inst) {
    if (inst->op == IR_RUNTIME) return inst->nresults && !ir_runtime_repeats(inst);
    if (inst->op == IR_CALL) return func_asks_world(ad, inst->func);
    for (uint32_t r = 0; r < inst->nregions; r++)
        if (region_asks_world(ad, inst->regions[r])) return true;
    return false;
}

/* ---- costs: a sixteenth of an addition is the unit ---- */

enum { UNIT = 16, SAVE_SCALAR = 8 * UNIT, UNKNOWN_SIZE = 100, SAVE_TAPE = 1000 * SAVE_SCALAR };

static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product) || product > CUT_INFINITE) return CUT_INFINITE;
    return product;
}

static int64_t plus(int64_t a, int64_t b) {
    return a + b > CUT_INFINITE ? CUT_INFINITE : a + b;
}

static int64_t elements(IrType type) {
    int64_t n = 1;
    if (type->kind != IR_T_ARRAY) return 1;
    for (uint32_t k = 0; k < type->rank; k++)
        n = times(n, type->dims[k] < 0 ? UNKNOWN_SIZE : type->dims[k]);
    return n < (INT64_C(1) << 40) ? n : INT64_C(1) << 40;
}

int64_t ad_cost_save(IrType type) {
    if (type->kind == IR_T_TAPE) return SAVE_TAPE;
    if (type->kind != IR_T_SCALAR && type->kind != IR_T_ARRAY) return CUT_INFINITE;
    return elements(type) * SAVE_SCALAR + (type->kind == IR_T_ARRAY ? 1 : 0);
}

static int64_t region_cost(const Mixed *mixed, const IrRegion *region) {
    int64_t sum = 0;
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_YIELD || ad_only_linear(mixed, inst)) continue;
        if (inst->op == IR_CHECK || inst->op == IR_CHECK_INDEX || inst->op == IR_FAIL) continue;
        sum = plus(sum, ad_cost_again(mixed, inst));
    }
    return sum;
}

static int64_t size_of(const IrValue *value) {
    int64_t size;
    if (!ir_const_int(value, &size)) return UNKNOWN_SIZE;
    return size < 0 ? 0 : size < (INT64_C(1) << 40) ? size : INT64_C(1) << 40;
}

static int64_t repeated_cost(const Mixed *mixed, const IrInst *inst) {
    int64_t n = 1;
    for (uint32_t i = 0; i < (uint32_t)inst->imm; i++) n = times(n, size_of(inst->operands[i]));
    return times(n, plus(UNIT, region_cost(mixed, inst->regions[0])));
}

int64_t ad_cost_again(const Mixed *mixed, const IrInst *inst) {
    int64_t size = inst->nresults ? elements(inst->results[0]->type) : 1;
    if (ad_reads_shared(mixed, inst)) return CUT_INFINITE;
    switch ((int)inst->op) {
    case IR_CONST:
    case IR_STRING:
    case IR_DIM:
    case IR_TAPE_EMPTY:
    case IR_TAPE_NEW: return 0;
    case IR_DIV:
    case IR_MOD:
    case IR_REM: return 4 * UNIT;
    case IR_MATH: return 10 * UNIT;
    case IR_POWI: return 6 * UNIT;
    case IR_ASSUME:
    case IR_STOP:
    case IR_RESHAPE: return UNIT;
    case IR_IF:
        return plus(
            UNIT, plus(region_cost(mixed, inst->regions[0]), region_cost(mixed, inst->regions[1])));
    case IR_BUILD:
    case IR_REDUCE: return repeated_cost(mixed, inst);
    case IR_ARGSORT: return times(size, 40 * UNIT);
    case IR_CONTRACT: return times(size, UNKNOWN_SIZE * UNIT);
    case IR_LOOP:
    case IR_CALL:
    case IR_WITH_ACC:
    case IR_TAPE_PUSH:
    case IR_TAPE_SUM:
    case IR_RUNTIME:
    case IR_CHECK:
    case IR_CHECK_INDEX:
    case IR_FAIL:
    case IR_ACC_ADD: return CUT_INFINITE;
    default: return times(size, UNIT);
    }
}
