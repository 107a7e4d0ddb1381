/* Kernels: loops over their indices, one invocation after the other.

   A body that knows of blocks is run block by block.  In a block, statements between barriers are
   gathered into steps (kernel_step), and each step is a loop over the invocations of the block.
   Shared arrays are variables of the block; so are arrays of those variables of an invocation that
   are wanted in a later step, by the invocation's place in the block.  Control flow that holds
   barriers is the block's, with steps inside.  All this is ordinary IR, differentiated like any.

   For a device the same is lowered for one invocation, whose place comes from the device: a step
   runs if the invocation is within its ranges, barriers are calls that take the arrays and give
   what is in them then, and variables are kept where they are. */
#include "lower/internal.h"

#include <string.h>

/* A variable of an invocation that outlives its step. */
typedef struct Kept {
    const Local *local;
    uint32_t slot; /* the block's array of it */
} Kept;

typedef struct Kernel {
    Fn *f;
    const TreeKernel *tree;
    IrValue *first[3]; /* of the block, or of all: the index of the first invocation */
    IrValue *count[3]; /* invocations */
    VEC(Kept) kept;
    VEC(const Tree *) step; /* statements that wait to be run */
    /* For a device: */
    IrValue *active; /* is this invocation within the ranges? */
    SlotSet memory;  /* arrays that others see: mut parameters and shared ones */
} Kernel;

static void block_body(Kernel *k, const Tree *t);

/* ---- one step: a loop over invocations ---- */

static void bind_int(Fn *f, const Local *local, IrValue *value) {
    env_bind(f, local, vals_one(f->lw, value));
}

typedef struct Mentions {
    const Local *local;
    bool declared, assigned, used;
} Mentions;

static bool pattern_has(const TreePattern *pattern, const Local *local) {
    if (pattern->local) return pattern->local == local;
    for (uint32_t i = 0; i < pattern->nparts; i++)
        if (pattern_has(&pattern->parts[i], local)) return true;
    return false;
}

static void find_mentions(Tree *t, void *data) {
    Mentions *m = data;
    if (t->kind == T_LET && pattern_has(&t->pattern, m->local)) m->declared = true;
    if (t->kind == T_LOCAL && t->local == m->local) m->used = true;
    for (uint32_t i = 0; i < t->nplaces; i++)
        if (t->targets[i].local == m->local) m->assigned = true;
    if (t->kind == T_CALL && t->places)
        for (uint32_t i = 0; i < t->nargs; i++)
            if (t->places[i] && t->places[i]->local == m->local) m->assigned = true;
    scan_children(t, find_mentions, data);
}

static Mentions mentions(const Local *local, uint32_t n, const Tree *const *stmts) {
    Mentions m = {.local = local};
    for (uint32_t i = 0; i < n; i++) find_mentions((Tree *)stmts[i], &m);
    return m;
}

/* What running STMTS changes. */
static void collect(Kernel *k, uint32_t n, const Tree *const *stmts, SlotSet *set) {
    for (uint32_t i = 0; i < n; i++) scan_assigned(k->f, stmts[i], set);
    for (uint32_t i = 0; i < k->kept.len; i++) {
        Mentions m = mentions(k->kept.at[i].local, n, stmts);
        if (m.declared || m.assigned) slots_add(set, k->kept.at[i].slot);
    }
    if (!k->active) return;
    bool barrier = false;
    for (uint32_t i = 0; i < n; i++) barrier |= tree_has_barrier(stmts[i]);
    for (uint32_t i = 0; barrier && i < k->memory.len; i++) slots_add(set, k->memory.at[i]);
    for (uint32_t i = 0; k->tree->kept && i < k->f->inst->nlocals; i++) {
        const Local *local = k->f->inst->locals[i];
        if (k->tree->kept[i] && mentions(local, n, stmts).declared)
            slots_add(set, env_slot(k->f, local));
    }
}

static void load_kept(Kernel *k, const Kept *kept, IrValue *const *at) {
    Vals arrays = env_get(k->f, kept->slot), own = vals_new(k->f->lw, arrays.n);
    for (uint32_t i = 0; i < own.n; i++)
        own.at[i] = irb_index(&k->f->b, arrays.at[i], k->tree->n, at);
    env_bind(k->f, kept->local, own);
}

static void store_kept(Kernel *k, const Kept *kept, IrValue *const *at) {
    Fn *f = k->f;
    Vals arrays = vals_copy(f->lw, env_get(f, kept->slot));
    Vals own = env_get(f, env_slot(f, kept->local));
    for (uint32_t i = 0; i < arrays.n; i++)
        arrays.at[i] = irb_update(&f->b, arrays.at[i], k->tree->n, at, own.at[i]);
    env_set(f, kept->slot, arrays);
}

/* The statements for one invocation, as a function's body: `return` ends it. */
static void run_invocation(Kernel *k, uint32_t n, const Tree *const *stmts, IrValue *const *at) {
    Fn *f = k->f;
    Exit *exit = f->exit;
    uint32_t ret = f->ret;
    Tree *block = tree_new(f->lw->arena, T_BLOCK, type_unit(f->lw->program->types), stmts[0]->span);
    block->nstmts = n;
    block->stmts = (Tree **)stmts;
    for (uint32_t i = 0; i < k->kept.len; i++) {
        Mentions m = mentions(k->kept.at[i].local, n, stmts);
        if (!m.declared && (m.used || m.assigned)) load_kept(k, &k->kept.at[i], at);
    }
    f->ret = SLOT_NONE;
    lower_body(f, block);
    f->exit = exit;
    f->ret = ret;
    for (uint32_t i = 0; i < k->kept.len; i++) {
        Mentions m = mentions(k->kept.at[i].local, n, stmts);
        if (m.declared || m.assigned) store_kept(k, &k->kept.at[i], at);
    }
}

typedef struct Own {
    Kernel *kernel;
    uint32_t n;
    const Tree *const *stmts;
} Own;

static void own_side(Fn *f, bool active, void *data) {
    const Own *own = data;
    (void)f;
    if (active) run_invocation(own->kernel, own->n, own->stmts, NULL);
}

static void run_all(Kernel *k, uint32_t n, const Tree *const *stmts) {
    Fn *f = k->f;
    if (k->active) {
        Own own = {k, n, stmts};
        SlotSet set = {0};
        collect(k, n, stmts, &set);
        merge_if(f, k->active, &set, own_side, &own);
        vec_free(&set);
        return;
    }
    Loop loops[3] = {{{0}, NULL, NULL, 0}};
    IrValue *at[3];
    for (uint32_t d = 0; d < k->tree->n; d++) {
        collect(k, n, stmts, &loops[d].carried);
        at[d] = loop_open(f, &loops[d], k->count[d], false);
        IrValue *index = emit_add(f, k->first[d], at[d]);
        if (size_nonneg(f, k->first[d])) size_note_nonneg(f, index);
        bind_int(f, k->tree->index[d], index);
        bind_int(f, k->tree->local[d], at[d]);
    }
    run_invocation(k, n, stmts, at);
    for (uint32_t d = k->tree->n; d-- > 0;) loop_close(f, &loops[d], NULL);
}

static void flush(Kernel *k) {
    uint32_t n = k->step.len;
    if (!n) return;
    const Tree **stmts = ARENA_ARRAY(k->f->lw->arena, const Tree *, n);
    for (uint32_t i = 0; i < n; i++) stmts[i] = k->step.at[i];
    k->step.len = 0;
    run_all(k, n, stmts);
}

/* ---- control flow round barriers ---- */

static void block_for(Kernel *k, const Tree *t) {
    Fn *f = k->f;
    Loop loop = {{0}, NULL, NULL, 0};
    Head head;
    head_open(f, &t->heads[0], &head);
    size_checks(f, t);
    collect(k, 1, (const Tree *const *)&t->body, &loop.carried);
    IrValue *trip = loop_open(f, &loop, head.count, false);
    loop.inst->imm = t->checkpoint;
    head_bind(f, &head, trip);
    block_body(k, t->body);
    loop_close(f, &loop, NULL);
}

static void block_while(Kernel *k, const Tree *t) {
    Fn *f = k->f;
    Loop loop = {{0}, NULL, NULL, 0};
    collect(k, 1, (const Tree *const *)&t->body, &loop.carried);
    uint32_t mark = env_mark(f);
    IrValue *first = lower_scalar(f, t->args[0]);
    env_forget_sizes(f, mark);
    IrValue *count = irb_select(&f->b, first, emit_int(f, INT64_MAX), emit_int(f, 0));
    loop_open(f, &loop, count, true);
    loop.inst->imm = t->checkpoint;
    block_body(k, t->body);
    loop_close(f, &loop, lower_scalar(f, t->args[0]));
}

typedef struct Branch {
    Kernel *kernel;
    const Tree *tree;
} Branch;

static void block_side(Fn *f, bool taken, void *data) {
    const Branch *branch = data;
    const Tree *side = taken ? branch->tree->body : branch->tree->other;
    (void)f;
    if (side) block_body(branch->kernel, side);
}

static void block_if(Kernel *k, const Tree *t) {
    Fn *f = k->f;
    Branch branch = {k, t};
    const Tree *sides[] = {t->body, t->other};
    IrValue *cond = lower_scalar(f, t->args[0]);
    size_checks(f, t);
    SlotSet set = {0};
    collect(k, t->other ? 2 : 1, sides, &set);
    merge_if(f, cond, &set, block_side, &branch);
    vec_free(&set);
}

/* ---- statements of a block ---- */

static void declare_shared(Kernel *k, const Tree *let) {
    Fn *f = k->f;
    const Shape *shape = shape_of(f->lw, let->pattern.local->type);
    Vals value;
    if (k->active) {
        IrInst *call = irb_runtime(&f->b, "adl__device_shared", 0, NULL, 1, &shape->leaf[0].type);
        value = vals_one(f->lw, call->results[0]);
    } else {
        value = emit_nothing(f, shape);
    }
    env_bind(f, let->pattern.local, value);
    slots_add(&k->memory, env_slot(f, let->pattern.local));
}

/* What is in the arrays when all have come. */
static void wait_for_all(Kernel *k) {
    Fn *f = k->f;
    VEC(IrValue *) arrays = {0};
    VEC(IrType) types = {0};
    for (uint32_t i = 0; i < k->memory.len; i++) {
        Vals now = env_get(f, k->memory.at[i]);
        for (uint32_t l = 0; l < now.n; l++) {
            vec_push(&arrays, now.at[l]);
            vec_push(&types, now.at[l]->type);
        }
    }
    IrInst *call =
        irb_runtime(&f->b, "adl__device_barrier", arrays.len, arrays.at, types.len, types.at);
    for (uint32_t i = 0, at = 0; i < k->memory.len; i++) {
        Vals next = vals_copy(f->lw, env_get(f, k->memory.at[i]));
        for (uint32_t l = 0; l < next.n; l++) next.at[l] = call->results[at++];
        env_set(f, k->memory.at[i], next);
    }
    vec_free(&arrays);
    vec_free(&types);
}

static void block_inside(Kernel *k, const Tree *t) {
    Pos pos = k->f->b.pos;
    if (t->span.begin) k->f->b.pos = t->span.begin;
    switch ((int)t->kind) {
    case T_FOR: block_for(k, t); break;
    case T_WHILE: block_while(k, t); break;
    case T_IF: block_if(k, t); break;
    default: CHECK_INTERNAL(t->kind == T_BLOCK); block_body(k, t);
    }
    k->f->b.pos = pos;
}

static void block_stmt(Kernel *k, const Tree *stmt) {
    const Tree *t = kernel_bare(stmt);
    switch (k->tree->barriers               ? kernel_step(k->tree, stmt)
            : t->kind == T_LET && t->shared ? STEP_SHARED
                                            : STEP_EACH) {
    case STEP_EACH: vec_push(&k->step, stmt); return;
    case STEP_FIRST: lower_stmt(k->f, t); return;
    case STEP_ONCE:
        flush(k);
        lower_stmt(k->f, t);
        return;
    case STEP_SHARED: declare_shared(k, t); return;
    case STEP_BARRIER:
        flush(k);
        if (k->active) wait_for_all(k);
        return;
    case STEP_INSIDE:
        flush(k);
        block_inside(k, t);
        return;
    }
}

static void block_body(Kernel *k, const Tree *t) {
    if (t->kind != T_BLOCK) {
        block_stmt(k, t);
    } else {
        for (uint32_t i = 0; i < t->nstmts; i++) block_stmt(k, t->stmts[i]);
        if (t->body) block_stmt(k, t->body);
    }
    flush(k);
}

/* ---- blocks ---- */

/* Arrays with a place for each invocation of the block. */
static void open_kept(Kernel *k) {
    Fn *f = k->f;
    for (uint32_t i = 0; k->tree->kept && i < f->inst->nlocals; i++) {
        if (!k->tree->kept[i]) continue;
        const Shape *shape = shape_of(f->lw, f->inst->locals[i]->type);
        Shape *arrays = ARENA_NEW(f->lw->arena, Shape);
        *arrays = (Shape){.n = shape->n, .leaf = ARENA_ARRAY(f->lw->arena, Leaf, shape->n)};
        Vals values = vals_new(f->lw, shape->n);
        for (uint32_t l = 0; l < shape->n; l++) {
            IrValue *zero = irb_zero(&f->b, shape->leaf[l].scalar);
            values.at[l] = emit_fill(f, zero, k->tree->n, k->count);
            arrays->leaf[l] = (Leaf){.type = values.at[l]->type,
                                     .kind = IR_T_ARRAY,
                                     .scalar = shape->leaf[l].scalar,
                                     .rank = k->tree->n};
        }
        Kept kept = {f->inst->locals[i], env_new_slot(f, arrays)};
        f->slots.at[kept.slot].vague = true;
        env_set(f, kept.slot, values);
        vec_push(&k->kept, kept);
    }
}

/* The loops over blocks, whose sizes are constants of the launch; the last block of a range may be
   smaller. */
static void open_blocks(Kernel *k, const Tree *body, Loop *loops, IrValue *const *counts) {
    Fn *f = k->f;
    for (uint32_t d = 0; d < k->tree->n; d++) {
        IrValue *size = env_get(f, env_slot(f, k->tree->size[d])).at[0], *one = emit_int(f, 1);
        IrValue *blocks =
            emit_binary(f, IR_DIV, emit_sub(f, emit_add(f, counts[d], size), one), size);
        scan_assigned(f, body, &loops[d].carried);
        IrValue *block = loop_open(f, &loops[d], blocks, false);
        bind_int(f, k->tree->block[d], block);
        IrValue *before = emit_mul(f, block, size);
        k->first[d] = emit_add(f, k->first[d], before);
        k->count[d] = emit_binary(f, IR_MIN, size, emit_sub(f, counts[d], before));
        size_note_nonneg(f, k->count[d]);
    }
}

static IrValue *place_on_device(Fn *f, const char *what, uint32_t dim) {
    IrType type = ir_scalar(f->lw->module, IR_I64);
    IrValue *arg = emit_int(f, dim);
    return irb_runtime(&f->b, what, 1, &arg, 1, &type)->results[0];
}

/* Of the range that begins at FIRST. */
static IrValue *index_on_device(Fn *f, uint32_t dim, IrValue *first) {
    IrType type = ir_scalar(f->lw->module, IR_I64);
    IrValue *args[] = {emit_int(f, dim), first};
    return irb_runtime(&f->b, "adl__device_index", 2, args, 1, &type)->results[0];
}

/* One invocation.  The device's dimension x is the last index, along which memory lies. */
static void lower_for_device(Kernel *k, const Tree *body) {
    Fn *f = k->f;
    const TreeKernel *tree = k->tree;
    k->active = emit_bool(f, true);
    for (uint32_t d = 0; d < tree->n; d++) {
        uint32_t dim = tree->n - 1 - d;
        IrValue *block = place_on_device(f, "adl__device_block", dim);
        IrValue *local = place_on_device(f, "adl__device_local", dim);
        IrValue *size = place_on_device(f, "adl__device_size", dim);
        IrValue *index = index_on_device(f, dim, k->first[d]);
        IrValue *end = env_get(f, env_slot(f, tree->end[d])).at[0];
        k->active = emit_and(f, k->active, emit_binary(f, IR_LT, index, end));
        bind_int(f, tree->index[d], index);
        bind_int(f, tree->local[d], local);
        bind_int(f, tree->block[d], block);
        bind_int(f, tree->size[d], size);
        if (size_nonneg(f, k->first[d])) size_note_nonneg(f, index);
    }
    for (uint32_t i = 0; i < f->inst->nparams; i++)
        if (f->inst->params[i]->mut) slots_add(&k->memory, env_slot(f, f->inst->params[i]));
    for (uint32_t i = 0; tree->kept && i < f->inst->nlocals; i++)
        if (tree->kept[i])
            env_bind(f, f->inst->locals[i],
                     emit_nothing(f, shape_of(f->lw, f->inst->locals[i]->type)));
    block_body(k, body);
    vec_free(&k->step);
    vec_free(&k->memory);
}

void lower_kernel(Fn *f, const Tree *t) {
    Kernel k = {.f = f, .tree = t->kernel};
    IrValue *counts[3];
    for (uint32_t d = 0; d < k.tree->n; d++) {
        k.first[d] = env_get(f, env_slot(f, k.tree->begin[d])).at[0];
        counts[d] = emit_sub(f, env_get(f, env_slot(f, k.tree->end[d])).at[0], k.first[d]);
        k.count[d] = counts[d];
    }
    if (f->lw->options->device) {
        /* The ranges of exported kernels begin at 0. */
        for (uint32_t d = 0; d < k.tree->n && !f->lw->options->launches; d++)
            k.first[d] = emit_int(f, 0);
        lower_for_device(&k, t->body);
        return;
    }
    if (!k.tree->blocks) {
        const Tree *body = t->body;
        run_all(&k, 1, &body);
        return;
    }
    Loop loops[3] = {{{0}, NULL, NULL, 0}};
    open_blocks(&k, t->body, loops, counts);
    open_kept(&k);
    block_body(&k, t->body);
    for (uint32_t d = k.tree->n; d-- > 0;) loop_close(f, &loops[d], NULL);
    vec_free(&k.kept);
    vec_free(&k.step);
    vec_free(&k.memory);
}
