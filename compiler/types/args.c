/* Arguments on their way to parameters, and the call of an instance. */
#include "types/internal.h"

#include <string.h>

static AstIdent arg_name(const AstNode *node) {
    return node->kind == AST_Arg ? ((const AstArg *)node)->name : (AstIdent){0};
}

static AstNode *arg_value(AstNode *node) {
    return node->kind == AST_Arg ? ((AstArg *)node)->value : node; /* else a head */
}

static bool place_named(FnChecker *f, AstIdent name, AstNode *node, const char *callee, uint32_t n,
                        const Sym *names, CallArg *out) {
    for (uint32_t i = 0; i < n; i++) {
        if (names[i] != name.sym) continue;
        if (out[i].node) {
            diag_report(f->c->diags, DIAG_ARGUMENT_TWICE, name.span,
                        "two arguments are given for `%s`", name.sym->text);
            return false;
        }
        out[i].node = node;
        return true;
    }
    diag_report(f->c->diags, DIAG_ARGUMENT_NAME, name.span, "`%s` has no parameter `%s`", callee,
                name.sym->text);
    VEC(const char *) all = {0};
    for (uint32_t i = 0; i < n; i++)
        if (names[i]) vec_push(&all, names[i]->text);
    const char *closest = diag_closest(name.sym->text, all.at, all.len);
    if (closest) diag_help(f->c->diags, (Span){0}, "did you mean `%s`?", closest);
    vec_free(&all);
    return false;
}

/* The ranges of a launch are arguments that nobody wrote: their names have a point. */
static void report_count(FnChecker *f, const AstCall *call, const char *callee, uint32_t n,
                         const Sym *names, const bool *optional) {
    uint32_t least = 0, most = 0, given = call->args.len;
    for (uint32_t i = 0; i < n; i++) {
        bool hidden = names[i] && strchr(names[i]->text, '.');
        given -= hidden;
        most += !hidden;
        least += !hidden && !(optional && optional[i]);
    }
    if (least == most)
        diag_report(f->c->diags, DIAG_ARGUMENT_COUNT, call->node.span,
                    "`%s` takes %u argument%s, not %u", callee, most, most == 1 ? "" : "s", given);
    else
        diag_report(f->c->diags, DIAG_ARGUMENT_COUNT, call->node.span,
                    "`%s` takes %u to %u arguments, not %u", callee, least, most, given);
}

bool match_args(FnChecker *f, const AstCall *call, const char *callee, uint32_t n, const Sym *names,
                const bool *optional, CallArg *out) {
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) out[i] = (CallArg){0};
    if (call->args.len > n) {
        report_count(f, call, callee, n, names, optional);
        return false;
    }
    for (uint32_t i = 0; i < call->args.len; i++) {
        AstNode *node = call->args.at[i];
        AstIdent name = arg_name(node);
        if (node->poison) ok = false;
        if (name.sym) ok &= place_named(f, name, arg_value(node), callee, n, names, out);
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < call->args.len && ok; i++) {
        AstNode *node = call->args.at[i];
        if (arg_name(node).sym) continue;
        while (at < n && out[at].node) at++;
        if (at == n) {
            report_count(f, call, callee, n, names, optional);
            return false;
        }
        out[at].node = arg_value(node);
    }
    for (uint32_t i = 0; i < n && ok; i++) {
        if (out[i].node || (optional && optional[i])) continue;
        if (names[i])
            diag_report(f->c->diags, DIAG_ARGUMENT_MISSING, call->node.span,
                        "`%s` lacks its argument `%s`", callee, names[i]->text);
        else report_count(f, call, callee, n, names, optional);
        return false;
    }
    return ok;
}

Tree *check_arg(FnChecker *f, AstNode *node, Type expected) {
    if (f->pre_node == node) {
        f->pre_node = NULL;
        return f->pre_value;
    }
    return check_value(f, node, expected);
}

/* ---- mut arguments ---- */

/* The place an expression is, quietly: NULL if it is none. */
static TreePlace *quiet_place(FnChecker *f, const Tree *tree) {
    VEC(const Tree *) chain = {0};
    while (tree->kind == T_INDEX || tree->kind == T_PART) {
        vec_push(&chain, tree);
        tree = tree->args[0];
    }
    TreePlace *place = NULL;
    if (tree->kind == T_LOCAL) {
        place = ARENA_NEW(f->c->arena, TreePlace);
        place->local = tree->local;
        place->nsteps = chain.len;
        place->steps = ARENA_ARRAY(f->c->arena, struct TreeStep, chain.len);
        for (uint32_t i = 0; i < chain.len; i++) {
            const Tree *t = chain.at[chain.len - 1 - i];
            place->steps[i].is_part = t->kind == T_PART;
            place->steps[i].part = t->index;
            place->steps[i].nsubs = t->nsubs;
            place->steps[i].subs = t->subs;
        }
    }
    vec_free(&chain);
    return place;
}

static void check_overlaps(FnChecker *f, Tree *call, const Instance *inst, TreePlace **places) {
    uint32_t ncap = inst->ncaptures, n = inst->nparams;
    VEC(TreeOverlap) later = {0};
    for (uint32_t i = ncap; i < n; i++) {
        if (!inst->params[i]->mut || !places[i]) continue;
        for (uint32_t k = ncap; k < n; k++) {
            if (k == i || (k < i && inst->params[k]->mut)) continue;
            if (!inst->params[k]->mut && is_scalar(call->args[k]->type)) continue;
            TreePlace *other = inst->params[k]->mut ? places[k] : quiet_place(f, call->args[k]);
            if (!other || other->local != places[i]->local) continue;
            int overlap = places_overlap(f, places[i], other);
            if (overlap == 1) {
                diag_report(f->c->diags, DIAG_MUT_OVERLAP, call->args[k]->span,
                            "this argument shares memory with the `mut` argument `%s`",
                            inst->params[i]->name ? inst->params[i]->name->text : "…");
                diag_note(f->c->diags, call->args[i]->span, "which is passed here");
            } else if (overlap == 2) {
                places[k] = other;
                vec_push(&later, ((TreeOverlap){i, k, call->args[k]->span}));
            }
        }
    }
    call->noverlaps = later.len;
    call->overlaps = ARENA_ARRAY(f->c->arena, TreeOverlap, later.len);
    for (uint32_t i = 0; i < later.len; i++) call->overlaps[i] = later.at[i];
    vec_free(&later);
}

/* ---- the call of an instance ---- */

typedef struct Building {
    FnChecker *f;
    Instance *inst;
    Tree *call;
    Map bind;
    VEC(Tree *) hoisted; /* lets before the call */
    uint32_t n;          /* parameters that are no captures */
    const char *callee;
    bool ok;
} Building;

/* VALUE in a variable of its own, so that it can be named more than once. */
Tree *hoist(FnChecker *f, Tree *value, Size size, Tree **let) {
    if (value->kind == T_LOCAL || value->kind == T_INT || value->kind == T_FLOAT ||
        value->kind == T_SIZE || value->kind == T_BOOL)
        return value;
    Local *local = new_local(f, NULL, value->type, value->span);
    local->size = size;
    *let = make_args(f, T_LET, ty_unit(f), value->span, 1, &value);
    (*let)->pattern.local = local;
    return make_local(f, local, value->span);
}

Tree *with_lets(FnChecker *f, uint32_t n, Tree *const *lets, Tree *value) {
    if (!n) return value;
    Tree *block = make(f, T_BLOCK, value->type, value->span);
    block->nstmts = n;
    block->stmts = ARENA_ARRAY(f->c->arena, Tree *, n);
    for (uint32_t i = 0; i < n; i++) block->stmts[i] = lets[i];
    block->body = value;
    return block;
}

static void captured_args(Building *b, Tree *fn_value) {
    FnChecker *f = b->f;
    if (!b->inst->ncaptures) return;
    if (fn_value->kind != T_FN) {
        Tree *let = NULL;
        fn_value = hoist(f, fn_value, NULL, &let);
        if (let) vec_push(&b->hoisted, let);
    }
    for (uint32_t i = 0; i < b->inst->ncaptures; i++) {
        Tree *arg;
        if (fn_value->kind == T_FN) {
            arg = fn_value->args[i];
        } else {
            arg = make_args(f, T_PART, b->inst->params[i]->type, fn_value->span, 1, &fn_value);
            arg->index = i;
        }
        b->call->args[i] = arg;
    }
}

static bool is_var(Size var, void *data) {
    return var == data;
}

/* Does the size of parameter I matter to types of the call? */
static bool size_matters(const Instance *inst, uint32_t i) {
    Size size = inst->params[i]->size;
    if (!size || size->kind != SIZE_VAR) return false;
    if (type_mentions(inst->result, is_var, (void *)size)) return true;
    for (uint32_t k = inst->ncaptures; k < inst->nparams; k++)
        if (type_mentions(inst->params[k]->type, is_var, (void *)size)) return true;
    return false;
}

static void bind_integers(Building *b) {
    FnChecker *f = b->f;
    for (uint32_t i = b->inst->ncaptures; i < b->inst->nparams; i++) {
        Tree *arg = b->call->args[i];
        if (!size_matters(b->inst, i) || !is_scalar_of(arg->type, SCALAR_I64)) continue;
        Size size = size_of_tree(f, arg);
        if (!size) {
            size = size_var(f->c->types, b->inst->params[i]->name);
            Tree *let = NULL;
            b->call->args[i] = hoist(f, arg, size, &let);
            if (let) vec_push(&b->hoisted, let);
            else if (arg->kind == T_LOCAL) { /* a var: its value at this time */
                Local *local = new_local(f, NULL, arg->type, arg->span);
                local->size = size;
                let = make_args(f, T_LET, ty_unit(f), arg->span, 1, &arg);
                let->pattern.local = local;
                b->call->args[i] = make_local(f, local, arg->span);
                vec_push(&b->hoisted, let);
            }
        }
        map_set(&b->bind, b->inst->params[i]->size->id, (void *)size);
    }
}

static void check_args(Building *b, CallArg *args) {
    FnChecker *f = b->f;
    uint32_t ncap = b->inst->ncaptures;
    bool any_mut = false;
    TreePlace **places = ARENA_ARRAY(f->c->arena, TreePlace *, b->inst->nparams);
    for (uint32_t i = 0; i < b->n; i++) {
        Local *p = b->inst->params[ncap + i];
        Tree *value = args[i].value;
        if (p->mut) {
            any_mut = true;
            TreePlace *place = args[i].place;
            if (!place && args[i].node) place = check_place(f, args[i].node, "passed as mut");
            places[ncap + i] = place;
            value = place ? place_read(f, place) : tree_poison(f, b->call->span);
        } else if (!value) {
            value = check_arg(f, args[i].node, p->type);
        }
        if (is_poison(value->type)) b->ok = false;
        b->call->args[ncap + i] = value;
    }
    if (any_mut) {
        b->call->places = places;
        if (b->ok) check_overlaps(f, b->call, b->inst, places);
    }
}

static bool all_scalars(const Instance *inst) {
    for (uint32_t i = inst->ncaptures; i < inst->nparams; i++)
        if (!is_scalar(inst->params[i]->type) || inst->params[i]->mut) return false;
    if (is_scalar(inst->result)) return true;
    if (inst->result->kind != TYPE_TUPLE) return false;
    for (uint32_t i = 0; i < inst->result->nparts; i++)
        if (!is_scalar(inst->result->parts[i].type)) return false;
    return true;
}

/* The array arguments of a lifted call agree; their shape. */
bool lift_shape(FnChecker *f, Tree *node, uint32_t from, Type *shape, const char *callee) {
    const Tree *first = NULL;
    for (uint32_t i = from; i < node->nargs; i++) {
        Tree *arg = node->args[i];
        if (!is_array(arg->type)) continue;
        if (!first) {
            first = arg;
            continue;
        }
        if (first->type->rank != arg->type->rank) {
            diag_report(f->c->diags, DIAG_SHAPES, arg->span,
                        "the arguments of `%s` are arrays of different shapes: %s and %s", callee,
                        tt(f, first->type), tt(f, arg->type));
            return false;
        }
        if (!require_same_dims(f, first->type, arg->type, node, arg->span, "one argument",
                               "another", DIAG_SHAPES))
            return false;
    }
    *shape = first ? first->type : NULL;
    return true;
}

Type lift_type(FnChecker *f, Type result, Type shape) {
    TypeTable *t = f->c->types;
    if (!shape) return result;
    if (result->kind != TYPE_TUPLE) return type_array(t, result, shape->rank, shape->dims);
    TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, result->nparts);
    for (uint32_t i = 0; i < result->nparts; i++) {
        parts[i] = result->parts[i];
        parts[i].type = type_array(t, parts[i].type, shape->rank, shape->dims);
    }
    return type_tuple(t, result->nparts, parts);
}

static bool lift(Building *b) {
    FnChecker *f = b->f;
    bool arrays = false;
    for (uint32_t i = b->inst->ncaptures; i < b->inst->nparams; i++) {
        Type type = b->call->args[i]->type;
        if (!is_scalar_like(type) || !same_shape(elem_of(type), b->inst->params[i]->type))
            return false;
        arrays |= is_array(type);
    }
    if (!arrays) return false;
    Type shape;
    if (!lift_shape(f, b->call, b->inst->ncaptures, &shape, b->callee)) b->ok = false;
    b->call->lifted = true;
    b->call->type = b->ok ? lift_type(f, b->inst->result, shape) : ty_poison(f);
    return true;
}

/* How argument I is spoken of: by its own text where that is short. */
static Require arg_require(Building *b, uint32_t i, const CallArg *arg) {
    FnChecker *f = b->f;
    const Local *p = b->inst->params[b->inst->ncaptures + i];
    Require how = {.code = DIAG_ARGUMENT_TYPE, .size_code = DIAG_SIZE_ARGUMENT, .bind = &b->bind};
    how.what = p->name
                   ? arena_printf(f->c->arena, "argument `%s` of `%s`", p->name->text, b->callee)
                   : arena_printf(f->c->arena, "argument %u of `%s`", i + 1, b->callee);
    how.have = arg->node ? ast_text(f, arg->node) : p->name ? p->name->text : NULL;
    return how;
}

static void require_args(Building *b, const CallArg *args) {
    FnChecker *f = b->f;
    uint32_t ncap = b->inst->ncaptures;
    Require *hows = ARENA_ARRAY(f->c->arena, Require, b->n);
    Type *wants = ARENA_ARRAY(f->c->arena, Type, b->n);
    for (uint32_t i = 0; i < b->n; i++) {
        hows[i] = arg_require(b, i, &args[i]);
        wants[i] = b->inst->params[ncap + i]->type;
    }
    if (!require_all(f, b->n, b->call->args + ncap, wants, b->call, hows)) b->ok = false;
}

Tree *call_instance(FnChecker *f, Instance *inst, CallArg *args, Tree *fn_value, Type expected,
                    const char *callee, Span span) {
    (void)expected;
    if (!check_launched(f, kernel_behind(inst) != NULL, callee, span)) return tree_poison(f, span);
    Building b = {.f = f, .inst = inst, .callee = callee, .ok = true};
    b.n = inst->nparams - inst->ncaptures;
    b.call = make(f, T_CALL, ty_poison(f), span);
    b.call->instance = inst;
    b.call->nargs = inst->nparams;
    b.call->args = ARENA_ARRAY(f->c->arena, Tree *, inst->nparams);
    const InstanceInfo *info = info_of(f->c, inst);
    for (uint32_t i = 0; info && i < info->bindable.len; i++)
        map_set(&b.bind, info->bindable.keys[i], info->bindable.values[i]);
    captured_args(&b, fn_value);
    check_args(&b, args);
    if (b.ok && !(all_scalars(inst) && lift(&b))) {
        bind_integers(&b);
        require_args(&b, args);
        if (b.ok && inst->result->has_fns && !instance_need_body(f->c, inst, span)) b.ok = false;
        if (b.ok) b.call->type = call_result(f, inst, &b.bind);
    }
    Tree *result = b.ok ? with_lets(f, b.hoisted.len, b.hoisted.at, b.call) : tree_poison(f, span);
    map_free(&b.bind);
    vec_free(&b.hoisted);
    return result;
}
