/* What C code sees of the interpreter.  What the operations give is in tests/cases/ir. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "ir/eval.h"
#include "ir/interp.h"

static IrModule *parse(const char *text) {
    const char *message;
    IrModule *module = ir_module_new(NULL);
    bool ok = ir_parse(module, text, strlen(text), &message);
    ck_assert_msg(ok, "%s", ok ? "" : message);
    const char *fault = ir_verify(module);
    ck_assert_msg(!fault, "%s", fault ? fault : "");
    return module;
}

static bool call_int(IrInterp *interp, const char *name, IrModule *module, int64_t n, int64_t *y) {
    IrDatum arg = ir_datum_int(n), result = {0};
    bool ok = ir_interp_call(interp, ir_find_func(module, name), &arg, &result);
    *y = result.as.i;
    return ok;
}

static const char *const program =
    "func @twice(%n: i64) -> (i64) {\n"
    "  %m: i64 = runtime \"adl__double\" %n\n"
    "  yield %m\n"
    "}\n"
    "func @c_twice(%n: i64) -> (i64) {\n"
    "  %m: i64 = call @ext(%n)\n"
    "  yield %m\n"
    "}\n"
    "func @ext(i64) -> (i64) extern symbol \"double\"\n"
    "func @id(%x: f64) -> (f64) {\n"
    "  yield %x\n"
    "}\n"
    "func @d(f64, f64) -> (f64, f64) = grad of @id active (1) -> (1)\n"
    "func @down(%n: i64) -> (i64) {\n"
    "  %zero: i64 = const 0\n"
    "  %one: i64 = const 1\n"
    "  %end: bool = eq %n, %zero\n"
    "  %y: i64 = if %end {\n"
    "    yield %zero\n"
    "  } else {\n"
    "    %m: i64 = sub %n, %one\n"
    "    %z: i64 = call @down(%m)\n"
    "    yield %z\n"
    "  }\n"
    "  yield %y\n"
    "}\n";

static bool run_double(IrInterp *interp, const IrInst *inst, const IrDatum *args, IrDatum *results,
                       void *data) {
    int *calls = data;
    ++*calls;
    if (args[0].as.i < 0)
        return ir_interp_fail(interp, 8, inst->pos, "%d is negative", (int)args[0].as.i);
    results[0] = ir_datum_int(2 * args[0].as.i);
    return true;
}

START_TEST(runtime_functions_can_be_given) {
    IrModule *module = parse(program);
    IrInterp *interp = ir_interp_new(module);
    int calls = 0;
    int64_t y;
    ck_assert(!call_int(interp, "twice", module, 4, &y));
    ck_assert_int_eq(ir_interp_error(interp).kind, IR_ERROR_INVALID);
    ir_interp_set_runtime(interp, "double", run_double, &calls);
    ck_assert(call_int(interp, "twice", module, 4, &y) && y == 8);
    ck_assert_int_eq(ir_interp_error(interp).kind, IR_ERROR_NONE);
    ck_assert(call_int(interp, "c_twice", module, 5, &y) && y == 10);
    ck_assert(!call_int(interp, "twice", module, -1, &y));
    ck_assert_int_eq(ir_interp_error(interp).kind, 8);
    ck_assert_str_eq(ir_interp_error(interp).message, "-1 is negative");
    ck_assert_int_eq(calls, 3);
    ir_interp_free(interp);
    ir_module_free(module);
}
END_TEST

START_TEST(derivatives_that_are_not_made_cannot_run) {
    IrModule *module = parse(program);
    IrInterp *interp = ir_interp_new(module);
    IrDatum args[] = {ir_datum_float(1), ir_datum_float(1)}, results[2];
    ck_assert(!ir_interp_call(interp, ir_find_func(module, "d"), args, results));
    ck_assert_str_eq(ir_interp_error(interp).message,
                     "@d cannot be run: this derivative has not been made");
    ck_assert(!ir_interp_call(interp, ir_find_func(module, "ext"), args, results));
    ck_assert_str_eq(ir_interp_error(interp).message, "@ext cannot be run: it has no body");
    ir_interp_free(interp);
    ir_module_free(module);
}
END_TEST

START_TEST(limits_end_deep_calls_without_a_crash) {
    IrModule *module = parse(program);
    IrInterp *interp = ir_interp_new(module);
    int64_t y;
    ck_assert(call_int(interp, "down", module, 499, &y) && y == 0);
    ck_assert(!call_int(interp, "down", module, 500, &y));
    ck_assert_int_eq(ir_interp_error(interp).kind, IR_ERROR_LIMIT);
    ir_interp_set_limits(interp, 0, 1000000);
    ck_assert(!call_int(interp, "down", module, 100000, &y));
    ck_assert_str_eq(ir_interp_error(interp).message, "calls and loops are nested too deeply");
    ir_interp_set_limits(interp, 100, 500);
    ck_assert(!call_int(interp, "down", module, 200, &y));
    ck_assert_str_eq(ir_interp_error(interp).message, "too many steps");
    ck_assert(call_int(interp, "down", module, 3, &y));
    ir_interp_free(interp);
    ir_module_free(module);
}
END_TEST

/* ---- values ---- */

static void check_datum(IrType type, const char *text, const char *printed) {
    const char *at = text;
    StrBuf out = {0};
    IrDatum datum, again;
    ck_assert_msg(ir_parse_datum(&at, type, &datum) && *at == '\0', "%s", text);
    ir_print_datum(&out, datum, type);
    ck_assert_str_eq(out.text, printed);
    at = out.text;
    ck_assert(ir_parse_datum(&at, type, &again) && ir_datum_equal(datum, again));
    ir_datum_drop(&datum);
    ir_datum_drop(&again);
    strbuf_free(&out);
}

START_TEST(values_are_read_and_printed) {
    IrModule *module = ir_module_new(NULL);
    const char *bad[] = {"[1.0, [2.0]]", "[[1.0], [2.0, 3.0]]", "[[1.0]", "[[x]]", "1.0"};
    IrType matrix = ir_array(module, IR_F64, 2, NULL);
    check_datum(ir_scalar(module, IR_F64), "-1e3", "-1000.0");
    check_datum(ir_scalar(module, IR_F32), "0.1", "0.1");
    check_datum(ir_scalar(module, IR_F16), "0.1", "0.0999755859375");
    check_datum(ir_scalar(module, IR_U64), "18446744073709551615", "18446744073709551615");
    check_datum(ir_scalar(module, IR_I8), "255", "-1");
    check_datum(ir_scalar(module, IR_BOOL), "true", "true");
    check_datum(matrix, "[[1, nan], [-inf, -0.0]]", "[[1.0, nan], [-inf, -0.0]]");
    check_datum(matrix, "[]", "[]");
    check_datum(matrix, "[[], []]", "[[], []]");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        IrDatum datum;
        ck_assert_msg(!ir_parse_datum(&at, matrix, &datum), "%s", bad[i]);
    }
    ir_module_free(module);
}
END_TEST

START_TEST(values_are_equal_by_their_bits) {
    int64_t two = 2, three = 3;
    IrDatum a = ir_datum_array(IR_F64, 1, &two), b = ir_datum_array(IR_F64, 1, &two);
    IrDatum c = ir_datum_array(IR_F64, 1, &three), d = ir_datum_array(IR_F32, 1, &two);
    ck_assert(ir_datum_equal(a, b) && !ir_datum_equal(a, c) && !ir_datum_equal(a, d));
    ir_array_set(b.as.array, 1, ir_datum_float(-0.0));
    ck_assert(!ir_datum_equal(a, b));
    ir_array_set(a.as.array, 1, ir_datum_float(NAN));
    ir_array_set(b.as.array, 1, ir_datum_float(NAN));
    ck_assert(ir_datum_equal(a, b));
    ck_assert(!ir_datum_equal(ir_datum_int(0), ir_datum_float(0)));
    ir_datum_drop(&a);
    ir_datum_drop(&b);
    ir_datum_drop(&c);
    ir_datum_drop(&d);
}
END_TEST

/* Every bit pattern of the 16-bit floats goes to double and back. */
START_TEST(halves_keep_their_bits) {
    static const int widths[] = {10, 7};
    for (int w = 0; w < 2; w++) {
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            double x = ir_half_to_double((uint16_t)bits, widths[w]);
            if (isnan(x))
                ck_assert(isnan(ir_half_to_double(ir_half_from_double(x, widths[w]), widths[w])));
            else ck_assert_uint_eq(ir_half_from_double(x, widths[w]), bits);
        }
    }
}
END_TEST

UNIT_MAIN("ir-interp", runtime_functions_can_be_given, derivatives_that_are_not_made_cannot_run,
          limits_end_deep_calls_without_a_crash, values_are_read_and_printed,
          values_are_equal_by_their_bits, halves_keep_their_bits)
