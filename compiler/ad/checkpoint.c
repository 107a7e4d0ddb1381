/* Checkpointed loops.  The forward sweep leaves states of the loop on the tape (what it carries,
   before some trips) and how many; the reverse sweep goes through the trips backwards, and runs the
   loop again from the last state before a trip, where it leaves further states on a tape of its own
   as the schedule says.

   With a count that is known the states are laid out for it.  Otherwise each stride-th one is kept,
   and where there are too many every other one is dropped and the stride doubled. */
#include "ad/schedule.h"
#include "ad/threads.h"

/* ---- which loops ---- */

/* Can what stands in REGION run again: nothing comes from the world, or goes there by a call? */
typedef struct Repeats {
    Map seen;
    bool no;
} Repeats;

static void look_at_func(Repeats *repeats, const IrFunc *func);

static void look_inside(IrInst *inst, void *data) {
    Repeats *repeats = data;
    if (inst->op == IR_RUNTIME) repeats->no = true;
    if (inst->op == IR_CALL) look_at_func(repeats, inst->func);
}

static void look_at_func(Repeats *repeats, const IrFunc *func) {
    if (map_hasp(&repeats->seen, func)) return;
    map_setp(&repeats->seen, func, (void *)func);
    if (func->body) ir_walk(func->body, look_inside, repeats);
    else if (func->deriv.mode != IR_DERIV_NONE) look_at_func(repeats, func->deriv.base);
    else if (!(func->flags & IR_FUNC_PURE_EXTERN)) repeats->no = true;
}

/* In the loop itself what gives nothing is left out when it runs again. */
static void look_at(IrInst *inst, void *data) {
    Repeats *repeats = data;
    if (inst->op == IR_RUNTIME && inst->nresults) repeats->no = true;
    if (inst->op == IR_CALL) look_at_func(repeats, inst->func);
}

static bool is_state(IrType type) {
    return type->kind != IR_T_TAPE && type->kind != IR_T_ACC;
}

static void note_tape(IrValue *value, void *data) {
    if (value->type->kind == IR_T_TAPE) *(bool *)data = true;
}

int64_t ad_checkpoint(Mixed *mixed, const IrInst *inst) {
    int64_t policy = inst->op == IR_LOOP ? inst->imm : IR_KEEP_DEFAULT;
    Repeats repeats = {0};
    if (inst->op != IR_LOOP) return IR_KEEP_DEFAULT;
    if (!policy) policy = ir_option_checkpoint(mixed->options);
    if (policy == IR_KEEP_DEFAULT || policy == IR_KEEP_ALL) return IR_KEEP_DEFAULT;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!is_linear(mixed, inst->results[i])) repeats.no |= !is_state(inst->results[i]->type);
    ad_nonlinear_captures(mixed, inst, note_tape, &repeats.no);
    ir_walk(inst->regions[0], look_at, &repeats);
    map_free(&repeats.seen);
    return repeats.no ? IR_KEEP_DEFAULT : policy;
}

/* ---- states ---- */

typedef struct State {
    uint32_t n;
    IrValue **of;  /* parameters of the body */
    IrValue **out; /* what the body yields for them */
    IrType *types; /* of an entry on the tape: the trip, then these */
} State;

static State find_state(Transposer *t, const IrInst *inst) {
    const IrRegion *body = inst->regions[0];
    uint32_t exit = inst->flags & IR_LOOP_EXIT ? 1 : 0;
    State s = {.of = ARENA_ARRAY(t->ad->arena, IrValue *, inst->nresults + 1),
               .out = ARENA_ARRAY(t->ad->arena, IrValue *, inst->nresults + 1),
               .types = ARENA_ARRAY(t->ad->arena, IrType, inst->nresults + 1)};
    s.types[0] = ir_scalar(t->b.module, IR_I64);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        if (is_linear(t->mixed, inst->results[i])) continue;
        s.of[s.n] = body->params[1 + i];
        s.out[s.n++] = body->last->operands[exit + i];
        s.types[s.n] = body->params[1 + i]->type;
    }
    return s;
}

/* An entry: the trip at POS, and the state at VALUES. */
static IrValue *push_state(Transposer *t, const State *s, IrValue *tape, IrValue *pos,
                           IrValue *const *values) {
    IrValue **entry = ARENA_ARRAY(t->ad->arena, IrValue *, s->n + 1);
    entry[0] = pos;
    for (uint32_t i = 0; i < s->n; i++) entry[1 + i] = values[i];
    return schedule_push(&t->b, tape, s->n + 1, entry);
}

static IrBuilder enter(Transposer *t, IrRegion *region) {
    IrBuilder outer = t->b;
    irb_at_end(&t->b, region);
    return outer;
}

/* ---- the forward sweep ---- */

typedef struct Store {
    IrValue *tape, *next, *kept, *stride; /* next: the trip before which the state is kept */
} Store;

/* Are states redistributed as the loop goes on? */
static bool is_online(const IrInst *inst, int64_t policy) {
    return (inst->flags & IR_LOOP_EXIT) && policy != IR_KEEP_NONE && policy != 1;
}

/* How many states there may be, of COUNT trips. */
static IrValue *budget(IrBuilder *b, int64_t policy, IrValue *count) {
    if (policy == IR_KEEP_SQRT) return schedule_root(b, count);
    return irb_int(b, policy == IR_KEEP_NONE ? 1 : policy);
}

static IrValue *doubled(IrBuilder *b, IrValue *x) {
    return irb_binary(b, IR_MUL, x, irb_int(b, 2));
}

static Store store_online(Transposer *t, const State *s, int64_t policy, IrValue *at, Store now) {
    IrBuilder *b = &t->b;
    IrType i64 = ir_scalar(b->module, IR_I64), types[] = {ir_tape(b->module), i64, i64};
    IrValue *most = policy == IR_KEEP_SQRT ? doubled(b, now.stride) : irb_int(b, policy);
    IrInst *branch = irb_if(b, irb_binary(b, IR_GT, now.kept, most), 3, types);
    IrBuilder outer = enter(t, branch->regions[0]);
    IrValue *half =
        irb_binary(b, IR_DIV, irb_binary(b, IR_ADD, now.kept, irb_int(b, 1)), irb_int(b, 2));
    IrValue *thinned[] = {schedule_thin(b, now.tape, now.kept, s->n + 1, s->types), half,
                          doubled(b, now.stride)};
    irb_yield(b, 3, thinned);
    irb_at_end(b, branch->regions[1]);
    IrValue *same[] = {now.tape, now.kept, now.stride};
    irb_yield(b, 3, same);
    *b = outer;
    IrValue *stride = branch->results[2];
    IrValue *passed = irb_binary(b, IR_ADD, irb_binary(b, IR_DIV, at, stride), irb_int(b, 1));
    return (Store){branch->results[0], irb_binary(b, IR_MUL, passed, stride), branch->results[1],
                   stride};
}

/* Keeps the state before the trip AT if it is its turn. */
static Store store_state(Transposer *t, const IrInst *inst, const State *s, IrValue *count,
                         IrValue *at, IrValue *const *values, Store now) {
    IrBuilder *b = &t->b;
    int64_t policy = plan_scope(t->plan, inst->regions[0])->checkpoint;
    IrType i64 = ir_scalar(b->module, IR_I64), types[] = {ir_tape(b->module), i64, i64, i64};
    IrInst *branch = irb_if(b, irb_binary(b, IR_EQ, at, now.next), 4, types);
    IrBuilder outer = enter(t, branch->regions[0]);
    Store then = {push_state(t, s, now.tape, at, values), NULL,
                  irb_binary(b, IR_ADD, now.kept, irb_int(b, 1)), now.stride};
    if (is_online(inst, policy)) {
        then = store_online(t, s, policy, at, then);
    } else {
        IrValue *free = irb_binary(b, IR_SUB, budget(b, policy, count), then.kept);
        then.next = schedule_next(b, at, count, free);
    }
    IrValue *yes[] = {then.tape, then.next, then.kept, then.stride};
    irb_yield(b, 4, yes);
    irb_at_end(b, branch->regions[1]);
    IrValue *no[] = {now.tape, now.next, now.kept, now.stride};
    irb_yield(b, 4, no);
    *b = outer;
    return (Store){branch->results[0], branch->results[1], branch->results[2], branch->results[3]};
}

static void set_types(IrInst *loop, uint32_t first, const State *s) {
    for (uint32_t i = 0; i < s->n; i++) {
        loop->results[first + i]->type = s->types[1 + i];
        loop->regions[0]->params[1 + first + i]->type = s->types[1 + i];
    }
}

void emit_checkpointed(Transposer *t, const IrInst *inst, const Emit *emit) {
    const IrRegion *from = inst->regions[0];
    State s = find_state(t, inst);
    uint32_t n = 0, exit = inst->flags & IR_LOOP_EXIT ? 1 : 0, at = 0;
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, s.n + 5), *outer = t->tape;
    IrValue *count = emit_value(emit, inst->operands[0]);
    Emit inner = {emit->map, emit->effects, false, emit->root};
    for (uint32_t i = 1; i < inst->noperands; i++)
        if (!is_linear(t->mixed, inst->operands[i]))
            values[n++] = emit_value(emit, inst->operands[i]);
    values[n++] = emit_tape_in(t);
    values[n++] = irb_int(&t->b, 0);
    values[n++] = irb_int(&t->b, 0);
    values[n++] = irb_int(&t->b, 1);
    IrInst *loop = irb_loop(&t->b, count, n, values, exit);
    IrValue **params = loop->regions[0]->params;
    set_types(loop, 0, &s);
    IrBuilder place = enter(t, loop->regions[0]);
    emit->map[from->params[0]->id] = params[0];
    for (uint32_t i = 0; i < s.n; i++) emit->map[s.of[i]->id] = params[1 + i];
    Store now = {params[s.n + 1], params[s.n + 2], params[s.n + 3], params[s.n + 4]};
    now = store_state(t, inst, &s, count, params[0], params + 1, now);
    t->tape = NULL;
    emit_region(t, from, &inner);
    n = 0;
    if (exit) values[n++] = emit_value(&inner, from->last->operands[0]);
    for (uint32_t i = 0; i < s.n; i++) values[n++] = emit_value(&inner, s.out[i]);
    IrValue *stored[] = {now.tape, now.next, now.kept, now.stride};
    for (uint32_t i = 0; i < 4; i++) values[n++] = stored[i];
    irb_yield(&t->b, n, values);
    t->b = place;
    for (uint32_t i = 0; i < inst->nresults; i++)
        if (!is_linear(t->mixed, inst->results[i]))
            emit->map[inst->results[i]->id] = loop->results[at++];
    emit_tape_out(t, inst, outer,
                  irb_tape_push(&t->b, loop->results[s.n], 1, &loop->results[s.n + 2]));
}

/* ---- the reverse sweep ---- */

/* The tapes of states: those of the forward sweep that are left, and those made since. */
typedef struct Stock {
    IrValue *old, *nold, *own, *nown;
} Stock;
enum { STOCK = 4 };

static void stock_values(const Stock *stock, IrValue **values) {
    values[0] = stock->old;
    values[1] = stock->nold;
    values[2] = stock->own;
    values[3] = stock->nown;
}

static Stock stock_of(IrValue *const *values) {
    return (Stock){values[0], values[1], values[2], values[3]};
}

static void stock_types(IrModule *module, IrType *types) {
    types[0] = types[2] = ir_tape(module);
    types[1] = types[3] = ir_scalar(module, IR_I64);
}

static IrValue *plus(IrBuilder *b, IrValue *x, int64_t n) {
    return irb_binary(b, IR_ADD, x, irb_int(b, n));
}

static void yield_entry(Transposer *t, const State *s, const IrInst *pop, const Stock *stock) {
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, s->n + 1 + STOCK);
    for (uint32_t i = 0; i <= s->n; i++) values[i] = pop->results[1 + i];
    stock_values(stock, values + s->n + 1);
    irb_yield(&t->b, s->n + 1 + STOCK, values);
}

/* Takes the last state: ENTRY is its trip and what it holds. */
static Stock take_state(Transposer *t, const State *s, Stock stock, IrValue **entry) {
    IrBuilder *b = &t->b;
    IrType *types = ARENA_ARRAY(t->ad->arena, IrType, s->n + 1 + STOCK);
    for (uint32_t i = 0; i <= s->n; i++) types[i] = s->types[i];
    stock_types(b->module, types + s->n + 1);
    IrValue *none = irb_binary(b, IR_EQ, stock.nown, irb_int(b, 0));
    IrInst *branch = irb_if(b, none, s->n + 1 + STOCK, types);
    IrBuilder outer = enter(t, branch->regions[0]);
    IrInst *pop = irb_tape_pop(b, stock.old, s->n + 1, s->types);
    Stock left = {pop->results[0], plus(b, stock.nold, -1), stock.own, stock.nown};
    yield_entry(t, s, pop, &left);
    irb_at_end(b, branch->regions[1]);
    pop = irb_tape_pop(b, stock.own, s->n + 1, s->types);
    left = (Stock){stock.old, stock.nold, pop->results[0], plus(b, stock.nown, -1)};
    yield_entry(t, s, pop, &left);
    *b = outer;
    for (uint32_t i = 0; i <= s->n; i++) entry[i] = branch->results[i];
    return stock_of(branch->results + s->n + 1);
}

/* CONDITION: puts a state among those made since. */
static Stock put_state(Transposer *t, const State *s, IrValue *condition, IrValue *const *entry,
                       Stock stock) {
    IrBuilder *b = &t->b;
    IrType types[] = {ir_tape(b->module), ir_scalar(b->module, IR_I64)};
    IrInst *branch = irb_if(b, condition, 2, types);
    IrBuilder outer = enter(t, branch->regions[0]);
    IrValue *more[] = {schedule_push(b, stock.own, s->n + 1, entry), plus(b, stock.nown, 1)};
    irb_yield(b, 2, more);
    irb_at_end(b, branch->regions[1]);
    IrValue *same[] = {stock.own, stock.nown};
    irb_yield(b, 2, same);
    *b = outer;
    return (Stock){stock.old, stock.nold, branch->results[0], branch->results[1]};
}

/* Runs the loop from the state in ENTRY to the trip TO, without effects. */
static void advance(Transposer *t, const IrInst *inst, const State *s, IrValue **entry,
                    IrValue *to) {
    const IrRegion *from = inst->regions[0];
    Emit emit = {t->now, false, false, inst};
    IrValue **next = ARENA_ARRAY(t->ad->arena, IrValue *, s->n);
    IrInst *loop = irb_loop(&t->b, irb_binary(&t->b, IR_SUB, to, entry[0]), s->n, entry + 1, false);
    set_types(loop, 0, s);
    IrValue **params = loop->regions[0]->params;
    IrBuilder outer = enter(t, loop->regions[0]);
    t->now[from->params[0]->id] = irb_binary(&t->b, IR_ADD, entry[0], params[0]);
    for (uint32_t i = 0; i < s->n; i++) t->now[s->of[i]->id] = params[1 + i];
    emit_region(t, from, &emit);
    for (uint32_t i = 0; i < s->n; i++) next[i] = emit_value(&emit, s->out[i]);
    irb_yield(&t->b, s->n, next);
    t->b = outer;
    entry[0] = to;
    for (uint32_t i = 0; i < s->n; i++) entry[1 + i] = loop->results[i];
}

/* From the state in ENTRY to the trip AT, leaving states on the way where TOTAL allows for more. */
static Stock climb(Transposer *t, const IrInst *inst, const State *s, IrValue **entry, IrValue *at,
                   IrValue *total, Stock stock) {
    IrBuilder *b = &t->b;
    uint32_t n = s->n + 3;
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, n + 1);
    for (uint32_t i = 0; i <= s->n; i++) values[i] = entry[i];
    values[s->n + 1] = stock.own;
    values[s->n + 2] = stock.nown;
    IrValue *behind = irb_binary(b, IR_LT, entry[0], at);
    IrValue *count = irb_select(b, behind, irb_int(b, INT64_MAX), irb_int(b, 0));
    IrInst *loop = irb_loop(b, count, n, values, true);
    set_types(loop, 1, s);
    IrValue **params = loop->regions[0]->params + 1;
    IrBuilder outer = enter(t, loop->regions[0]);
    IrValue **now = ARENA_ARRAY(t->ad->arena, IrValue *, s->n + 1);
    for (uint32_t i = 0; i <= s->n; i++) now[i] = params[i];
    Stock inner = {stock.old, stock.nold, params[s->n + 1], params[s->n + 2]};
    IrValue *used = irb_binary(b, IR_ADD, inner.nold, inner.nown);
    IrValue *next = schedule_next(b, now[0], plus(b, at, 1), irb_binary(b, IR_SUB, total, used));
    advance(t, inst, s, now, irb_binary(b, IR_MIN, next, at));
    IrValue *more = irb_binary(b, IR_LT, now[0], at);
    inner = put_state(t, s, more, now, inner);
    values[0] = more;
    for (uint32_t i = 0; i <= s->n; i++) values[1 + i] = now[i];
    values[s->n + 2] = inner.own;
    values[s->n + 3] = inner.nown;
    irb_yield(b, n + 1, values);
    *b = outer;
    for (uint32_t i = 0; i <= s->n; i++) entry[i] = loop->results[i];
    return (Stock){stock.old, stock.nold, loop->results[s->n + 1], loop->results[s->n + 2]};
}

/* One trip forward, with what its reverse needs, from the state in ENTRY. */
static void run_trip(Transposer *t, const IrInst *inst, const State *s, IrValue *const *entry) {
    Emit emit = {t->now, false, true, inst};
    t->now[inst->regions[0]->params[0]->id] = entry[0];
    for (uint32_t i = 0; i < s->n; i++) t->now[s->of[i]->id] = entry[1 + i];
    emit_region(t, inst->regions[0], &emit);
}

/* All states there may be at a time. */
static IrValue *total_states(Transposer *t, const IrInst *inst, IrValue *trips, IrValue *kept) {
    IrValue *most = budget(&t->b, plan_scope(t->plan, inst->regions[0])->checkpoint, trips);
    return irb_binary(&t->b, IR_MAX, most, kept);
}

static Stock reverse_trip(Transposer *t, const IrInst *inst, const State *s, IrValue *at,
                          IrValue *total, Stock stock) {
    IrValue **entry = ARENA_ARRAY(t->ad->arena, IrValue *, s->n + 1);
    stock = take_state(t, s, stock, entry);
    stock = put_state(t, s, irb_binary(&t->b, IR_LT, entry[0], at), entry, stock);
    stock = climb(t, inst, s, entry, at, total, stock);
    entry[0] = at;
    run_trip(t, inst, s, entry);
    return stock;
}

void transpose_checkpointed(Transposer *t, IrInst *inst) {
    State s = find_state(t, inst);
    Carried c = carried_find(t, inst);
    uint32_t m = carried_count(&c);
    IrValue **values = ARENA_ARRAY(t->ad->arena, IrValue *, m + STOCK), *outer = t->tape;
    IrValue *start = outer ? outer : map_getp(&t->tapes, inst);
    IrType i64 = ir_scalar(t->b.module, IR_I64);
    IrInst *pop = irb_tape_pop(&t->b, start, 1, &i64);
    bool has_exit = inst->flags & IR_LOOP_EXIT;
    IrValue *trips = now_of(t, has_exit ? inst->results[inst->nresults - 1] : inst->operands[0]);
    Stock stock = {pop->results[0], pop->results[1], irb_tape_new(&t->b), irb_int(&t->b, 0)};
    IrValue *total = total_states(t, inst, trips, stock.nold);
    carried_inits(t, inst, &c, values);
    stock_values(&stock, values + m);
    IrInst *loop = irb_loop(&t->b, trips, m + STOCK, values, false);
    carried_types(inst, &c, loop);
    IrValue **params = loop->regions[0]->params;
    IrBuilder place = enter(t, loop->regions[0]);
    IrValue *at = irb_binary(&t->b, IR_SUB, plus(&t->b, trips, -1), params[0]);
    t->tape = NULL;
    stock = reverse_trip(t, inst, &s, at, total, stock_of(params + 1 + m));
    carried_trip(t, inst, &c, params + 1, values);
    stock_values(&stock, values + m);
    irb_yield(&t->b, m + STOCK, values);
    t->b = place;
    carried_finish(t, inst, &c, loop);
    t->tape = outer ? loop->results[m] : NULL;
    threads_free(&c.threads);
}
