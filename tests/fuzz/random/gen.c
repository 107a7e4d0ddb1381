#include "tests/fuzz/random/gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers, names, nodes ---- */

uint32_t gen_random(Gen *g, uint32_t n) {
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (uint32_t)((g->state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % n);
}

bool gen_chance(Gen *g, uint32_t percent) {
    return gen_random(g, 100) < percent;
}

const char *gen_name(Gen *g, char letter) {
    int number = g->names++;
    bool type = number && !(number & (number - 1)); /* i64 is one */
    return arena_printf(g->arena, type ? "%c_%d" : "%c%d", letter, number);
}

Node *gen_node(Gen *g, NodeKind kind, const Type *type, uint32_t n, Node *const *kids,
               const char *format, ...) {
    char text[512];
    Node *node = ARENA_NEW(g->arena, Node);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    node->kind = kind;
    node->type = type;
    node->text = arena_strndup(g->arena, text, strlen(text));
    node->nkids = node->cap = n;
    node->kids = ARENA_ARRAY(g->arena, Node *, n);
    for (uint32_t k = 0; k < n; k++) node->kids[k] = kids[k];
    g->budget--;
    return node;
}

Node *gen_list(Gen *g) {
    return gen_node(g, NODE_LIST, NULL, 0, NULL, "%s", "");
}

void gen_append(Gen *g, Node *list, Node *item) {
    if (list->nkids == list->cap) {
        Node **old = list->kids;
        list->cap = 2 * list->cap + 4;
        list->kids = ARENA_ARRAY(g->arena, Node *, list->cap);
        for (uint32_t k = 0; k < list->nkids; k++) list->kids[k] = old[k];
    }
    list->kids[list->nkids++] = item;
}

/* ---- types ---- */

void gen_note_size(Gen *g, int rank, const Dim *dims) {
    int count = 1;
    for (int k = 0; k < rank; k++) {
        char symbol = dims[k].symbol;
        count *= dims[k].offset + (symbol == 'n' ? g->setting.n : symbol ? g->setting.m : 0);
    }
    if (count >= 16) g->setting.ordered = false;
}

const Type *gen_array_type(Gen *g, TypeKind kind, int rank, const Dim *dims) {
    Type *type = ARENA_NEW(g->arena, Type);
    type->kind = kind;
    type->rank = rank;
    for (int k = 0; k < rank; k++) type->dims[k] = dims[k];
    gen_note_size(g, rank, dims);
    return type;
}

const Type *gen_element(Gen *g, const Type *type) {
    switch (type->kind) {
    case T_F32: return g->f32;
    case T_I64: return g->i64;
    case T_BOOL: return g->boolean;
    case T_C128: return g->c128;
    case T_F64:
    case T_TUPLE:
    case T_STRUCT: break;
    }
    return g->f64;
}

Dim gen_some_dim(Gen *g) {
    uint32_t r = gen_random(g, 10);
    if (g->has_n && r < 5) return (Dim){'n', 0};
    if (g->has_m && r < 7) return (Dim){'m', 0};
    if (r == 9 && gen_chance(g, 30)) return (Dim){0, 0};
    return (Dim){0, 1 + (int)gen_random(g, 4)};
}

bool gen_dim_filled(const Gen *g, Dim dim) {
    if (!dim.symbol) return dim.offset > 0;
    return dim.offset >= 0 && (dim.symbol == 'n' ? g->setting.n : g->setting.m) > 0;
}

const Type *gen_some_array(Gen *g) {
    Dim dims[MAX_RANK];
    uint32_t r = gen_random(g, 10);
    int rank = r < 6 ? 1 : r < 9 ? 2 : 3;
    for (int k = 0; k < rank; k++) dims[k] = gen_some_dim(g);
    return gen_array_type(g, T_F64, rank, dims);
}

const Type *gen_some_type(Gen *g) {
    uint32_t r = gen_random(g, 20);
    if (r < 8) return g->f64;
    if (r < 14) return gen_some_array(g);
    if (r < 15) return g->i64;
    if (r < 16) return g->has_n ? g->pair : g->f64;
    if (r < 17) return g->has_n ? g->record : g->f64;
    if (r < 18) return gen_chance(g, 70) ? g->boolean : g->c128;
    if (r < 19) return g->setting.single ? g->f32 : g->f64;
    static const TypeKind kinds[] = {T_I64, T_I64, T_BOOL, T_BOOL, T_C128, T_F32};
    TypeKind kind = kinds[gen_random(g, g->setting.single ? 6 : 5)];
    return gen_array_type(g, kind, 1, (Dim[]){gen_some_dim(g)});
}

/* ---- variables ---- */

void gen_push(Gen *g, const char *name, const Type *type, VarKind kind) {
    if (g->nvars < MAX_VARS) g->vars[g->nvars++] = (Var){name, type, kind, {0, 0}};
}

void gen_push_index(Gen *g, const char *name, Dim bound) {
    if (g->nvars < MAX_VARS) g->vars[g->nvars++] = (Var){name, g->i64, VAR_INDEX, bound};
}

const Var *gen_find(Gen *g, const Type *type, bool assignable) {
    const Var *found = NULL;
    uint32_t seen = 0;
    for (int k = assignable ? g->barrier : 0; k < g->nvars; k++) {
        const Var *var = &g->vars[k];
        if (var->kind == VAR_LAMBDA || !kind_same(var->type, type)) continue;
        if (assignable && var->kind != VAR_VAR) continue;
        if (gen_random(g, ++seen) == 0) found = var;
    }
    return found;
}

Scope gen_open(Gen *g) {
    Scope scope = {g->nvars, g->barrier, g->loops, g->parallel};
    g->barrier = g->nvars;
    g->parallel = true;
    g->loops = 0;
    return scope;
}

void gen_close(Gen *g, Scope scope) {
    g->nvars = scope.nvars;
    g->barrier = scope.barrier;
    g->loops = scope.loops;
    g->parallel = scope.parallel;
}

const Fn *gen_find_fn(Gen *g, FnKind kind) {
    for (int k = 0; k < g->nfns; k++)
        if (g->fns[k].kind == kind) return &g->fns[k];
    return NULL;
}

/* ---- functions ---- */

typedef struct FnForm {
    const char *params, *result;
} FnForm;
static const FnForm forms[FN_KINDS] = {
    [FN_SCALARS] = {"a: f64, b: f64", " -> f64"},
    [FN_VECTOR] = {"u: [n]f64, a: f64", " -> f64"},
    [FN_MAP] = {"u: [n]f64, a: f64", " -> [n]f64"},
    [FN_MUT] = {"u: mut [n]f64, a: f64", " -> f64"},
    [FN_MUT_SCALAR] = {"b: mut f64, a: f64", ""},
    [FN_RECURSIVE] = {"d: i64, a: f64", " -> f64"},
    [FN_MATRIX] = {"M: [n, m]f64, w: [m]f64", " -> [n]f64"},
    [FN_PAIR] = {"u: [n]f64, a: f64", " -> (f64, [n]f64)"},
    [FN_STRUCT] = {"s: S[n], a: f64", " -> S[n]"},
    [FN_HALVES] = {"u: [n]f64, a: f64", " -> f64"},
    [FN_APPLY] = {"h: fn(f64) -> f64, u: [n]f64", " -> [n]f64"},
};

static const Type *push_params(Gen *g, FnKind kind) {
    VarKind first = kind == FN_MUT || kind == FN_MUT_SCALAR ? VAR_VAR : VAR_LET;
    g->nvars = g->barrier = 0;
    g->has_n = kind != FN_SCALARS && kind != FN_MUT_SCALAR && kind != FN_RECURSIVE;
    g->has_m = kind == FN_MATRIX;
    switch (kind) {
    case FN_SCALARS:
    case FN_MUT_SCALAR: gen_push(g, "b", g->f64, first); break;
    case FN_VECTOR:
    case FN_MAP:
    case FN_PAIR:
    case FN_HALVES:
    case FN_MUT: gen_push(g, "u", g->vector, first); break;
    case FN_RECURSIVE: gen_push(g, "d", g->i64, VAR_LET); break;
    case FN_MATRIX:
        gen_push(g, "M", g->matrix, VAR_LET);
        gen_push(g, "w", gen_array_type(g, T_F64, 1, (Dim[]){{'m', 0}}), VAR_LET);
        break;
    case FN_STRUCT: gen_push(g, "s", g->record, VAR_LET); break;
    case FN_APPLY:
        gen_push(g, "u", g->vector, VAR_LET);
        gen_push(g, "h", g->f64, VAR_LAMBDA);
        break;
    case FN_KINDS: break;
    }
    if (kind != FN_MATRIX && kind != FN_APPLY) gen_push(g, "a", g->f64, VAR_LET);
    switch (kind) {
    case FN_MUT_SCALAR: return NULL;
    case FN_MAP:
    case FN_MATRIX:
    case FN_APPLY: return g->vector;
    case FN_PAIR: return g->pair;
    case FN_STRUCT: return g->record;
    case FN_SCALARS:
    case FN_VECTOR:
    case FN_MUT:
    case FN_RECURSIVE:
    case FN_HALVES:
    case FN_KINDS: break;
    }
    return g->f64;
}

static bool last_is(const Gen *g, const char *name) {
    return g->nvars > 0 && !strcmp(g->vars[g->nvars - 1].name, name);
}

static Node *tail_of(Gen *g, const Type *type, int depth) {
    Node *value = gen_damped(g, gen_expr(g, type, depth));
    if (type == g->f64 && last_is(g, "total"))
        value = EXPR(type, 1, &value, "total + $");
    else if (type == g->vector && last_is(g, "total"))
        value = EXPR(type, 1, &value, "total * $");
    Node *tail = gen_node(g, NODE_STMT, NULL, 1, &value, "$");
    tail->fixed = true;
    return tail;
}

static Node *recursion(Gen *g, FnKind kind, const char *name) {
    Node *next = gen_damped(g, gen_f64(g, 2)), *rest = gen_f64(g, 2);
    Node *tail =
        kind == FN_HALVES
            ? gen_node(g, NODE_STMT, NULL, 2, KIDS(next, rest),
                       "0.5 * %s(u[..n / 2], $) + sin(%s(u[n / 2..], $))", name, name)
            : gen_node(g, NODE_STMT, NULL, 2, KIDS(next, rest), "0.7 * %s(d - 1, $) + $", name);
    tail->fixed = true;
    return tail;
}

static Node *function(Gen *g, FnKind kind, const char *name) {
    Node *body = gen_list(g);
    g->budget = 20 + (int)gen_random(g, 40);
    g->result = push_params(g, kind);
    bool again = kind == FN_RECURSIVE || kind == FN_HALVES;
    g->damp = again;
    if (again) {
        Node *end = gen_node(g, NODE_STMT, NULL, 1, KIDS(gen_f64(g, 2)), "if %s { return $; }",
                             kind == FN_HALVES ? "n <= 1" : "d <= 0");
        end->fixed = true;
        gen_append(g, body, end);
    }
    gen_statements(g, body, 1 + (int)gen_random(g, 3), 2);
    if (again) {
        gen_append(g, body, recursion(g, kind, name));
    } else if (g->result) {
        gen_append(g, body, tail_of(g, g->result, 3));
    }
    g->damp = 0;
    return gen_node(g, NODE_STMT, NULL, 1, &body, "fn %s(%s)%s {$}\n", name, forms[kind].params,
                    forms[kind].result);
}

static const char plain_params[] = "x: [n]f64, y: f64, A: [n, m]f64, k: [m]i64";

static const char *term(Gen *g, const char *form, const char *name) {
    const char *text = "";
    for (const char *at = form; *at; at++) {
        bool here = at[0] == '%' && at[1] == 's';
        text = here ? arena_printf(g->arena, "%s%s", text, name)
                    : arena_printf(g->arena, "%s%c", text, *at);
        at += here;
    }
    return text;
}

/* A sum of variables, so that what was computed matters. */
static Node *gathered(Gen *g) {
    Node *kids[8];
    uint32_t n = 0;
    const char *text = "";
    for (int k = g->nvars; k-- > 4 && n < 8;) {
        const Var *var = &g->vars[k];
        const char *form = NULL;
        if (var->kind == VAR_LAMBDA) form = "%s(y)";
        else if (var->type->kind == T_C128) form = var->type->rank ? "im(sum(%s))" : "re(%s)";
        else if (var->type->kind == T_F64) form = var->type->rank ? "0.5 * sum(%s)" : "%s";
        else if (var->type->kind == T_TUPLE) form = "%s.0 + sum(%s.1)";
        else if (var->type->kind == T_STRUCT) form = "%s.c + sum(%s.v)";
        if (!form || gen_chance(g, 20)) continue;
        kids[n] = EXPR(g->f64, 0, NULL, "%s", var->name);
        kids[n]->text = term(g, form, var->name);
        text = arena_printf(g->arena, "%s%s$", text, n++ ? " + " : "");
    }
    Node *sum = EXPR(g->f64, n, kids, "%s", n ? text : "y");
    gen_push(g, "total", g->f64, VAR_LET);
    return gen_node(g, NODE_STMT, NULL, 1, &sum, "let total = $;");
}

static Node *main_function(Gen *g) {
    static const char *const results[] = {"f64", "[n]f64", "(f64, [n]f64)"};
    Node *body = gen_list(g);
    const Type *result = g->setting.result == 0   ? g->f64
                         : g->setting.result == 1 ? g->vector
                                                  : g->pair;
    g->nvars = g->barrier = 0;
    g->budget = 30 + (int)gen_random(g, 20 + gen_random(g, 200));
    g->has_n = g->has_m = true;
    g->result = result;
    gen_push(g, "x", g->vector, VAR_LET);
    gen_push(g, "y", g->f64, VAR_LET);
    gen_push(g, "A", g->matrix, VAR_LET);
    gen_push(g, "k", g->indices, VAR_LET);
    gen_statements(g, body, 2 + (int)gen_random(g, 7), 3);
    g->budget += 30;
    gen_append(g, body, gathered(g));
    gen_append(g, body, tail_of(g, result, 4));
    return gen_node(g, NODE_STMT, NULL, 1, &body, "fn f(%s) -> %s {$}\n", plain_params,
                    results[g->setting.result]);
}

/* ---- what the runner calls ---- */

static void entry(Gen *g, Node *root, Entry bit, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void entry(Gen *g, Node *root, Entry bit, const char *format, ...) {
    StrBuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_add(&text, "export fn run_");
    strbuf_vprintf(&text, format, args);
    va_end(args);
    Node *node = ARENA_NEW(g->arena, Node);
    *node = (Node){.kind = NODE_STMT, .fixed = true, .entry = 1u << bit};
    node->text = arena_strndup(g->arena, text.text, text.len);
    strbuf_free(&text);
    gen_append(g, root, node);
}

/* The first half of the results is to be the second: the law of shadows, for a function that works
   in place against the same with values; that shadows are added to. */
static const char in_place_form[] =
    "shadow(%s, s: %s) -> (f64, [n]f64, [n]f64, f64, f64, [n]f64, f64, [n]f64, "
    "f64, [n]f64, [n]f64, f64, f64, [n]f64, f64, [n]f64) {\n"
    "    let c = reverse(x);\n"
    "    var w = x;\n    var dw = c;\n    let r = grad[primal, seed] %s(w, dw, y, 0.7);\n"
    "    var v = x;\n    var dv = c;\n    let t = jvp[primal] %s(v, dv, y, 0.3);\n"
    "    var z = x;\n    var dz = c;\n    let (fw, rv) = split %s;\n"
    "    let tape = fw(z, y);\n    let b = rv(dz, 0.7, tape);\n"
    "    let (q, du, da) = grad[primal] run_after(x, y, (0.7, c));\n"
    "    let (o, d) = jvp[primal] run_after(x, c, y, 0.3);\n"
    "    (r.primal, w, dw, r.a, t.tangent, dv, b, dz,\n"
    "     q.0, q.1, du, da, d.0, d.1, da, du)\n}\n"
    "fn run_after(u: [n]f64, a: f64) -> (f64, [n]f64) { var w = u; let r = %s(w, a); (r, w) }";
static const char added_form[] =
    "shadow(%s, s: %s) -> ([n]f64, f64, [n, m]f64, [n]f64, f64, [n, m]f64) {\n"
    "    var dx = x;\n    var dA = A;\n"
    "    let dy = grad[seed] f(Duplicated(x, dx), y, Duplicated(A, dA), k, s);\n"
    "    let (a, b, c) = grad[seed] f(x, y, A, k, s);\n"
    "    (dx, dy, dA, x + a, b, A + c)\n}";

static void entries(Gen *g, Node *root) {
    static const char *const results[] = {"f64", "[n]f64", "(f64, [n]f64)"};
    static const char slopes[] = "[n]f64, f64, [n, m]f64";
    static const char pairs[] = "x: [n]f64, dx: [n]f64, y: f64, dy: f64, A: [n, m]f64, "
                                "dA: [n, m]f64, k: [m]i64";
    const char *r = results[g->setting.result], *p = plain_params;
    const Fn *in_place = gen_find_fn(g, FN_MUT);
    char rs[40];
    int w = g->setting.width;
    if (g->setting.result == 1) snprintf(rs, sizeof rs, "[%d, n]f64", w);
    else snprintf(rs, sizeof rs, "[%d]%s", w, r);
    entry(g, root, RUN_VALUE, "value(%s) -> %s { f(x, y, A, k) }", p, r);
    entry(g, root, RUN_JVP,
          "jvp(%s) -> (%s, %s) {\n    jvp[primal] f(x, dx, y, dy, A, dA, k)\n}", pairs, r, r);
    entry(g, root, RUN_GRAD,
          "grad(%s, s: %s) -> (%s, %s) {\n    grad[primal, seed] f(x, y, A, k, s)\n}", p, r, r,
          slopes);
    entry(g, root, RUN_SPLIT,
          "split(%s, s: %s, t: %s) -> (%s, %s, %s) {\n    let (fw, rv) = split[primal] f;\n"
          "    let (tape, v) = fw(x, y, A, k);\n    let (a, b, c) = rv(s, tape);\n"
          "    let (d, e, h) = rv(t, tape);\n    (v, a, b, c, d, e, h)\n}",
          p, r, r, r, slopes, slopes);
    entry(g, root, RUN_BATCH,
          "batch(%s, s: %s) -> (%s, [%d, n]f64, [%d]f64, [%d, n, m]f64) {\n"
          "    grad[primal, seed, batch(%d)] f(x, y, A, k, s)\n}", p, rs, r, w, w, w, w);
    entry(g, root, RUN_LANES,
          "lanes(x: [n]f64, dx: [%d, n]f64, y: f64, dy: [%d]f64, A: [n, m]f64, dA: [%d, n, m]f64, "
          "k: [m]i64) -> (%s, %s) {\n    jvp[primal, batch(%d)] f(x, dx, y, dy, A, dA, k)\n}",
          w, w, w, r, rs, w);
    entry(g, root, RUN_SECOND,
          "second(%s, s: %s) -> (%s) {\n    jvp grad[seed] f(Duplicated(x, dx), Duplicated(y, dy), "
          "Duplicated(A, dA), k, Const(s))\n}", pairs, r, slopes);
    entry(g, root, RUN_REVERSE,
          "reverse(%s, s: %s) -> ([n]f64, [n]f64, f64, f64, [n, m]f64, [n, m]f64) {\n"
          "    grad[seed] jvp f(x, dx, y, dy, A, dA, k, s)\n}", pairs, r);
    if (in_place)
        entry(g, root, RUN_SHADOW, in_place_form, p, r, in_place->name, in_place->name,
              in_place->name, in_place->name);
    else
        entry(g, root, RUN_SHADOW, added_form, p, r);
}

/* What `make check` takes of each. */
static unsigned some_entries(uint64_t seed) {
    unsigned set = 1u << RUN_VALUE | 1u << RUN_JVP | 1u << RUN_GRAD;
    if (seed % 2 == 0) set |= 1u << RUN_SPLIT;
    if (seed % 4 == 0) set |= 1u << RUN_SHADOW;
    if (seed % 4 == 1) set |= 1u << RUN_LANES;
    if (seed % 4 == 2) set |= 1u << RUN_BATCH;
    if (seed % 4 == 3) set |= 1u << RUN_SECOND | 1u << RUN_REVERSE;
    return set;
}

static void make_types(Gen *g) {
    Type *pair = ARENA_NEW(g->arena, Type), *record = ARENA_NEW(g->arena, Type);
    g->f64 = gen_array_type(g, T_F64, 0, NULL);
    g->f32 = gen_array_type(g, T_F32, 0, NULL);
    g->i64 = gen_array_type(g, T_I64, 0, NULL);
    g->c128 = gen_array_type(g, T_C128, 0, NULL);
    g->boolean = gen_array_type(g, T_BOOL, 0, NULL);
    g->vector = gen_array_type(g, T_F64, 1, (Dim[]){{'n', 0}});
    g->matrix = gen_array_type(g, T_F64, 2, (Dim[]){{'n', 0}, {'m', 0}});
    g->indices = gen_array_type(g, T_I64, 1, (Dim[]){{'m', 0}});
    *pair = (Type){.kind = T_TUPLE, .nparts = 2, .parts = {g->f64, g->vector}};
    *record = (Type){.kind = T_STRUCT, .nparts = 3, .parts = {g->vector, g->f64, g->i64},
                     .names = {"v", "c", "i"}, .name = "S"};
    g->pair = pair;
    g->record = record;
}

/* Generic, and with derivatives of their own. */
static const char *const given_functions[] = {
    "fn pick<T: float>(a: T, b: T) -> T { if a > b { sin(a) * b } else { a - b } }\n",
    "fn cube(x: f64) -> f64 { x * x * x }\n"
    "derivative cube(x: Active f64) -> f64 { forward(x, dx) { 3.0 * x * x * dx } }\n",
    "fn damp(x: f64) -> f64 { exp(-x * x) }\n"
    "derivative damp(x: Active f64) -> f64 {\n"
    "    augmented(x) { let e = exp(-x * x); (e, (x, e)) }\n"
    "    reverse(saved, seed) { -2.0 * saved.0 * saved.1 * seed }\n}\n",
    "fn wave(u: [k]f64, a: f64) -> [k]f64 { sin(a * u) }\n"
    "derivative wave(u: Active [k]f64, a: Active f64) -> [k]f64 {\n"
    "    reverse(u, a, seed) { (a * cos(a * u) * seed, dot(u * cos(a * u), seed)) }\n}\n"};

RandomProgram *program_generate(Arena *arena, uint64_t seed) {
    Gen *g = ARENA_NEW(arena, Gen);
    RandomProgram *program = ARENA_NEW(arena, RandomProgram);
    g->arena = arena;
    g->state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int k = 0; k < 8; k++) gen_random(g, 2);
    g->setting = (Setting){.seed = seed, .ordered = true, .smooth = true};
    g->setting.n = gen_chance(g, 8) ? 0 : 1 + (int)gen_random(g, 5);
    g->setting.m = gen_chance(g, 8) ? 0 : 1 + (int)gen_random(g, 4);
    if (gen_chance(g, 4)) g->setting.n = 9 + (int)gen_random(g, 12);
    g->setting.result = gen_chance(g, 60) ? 0 : 1 + (int)gen_random(g, 2);
    g->setting.width = 2 + (int)gen_random(g, 2);
    g->setting.single = gen_chance(g, 12);
    make_types(g);
    program->root = gen_list(g);
    gen_append(g, program->root,
               gen_node(g, NODE_STMT, NULL, 0, NULL, "struct S { v: [n]f64, c: f64, i: i64 }\n"));
    for (size_t k = 0; k < sizeof given_functions / sizeof *given_functions; k++)
        gen_append(g, program->root,
                   gen_node(g, NODE_STMT, NULL, 0, NULL, "%s", given_functions[k]));
    int count = (int)gen_random(g, 5);
    for (int k = 0; k < count; k++) {
        FnKind kind = (FnKind)gen_random(g, FN_KINDS);
        const char *name = arena_printf(arena, "g%d", k);
        gen_append(g, program->root, function(g, kind, name));
        g->fns[g->nfns++] = (Fn){kind, name};
    }
    gen_append(g, program->root, main_function(g));
    program->root->kids[program->root->nkids - 1]->fixed = true;
    entries(g, program->root);
    g->setting.entries = some_entries(seed);
    program->setting = g->setting;
    return program;
}
