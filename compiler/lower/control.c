/* Control flow made structured.

   A sequence of statements is run with what comes after it (a Cont).  Where an `if` leaves on one
   side only, what comes after goes into the other side.  Otherwise leaving sets flags: `skip` of
   the innermost loop or the function says that the rest is left out, `done` that the loop ends; the
   rest then stands under an IF.  Flags that are constant at compile time leave no trace. */
#include "lower/internal.h"

/* What is still to be run: the rest of a block, a statement whose expression has its value, or an
   expression of which a part that may leave has its value. */
typedef struct Cont {
    const struct Cont *up;
    const Tree *block;
    uint32_t at;       /* the block's next statement */
    uint32_t dest;     /* slot of the block's value, or SLOT_NONE */
    const Tree *stmt;  /* instead of a block: to be finished with the value in DEST */
    const Tree *again; /* instead of both: its value goes to DEST */
} Cont;

static void run(Fn *f, const Cont *k);
static void into(Fn *f, const Tree *t, uint32_t dest, const Cont *rest);

IrValue *flag_value(const Fn *f, uint32_t slot) {
    return env_get(f, slot).at[0];
}

static void set_flag(Fn *f, uint32_t slot, bool value) {
    env_set(f, slot, vals_one(f->lw, emit_bool(f, value)));
}

static Exit *outermost(Fn *f) {
    Exit *exit = f->exit;
    while (exit->up) exit = exit->up;
    return exit;
}

static void leave(Fn *f, TreeKind kind) {
    set_flag(f, f->exit->skip, true);
    if (kind != T_CONTINUE) set_flag(f, f->exit->done, true);
    if (kind == T_RETURN) set_flag(f, outermost(f)->skip, true);
}

/* ---- what a merge must look after ---- */

static void add_flags(Fn *f, uint32_t exits, SlotSet *set) {
    if (!exits) return;
    slots_add(set, f->exit->skip);
    slots_add(set, f->exit->done);
    if (!(exits & EXIT_RETURN)) return;
    slots_add(set, outermost(f)->skip);
    if (f->ret) slots_add(set, f->ret);
}

static void add_tree(Fn *f, const Tree *t, SlotSet *set) {
    scan_assigned(f, t, set);
    add_flags(f, scan_exits(f->lw, t), set);
}

static void add_rest(Fn *f, const Cont *k, SlotSet *set) {
    for (; k; k = k->up) {
        if (k->dest) slots_add(set, k->dest);
        if (k->stmt || k->again) {
            add_tree(f, k->stmt ? k->stmt : k->again, set);
            continue;
        }
        for (uint32_t i = k->at; i < k->block->nstmts; i++) add_tree(f, k->block->stmts[i], set);
        if (k->block->body) add_tree(f, k->block->body, set);
    }
}

static bool is_nothing(const Cont *k) {
    for (; k; k = k->up)
        if (k->stmt || k->again || k->at < k->block->nstmts || k->block->body) return false;
    return true;
}

/* ---- the rest under a flag ---- */

static void rest_side(Fn *f, bool taken, void *data) {
    if (!taken) run(f, data);
}

/* Runs REST unless what came before has left. */
static void unless_left(Fn *f, const Cont *rest) {
    if (is_nothing(rest)) return;
    SlotSet set = {0};
    add_rest(f, rest, &set);
    merge_if(f, flag_value(f, f->exit->skip), &set, rest_side, (void *)rest);
    vec_free(&set);
}

/* ---- if ---- */

typedef struct Branches {
    const Tree *side[2]; /* [0]: taken; NULL: nothing there */
    const Cont *rest[2];
    uint32_t dest;
} Branches;

static void branch_side(Fn *f, bool taken, void *data) {
    const Branches *branches = data;
    int s = taken ? 0 : 1;
    if (branches->side[s]) into(f, branches->side[s], branches->dest, branches->rest[s]);
    else run(f, branches->rest[s]);
}

static void if_into(Fn *f, const Tree *t, uint32_t dest, const Cont *rest) {
    Branches branches = {.side = {t->body, t->other}, .dest = dest};
    Flow then = scan_flow(f->lw, t->body);
    Flow other = t->other ? scan_flow(f->lw, t->other) : FLOW_NORMAL;
    IrValue *cond = lower_scalar(f, t->args[0]);
    size_checks(f, t);
    SlotSet set = {0};
    bool pushed = (then == FLOW_EXIT) != (other == FLOW_EXIT);
    if (pushed) branches.rest[then == FLOW_EXIT ? 1 : 0] = rest;
    scan_assigned(f, t->body, &set);
    if (t->other) scan_assigned(f, t->other, &set);
    add_flags(f, scan_exits(f->lw, t), &set);
    if (dest) slots_add(&set, dest);
    if (pushed) add_rest(f, rest, &set);
    merge_if(f, cond, &set, branch_side, &branches);
    vec_free(&set);
    if (pushed || (then == FLOW_EXIT && other == FLOW_EXIT)) return;
    if (then == FLOW_NORMAL && other == FLOW_NORMAL) run(f, rest);
    else unless_left(f, rest);
}

/* ---- expressions with parts that may leave: f(if c { return 0; } else { x }) ---- */

typedef struct Parting {
    Fn *f;
    const Tree *found;
} Parting;

static void find_parting(Tree *t, void *data) {
    Parting *p = data;
    if (p->found || scan_flow(p->f->lw, t) == FLOW_NORMAL || map_hasp(&p->f->hoisted, t)) return;
    if (t->kind == T_IF || t->kind == T_BLOCK) p->found = t;
    else if (t->kind == T_LOGIC) find_parting(t->args[0], data);
    else scan_children(t, find_parting, data);
}

/* The part is evaluated before the rest of T, which then is what comes after it. */
static void part_first(Fn *f, const Tree *t, uint32_t dest, const Cont *rest) {
    Parting parting = {f, NULL};
    find_parting((Tree *)t, &parting);
    if (parting.found) {
        Cont after = {.up = rest, .again = t, .dest = dest};
        const Shape *shape = shape_of(f->lw, parting.found->type);
        uint32_t slot = env_new_slot(f, shape);
        map_setp(&f->hoisted, parting.found, (void *)(uintptr_t)slot);
        into(f, parting.found, slot, &after);
        return;
    }
    Vals value = lower_expr(f, t);
    if (dest) env_set(f, dest, value);
    unless_left(f, rest);
}

/* ---- statements that may leave ---- */

/* Lowers T with its value to DEST, then REST. */
static void into(Fn *f, const Tree *t, uint32_t dest, const Cont *rest) {
    Pos pos = f->b.pos;
    if (t->kind == T_BLOCK) {
        run(f, &(Cont){.up = rest, .block = t, .dest = dest});
    } else if (t->kind == T_IF) {
        if (t->span.begin) f->b.pos = t->span.begin;
        if_into(f, t, dest, rest);
    } else if (scan_flow(f->lw, t) == FLOW_NORMAL) {
        Vals value = lower_expr(f, t);
        if (dest) env_set(f, dest, value);
        run(f, rest);
    } else {
        part_first(f, t, dest, rest);
    }
    f->b.pos = pos;
}

/* The statement, its expression evaluated. */
static void finish(Fn *f, const Tree *t, Vals value) {
    if (t->kind == T_LET) {
        size_checks(f, t);
        lower_bind_pattern(f, &t->pattern, t->args[0]->type, value);
    } else if (t->kind == T_ASSIGN) {
        lower_assign(f, t, value);
    } else {
        CHECK_INTERNAL(t->kind == T_RETURN);
        size_checks(f, t);
        if (f->ret) env_set(f, f->ret, value);
        leave(f, T_RETURN);
    }
}

static void leaving_stmt(Fn *f, const Tree *t, const Cont *rest) {
    const Tree *arg = t->nargs ? t->args[0] : NULL;
    switch ((int)t->kind) {
    case T_BREAK:
    case T_CONTINUE: leave(f, t->kind); return;
    case T_EXPR: into(f, arg, SLOT_NONE, rest); return;
    case T_IF:
    case T_BLOCK: into(f, t, SLOT_NONE, rest); return;
    case T_RETURN:
        if (!arg) {
            leave(f, T_RETURN);
            return;
        }
        rest = NULL;
        break;
    case T_LET:
    case T_ASSIGN: break;
    default:
        lower_stmt(f, t);
        unless_left(f, rest);
        return;
    }
    if (scan_flow(f->lw, arg) == FLOW_NORMAL) {
        Vals value = lower_expr(f, arg);
        finish(f, t, value);
        if (t->kind != T_RETURN) unless_left(f, rest);
        return;
    }
    Cont after = {.up = rest, .stmt = t, .dest = env_new_slot(f, shape_of(f->lw, arg->type))};
    into(f, arg, after.dest, &after);
}

static void run_block(Fn *f, Cont *k) {
    const Tree *block = k->block;
    while (k->at < block->nstmts) {
        const Tree *t = block->stmts[k->at++];
        if (t->span.begin) f->b.pos = t->span.begin;
        if (scan_flow(f->lw, t) != FLOW_NORMAL) {
            leaving_stmt(f, t, k);
            return;
        }
        lower_stmt(f, t);
    }
    if (block->body && (!block->nchecks || scan_flow(f->lw, block->body) != FLOW_NORMAL)) {
        into(f, block->body, k->dest, k->up);
        return;
    }
    if (block->body) {
        Vals value = lower_expr(f, block->body);
        size_checks(f, block);
        if (k->dest) env_set(f, k->dest, value);
    }
    if (k->dest && !f->slots.at[k->dest].shape->n) env_set(f, k->dest, vals_new(f->lw, 0));
    run(f, k->up);
}

static void run(Fn *f, const Cont *k) {
    if (!k) return;
    if (k->stmt) {
        finish(f, k->stmt, env_get(f, k->dest));
        if (k->stmt->kind != T_RETURN) run(f, k->up);
        return;
    }
    if (k->again) {
        into(f, k->again, k->dest, k->up);
        return;
    }
    Cont own = *k;
    run_block(f, &own);
}

/* ---- entries ---- */

void lower_stmt(Fn *f, const Tree *t) {
    Pos pos = f->b.pos;
    if (t->span.begin) f->b.pos = t->span.begin;
    switch ((int)t->kind) {
    case T_LET:
    case T_ASSIGN: finish(f, t, lower_expr(f, t->args[0])); break;
    case T_EXPR: lower_expr(f, t->args[0]); break;
    case T_ASSERT: lower_assert(f, t); break;
    case T_FOR: lower_for(f, t); break;
    case T_WHILE: lower_while(f, t); break;
    case T_BREAK:
    case T_CONTINUE:
    case T_RETURN: leaving_stmt(f, t, NULL); break;
    default: lower_expr(f, t); break;
    }
    f->b.pos = pos;
}

static Vals value_of(Fn *f, const Tree *t) {
    const Shape *shape = shape_of(f->lw, t->type);
    uint32_t dest = shape->n ? env_new_slot(f, shape) : SLOT_NONE;
    into(f, t, dest, NULL);
    if (!dest) return vals_new(f->lw, 0);
    Vals value = env_get(f, dest);
    return value.at ? value : emit_nothing(f, shape);
}

Vals lower_block(Fn *f, const Tree *t) {
    return value_of(f, t);
}

Vals lower_if(Fn *f, const Tree *t) {
    return value_of(f, t);
}

void lower_body(Fn *f, const Tree *body) {
    Exit *exit = ARENA_NEW(f->lw->arena, Exit);
    Type flag = type_scalar(f->lw->program->types, SCALAR_BOOL);
    exit->skip = env_new_slot(f, shape_of(f->lw, flag));
    exit->done = exit->skip;
    set_flag(f, exit->skip, false);
    f->exit = exit;
    into(f, body, f->ret, NULL);
    f->exit = NULL;
}

void lower_loop_body(Fn *f, const Tree *body, Exit *exit) {
    Type flag = type_scalar(f->lw->program->types, SCALAR_BOOL);
    exit->up = f->exit;
    exit->skip = env_new_slot(f, shape_of(f->lw, flag));
    exit->done = env_new_slot(f, shape_of(f->lw, flag));
    set_flag(f, exit->skip, false);
    set_flag(f, exit->done, false);
    f->exit = exit;
    into(f, body, SLOT_NONE, NULL);
    f->exit = exit->up;
}
