/* Places: what can be assigned and passed as `mut`. */
#include "types/internal.h"

#include <string.h>

static bool may_write(FnChecker *f, const Binding *b, AstNode *node, const char *purpose) {
    const Local *local = b->local;
    const char *name = b->name->text;
    if (is_poison(local->type)) return false;
    if (b->captured) {
        diag_report(f->c->diags, DIAG_LAMBDA_ASSIGN, node->span,
                    "`%s` belongs to the outside of this lambda and cannot be %s in it", name,
                    purpose);
        diag_help(f->c->diags, (Span){0}, "let the lambda return the new value, or use a loop");
        return false;
    }
    if (!local->var && !local->mut) {
        diag_report(f->c->diags, DIAG_NOT_ASSIGNABLE, node->span,
                    "`%s` is not a variable and cannot be %s", name, purpose);
        if (local->span.begin) diag_note(f->c->diags, local->span, "it is declared here");
        if (local->id < local->owner->nparams && local->owner == f->inst)
            diag_help(f->c->diags, (Span){0},
                      "take a copy, `var %s = %s;`, or declare the parameter `mut`", name, name);
        else diag_help(f->c->diags, (Span){0}, "write `var %s = …`", name);
        return false;
    }
    if (b->parallel < f->parallel) {
        diag_report(f->c->diags, DIAG_PARALLEL_ASSIGN, node->span,
                    "`%s` belongs to the outside of %s and cannot be %s in it", name,
                    f->parallel_what ? f->parallel_what : "a parallel body", purpose);
        diag_help(f->c->diags, (Span){0},
                  "its iterations run in any order: use a `for` loop, or "
                  "`accumulate`");
        return false;
    }
    return true;
}

static void add_step(FnChecker *f, TreePlace *place, struct TreeStep step) {
    struct TreeStep *steps = ARENA_ARRAY(f->c->arena, struct TreeStep, place->nsteps + 1);
    for (uint32_t i = 0; i < place->nsteps; i++) steps[i] = place->steps[i];
    steps[place->nsteps++] = step;
    place->steps = steps;
}

static Type part_type(FnChecker *f, Type type, uint32_t part) {
    Type p = elem_of(type)->parts[part].type;
    return is_array(type) ? type_array(f->c->types, p, type->rank, type->dims) : p;
}

static bool part_step(FnChecker *f, TreePlace *place, int64_t part, AstNode *node) {
    Type elem = elem_of(place->type);
    bool parts = elem->kind == TYPE_TUPLE || elem->kind == TYPE_STRUCT;
    if (is_poison(elem)) return false;
    if (!parts || part < 0 || part >= elem->nparts) {
        diag_report(f->c->diags, DIAG_NO_FIELD, node->span, "a value of type %s has no such part",
                    tt(f, place->type));
        return false;
    }
    add_step(f, place, (struct TreeStep){.is_part = true, .part = (uint32_t)part});
    place->type = part_type(f, place->type, (uint32_t)part);
    return true;
}

static Type read_dims(FnChecker *f, Type type) {
    if (!is_array(type)) return type;
    Size *dims = ARENA_ARRAY(f->c->arena, Size, type->rank);
    for (uint32_t i = 0; i < type->rank; i++)
        dims[i] = type->dims[i]->kind == SIZE_ANY ? size_var(f->c->types, NULL) : type->dims[i];
    return type_array(f->c->types, type->elem, type->rank, dims);
}

static bool extend(FnChecker *f, TreePlace *place, AstNode *node, const char *purpose) {
    switch ((AstKind)node->kind) {
    case AST_Name: {
        Binding *b = scope_find(f, ((AstName *)node)->name.sym);
        if (!b) {
            Tree *value = check_name(f, (AstName *)node, NULL);
            if (!is_poison(value->type))
                diag_report(f->c->diags, DIAG_NOT_ASSIGNABLE, node->span,
                            "`%s` is not a variable and cannot be %s",
                            ((AstName *)node)->name.sym->text, purpose);
            return false;
        }
        place->local = b->local;
        place->type = b->local->type;
        return may_write(f, b, node, purpose);
    }
    case AST_Field: {
        AstField *field = (AstField *)node;
        if (!extend(f, place, field->base, purpose)) return false;
        return part_step(f, place, find_part(place->type, field->name.sym), node);
    }
    case AST_Part:
        return extend(f, place, ((AstPart *)node)->base, purpose) &&
               part_step(f, place, ((AstPart *)node)->index, node);
    case AST_Index: {
        AstIndex *index = (AstIndex *)node;
        if (!extend(f, place, index->base, purpose)) return false;
        struct TreeStep step = {.nsubs = index->subs.len};
        Type base = read_dims(f, place->type);
        bool ok = check_subs(f, base, &index->subs, &step.subs, &place->type, node->span,
                             index->base, true);
        add_step(f, place, step);
        return ok;
    }
    default: break;
    }
    if (strcmp(purpose, "assigned")) /* those are reported by the parser */
        diag_report(f->c->diags, DIAG_NOT_A_PLACE, node->span,
                    "this cannot be %s: it is no variable, nor an element, slice or field of one",
                    purpose);
    return false;
}

TreePlace *check_place(FnChecker *f, AstNode *node, const char *purpose) {
    TreePlace *place = ARENA_NEW(f->c->arena, TreePlace);
    place->span = node->span;
    if (!extend(f, place, node, purpose)) return NULL;
    return place;
}

Tree *place_read(FnChecker *f, const TreePlace *place) {
    Tree *tree = make_local(f, place->local, place->span);
    tree->type = read_dims(f, tree->type);
    for (uint32_t i = 0; i < place->nsteps; i++) {
        const struct TreeStep *step = &place->steps[i];
        if (step->is_part) {
            tree = make_part(f, tree, step->part, place->span);
            continue;
        }
        VEC(Size) dims = {0};
        Type base = tree->type;
        for (uint32_t k = 0; k < base->rank; k++) {
            const TreeSub *sub = k < step->nsubs ? &step->subs[k] : NULL;
            if (!sub) vec_push(&dims, base->dims[k]);
            else if (sub->kind == SUB_GATHER) vec_push(&dims, sub->lo->type->dims[0]);
            else if (sub->kind == SUB_RANGE) {
                Size hi = sub->hi ? size_of_tree(f, sub->hi) : base->dims[k];
                Size lo = sub->lo ? size_of_tree(f, sub->lo) : size_const(f->c->types, 0);
                Size n = lo && hi && !sub->step ? size_minus(f->c->types, hi, lo) : NULL;
                vec_push(&dims, n ? n : size_var(f->c->types, NULL));
            }
        }
        Tree *index =
            make_args(f, T_INDEX, type_add_dims(f->c->types, base->elem, dims.len, dims.at),
                      place->span, 1, &tree);
        index->nsubs = step->nsubs;
        index->subs = step->subs;
        vec_free(&dims);
        tree = index;
    }
    if (place->nsteps) tree->type = place->type;
    return tree;
}

/* 0: apart, 1: the same or overlapping, 2: known at run time. */
static int subs_overlap(FnChecker *f, const TreeSub *a, const TreeSub *b) {
    TypeTable *t = f->c->types;
    if (a->kind == SUB_GATHER || b->kind == SUB_GATHER) return 2;
    Size alo = a->lo ? size_of_tree(f, a->lo) : size_const(t, 0);
    Size blo = b->lo ? size_of_tree(f, b->lo) : size_const(t, 0);
    Size ahi = a->kind == SUB_INDEX ? (alo ? size_plus(t, alo, size_const(t, 1)) : NULL)
               : a->hi              ? size_of_tree(f, a->hi)
                                    : NULL;
    Size bhi = b->kind == SUB_INDEX ? (blo ? size_plus(t, blo, size_const(t, 1)) : NULL)
               : b->hi              ? size_of_tree(f, b->hi)
                                    : NULL;
    bool a_whole = a->kind == SUB_RANGE && !a->lo && !a->hi;
    bool b_whole = b->kind == SUB_RANGE && !b->lo && !b->hi;
    if (a_whole || b_whole) return 1;
    if (alo && blo && alo == blo && a->kind == b->kind) return 1;
    if (ahi && blo) {
        Size d = size_minus(t, ahi, blo);
        if (d->kind == SIZE_CONST && d->value <= 0) return 0;
    }
    if (bhi && alo) {
        Size d = size_minus(t, bhi, alo);
        if (d->kind == SIZE_CONST && d->value <= 0) return 0;
    }
    if (ahi && blo && bhi && alo) {
        Size d = size_minus(t, ahi, blo), e = size_minus(t, bhi, alo);
        if (d->kind == SIZE_CONST && e->kind == SIZE_CONST) return 1;
    }
    return 2;
}

int places_overlap(FnChecker *f, const TreePlace *a, const TreePlace *b) {
    int worst = 1;
    for (uint32_t i = 0; i < a->nsteps && i < b->nsteps; i++) {
        const struct TreeStep *x = &a->steps[i], *y = &b->steps[i];
        if (x->is_part != y->is_part) return 1;
        if (x->is_part) {
            if (x->part != y->part) return 0;
            continue;
        }
        for (uint32_t k = 0; k < x->nsubs && k < y->nsubs; k++) {
            int o = subs_overlap(f, &x->subs[k], &y->subs[k]);
            if (o == 0) return 0;
            if (o == 2) worst = 2;
        }
    }
    return worst;
}

Tree *require_place(FnChecker *f, const TreePlace *place, Tree *value, Tree *node) {
    if (is_poison(value->type) || is_poison(place->type)) return value;
    const char *text = arena_printf(f->c->arena, "the value of `%s`",
                                    place->local->name ? place->local->name->text : "…");
    Type want = place->type;
    bool fill = is_array(want) && is_scalar(value->type) && is_scalar(want->elem);
    Require how = {.code = DIAG_ASSIGN_TYPE, .size_code = DIAG_SIZE_ASSIGN, .what = text};
    return require(f, value, fill ? want->elem : want, node, &how);
}
