#include "tests/fuzz/random/gen.h"

const char *gen_heads(Gen *g, const Type *type, int rank) {
    const char *text = "";
    for (int k = 0; k < rank; k++) {
        const char *name = gen_name(g, 'i');
        gen_push_index(g, name, type->dims[k]);
        text = arena_printf(g->arena, "%s%s %s in 0..%s", text, k ? "," : "", name,
                            size_text_of(g->arena, type->dims[k]));
    }
    return text;
}

static Node *comprehension(Gen *g, const Type *type, int depth) {
    int heads = 1 + (int)gen_random(g, (uint32_t)type->rank);
    Scope scope = gen_open(g);
    const char *head = gen_heads(g, type, heads);
    const Type *rest = heads == type->rank
                           ? gen_element(g, type)
                           : gen_array_type(g, type->kind, type->rank - heads, type->dims + heads);
    Node *body = gen_expr(g, rest, depth - 1);
    gen_close(g, scope);
    return EXPR(type, 1, &body, "[for%s: $]", head);
}

/* Always possible. */
static Node *plain(Gen *g, const Type *type) {
    const Var *var = gen_find(g, type, false);
    if (var) return EXPR(type, 0, NULL, "%s", var->name);
    return comprehension(g, type, 1);
}

static Node *elementwise(Gen *g, const Type *type, int depth) {
    static const char *const two[] = {"($ + $)", "($ - $)", "($) * ($)", "max($, $)",
                                      "($) / (1.0 + square($))", "hypot($, 1.0 + abs($))"};
    static const char *const one[] = {"sin($)", "tanh($)", "exp(-square($))", "-($)", "abs($)",
                                      "log1p(square($))", "sigmoid($)", "($) ** 2",
                                      "sqrt(1.0 + square($))", "relu($)"};
    Node *a = gen_array(g, type, depth - 1), *b;
    switch (gen_random(g, 3)) {
    case 0: return EXPR(type, 1, &a, "%s", one[gen_random(g, 10)]);
    case 1:
        b = gen_f64(g, depth - 1);
        return EXPR(type, 2, KIDS(b, a), gen_chance(g, 50) ? "($) * ($)" : "(($) + ($))");
    default:
        b = gen_array(g, type, depth - 1);
        return EXPR(type, 2, KIDS(a, b), "%s", two[gen_random(g, 6)]);
    }
}

static Node *product(Gen *g, const Type *type, int depth) {
    Dim inner = gen_some_dim(g);
    const Type *left, *right;
    if (type->rank == 2) {
        left = gen_array_type(g, T_F64, 2, (Dim[]){type->dims[0], inner});
        right = gen_array_type(g, T_F64, 2, (Dim[]){inner, type->dims[1]});
    } else if (gen_chance(g, 50)) {
        left = gen_array_type(g, T_F64, 2, (Dim[]){type->dims[0], inner});
        right = gen_array_type(g, T_F64, 1, &inner);
    } else {
        left = gen_array_type(g, T_F64, 1, &inner);
        right = gen_array_type(g, T_F64, 2, (Dim[]){inner, type->dims[0]});
    }
    Node *a = gen_array(g, left, depth - 1), *b = gen_array(g, right, depth - 1);
    return EXPR(type, 2, KIDS(a, b), "($) @ ($)");
}

static Node *turned(Gen *g, const Type *type, int depth) {
    if (!type->dims[0].symbol && type->dims[0].offset == 2 && gen_chance(g, 50)) {
        const Type *half = gen_array_type(g, T_F64, 1, type->dims + 1);
        Node *first = gen_array(g, half, depth - 1), *second = gen_array(g, half, depth - 1);
        return EXPR(type, 2, KIDS(first, second), "stack($, $)");
    }
    const Type *other = gen_array_type(g, T_F64, 2, (Dim[]){type->dims[1], type->dims[0]});
    Node *a = gen_array(g, other, depth - 1);
    return EXPR(type, 1, &a, "transpose($)");
}

/* A part of an array with a dimension more. */
static Node *row(Gen *g, const Type *type, int depth) {
    const Var *found = NULL;
    uint32_t seen = 0;
    bool column = false;
    for (int k = 0; k < g->nvars; k++) {
        const Type *t = g->vars[k].type;
        if (g->vars[k].kind == VAR_LAMBDA || t->kind != type->kind || t->rank != type->rank + 1)
            continue;
        bool rows = true, columns = type->rank == 1 && size_same(t->dims[0], type->dims[0]);
        for (int d = 0; d < type->rank; d++) rows &= size_same(t->dims[d + 1], type->dims[d]);
        if ((rows || columns) && gen_random(g, ++seen) == 0) {
            found = &g->vars[k];
            column = !rows || (columns && gen_chance(g, 50));
        }
    }
    if (!found) return NULL;
    Node *index = gen_index(g, found->type->dims[column ? 1 : 0], depth - 1);
    if (!index) return NULL;
    return EXPR(type, 1, &index, column ? "%s[.., $]" : "%s[$]", found->name);
}

/* A slice of a longer array, or a concatenation. */
static Node *slices(Gen *g, const Type *type, int depth) {
    Dim dim = type->dims[0];
    if (dim.symbol && dim.offset < 0) {
        const Type *whole = gen_array_type(g, type->kind, 1, (Dim[]){{dim.symbol, 0}});
        if (!gen_dim_filled(g, whole->dims[0])) return NULL;
        const Var *var = gen_find(g, whole, false);
        if (!var || dim.offset != -1) return NULL;
        if (gen_chance(g, 50)) return EXPR(type, 0, NULL, "%s[1..]", var->name);
        return EXPR(type, 0, NULL, "%s[..%s]", var->name, size_text_of(g->arena, dim));
    }
    if (!gen_dim_filled(g, dim)) return NULL;
    if (dim.symbol && dim.offset) return NULL;
    const Type *less = gen_array_type(g, T_F64, 1, (Dim[]){{dim.symbol, dim.offset - 1}});
    Node *a = gen_array(g, less, depth - 1), *b = gen_f64(g, depth - 1);
    return gen_chance(g, 50) ? EXPR(type, 2, KIDS(a, b), "concat($, [$])")
                             : EXPR(type, 2, KIDS(b, a), "concat([$], $)");
}

static Node *gather(Gen *g, const Type *type, int depth) {
    const Var *found = NULL;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++) {
        const Type *t = g->vars[k].type;
        if (g->vars[k].kind != VAR_LAMBDA && t->kind == T_F64 && t->rank == 1 &&
            gen_dim_filled(g, t->dims[0]) && gen_random(g, ++seen) == 0)
            found = &g->vars[k];
    }
    if (!found) return NULL;
    Node *a = gen_array(g, gen_array_type(g, T_I64, 1, type->dims), depth - 1);
    return EXPR(type, 1, &a, "%s[($) %% (%s)]", found->name,
                size_text_of(g->arena, found->type->dims[0]));
}

static Node *scatter(Gen *g, const Type *type, int depth) {
    if (!gen_dim_filled(g, type->dims[0])) return NULL;
    Dim count = gen_some_dim(g);
    Node *into = gen_array(g, type, depth - 1);
    Node *at = gen_array(g, gen_array_type(g, T_I64, 1, &count), depth - 1);
    Node *values = gen_array(g, gen_array_type(g, T_F64, 1, &count), depth - 1);
    return EXPR(type, 3, KIDS(into, at, values),
                "accumulate(|a, b| a + b, $, ($) %% (%s), $)",
                size_text_of(g->arena, type->dims[0]));
}

static Node *vector_function(Gen *g, const Type *type, int depth) {
    static const char *const forms[] = {"cumsum($)", "reverse($)", "sort($)", "cumprod(sin($))",
                                        "scan(|a, b| a + b, 0.0, $)", "softmax($)",
                                        "scan(|a, b| max(a, b), -inf, $)",
                                        "scan(|a, b| a + b, 0.0, $, exclusive: true)",
                                        "wave($, 0.7)", "reverse(sort($))"};
    Node *a = gen_array(g, type, depth - 1);
    return EXPR(type, 1, &a, "%s", forms[gen_random(g, 10)]);
}

static Node *literal(Gen *g, const Type *type, int depth) {
    Node *kids[8];
    int count = type->dims[0].offset;
    const char *text = "";
    if (type->dims[0].symbol || count < 1 || count > 4) return NULL;
    const Type *rest = type->rank == 1 ? gen_element(g, type)
                                       : gen_array_type(g, type->kind, type->rank - 1,
                                                        type->dims + 1);
    for (int k = 0; k < count; k++) {
        kids[k] = gen_expr(g, rest, depth - 1);
        text = arena_printf(g->arena, "%s%s$", text, k ? ", " : "");
    }
    return EXPR(type, (uint32_t)count, kids, "[%s]", text);
}

static Node *chosen(Gen *g, const Type *type, int depth) {
    const Type *mask = gen_array_type(g, T_BOOL, type->rank, type->dims);
    Node *c = gen_array(g, mask, depth - 1);
    Node *a = gen_array(g, type, depth - 1), *b = gen_array(g, type, depth - 1);
    return EXPR(type, 3, KIDS(c, a, b), "select($, $, $)");
}

static Node *of_vectors(Gen *g, const Type *type, int depth) {
    switch (gen_random(g, 6)) {
    case 4:
    case 5: return gen_vector_form(g, type, depth);
    case 0: return vector_function(g, type, depth);
    case 1: return slices(g, type, depth);
    case 2: return gather(g, type, depth);
    default: return scatter(g, type, depth);
    }
}

static Node *of_floats(Gen *g, const Type *type, int depth) {
    Node *a, *b, *c;
    switch (gen_random(g, 14)) {
    case 0:
    case 1:
    case 2: return elementwise(g, type, depth);
    case 3:
    case 4:
    case 5: return comprehension(g, type, depth);
    case 6: return row(g, type, depth);
    case 7: return type->rank <= 2 ? product(g, type, depth) : NULL;
    case 8:
    case 9:
        if (type->rank == 1) return of_vectors(g, type, depth);
        return type->rank == 2 ? turned(g, type, depth) : NULL;
    case 10: return literal(g, type, depth);
    case 11: return gen_call(g, type, depth);
    case 12: return chosen(g, type, depth);
    default: break;
    }
    c = gen_bool(g, depth - 1);
    a = gen_array(g, type, depth - 1);
    b = gen_array(g, type, depth - 1);
    return EXPR(type, 3, KIDS(c, a, b), "(if $ { $ } else { $ })");
}

static Node *compared(Gen *g, const Type *type, int depth) {
    const Type *floats = gen_array_type(g, T_F64, type->rank, type->dims);
    Node *a = gen_array(g, floats, depth - 1), *b = gen_array(g, floats, depth - 1);
    return EXPR(type, 2, KIDS(a, b), gen_chance(g, 50) ? "($ < $)" : "($ >= $)");
}

Node *gen_array(Gen *g, const Type *type, int depth) {
    Node *node = NULL;
    if (depth <= 0 || g->budget <= 0) return plain(g, type);
    if (type->kind == T_F64) node = of_floats(g, type, depth);
    else if (type->kind == T_BOOL && gen_chance(g, 50)) node = compared(g, type, depth);
    else if (gen_chance(g, 50)) node = comprehension(g, type, depth);
    return node ? node : plain(g, type);
}
