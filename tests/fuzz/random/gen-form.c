/* The more unusual expressions: derivatives within, arrays of tuples and structs, sizes that are
   known at run time only, functions of scalars on arrays. */
#include "tests/fuzz/random/gen.h"

static Node *lambda(Gen *g, int depth) {
    const char *name = gen_name(g, 'p');
    Scope scope = gen_open(g);
    gen_push(g, name, g->f64, VAR_LET);
    Node *body = gen_damped(g, gen_f64(g, depth - 1));
    gen_close(g, scope);
    return EXPR(NULL, 1, &body, "|%s: f64| $", name);
}

/* Derivatives of functions and lambdas. */
static Node *derivative(Gen *g, int depth) {
    const Fn *scalars = gen_find_fn(g, FN_SCALARS), *vector = gen_find_fn(g, FN_VECTOR);
    Node *a = gen_f64(g, depth - 1), *b = gen_f64(g, depth - 1), *c;
    g->setting.derived = true;
    if (vector && g->has_n && gen_chance(g, 50)) {
        Node *u = gen_array(g, g->vector, depth - 1);
        switch (gen_random(g, 4)) {
        case 0: return EXPR(g->f64, 2, KIDS(u, a), "grad %s($, $).a", vector->name);
        case 2:
            return EXPR(g->f64, 2, KIDS(u, a), "sum(grad[batch(2)] %s($, $).u[1])", vector->name);
        case 1: return EXPR(g->f64, 2, KIDS(u, a), "sum(grad %s($, $).u)", vector->name);
        default: {
            const char *t = gen_name(g, 't'), *fw = gen_name(g, 'f'), *rv = gen_name(g, 'r');
            return EXPR(g->f64, 3, KIDS(u, a, b),
                        "({ let (%s, %s) = split %s; let %s = %s($, $); %s($, %s).a })", fw, rv,
                        vector->name, t, fw, rv, t);
        }
        }
    }
    if (scalars && gen_chance(g, 50))
        return EXPR(g->f64, 2, KIDS(a, b), "%sgrad %s($, $).%d",
                    gen_chance(g, 30) ? "deferred " : "", scalars->name, (int)gen_random(g, 2));
    c = lambda(g, depth - 1);
    switch (gen_random(g, 4)) {
    case 0: return EXPR(g->f64, 3, KIDS(c, a, b), "jvp ($)($, $)");
    case 1: return EXPR(g->f64, 3, KIDS(c, a, b), "jvp grad ($)($, $)");
    default: return EXPR(g->f64, 2, KIDS(c, a), "grad ($)($)");
    }
}

/* Of an array whose size is known at run time only. */
static Node *chosen(Gen *g, int depth) {
    static const char *const forms[] = {
        "sum([for %s in 0..%s where $: $])", "sum(sort([for %s in 0..%s where $: $]))",
        "sum(cumsum([for %s in 0..%s where $: $]))", "norm(reverse([for %s in 0..%s where $: $]))"};
    Dim dim = gen_some_dim(g);
    const char *name = gen_name(g, 'i'), *text = forms[gen_random(g, 4)], *out = "";
    Scope scope = gen_open(g);
    gen_push_index(g, name, dim);
    Node *c = gen_bool(g, depth - 1), *e = gen_f64(g, depth - 1);
    gen_close(g, scope);
    for (int n = 0; *text; text++) {
        bool here = text[0] == '%' && text[1] == 's';
        if (!here) out = arena_printf(g->arena, "%s%c", out, *text);
        else out = arena_printf(g->arena, "%s%s", out, n++ ? size_text_of(g->arena, dim) : name);
        text += here;
    }
    return EXPR(g->f64, 2, KIDS(c, e), "%s", out);
}

static Node *of_structs(Gen *g, int depth) {
    const char *i = gen_name(g, 'i'), *s = gen_name(g, 's');
    if (!g->has_n) return NULL;
    Scope scope = gen_open(g);
    gen_push_index(g, i, (Dim){0, 2});
    Node *record = gen_expr(g, g->record, depth - 1);
    g->nvars = scope.nvars;
    gen_push(g, s, g->record, VAR_LET);
    Node *body = gen_f64(g, depth - 1);
    gen_close(g, scope);
    return EXPR(g->f64, 2, KIDS(record, body), "sum(for %s in [for %s in 0..2: $]: $)", s, i);
}

static Node *folded(Gen *g, int depth) {
    static const char *const forms[] = {"reduce(|a, b| max(a, b), -1.0, $)",
                                        "reduce(|a, b| a * b, 1.0, sin($))",
                                        "reduce(|a, b| a + b - a * b, 0.0, sin($))"};
    const Type *type = gen_array_type(g, T_F64, 1, (Dim[]){gen_some_dim(g)});
    Node *a = gen_array(g, type, depth - 1);
    return EXPR(g->f64, 1, &a, "%s", forms[gen_random(g, 3)]);
}

/* Every second element; a row of pairs. */
static Node *strided(Gen *g, int depth) {
    const Type *type = gen_array_type(g, T_F64, 1, (Dim[]){gen_some_dim(g)});
    const Var *var = gen_find(g, type, false);
    if (var && gen_chance(g, 60))
        return EXPR(g->f64, 0, NULL, "sum(sin(%s[0..%s by 2]))", var->name,
                    size_text_of(g->arena, type->dims[0]));
    const char *a = gen_name(g, 'e'), *b = gen_name(g, 'e');
    Node *u = gen_array(g, type, depth - 1), *v = gen_array(g, type, depth - 1);
    Scope scope = gen_open(g);
    gen_push(g, a, g->f64, VAR_LET);
    gen_push(g, b, g->f64, VAR_LET);
    Node *body = gen_f64(g, depth - 1);
    gen_close(g, scope);
    return EXPR(g->f64, 3, KIDS(u, v, body), "sum(for (%s, %s) in zip($, $): $)", a, b);
}

Node *gen_form(Gen *g, int depth) {
    switch (gen_random(g, 6)) {
    case 0: return derivative(g, depth);
    case 1:
    case 2: return chosen(g, depth);
    case 3: return of_structs(g, depth);
    case 4: return folded(g, depth);
    default: return strided(g, depth);
    }
}

Node *gen_vector_form(Gen *g, const Type *type, int depth) {
    const Fn *scalars = gen_find_fn(g, FN_SCALARS), *recursive = gen_find_fn(g, FN_RECURSIVE);
    const char *size = size_text_of(g->arena, type->dims[0]);
    Node *a = gen_array(g, type, depth - 1), *b, *c;
    switch (gen_random(g, 8)) {
    case 0:
        if (!scalars) return NULL;
        b = gen_array(g, type, depth - 1);
        return EXPR(type, 2, KIDS(a, b), "%s($, $)", scalars->name);
    case 1:
        if (!recursive) return NULL;
        return EXPR(type, 1, &a, "%s(%d, $)", recursive->name, (int)gen_random(g, 3));
    case 2: {
        const Var *var = gen_find(g, type, false);
        if (!var) return NULL;
        return EXPR(type, 1, &a, "%s[argsort($)]", var->name);
    }
    case 3:
        b = gen_array(g, type, depth - 1);
        return EXPR(type, 2, KIDS(a, b),
                    "unzip(scan(|p, q| (p.0 * q.0, q.0 * p.1 + q.1), (1.0, 0.0), "
                    "zip(sin($), $))).1");
    case 4:
        b = gen_array(g, gen_array_type(g, T_F64, 2, (Dim[]){type->dims[0], {0, 1}}), depth - 1);
        return EXPR(type, 1, &b, "reshape($, %s)", size);
    case 5: {
        if (!gen_dim_filled(g, type->dims[0])) return NULL;
        Dim count = gen_some_dim(g);
        b = gen_array(g, gen_array_type(g, T_I64, 1, &count), depth - 1);
        c = gen_array(g, gen_array_type(g, T_F64, 1, &count), depth - 1);
        return EXPR(type, 3, KIDS(a, b, c), "accumulate(|a, b| max(a, b), $, ($) %% (%s), $)",
                    size);
    }
    case 6:
        c = lambda(g, depth - 1);
        g->setting.derived = true;
        return EXPR(type, 2, KIDS(c, a), "grad ($)($)");
    default: {
        const char *row = gen_name(g, 'e');
        b = gen_array(g, gen_array_type(g, T_F64, 2, (Dim[]){gen_some_dim(g), type->dims[0]}),
                      depth - 1);
        Scope scope = gen_open(g);
        gen_push(g, row, type, VAR_LET);
        c = gen_array(g, type, depth - 1);
        gen_close(g, scope);
        return EXPR(type, 2, KIDS(b, c), "sum(for %s in $: $)", row);
    }
    }
}
