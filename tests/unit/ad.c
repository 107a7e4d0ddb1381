/* Differentiation beyond single programs (those are in ad-cases.c): high orders, strong_zero, what
   goes onto a tape, requests that are errors. */
#include "tests/unit/ircalls.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "ad/ad.h"

/* ---- making and calling ---- */

typedef struct World {
    IrModule *module;
    Arena *arena;
    Sources sources;
    Diags *diags;
    StrBuf messages;
} World;

static World world_new(const char *text) {
    World w = {.module = ir_case_module(text, "module"), .arena = arena_new()};
    sources_init(&w.sources, w.arena);
    w.diags = diags_new(w.arena, &w.sources);
    return w;
}

static void world_free(World *w) {
    ir_module_free(w->module);
    diags_free(w->diags);
    sources_free(&w->sources);
    strbuf_free(&w->messages);
    arena_free(w->arena);
}

/* In all float parameters and results. */
static IrFunc *derive(IrDerivMode mode, IrFunc *func, uint32_t options) {
    uint8_t in[16], out[16];
    for (uint32_t i = 0; i < func->nparams; i++) in[i] = ir_is_float(func->params[i]);
    for (uint32_t i = 0; i < func->nresults; i++) out[i] = ir_is_float(func->results[i]);
    return ir_deriv(func->module, mode, func, in, out, options);
}

static void run(World *w) {
    ad_run(w->module, w->diags);
    diags_render(w->diags, &w->messages);
    strbuf_add(&w->messages, "");
    if (diags_errors(w->diags)) return;
    const char *fault = ir_verify(w->module);
    ck_assert_msg(!fault, "%s", fault ? fault : "");
}

/* Of a function of scalars. */
static void call(World *w, IrFunc *func, const double *args, double *results) {
    IrDatum in[16], out[16];
    IrInterp *interp = ir_interp_new(w->module);
    for (uint32_t i = 0; i < func->nparams; i++) in[i] = ir_datum_float(args[i]);
    bool ok = ir_interp_call(interp, func, in, out);
    ck_assert_msg(ok, "%s", ok ? "" : ir_interp_error(interp).message);
    for (uint32_t i = 0; i < func->nresults; i++) results[i] = out[i].as.f;
    ir_interp_free(interp);
}

/* ---- high orders ---- */

static const char inverse[] = "func @f(%x: f64) -> (f64) {\n"
                              "  %one: f64 = const 1.0\n"
                              "  %y: f64 = div %one, %x\n"
                              "  yield %y\n"
                              "}\n";

/* The derivative of the last result in the first parameter, with the other parameters fixed. */
static IrFunc *next(IrDerivMode mode, IrFunc *func) {
    uint8_t in[64] = {1}, out[64] = {0};
    out[func->nresults - 1] = 1;
    return ir_deriv(func->module, mode, func, in, out, 0);
}

START_TEST(sixth_derivative) {
    static const IrDerivMode modes[][6] = {
        {IR_DERIV_JVP, IR_DERIV_JVP, IR_DERIV_JVP, IR_DERIV_JVP, IR_DERIV_JVP, IR_DERIV_JVP},
        {IR_DERIV_GRAD, IR_DERIV_GRAD, IR_DERIV_GRAD, IR_DERIV_GRAD, IR_DERIV_GRAD, IR_DERIV_GRAD},
        {IR_DERIV_GRAD, IR_DERIV_JVP, IR_DERIV_GRAD, IR_DERIV_JVP, IR_DERIV_GRAD, IR_DERIV_JVP},
    };
    const double want[] = {-0.0625, 0.03125, -0.0234375, 0.0234375, -0.029296875, 0.0439453125};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        World w = world_new(inverse);
        IrFunc *orders[7] = {ir_find_func(w.module, "f")};
        double args[16] = {4, 1, 1, 1, 1, 1, 1, 1}, results[16];
        for (int i = 0; i < 6; i++) orders[i + 1] = next(modes[m][i], orders[i]);
        run(&w);
        for (int i = 1; i < 7; i++) {
            call(&w, orders[i], args, results);
            double is = results[orders[i]->nresults - 1];
            ck_assert_msg(fabs(is - want[i - 1]) < 1e-13, "order %d: %.17g", i, is);
        }
        world_free(&w);
    }
}
END_TEST

/* x - 1 + 2 (x - 1)**2 + ... in a loop: the third derivative goes through tapes of tapes. */
static const char loop[] = "func @f(%x: f64) -> (f64) {\n"
                           "  %n: i64 = const 3\n"
                           "  %y: f64 = loop %n, %x { (%t: i64, %z: f64)\n"
                           "    %s: f64 = mul %z, %z\n"
                           "    %u: f64 = add %s, %x\n"
                           "    yield %u\n"
                           "  }\n"
                           "  yield %y\n"
                           "}\n";

START_TEST(third_derivative_of_a_loop) {
    double first = 0;
    for (int m = 0; m < 8; m++) {
        World w = world_new(loop);
        IrFunc *func = ir_find_func(w.module, "f");
        double args[16] = {0.3, 1, 1, 1, 1, 1}, results[16];
        for (int i = 0; i < 3; i++) func = next(m >> i & 1 ? IR_DERIV_GRAD : IR_DERIV_JVP, func);
        run(&w);
        call(&w, func, args, results);
        double is = results[func->nresults - 1];
        if (m == 0) first = is;
        ck_assert_msg(fabs(is - first) < 1e-12 * fabs(first), "%d: %.17g, %.17g", m, is, first);
        world_free(&w);
    }
    /* of (((x^2 + x)^2 + x)^2 + x), by its coefficients */
    ck_assert_msg(fabs(first - 107.46048) < 1e-10, "%.17g", first);
}
END_TEST

/* ---- strong_zero: sqrt(x*x*x*x) at 0 has slope inf * 0 ---- */

static const char root[] = "func @dsqrt(%x: f64, %dx: f64, %r: f64) -> (f64) {\n"
                           "  %h: f64 = const 0.5\n"
                           "  %s: f64 = div %h, %r\n"
                           "  %d: f64 = mul %s, %dx\n"
                           "  yield %d\n"
                           "}\n"
                           "math_rule sqrt f64 @dsqrt\n"
                           "func @f(%x: f64) -> (f64) {\n"
                           "  %a: f64 = mul %x, %x\n"
                           "  %b: f64 = mul %a, %a\n"
                           "  %r: f64 = math sqrt %b\n"
                           "  yield %r\n"
                           "}\n";

START_TEST(strong_zero) {
    World w = world_new(root);
    IrFunc *f = ir_find_func(w.module, "f");
    IrFunc *grad = derive(IR_DERIV_GRAD, f, IR_STRONG_ZERO);
    IrFunc *jvp = derive(IR_DERIV_JVP, f, IR_STRONG_ZERO);
    IrFunc *weak = derive(IR_DERIV_GRAD, f, 0);
    double args[] = {0, 1}, results[2];
    run(&w);
    call(&w, grad, args, results);
    ck_assert_double_eq(results[1], 0);
    call(&w, jvp, args, results);
    ck_assert_double_eq(results[1], 0);
    call(&w, weak, args, results);
    ck_assert(isnan(results[1]));
    args[0] = 2;
    call(&w, grad, args, results);
    ck_assert_double_eq(results[1], 4);
    world_free(&w);
}
END_TEST

/* ---- what stands on a tape ---- */

static void count_pushes(IrInst *inst, void *data) {
    uint32_t *counts = data;
    if (inst->op != IR_TAPE_PUSH) return;
    for (uint32_t i = 1; i < inst->noperands; i++)
        counts[inst->operands[i]->type->kind == IR_T_ARRAY ? 1 : 0]++;
}

/* Scalars and arrays that the pushes of GRAD of @f name. */
static void pushes(const char *text, uint32_t counts[2]) {
    World w = world_new(text);
    IrFunc *grad = derive(IR_DERIV_GRAD, ir_find_func(w.module, "f"), 0);
    counts[0] = counts[1] = 0;
    run(&w);
    ir_walk(grad->body, count_pushes, counts);
    world_free(&w);
}

START_TEST(tapes_are_small) {
    uint32_t counts[2];
    /* x[i] = x[i] * x[i]: one number a trip, never the array */
    pushes("func @f(%x: [?]f64, %n: i64) -> ([?]f64) {\n"
           "  %y: [?]f64 = loop %n, %x { (%i: i64, %a: [?]f64)\n"
           "    %e: f64 = index %a [%i]\n"
           "    %s: f64 = mul %e, %e\n"
           "    %b: [?]f64 = update %a [%i], %s\n"
           "    yield %b\n"
           "  }\n"
           "  yield %y\n"
           "}\n",
           counts);
    ck_assert_uint_eq(counts[0], 1);
    ck_assert_uint_eq(counts[1], 0);
    /* y += w[i] * x[i]: nothing, both are there */
    pushes("func @f(%w: [?]f64, %x: [?]f64, %n: i64) -> (f64) {\n"
           "  %z: f64 = const 0.0\n"
           "  %y: f64 = loop %n, %z { (%i: i64, %s: f64)\n"
           "    %a: f64 = index %w [%i]\n"
           "    %b: f64 = index %x [%i]\n"
           "    %p: f64 = mul %a, %b\n"
           "    %q: f64 = add %s, %p\n"
           "    yield %q\n"
           "  }\n"
           "  yield %y\n"
           "}\n",
           counts);
    ck_assert_uint_eq(counts[0] + counts[1], 0);
    /* a parallel region keeps nothing, a loop in it only its own */
    pushes("func @f(%x: [?]f64, %n: i64) -> ([?]f64) {\n"
           "  %y: [?]f64 = build [%n] { (%i: i64)\n"
           "    %a: f64 = index %x [%i]\n"
           "    %s: f64 = mul %a, %a\n"
           "    %t: f64 = mul %s, %a\n"
           "    yield %t\n"
           "  }\n"
           "  yield %y\n"
           "}\n",
           counts);
    ck_assert_uint_eq(counts[0] + counts[1], 0);
}
END_TEST

/* ---- errors ---- */

static void check_error(const char *text, const char *want) {
    World w = world_new(text);
    derive(IR_DERIV_GRAD, ir_find_func(w.module, "f"), 0);
    run(&w);
    ck_assert_uint_ge(diags_errors(w.diags), 1);
    ck_assert_msg(strstr(w.messages.text, want), "%s", w.messages.text);
    world_free(&w);
}

START_TEST(errors) {
    check_error("func @j0(f64) -> (f64) extern symbol \"j0\"\n"
                "func @f(%x: f64) -> (f64) {\n"
                "  %y: f64 = call @j0(%x)\n"
                "  yield %y\n"
                "}\n",
                "'j0' is extern and has no derivative");
    check_error("func @f(%x: f64) -> (f64) {\n"
                "  %one: f64 = const 1.0\n"
                "  %v: f64, %y: f64 = call @g(%x, %one)\n"
                "  yield %y\n"
                "}\n"
                "func @g(f64, f64) -> (f64, f64) = grad of @f active (1) -> (1)\n",
                "a derivative needs itself: ");
    check_error("func @f(%x: f64) -> (f64) {\n"
                "  %y: f64 = math exp %x\n"
                "  yield %y\n"
                "}\n",
                "'exp' has no derivative");
    check_error("func @r(%x: f64, %k: f64, %dx: f64, %y: f64) -> (f64) {\n"
                "  %d: f64 = mul %k, %dx\n"
                "  yield %d\n"
                "}\n"
                "func @h(%x: f64, %k: f64) -> (f64) rule @r (1, 0) {\n"
                "  %y: f64 = mul %k, %x\n"
                "  yield %y\n"
                "}\n"
                "func @f(%x: f64) -> (f64) {\n"
                "  %y: f64 = call @h(%x, %x)\n"
                "  yield %y\n"
                "}\n",
                "says nothing of 'k'");
}
END_TEST

/* An extern function that gets nothing active is only called. */
START_TEST(extern_of_constants) {
    World w = world_new("func @c(f64) -> (f64) extern symbol \"c\"\n"
                        "func @f(%x: f64, %n: i64) -> (f64) {\n"
                        "  %k: f64 = cast %n\n"
                        "  %z: f64 = call @c(%k)\n"
                        "  %y: f64 = mul %x, %z\n"
                        "  yield %y\n"
                        "}\n");
    derive(IR_DERIV_GRAD, ir_find_func(w.module, "f"), 0);
    run(&w);
    ck_assert_msg(diags_errors(w.diags) == 0, "%s", w.messages.text);
    world_free(&w);
}
END_TEST

/* Functions that call the one before twice: as many derivatives as functions. */
START_TEST(requests_are_made_once) {
    StrBuf text = {0};
    strbuf_add(&text, "func @f0(%x: f64) -> (f64) {\n  yield %x\n}\n");
    for (int i = 1; i < 18; i++)
        strbuf_printf(&text,
                      "func @f%d(%%x: f64) -> (f64) {\n"
                      "  %%a: f64 = call @f%d(%%x)\n"
                      "  %%b: f64 = call @f%d(%%x)\n"
                      "  %%h: f64 = const 0.5\n"
                      "  %%q: f64 = const 0.25\n"
                      "  %%c: f64 = mul %%h, %%a\n"
                      "  %%d: f64 = mul %%b, %%x\n"
                      "  %%e: f64 = mul %%q, %%d\n"
                      "  %%y: f64 = add %%c, %%e\n"
                      "  yield %%y\n"
                      "}\n",
                      i, i - 1, i - 1);
    World w = world_new(text.text);
    IrFunc *grad = derive(IR_DERIV_GRAD, ir_find_func(w.module, "f17"), 0);
    double args[] = {1, 1}, results[2];
    run(&w);
    ck_assert_uint_le(w.module->funcs.len, 18 + 1 + 2 * 18);
    call(&w, grad, args, results);
    ck_assert_msg(fabs(results[0] - 0.0075169468182139099) < 1e-17, "%.17g", results[0]);
    ck_assert_msg(fabs(results[1] - 0.050112978788092732) < 1e-16, "%.17g", results[1]);
    world_free(&w);
    strbuf_free(&text);
}
END_TEST

/* ---- lanes ---- */

static const char power[] = "func @f(%x: f64, %v: [?]f64, %n: i64) -> (f64) {\n"
                            "  %m: i64 = dim %v, 0\n"
                            "  %zero: f64 = const 0.0\n"
                            "  %s: f64 = reduce sum [%m] init %zero { (%i: i64)\n"
                            "    %e: f64 = index %v [%i]\n"
                            "    %q: f64 = mul %e, %x\n"
                            "    %r: f64 = mul %q, %e\n"
                            "    yield %r\n"
                            "  }\n"
                            "  %y: f64 = loop %n, %s { (%t: i64, %p: f64)\n"
                            "    %k: f64 = mul %p, %x\n"
                            "    yield %k\n"
                            "  }\n"
                            "  yield %y\n"
                            "}\n";

typedef struct Counted {
    uint32_t all, wide_products, taken_apart, pops, calls;
} Counted;

static void count_inst(IrInst *inst, void *data) {
    Counted *c = data;
    c->all++;
    c->taken_apart += inst->op == IR_LANES || inst->op == IR_LANE || inst->op == IR_LANE_SUM;
    c->pops += inst->op == IR_TAPE_POP;
    c->calls += inst->op == IR_CALL;
    c->wide_products +=
        inst->op == IR_MUL && ir_scalar_lanes(inst->results[0]->type->scalar) == 8;
}

static Counted counted(const IrFunc *func) {
    Counted c = {0};
    ir_walk(func->body, count_inst, &c);
    return c;
}

/* A derivative with lanes is, instruction for instruction, that without: all lanes are one value,
   the primal part is there once, and a tape is gone through once. */
START_TEST(lanes_are_one_value) {
    static const IrDerivMode modes[] = {IR_DERIV_JVP, IR_DERIV_GRAD, IR_DERIV_REVERSE};
    World w = world_new(power);
    IrFunc *f = ir_find_func(w.module, "f");
    IrFunc *forward = derive(IR_DERIV_FORWARD, f, 0), *made[3][2];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            made[i][k] = derive(modes[i], f, ir_lanes_option(k ? 8 : 1));
    run(&w);
    ck_assert_str_eq(w.messages.text, "");
    for (int i = 0; i < 3; i++) {
        Counted plain = counted(made[i][0]), wide = counted(made[i][1]);
        ck_assert_uint_eq(wide.all, plain.all);
        ck_assert_uint_eq(wide.pops, plain.pops);
        ck_assert_uint_eq(wide.taken_apart, 0);
        ck_assert_uint_eq(wide.calls, 0);
        ck_assert_uint_gt(wide.wide_products, 0);
    }
    ck_assert_ptr_eq(forward, derive(IR_DERIV_FORWARD, f, 0));
    world_free(&w);
}
END_TEST

UNIT_MAIN("ad", sixth_derivative, third_derivative_of_a_loop, strong_zero, tapes_are_small,
          lanes_are_one_value, errors,
          extern_of_constants, requests_are_made_once)
