#include "tests/fuzz/random/gen.h"

#include <string.h>

#define STMT(n, kids, ...) gen_node(g, NODE_STMT, NULL, n, kids, __VA_ARGS__)

/* What is assigned in loops must not grow from trip to trip. */
static Node *assigned(Gen *g, const Type *type, int depth) {
    Node *value = gen_expr(g, type, depth);
    return g->damp || gen_chance(g, 30) ? gen_damped(g, value) : value;
}

/* ---- declarations ---- */

static Node *declaration(Gen *g, int depth) {
    const Type *type = gen_some_type(g);
    Node *value = assigned(g, type, depth);
    bool variable = gen_chance(g, 60);
    const char *name = gen_name(g, 'v');
    const Var *old = gen_find(g, type, true);
    if (variable && old && gen_chance(g, 10)) name = old->name;
    gen_push(g, name, type, variable ? VAR_VAR : VAR_LET);
    if (gen_chance(g, 15))
        return STMT(1, &value, "%s %s: %s = $;", variable ? "var" : "let", name,
                    kind_text_of(g->arena, type));
    if (!variable && type->kind == T_F64 && gen_chance(g, 3)) {
        g->setting.smooth = false;
        return STMT(1, &value, "let %s: Const %s = $;", name, kind_text_of(g->arena, type));
    }
    return STMT(1, &value, "%s %s = $;", variable ? "var" : "let", name);
}

static Node *taken_apart(Gen *g, int depth) {
    const char *a = gen_name(g, 'v'), *b = gen_name(g, 'v');
    if (!g->has_n) return NULL;
    Node *value = gen_expr(g, g->pair, depth);
    gen_push(g, a, g->f64, VAR_VAR);
    gen_push(g, b, g->vector, VAR_VAR);
    return STMT(1, &value, "var (%s, %s) = $;", a, b);
}

/* Two arrays that one comprehension makes. */
static Node *two_arrays(Gen *g, int depth) {
    const char *a = gen_name(g, 'v'), *b = gen_name(g, 'v'), *i = gen_name(g, 'i');
    Dim dim = gen_some_dim(g);
    const Type *type = gen_array_type(g, T_F64, 1, &dim);
    Scope scope = gen_open(g);
    gen_push_index(g, i, dim);
    Node *x = gen_f64(g, depth - 1), *y = gen_f64(g, depth - 1);
    gen_close(g, scope);
    gen_push(g, a, type, VAR_VAR);
    gen_push(g, b, type, VAR_VAR);
    return STMT(2, KIDS(x, y), "var (%s, %s) = [for %s in 0..%s: ($, $)];", a, b, i,
                size_text_of(g->arena, dim));
}

/* An array that grows, and its sum. */
static Node *growing(Gen *g, int depth) {
    const char *xs = gen_name(g, 'x'), *i = gen_name(g, 'i'), *total = gen_name(g, 'v');
    Dim dim = gen_some_dim(g);
    int nvars = g->nvars;
    gen_push_index(g, i, dim);
    Node *c = gen_bool(g, depth - 1), *e = gen_f64(g, depth - 1);
    g->nvars = nvars;
    gen_push(g, total, g->f64, VAR_VAR);
    return STMT(2, KIDS(c, e),
                "var %s: [_]f64 = [];\nfor %s in 0..%s { if $ { %s = concat(%s, [$]); } }\n"
                "var %s = sum(%s);", xs, i, size_text_of(g->arena, dim), xs, xs, total, xs);
}

static Node *lambda(Gen *g, int depth) {
    const char *name = gen_name(g, 'h'), *p = gen_name(g, 'p');
    Scope scope = gen_open(g);
    gen_push(g, p, g->f64, VAR_LET);
    Node *body = gen_damped(g, gen_f64(g, depth));
    gen_close(g, scope);
    gen_push(g, name, g->f64, VAR_LAMBDA);
    return STMT(1, &body, "let %s = |%s: f64| $;", name, p);
}

/* ---- assignment ---- */

static Node *compound(Gen *g, Node *place, const Type *type, int depth) {
    Node *value = assigned(g, type, depth);
    switch (gen_random(g, 5)) {
    case 0: return STMT(2, KIDS(place, value), "$ -= $;");
    case 1: return STMT(2, KIDS(place, value), "$ *= cos($);");
    case 2: return STMT(2, KIDS(place, value), "$ /= 1.0 + square($);");
    default: return STMT(2, KIDS(place, value), "$ += $;");
    }
}

static Node *strided(Gen *g, int depth) {
    const Var *var = gen_find(g, gen_array_type(g, T_F64, 1, (Dim[]){gen_some_dim(g)}), true);
    if (!var) return NULL;
    const char *size = size_text_of(g->arena, var->type->dims[0]);
    Node *place = EXPR(NULL, 0, NULL, "%s[0..%s by 2]", var->name, size);
    return compound(g, place, g->f64, depth);
}

static Node *to_variable(Gen *g, const Type *type, int depth) {
    const Var *var = gen_find(g, type, true);
    if (!var) return NULL;
    Node *place = EXPR(NULL, 0, NULL, "%s", var->name);
    if (type->kind == T_F64 && gen_chance(g, 40)) return compound(g, place, type, depth);
    return STMT(2, KIDS(place, assigned(g, type, depth)), "$ = $;");
}

static Node *to_element(Gen *g, int depth) {
    Node *place = gen_element_of(g, T_F64, true, depth);
    if (!place) return NULL;
    place->type = NULL;
    if (gen_chance(g, 50)) return compound(g, place, g->f64, depth);
    return STMT(2, KIDS(place, assigned(g, g->f64, depth)), "$ = $;");
}

/* A row, a column, or a slice. */
static Node *to_part(Gen *g, int depth) {
    const Var *var = NULL;
    uint32_t seen = 0;
    for (int k = g->barrier; k < g->nvars; k++)
        if (g->vars[k].kind == VAR_VAR && g->vars[k].type->kind == T_F64 &&
            g->vars[k].type->rank >= 1 && gen_random(g, ++seen) == 0)
            var = &g->vars[k];
    if (!var) return NULL;
    const Type *type = var->type, *rest;
    Node *place;
    if (type->rank == 1) {
        Dim dim = type->dims[0];
        if (!gen_dim_filled(g, dim)) return NULL;
        dim.offset--;
        rest = gen_array_type(g, T_F64, 1, &dim);
        place = gen_chance(g, 50) ? EXPR(NULL, 0, NULL, "%s[1..]", var->name)
                                  : EXPR(NULL, 0, NULL, "%s[..%s]", var->name,
                                         size_text_of(g->arena, dim));
    } else if (type->rank == 2 && gen_chance(g, 40)) {
        Node *index = gen_index(g, type->dims[1], depth);
        if (!index) return NULL;
        rest = gen_array_type(g, T_F64, 1, type->dims);
        place = EXPR(NULL, 1, &index, "%s[.., $]", var->name);
    } else {
        Node *index = gen_index(g, type->dims[0], depth);
        if (!index) return NULL;
        rest = gen_array_type(g, T_F64, type->rank - 1, type->dims + 1);
        place = EXPR(NULL, 1, &index, "%s[$]", var->name);
    }
    if (gen_chance(g, 20)) rest = g->f64;
    if (gen_chance(g, 40)) return compound(g, place, rest, depth);
    return STMT(2, KIDS(place, assigned(g, rest, depth)), "$ = $;");
}

static Node *to_record(Gen *g, int depth) {
    const Var *var = gen_find(g, gen_chance(g, 50) ? g->record : g->pair, true);
    if (!var || !g->has_n) return NULL;
    bool record = var->type == g->record;
    Node *index = gen_index(g, (Dim){'n', 0}, depth);
    if (index && gen_chance(g, 50)) {
        Node *place = EXPR(NULL, 1, &index, record ? "%s.v[$]" : "%s.1[$]", var->name);
        return compound(g, place, g->f64, depth);
    }
    Node *place = EXPR(NULL, 0, NULL, record ? "%s.c" : "%s.0", var->name);
    return compound(g, place, g->f64, depth);
}

/* Places that the checker cannot take for one: of two variables, or with plain indices. */
static bool two_places(const Node *a, const Node *b) {
    StrBuf one = {0}, two = {0};
    node_print(a, 0, &one);
    node_print(b, 0, &two);
    bool different = strcmp(one.text, two.text) != 0;
    bool plain = !strchr(one.text, '%') && !strchr(two.text, '%');
    bool apart = strcspn(one.text, "[") != strcspn(two.text, "[") ||
                 strncmp(one.text, two.text, strcspn(one.text, "[")) != 0;
    strbuf_free(&one);
    strbuf_free(&two);
    return different && (plain || apart);
}

static Node *swap(Gen *g) {
    const Type *type = gen_chance(g, 50) ? g->f64 : gen_some_array(g);
    if (gen_chance(g, 40)) {
        Node *a = gen_element_of(g, T_F64, true, 1), *b = gen_element_of(g, T_F64, true, 1);
        if (a && b && two_places(a, b))
            return STMT(4, KIDS(a, b, b, a), "($, $) = ($, $);");
    }
    const Var *a = gen_find(g, type, true), *b = gen_find(g, type, true);
    if (!a || !b || a->name == b->name) return NULL;
    return STMT(0, NULL, "(%s, %s) = (%s, %s);", a->name, b->name, b->name, a->name);
}

/* "M[i]" or "M[.., j]" of a variable. */
static Node *row_place(Gen *g, int depth) {
    const Var *var = gen_find(g, g->matrix, true);
    bool row = gen_chance(g, 50);
    if (!var || !g->has_m) return NULL;
    Node *index = gen_index(g, (Dim){row ? 'n' : 'm', 0}, depth);
    if (!index) return NULL;
    return EXPR(NULL, 1, &index, row ? "%s[$]" : "%s[.., $]", var->name);
}

static Node *mut_call(Gen *g, int depth) {
    for (int k = 0; k < g->nfns; k++) {
        const Fn *fn = &g->fns[k];
        const Type *type = fn->kind == FN_MUT ? g->vector : g->f64;
        if ((fn->kind != FN_MUT && fn->kind != FN_MUT_SCALAR) || gen_chance(g, 30)) continue;
        if (fn->kind == FN_MUT && !g->has_n) continue;
        const Var *var = gen_find(g, type, true);
        if (!var) continue;
        Node *place = EXPR(NULL, 0, NULL, "%s", var->name);
        if (fn->kind == FN_MUT_SCALAR && gen_chance(g, 40)) {
            Node *element = gen_element_of(g, T_F64, true, depth);
            if (element) place = element;
        }
        if (fn->kind == FN_MUT && gen_chance(g, 30)) {
            Node *row = row_place(g, depth);
            if (row) place = row;
        }
        place->type = NULL;
        Node *value = gen_damped(g, gen_f64(g, depth));
        if (fn->kind == FN_MUT && gen_chance(g, 60)) {
            const char *name = gen_name(g, 'v');
            gen_push(g, name, g->f64, VAR_VAR);
            return STMT(2, KIDS(place, value), "var %s = %s($, $);", name, fn->name);
        }
        return STMT(2, KIDS(place, value), "%s($, $);", fn->name);
    }
    return NULL;
}

/* ---- control ---- */

/* The statements of a body, in a scope of its own. */
static Node *body(Gen *g, int count, int depth) {
    int nvars = g->nvars;
    Node *list = gen_list(g);
    gen_statements(g, list, count, depth - 1);
    g->nvars = nvars;
    return list;
}

static Node *condition(Gen *g, int depth) {
    Node *c = gen_bool(g, depth), *then = body(g, 1 + (int)gen_random(g, 3), depth);
    if (gen_chance(g, 50)) return STMT(2, KIDS(c, then), "if $ {$}");
    Node *other = body(g, 1 + (int)gen_random(g, 2), depth);
    return STMT(3, KIDS(c, then, other), "if $ {$} else {$}");
}

static const char *const checkpoints[] = {" checkpoint(2)", " checkpoint(sqrt)",
                                          " checkpoint(none)", " checkpoint(all)"};

static Node *counted(Gen *g, int depth) {
    const char *name = gen_name(g, 'i'), *text;
    const Var *outer = NULL;
    Dim dim = gen_some_dim(g);
    for (int k = 0; k < g->nvars; k++)
        if (g->vars[k].kind == VAR_INDEX && gen_chance(g, 60)) outer = &g->vars[k];
    text = size_text_of(g->arena, dim);
    if (outer && gen_chance(g, 50)) {
        dim = outer->bound;
        text = arena_printf(g->arena, gen_chance(g, 50) ? "0..%s" : "0..%s + 1", outer->name);
        if (gen_chance(g, 30))
            text = arena_printf(g->arena, "%s..%s", outer->name, size_text_of(g->arena, dim));
    } else {
        switch (gen_random(g, 5)) {
        case 0: text = arena_printf(g->arena, "(%s) - 1..-1 by -1", text); break;
        case 1: text = arena_printf(g->arena, "0..%s by 2", text); break;
        case 2: text = arena_printf(g->arena, "1..%s", text); break;
        default: text = arena_printf(g->arena, "0..%s", text);
        }
    }
    int nvars = g->nvars;
    const char *keep = gen_chance(g, 8) ? checkpoints[gen_random(g, 4)] : "";
    gen_push_index(g, name, dim);
    Node *list = body(g, 1 + (int)gen_random(g, 3), depth);
    g->nvars = nvars;
    return STMT(1, &list, "for %s in %s%s {$}", name, text, keep);
}

static Node *over_values(Gen *g, int depth) {
    const char *a = gen_name(g, 'e'), *b = gen_name(g, 'e');
    const Type *type = gen_some_array(g);
    Node *values = gen_array(g, type, 2), *others = NULL;
    int nvars = g->nvars;
    const Type *rest = type->rank == 1
                           ? g->f64
                           : gen_array_type(g, T_F64, type->rank - 1, type->dims + 1);
    if (gen_chance(g, 30)) others = gen_array(g, type, 2);
    gen_push(g, a, rest, VAR_LET);
    if (others) gen_push(g, b, rest, VAR_LET);
    Node *list = body(g, 1 + (int)gen_random(g, 2), depth);
    g->nvars = nvars;
    if (others)
        return STMT(3, KIDS(values, others, list), "for (%s, %s) in zip($, $) {$}", a, b);
    return STMT(2, KIDS(values, list), "for %s in $ {$}", a);
}

static Node *loop(Gen *g, int depth) {
    g->loops++;
    g->damp++;
    Node *node = gen_chance(g, 75) ? counted(g, depth) : over_values(g, depth);
    g->loops--;
    g->damp--;
    return node;
}

/* The count of trips depends on data, and is at most a few. */
static Node *while_loop(Gen *g, int depth) {
    const char *count = gen_name(g, 'c');
    uint32_t most = 1 + gen_random(g, 5);
    int nvars = g->nvars;
    gen_push(g, count, g->i64, VAR_LET);
    g->loops++;
    g->damp++;
    Node *c = gen_bool(g, depth), *list = body(g, 1 + (int)gen_random(g, 3), depth);
    g->loops--;
    g->damp--;
    g->nvars = nvars;
    if (gen_chance(g, 25))
        return STMT(2, KIDS(c, list), "var %s = 0;\nwhile true {\n    %s += 1;\n"
                    "    if %s > %u || $ { break; }\n    {$}\n}", count, count, count, most);
    const char *keep = gen_chance(g, 8) ? checkpoints[gen_random(g, 3)] : "";
    return STMT(2, KIDS(c, list),
                "var %s = 0;\nwhile %s < %u && ($)%s {\n    %s += 1;\n    {$}\n}", count, count,
                most, keep, count);
}

static Node *leaving(Gen *g, int depth) {
    Node *c = gen_bool(g, depth);
    if (g->loops && gen_chance(g, 65))
        return STMT(1, &c, gen_chance(g, 50) ? "if $ { break; }" : "if $ { continue; }");
    if (g->parallel || !g->result) return NULL;
    Node *value = gen_damped(g, gen_expr(g, g->result, depth));
    return STMT(2, KIDS(c, value), "if $ { return $; }");
}

static Node *statement(Gen *g, int depth) {
    int inner = depth > 2 ? 3 : depth < 1 ? 1 : depth;
    switch (gen_random(g, 29)) {
    case 26: return two_arrays(g, inner);
    case 27: return growing(g, inner);
    case 28: return strided(g, inner);
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: return declaration(g, inner);
    case 5: return taken_apart(g, inner);
    case 6: return lambda(g, inner);
    case 7:
    case 8: return to_variable(g, g->f64, inner);
    case 9: return to_variable(g, gen_some_type(g), inner);
    case 10:
    case 11:
    case 12: return to_element(g, inner);
    case 13:
    case 14: return to_part(g, inner);
    case 15: return to_record(g, inner);
    case 16: return swap(g);
    case 17: return mut_call(g, inner);
    case 18: return leaving(g, inner);
    default: break;
    }
    if (depth <= 0 || g->budget <= 0) return NULL;
    switch (gen_random(g, 7)) {
    case 0:
    case 1: return condition(g, depth);
    case 2: return while_loop(g, depth);
    default: return loop(g, depth);
    }
}

void gen_statements(Gen *g, Node *list, int count, int depth) {
    for (int k = 0, tries = 0; k < count && tries < 40; tries++) {
        Node *node = statement(g, depth);
        if (!node) continue;
        gen_append(g, list, node);
        k++;
        if (g->budget <= 0) return;
    }
}
