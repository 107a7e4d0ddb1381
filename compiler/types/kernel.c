/* Kernels and their launches.  A launch is a call of the kernel, or of its derivative, as a
   function of its ranges (names/kernel.c), so that nothing behind this has to know of launches. */
#include "types/internal.h"

#include <string.h>

enum { PARTS = 3, BLOCK_LIMIT = 1024 };

/* ---- bodies ---- */

void check_kernel_body(FnChecker *f, AstBlock *block) {
    Instance *inst = f->inst;
    const FnDecl *decl = inst->decl;
    TreeKernel *kernel = ARENA_NEW(f->c->arena, TreeKernel);
    kernel->n = decl->nindices;
    for (uint32_t i = 0; i < kernel->n; i++) {
        const AstParam *index = AST_AS(Param, decl->written->params.at[i]);
        kernel->begin[i] = inst->params[PARTS * i];
        kernel->end[i] = inst->params[PARTS * i + 1];
        kernel->size[i] = inst->params[PARTS * i + 2];
        kernel->local[i] = new_local(f, NULL, ty_i64(f), index->name.span);
        kernel->block[i] = new_local(f, NULL, ty_i64(f), index->name.span);
        kernel->index[i] = new_local(f, index->name.sym, ty_i64(f), index->name.span);
        bind_local(f, kernel->index[i])->quiet = true;
    }
    f->kernel = kernel;
    f->kernel_block = block;
    check_fn_body(f, block);
    if (kernel->barriers) check_uniform(f, kernel, inst->body);
    Tree *body = make(f, T_KERNEL, ty_unit(f), block->node.span);
    body->kernel = kernel;
    body->body = inst->body;
    inst->body = body;
}

Tree *check_shared(FnChecker *f, AstShared *node) {
    Span span = node->node.span;
    Tree *none = make(f, T_BLOCK, ty_unit(f), span);
    bool outermost = false;
    for (uint32_t i = 0; f->kernel && i < f->kernel_block->stmts.len; i++)
        outermost |= f->kernel_block->stmts.at[i] == &node->node;
    if (!outermost) {
        diag_report(f->c->diags, DIAG_KERNEL_PLACE, span,
                    "`shared` stands among the outermost statements of a kernel");
        return none;
    }
    Map sizes = {0};
    TypeScope s = {.f = f,
                   .c = f->c,
                   .module = f->module,
                   .generics = f->generics,
                   .sizes = &sizes,
                   .bind = true};
    Type type = resolve_type(&s, node->type);
    map_free(&sizes);
    bool fits = is_scalar(elem_of(type));
    for (uint32_t k = 0; is_array(type) && k < type->rank; k++)
        fits = fits && type->dims[k]->kind == SIZE_CONST;
    if (!fits && !is_poison(type)) {
        diag_report(f->c->diags, DIAG_KERNEL_SHARED, node->type->span,
                    "a shared array has scalars for elements and a constant size");
        type = ty_poison(f);
    }
    Tree *let = make(f, T_LET, ty_unit(f), span);
    let->shared = true;
    let->pattern.local = new_local(f, node->name.sym, type, node->name.span);
    let->pattern.local->var = true;
    bind_local(f, let->pattern.local);
    f->kernel->blocks = true;
    return is_poison(type) ? none : let;
}

/* ---- barrier, atomic_add, local, block, block_size ---- */

static bool takes(FnChecker *f, const AstCall *call, const char *name, uint32_t n) {
    bool plain = call->args.len == n;
    for (uint32_t i = 0; plain && i < n; i++)
        plain = call->args.at[i]->kind == AST_Arg && !AST_AS(Arg, call->args.at[i])->name.sym;
    if (!plain)
        diag_report(f->c->diags, DIAG_ARGUMENT_COUNT, call->node.span, "`%s` takes %u argument%s",
                    name, n, n == 1 ? "" : "s");
    return plain;
}

static Tree *index_part(FnChecker *f, AstCall *call, const char *name, Local *const *parts) {
    if (!takes(f, call, name, 1)) return tree_poison(f, call->node.span);
    const AstNode *arg = AST_AS(Arg, call->args.at[0])->value;
    const Binding *b =
        arg->kind == AST_Name ? scope_find(f, ((const AstName *)arg)->name.sym) : NULL;
    for (uint32_t i = 0; b && i < f->kernel->n; i++)
        if (b->local == f->kernel->index[i]) {
            if (parts != f->kernel->size) f->kernel->blocks = true;
            return make_local(f, parts[i], call->node.span);
        }
    diag_report(f->c->diags, DIAG_KERNEL_PLACE, arg->span, "`%s` takes an index of the kernel",
                name);
    return tree_poison(f, call->node.span);
}

/* Invocations run one after the other here, so that to add is enough. */
static Tree *atomic_add(FnChecker *f, AstCall *call) {
    if (!takes(f, call, "atomic_add", 2)) return tree_poison(f, call->node.span);
    const AstNode *place = AST_AS(Arg, call->args.at[0])->value;
    while (place->kind == AST_Index || place->kind == AST_Field || place->kind == AST_Part)
        place = place->kind == AST_Index   ? ((const AstIndex *)place)->base
                : place->kind == AST_Field ? ((const AstField *)place)->base
                                           : ((const AstPart *)place)->base;
    if (place->kind != AST_Name) {
        diag_report(f->c->diags, DIAG_NOT_A_PLACE, call->args.at[0]->span,
                    "`atomic_add` adds to a variable, or to an element, slice or field of one");
        return tree_poison(f, call->node.span);
    }
    AstAssign add = {.node = {.kind = AST_Assign, .span = call->node.span},
                     .place = AST_AS(Arg, call->args.at[0])->value,
                     .op = AST_OP_ADD,
                     .value = AST_AS(Arg, call->args.at[1])->value};
    Tree *tree = check_stmt(f, &add.node);
    tree->atomic = tree->kind == T_ASSIGN;
    return tree;
}

Tree *check_kernel_call(FnChecker *f, Sym name, AstCall *call) {
    static const char *const names[] = {"barrier", "atomic_add", "local", "block", "block_size"};
    enum { BARRIER, ATOMIC_ADD, LOCAL, BLOCK, BLOCK_SIZE, NAMES };
    int which = 0;
    while (which < NAMES && strcmp(name->text, names[which])) which++;
    if (which == NAMES) return NULL;
    if (!f->kernel) {
        diag_report(f->c->diags, DIAG_KERNEL_PLACE, call->node.span,
                    "`%s` is known in the body of a kernel only", name->text);
        return tree_poison(f, call->node.span);
    }
    if (which == ATOMIC_ADD) return atomic_add(f, call);
    if (which != BARRIER) {
        Local *const *parts = which == LOCAL   ? f->kernel->local
                              : which == BLOCK ? f->kernel->block
                                               : f->kernel->size;
        return index_part(f, call, name->text, parts);
    }
    if (!takes(f, call, "barrier", 0)) return tree_poison(f, call->node.span);
    if (f->parallel) {
        diag_report(f->c->diags, DIAG_KERNEL_PLACE, call->node.span, "`barrier` cannot stand in %s",
                    f->parallel_what);
        return tree_poison(f, call->node.span);
    }
    f->kernel->blocks = f->kernel->barriers = true;
    return make(f, T_BARRIER, ty_unit(f), call->node.span);
}

/* ---- launches ---- */

const FnDecl *kernel_of_value(const FnValue *fn) {
    while (fn->kind == FN_DERIV) {
        if (fn->deriv->part == DERIV_PART_REVERSE) return NULL;
        fn = fn->deriv->base;
    }
    return fn->kind == FN_NAMED && fn->decl->nindices ? fn->decl : NULL;
}

const FnDecl *kernel_behind(const Instance *inst) {
    while (inst->kind == INSTANCE_DERIV) {
        if (inst->deriv->part == DERIV_PART_REVERSE) return NULL;
        inst = inst->deriv->base_instance;
    }
    return inst->kind == INSTANCE_FN && inst->decl && inst->decl->nindices ? inst->decl : NULL;
}

bool check_launched(FnChecker *f, bool kernel, const char *name, Span span) {
    bool launched = f->launch.end && span.begin == f->launch.begin && span.end == f->launch.end;
    if (kernel == launched) return true;
    if (kernel) {
        diag_report(f->c->diags, DIAG_KERNEL_LAUNCH, span, "`%s` is a kernel: it is launched",
                    name);
        diag_help(f->c->diags, (Span){0}, "write `launch %s(0..n; …)`", name);
    } else {
        diag_report(f->c->diags, DIAG_KERNEL_LAUNCH, span,
                    "`%s` is no kernel and is called without `launch`", name);
    }
    return false;
}

/* The kernel that is named, alone or behind operators; NULL: not known by its name. */
static const FnDecl *named_kernel(FnChecker *f, const AstNode *node) {
    while (node->kind == AST_Deriv) node = ((const AstDeriv *)node)->operand;
    if (node->kind != AST_Name || scope_find(f, ((const AstName *)node)->name.sym)) return NULL;
    NameLookup found = modules_lookup(&f->c->modules, f->module, ((const AstName *)node)->name.sym);
    return found.kind == ITEM_FN && found.item->fn->nindices ? found.item->fn : NULL;
}

static AstNode *literal(FnChecker *f, uint32_t value, Span span) {
    AstInt *node = ARENA_NEW(f->c->arena, AstInt);
    node->node = (AstNode){.kind = AST_Int, .span = span};
    node->text.at = arena_printf(f->c->arena, "%u", value);
    node->text.len = (uint32_t)strlen(node->text.at);
    return &node->node;
}

/* Invocations in a block: enough to fill a device, as square as the rank allows. */
static uint32_t default_size(uint32_t n, uint32_t dim) {
    static const uint32_t sizes[KERNEL_RANK][KERNEL_RANK] = {{256}, {16, 16}, {8, 8, 4}};
    return sizes[n - 1][dim];
}

static bool block_sizes(FnChecker *f, const AstLaunch *node, uint32_t *sizes) {
    uint32_t n = node->ranges.len, all = 1;
    for (uint32_t i = 0; i < n; i++) sizes[i] = default_size(n, i);
    for (uint32_t k = 0; k < node->options.len; k++) {
        const AstOption *option = AST_AS(Option, node->options.at[k]);
        bool block = !strcmp(option->name.sym->text, "block");
        bool fits = block && option->args.len == n && !k;
        for (uint32_t i = 0; fits && i < n; i++) {
            AstNode *arg = option->args.at[i];
            if (arg->kind == AST_Arg) arg = AST_AS(Arg, arg)->value;
            Tree *value = check_integer(f, arg, "a block size");
            if (is_poison(value->type)) return false;
            Size size = size_of_tree(f, value);
            fits = size && size->kind == SIZE_CONST && size->value > 0 &&
                   size->value <= BLOCK_LIMIT && all * size->value <= BLOCK_LIMIT;
            if (fits) all *= sizes[i] = (uint32_t)size->value;
        }
        if (fits) continue;
        diag_report(f->c->diags, DIAG_KERNEL_RANGE, option->node.span,
                    block ? "a block has a constant size for each range, together 1 to %d"
                          : "a launch has no such option",
                    BLOCK_LIMIT);
        diag_help(f->c->diags, (Span){0}, "write `launch[block(%s)]`",
                  n == 1   ? "256"
                  : n == 2 ? "16, 16"
                           : "8, 8, 4");
        return false;
    }
    return true;
}

static bool check_ranges(FnChecker *f, const AstLaunch *node, const FnDecl *decl) {
    uint32_t n = node->ranges.len;
    if (n > KERNEL_RANK || (decl && n != decl->nindices)) {
        diag_report(f->c->diags, DIAG_KERNEL_RANGE, node->node.span,
                    decl ? "`%s` has %u ind%s, and there %s"
                         : "a launch has one, two or three ranges",
                    decl ? decl->name->text : "", decl ? decl->nindices : 0,
                    decl && decl->nindices == 1 ? "ex" : "ices",
                    n == 1 ? "is one range" : arena_printf(f->c->arena, "are %u ranges", n));
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const AstRange *range = AST_AS(Range, node->ranges.at[i]);
        if (range->lo && range->hi && !range->step) continue;
        diag_report(f->c->diags, DIAG_KERNEL_RANGE, range->node.span,
                    "a range of a launch has a beginning and an end, and no step");
        return false;
    }
    return true;
}

Tree *check_launch(FnChecker *f, AstLaunch *node, Type expected) {
    Span span = node->node.span;
    uint32_t sizes[KERNEL_RANK], n = node->ranges.len;
    if (f->kernel) {
        diag_report(f->c->diags, DIAG_KERNEL_LAUNCH, span, "a kernel launches no kernels");
        return tree_poison(f, span);
    }
    if (!check_ranges(f, node, named_kernel(f, node->operand)) || !block_sizes(f, node, sizes)) {
        mark_names(f, &node->node);
        return tree_poison(f, span);
    }
    AstCall *call = ARENA_NEW(f->c->arena, AstCall);
    call->node = (AstNode){.kind = AST_Call, .span = span};
    call->callee = node->operand;
    call->args.len = PARTS * n + node->args.len;
    call->args.at = ARENA_ARRAY(f->c->arena, AstNode *, call->args.len);
    for (uint32_t i = 0; i < n; i++) {
        const AstRange *range = AST_AS(Range, node->ranges.at[i]);
        AstNode *values[PARTS] = {range->lo, range->hi, literal(f, sizes[i], range->node.span)};
        for (uint32_t k = 0; k < PARTS; k++) {
            AstArg *arg = ARENA_NEW(f->c->arena, AstArg);
            arg->node = (AstNode){.kind = AST_Arg, .span = values[k]->span};
            arg->value = values[k];
            call->args.at[PARTS * i + k] = &arg->node;
        }
    }
    for (uint32_t i = 0; i < node->args.len; i++) call->args.at[PARTS * n + i] = node->args.at[i];
    Span outer = f->launch;
    f->launch = span;
    Tree *tree = check_call(f, call, expected);
    f->launch = outer;
    return tree;
}
