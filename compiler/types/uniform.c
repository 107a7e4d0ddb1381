/* Barriers.  Where control flow holds barriers, all invocations of a block must go the same way:
   its conditions and bounds may depend on nothing that differs from one to another.

   The statements round barriers are cut into steps, each done for all invocations of a block before
   the next.  A variable that is declared and assigned among these statements, from values that are
   the same for all invocations, is computed once for the block; any other belongs to one invocation
   and is kept from step to step where it is needed behind its own. */
#include "base/bitset.h"
#include "types/analyse.h"
#include "types/internal.h"

typedef struct Uniform {
    FnChecker *f;
    TreeKernel *kernel;
    Bitset varies; /* locals by id that may differ among invocations */
    Bitset placed; /* declared among the statements round barriers */
    bool changed, report;
    Map steps; /* Local * -> number of the step that declares it */
    uint32_t step;
    uint32_t loops; /* that hold barriers, round this place */
} Uniform;

/* ---- trees ---- */

static void find_barrier(const Tree *t, void *data) {
    bool *found = data;
    if (t->kind == T_BARRIER) *found = true;
    if (!*found) tree_children(t, find_barrier, data);
}

bool tree_has_barrier(const Tree *t) {
    bool found = false;
    find_barrier(t, &found);
    return found;
}

const Tree *kernel_bare(const Tree *stmt) {
    while (stmt->kind == T_EXPR) stmt = stmt->args[0];
    return stmt;
}

static bool is_once(const TreeKernel *kernel, const TreePattern *pattern) {
    if (pattern->local) return kernel->once[pattern->local->id];
    for (uint32_t i = 0; i < pattern->nparts; i++)
        if (!is_once(kernel, &pattern->parts[i])) return false;
    return true;
}

static bool has_var(const TreePattern *pattern) {
    if (pattern->local) return pattern->local->var;
    for (uint32_t i = 0; i < pattern->nparts; i++)
        if (has_var(&pattern->parts[i])) return true;
    return false;
}

KernelStep kernel_step(const TreeKernel *kernel, const Tree *stmt) {
    stmt = kernel_bare(stmt);
    if (stmt->kind == T_BARRIER) return STEP_BARRIER;
    if (stmt->kind == T_LET && stmt->shared) return STEP_SHARED;
    if (tree_has_barrier(stmt)) return STEP_INSIDE;
    if (stmt->kind == T_LET && is_once(kernel, &stmt->pattern))
        return has_var(&stmt->pattern) ? STEP_ONCE : STEP_FIRST;
    if (stmt->kind != T_ASSIGN) return STEP_EACH;
    for (uint32_t i = 0; i < stmt->nplaces; i++)
        if (!kernel->once[stmt->targets[i].local->id]) return STEP_EACH;
    return STEP_ONCE;
}

/* ---- what varies ---- */

static void vary(Uniform *u, const Local *local) {
    if (local->owner == u->f->inst && bitset_add(&u->varies, local->id)) u->changed = true;
}

static void vary_pattern(Uniform *u, const TreePattern *pattern) {
    if (pattern->local) vary(u, pattern->local);
    for (uint32_t i = 0; i < pattern->nparts; i++) vary_pattern(u, &pattern->parts[i]);
}

static void place_pattern(Uniform *u, const TreePattern *pattern) {
    if (pattern->local) bitset_add(&u->placed, pattern->local->id);
    for (uint32_t i = 0; i < pattern->nparts; i++) place_pattern(u, &pattern->parts[i]);
}

typedef struct Varying {
    const Uniform *u;
    const Tree *found;
} Varying;

static void find_varying(const Tree *t, void *data) {
    Varying *v = data;
    if (v->found) return;
    bool varies = t->kind == T_LOCAL && t->local->owner == v->u->f->inst &&
                  bitset_has(&v->u->varies, t->local->id);
    if (varies || (t->kind == T_CALL && t->places)) v->found = t;
    else tree_children(t, find_varying, data);
}

/* The first part of T that may differ among invocations, or NULL. */
static const Tree *varying(const Uniform *u, const Tree *t) {
    Varying v = {u, NULL};
    if (t) find_varying(t, &v);
    return v.found;
}

/* All that T declares or assigns belongs to one invocation. */
static void vary_all(const Tree *t, void *data) {
    Uniform *u = data;
    if (t->kind == T_LET) vary_pattern(u, &t->pattern);
    for (uint32_t i = 0; i < t->nheads; i++) vary_pattern(u, &t->heads[i].pattern);
    for (uint32_t i = 0; i < t->nplaces; i++) vary(u, t->targets[i].local);
    if (t->kind == T_CALL && t->places)
        for (uint32_t i = 0; i < t->nargs; i++)
            if (t->places[i]) vary(u, t->places[i]->local);
    tree_children(t, vary_all, data);
}

/* ---- reports ---- */

static void report_divergent(Uniform *u, const Tree *part, const char *what) {
    const char *name = part->kind == T_LOCAL && part->local->name ? part->local->name->text : NULL;
    diag_report(
        u->f->c->diags, DIAG_KERNEL_BARRIER, part->span,
        "there is a barrier behind this %s, which may differ from one invocation of a block "
        "to another",
        what);
    if (name) diag_help(u->f->c->diags, (Span){0}, "it depends on `%s`", name);
}

static void demand(Uniform *u, const Tree *value, const char *what) {
    const Tree *part = u->report ? varying(u, value) : NULL;
    if (part) report_divergent(u, part, what);
}

typedef struct Misplaced {
    Uniform *u;
    uint32_t loops;
} Misplaced;

static void find_misplaced(const Tree *t, void *data) {
    Misplaced *m = data;
    Diags *diags = m->u->f->c->diags;
    bool jump = t->kind == T_BREAK || t->kind == T_CONTINUE;
    bool loop = t->kind == T_FOR || t->kind == T_WHILE;
    if (t->kind == T_BARRIER) {
        diag_report(diags, DIAG_KERNEL_PLACE, t->span,
                    "`barrier` is a statement, and stands in no other expression");
    } else if (t->kind == T_RETURN || (jump && !m->loops && m->u->loops)) {
        diag_report(diags, DIAG_KERNEL_BARRIER, t->span,
                    "`%s` leaves barriers out: all invocations of a block must come to them",
                    t->kind == T_RETURN  ? "return"
                    : t->kind == T_BREAK ? "break"
                                         : "continue");
    }
    m->loops += loop;
    tree_children(t, find_misplaced, data);
    m->loops -= loop;
}

static void look_for_misplaced(Uniform *u, const Tree *t) {
    Misplaced m = {u, 0};
    if (u->report && t) find_misplaced(t, &m);
}

/* ---- what is kept ---- */

static bool is_small(Type type) {
    if (type->kind == TYPE_SCALAR) return true;
    if (type->kind != TYPE_TUPLE) return false;
    for (uint32_t i = 0; i < type->nparts; i++)
        if (!is_small(type->parts[i].type)) return false;
    return true;
}

static void keep(Uniform *u, const Local *local, Span span) {
    uint32_t step = (uint32_t)(uintptr_t)map_getp(&u->steps, local);
    if (!step || step == u->step || u->kernel->kept[local->id]) return;
    u->kernel->kept[local->id] = true;
    if (is_small(local->type)) return;
    diag_report(u->f->c->diags, DIAG_KERNEL_BARRIER, span,
                "`%s` is wanted behind a barrier, where an invocation keeps scalars only",
                local->name ? local->name->text : "this");
    diag_help(u->f->c->diags, (Span){0}, "make it a shared array");
}

static void keep_used(const Tree *t, void *data) {
    Uniform *u = data;
    if (t->kind == T_LOCAL) keep(u, t->local, t->span);
    for (uint32_t i = 0; i < t->nplaces; i++) keep(u, t->targets[i].local, t->targets[i].span);
    if (t->kind == T_CALL && t->places)
        for (uint32_t i = 0; i < t->nargs; i++)
            if (t->places[i]) keep(u, t->places[i]->local, t->span);
    tree_children(t, keep_used, data);
}

static void declare_in(Uniform *u, const TreePattern *pattern) {
    if (pattern->local && !u->kernel->once[pattern->local->id])
        map_setp(&u->steps, pattern->local, (void *)(uintptr_t)u->step);
    for (uint32_t i = 0; i < pattern->nparts; i++) declare_in(u, &pattern->parts[i]);
}

/* ---- the walk ---- */

static void walk_block(Uniform *u, const Tree *block);

static void walk_head(Uniform *u, const TreeHead *head) {
    const Tree *parts[] = {head->lo, head->hi, head->step, head->array};
    for (int i = 0; i < 4; i++) {
        if (varying(u, parts[i])) vary_pattern(u, &head->pattern);
        demand(u, parts[i], "range");
    }
    place_pattern(u, &head->pattern);
}

static void walk_inside(Uniform *u, const Tree *t) {
    u->step++;
    switch ((int)t->kind) {
    case T_BLOCK: walk_block(u, t); break;
    case T_IF:
        look_for_misplaced(u, t->args[0]);
        demand(u, t->args[0], "condition");
        walk_block(u, t->body);
        if (t->other) walk_block(u, t->other);
        break;
    case T_FOR:
    case T_WHILE:
        if (t->kind == T_FOR) walk_head(u, &t->heads[0]);
        else demand(u, t->args[0], "condition");
        if (t->kind == T_WHILE) look_for_misplaced(u, t->args[0]);
        u->loops++;
        walk_block(u, t->body);
        u->loops--;
        break;
    default: vary_all(t, u); look_for_misplaced(u, t);
    }
    u->step++;
}

static bool pattern_varies(const Uniform *u, const TreePattern *pattern) {
    if (pattern->local) return bitset_has(&u->varies, pattern->local->id);
    for (uint32_t i = 0; i < pattern->nparts; i++)
        if (pattern_varies(u, &pattern->parts[i])) return true;
    return false;
}

/* What a statement declares or assigns together is together one for the block, or not. */
static void walk_plain(Uniform *u, const Tree *t) {
    bool once = t->kind == T_LET ? !t->shared : t->kind == T_ASSIGN && !t->atomic;
    if (t->kind == T_LET) {
        place_pattern(u, &t->pattern);
        once = once && !pattern_varies(u, &t->pattern);
    }
    for (uint32_t i = 0; i < t->nplaces; i++)
        once = once && !t->targets[i].nsteps && !bitset_has(&u->varies, t->targets[i].local->id);
    if (!once || varying(u, t->nargs ? t->args[0] : NULL)) vary_all(t, u);
}

static void walk_stmt(Uniform *u, const Tree *stmt) {
    const Tree *t = kernel_bare(stmt);
    if (t->kind == T_BARRIER) {
        u->step++;
        return;
    }
    if (tree_has_barrier(t)) {
        walk_inside(u, t);
        return;
    }
    walk_plain(u, t);
    if (!u->report) return;
    look_for_misplaced(u, t);
    KernelStep step = kernel_step(u->kernel, t);
    if (step == STEP_ONCE) u->step += 2;
    if (step != STEP_EACH) return;
    if (t->kind == T_LET) declare_in(u, &t->pattern);
    keep_used(t, u);
}

static void walk_block(Uniform *u, const Tree *block) {
    if (block->kind != T_BLOCK) {
        walk_stmt(u, block);
        return;
    }
    for (uint32_t i = 0; i < block->nstmts; i++) walk_stmt(u, block->stmts[i]);
    if (block->body) walk_stmt(u, block->body);
}

void check_uniform(FnChecker *f, TreeKernel *kernel, const Tree *body) {
    Uniform u = {.f = f, .kernel = kernel};
    kernel->once = ARENA_ARRAY(f->c->arena, bool, f->locals.len);
    kernel->kept = ARENA_ARRAY(f->c->arena, bool, f->locals.len);
    for (uint32_t i = 0; i < kernel->n; i++) {
        vary(&u, kernel->index[i]);
        vary(&u, kernel->local[i]);
    }
    for (uint32_t i = 0; i < f->inst->nparams; i++)
        if (f->inst->params[i]->mut) vary(&u, f->inst->params[i]);
    do {
        u.changed = false;
        walk_block(&u, body);
    } while (u.changed);
    for (uint32_t i = 0; i < f->locals.len; i++)
        kernel->once[i] = bitset_has(&u.placed, i) && !bitset_has(&u.varies, i);
    u.report = true;
    u.step = 1;
    walk_block(&u, body);
    bitset_free(&u.varies);
    bitset_free(&u.placed);
    map_free(&u.steps);
}
