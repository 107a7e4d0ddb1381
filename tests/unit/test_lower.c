/* Lowering of trees made by hand: what comes out is verified and run by the interpreter. */
#include "tests/unit/unit.h"

#include "ad/ad.h"
#include "base/intern.h"
#include "ir/interp.h"
#include "lower/lower.h"

#include <math.h>
#include <string.h>

/* ---- trees in short ---- */

typedef struct Kit {
    Arena *arena;
    Interner *interner;
    TypeTable *types;
    Sources sources;
    Diags *diags;
    Program program;
    Type f64, i64, boolean, unit;
    Span none;
} Kit;

static Kit kit;

static void open_kit(void) {
    kit.arena = arena_new();
    kit.interner = interner_new();
    kit.types = type_table_new(kit.arena, kit.interner);
    sources_init(&kit.sources, kit.arena);
    kit.diags = diags_new(kit.arena, &kit.sources);
    kit.program = (Program){.types = kit.types};
    kit.f64 = type_scalar(kit.types, SCALAR_F64);
    kit.i64 = type_scalar(kit.types, SCALAR_I64);
    kit.boolean = type_scalar(kit.types, SCALAR_BOOL);
    kit.unit = type_unit(kit.types);
}

static void close_kit(void) {
    vec_free(&kit.program.roots);
    diags_free(kit.diags);
    sources_free(&kit.sources);
    type_table_free(kit.types);
    interner_free(kit.interner);
    arena_free(kit.arena);
}

static Type array_of(Type elem, Size size) {
    return type_array(kit.types, elem, 1, &size);
}

static Local *local(const char *name, Type type) {
    Local *l = ARENA_NEW(kit.arena, Local);
    l->name = intern(kit.interner, name);
    l->type = type;
    l->var = true;
    return l;
}

static Tree *node(TreeKind kind, Type type) {
    Tree *t = ARENA_NEW(kit.arena, Tree);
    t->kind = kind;
    t->type = type;
    return t;
}

static Tree *with(Tree *t, uint32_t n, Tree *const *args) {
    t->nargs = n;
    t->args = ARENA_ARRAY(kit.arena, Tree *, n);
    for (uint32_t i = 0; i < n; i++) t->args[i] = args[i];
    return t;
}

static Tree *get(Local *l) {
    Tree *t = node(T_LOCAL, l->type);
    t->local = l;
    return t;
}

static Tree *integer(int64_t value) {
    Tree *t = node(T_INT, kit.i64);
    t->value = value;
    return t;
}

static Tree *real(double value) {
    Tree *t = node(T_FLOAT, kit.f64);
    t->real = value;
    return t;
}

static Tree *op(AstOp which, Type type, Tree *a, Tree *b) {
    Tree *t = with(node(T_OP, type), 2, (Tree *[]){a, b});
    t->op = which;
    t->lifted = type->kind == TYPE_ARRAY;
    return t;
}

static Tree *at(Tree *array, Tree *i) {
    Tree *t = with(node(T_INDEX, array->type->elem), 1, &array);
    t->nsubs = 1;
    t->subs = ARENA_NEW(kit.arena, TreeSub);
    t->subs[0] = (TreeSub){.kind = SUB_INDEX, .lo = i};
    return t;
}

static Tree *let(Local *l, Tree *value) {
    Tree *t = with(node(T_LET, kit.unit), 1, &value);
    t->pattern.local = l;
    return t;
}

static Tree *assign(Local *l, AstOp which, Tree *value) {
    Tree *t = with(node(T_ASSIGN, kit.unit), 1, &value);
    t->op = which;
    t->nplaces = 1;
    t->targets = ARENA_NEW(kit.arena, TreePlace);
    t->targets[0] = (TreePlace){.local = l, .type = l->type};
    return t;
}

static Tree *block(Tree *value, uint32_t n, Tree *const *stmts) {
    Tree *t = node(T_BLOCK, value ? value->type : kit.unit);
    t->body = value;
    t->nstmts = n;
    t->stmts = ARENA_ARRAY(kit.arena, Tree *, n);
    for (uint32_t i = 0; i < n; i++) t->stmts[i] = stmts[i];
    return t;
}

static Tree *only(Tree *stmt) {
    return block(NULL, 1, &stmt);
}

static Tree *when(Tree *cond, Tree *then, Tree *other) {
    Tree *t = with(node(T_IF, then->type), 1, &cond);
    t->body = then;
    t->other = other;
    return t;
}

static Tree *effect(Tree *value) {
    return with(node(T_EXPR, kit.unit), 1, &value);
}

static Tree *leave(TreeKind kind, Tree *value) {
    Tree *t = node(kind, kit.unit);
    return value ? with(t, 1, &value) : t;
}

static Tree *loop_over(Local *i, Tree *lo, Tree *hi, Tree *step, Tree *body) {
    Tree *t = node(T_FOR, kit.unit);
    t->nheads = 1;
    t->heads = ARENA_NEW(kit.arena, TreeHead);
    t->heads[0] = (TreeHead){.pattern = {.local = i}, .lo = lo, .hi = hi, .step = step};
    t->body = body;
    return t;
}

static Tree *loop_while(Tree *cond, Tree *body) {
    Tree *t = with(node(T_WHILE, kit.unit), 1, &cond);
    t->body = body;
    return t;
}

/* A function that is exported, so that it is lowered. */
static Instance *function(const char *name, Type result, uint32_t n, Local *const *params,
                          Tree *body) {
    Instance *inst = ARENA_NEW(kit.arena, Instance);
    inst->kind = INSTANCE_FN;
    inst->name = name;
    inst->nparams = n;
    inst->params = ARENA_ARRAY(kit.arena, Local *, n);
    inst->act = ARENA_ARRAY(kit.arena, uint8_t, n);
    for (uint32_t i = 0; i < n; i++) inst->params[i] = params[i];
    inst->result = result;
    inst->body = body;
    vec_push(&kit.program.roots, ((Root){.kind = ROOT_EXPORT, .name = name, .instance = inst}));
    return inst;
}

static IrModule *lowered_with(const LowerOptions *options) {
    IrModule *module = lower_program(&kit.program, &kit.sources, kit.diags, options);
    const char *fault = ir_verify(module);
    if (fault) {
        StrBuf text = {0};
        ir_print_module(&text, module);
        fprintf(stderr, "%s\n", text.text);
    }
    ck_assert_msg(!fault, "%s", fault ? fault : "");
    return module;
}

static IrModule *lowered(void) {
    return lowered_with(NULL);
}

static IrFunc *named(IrModule *module, const char *name) {
    for (uint32_t i = 0; i < module->funcs.len; i++)
        if (!strcmp(module->funcs.at[i]->name, name)) return module->funcs.at[i];
    ck_abort_msg("no function %s", name);
}

static IrDatum reals(uint32_t n, const double *x) {
    int64_t dims[] = {n};
    IrDatum d = ir_datum_array(IR_F64, 1, dims);
    for (uint32_t i = 0; i < n; i++) ir_array_set(d.as.array, i, ir_datum_float(x[i]));
    return d;
}

static double run_real(IrModule *module, const char *name, IrDatum *args) {
    IrInterp *interp = ir_interp_new(module);
    IrDatum result = {0};
    bool ok = ir_interp_call(interp, named(module, name), args, &result);
    ck_assert_msg(ok, "%s", ir_interp_error(interp).message);
    double value = result.kind == IR_D_FLOAT ? result.as.f : (double)result.as.i;
    ir_interp_free(interp);
    return value;
}

static int run_error(IrModule *module, const char *name, IrDatum *args) {
    IrInterp *interp = ir_interp_new(module);
    IrDatum result = {0};
    bool ok = ir_interp_call(interp, named(module, name), args, &result);
    ck_assert(!ok);
    int kind = ir_interp_error(interp).kind;
    ir_interp_free(interp);
    return kind;
}

/* ---- derivatives in short ---- */

static DerivSlot slot(DerivRole role, uint32_t of, Type type, bool mut) {
    return (DerivSlot){.role = role, .of = of, .type = type, .mut = mut};
}

static Instance *derivative(const char *name, DerivPart part, Instance *base, const uint8_t *act,
                            uint32_t width, uint32_t nparams, const DerivSlot *params,
                            uint32_t nresults, const DerivSlot *results) {
    Local **locals = ARENA_ARRAY(kit.arena, Local *, nparams);
    TypePart *parts = ARENA_ARRAY(kit.arena, TypePart, nresults);
    DerivSpec *spec = ARENA_NEW(kit.arena, DerivSpec);
    spec->part = part;
    spec->base_instance = base;
    spec->act = (uint8_t *)act;
    spec->width = width;
    spec->nparams = nparams;
    spec->nresults = nresults;
    spec->params = ARENA_ARRAY(kit.arena, DerivSlot, nparams);
    spec->results = ARENA_ARRAY(kit.arena, DerivSlot, nresults);
    for (uint32_t i = 0; i < nparams; i++) {
        spec->params[i] = params[i];
        locals[i] = local("p", params[i].type);
        locals[i]->mut = params[i].mut;
    }
    for (uint32_t i = 0; i < nresults; i++) {
        spec->results[i] = results[i];
        parts[i] = (TypePart){.type = results[i].type};
    }
    Type result = nresults ? type_tuple(kit.types, nresults, parts) : kit.unit;
    Instance *inst = function(name, result, nparams, locals, NULL);
    inst->kind = INSTANCE_DERIV;
    inst->deriv = spec;
    return inst;
}

/* Element AT of result WHICH. */
static double run_part(IrModule *module, const char *name, IrDatum *args, uint32_t which,
                       int64_t element) {
    IrInterp *interp = ir_interp_new(module);
    IrFunc *func = named(module, name);
    IrDatum results[8] = {{0}};
    bool ok = ir_interp_call(interp, func, args, results);
    ck_assert_msg(ok, "%s", ir_interp_error(interp).message);
    IrDatum d = results[which];
    double value = d.kind == IR_D_ARRAY   ? ir_array_get(d.as.array, element).as.f
                   : d.kind == IR_D_FLOAT ? d.as.f
                                          : (double)d.as.i;
    for (uint32_t i = 0; i < func->nresults; i++) ir_datum_drop(&results[i]);
    ir_interp_free(interp);
    return value;
}

/* ---- tests ---- */

/* var s = 0.0; for i in 0..n { if i == k { break; } if x[i] < 0 { continue; } s += x[i]; } s */
static Tree *sum_until(Local *x, Local *k, Size n, bool by_return) {
    Local *s = local("s", kit.f64), *i = local("i", kit.i64);
    Tree *size = node(T_SIZE, kit.i64);
    size->size = n;
    Tree *stop = leave(by_return ? T_RETURN : T_BREAK, by_return ? get(s) : NULL);
    Tree *body[] = {
        effect(when(op(AST_OP_EQ, kit.boolean, get(i), get(k)), only(stop), NULL)),
        effect(when(op(AST_OP_LT, kit.boolean, at(get(x), get(i)), real(0.0)),
                    only(leave(T_CONTINUE, NULL)), NULL)),
        assign(s, AST_OP_ADD, at(get(x), get(i))),
    };
    Tree *stmts[] = {
        let(s, real(0.0)),
        loop_over(i, integer(0), size, NULL, block(NULL, 3, body)),
    };
    Tree *value = by_return ? op(AST_OP_ADD, kit.f64, get(s), real(100.0)) : get(s);
    return block(value, 2, stmts);
}

START_TEST(loops_leave_early) {
    open_kit();
    for (int by_return = 0; by_return < 2; by_return++) {
        Size n = size_var(kit.types, intern(kit.interner, "n"));
        Local *x = local("x", array_of(kit.f64, n)), *k = local("k", kit.i64);
        function(by_return ? "g" : "f", kit.f64, 2, (Local *[]){x, k},
                 sum_until(x, k, n, by_return));
    }
    IrModule *module = lowered();
    IrDatum args[] = {reals(5, (double[]){1, -2, 4, 8, 16}), ir_datum_int(3)};
    ck_assert_double_eq(run_real(module, "f", args), 5.0);
    ck_assert_double_eq(run_real(module, "g", args), 5.0);
    args[1] = ir_datum_int(9);
    ck_assert_double_eq(run_real(module, "f", args), 29.0);
    ck_assert_double_eq(run_real(module, "g", args), 129.0);
    ir_datum_drop(&args[0]);
    ir_module_free(module);
    close_kit();
}
END_TEST

/* if a < 0 { return -1; } else if a == 0 { return 0; } let b = a + a; if b > 10 { return b; } 7 */
START_TEST(early_returns_nest) {
    open_kit();
    Local *a = local("a", kit.i64), *b = local("b", kit.i64);
    Tree *zero = when(op(AST_OP_EQ, kit.boolean, get(a), integer(0)),
                      only(leave(T_RETURN, integer(0))), NULL);
    Tree *first = when(op(AST_OP_LT, kit.boolean, get(a), integer(0)),
                       only(leave(T_RETURN, integer(-1))), zero);
    Tree *big =
        when(op(AST_OP_GT, kit.boolean, get(b), integer(10)), only(leave(T_RETURN, get(b))), NULL);
    Tree *stmts[] = {effect(first), let(b, op(AST_OP_ADD, kit.i64, get(a), get(a))), effect(big)};
    function("f", kit.i64, 1, &a, block(integer(7), 3, stmts));
    IrModule *module = lowered();
    double expected[][2] = {{-5, -1}, {0, 0}, {3, 7}, {6, 12}};
    for (int i = 0; i < 4; i++) {
        IrDatum arg = ir_datum_int((int64_t)expected[i][0]);
        ck_assert_double_eq(run_real(module, "f", &arg), expected[i][1]);
    }
    ir_module_free(module);
    close_kit();
}
END_TEST

/* let b = if a > 5 { return 50; } else { a * 2 }; b + 1 */
START_TEST(values_may_leave) {
    open_kit();
    Local *a = local("a", kit.i64), *b = local("b", kit.i64);
    Tree *value =
        when(op(AST_OP_GT, kit.boolean, get(a), integer(5)), only(leave(T_RETURN, integer(50))),
             block(op(AST_OP_MUL, kit.i64, get(a), integer(2)), 0, NULL));
    value->type = kit.i64;
    Tree *stmt = let(b, value);
    function("f", kit.i64, 1, &a, block(op(AST_OP_ADD, kit.i64, get(b), integer(1)), 1, &stmt));
    IrModule *module = lowered();
    IrDatum arg = ir_datum_int(7);
    ck_assert_double_eq(run_real(module, "f", &arg), 50);
    arg = ir_datum_int(4);
    ck_assert_double_eq(run_real(module, "f", &arg), 9);
    ir_module_free(module);
    close_kit();
}
END_TEST

/* var n = 0; while a > 1 { a = if a % 2 == 0 { a / 2 } else { 3 * a + 1 }; n += 1; } n */
START_TEST(while_counts_steps) {
    open_kit();
    Local *a = local("a", kit.i64), *n = local("n", kit.i64);
    Tree *even =
        op(AST_OP_EQ, kit.boolean, op(AST_OP_MOD, kit.i64, get(a), integer(2)), integer(0));
    Tree *odd = op(AST_OP_ADD, kit.i64, op(AST_OP_MUL, kit.i64, integer(3), get(a)), integer(1));
    Tree *body[] = {
        assign(a, AST_OP_NONE, when(even, op(AST_OP_DIV, kit.i64, get(a), integer(2)), odd)),
        assign(n, AST_OP_ADD, integer(1)),
    };
    Tree *stmts[] = {let(n, integer(0)), loop_while(op(AST_OP_GT, kit.boolean, get(a), integer(1)),
                                                    block(NULL, 2, body))};
    function("f", kit.i64, 1, &a, block(get(n), 2, stmts));
    IrModule *module = lowered();
    IrDatum arg = ir_datum_int(27);
    ck_assert_double_eq(run_real(module, "f", &arg), 111);
    arg = ir_datum_int(1);
    ck_assert_double_eq(run_real(module, "f", &arg), 0);
    ir_module_free(module);
    close_kit();
}
END_TEST

/* for i in a..b by s { n = 10 * n + i; } */
START_TEST(steps_of_either_sign) {
    open_kit();
    Local *a = local("a", kit.i64), *b = local("b", kit.i64), *s = local("s", kit.i64);
    Local *n = local("n", kit.i64), *i = local("i", kit.i64);
    Tree *body =
        assign(n, AST_OP_NONE,
               op(AST_OP_ADD, kit.i64, op(AST_OP_MUL, kit.i64, get(n), integer(10)), get(i)));
    Tree *stmts[] = {let(n, integer(0)), loop_over(i, get(a), get(b), get(s), only(body))};
    function("f", kit.i64, 3, (Local *[]){a, b, s}, block(get(n), 2, stmts));
    IrModule *module = lowered();
    int64_t cases[][4] = {{1, 4, 1, 123},  {1, 6, 2, 135}, {1, 7, 3, 14}, {4, 0, -1, 4321},
                          {5, 0, -2, 531}, {3, 3, 1, 0},   {3, 1, 1, 0},  {1, 3, -1, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        IrDatum args[3];
        for (int j = 0; j < 3; j++) args[j] = ir_datum_int(cases[k][j]);
        ck_assert_double_eq(run_real(module, "f", args), (double)cases[k][3]);
    }
    IrDatum args[] = {ir_datum_int(1), ir_datum_int(2), ir_datum_int(0)};
    ck_assert_int_eq(run_error(module, "f", args), 4);
    ir_module_free(module);
    close_kit();
}
END_TEST

/* sum(for i in 0..n, j in 0..i where x[i] > x[j]: x[i] * x[j]) */
START_TEST(reductions_depend) {
    open_kit();
    Size n = size_var(kit.types, intern(kit.interner, "n"));
    Local *x = local("x", array_of(kit.f64, n));
    Local *i = local("i", kit.i64), *j = local("j", kit.i64);
    Tree *size = node(T_SIZE, kit.i64);
    size->size = n;
    Tree *t = node(T_REDUCE, kit.f64);
    t->reduce = REDUCE_SUM;
    t->nheads = 2;
    t->heads = ARENA_ARRAY(kit.arena, TreeHead, 2);
    t->heads[0] = (TreeHead){.pattern = {.local = i}, .lo = integer(0), .hi = size};
    t->heads[1] = (TreeHead){.pattern = {.local = j}, .lo = integer(0), .hi = get(i)};
    t->where = op(AST_OP_GT, kit.boolean, at(get(x), get(i)), at(get(x), get(j)));
    t->body = op(AST_OP_MUL, kit.f64, at(get(x), get(i)), at(get(x), get(j)));
    function("f", kit.f64, 1, &x, t);
    IrModule *module = lowered();
    IrDatum arg = reals(4, (double[]){1, 3, 2, 5});
    ck_assert_double_eq(run_real(module, "f", &arg), 3 + 2 + 5 + 15 + 10);
    ir_datum_drop(&arg);
    ir_module_free(module);
    close_kit();
}
END_TEST

/* y * sum(for i in 0..n: x[i] * x[i]) */
static Instance *square(Size n) {
    Local *x = local("x", array_of(kit.f64, n)), *y = local("y", kit.f64);
    Local *i = local("i", kit.i64);
    Tree *size = node(T_SIZE, kit.i64), *t = node(T_REDUCE, kit.f64);
    size->size = n;
    t->reduce = REDUCE_SUM;
    t->nheads = 1;
    t->heads = ARENA_ARRAY(kit.arena, TreeHead, 1);
    t->heads[0] = (TreeHead){.pattern = {.local = i}, .lo = integer(0), .hi = size};
    t->body = op(AST_OP_MUL, kit.f64, at(get(x), get(i)), at(get(x), get(i)));
    Instance *inst =
        function("f", kit.f64, 2, (Local *[]){x, y}, op(AST_OP_MUL, kit.f64, get(y), t));
    inst->result_act = ACT_ACTIVE;
    return inst;
}

START_TEST(gradients_return) {
    open_kit();
    Size n = size_var(kit.types, intern(kit.interner, "n"));
    Type vector = array_of(kit.f64, n);
    static const uint8_t active[] = {ACT_ACTIVE, ACT_ACTIVE}, first[] = {ACT_ACTIVE, ACT_CONST};
    Instance *f = square(n);
    DerivSlot params[] = {slot(ROLE_PRIMAL, 0, vector, false),
                          slot(ROLE_PRIMAL, 1, kit.f64, false)};
    DerivSlot results[] = {slot(ROLE_PRIMAL, 0, kit.f64, false),
                           slot(ROLE_COTANGENT, 0, vector, false),
                           slot(ROLE_COTANGENT, 1, kit.f64, false)};
    derivative("g", DERIV_PART_GRAD, f, active, 0, 2, params, 3, results);
    DerivSlot tangents[] = {params[0], slot(ROLE_TANGENT, 0, vector, false), params[1]};
    DerivSlot along[] = {slot(ROLE_TANGENT, 0, kit.f64, false)};
    derivative("h", DERIV_PART_JVP, f, first, 0, 3, tangents, 1, along);
    IrModule *module = lowered();
    ad_run(module, kit.diags);
    const char *fault = ir_verify(module);
    ck_assert_msg(!fault, "%s", fault ? fault : "");
    IrDatum args[] = {reals(2, (double[]){3, 4}), ir_datum_float(10)};
    ck_assert_double_eq(run_part(module, "g", args, 0, 0), 250);
    ck_assert_double_eq(run_part(module, "g", args, 1, 0), 60);
    ck_assert_double_eq(run_part(module, "g", args, 1, 1), 80);
    ck_assert_double_eq(run_part(module, "g", args, 2, 0), 25);
    IrDatum more[] = {args[0], reals(2, (double[]){1, -1}), args[1]};
    ck_assert_double_eq(run_part(module, "h", more, 0, 0), -20);
    ir_datum_drop(&args[0]);
    ir_datum_drop(&more[1]);
    ir_module_free(module);
    close_kit();
}
END_TEST

START_TEST(shadows_are_added_to) {
    open_kit();
    Size n = size_var(kit.types, intern(kit.interner, "n"));
    Size three[] = {size_const(kit.types, 3), n};
    Type vector = array_of(kit.f64, n), batch = type_array(kit.types, kit.f64, 2, three);
    static const uint8_t act[] = {ACT_DUPLICATED, ACT_CONST};
    Instance *f = square(n);
    DerivSlot params[] = {slot(ROLE_PRIMAL, 0, vector, false), slot(ROLE_SHADOW, 0, vector, true),
                          slot(ROLE_PRIMAL, 1, kit.f64, false)};
    derivative("g", DERIV_PART_GRAD, f, act, 0, 3, params, 0, NULL);
    params[1].type = batch;
    DerivSlot seeded[] = {params[0], params[1], params[2],
                          slot(ROLE_SEED, 0, array_of(kit.f64, three[0]), false)};
    derivative("b", DERIV_PART_GRAD, f, act, 3, 4, seeded, 0, NULL);
    IrModule *module = lowered();
    ad_run(module, kit.diags);
    IrDatum args[] = {reals(2, (double[]){3, 4}), reals(2, (double[]){100, 200}),
                      ir_datum_float(10)};
    ck_assert_double_eq(run_part(module, "g", args, 0, 0), 160);
    ck_assert_double_eq(run_part(module, "g", args, 0, 1), 280);
    IrDatum lanes[] = {args[0], ir_datum_array(IR_F64, 2, (int64_t[]){3, 2}), args[2],
                       reals(3, (double[]){1, 2, -1})};
    ck_assert_double_eq(run_part(module, "b", lanes, 0, 3), 160);
    ck_assert_double_eq(run_part(module, "b", lanes, 0, 4), -60);
    for (int i = 0; i < 2; i++) ir_datum_drop(&args[i]);
    ir_datum_drop(&lanes[1]);
    ir_datum_drop(&lanes[3]);
    ir_module_free(module);
    close_kit();
}
END_TEST

START_TEST(tapes_are_pulled) {
    open_kit();
    Size n = size_var(kit.types, intern(kit.interner, "n"));
    Size five[] = {size_const(kit.types, 6), n};
    Type vector = array_of(kit.f64, n), batch = type_array(kit.types, kit.f64, 2, five);
    Type tape = type_tape(kit.types, NULL), lanes = array_of(kit.f64, five[0]);
    static const uint8_t act[] = {ACT_ACTIVE, ACT_ACTIVE};
    Instance *f = square(n);
    DerivSlot in[] = {slot(ROLE_PRIMAL, 0, vector, false), slot(ROLE_PRIMAL, 1, kit.f64, false)};
    DerivSlot out[] = {slot(ROLE_TAPE, 0, tape, false), slot(ROLE_PRIMAL, 0, kit.f64, false)};
    derivative("forward", DERIV_PART_FORWARD, f, act, 0, 2, in, 2, out);
    DerivSlot back[] = {slot(ROLE_SEED, 0, kit.f64, false), slot(ROLE_TAPE, 0, tape, false)};
    DerivSlot cot[] = {slot(ROLE_COTANGENT, 0, vector, false),
                       slot(ROLE_COTANGENT, 1, kit.f64, false)};
    derivative("reverse", DERIV_PART_REVERSE, f, act, 0, 2, back, 2, cot);
    back[0].type = cot[1].type = lanes;
    cot[0].type = batch;
    derivative("wide", DERIV_PART_REVERSE, f, act, 6, 2, back, 2, cot);
    IrModule *module = lowered();
    ad_run(module, kit.diags);
    const char *fault = ir_verify(module);
    ck_assert_msg(!fault, "%s", fault ? fault : "");
    IrInterp *interp = ir_interp_new(module);
    IrDatum args[] = {reals(2, (double[]){3, 4}), ir_datum_float(10)}, made[2] = {{0}};
    ck_assert(ir_interp_call(interp, named(module, "forward"), args, made));
    ck_assert_double_eq(made[1].as.f, 250);
    IrDatum pull[] = {ir_datum_float(2), made[0]};
    ck_assert_double_eq(run_part(module, "reverse", pull, 0, 1), 160);
    ck_assert_double_eq(run_part(module, "reverse", pull, 1, 0), 50);
    pull[0] = reals(6, (double[]){1, 2, 3, 4, -1, 5});
    ck_assert_double_eq(run_part(module, "wide", pull, 0, 9), -80);
    ck_assert_double_eq(run_part(module, "wide", pull, 1, 2), 75);
    ir_datum_drop(&pull[0]);
    ir_datum_drop(&made[0]);
    ir_datum_drop(&args[0]);
    ir_interp_free(interp);
    ir_module_free(module);
    close_kit();
}
END_TEST

static void binary_function(const char *name, AstOp which) {
    Local *a = local("a", kit.i64), *b = local("b", kit.i64);
    function(name, kit.i64, 2, (Local *[]){a, b}, op(which, kit.i64, get(a), get(b)));
}

START_TEST(overflow_is_checked) {
    open_kit();
    binary_function("add", AST_OP_ADD);
    binary_function("sub", AST_OP_SUB);
    binary_function("mul", AST_OP_MUL);
    IrModule *module = lowered_with(&(LowerOptions){.check_overflow = true});
    static const struct {
        const char *name;
        int64_t a, b;
        bool fails;
    } cases[] = {
        {"add", INT64_MAX, 0, false}, {"add", INT64_MAX, 1, true},
        {"add", INT64_MIN, -1, true}, {"sub", INT64_MIN, 0, false},
        {"sub", INT64_MIN, 1, true},  {"sub", 0, INT64_MIN, true},
        {"mul", 1l << 40, 3, false},  {"mul", 1l << 40, 1l << 40, true},
        {"mul", INT64_MIN, -1, true}, {"mul", -4, 1l << 61, false},
        {"mul", -5, 1l << 61, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        IrDatum args[] = {ir_datum_int(cases[i].a), ir_datum_int(cases[i].b)};
        if (cases[i].fails) ck_assert_int_eq(run_error(module, cases[i].name, args), 11);
        else run_real(module, cases[i].name, args);
    }
    ir_module_free(module);
    close_kit();
}
END_TEST

START_TEST(unchecked_saturates) {
    open_kit();
    Local *x = local("x", kit.f64);
    static const Scalar to[] = {SCALAR_I8, SCALAR_U8, SCALAR_I64};
    static const char *const names[] = {"i8", "u8", "i64"};
    for (int i = 0; i < 3; i++) {
        Type type = type_scalar(kit.types, to[i]);
        Tree *value = get(x);
        function(names[i], type, 1, &x, with(node(T_CAST, type), 1, &value));
    }
    IrModule *module = lowered_with(&(LowerOptions){.unchecked = true});
    static const double inputs[] = {3.9, -3.9, 1e30, -1e30, (double)NAN};
    static const int64_t expected[3][5] = {
        {3, -3, 127, -128, 0}, {3, 0, 255, 0, 0}, {3, -3, INT64_MAX, INT64_MIN, 0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++) {
            IrInterp *interp = ir_interp_new(module);
            IrDatum arg = ir_datum_float(inputs[k]), result = {0};
            ck_assert(ir_interp_call(interp, named(module, names[i]), &arg, &result));
            ck_assert_int_eq(result.as.i, expected[i][k]);
            ir_interp_free(interp);
        }
    ir_module_free(module);
    close_kit();
}
END_TEST

UNIT_MAIN("lower", tapes_are_pulled, overflow_is_checked, unchecked_saturates, gradients_return,
          shadows_are_added_to, loops_leave_early, early_returns_nest, values_may_leave,
          while_counts_steps, steps_of_either_sign, reductions_depend)
