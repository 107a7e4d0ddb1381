/* The builder with its text, facts, rewriting, derivative requests. */
#include "ir/build.h"
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/ir.h"

static IrModule *parse(const char *text) {
    const char *message;
    IrModule *module = ir_module_new(NULL);
    bool ok = ir_parse(module, text, strlen(text), &message);
    ck_assert_msg(ok, "%s", ok ? "" : message);
    const char *fault = ir_verify(module);
    ck_assert_msg(!fault, "%s", fault ? fault : "");
    return module;
}

static void check_text(IrModule *module, const char *expected) {
    StrBuf out = {0};
    const char *fault = ir_verify(module);
    ck_assert_msg(!fault, "%s", fault ? fault : "");
    ir_print_module(&out, module);
    ck_assert_str_eq(out.text, expected);
    strbuf_free(&out);
}

/* A function with one parameter of TYPE, and a builder at its end. */
static IrFunc *begin(IrModule *module, IrBuilder *b, IrType type, IrType result) {
    const char *name = "x";
    IrFunc *func = ir_func_new(module, "f", 1, &type, &name, 1, &result);
    *b = (IrBuilder){0};
    irb_at_end(b, func->body);
    return func;
}

static IrInst *first_op(IrFunc *func, IrOp op) {
    for (IrInst *inst = func->body->first; inst; inst = inst->next)
        if (inst->op == op) return inst;
    ck_abort_msg("no %s", ir_op_info(op)->name);
    return NULL;
}

/* ---- building ---- */

START_TEST(builds_a_reduction) {
    IrModule *module = ir_module_new(NULL);
    IrBuilder b, in = {0};
    IrType f64 = ir_scalar(module, IR_F64);
    IrFunc *func = begin(module, &b, ir_array(module, IR_F64, 1, NULL), f64);
    IrValue *x = func->body->params[0], *n = irb_dim(&b, x, 0), *zero = irb_zero(&b, IR_F64);
    IrInst *sum = irb_reduce(&b, IR_SUM, 1, &n, 1, &zero);
    irb_at_end(&in, sum->regions[0]);
    IrValue *v = irb_index(&in, x, 1, sum->regions[0]->params);
    v->name = "v";
    IrValue *square = irb_binary(&in, IR_MUL, v, v);
    irb_yield(&in, 1, &square);
    IrValue *root = irb_math(&b, IR_MATH_SQRT, sum->results);
    irb_yield(&b, 1, &root);
    func->flags |= IR_FUNC_ROOT;
    check_text(module, "func @f(%x.0: [?]f64) -> (f64) root {\n"
                       "  %1: i64 = dim %x.0, 0\n"
                       "  %2: f64 = const 0.0\n"
                       "  %3: f64 = reduce sum [%1] init %2 { (%i.4: i64)\n"
                       "    %v.5: f64 = index %x.0 [%i.4]\n"
                       "    %6: f64 = mul %v.5, %v.5\n"
                       "    yield %6\n"
                       "  }\n"
                       "  %7: f64 = math sqrt %3\n"
                       "  yield %7\n"
                       "}\n");
    ir_module_free(module);
}
END_TEST

START_TEST(builds_a_loop_and_a_branch) {
    IrModule *module = ir_module_new(NULL);
    IrBuilder b, in = {0}, arm = {0};
    IrType f64 = ir_scalar(module, IR_F64);
    IrFunc *func = begin(module, &b, f64, f64);
    IrValue *x = func->body->params[0];
    IrInst *loop = irb_loop(&b, irb_int(&b, 8), 1, &x, true);
    IrValue *y = loop->regions[0]->params[1];
    irb_at_end(&in, loop->regions[0]);
    IrValue *small = irb_binary(&in, IR_LT, y, irb_scalar_const(&in, IR_F64, 0, 1e300));
    IrInst *branch = irb_if(&in, small, 1, &f64);
    irb_at_end(&arm, branch->regions[0]);
    IrValue *twice = irb_binary(&arm, IR_ADD, y, y);
    irb_yield(&arm, 1, &twice);
    irb_at_end(&arm, branch->regions[1]);
    irb_yield(&arm, 1, &y);
    irb_yield(&in, 2, (IrValue *[]){small, branch->results[0]});
    irb_yield(&b, 1, loop->results);
    check_text(module, "func @f(%x.0: f64) -> (f64) {\n"
                       "  %1: i64 = const 8\n"
                       "  %2: f64 = loop exit %1, %x.0 { (%t.3: i64, %x.4: f64)\n"
                       "    %5: f64 = const 1e+300\n"
                       "    %6: bool = lt %x.4, %5\n"
                       "    %7: f64 = if %6 {\n"
                       "      %8: f64 = add %x.4, %x.4\n"
                       "      yield %8\n"
                       "    } else {\n"
                       "      yield %x.4\n"
                       "    }\n"
                       "    yield %6, %7\n"
                       "  }\n"
                       "  yield %2\n"
                       "}\n");
    ir_module_free(module);
}
END_TEST

START_TEST(result_types_hold_what_is_known_of_sizes) {
    IrModule *module = ir_module_new(NULL);
    IrBuilder b;
    int64_t dims[] = {-1, 3}, turn[] = {1, 0};
    IrFunc *func = begin(module, &b, ir_array(module, IR_F64, 2, dims), ir_scalar(module, IR_F64));
    IrValue *x = func->body->params[0], *n = irb_dim(&b, x, 0), *three = irb_dim(&b, x, 1);
    IrValue *four = irb_int(&b, 4), *zero = irb_int(&b, 0), *one = irb_int(&b, 1);
    int64_t value;
    ck_assert(ir_const_int(three, &value) && value == 3);
    IrValue *t = irb_transpose(&b, x, turn);
    ck_assert(t->type->dims[0] == 3 && t->type->dims[1] == -1);
    ck_assert(irb_index(&b, x, 1, &zero)->type == ir_array(module, IR_F64, 1, dims + 1));
    IrValue *s = irb_slice(&b, x, (IrValue *[]){zero, zero}, (IrValue *[]){four, n},
                           (IrValue *[]){one, one});
    ck_assert(s->type->dims[0] == 4 && s->type->dims[1] == -1);
    ck_assert(irb_dim(&b, s, 1) == n);
    IrValue *p = irb_pack(&b, 2, (IrValue *[]){x, x}), *c = irb_concat(&b, 2, (IrValue *[]){s, s});
    ck_assert(p->type->rank == 3 && p->type->dims[0] == 2 && p->type->dims[2] == 3);
    ck_assert(c->type->dims[0] == 8);
    IrValue *a = irb_assume(&b, x, (IrValue *[]){four, three});
    ck_assert(a->type->dims[0] == 4 && a->type->dims[1] == 3);
    IrValue *m = irb_contract(&b, a, x, IR_CONTRACT_TB);
    ck_assert(m->type->dims[0] == 4 && m->type->dims[1] == -1);
    ck_assert(irb_contract(&b, irb_index(&b, x, 1, &zero), irb_index(&b, a, 1, &zero), 0)->type ==
              ir_scalar(module, IR_F64));
    ck_assert(irb_zeros_like(&b, a)->type == a->type);
    IrValue *e = irb_elementwise(&b, IR_LT, a, irb_scalar_const(&b, IR_F64, 0, 1));
    ck_assert(e->type->scalar == IR_BOOL && e->type->dims[1] == 3);
    ck_assert(irb_index(&b, x, 0, NULL) == x);
    IrValue *out = irb_zero(&b, IR_F64);
    irb_yield(&b, 1, &out);
    ck_assert_ptr_null(ir_verify(module));
    ir_module_free(module);
}
END_TEST

START_TEST(integers_are_folded) {
    IrModule *module = ir_module_new(NULL);
    IrBuilder b;
    IrType i64 = ir_scalar(module, IR_I64);
    IrFunc *func = begin(module, &b, i64, i64);
    IrValue *x = func->body->params[0], *zero = irb_int(&b, 0), *one = irb_int(&b, 1);
    int64_t value;
    ck_assert(irb_binary(&b, IR_ADD, x, zero) == x && irb_binary(&b, IR_ADD, zero, x) == x);
    ck_assert(irb_binary(&b, IR_SUB, x, zero) == x && irb_binary(&b, IR_SUB, zero, x) != x);
    ck_assert(irb_binary(&b, IR_MUL, x, one) == x && irb_binary(&b, IR_MUL, zero, x) == zero);
    ck_assert(irb_select(&b, irb_bool(&b, false), x, one) == one);
    ck_assert(irb_cast(&b, x, IR_I64) == x);
    IrValue *seven = irb_binary(&b, IR_SUB, irb_int(&b, 12), irb_int(&b, 5));
    ck_assert(ir_const_int(seven, &value) && value == 7);
    IrValue *less = irb_binary(&b, IR_LT, seven, one);
    ck_assert(ir_const_int(less, &value) && value == 0 && ir_is_scalar(less->type, IR_BOOL));
    ck_assert(ir_const_int(irb_cast(&b, irb_int(&b, 300), IR_U8), &value) && value == 44);
    ck_assert(irb_binary(&b, IR_DIV, one, zero)->def->op == IR_DIV);
    IrInst *last = func->body->last;
    irb_check(&b, irb_bool(&b, true), 3, "never", 0, NULL);
    irb_check_index(&b, one, seven, "x");
    ck_assert(func->body->last->op == IR_CONST && func->body->last->prev == last);
    irb_check_index(&b, seven, one, "x");
    ck_assert(func->body->last->op == IR_CHECK_INDEX);
    ir_module_free(module);
}
END_TEST

START_TEST(types_are_the_same_pointers) {
    IrModule *module = ir_module_new(NULL);
    int64_t dims[] = {2, -1}, other[] = {3, 4};
    IrType a = ir_array(module, IR_F32, 2, dims), any = ir_array(module, IR_F32, 2, NULL);
    ck_assert(a == ir_array(module, IR_F32, 2, dims) && a != any);
    ck_assert(ir_array(module, IR_I8, 0, NULL) == ir_scalar(module, IR_I8));
    ck_assert(ir_compatible(a, any) && !ir_compatible(a, ir_array(module, IR_F32, 2, other)));
    ck_assert(!ir_compatible(a, ir_array(module, IR_F64, 2, dims)));
    ck_assert(ir_type_outer(module, ir_type_inner(module, a, 1), 1, dims) == a);
    ck_assert(ir_is_float(a) && ir_is_float(ir_acc(module, a)) && !ir_is_float(ir_str(module)));
    ck_assert(!ir_is_float(ir_scalar(module, IR_F16)) && ir_acc(module, a) != a);
    ir_module_free(module);
}
END_TEST

START_TEST(names_of_functions_are_unique) {
    IrModule *module = ir_module_new(NULL);
    IrFunc *a = ir_func_new(module, "f", 0, NULL, NULL, 0, NULL);
    IrFunc *b = ir_func_new(module, "f", 0, NULL, NULL, 0, NULL);
    IrFunc *c = ir_func_new(module, "f.2", 0, NULL, NULL, 0, NULL);
    IrFunc *d = ir_func_new(module, "f", 0, NULL, NULL, 0, NULL);
    ck_assert_str_eq(a->name, "f");
    ck_assert_str_eq(b->name, "f.2");
    ck_assert_str_eq(c->name, "f.2.2");
    ck_assert_str_eq(d->name, "f.3");
    ck_assert(ir_find_func(module, "f.3") == d && !ir_find_func(module, "g"));
    ir_module_free(module);
}
END_TEST

/* ---- text ---- */

START_TEST(attributes_of_functions_are_kept) {
    const char *text = "unchecked\n"
                       "func @f(%x.0: f64, %n.1: i64) -> (f64, i64) root inline rule @r (1, 0) {\n"
                       "  %1e.7: f64 = neg %x.0 flags 3 imm 4 fimm 0.5 ints (1, 2) text \"a\\tb\"\n"
                       "  yield %1e.7, %n.1\n"
                       "}\n"
                       "\n"
                       "func @\"r of f\"(f64, %n: i64, f64, f64, i64) -> (f64) extern pure symbol "
                       "\"r\\u0001\"\n"
                       "\n"
                       "func @r(f64, i64, f64, f64, i64) -> (f64) extern\n"
                       "\n"
                       "func @g(%x: f64, %n: i64, %seed: f64) -> (f64, i64, f64) = grad of @f "
                       "active (1, 0) -> (1, 0) options 1\n"
                       "\n"
                       "func @d(%a.0: f64, %b.1: f64, %c.2: f64) -> (f64) {\n"
                       "  yield %b.1\n"
                       "}\n"
                       "math_rule sin f32 @d\n"
                       "math_rule sin f64 @d\n";
    IrModule *module = parse(text);
    IrFunc *f = ir_find_func(module, "f"), *g = ir_find_func(module, "g");
    check_text(module, text);
    ck_assert(g->deriv.base == f && g->deriv.mode == IR_DERIV_GRAD && !g->body);
    ck_assert(ir_deriv(module, IR_DERIV_GRAD, f, g->deriv.in_active, g->deriv.out_active, 1) == g);
    ck_assert_uint_eq(f->nvalues, 8);
    ir_module_free(module);
}
END_TEST

START_TEST(constants_are_exact) {
    const char *text = "func @f() -> () {\n"
                       "  %0: f64 = const 0.1\n"
                       "  %1: f32 = const 0.1\n"
                       "  %2: f32 = const 16777216.0\n"
                       "  %3: f64 = const -inf\n"
                       "  %4: f64 = const nan\n"
                       "  %5: f64 = const bits 0xfff8000000000001\n"
                       "  %6: f64 = const -0.0\n"
                       "  %7: f64 = const 5e-324\n"
                       "  %8: f32 = const 1e-45\n"
                       "  %9: u64 = const 18446744073709551615\n"
                       "  %10: i64 = const -9223372036854775808\n"
                       "  %11: bool = const true\n"
                       "  yield\n"
                       "}\n";
    IrModule *module = parse(text);
    StrBuf out = {0};
    ir_print_module(&out, module);
    IrModule *again = parse(out.text);
    check_text(again, out.text);
    strbuf_char(&out, '\n');
    IrInst *a = module->funcs.at[0]->body->first, *b = again->funcs.at[0]->body->first;
    for (; a; a = a->next, b = b->next)
        ck_assert(a->imm == b->imm && memcmp(&a->fimm, &b->fimm, sizeof a->fimm) == 0);
    ck_assert_ptr_nonnull(strstr(out.text, "%5: f64 = const bits 0xfff8000000000001\n"));
    ck_assert_ptr_nonnull(strstr(out.text, "%9: u64 = const 18446744073709551615\n"));
    strbuf_free(&out);
    ir_module_free(module);
    ir_module_free(again);
}
END_TEST

START_TEST(ids_may_be_left_out) {
    IrModule *module = parse("func @f(%x: f64) -> (f64) { ; a comment\n"
                             "  %y: f64 = neg %x\n"
                             "  %z.4: f64 = abs %y\n"
                             "  yield %z.4\n"
                             "}\n");
    check_text(module, "func @f(%x.5: f64) -> (f64) {\n"
                       "  %y.6: f64 = neg %x.5\n"
                       "  %z.4: f64 = abs %y.6\n"
                       "  yield %z.4\n"
                       "}\n");
    ir_module_free(module);
}
END_TEST

/* ---- facts ---- */

START_TEST(sizes_are_traced_to_where_they_come_from) {
    IrModule *module = parse("func @f(%n: i64, %m: i64, %x: [?, ?]f64) -> (f64) {\n"
                             "  %z: f64 = const 0.0\n"
                             "  %b: [?, ?]f64 = build [%n] inner [%m] ranks (1) { (%i: i64)\n"
                             "    %r: [?]f64 = build [%m] { (%j: i64)\n"
                             "      yield %z\n"
                             "    }\n"
                             "    yield %r\n"
                             "  }\n"
                             "  %u: [?, ?]f64 = update %b [%n, %n], %z\n"
                             "  %s: [?, ?]f64 = stop %u\n"
                             "  %t: [?, ?]f64 = transpose %s (1, 0)\n"
                             "  %a: [?]f64 = index %t [%n]\n"
                             "  %p: [1, ?, ?]f64 = pack %t\n"
                             "  %c: [?, ?]f64 = contract ta %t, %t\n"
                             "  %q: [?]i64 = argsort %a\n"
                             "  %w: [?, ?]f64 = assume %x [%m, %n]\n"
                             "  %k: [?, ?]f64 = concat %w, %w\n"
                             "  %v: [?, ?]f64 = with_acc %t { (%acc: acc [?, ?]f64)\n"
                             "    yield\n"
                             "  }\n"
                             "  yield %z\n"
                             "}\n");
    IrFunc *f = ir_find_func(module, "f");
    IrValue *n = f->body->params[0], *m = f->body->params[1], *x = f->body->params[2];
    struct {
        IrOp op;
        uint32_t k;
        IrValue *size;
    } known[] = {
        {IR_BUILD, 0, n},    {IR_BUILD, 1, m},     {IR_UPDATE, 0, n},    {IR_UPDATE, 1, m},
        {IR_STOP, 1, m},     {IR_TRANSPOSE, 0, m}, {IR_TRANSPOSE, 1, n}, {IR_INDEX, 0, n},
        {IR_PACK, 0, NULL},  {IR_PACK, 2, n},      {IR_CONTRACT, 0, n},  {IR_CONTRACT, 1, n},
        {IR_ARGSORT, 0, n},  {IR_ASSUME, 0, m},    {IR_CONCAT, 0, NULL}, {IR_CONCAT, 1, n},
        {IR_WITH_ACC, 0, m},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_msg(ir_known_dim(first_op(f, known[i].op)->results[0], known[i].k) ==
                          known[i].size,
                      "%s, %u", ir_op_info(known[i].op)->name, known[i].k);
    ck_assert_ptr_null(ir_known_dim(x, 0));
    ir_module_free(module);
}
END_TEST

static const char *const effects = "func @pure(%n: i64) -> (i64) {\n"
                                   "  %y: i64 = call @twin(%n)\n"
                                   "  yield %y\n"
                                   "}\n"
                                   "func @twin(%n: i64) -> (i64) {\n"
                                   "  %y: i64 = call @pure(%n)\n"
                                   "  yield %y\n"
                                   "}\n"
                                   "func @checks(%n: i64) -> (i64) {\n"
                                   "  check_index \"n\" %n, %n\n"
                                   "  yield %n\n"
                                   "}\n"
                                   "func @calls(%n: i64) -> (i64) {\n"
                                   "  %b: bool = const true\n"
                                   "  %y: i64 = if %b {\n"
                                   "    %z: i64 = call @checks(%n)\n"
                                   "    yield %z\n"
                                   "  } else {\n"
                                   "    yield %n\n"
                                   "  }\n"
                                   "  yield %y\n"
                                   "}\n"
                                   "func @adds(%x: f64) -> (f64) {\n"
                                   "  %y: f64 = with_acc %x { (%a: acc f64)\n"
                                   "    %n: i64 = const 3\n"
                                   "    loop %n { (%i: i64)\n"
                                   "      acc_add %a [], %x\n"
                                   "      yield\n"
                                   "    }\n"
                                   "    yield\n"
                                   "  }\n"
                                   "  yield %y\n"
                                   "}\n"
                                   "func @c(f64) -> (f64) extern\n"
                                   "func @p(f64) -> (f64) extern pure\n"
                                   "func @d(f64, f64) -> (f64, f64) = grad of @adds "
                                   "active (1) -> (1)\n"
                                   "func @e(i64) -> (i64, tape) = forward of @calls "
                                   "active (0) -> (0)\n";

START_TEST(effects_spread_over_calls) {
    static const struct {
        const char *name;
        bool pure;
    } known[] = {{"pure", true},   {"twin", true}, {"checks", false},
                 {"calls", false}, {"adds", true}, {"c", false},
                 {"p", true},      {"d", true},    {"e", false}};
    IrModule *module = parse(effects);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_msg(ir_func_pure(ir_find_func(module, known[i].name)) == known[i].pure, "%s",
                      known[i].name);
    IrInst *with = first_op(ir_find_func(module, "adds"), IR_WITH_ACC);
    ck_assert(ir_removable(with) && !ir_removable(with->regions[0]->first->next));
    ck_assert(!ir_removable(first_op(ir_find_func(module, "calls"), IR_IF)));
    ck_assert(ir_removable(first_op(ir_find_func(module, "pure"), IR_CALL)));
    ir_remove(ir_find_func(module, "checks")->body->first);
    ck_assert(!ir_func_pure(ir_find_func(module, "calls")));
    ir_forget_purity(module);
    ck_assert(ir_func_pure(ir_find_func(module, "calls")));
    ir_module_free(module);
}
END_TEST

static void add_name(IrValue *value, void *data) {
    StrBuf *names = data;
    strbuf_add(names, value->name ? value->name : "?");
    strbuf_char(names, ' ');
}

START_TEST(captures_come_once_and_in_order) {
    IrModule *module = parse(effects);
    StrBuf names = {0};
    IrInst *with = first_op(ir_find_func(module, "adds"), IR_WITH_ACC);
    IrInst *loop = with->regions[0]->first->next;
    ir_captures(loop->regions[0], add_name, &names);
    ck_assert_str_eq(names.text, "a x ");
    strbuf_clear(&names);
    ir_captures(with->regions[0], add_name, &names);
    ck_assert_str_eq(names.text, "x ");
    ck_assert(ir_visible(with->regions[0]->params[0], loop->regions[0]));
    ck_assert(!ir_visible(with->regions[0]->params[0], with->parent));
    strbuf_free(&names);
    ir_module_free(module);
}
END_TEST

/* ---- rewriting ---- */

static const char *const nested = "func @f(%x.0: f64, %c.1: bool) -> (f64) {\n"
                                  "  %a.2: f64 = neg %x.0\n"
                                  "  %b.3: f64 = if %c.1 {\n"
                                  "    %d.4: f64 = add %a.2, %x.0\n"
                                  "    yield %d.4\n"
                                  "  } else {\n"
                                  "    yield %a.2\n"
                                  "  }\n"
                                  "  yield %b.3\n"
                                  "}\n";

START_TEST(replaced_values_vanish_when_settled) {
    IrModule *module = parse(nested);
    IrFunc *f = ir_find_func(module, "f");
    Arena *arena = arena_new();
    IrInst *neg = f->body->first;
    uint32_t *uses = ir_count_uses(f, arena);
    ck_assert(uses[0] == 2 && uses[1] == 1 && uses[2] == 2 && uses[4] == 1);
    ir_replace(neg->results[0], f->body->params[0]);
    ck_assert(ir_resolve(neg->results[0]) == f->body->params[0]);
    uses = ir_count_uses(f, arena);
    ck_assert(uses[0] == 4 && uses[2] == 0);
    ir_settle(f);
    ir_remove(neg);
    check_text(module, "func @f(%x.0: f64, %c.1: bool) -> (f64) {\n"
                       "  %b.3: f64 = if %c.1 {\n"
                       "    %d.4: f64 = add %x.0, %x.0\n"
                       "    yield %d.4\n"
                       "  } else {\n"
                       "    yield %x.0\n"
                       "  }\n"
                       "  yield %b.3\n"
                       "}\n");
    arena_free(arena);
    ir_module_free(module);
}
END_TEST

START_TEST(clones_map_what_they_hold) {
    IrModule *module = parse(nested);
    IrFunc *f = ir_find_func(module, "f");
    IrFunc *g = ir_func_new(module, "g", f->nparams, f->params, f->param_names, 1, f->results);
    IrBuilder b = {0};
    Map map = {0};
    irb_at_end(&b, g->body);
    for (uint32_t i = 0; i < 2; i++) map_setp(&map, f->body->params[i], g->body->params[i]);
    IrValue **values = ir_clone_body(&b, f->body, &map);
    map_clear(&map);
    map_setp(&map, f->body->params[0], values[0]);
    map_setp(&map, f->body->params[1], g->body->params[1]);
    ir_clone_region(g, g->body, f->body, &map);
    map_free(&map);
    StrBuf out = {0};
    ir_print_func(&out, g);
    ck_assert_ptr_null(ir_verify(module));
    ck_assert_str_eq(out.text, "func @g(%x.0: f64, %c.1: bool) -> (f64) {\n"
                               "  %a.2: f64 = neg %x.0\n"
                               "  %b.3: f64 = if %c.1 {\n"
                               "    %d.4: f64 = add %a.2, %x.0\n"
                               "    yield %d.4\n"
                               "  } else {\n"
                               "    yield %a.2\n"
                               "  }\n"
                               "  %a.5: f64 = neg %b.3\n"
                               "  %b.6: f64 = if %c.1 {\n"
                               "    %d.7: f64 = add %a.5, %b.3\n"
                               "    yield %d.7\n"
                               "  } else {\n"
                               "    yield %a.5\n"
                               "  }\n"
                               "  yield %b.6\n"
                               "}\n");
    strbuf_free(&out);
    ir_module_free(module);
}
END_TEST

static void remove_adds(IrInst *inst, void *data) {
    uint32_t *count = data;
    ++*count;
    if (inst->op == IR_IF) ir_remove(inst);
}

START_TEST(walks_bear_removal) {
    IrModule *module = parse(nested);
    uint32_t count = 0;
    ir_walk(ir_find_func(module, "f")->body, remove_adds, &count);
    ck_assert_uint_eq(count, 3);
    ir_module_free(module);
}
END_TEST

/* ---- derivative requests ---- */

START_TEST(derivatives_have_their_signatures_and_are_made_once) {
    IrModule *module = parse("func @f(%x: [3]f64, %n: i64, %y: f32) -> (i64, f64) extern\n");
    IrFunc *f = ir_find_func(module, "f");
    uint8_t in[] = {1, 0, 1}, only[] = {1, 0, 0}, out[] = {0, 1};
    IrFunc *grad = ir_deriv(module, IR_DERIV_GRAD, f, in, out, 0);
    ck_assert(ir_deriv(module, IR_DERIV_GRAD, f, in, out, 0) == grad);
    ck_assert(ir_deriv(module, IR_DERIV_GRAD, f, only, out, 0) != grad);
    ck_assert(ir_deriv(module, IR_DERIV_GRAD, f, in, out, IR_STRONG_ZERO) != grad);
    ir_deriv(module, IR_DERIV_JVP, f, in, out, 0);
    ir_deriv(module, IR_DERIV_FORWARD, f, in, out, 0);
    ir_deriv(module, IR_DERIV_REVERSE, f, in, out, 0);
    check_text(
        module,
        "func @f(%x: [3]f64, %n: i64, %y: f32) -> (i64, f64) extern\n\n"
        "func @f.grad(%x: [3]f64, %n: i64, %y: f32, %seed: f64) -> (i64, f64, [3]f64, f32) = grad "
        "of @f active (1, 0, 1) -> (0, 1)\n\n"
        "func @f.grad.2(%x: [3]f64, %n: i64, %y: f32, %seed: f64) -> (i64, f64, [3]f64) = grad of "
        "@f active (1, 0, 0) -> (0, 1)\n\n"
        "func @f.grad.3(%x: [3]f64, %n: i64, %y: f32, %seed: f64) -> (i64, f64, [3]f64, f32) = "
        "grad of @f active (1, 0, 1) -> (0, 1) options 1\n\n"
        "func @f.jvp(%x: [3]f64, %n: i64, %y: f32, %dx: [3]f64, %dy: f32) -> (i64, f64, f64) = jvp "
        "of @f active (1, 0, 1) -> (0, 1)\n\n"
        "func @f.forward(%x: [3]f64, %n: i64, %y: f32) -> (i64, f64, tape) = forward of @f active "
        "(1, 0, 1) -> (0, 1)\n\n"
        "func @f.reverse(%tape: tape, %seed: f64) -> ([3]f64, f32) = reverse of @f active (1, 0, "
        "1) -> (0, 1)\n");
    ir_module_free(module);
}
END_TEST

UNIT_MAIN("ir", builds_a_reduction, builds_a_loop_and_a_branch,
          result_types_hold_what_is_known_of_sizes, integers_are_folded,
          types_are_the_same_pointers, names_of_functions_are_unique,
          attributes_of_functions_are_kept, constants_are_exact, ids_may_be_left_out,
          sizes_are_traced_to_where_they_come_from, effects_spread_over_calls,
          captures_come_once_and_in_order, replaced_values_vanish_when_settled,
          clones_map_what_they_hold, walks_bear_removal,
          derivatives_have_their_signatures_and_are_made_once)
