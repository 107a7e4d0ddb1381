/* Questions about trees: what a piece assigns, how control leaves it, whether it is simple. */
#include "lower/internal.h"

typedef void (*Visit)(Tree *child, void *data);

static void visit_one(Tree *t, Visit visit, void *data) {
    if (t) visit(t, data);
}

static void visit_subs(const TreeSub *subs, uint32_t n, Visit visit, void *data) {
    for (uint32_t i = 0; i < n; i++) {
        visit_one(subs[i].lo, visit, data);
        visit_one(subs[i].hi, visit, data);
        visit_one(subs[i].step, visit, data);
    }
}

static void visit_place(const TreePlace *place, Visit visit, void *data) {
    for (uint32_t i = 0; i < place->nsteps; i++)
        visit_subs(place->steps[i].subs, place->steps[i].nsubs, visit, data);
}

void scan_children(const Tree *t, Visit visit, void *data) {
    for (uint32_t i = 0; i < t->nargs; i++) visit_one(t->args[i], visit, data);
    visit_subs(t->subs, t->nsubs, visit, data);
    for (uint32_t i = 0; i < t->nheads; i++) {
        visit_one(t->heads[i].lo, visit, data);
        visit_one(t->heads[i].hi, visit, data);
        visit_one(t->heads[i].step, visit, data);
        visit_one(t->heads[i].array, visit, data);
    }
    visit_one(t->where, visit, data);
    for (uint32_t i = 0; i < t->nstmts; i++) visit_one(t->stmts[i], visit, data);
    visit_one(t->body, visit, data);
    visit_one(t->other, visit, data);
    for (uint32_t i = 0; i < t->nplaces; i++) visit_place(&t->targets[i], visit, data);
    if (t->kind == T_CALL && t->places)
        for (uint32_t i = 0; i < t->instance->nparams; i++)
            if (t->places[i]) visit_place(t->places[i], visit, data);
}

/* ---- assigned variables ---- */

void slots_add(SlotSet *set, uint32_t slot) {
    for (uint32_t i = 0; i < set->len; i++)
        if (set->at[i] == slot) return;
    vec_push(set, slot);
}

typedef struct Assigned {
    Fn *f;
    SlotSet *set;
    Map seen; /* of slots */
} Assigned;

static void assigned_local(Assigned *a, const Local *local) {
    uint32_t slot = env_slot(a->f, local);
    if (!slot || !env_get(a->f, slot).at || map_has(&a->seen, slot)) return;
    map_set(&a->seen, slot, a);
    slots_add(a->set, slot);
}

static void assigned_in(Tree *t, void *data) {
    Assigned *a = data;
    for (uint32_t i = 0; i < t->nplaces; i++) assigned_local(a, t->targets[i].local);
    if (t->kind == T_CALL && t->places)
        for (uint32_t i = 0; i < t->instance->nparams; i++)
            if (t->places[i]) assigned_local(a, t->places[i]->local);
    scan_children(t, assigned_in, data);
}

void scan_assigned(Fn *f, const Tree *t, SlotSet *set) {
    Assigned a = {f, set, {0}};
    if (t) assigned_in((Tree *)t, &a);
    map_free(&a.seen);
}

/* ---- uses of the variables of patterns ---- */

static bool pattern_has(const TreePattern *pattern, const Local *local) {
    if (pattern->local) return pattern->local == local;
    for (uint32_t i = 0; i < pattern->nparts; i++)
        if (pattern_has(&pattern->parts[i], local)) return true;
    return false;
}

typedef struct Uses {
    const TreePattern *patterns;
    uint32_t n;
    bool found;
} Uses;

static void uses_in(Tree *t, void *data) {
    Uses *uses = data;
    if (t->kind == T_LOCAL)
        for (uint32_t i = 0; i < uses->n; i++)
            if (pattern_has(&uses->patterns[i], t->local)) uses->found = true;
    if (!uses->found) scan_children(t, uses_in, data);
}

bool scan_uses(const Tree *t, const TreePattern *patterns, uint32_t n) {
    Uses uses = {patterns, n, false};
    if (t) uses_in((Tree *)t, &uses);
    return uses.found;
}

/* ---- exits ---- */

/* Kept in Lower.flows as exits | flow << 3 | 1 << 8. */
static uint32_t exits_of(Lower *lw, const Tree *t);

typedef struct Exits {
    Lower *lw;
    uint32_t mask;
    bool maybe;
} Exits;

static void exits_below(Tree *child, void *data) {
    Exits *exits = data;
    exits->mask |= scan_exits(exits->lw, child);
    if (scan_flow(exits->lw, child) != FLOW_NORMAL) exits->maybe = true;
}

static Flow flow_block(Lower *lw, const Tree *t) {
    Flow flow = FLOW_NORMAL;
    for (uint32_t i = 0; i <= t->nstmts; i++) {
        const Tree *part = i < t->nstmts ? t->stmts[i] : t->body;
        Flow own = part ? scan_flow(lw, part) : FLOW_NORMAL;
        if (own == FLOW_EXIT) return own;
        if (own == FLOW_MAYBE) flow = own;
    }
    return flow;
}

static Flow flow_if(Lower *lw, const Tree *t) {
    Flow then = scan_flow(lw, t->body);
    Flow other = t->other ? scan_flow(lw, t->other) : FLOW_NORMAL;
    if (scan_flow(lw, t->args[0]) != FLOW_NORMAL) return FLOW_MAYBE;
    return then == other ? then : FLOW_MAYBE;
}

static uint32_t exits_of(Lower *lw, const Tree *t) {
    Exits exits = {lw, 0, false};
    Flow flow;
    scan_children(t, exits_below, &exits);
    switch ((int)t->kind) {
    case T_RETURN: exits.mask |= EXIT_RETURN, flow = FLOW_EXIT; break;
    case T_BREAK: exits.mask |= EXIT_BREAK, flow = FLOW_EXIT; break;
    case T_CONTINUE: exits.mask |= EXIT_CONTINUE, flow = FLOW_EXIT; break;
    case T_KERNEL: /* what leaves an invocation stays in it */
        exits.mask = 0;
        flow = FLOW_NORMAL;
        break;
    case T_BLOCK: flow = flow_block(lw, t); break;
    case T_IF: flow = flow_if(lw, t); break;
    case T_EXPR:
    case T_LET:
    case T_ASSIGN:
        flow = t->nargs && t->args[0] ? scan_flow(lw, t->args[0]) : FLOW_NORMAL;
        if (flow == FLOW_NORMAL && exits.maybe) flow = FLOW_MAYBE;
        break;
    case T_FOR:
    case T_WHILE:
        exits.mask &= EXIT_RETURN;
        flow = exits.mask ? FLOW_MAYBE : FLOW_NORMAL;
        break;
    default: flow = exits.maybe ? FLOW_MAYBE : FLOW_NORMAL; break;
    }
    return exits.mask | (uint32_t)flow << 3 | 1u << 8;
}

static uint32_t known_exits(Lower *lw, const Tree *t) {
    uint32_t known = (uint32_t)(uintptr_t)map_getp(&lw->flows, t);
    if (known) return known;
    known = exits_of(lw, t);
    map_setp(&lw->flows, t, (void *)(uintptr_t)known);
    return known;
}

uint32_t scan_exits(Lower *lw, const Tree *t) {
    return known_exits(lw, t) & 7;
}

Flow scan_flow(Lower *lw, const Tree *t) {
    return (Flow)(known_exits(lw, t) >> 3 & 3);
}

/* ---- simple pieces ---- */

typedef struct Simple {
    uint32_t budget;
    bool yes;
} Simple;

static bool simple_op(const Tree *t) {
    bool ints = t->type->kind == TYPE_SCALAR && scalar_is_int(t->type->scalar);
    if (t->op == AST_OP_DIV || t->op == AST_OP_MOD || t->op == AST_OP_POW) return false;
    return !ints || t->op == AST_OP_ADD || t->op == AST_OP_SUB || t->op == AST_OP_MUL ||
           t->op == AST_OP_NEG;
}

static void simple_in(Tree *t, void *data) {
    Simple *simple = data;
    if (!simple->budget) simple->yes = false;
    if (!simple->yes) return;
    simple->budget--;
    switch ((int)t->kind) {
    case T_INT:
    case T_FLOAT:
    case T_BOOL:
    case T_LOCAL:
    case T_SIZE:
    case T_LOGIC: break;
    case T_OP:
        if (t->lifted || t->type->kind != TYPE_SCALAR || !simple_op(t)) simple->yes = false;
        for (uint32_t i = 0; i < t->nargs; i++)
            if (t->args[i]->type->kind != TYPE_SCALAR) simple->yes = false;
        break;
    default: simple->yes = false;
    }
    if (simple->yes) scan_children(t, simple_in, data);
}

bool scan_is_simple(const Tree *t) {
    Simple simple = {12, true};
    simple_in((Tree *)t, &simple);
    return simple.yes;
}
