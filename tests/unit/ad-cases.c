/* The cases of tests/cases/ad: modules in the IR's text form, with functions, what they give, and
   what their derivatives are:

     ; NAME @f(arguments) -> results : derivatives | options

   The derivatives are those of the float parameters, for cotangents of 1; with "any" instead of all
   numbers, only the modes are compared.  Options: "seed" and
   cotangents; "active" and a digit for each parameter; "kink" (no finite differences), "first" (no
   second order), "tol" and a number, "bend" (as kink, for second order only).

   Each line is checked in every mode: GRAD gives the numbers; FORWARD and REVERSE give what GRAD
   gives, with three pulls on one tape; <w, J v> is <J'w, v>; central differences agree; primal
   results have the bits of the function itself; and the same once more for GRAD and JVP as
   functions of their own, which is second order in all its nestings. */
#include "tests/unit/ircalls.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ad/ad.h"

enum { MOST = 32, DEPTH = 2 };

typedef struct Case {
    char name[32];
    IrFunc *func;
    uint8_t in[MOST], out[MOST];
    IrDatum args[MOST], results[MOST], derivs[MOST], seeds[MOST];
    uint32_t nderivs, nseeds;
    bool is_any, is_kink, is_bend, is_first;
    double tolerance;
    const char *line;
} Case;

/* ---- numbers in data ---- */

static int64_t count_of(IrDatum datum) {
    return datum.kind == IR_D_ARRAY ? datum.as.array->count : 1;
}

static double get(IrDatum datum, int64_t at) {
    return datum.kind == IR_D_ARRAY ? ir_array_get(datum.as.array, at).as.f : datum.as.f;
}

/* A copy of DATUM, each number plus STEP times that of ALONG. */
static IrDatum moved(IrDatum datum, IrDatum along, double step) {
    if (datum.kind != IR_D_ARRAY) return ir_datum_float(datum.as.f + step * along.as.f);
    IrArray *old = datum.as.array;
    IrDatum copy = ir_datum_array(old->scalar, old->rank, old->dims);
    for (int64_t i = 0; i < old->count; i++)
        ir_array_set(copy.as.array, i,
                     ir_datum_float(get(datum, i) + (step ? step * get(along, i) : 0)));
    return copy;
}

/* Like DATUM, with numbers of a fixed sequence, or all VALUE. */
static IrDatum filled(IrDatum datum, uint32_t *state, double value) {
    IrDatum copy = moved(datum, datum, 0);
    for (int64_t i = 0; i < count_of(datum); i++) {
        if (state) {
            *state = *state * 1664525u + 1013904223u;
            value = (double)(*state >> 8) / (1 << 24) * 2 - 1;
        }
        if (copy.kind == IR_D_ARRAY) ir_array_set(copy.as.array, i, ir_datum_float(value));
        else copy.as.f = value;
    }
    return copy;
}

static double dot(uint32_t n, const IrDatum *x, const IrDatum *y, double *size) {
    double sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        ck_assert_int_eq(count_of(x[k]), count_of(y[k]));
        for (int64_t i = 0; i < count_of(x[k]); i++) {
            sum += get(x[k], i) * get(y[k], i);
            *size += fabs(get(x[k], i) * get(y[k], i));
        }
    }
    return sum;
}

static void drop_all(IrDatum *data, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) ir_datum_drop(&data[i]);
}

/* ---- reading lines ---- */

static uint32_t actives(const uint8_t *active, uint32_t n) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += active[i];
    return count;
}

static void read_active(const char **at, IrType const *types, const uint8_t *active, uint32_t n,
                        IrDatum *out, uint32_t *count, const char *line) {
    *count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!active[i]) continue;
        while (**at == ' ' || **at == ',') ++*at;
        ck_assert_msg(ir_parse_datum(at, types[i], &out[(*count)++]), "%s: at '%s'", line, *at);
    }
}

static void read_options(Case *c, const char *at) {
    for (at += strspn(at, " |"); *at; at += strspn(at, " |")) {
        size_t n = strcspn(at, " ");
        const char *word = at;
        at += n;
        at += strspn(at, " ");
        if (strncmp(word, "kink", n) == 0) c->is_kink = true;
        else if (strncmp(word, "bend", n) == 0) c->is_bend = true;
        else if (strncmp(word, "first", n) == 0) c->is_first = true;
        else if (strncmp(word, "tol", n) == 0) c->tolerance = strtod(at, (char **)&at);
        else if (strncmp(word, "seed", n) == 0)
            read_active(&at, c->func->results, c->out, c->func->nresults, c->seeds, &c->nseeds,
                        c->line);
        else ck_assert_msg(strncmp(word, "active", n) == 0, "%s: option '%s'", c->line, word);
        if (strncmp(word, "active", n) == 0) at += strspn(at, "01");
    }
}

static void read_case(IrModule *module, const char *line, Case *c) {
    char name[64];
    const char *at = strchr(line, '@') + 1, *active = strstr(line, "active ");
    *c = (Case){.tolerance = 1e-12, .line = line};
    snprintf(c->name, sizeof c->name, "%.*s", (int)strcspn(line + 2, " "), line + 2);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "("), at);
    c->func = ir_find_func(module, name);
    ck_assert_msg(c->func && c->func->nparams <= MOST, "%s: no function", line);
    at += strcspn(at, "(") + 1;
    for (uint32_t i = 0; i < c->func->nparams; i++) {
        at += strspn(at, ", ");
        ck_assert_msg(ir_parse_datum(&at, c->func->params[i], &c->args[i]), "%s: at '%s'", line,
                      at);
        c->in[i] = ir_is_float(c->func->params[i]) && (!active || active[7 + i] == '1');
    }
    for (uint32_t i = 0; i < c->func->nresults; i++) c->out[i] = ir_is_float(c->func->results[i]);
    at = strstr(at, " -> ") + 4;
    c->is_any = strncmp(at, "any", 3) == 0;
    if (c->is_any) {
        read_options(c, at + 3);
        return;
    }
    for (uint32_t i = 0; i < c->func->nresults; i++) {
        at += strspn(at, ", ");
        ck_assert_msg(ir_parse_datum(&at, c->func->results[i], &c->results[i]), "%s: at '%s'", line,
                      at);
    }
    at += strspn(at, " :");
    read_active(&at, c->func->params, c->in, c->func->nparams, c->derivs, &c->nderivs, line);
    read_options(c, at);
}

static void free_case(Case *c) {
    drop_all(c->args, MOST);
    drop_all(c->results, MOST);
    drop_all(c->derivs, MOST);
    drop_all(c->seeds, MOST);
}

/* ---- requests ---- */

static void floats_of(const IrFunc *func, uint8_t *in, uint8_t *out) {
    for (uint32_t i = 0; i < func->nparams; i++) in[i] = ir_is_float(func->params[i]);
    for (uint32_t i = 0; i < func->nresults; i++) out[i] = ir_is_float(func->results[i]);
}

static void request(IrFunc *func, const uint8_t *in, const uint8_t *out, int depth) {
    static const IrDerivMode modes[] = {IR_DERIV_JVP, IR_DERIV_GRAD, IR_DERIV_FORWARD};
    for (int i = 0; i < 3; i++) {
        uint8_t inner_in[MOST], inner_out[MOST];
        IrFunc *made = ir_deriv(func->module, modes[i], func, in, out, 0);
        ck_assert(made->nparams <= MOST && made->nresults <= MOST);
        floats_of(made, inner_in, inner_out);
        if (depth > 1 && i < 2) request(made, inner_in, inner_out, depth - 1);
    }
}

/* ---- checks ---- */

typedef struct Check {
    const Case *c;
    IrInterp *interp;
    IrFunc *func;
    const uint8_t *in, *out;
    uint32_t nin, nout;
    const IrDatum *args;
    IrDatum tangents[MOST], weights[MOST];
    bool is_smooth;
    char what[128];
} Check;

static void call(Check *k, IrFunc *func, const IrDatum *args, IrDatum *results) {
    bool ok = ir_interp_call(k->interp, func, args, results);
    ck_assert_msg(ok, "%s of %s fails: %s", func->name, k->what,
                  ok ? "" : ir_interp_error(k->interp).message);
}

static void print_list(StrBuf *out, const IrDatum *data, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (i) strbuf_add(out, ", ");
        IrTypeInfo type = {.kind = IR_T_SCALAR, .scalar = IR_F64};
        if (data[i].kind == IR_D_ARRAY) {
            type.kind = IR_T_ARRAY;
            type.scalar = data[i].as.array->scalar;
            type.rank = (uint8_t)data[i].as.array->rank;
        }
        ir_print_datum(out, data[i], &type);
    }
}

static bool is_near(double x, double y, double tolerance) {
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y || fabs(x - y) <= tolerance * (fabs(x) + fabs(y)) / 2;
}

static void check_near(const Check *k, const char *mode, const IrDatum *is, const IrDatum *want,
                       uint32_t n, double tolerance) {
    StrBuf text = {0};
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        ok = ok && count_of(is[i]) == count_of(want[i]);
        for (int64_t j = 0; ok && j < count_of(is[i]); j++)
            ok = is_near(get(is[i], j), get(want[i], j), tolerance);
    }
    if (!ok) {
        print_list(&text, is, n);
        strbuf_add(&text, ", not ");
        print_list(&text, want, n);
    }
    ck_assert_msg(ok, "%s: %s: %s gives %s", k->what, k->c->line, mode, text.text);
    strbuf_free(&text);
}

static void check_same(const Check *k, const char *mode, const IrDatum *is, const IrDatum *want,
                       uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        ck_assert_msg(ir_datum_equal(is[i], want[i]), "%s: %s: %s has another primal result %u",
                      k->what, k->c->line, mode, i);
}

static IrFunc *deriv(const Check *k, IrDerivMode mode) {
    return ir_deriv(k->func->module, mode, k->func, k->in, k->out, 0);
}

static IrDatum *with(const Check *k, const IrDatum *more, uint32_t n, IrDatum *all) {
    memcpy(all, k->args, k->func->nparams * sizeof *all);
    memcpy(all + k->func->nparams, more, n * sizeof *all);
    return all;
}

/* J v and the differences of the function along v. */
static void check_forward(Check *k, const IrDatum *primal, IrDatum *jvp) {
    IrDatum args[MOST], results[MOST] = {{0}}, up[MOST] = {{0}}, down[MOST] = {{0}};
    uint32_t np = k->func->nparams, nr = k->func->nresults, at = 0;
    double h = 1e-5;
    call(k, deriv(k, IR_DERIV_JVP), with(k, k->tangents, k->nin, args), results);
    check_same(k, "jvp", results, primal, nr);
    memcpy(jvp, results + nr, k->nout * sizeof *jvp);
    drop_all(results, nr);
    if (!k->is_smooth) return;
    for (int side = 0; side < 2; side++) {
        at = 0;
        for (uint32_t i = 0; i < np; i++)
            args[i] = k->in[i] ? moved(k->args[i], k->tangents[at++], side ? -h : h)
                               : ir_datum_share(k->args[i]);
        call(k, k->func, args, side ? down : up);
        drop_all(args, np);
    }
    at = 0;
    for (uint32_t i = 0; i < nr; i++) {
        if (!k->out[i]) continue;
        for (int64_t j = 0; j < count_of(up[i]) && count_of(up[i]) == count_of(down[i]); j++) {
            double slope = (get(up[i], j) - get(down[i], j)) / (2 * h), is = get(jvp[at], j);
            double scale = fabs(get(up[i], j)) + fabs(is) + 1;
            ck_assert_msg(fabs(is - slope) <= 1e-4 * scale || !isfinite(slope),
                          "%s: %s: jvp gives %.17g, differences %.17g", k->what, k->c->line, is,
                          slope);
        }
        at++;
    }
    drop_all(up, nr);
    drop_all(down, nr);
}

static void check_split(Check *k, const IrDatum *primal, const IrDatum *seeds, const IrDatum *grads,
                        const IrDatum *weighted) {
    IrDatum forward[MOST] = {{0}}, args[MOST], pulled[MOST] = {{0}};
    uint32_t nr = k->func->nresults;
    call(k, deriv(k, IR_DERIV_FORWARD), k->args, forward);
    check_same(k, "forward", forward, primal, nr);
    for (int pull = 0; pull < 3; pull++) {
        args[0] = forward[nr];
        memcpy(args + 1, pull == 1 ? k->weights : seeds, k->nout * sizeof *args);
        call(k, deriv(k, IR_DERIV_REVERSE), args, pulled);
        check_near(k, "reverse", pulled, pull == 1 ? weighted : grads, k->nin, 1e-14);
        drop_all(pulled, k->nin);
    }
    drop_all(forward, nr + 1);
}

static bool is_single(const IrFunc *func) {
    for (uint32_t i = 0; i < func->nparams; i++)
        if (ir_is_float(func->params[i]) && func->params[i]->scalar == IR_F32) return true;
    return false;
}

static void check_pair(const Check *k, const IrDatum *jvp, const IrDatum *weighted) {
    double size = 0, left = dot(k->nout, k->weights, jvp, &size);
    double right = dot(k->nin, weighted, k->tangents, &size);
    if (!isfinite(left) || !isfinite(right)) return;
    ck_assert_msg(fabs(left - right) <=
                      (is_single(k->func) ? 1e-4 : fmax(1e-10, 10 * k->c->tolerance)) *
                          (size + 1e-300),
                  "%s: %s: <w, Jv> is %.17g, <J'w, v> is %.17g", k->what, k->c->line, left, right);
}

static void check_func(const Case *c, IrInterp *interp, IrFunc *func, const uint8_t *in,
                       const uint8_t *out, const IrDatum *args, const char *what, int depth);

/* GRAD and JVP as functions of their own, at these arguments. */
static void check_nested(Check *k, const IrDatum *seeds, int depth) {
    char what[128];
    for (int i = 0; i < 2; i++) {
        IrFunc *func = deriv(k, i ? IR_DERIV_JVP : IR_DERIV_GRAD);
        IrDatum args[MOST];
        uint8_t in[MOST], out[MOST];
        floats_of(func, in, out);
        with(k, i ? k->tangents : seeds, i ? k->nin : k->nout, args);
        snprintf(what, sizeof what, "%s of %.100s", i ? "jvp" : "grad", k->what);
        check_func(k->c, k->interp, func, in, out, args, what, depth - 1);
    }
}

static void check_func(const Case *c, IrInterp *interp, IrFunc *func, const uint8_t *in,
                       const uint8_t *out, const IrDatum *args, const char *what, int depth) {
    Check k = {c,
               interp,
               func,
               in,
               out,
               actives(in, func->nparams),
               actives(out, func->nresults),
               args,
               {{0}},
               {{0}},
               !c->is_kink && (depth == DEPTH || !c->is_bend),
               {0}};
    IrDatum primal[MOST] = {{0}}, seeds[MOST] = {{0}}, grads[MOST] = {{0}}, weighted[MOST] = {{0}};
    IrDatum jvp[MOST] = {{0}}, all[MOST];
    uint32_t state = 12345, at = 0, nr = func->nresults;
    snprintf(k.what, sizeof k.what, "%s", what);
    call(&k, func, args, primal);
    for (uint32_t i = 0; i < func->nparams; i++)
        if (in[i]) k.tangents[at++] = filled(args[i], &state, 0);
    at = 0;
    for (uint32_t i = 0; i < nr; i++) {
        if (!out[i]) continue;
        k.weights[at] = filled(primal[i], &state, 0);
        seeds[at] = c->nseeds && depth == DEPTH ? moved(c->seeds[at], c->seeds[at], 0)
                                                : filled(primal[i], NULL, 1);
        at++;
    }
    call(&k, deriv(&k, IR_DERIV_GRAD), with(&k, seeds, k.nout, all), grads);
    check_same(&k, "grad", grads, primal, nr);
    if (depth == DEPTH && !c->is_any) {
        check_near(&k, "the function", primal, c->results, nr, c->tolerance);
        check_near(&k, "grad", grads + nr, c->derivs, k.nin, c->tolerance);
    }
    call(&k, deriv(&k, IR_DERIV_GRAD), with(&k, k.weights, k.nout, all), weighted);
    check_forward(&k, primal, jvp);
    check_pair(&k, jvp, weighted + nr);
    check_split(&k, primal, seeds, grads + nr, weighted + nr);
    if (depth > 1 && !c->is_first) check_nested(&k, seeds, depth);
    drop_all(k.tangents, MOST);
    drop_all(k.weights, MOST);
    drop_all(primal, MOST);
    drop_all(seeds, MOST);
    drop_all(grads, MOST);
    drop_all(weighted, MOST);
    drop_all(jvp, MOST);
}

/* ---- files ---- */

static bool is_case(const char *line) {
    const char *at = strstr(line, " -> ");
    return line[0] == ';' && line[1] == ' ' && at && strchr(line, '@') && strchr(line, '@') < at;
}

static void differentiate(IrModule *module, const char *what) {
    Arena *arena = arena_new();
    Sources sources;
    StrBuf messages = {0};
    sources_init(&sources, arena);
    Diags *diags = diags_new(arena, &sources);
    ad_run(module, diags);
    diags_render(diags, &messages);
    ck_assert_msg(diags_errors(diags) == 0, "%s: %s", what, messages.text);
    const char *fault = ir_verify(module);
    if (getenv("AD_CASES_SHOW") || fault) {
        StrBuf text = {0};
        ir_print_module(&text, module);
        fprintf(stderr, "%s\n", text.text);
        strbuf_free(&text);
    }
    ck_assert_msg(!fault, "%s: %s", what, fault ? fault : "");
    strbuf_free(&messages);
    diags_free(diags);
    sources_free(&sources);
    arena_free(arena);
}

static void check_file(const char *name, char *text, void *data) {
    const char *only = getenv("AD_CASE");
    IrModule *module = ir_case_module(text, name);
    Case *cases = calloc(500, sizeof *cases);
    uint32_t n = 0;
    char *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        if (!is_case(line)) continue;
        ck_assert_uint_lt(n, 500);
        read_case(module, line, &cases[n]);
        if (only && strcmp(only, cases[n].name) != 0) free_case(&cases[n]);
        else n++;
    }
    for (uint32_t i = 0; i < n; i++)
        request(cases[i].func, cases[i].in, cases[i].out, cases[i].is_first ? 1 : DEPTH);
    differentiate(module, name);
    for (uint32_t i = 0; i < n; i++) {
        IrInterp *interp = ir_interp_new(module);
        check_func(&cases[i], interp, cases[i].func, cases[i].in, cases[i].out, cases[i].args,
                   cases[i].name, DEPTH);
        ir_interp_free(interp);
        free_case(&cases[i]);
    }
    *(uint32_t *)data += n;
    free(cases);
    ir_module_free(module);
}

START_TEST(cases) {
    uint32_t n = 0;
    ir_case_files("ad", check_file, &n);
    ck_assert_uint_gt(n, 0);
}
END_TEST

UNIT_MAIN("ad-cases", cases)
