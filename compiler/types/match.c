/* What a place wants against what a value is: equal types up to sizes, and sizes that are equal,
   provably different, or compared at run time. */
#include "types/internal.h"

#include <string.h>

bool same_shape(Type a, Type b) {
    if (a == b || is_poison(a) || is_poison(b)) return true;
    if (a->kind != b->kind || a->rank != b->rank || a->nparts != b->nparts || a->decl != b->decl)
        return false;
    switch (a->kind) {
    case TYPE_SCALAR: return a->scalar == b->scalar;
    case TYPE_ARRAY: return same_shape(a->elem, b->elem);
    case TYPE_STRUCT: return true;
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < a->nparts; i++)
            if (!same_shape(a->parts[i].type, b->parts[i].type)) return false;
        return true;
    case TYPE_TAPE: return !a->tape_of || !b->tape_of || a->tape_of == b->tape_of;
    case TYPE_FN: return true;
    case TYPE_FNVAL: return a->fn == b->fn;
    case TYPE_POISON:
    case TYPE_UNIT:
    case TYPE_STR: return true;
    }
    return false;
}

/* "the first row" in contrast to "x" and "f(x)". */
static bool is_phrase(const char *name) {
    static const char *const starts[] = {"the ", "this ", "one ", "another", "a row"};
    for (uint32_t i = 0; i < 5; i++)
        if (!strncmp(name, starts[i], strlen(starts[i]))) return true;
    return false;
}

const char *dim_text(FnChecker *f, const char *name, uint32_t rank, uint32_t k) {
    if (!name) {
        if (rank == 1) return "its length";
        if (rank == 2) return k ? "the number of its columns" : "the number of its rows";
        return arena_printf(f->c->arena, "its dimension %u", k + 1);
    }
    if (rank == 1 && is_phrase(name)) return arena_printf(f->c->arena, "the length of %s", name);
    if (rank == 1) return arena_printf(f->c->arena, "len(%s)", name);
    if (rank == 2) return arena_printf(f->c->arena, "%s of %s", k ? "columns" : "rows", name);
    return arena_printf(f->c->arena, "dimension %u of %s", k + 1, name);
}

/* ---- one walk over both types ---- */

typedef struct Matcher {
    FnChecker *f;
    Tree *node;
    Span span;
    const Require *how;
    bool later; /* second pass: expressions over bound variables */
    bool failed;
} Matcher;

static const char *size_name(FnChecker *f, Size s) {
    return s->kind == SIZE_CONST ? arena_printf(f->c->arena, "%lld", (long long)s->value)
                                 : size_text(f->c->types, s);
}

static void size_differs(Matcher *m, Size want, Size have, const char *have_text) {
    m->failed = true;
    diag_report(m->f->c->diags, m->how->size_code, m->span,
                "%s has the wrong size: %s is %s, not %s", m->how->what, have_text,
                size_name(m->f, have), size_name(m->f, want));
}

static void match_size(Matcher *m, Size want, Size have, uint32_t rank, uint32_t k) {
    if (want->kind == SIZE_ANY || have->kind == SIZE_ANY || m->failed) return;
    TypeTable *t = m->f->c->types;
    Map *bind = m->how->bind;
    Size bound = bind && want->kind == SIZE_VAR ? map_get(bind, want->id) : NULL;
    if (bound && bound == want) { /* open: takes the size of the value */
        if (!m->later) map_set(bind, want->id, (void *)have);
        return;
    }
    bool plain = want->kind == SIZE_VAR || want->kind == SIZE_CONST;
    if (plain == m->later) return;
    Size written = want;
    if (bind) want = size_subst(t, want, bind);
    SizeRel rel = size_compare(want, have);
    if (rel == SIZE_EQUAL) return;
    const char *have_text = dim_text(m->f, m->how->have, rank, k);
    if (rel == SIZE_DIFFERENT) {
        size_differs(m, want, have, have_text);
        return;
    }
    if (!m->node) return;
    const char *want_text = size_text(t, written);
    bool known = written->kind == SIZE_CONST;
    TreeCheck check = {.a = want, .b = have, .span = m->span, .b_text = have_text};
    check.a_text = known ? "the size wanted" : want_text;
    check.message =
        known ? arena_printf(m->f->c->arena, "%s: %s is {1}, not {0}", m->how->what, have_text)
              : arena_printf(m->f->c->arena, "%s: %s is {1}, but %s is {0}", m->how->what,
                             have_text, want_text);
    add_check(m->f, m->node, check);
}

static void match_sizes(Matcher *m, Type want, Type have) {
    if (is_poison(want) || is_poison(have)) return;
    if (want->kind == TYPE_ARRAY) {
        for (uint32_t i = 0; i < want->rank; i++)
            match_size(m, want->dims[i], have->dims[i], want->rank, i);
        match_sizes(m, want->elem, have->elem);
    } else if (want->kind == TYPE_STRUCT) {
        for (uint32_t i = 0; i < want->nsizes; i++)
            match_size(m, want->dims[i], have->dims[i], 3, i);
    } else if (want->kind == TYPE_TUPLE) {
        for (uint32_t i = 0; i < want->nparts; i++)
            match_sizes(m, want->parts[i].type, have->parts[i].type);
    }
}

/* ---- messages ---- */

/* A scalar type where another one stands: says which conversion to write. */
static void conversion_help(FnChecker *f, Type have, Type want, Span span) {
    if (!is_scalar_like(have) || !is_scalar_like(want)) return;
    if (is_array(have) != is_array(want)) return;
    Type to = elem_of(want), from = elem_of(have);
    if (to == from || is_bool(to)) return;
    AstNode node = {.span = span};
    diag_help(f->c->diags, (Span){0}, "numbers do not convert by themselves: write `%s(%s)`",
              tt(f, to), ast_text(f, &node));
}

static void report_type(FnChecker *f, Type have, Type want, Span span, const Require *how) {
    if (have->kind == TYPE_TAPE && want->kind == TYPE_TAPE && have->tape_of && want->tape_of) {
        const char *whose = have->tape_of->deriv->base_instance->name;
        const char *wanted = want->tape_of->deriv->base_instance->name;
        bool same = !strcmp(whose, wanted);
        diag_report(f->c->diags, DIAG_DERIV_TAPE, span,
                    same ? "this is a tape of another `split` of `%s`"
                         : "this is a tape of `%s`, not of `%s`",
                    whose, wanted);
        diag_help(f->c->diags, (Span){0},
                  same ? "pass the tape of the forward pass that belongs to "
                         "this reverse pass: the activities and options of "
                         "both are the same"
                       : "pass the tape of the forward pass that belongs to "
                         "this reverse pass");
        return;
    }
    diag_report(f->c->diags, how->code, span, "%s is of type %s, not %s", how->what, tt(f, have),
                tt(f, want));
    conversion_help(f, have, want, span);
}

bool require_all(FnChecker *f, uint32_t n, Tree *const *values, const Type *wants, Tree *node,
                 const Require *how) {
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        if (is_poison(values[i]->type) || is_poison(wants[i])) {
            ok = false;
        } else if (!same_shape(wants[i], values[i]->type)) {
            report_type(f, values[i]->type, wants[i], values[i]->span, &how[i]);
            ok = false;
        }
    }
    for (uint32_t pass = 0; ok && pass < 2; pass++)
        for (uint32_t i = 0; i < n; i++) {
            Matcher m = {
                .f = f, .node = node, .span = values[i]->span, .how = &how[i], .later = pass == 1};
            match_sizes(&m, wants[i], values[i]->type);
            if (m.failed) ok = false;
        }
    return ok;
}

bool require_type(FnChecker *f, Type have, Type want, Span span, Tree *node, const Require *how) {
    if (is_poison(have) || is_poison(want)) return true;
    if (!same_shape(want, have)) {
        report_type(f, have, want, span, how);
        return false;
    }
    Matcher m = {.f = f, .node = node, .span = span, .how = how};
    match_sizes(&m, want, have);
    m.later = true;
    match_sizes(&m, want, have);
    return !m.failed;
}

/* Is the literal f64 array `zeros(n)` or the like, where an f32 is wanted? */
bool made_array(FnChecker *f, const Tree *value) {
    if (value->kind == T_LOCAL) return map_hasp(&f->c->made_arrays, value->local);
    if (value->kind == T_BLOCK && value->body) return made_array(f, value->body);
    return value->kind == T_BUILTIN &&
           (value->builtin == BUILTIN_ZEROS || value->builtin == BUILTIN_ONES);
}

/* Sizes of WANT that are `_` are those of HAVE. */
static Type fill_any(FnChecker *f, Type want, Type have) {
    TypeTable *t = f->c->types;
    if (want == have || is_poison(have) || is_poison(want)) return want;
    if (want->kind == TYPE_ARRAY) {
        Size *dims = ARENA_ARRAY(f->c->arena, Size, want->rank);
        for (uint32_t i = 0; i < want->rank; i++)
            dims[i] = want->dims[i]->kind == SIZE_ANY ? have->dims[i] : want->dims[i];
        return type_array(t, fill_any(f, want->elem, have->elem), want->rank, dims);
    }
    if (want->kind == TYPE_TUPLE) {
        TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, want->nparts);
        for (uint32_t i = 0; i < want->nparts; i++) {
            parts[i] = want->parts[i];
            parts[i].type = fill_any(f, want->parts[i].type, have->parts[i].type);
        }
        return type_tuple(t, want->nparts, parts);
    }
    if (want->kind == TYPE_STRUCT) {
        Map map = {0};
        Type whole = struct_type(f->c, want->decl);
        for (uint32_t i = 0; i < want->nsizes; i++) {
            Size s = want->dims[i]->kind == SIZE_ANY ? have->dims[i] : want->dims[i];
            map_set(&map, whole->dims[i]->id, (void *)s);
        }
        Type filled = type_subst(t, whole, &map);
        map_free(&map);
        return filled;
    }
    if (want->kind == TYPE_TAPE) return have;
    return want;
}

Type required_type(FnChecker *f, Type want, Type have, const Map *bind) {
    return fill_any(f, bind ? type_subst(f->c->types, want, bind) : want, have);
}

/* The expression that gives a block its value. */
static Span tail_span(const Tree *value) {
    while (value->kind == T_BLOCK && value->body) value = value->body;
    return value->span;
}

Tree *require(FnChecker *f, Tree *value, Type want, Tree *node, const Require *how) {
    Type have = value->type;
    if (is_poison(have)) return value;
    if (is_poison(want)) return value;
    if (have->kind == TYPE_UNIT && want->kind != TYPE_UNIT) {
        diag_report(f->c->diags, DIAG_NO_VALUE, value->span,
                    "%s is nothing, not a value of type %s", how->what, tt(f, want));
        return tree_poison(f, value->span);
    }
    if (!same_shape(want, have) && made_array(f, value) && is_array(want) &&
        is_floating(want->elem)) {
        while (value->kind == T_BLOCK) value = value->body;
        diag_report(f->c->diags, DIAG_ELEMENT_TYPE, value->span, "%s is of type %s, not %s",
                    how->what, tt(f, have), tt(f, want));
        const char *name = value->kind == T_LOCAL ? value->local->name->text : "w";
        diag_help(f->c->diags, (Span){0}, "declare the type: `let %s: %s = …;`", name, tt(f, want));
        return tree_poison(f, value->span);
    }
    Tree *block = node ? node : make(f, T_BLOCK, have, value->span);
    if (!require_type(f, have, want, tail_span(value), block, how))
        return tree_poison(f, value->span);
    Type type = required_type(f, want, have, how->bind);
    if (value->kind == T_TUPLE && (node || !block->nchecks)) value->type = type;
    if (node || (!block->nchecks && type == value->type)) return value;
    block->body = value;
    block->type = type;
    return block;
}

bool require_same_dims(FnChecker *f, Type a, Type b, Tree *node, Span span, const char *a_text,
                       const char *b_text, DiagCode code) {
    for (uint32_t i = 0; i < a->rank; i++) {
        SizeRel rel = size_compare(a->dims[i], b->dims[i]);
        if (rel == SIZE_EQUAL) continue;
        const char *at = dim_text(f, a_text, a->rank, i), *bt = dim_text(f, b_text, b->rank, i);
        if (rel == SIZE_DIFFERENT) {
            diag_report(f->c->diags, code, span, "the sizes differ: %s is %s, %s is %s", at,
                        size_name(f, a->dims[i]), bt, size_name(f, b->dims[i]));
            return false;
        }
        TreeCheck check = {
            .a = a->dims[i], .b = b->dims[i], .a_text = at, .b_text = bt, .span = span};
        check.message = arena_printf(f->c->arena, "the sizes differ: %s is {0}, %s is {1}", at, bt);
        add_check(f, node, check);
    }
    return true;
}
