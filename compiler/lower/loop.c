/* Loops: what is assigned in the body is carried; leaving early ends the loop by its exit flag. */
#include "lower/internal.h"

/* ---- loops over slots ---- */

static Vals with_sizes(Fn *f, uint32_t slot, Vals vals) {
    const Slot *s = &f->slots.at[slot];
    return s->vague ? vals : size_assume_shape(f, s->shape, vals);
}

/* A LOOP with the types of the variables, not those of their first values: these may say more of
   the sizes than holds later. */
IrValue *loop_open(Fn *f, Loop *loop, IrValue *count, bool has_exit) {
    VEC(IrValue *) operands = {0};
    VEC(IrType) types = {0};
    vec_push(&operands, count);
    for (uint32_t i = 0; i < loop->carried.len; i++) {
        uint32_t slot = loop->carried.at[i];
        const Shape *shape = f->slots.at[slot].shape;
        if (!env_get(f, slot).at) {
            f->slots.at[slot].vague = true;
            env_set(f, slot, emit_nothing(f, shape));
        }
        Vals init = env_get(f, slot);
        for (uint32_t k = 0; k < shape->n; k++) {
            vec_push(&operands, init.at[k]);
            vec_push(&types, shape->leaf[k].type);
        }
    }
    IrInst *inst = irb_inst(&f->b, IR_LOOP, operands.len, operands.at, types.len, types.at, 1);
    IrRegion *body = inst->regions[0];
    inst->flags = has_exit ? IR_LOOP_EXIT : 0;
    ir_region_param(body, ir_scalar(f->lw->module, IR_I64), "t");
    for (uint32_t i = 0; i < types.len; i++)
        ir_region_param(body, types.at[i], operands.at[i + 1]->name);
    vec_free(&operands);
    vec_free(&types);
    loop->inst = inst;
    loop->outside = f->b.region;
    loop->mark = env_mark(f);
    irb_at_end(&f->b, body);
    size_note_nonneg(f, body->params[0]);
    for (uint32_t i = 0, at = 1; i < loop->carried.len; i++) {
        uint32_t slot = loop->carried.at[i];
        Vals own = vals_new(f->lw, f->slots.at[slot].shape->n);
        for (uint32_t k = 0; k < own.n; k++) own.at[k] = body->params[at++];
        env_set(f, slot, with_sizes(f, slot, own));
    }
    return body->params[0];
}

void loop_close(Fn *f, Loop *loop, IrValue *go) {
    VEC(IrValue *) next = {0};
    if (go) vec_push(&next, go);
    for (uint32_t i = 0; i < loop->carried.len; i++) {
        Vals own = env_get(f, loop->carried.at[i]);
        for (uint32_t k = 0; k < own.n; k++) vec_push(&next, own.at[k]);
    }
    irb_yield(&f->b, next.len, next.at);
    vec_free(&next);
    env_rollback(f, loop->mark);
    irb_at_end(&f->b, loop->outside);
    for (uint32_t i = 0, at = 0; i < loop->carried.len; i++) {
        uint32_t slot = loop->carried.at[i];
        Vals out = vals_new(f->lw, f->slots.at[slot].shape->n);
        for (uint32_t k = 0; k < out.n; k++) out.at[k] = loop->inst->results[at++];
        env_set(f, slot, with_sizes(f, slot, out));
    }
    vec_free(&loop->carried);
}

/* ---- loops of the language ---- */

typedef struct Own {
    Loop loop;
    uint32_t returned; /* the function's flag, carried if the body may return */
    bool exits;        /* break or return */
} Own;

static void collect(Fn *f, const Tree *t, Own *own) {
    uint32_t exits = scan_exits(f->lw, t->body);
    scan_assigned(f, t->body, &own->loop.carried);
    if (t->kind == T_WHILE) scan_assigned(f, t->args[0], &own->loop.carried);
    own->exits = (exits & (EXIT_BREAK | EXIT_RETURN)) != 0;
    if (!(exits & EXIT_RETURN)) return;
    Exit *exit = f->exit;
    while (exit->up) exit = exit->up;
    own->returned = exit->skip;
    slots_add(&own->loop.carried, own->returned);
    if (f->ret) slots_add(&own->loop.carried, f->ret);
}

/* After the loop: a return has left what is round it as well. */
static void pass_on(Fn *f, const Own *own) {
    if (!own->returned || f->exit->skip == own->returned) return;
    env_set(f, f->exit->skip, env_get(f, own->returned));
    env_set(f, f->exit->done, env_get(f, own->returned));
}

void lower_for(Fn *f, const Tree *t) {
    Own own = {0};
    Head head;
    Exit exit;
    CHECK_INTERNAL(t->nheads == 1);
    head_open(f, &t->heads[0], &head);
    size_checks(f, t);
    collect(f, t, &own);
    IrValue *trip = loop_open(f, &own.loop, head.count, own.exits);
    own.loop.inst->imm = t->checkpoint;
    head_bind(f, &head, trip);
    lower_loop_body(f, t->body, &exit);
    loop_close(f, &own.loop, own.exits ? emit_not(f, flag_value(f, exit.done)) : NULL);
    pass_on(f, &own);
}

/* ---- while: the condition is asked before the loop and at the end of each trip ---- */

typedef struct Again {
    const Tree *cond;
    uint32_t go;
} Again;

static void again_side(Fn *f, bool done, void *data) {
    Again *again = data;
    IrValue *go = done ? emit_bool(f, false) : lower_scalar(f, again->cond);
    env_set(f, again->go, vals_one(f->lw, go));
}

static IrValue *ask_again(Fn *f, const Tree *t, const Own *own, const Exit *exit) {
    Type flag = type_scalar(f->lw->program->types, SCALAR_BOOL);
    if (!own->exits) return lower_scalar(f, t->args[0]);
    Again again = {t->args[0], env_new_slot(f, shape_of(f->lw, flag))};
    SlotSet set = {0};
    slots_add(&set, again.go);
    scan_assigned(f, t->args[0], &set);
    merge_if(f, flag_value(f, exit->done), &set, again_side, &again);
    vec_free(&set);
    return flag_value(f, again.go);
}

void lower_while(Fn *f, const Tree *t) {
    Own own = {0};
    Exit exit;
    collect(f, t, &own);
    uint32_t mark = env_mark(f);
    IrValue *first = lower_scalar(f, t->args[0]);
    env_forget_sizes(f, mark);
    IrValue *count = irb_select(&f->b, first, emit_int(f, INT64_MAX), emit_int(f, 0));
    loop_open(f, &own.loop, count, true);
    own.loop.inst->imm = t->checkpoint;
    lower_loop_body(f, t->body, &exit);
    loop_close(f, &own.loop, ask_again(f, t, &own, &exit));
    pass_on(f, &own);
}
