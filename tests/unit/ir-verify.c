/* Bad modules: each must be refused, by the parser or by the verifier, with the message that names
   the fault. */
#include "ir/build.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/ir.h"

typedef struct Bad {
    const char *body;  /* of a function with the parameters below */
    const char *fault; /* a part of the message */
} Bad;

static const char *const head =
    "func @g(%p: f64, i64) -> (f64) extern\n"
    "func @f(%x.0: f64, %n.1: i64, %a.2: [?, 3]f64, %c.3: bool, %v.4: [?]f64, %s.5: str, %t.6: "
    "tape, %u.7: u8) -> (f64) {\n";

static const char *message_of(IrModule *module, const char *text) {
    const char *message = NULL;
    if (ir_parse(module, text, strlen(text), &message)) message = ir_verify(module);
    return message;
}

/* The body is followed by "yield %x.0". */
static void check_bad(const Bad *bad) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s\nyield %%x.0\n}\n", head, bad->body);
    IrModule *module = ir_module_new(NULL);
    const char *message = message_of(module, text);
    ck_assert_msg(message, "%s: passes", bad->body);
    ck_assert_msg(strstr(message, bad->fault), "%s: \"%s\", not \"%s\"", bad->body, message,
                  bad->fault);
    ir_module_free(module);
}

static void check_all(const Bad *bad, size_t n) {
    for (size_t i = 0; i < n; i++) check_bad(&bad[i]);
}
#define CHECK_ALL(bad) check_all((bad), sizeof(bad) / sizeof *(bad))

START_TEST(an_empty_body_passes) {
    char text[1000];
    snprintf(text, sizeof text, "%syield %%x.0\n}\n", head);
    IrModule *module = ir_module_new(NULL);
    const char *message = message_of(module, text);
    ck_assert_msg(!message, "%s", message);
    ir_module_free(module);
}
END_TEST

START_TEST(scalars) {
    static const Bad bad[] = {
        {"%y: f64 = add %x.0", "has 1 operands, not 2"},
        {"%y: f64 = add %x.0, %n.1", "operand 1 is i64, not f64"},
        {"%y: i64 = add %x.0, %x.0", "result 0 is i64, not f64"},
        {"%y: f64, %z: f64 = add %x.0, %x.0", "has 2 results, not 1"},
        {"%y: bool = add %c.3, %c.3", "operand 0 has a type that this operation does not take"},
        {"%y: [?]f64 = neg %v.4", "operand 0 has a type"},
        {"%y: f64 = lt %x.0, %x.0", "the result is no bool"},
        {"%y: bool = lt %c.3, %c.3", "operand 0 has a type"},
        {"%y: f64 = and %x.0, %x.0", "operand 0 has a type"},
        {"%y: f64 = not %x.0", "operand 0 has a type"},
        {"%y: f64 = rem %x.0, %x.0", "operand 0 has a type"},
        {"%y: f64 = shl %x.0, %x.0", "operand 0 has a type"},
        {"%y: bool = mulhi %c.3, %c.3", "operand 0 has a type"},
        {"%y: f64 = powi %x.0, %x.0", "operand 1 is no i64"},
        {"%y: f64 = select %x.0, %x.0, %x.0", "operand 0 is no bool"},
        {"%y: str = select %c.3, %s.5, %s.5", "operand 1 has a type"},
        {"%y: [?]f64 = cast %x.0", "the result is no real scalar"},
        {"%y: f64 = cast %v.4", "operand 0 has a type"},
        {"%y: i64 = math sin %n.1", "operand 0 has a type"},
        {"%y: f64 = math pow %x.0", "has 1 operands, not 2"},
        {"%y: f64 = string \"no\"", "the result is no str"},
        {"%y: str = string none", "has no text"},
        {"%y: u8 = const 256", "does not fit its type"},
        {"%y: bool = const 2", "does not fit its type"},
        {"%y: [1]f64 = const 0", "a constant is a real scalar"},
        {"%y: f64 = stop %n.1", "result 0 is f64, not i64"},
    };
    CHECK_ALL(bad);
}
END_TEST

START_TEST(control) {
    static const Bad bad[] = {
        {"%y: f64 = if %n.1 {\nyield %x.0\n} else {\nyield %x.0\n}", "operand 0 is no bool"},
        {"%y: f64 = if %c.3 {\nyield\n} else {\nyield %x.0\n}", "region 0 yields 0 values, not 1"},
        {"%y: f64 = if %c.3 {\nyield %x.0\n} else {\nyield %n.1\n}", "yielded value 0 is i64"},
        {"if %c.3 { (%k: i64)\nyield\n} else {\nyield\n}", "region has 1 parameters, not 0"},
        {"if %c.3 {\n} else {\nyield\n}", "a region is empty"},
        {"if %c.3 {\n%y: f64 = neg %x.0\n} else {\nyield\n}", "does not end with a yield"},
        {"yield %x.0", "a yield stands before the end"},
        {"loop %x.0 { (%i: i64)\nyield\n}", "operand 0 is no i64"},
        {"loop %n.1 {\nyield\n}", "region has 0 parameters, not 1"},
        {"loop %n.1 { (%i: f64)\nyield\n}", "parameter 0 of the region is no i64"},
        {"loop exit %n.1 { (%i: i64)\nyield\n}", "yields 0 values, not 1"},
        {"loop exit %n.1 { (%i: i64)\nyield %i\n}", "the loop yields no bool first"},
        {"%y: f64 = loop %n.1, %n.1 { (%i: i64, %z: f64)\nyield %z\n}",
         "operand 1 is i64, not f64"},
        {"%y: f64 = loop %n.1, %x.0 { (%i: i64, %z: f64)\nyield %i\n}", "yielded value 0 is i64"},
        {"%y: f64 = loop %n.1 { (%i: i64)\nyield\n}", "has 1 operands, not 2"},
        {"%y: f64 = call @g(%x.0)", "has 1 operands, not 2"},
        {"%y: f64 = call @g(%x.0, %x.0)", "operand 1 is f64, not i64"},
        {"%y: i64 = call @g(%x.0, %n.1)", "result 0 is i64, not f64"},
        {"call @g(%x.0, %n.1)", "has 0 results, not 1"},
    };
    CHECK_ALL(bad);
}
END_TEST

START_TEST(visibility) {
    static const Bad bad[] = {
        {"if %c.3 {\n%y: f64 = neg %x.0\nyield\n} else {\n%z: f64 = neg %y\nyield\n}",
         "operand 0 is not visible here"},
        {"if %c.3 {\n%y: f64 = neg %x.0\nyield\n} else {\nyield\n}\n%z: f64 = neg %y",
         "operand 0 is not visible here"},
        {"%y: f64 = neg %y", "%y is not defined"},
        {"%y: f64 = neg %x.0\n%y: f64 = neg %x.0", "%y is defined twice"},
        {"%y.9: f64 = neg %x.0\n%z.9: f64 = neg %x.0", "that of another value"},
    };
    CHECK_ALL(bad);
}
END_TEST

START_TEST(parallel) {
    static const Bad bad[] = {
        {"%y: [?]f64 = build [%x.0] { (%i: i64)\nyield %x.0\n}", "operand 0 is no i64"},
        {"%y: [?]f64 = build [] {\nyield %x.0\n}", "has 0 sizes"},
        {"%y: [?]f64 = build [%n.1] {\nyield %x.0\n}", "region has 0 parameters, not 1"},
        {"%y: [?]f64 = build [%n.1] { (%i: u8)\nyield %x.0\n}", "parameter 0 of the region"},
        {"%y: [?]f64 = build [%n.1] { (%i: i64)\nyield %i\n}", "yielded value 0 is i64"},
        {"%y: [?]f64 = build [%n.1] { (%i: i64)\nyield\n}", "yields 0 values, not 1"},
        {"%y: [?, ?]f64 = build [%n.1] { (%i: i64)\nyield %x.0\n}", "result 0 has the wrong rank"},
        {"%y: [?, ?]f64 = build [%n.1] ranks (1) { (%i: i64)\nyield %v.4\n}", "too few operands"},
        {"%y: [?]f64 = build [%n.1] inner [%n.1] { (%i: i64)\nyield %x.0\n}", "2 operands, not 1"},
        {"%k: i64 = const 3\n%y: [4]f64 = build [%k] { (%i: i64)\nyield %x.0\n}",
         "dimension 0 is another in the type"},
        {"%y: f64 = reduce sum [%n.1] init %n.1 { (%i: i64)\nyield %x.0\n}", "yielded value 0"},
        {"%y: f64 = reduce sum [%n.1] { (%i: i64)\nyield %x.0\n}", "has 1 operands, not 2"},
        {"%y: f64 = reduce all [%n.1] init %x.0 { (%i: i64)\nyield %x.0\n}", "cannot be reduced"},
        {"%y: bool = reduce sum [%n.1] init %c.3 { (%i: i64)\nyield %c.3\n}", "cannot be reduced"},
        {"%y: f64 = reduce argmin [%n.1] { (%i: i64)\nyield %x.0\n}", "the result is no i64"},
        {"%y: i64 = reduce argmin [%n.1] { (%i: i64)\nyield %c.3\n}", "cannot be compared"},
        {"%y: i64 = reduce argmax [%n.1] init %n.1 { (%i: i64)\nyield %x.0\n}",
         "2 operands, not 1"},
    };
    CHECK_ALL(bad);
}
END_TEST

START_TEST(arrays) {
    static const Bad bad[] = {
        {"%y: i64 = dim %x.0, 0", "operand 0 is no array"},
        {"%y: i64 = dim %a.2, 2", "there is no such dimension"},
        {"%y: f64 = index %x.0 [%n.1]", "operand 0 is no array"},
        {"%y: f64 = index %v.4 [%u.7]", "operand 1 is no i64"},
        {"%y: f64 = index %v.4 [%n.1, %n.1]", "too many indices"},
        {"%y: f64 = index %v.4 []", "too few operands"},
        {"%y: f64 = index %a.2 [%n.1]", "result 0 is f64, not [3]f64"},
        {"%y: [4]f64 = index %a.2 [%n.1]", "result 0 is [4]f64, not [3]f64"},
        {"%y: [?]f64 = update %v.4 [%n.1], %n.1", "operand 2 is i64, not f64"},
        {"%y: [?]f64 = slice %v.4 start [%n.1] count [] step [%n.1]", "has 3 operands, not 4"},
        {"%y: [?]f64 = slice %v.4 start [%n.1] count [%x.0] step [%n.1]", "operand 2 is no i64"},
        {"%y: [?]f64 = assign %v.4 start [%n.1] step [%n.1], %x.0", "operand 3 is f64"},
        {"%y: [?, ?]f64 = transpose %a.2 (0, 0)", "is no permutation"},
        {"%y: [?, ?]f64 = transpose %a.2 (0)", "permutes 1 dimensions, not 2"},
        {"%y: [4, ?]f64 = transpose %a.2 (1, 0)", "result 0 is [4, ?]f64, not [3, ?]f64"},
        {"%y: [?]f64 = reshape %a.2 [%n.1, %n.1]", "result 0 is [?]f64, not [?, ?]f64"},
        {"%y: [2]f64 = pack %x.0, %n.1", "operand 1 is i64, not f64"},
        {"%y: [3]f64 = pack %x.0, %x.0", "result 0 is [3]f64, not [2]f64"},
        {"%y: [?]str = pack %s.5", "expected a type"},
        {"%y: [?]f64 = pack %s.5", "operand 0 cannot be packed"},
        {"%y: [?]f64 = concat %v.4, %a.2", "operand 1 is [?, 3]f64, not [?]f64"},
        {"%y: [?]f64 = assume %v.4 [%n.1, %n.1]", "has 3 operands, not 2"},
        {"%k: i64 = const 4\n%y: [?, 3]f64 = assume %a.2 [%n.1, %k]", "dimension 1 is another"},
        {"%y: [?]i64 = argsort %a.2", "operand 0 cannot be sorted"},
        {"%y: [?]f64 = argsort %v.4", "result 0 is [?]f64, not [?]i64"},
        {"%y: [3]f64 = contract %v.4, %x.0", "operand 1 is no array"},
        {"%y: [?, ?]f64 = contract %a.2, %v.4", "result 0 is [?, ?]f64, not [?]f64"},
        {"%y: f64 = contract ta %v.4, %v.4", "only a matrix can stand transposed"},
        {"%z: [4, ?]f64 = transpose %a.2 (1, 0)", "result 0 is [4, ?]f64"},
        {"%k: i64 = const 2\n%m: [2, 2]f64 = reshape %a.2 [%k, %k]\n"
         "%y: [?, 2]f64 = contract %a.2, %m",
         "inner dimensions differ"},
    };
    CHECK_ALL(bad);
}
END_TEST

START_TEST(accumulators_tapes_effects) {
    static const Bad bad[] = {
        {"%y: i64 = with_acc %n.1 { (%q: acc i64)\nyield\n}", "operand 0 cannot be added to"},
        {"%y: f64 = with_acc %x.0 { (%q: f64)\nyield\n}", "parameter 0 is f64, not acc f64"},
        {"%y: f64 = with_acc %x.0 {\nyield\n}", "region has 0 parameters, not 1"},
        {"with_acc %x.0 { (%q: acc f64)\nyield\n}", "has 0 results, but 1 accumulators"},
        {"%y: f64 = with_acc %x.0 { (%q: acc f64)\nyield %x.0\n}", "yields 1 values, not 0"},
        {"%y: f64 = with_acc %x.0 { (%q: acc f64)\n%z: f64 = neg %q\nyield\n}",
         "operand 0 is an accumulator"},
        {"%y: f64, %w: f64 = with_acc %x.0 { (%q: acc f64)\nyield %q\n}", "is an accumulator"},
        {"%y: f64 = with_acc %x.0 { (%q: acc f64)\nacc_add %q [], %n.1\nyield\n}",
         "operand 1 is i64, not f64"},
        {"%y: f64 = with_acc %x.0 { (%q: acc f64)\nacc_add %q [%n.1], %x.0\nyield\n}",
         "too many indices"},
        {"acc_add %x.0 [], %x.0", "operand 0 is no accumulator"},
        {"loop %n.1 { (%i: i64, %q: acc f64)\nyield\n}", "parameter 1 is an accumulator"},
        {"%y: tape = tape_push %x.0", "operand 0 is no tape"},
        {"%y: f64 = tape_push %t.6", "result 0 is no tape"},
        {"%y: f64 = tape_pop %t.6", "result 0 is no tape"},
        {"tape_pop %t.6", "has no result"},
        {"%y: tape = tape_pop %t.6, %x.0", "has 2 operands, not 1"},
        {"%y: tape = tape_new %t.6", "has 1 operands, not 0"},
        {"check 3 \"no\" %x.0", "operand 0 is no bool"},
        {"check 3 \"no\" %c.3, %v.4", "operand 1 cannot stand in a message"},
        {"check 3 none %c.3", "has no text"},
        {"check_index \"v\" %n.1", "has 1 operands, not 2"},
        {"check_index \"v\" %n.1, %u.7", "operand 1 is no i64"},
        {"fail 3 %x.0", "operand 0 is no str"},
        {"runtime none %x.0", "has no name"},
    };
    CHECK_ALL(bad);
}
END_TEST

START_TEST(texts) {
    static const Bad bad[] = {
        {"%y: f64 = jump %x.0", "line 3: expected an operation"},
        {"%y f64 = neg %x.0", "line 3: expected ':'"},
        {"%y: f65 = neg %x.0", "line 3: expected a type"},
        {"%y: f64 neg %x.0", "line 3: expected '='"},
        {"%y: f64 = call @h(%x.0)", "there is no function @h"},
        {"%y: f64 = math sinus %x.0", "expected a scalar function"},
        {"%y: f64 = reduce mean [%n.1] { (%i: i64)\nyield %x.0\n}", "expected a kind of reduction"},
        {"%y: f64 = const x", "expected a number"},
        {"%y: i64 = const 1.5", "expected an integer"},
        {"%y: i64 = const 99999999999999999999", "expected an integer"},
        {"%y: str = string \"never ends", "a string does not end"},
        {"%y: str = string \"\\q\"", "a string does not end, or is malformed"},
        {"%y.99999999: f64 = neg %x.0", "the id of %y.99999999 is too high"},
        {"if %c.3 {\nyield\n}", "expected 'else'"},
        {"}\n}", "expected 'func'"},
    };
    CHECK_ALL(bad);
}
END_TEST

static void check_text(const char *text, const char *fault) {
    IrModule *module = ir_module_new(NULL);
    const char *message = message_of(module, text);
    ck_assert_msg(message && strstr(message, fault), "%s: \"%s\", not \"%s\"", text,
                  message ? message : "passes", fault);
    ir_module_free(module);
}

START_TEST(functions) {
    check_text("func @f() -> ()\n", "@f: has no body");
    check_text("func @f() -> () {\nyield\n}\nfunc @f() -> () {\nyield\n}", "two functions @f");
    check_text("func @f(f64) -> () {\nyield\n}", "expected a value");
    check_text("func @f() -> (f64) {\nyield\n}", "the function has 1 results");
    check_text("func @f(%x: i64) -> (f64) {\nyield %x\n}", "has not the type of the result");
    check_text("func @f() -> () {\nyield\n", "expected '}'");
    check_text("func @f() -> () wrong {\nyield\n}", "expected '{'");
    check_text("func @f(%x: f64) -> (f64) {\nyield %x\n}\n"
               "func @d(f64) -> (f64) = grad of @f active (1) -> (1)",
               "@d is not what the derivative of @f takes and gives");
    check_text("func @f(%x: i64) -> () {\nyield\n}\n"
               "func @d(i64, i64) -> () = jvp of @f active (1) -> ()",
               "@d is not what the derivative of @f takes and gives");
    check_text("func @f(%x: f64) -> (f64) rule @f (1) {\nyield %x\n}",
               "its rule has 1 parameters, not 3");
    check_text("func @f(%x: f64) -> (f64) {\nyield %x\n}\nmath_rule sin f64 @f",
               "the rule of sin has the wrong number");
}
END_TEST

/* What no text can say. */
START_TEST(uses_before_definitions_and_unsettled_ones) {
    IrModule *module = ir_module_new(NULL);
    IrType f64 = ir_scalar(module, IR_F64);
    IrFunc *func = ir_func_new(module, "f", 1, &f64, NULL, 1, &f64);
    IrBuilder b = {0};
    irb_at_end(&b, func->body);
    IrValue *x = func->body->params[0];
    IrValue *y = irb_unary(&b, IR_NEG, x), *z = irb_unary(&b, IR_ABS, y);
    irb_yield(&b, 1, &z);
    ck_assert_ptr_null(ir_verify(module));
    ir_move_before(z->def, y->def);
    ck_assert_str_eq(ir_verify(module),
                     "@f: %2: f64 = abs %1: operand 0 is used before its definition");
    ir_move_before(y->def, z->def);
    ck_assert_ptr_null(ir_verify(module));
    ir_replace(y, x);
    ck_assert_msg(strstr(ir_verify(module), "operand 0 was replaced, but not settled"), "replaced");
    ir_settle(func);
    ck_assert_ptr_null(ir_verify(module));
    z->id = y->id;
    ck_assert_msg(strstr(ir_verify(module), "id 1 is not unique"), "unique");
    ir_module_free(module);
}
END_TEST

UNIT_MAIN("ir-verify", an_empty_body_passes, scalars, control, visibility, parallel, arrays,
          accumulators_tapes_effects, texts, functions, uses_before_definitions_and_unsettled_ones)
