#include "tests/fuzz/random/gen.h"

/* ---- places and indices ---- */

/* At least BOUND is at most DIM. */
static bool within(Dim bound, Dim dim) {
    return bound.symbol == dim.symbol && bound.offset <= dim.offset;
}

Node *gen_index(Gen *g, Dim dim, int depth) {
    const Var *found = NULL;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++)
        if (g->vars[k].kind == VAR_INDEX && within(g->vars[k].bound, dim) &&
            gen_random(g, ++seen) == 0)
            found = &g->vars[k];
    if (found && !gen_chance(g, 15)) return EXPR(g->i64, 0, NULL, "%s", found->name);
    if (!gen_dim_filled(g, dim)) return found ? EXPR(g->i64, 0, NULL, "%s", found->name) : NULL;
    if (gen_chance(g, 40)) {
        int top = dim.symbol ? dim.offset + 1 : dim.offset;
        return EXPR(g->i64, 0, NULL, "%u", gen_random(g, (uint32_t)top));
    }
    return EXPR(g->i64, 1, KIDS(gen_i64(g, depth - 1)), "($) %% (%s)", size_text_of(g->arena, dim));
}

static bool usable(const Var *var, TypeKind kind, bool assignable) {
    if (var->kind == VAR_LAMBDA || var->type->kind != kind || var->type->rank < 1) return false;
    return !assignable || var->kind == VAR_VAR;
}

Node *gen_element_of(Gen *g, TypeKind kind, bool assignable, int depth) {
    const Var *found = NULL;
    uint32_t seen = 0;
    for (int k = assignable ? g->barrier : 0; k < g->nvars; k++)
        if (usable(&g->vars[k], kind, assignable) && gen_random(g, ++seen) == 0)
            found = &g->vars[k];
    if (!found) return NULL;
    Node *kids[MAX_RANK];
    const Type *type = found->type;
    const char *text = found->name;
    for (int k = 0; k < type->rank; k++) {
        kids[k] = gen_index(g, type->dims[k], depth);
        if (!kids[k]) return NULL;
        text = arena_printf(g->arena, "%s%s$", text, k ? ", " : "[");
    }
    return EXPR(gen_element(g, type), (uint32_t)type->rank, kids, "%s]", text);
}

/* ---- calls ---- */

static Node *lambda(Gen *g, int depth) {
    const char *name = gen_name(g, 'p');
    Scope scope = gen_open(g);
    gen_push(g, name, g->f64, VAR_LET);
    Node *body = gen_damped(g, gen_f64(g, depth - 1));
    gen_close(g, scope);
    return EXPR(NULL, 1, &body, "|%s: f64| $", name);
}

static const Type *fn_result(const Gen *g, FnKind kind) {
    switch (kind) {
    case FN_MAP:
    case FN_MATRIX:
    case FN_APPLY: return g->vector;
    case FN_PAIR: return g->pair;
    case FN_STRUCT: return g->record;
    case FN_SCALARS:
    case FN_VECTOR:
    case FN_HALVES:
    case FN_RECURSIVE: return g->f64;
    case FN_MUT:
    case FN_MUT_SCALAR:
    case FN_KINDS: break;
    }
    return NULL;
}

static Node *call_of(Gen *g, const Fn *fn, int depth) {
    const Type *result = fn_result(g, fn->kind);
    Node *a, *b;
    switch (fn->kind) {
    case FN_SCALARS:
        a = gen_f64(g, depth - 1);
        b = gen_f64(g, depth - 1);
        return EXPR(result, 2, KIDS(a, b), "%s($, $)", fn->name);
    case FN_VECTOR:
    case FN_MAP:
    case FN_HALVES:
    case FN_PAIR:
        a = gen_array(g, g->vector, depth - 1);
        b = gen_f64(g, depth - 1);
        return EXPR(result, 2, KIDS(a, b), "%s($, $)", fn->name);
    case FN_RECURSIVE:
        a = gen_chance(g, 50) ? EXPR(g->i64, 0, NULL, "%u", gen_random(g, 4))
                              : EXPR(g->i64, 1, KIDS(gen_i64(g, 1)), "($) %% 4");
        b = gen_f64(g, depth - 1);
        return EXPR(result, 2, KIDS(a, b), "%s($, $)", fn->name);
    case FN_MATRIX:
        a = gen_array(g, g->matrix, depth - 1);
        b = gen_array(g, gen_array_type(g, T_F64, 1, (Dim[]){{'m', 0}}), depth - 1);
        return EXPR(result, 2, KIDS(a, b), "%s($, $)", fn->name);
    case FN_STRUCT:
        a = gen_expr(g, g->record, depth - 1);
        b = gen_f64(g, depth - 1);
        return EXPR(result, 2, KIDS(a, b), "%s($, $)", fn->name);
    case FN_APPLY:
        a = lambda(g, depth - 1);
        b = gen_array(g, g->vector, depth - 1);
        return EXPR(result, 2, KIDS(a, b), "%s($, $)", fn->name);
    case FN_MUT:
    case FN_MUT_SCALAR:
    case FN_KINDS: break;
    }
    return NULL;
}

Node *gen_call(Gen *g, const Type *type, int depth) {
    if (!g->nfns) return NULL;
    const Fn *fn = &g->fns[gen_random(g, (uint32_t)g->nfns)];
    const Type *result = fn_result(g, fn->kind);
    if (!result || !kind_same(result, type)) return NULL;
    if (result != g->f64 && !g->has_n) return NULL;
    if (((fn->kind == FN_VECTOR || fn->kind == FN_HALVES) && !g->has_n) || (fn->kind == FN_MATRIX && !g->has_m)) return NULL;
    return call_of(g, fn, depth);
}

static Node *lambda_call(Gen *g, int depth) {
    const Var *found = NULL;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++)
        if (g->vars[k].kind == VAR_LAMBDA && gen_random(g, ++seen) == 0) found = &g->vars[k];
    if (!found) return NULL;
    return EXPR(g->f64, 1, KIDS(gen_f64(g, depth - 1)), "%s($)", found->name);
}

/* ---- scalars ---- */

static Node *literal(Gen *g) {
    static const char *const texts[] = {"0.5", "1.0", "2.0", "0.25", "1.5", "0.3", "-0.7", "3.0"};
    return EXPR(g->f64, 0, NULL, "%s", texts[gen_random(g, 8)]);
}

/* A part of a tuple or a field. */
static Node *part(Gen *g, const Type *type) {
    const Type *whole = gen_chance(g, 50) ? g->pair : g->record;
    const Var *var = gen_find(g, whole, false);
    if (!var) return NULL;
    for (int k = 0; k < whole->nparts; k++) {
        if (!kind_same(whole->parts[k], type)) continue;
        if (whole->kind == T_TUPLE) return EXPR(type, 0, NULL, "%s.%d", var->name, k);
        return EXPR(type, 0, NULL, "%s.%s", var->name, whole->names[k]);
    }
    return NULL;
}

static Node *leaf(Gen *g) {
    Node *node = NULL;
    const Var *var;
    switch (gen_random(g, 6)) {
    case 0: return literal(g);
    case 1:
    case 2: node = gen_element_of(g, T_F64, false, 0); break;
    case 3: node = part(g, g->f64); break;
    default: break;
    }
    if (node) return node;
    var = gen_find(g, g->f64, false);
    return var ? EXPR(g->f64, 0, NULL, "%s", var->name) : literal(g);
}

Node *gen_damped(Gen *g, Node *node) {
    static const char *const forms[] = {"sin($)", "tanh($)", "cos($)", "atan($)"};
    if (!node->type || node->type->kind != T_F64) return node;
    return EXPR(node->type, 1, &node, "%s", forms[gen_random(g, 4)]);
}

static Node *unary(Gen *g, int depth) {
    static const char *const forms[] = {
        "sin($)", "cos($)", "tanh($)", "atan($)", "exp(-square($))", "sqrt(1.0 + square($))",
        "log(1.5 + square($))", "log1p(square($))", "-($)", "abs($)", "($) ** 2", "($) ** 3",
        "sigmoid($)", "softplus($)", "(1.0 + square($)) ** 0.7", "erf($)", "relu($)",
        "expm1(sin($))", "cbrt(2.0 + sin($))", "asinh($)", "floor($)", "($) % 1.5",
        "clamp($, -1.0, 2.0)", "(2.0 + cos($)) ** -1", "cube(sin($))", "damp($)"};
    Node *a = gen_f64(g, depth - 1);
    if (gen_chance(g, 2)) {
        g->setting.smooth = false;
        return EXPR(g->f64, 1, &a, "stop($)");
    }
    return EXPR(g->f64, 1, &a, "%s", forms[gen_random(g, sizeof forms / sizeof *forms)]);
}

static Node *binary(Gen *g, int depth) {
    static const char *const forms[] = {
        "($ + $)", "($ - $)", "$ * ($)", "($) * ($)", "($) / (1.0 + square($))", "max($, $)",
        "min($, $)", "hypot($, 1.0 + abs($))", "atan2($, 1.5 + abs($))", "logaddexp($, $)",
        "(1.0 + abs($)) ** sin($)", "($ + $)", "($) * ($)", "pick($, $)"};
    Node *a = gen_f64(g, depth - 1), *b = gen_f64(g, depth - 1);
    const char *form = forms[gen_random(g, sizeof forms / sizeof *forms)];
    if (form[0] == '$') form = "($) * ($)";
    return EXPR(g->f64, 2, KIDS(a, b), "%s", form);
}

/* A block with a variable of its own, and sometimes a loop. */
static Node *block(Gen *g, const Type *type, int depth) {
    int nvars = g->nvars, loops = g->loops;
    const Type *result = g->result;
    Node *list = gen_list(g);
    g->loops = 0;
    g->result = NULL;
    gen_statements(g, list, 1 + (int)gen_random(g, 2), 1);
    Node *tail = gen_node(g, NODE_STMT, NULL, 1, KIDS(gen_expr(g, type, depth - 1)), "$");
    tail->fixed = true;
    gen_append(g, list, tail);
    g->nvars = nvars;
    g->loops = loops;
    g->result = result;
    return EXPR(type, 1, &list, "{$}");
}

static Node *branches(Gen *g, const Type *type, int depth) {
    Node *c = gen_bool(g, depth - 1), *a = gen_expr(g, type, depth - 1);
    Node *b = gen_expr(g, type, depth - 1);
    return EXPR(type, 3, KIDS(c, a, b), "if $ { $ } else { $ }");
}

static Node *in_brackets(Gen *g, Node *node) {
    return EXPR(node->type, 1, &node, "($)");
}

/* A reduction with a head: sum(for i in 0..n where ...: ...). */
static Node *reduction_with_head(Gen *g, int depth) {
    static const char *const sums[] = {"sum", "norm", "sum", "sum"};
    static const char *const filled[] = {"mean", "max", "min", "logsumexp", "sum"};
    Dim dim = gen_some_dim(g);
    const char *head = gen_name(g, 'i'), *other = gen_name(g, 'j');
    const char *d = size_text_of(g->arena, dim);
    Node *node;
    Scope scope = gen_open(g);
    gen_push_index(g, head, dim);
    switch (gen_random(g, 6)) {
    case 0: {
        Node *c = gen_bool(g, depth - 1), *e = gen_f64(g, depth - 1);
        node = EXPR(g->f64, 2, KIDS(c, e), "sum(for %s in 0..%s where $: $)", head, d);
        break;
    }
    case 1:
        gen_push_index(g, other, dim);
        g->setting.ordered = false;
        node = EXPR(g->f64, 1, KIDS(gen_f64(g, depth - 1)), "sum(for %s in 0..%s, %s in 0..%s: $)",
                    head, d, other, head);
        break;
    case 2: {
        Dim second = gen_some_dim(g);
        gen_push_index(g, other, second);
        g->setting.ordered = false;
        node = EXPR(g->f64, 1, KIDS(gen_f64(g, depth - 1)), "sum(for %s in 0..%s, %s in 0..%s: $)",
                    head, d, other, size_text_of(g->arena, second));
        break;
    }
    case 3:
        node = EXPR(g->f64, 1, KIDS(gen_damped(g, gen_f64(g, depth - 1))),
                    "prod(for %s in 0..%s: $)", head, d);
        break;
    default: {
        bool full = gen_dim_filled(g, dim);
        node = EXPR(g->f64, 1, KIDS(gen_f64(g, depth - 1)), "%s(for %s in 0..%s: $)",
                    full ? filled[gen_random(g, 5)] : sums[gen_random(g, 4)], head, d);
    }
    }
    gen_close(g, scope);
    return node;
}

static bool type_filled(const Gen *g, const Type *type) {
    for (int k = 0; k < type->rank; k++)
        if (!gen_dim_filled(g, type->dims[k])) return false;
    return true;
}

static Node *reduction(Gen *g, int depth) {
    static const char *const any[] = {"sum($)", "sum(square($))", "sum($)", "norm($)",
                                      "reduce(|a, b| a + b, 0.0, $)"};
    static const char *const filled[] = {"max($)", "min($)", "prod(sin($))", "mean($)",
                                         "logsumexp($)", "variance($)"};
    if (gen_chance(g, 60)) return reduction_with_head(g, depth);
    const Type *type = gen_some_array(g);
    Node *a = gen_array(g, type, depth - 1);
    if (type->rank > 1) g->setting.ordered = false; /* added dimension by dimension */
    if (gen_chance(g, 25)) {
        Node *b = gen_array(g, type, depth - 1);
        return EXPR(g->f64, 2, KIDS(a, b), "dot($, $)");
    }
    if (type_filled(g, type) && gen_chance(g, 50))
        return EXPR(g->f64, 1, &a, "%s", filled[gen_random(g, 6)]);
    return EXPR(g->f64, 1, &a, "%s", any[gen_random(g, type->rank == 1 ? 5 : 4)]);
}

Node *gen_f64(Gen *g, int depth) {
    Node *node = NULL, *a, *b, *c;
    if (depth <= 0 || g->budget <= 0) return leaf(g);
    switch (gen_random(g, 25)) {
    case 0:
    case 1:
    case 2:
    case 3: return unary(g, depth);
    case 4:
    case 5:
    case 6:
    case 7:
    case 8: return binary(g, depth);
    case 9:
    case 10:
    case 11: return reduction(g, depth);
    case 12:
    case 13: node = gen_call(g, g->f64, depth); break;
    case 14: node = lambda_call(g, depth); break;
    case 15: return in_brackets(g, branches(g, g->f64, depth));
    case 16: return in_brackets(g, block(g, g->f64, depth));
    case 17:
        c = gen_bool(g, depth - 1);
        a = gen_f64(g, depth - 1);
        b = gen_f64(g, depth - 1);
        return EXPR(g->f64, 3, KIDS(c, a, b), "select($, $, $)");
    case 18: return EXPR(g->f64, 1, KIDS(gen_i64(g, depth - 1)), "0.1 * f64($)");
    case 19:
        if (!g->setting.single) break;
        return EXPR(g->f64, 1, KIDS(gen_f32(g, depth - 1)), "f64($)");
    case 24: return gen_from_complex(g, depth);
    case 21:
    case 22: node = gen_form(g, depth); break;
    case 20:
        node = gen_call(g, g->pair, depth);
        if (node) return EXPR(g->f64, 1, &node, "$.0");
        break;
    default: break;
    }
    return node ? node : leaf(g);
}

Node *gen_i64(Gen *g, int depth) {
    const Var *var = gen_find(g, g->i64, false);
    Node *node, *a;
    uint32_t r = gen_random(g, 13);
    if (depth <= 0 || g->budget <= 0) r %= 6;
    switch (r) {
    case 0: return EXPR(g->i64, 0, NULL, "%u", gen_random(g, 5));
    case 1:
        if (g->has_n) return EXPR(g->i64, 0, NULL, g->has_m && gen_chance(g, 40) ? "m" : "n");
        break;
    case 2:
        node = gen_element_of(g, T_I64, false, depth);
        if (node) return node;
        break;
    case 6:
    case 7: {
        static const char *const forms[] = {"($ + $)", "($ - $)", "($) * 3 - $"};
        a = gen_i64(g, depth - 1);
        node = gen_i64(g, depth - 1);
        return EXPR(g->i64, 2, KIDS(a, node), "%s", forms[gen_random(g, 3)]);
    }
    case 8: {
        const Type *type = gen_array_type(g, T_F64, 1, (Dim[]){gen_some_dim(g)});
        if (!type_filled(g, type)) break;
        a = gen_array(g, type, depth - 1);
        return EXPR(g->i64, 1, &a, gen_chance(g, 50) ? "argmax($)" : "argmin($)");
    }
    case 9: {
        a = gen_f64(g, depth - 1);
        return EXPR(g->i64, 1, &a, "i64(3.0 * sin($))");
    }
    case 10: {
        const Type *type = gen_array_type(g, T_BOOL, 1, (Dim[]){gen_some_dim(g)});
        a = gen_array(g, type, depth - 1);
        return EXPR(g->i64, 1, &a, "count($)");
    }
    case 12: return gen_from_narrow(g, depth);
    default: break;
    }
    return var ? EXPR(g->i64, 0, NULL, "%s", var->name)
               : EXPR(g->i64, 0, NULL, "%u", gen_random(g, 4));
}

Node *gen_bool(Gen *g, int depth) {
    static const char *const orders[] = {"$ < $", "$ > $", "$ <= $", "$ >= $"};
    Node *a, *b;
    switch (gen_random(g, depth > 0 && g->budget > 0 ? 12 : 6)) {
    case 0: {
        const Var *var = gen_find(g, g->boolean, false);
        if (var) return EXPR(g->boolean, 0, NULL, "%s", var->name);
        break;
    }
    case 1:
        a = gen_i64(g, depth - 1);
        return EXPR(g->boolean, 1, &a, "($) %% %u == %u", 2 + gen_random(g, 2), gen_random(g, 2));
    case 6:
        a = gen_bool(g, depth - 1);
        b = gen_bool(g, depth - 1);
        return EXPR(g->boolean, 2, KIDS(a, b), gen_chance(g, 50) ? "(($) && ($))" : "(($) || ($))");
    case 7: return EXPR(g->boolean, 1, KIDS(gen_bool(g, depth - 1)), "!($)");
    case 8: {
        a = gen_array(g, gen_array_type(g, T_BOOL, 1, (Dim[]){gen_some_dim(g)}), depth - 1);
        return EXPR(g->boolean, 1, &a, gen_chance(g, 50) ? "any($)" : "all($)");
    }
    default: break;
    }
    a = gen_f64(g, depth - 1);
    b = gen_f64(g, depth - 1);
    return EXPR(g->boolean, 2, KIDS(a, b), "%s", orders[gen_random(g, 4)]);
}

static Node *plain_or(Gen *g, const Type *type, int depth) {
    const Var *var = gen_find(g, type, false);
    if (var && (depth <= 0 || g->budget <= 0 || gen_chance(g, 40)))
        return EXPR(type, 0, NULL, "%s", var->name);
    if (depth > 0) {
        Node *call = gen_call(g, type, depth);
        if (call) return call;
        if (gen_chance(g, 15)) return in_brackets(g, branches(g, type, depth));
    }
    return NULL;
}

Node *gen_expr(Gen *g, const Type *type, int depth) {
    Node *a, *b, *c;
    if (type->rank) return gen_array(g, type, depth);
    switch (type->kind) {
    case T_F64: return gen_f64(g, depth);
    case T_F32: return gen_f32(g, depth);
    case T_I64: return gen_i64(g, depth);
    case T_BOOL: return gen_bool(g, depth);
    case T_C128: return gen_complex(g, depth);
    case T_TUPLE:
        a = plain_or(g, type, depth);
        if (a) return a;
        a = gen_expr(g, type->parts[0], depth - 1);
        b = gen_expr(g, type->parts[1], depth - 1);
        return EXPR(type, 2, KIDS(a, b), "($, $)");
    case T_STRUCT: break;
    }
    a = plain_or(g, type, depth);
    if (a) return a;
    a = gen_array(g, g->vector, depth - 1);
    b = gen_f64(g, depth - 1);
    c = gen_i64(g, depth - 1);
    return EXPR(type, 3, KIDS(a, b, c), "S($, $, $)");
}
