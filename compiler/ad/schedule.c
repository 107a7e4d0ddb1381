#include "ad/schedule.h"

/* The binomial schedule.  B(c, r) = (c + r choose c) trips can be run backwards from c checkpoints
   (the one at the start among them) if each is run forward r times at most, since the first r - 1
   passes do for B(c, r - 1) trips with all c, and the last for B(c - 1, r) behind these. */

typedef struct Count {
    IrValue *r, *now, *before; /* B(c, r), B(c, r - 1) */
} Count;

/* The least r that will do for LENGTH trips.  What overflows is more than there can be trips. */
static Count least_repeats(IrBuilder *b, IrValue *length, IrValue *c) {
    IrValue *one = irb_int(b, 1);
    IrValue *inits[] = {one, irb_binary(b, IR_ADD, c, one), one};
    IrValue *more = irb_binary(b, IR_LT, inits[1], length);
    IrValue *count = irb_select(b, more, irb_int(b, INT64_MAX), irb_int(b, 0));
    IrInst *loop = irb_loop(b, count, 3, inits, true);
    IrValue **params = loop->regions[0]->params;
    IrBuilder outer = *b;
    irb_at_end(b, loop->regions[0]);
    IrValue *r = irb_binary(b, IR_ADD, params[1], one), *now = params[2];
    IrValue *sum = irb_binary(b, IR_ADD, c, r);
    IrValue *most = irb_binary(b, IR_DIV, irb_int(b, INT64_MAX), sum);
    IrValue *next = irb_binary(b, IR_DIV, irb_binary(b, IR_MUL, now, sum), r);
    next = irb_select(b, irb_binary(b, IR_GT, now, most), length, next);
    IrValue *values[] = {irb_binary(b, IR_LT, next, length), r, next, now};
    irb_yield(b, 4, values);
    *b = outer;
    return (Count){loop->results[0], loop->results[1], loop->results[2]};
}

/* (pos, end, free) -> next */
static void fill_next(IrBuilder *b, IrValue *const *params) {
    IrValue *one = irb_int(b, 1);
    IrValue *length = irb_binary(b, IR_SUB, params[1], params[0]);
    IrValue *some = irb_binary(b, IR_AND, irb_binary(b, IR_GT, params[2], irb_int(b, 0)),
                               irb_binary(b, IR_GT, length, one));
    IrType i64 = ir_scalar(b->module, IR_I64);
    IrInst *branch = irb_if(b, some, 1, &i64);
    IrBuilder outer = *b;
    irb_at_end(b, branch->regions[0]);
    IrValue *c = irb_binary(b, IR_ADD, irb_binary(b, IR_MIN, params[2], length), one);
    Count count = least_repeats(b, length, c);
    /* B(c - 1, r - 1) trips are left for what stands behind the next one. */
    IrValue *below = irb_binary(b, IR_SUB, irb_binary(b, IR_ADD, c, count.r), one);
    IrValue *rest = irb_binary(b, IR_DIV, irb_binary(b, IR_MUL, count.before, c), below);
    IrValue *step = irb_binary(b, IR_MIN, count.before, irb_binary(b, IR_SUB, length, rest));
    step = irb_binary(b, IR_MAX, step, one);
    step = irb_binary(b, IR_MIN, step, irb_binary(b, IR_SUB, length, one));
    IrValue *next = irb_binary(b, IR_ADD, params[0], step);
    irb_yield(b, 1, &next);
    irb_at_end(b, branch->regions[1]);
    irb_yield(b, 1, &params[1]);
    *b = outer;
    irb_yield(b, 1, branch->results);
}

IrValue *schedule_next(IrBuilder *b, IrValue *pos, IrValue *end, IrValue *free) {
    IrFunc *func = ir_find_func(b->module, "checkpoint.next");
    IrValue *args[] = {pos, end, free};
    if (!func) {
        IrType i64 = ir_scalar(b->module, IR_I64), types[] = {i64, i64, i64};
        const char *names[] = {"pos", "end", "free"};
        IrBuilder own = {0};
        func = ir_func_new(b->module, "checkpoint.next", 3, types, names, 1, &i64);
        func->flags |= IR_FUNC_LIBRARY;
        func->pos = b->pos;
        irb_at_end(&own, func->body);
        own.pos = b->pos;
        fill_next(&own, func->body->params);
    }
    return irb_call(b, func, args)->results[0];
}

IrValue *schedule_root(IrBuilder *b, IrValue *n) {
    IrValue *x = irb_cast(b, n, IR_F64);
    return irb_binary(b, IR_ADD, irb_cast(b, irb_math(b, IR_MATH_SQRT, &x), IR_I64), irb_int(b, 1));
}

IrValue *schedule_push(IrBuilder *b, IrValue *tape, uint32_t n, IrValue *const *entry) {
    IrValue *pushed = irb_tape_push(b, tape, n, entry);
    pushed->def->flags |= IR_TAPE_COPIES;
    return pushed;
}

IrValue *schedule_thin(IrBuilder *b, IrValue *tape, IrValue *kept, uint32_t n,
                       const IrType *types) {
    IrValue *inits[] = {tape, irb_tape_new(b)};
    IrInst *off = irb_loop(b, kept, 2, inits, false);
    IrBuilder outer = *b;
    irb_at_end(b, off->regions[0]);
    IrInst *pop = irb_tape_pop(b, off->regions[0]->params[1], n, types);
    IrValue *next[] = {pop->results[0],
                       schedule_push(b, off->regions[0]->params[2], n, pop->results + 1)};
    irb_yield(b, 2, next);
    *b = outer;
    IrInst *on = irb_loop(b, kept, 2, off->results, false);
    IrValue **params = on->regions[0]->params;
    irb_at_end(b, on->regions[0]);
    pop = irb_tape_pop(b, params[2], n, types);
    IrValue *odd = irb_binary(b, IR_AND, params[0], irb_int(b, 1));
    IrType type = ir_tape(b->module);
    IrInst *branch = irb_if(b, irb_binary(b, IR_EQ, odd, irb_int(b, 0)), 1, &type);
    IrBuilder body = *b;
    irb_at_end(b, branch->regions[0]);
    IrValue *pushed = schedule_push(b, params[1], n, pop->results + 1);
    irb_yield(b, 1, &pushed);
    irb_at_end(b, branch->regions[1]);
    irb_yield(b, 1, &params[1]);
    *b = body;
    IrValue *last[] = {branch->results[0], pop->results[0]};
    irb_yield(b, 2, last);
    *b = outer;
    return on->results[0];
}
