/* The C interface of compiled modules, called as C calls it, and the header that describes it. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "emit/header.h"
#include "ir/export.h"
#include "runtime/core/calls.h"
#include "tests/unit/generated.h"

static const char source[] =
    /* r = a x, both of size n; scale in place; a running total. */
    "func @scale(%a: f64, %x: [?]f64) -> ([?]f64, f64) {\n"
    "  %n: i64 = dim %x, 0\n"
    "  %zero: f64 = const 0.0\n"
    "  %y: [?]f64 = build [%n] { (%i: i64)\n"
    "    %v: f64 = index %x [%i]\n"
    "    %w: f64 = mul %v, %a\n"
    "    yield %w\n"
    "  }\n"
    "  %s: f64 = reduce sum [%n] init %zero { (%j: i64)\n"
    "    %u: f64 = index %y [%j]\n"
    "    yield %u\n"
    "  }\n"
    "  yield %y, %s\n"
    "}\n"
    "func @bump(%x: [?]f32, %k: i64, %flag: bool, %count: i32) -> ([?]f32, i32) {\n"
    "  %n: i64 = dim %x, 0\n"
    "  check_index \"x\" %k, %n\n"
    "  %v: f32 = index %x [%k]\n"
    "  %w: f32 = cast %flag\n"
    "  %s: f32 = add %v, %w\n"
    "  %y: [?]f32 = update %x [%k], %s\n"
    "  %one: i32 = const 1\n"
    "  %c: i32 = add %count, %one\n"
    "  yield %y, %c\n"
    "}\n"
    "func @turn(%x: [2]f64) -> ([2]f64) {\n"
    "  %zero: i64 = const 0\n"
    "  %one: i64 = const 1\n"
    "  %a: f64 = index %x [%zero]\n"
    "  %b: f64 = index %x [%one]\n"
    "  %c: f64 = neg %b\n"
    "  %y: [2]f64 = pack %c, %a\n"
    "  yield %y\n"
    "}\n"
    "func @replaced(%x: [?]f64, %n: i64) -> ([?]f64) {\n"
    "  %one: f64 = const 1.0\n"
    "  %y: [?]f64 = build [%n] { (%i: i64)\n"
    "    yield %one\n"
    "  }\n"
    "  yield %y\n"
    "}\n"
    "func @length(%s: str) -> (i64) {\n"
    "  %a: str = string \"abc\"\n"
    "  %same: bool = runtime \"str_equal\" %s, %a\n"
    "  %n: i64 = cast %same\n"
    "  yield %n\n"
    "}\n"
    "func @forward(%x: [?]f64) -> (tape) {\n"
    "  %t: tape = tape_new\n"
    "  %u: tape = tape_push %t, %x\n"
    "  yield %u\n"
    "}\n"
    "func @reverse(%t: tape, %k: i64) -> (f64) {\n"
    "  %d: tape, %x: [?]f64 = tape_pop %t\n"
    "  %v: f64 = index %x [%k]\n"
    "  yield %v\n"
    "}\n";

/* ---- exports ---- */

static IrCParam param(IrCKind kind, const char *name, IrType type, int32_t in, int32_t out) {
    IrCParam p = {
        .kind = kind, .name = name, .type = type, .param = in, .result = out, .offset = -1};
    p.rank = type->rank;
    for (uint32_t k = 0; k < p.rank; k++)
        p.dims[k] = (IrCDim){.constant = type->dims[k], .place = -1};
    return p;
}

static IrCParam sized(IrCParam p, int32_t place, const char *text) {
    static const IrCStep twice[] = {{IR_STEP_NUMBER, 2}, {IR_STEP_LEAF, 0}, {IR_STEP_MUL, 0}};
    p.dims[0].place = place;
    if (place < 0) {
        p.dims[0].steps = twice;
        p.dims[0].nsteps = sizeof twice / sizeof *twice;
    }
    p.dims[0].text = text;
    return p;
}

static void add_export(IrModule *m, const char *func, const char *doc, uint32_t n,
                       const IrCParam *params) {
    IrExport *e = ARENA_NEW(m->arena, IrExport);
    e->kind = IR_EXPORT_C;
    e->name = func;
    e->func = ir_find_func(m, func);
    e->func->flags |= IR_FUNC_ROOT;
    e->doc = doc;
    e->params = ARENA_ARRAY(m->arena, IrCParam, n);
    memcpy(e->params, params, n * sizeof *params);
    e->nparams = n;
    e->args = ARENA_ARRAY(m->arena, IrCArg, n);
    e->nargs = n;
    for (uint32_t i = 0; i < n; i++) {
        e->params[i].arg = i;
        e->args[i] = (IrCArg){.name = params[i].name, .first = i, .count = 1};
    }
    vec_push(&m->exports, e);
}

static IrModule *module_new(void) {
    const char *message;
    IrModule *m = ir_module_new(NULL);
    ck_assert_msg(ir_parse(m, source, strlen(source), &message), "%s", message);
    ck_assert_ptr_null(ir_verify(m));
    IrType i64 = ir_scalar(m, IR_I64), f64 = ir_scalar(m, IR_F64), i32 = ir_scalar(m, IR_I32);
    IrType boolean = ir_scalar(m, IR_BOOL), tape = ir_tape(m);
    IrType vector = ir_array(m, IR_F64, 1, NULL), single = ir_array(m, IR_F32, 1, NULL);
    IrType pair = ir_array(m, IR_F64, 1, (int64_t[]){2});
    IrCParam scale[] = {param(IR_C_SIZE, "n", i64, -1, -1), param(IR_C_SCALAR, "a", f64, 0, -1),
                        sized(param(IR_C_ARRAY, "x", vector, 1, -1), 0, "n"),
                        sized(param(IR_C_OUT, "result", vector, -1, 0), 0, "n"),
                        param(IR_C_OUT, "total", f64, -1, 1)};
    add_export(m, "scale", "Scales x by a.", 5, scale);
    IrCParam bump[] = {
        param(IR_C_SIZE, "n", i64, -1, -1), sized(param(IR_C_MUT, "x", single, 0, 0), -1, "2 * n"),
        param(IR_C_SCALAR, "k", i64, 1, -1), param(IR_C_SCALAR, "flag", boolean, 2, -1),
        param(IR_C_MUT, "count", i32, 3, 1)};
    add_export(m, "bump", NULL, 5, bump);
    IrCParam turn[] = {param(IR_C_ARRAY, "x", pair, 0, -1), param(IR_C_OUT, "result", pair, -1, 0)};
    add_export(m, "turn", NULL, 2, turn);
    IrCParam replaced[] = {sized(param(IR_C_MUT, "x", vector, 0, 0), 1, "n"),
                           param(IR_C_SCALAR, "n", i64, 1, -1)};
    add_export(m, "replaced", NULL, 2, replaced);
    IrCParam length[] = {param(IR_C_STR, "s", ir_str(m), 0, -1),
                         param(IR_C_OUT, "result", i64, -1, 0)};
    add_export(m, "length", NULL, 2, length);
    IrCParam forward[] = {param(IR_C_SIZE, "n", i64, -1, -1),
                          sized(param(IR_C_ARRAY, "x", vector, 0, -1), 0, "n"),
                          param(IR_C_OUT, "tape", tape, -1, 0)};
    add_export(m, "forward", NULL, 3, forward);
    IrCParam reverse[] = {param(IR_C_ARRAY, "tape", tape, 0, -1),
                          param(IR_C_SCALAR, "k", i64, 1, -1),
                          param(IR_C_OUT, "result", f64, -1, 0)};
    add_export(m, "reverse", NULL, 3, reverse);
    return m;
}

static void *find(CodegenCode *code, const char *name) {
    char *error = NULL;
    void *address = codegen_api()->find(code, name, &error);
    ck_assert_msg(address, "%s", error ? error : name);
    return address;
}

#define FUNCTION(code, name, result, ...)                                                          \
    result (*name)(__VA_ARGS__);                                                                   \
    do {                                                                                           \
        void *address_ = find(code, "t_" #name);                                                   \
        memcpy(&name, &address_, sizeof address_);                                                 \
    } while (0)

static CodegenCode *code_new(const IrModule *m, bool check) {
    CodegenOptions options = {
        .opt_level = 2, .verify = true, .prefix = "t_", .check_overlap = check};
    return codegen_load(m, &options);
}

START_TEST(values_and_results) {
    IrModule *m = module_new();
    CodegenCode *code = code_new(m, false);
    FUNCTION(code, scale, int, int64_t, double, const double *, double *, double *);
    double x[] = {1, 2, 3, 4, 5}, y[5] = {0}, total = 0;
    ck_assert_int_eq(scale(5, 2.0, x, y, &total), ADL_OK);
    ck_assert(y[0] == 2 && y[4] == 10 && total == 30);
    ck_assert_int_eq(scale(0, 2.0, NULL, NULL, &total), ADL_OK);
    ck_assert(total == 0);
    FUNCTION(code, turn, int, const double *, double *);
    ck_assert_int_eq(turn(x, y), ADL_OK);
    ck_assert(y[0] == -2 && y[1] == 1);
    FUNCTION(code, length, int, const char *, int64_t *);
    int64_t n = 7;
    ck_assert_int_eq(length("abc", &n), ADL_OK);
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(length("abd", &n), ADL_OK);
    ck_assert_int_eq(n, 0);
    codegen_api()->unload(code);
    ir_module_free(m);
}
END_TEST

START_TEST(refusals) {
    IrModule *m = module_new();
    CodegenCode *code = code_new(m, false);
    FUNCTION(code, scale, int, int64_t, double, const double *, double *, double *);
    FUNCTION(code, length, int, const char *, int64_t *);
    double x[2] = {1, 2}, y[2], total;
    int64_t n;
    ck_assert_int_eq(scale(2, 1.0, NULL, y, &total), ADL_ERROR_ARGUMENT);
    ck_assert_str_eq(adl_last_error_message(), "scale: x is NULL");
    ck_assert_int_eq(scale(2, 1.0, x, NULL, &total), ADL_ERROR_ARGUMENT);
    ck_assert_int_eq(scale(2, 1.0, x, y, NULL), ADL_ERROR_ARGUMENT);
    ck_assert_int_eq(scale(-1, 1.0, x, y, &total), ADL_ERROR_ARGUMENT);
    ck_assert_str_eq(adl_last_error_message(), "scale: n is negative");
    ck_assert_int_eq(length(NULL, &n), ADL_ERROR_ARGUMENT);
    ck_assert_int_eq(scale(2, 1.0, x, y, &total), ADL_OK);
    codegen_api()->unload(code);
    ir_module_free(m);
}
END_TEST

/* Memory that is read and written: in place, and put back where the value is another one. */
START_TEST(mutable_memory) {
    IrModule *m = module_new();
    CodegenCode *code = code_new(m, false);
    FUNCTION(code, bump, int, int64_t, float *, int64_t, bool, int32_t *);
    FUNCTION(code, replaced, int, double *, int64_t);
    float x[] = {1, 2, 3, 4};
    int32_t count = 5;
    ck_assert_int_eq(bump(2, x, 3, true, &count), ADL_OK);
    ck_assert(x[3] == 5 && x[2] == 3 && count == 6);
    ck_assert_int_eq(bump(2, x, 3, false, &count), ADL_OK);
    ck_assert(x[3] == 5 && count == 7);
    ck_assert_int_eq(bump(2, x, 4, true, &count), ADL_ERROR_INDEX);
    ck_assert_ptr_nonnull(strstr(adl_last_error_message(), "index 4 is out of range 0..4 for x"));
    double y[] = {5, 6, 7};
    ck_assert_int_eq(replaced(y, 3), ADL_OK);
    ck_assert(y[0] == 1 && y[2] == 1);
    codegen_api()->unload(code);
    ir_module_free(m);
}
END_TEST

START_TEST(overlaps) {
    IrModule *m = module_new();
    CodegenCode *code = code_new(m, true);
    FUNCTION(code, scale, int, int64_t, double, const double *, double *, double *);
    double x[4] = {1, 2, 3, 4}, total;
    ck_assert_int_eq(scale(2, 1.0, x, x + 2, &total), ADL_OK);
    ck_assert_int_eq(scale(3, 1.0, x, x + 1, &total), ADL_ERROR_ARGUMENT);
    ck_assert_str_eq(adl_last_error_message(), "x and result overlap in memory");
    codegen_api()->unload(code);
    ir_module_free(m);
}
END_TEST

START_TEST(tapes) {
    IrModule *m = module_new();
    CodegenCode *code = code_new(m, false);
    FUNCTION(code, forward, int, int64_t, const double *, adl_tape **);
    FUNCTION(code, reverse, int, const adl_tape *, int64_t, double *);
    double x[1000], v;
    adl_tape *tape = NULL;
    for (int i = 0; i < 1000; i++) x[i] = i;
    ck_assert_int_eq(forward(1000, x, &tape), ADL_OK);
    memset(x, 0, sizeof x);
    ck_assert_uint_ge(adl_tape_bytes(tape), sizeof x);
    ck_assert_int_eq(reverse(tape, 999, &v), ADL_OK);
    ck_assert(v == 999);
    ck_assert_int_eq(reverse(tape, 0, &v), ADL_OK);
    ck_assert(v == 0);
    ck_assert_int_eq(reverse(NULL, 0, &v), ADL_ERROR_TAPE);
    ck_assert_int_eq(adl_tape_free(&tape), ADL_OK);
    codegen_api()->unload(code);
    ir_module_free(m);
}
END_TEST

/* ---- the header ---- */

START_TEST(header_guards) {
    static const char *const names[][2] = {
        {"model.h", "MODEL_H_INCLUDED"},       {"a.b/c-d.h", "C_D_H_INCLUDED"},
        {"dir/9lives.h", "H9LIVES_H_INCLUDED"}, {"_own.h", "OWN_H_INCLUDED"},
        {"__x.h", "X_H_INCLUDED"},             {"<stdin>", "STDIN__INCLUDED"},
        {"-", "ADL_INCLUDED"},
    };
    IrModule *m = module_new();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        StrBuf text = {0}, wanted = {0};
        emit_header(&text, m, names[i][0], NULL);
        strbuf_printf(&wanted, "#ifndef %s\n#define %s\n", names[i][1], names[i][1]);
        ck_assert_msg(strstr(text.text, wanted.text), "%s: %s", names[i][0], text.text);
        strbuf_free(&text);
        strbuf_free(&wanted);
    }
    ir_module_free(m);
}
END_TEST

START_TEST(header_text) {
    IrModule *m = module_new();
    StrBuf text = {0};
    emit_header(&text, m, "dir/my-model.h", "t_");
    static const char *const parts[] = {
        "#ifndef MY_MODEL_H_INCLUDED\n",
        "/* t_scale: Scales x by a.\n"
        "   n: length of x.\n"
        "   a: read.\n"
        "   x (n): read.\n"
        "   result (n): overwritten.\n"
        "   total: overwritten. */\n"
        "int t_scale(int64_t n, double a, const double x[], double result[], double *total);\n",
        "int t_bump(int64_t n, float x[], int64_t k, bool flag, int32_t *count);\n",
        "   x (2 * n): read and overwritten.\n",
        "int t_turn(const double x[], double result[]);\n",
        "int t_length(const char *s, int64_t *result);\n",
        "typedef struct adl_tape adl_tape;\n",
        "int t_forward(int64_t n, const double x[], adl_tape **tape);\n",
        "int t_reverse(const adl_tape *tape, int64_t k, double *result);\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(text.text, parts[i]), "%s\nis not in\n%s", parts[i], text.text);
    strbuf_free(&text);
    ir_module_free(m);
}
END_TEST

/* Twice, as C and as C++, where there are compilers. */
START_TEST(header_compiles) {
    static const char *const commands[] = {
        "${CC:-cc} -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only %s/t.c",
        "command -v ${CXX:-c++} >/dev/null || exit 0; "
        "${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ %s/t.c"};
    char folder[] = "/tmp/adl-header-XXXXXX", path[64], command[512];
    IrModule *m = module_new();
    StrBuf text = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    emit_header(&text, m, "t.h", NULL);
    snprintf(path, sizeof path, "%s/t.h", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text.text, file);
    fclose(file);
    snprintf(path, sizeof path, "%s/t.c", folder);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("#include \"t.h\"\n#include \"t.h\"\n"
          "int use(void);\nint use(void) { double x[2], y[2]; x[0] = x[1] = 0; return turn(x, y); "
          "}\n",
          file);
    fclose(file);
    for (size_t i = 0; i < 2; i++) {
        snprintf(command, sizeof command, commands[i], folder);
        ck_assert_int_eq(system(command), 0);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    strbuf_free(&text);
    ir_module_free(m);
}
END_TEST

UNIT_MAIN("codegen-exports", values_and_results, refusals, mutable_memory, overlaps, tapes,
          header_guards, header_text, header_compiles)
