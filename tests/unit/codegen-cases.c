/* Generated code against the interpreter.  The calls in the cases of tests/cases/ir and
   tests/cases/ codegen (see ircalls.h) are made in both; so are those that a line

     ; any @f [0, 1, 3, 17, 1000]

   asks for: with arguments by chance, all open sizes being equal, and i64 parameters that size too.
 */
#include "tests/unit/ircalls.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/core/calls.h"
#include "tests/unit/entry.h"
#include "tests/unit/generated.h"

enum { MAX_VALUES = 24 };

static CodegenCode *compile(const IrModule *module, int level) {
    CodegenOptions options = {
        .opt_level = level, .cpu = "native", .entries = true, .verify = true, .threads = level > 2};
    return codegen_load(module, &options);
}

/* ---- comparison ---- */

static bool close_floats(double x, double y, double tolerance) {
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    if (x == y) return true;
    return fabs(x - y) <= tolerance * fmax(1, fmax(fabs(x), fabs(y)));
}

/* Sums may have another order, functions another last bit. */
static bool close_data(IrType type, IrDatum a, IrDatum b) {
    double tolerance = type->scalar == IR_F32 ? 2e-5 : 1e-13;
    if (!ir_is_float(type)) return ir_datum_equal(a, b);
    if (type->kind != IR_T_ARRAY) return close_floats(a.as.f, b.as.f, tolerance);
    if (a.as.array->count != b.as.array->count) return false;
    for (uint32_t k = 0; k < a.as.array->rank; k++)
        if (a.as.array->dims[k] != b.as.array->dims[k]) return false;
    for (int64_t i = 0; i < a.as.array->count; i++)
        if (!close_floats(ir_array_get(a.as.array, i).as.f, ir_array_get(b.as.array, i).as.f,
                          tolerance))
            return false;
    return true;
}

typedef struct Call {
    IrFunc *func;
    IrDatum args[MAX_VALUES], want[MAX_VALUES], got[MAX_VALUES];
    EntrySlot slots[2 * MAX_VALUES];
    const char *line;
} Call;

static void compare_results(const Call *call, const char *what) {
    for (uint32_t i = 0; i < call->func->nresults; i++) {
        IrType type = call->func->results[i];
        if (type->kind == IR_T_TAPE || close_data(type, call->want[i], call->got[i])) continue;
        StrBuf got = {0}, want = {0};
        ir_print_datum(&got, call->got[i], type);
        ir_print_datum(&want, call->want[i], type);
        ck_abort_msg("%s: result %u of @%s is\n%.300s\nnot\n%.300s", what, i, call->line, got.text,
                     want.text);
    }
}

static bool copied_args_stay(const Call *call, const IrDatum *before) {
    for (uint32_t i = 0; i < call->func->nparams; i++)
        if (!ir_datum_equal(before[i], call->args[i])) return false;
    return true;
}

/* Blocks that are left after the results went: leaks within a call. */
static void check_leaks(AdlContext *context, const Call *call, const char *what) {
    for (uint32_t i = 0; i < call->func->nresults; i++) {
        IrType type = call->func->results[i];
        const CodegenArray *array = &call->slots[call->func->nparams + i].array;
        if (type->kind == IR_T_TAPE) adl__tape_release(context, array->data);
        else if (type->kind != IR_T_SCALAR) adl__release(context, array->block);
    }
    ck_assert_msg(!context->live && !context->tapes, "%s: @%s leaves a block behind", what,
                  call->line);
}

/* The status of the call in generated code; GOT is filled if it is 0. */
static int32_t run_code(CodegenCode *code, Call *call, const char *what) {
    char name[128], *error = NULL;
    void *places[2 * MAX_VALUES], *address;
    IrDatum before[MAX_VALUES];
    AdlContext context;
    EntryFn entry;
    uint32_t n = call->func->nparams;
    snprintf(name, sizeof name, "adl__entry_%s", call->func->name);
    address = codegen_api()->find(code, name, &error);
    ck_assert_msg(address, "%s: %s", what, error ? error : "");
    memcpy(&entry, &address, sizeof entry);
    for (uint32_t i = 0; i < n + call->func->nresults; i++) places[i] = &call->slots[i];
    for (uint32_t i = 0; i < n; i++) {
        before[i] = entry_copy(call->args[i]);
        entry_slot_from(call->func->params[i], call->args[i], &call->slots[i]);
    }
    adl__context_begin(&context);
    int32_t status = entry(&context, places);
    for (uint32_t i = 0; status == 0 && i < call->func->nresults; i++)
        call->got[i] = entry_slot_to(call->func->results[i], &call->slots[n + i]);
    ck_assert_msg(copied_args_stay(call, before), "%s: @%s changes its arguments", what,
                  call->line);
    if (status == 0) check_leaks(&context, call, what);
    for (uint32_t i = 0; i < n; i++) ir_datum_drop(&before[i]);
    adl__context_end(&context, status);
    return status;
}

/* The same call with more threads gives the same bits. */
static void check_threads(CodegenCode *code, Call *call, const char *what) {
    IrDatum alone[MAX_VALUES];
    memcpy(alone, call->got, sizeof alone);
    memset(call->got, 0, sizeof call->got);
    ck_assert_int_eq(adl_set_num_threads(3), ADL_OK);
    strbuf_clear(&codegen_printed);
    ck_assert_int_eq(run_code(code, call, what), 0);
    ck_assert_int_eq(adl_set_num_threads(1), ADL_OK);
    for (uint32_t i = 0; i < call->func->nresults; i++)
        ck_assert_msg(ir_datum_equal(alone[i], call->got[i]),
                      "%s: result %u of @%s depends on the number of threads", what, i, call->line);
    for (uint32_t i = 0; i < MAX_VALUES; i++) ir_datum_drop(&alone[i]);
}

static void check_call(IrModule *module, CodegenCode *code, Call *call, const char *what) {
    IrInterp *interp = ir_interp_new(module);
    StrBuf out = {0};
    ir_interp_set_output(interp, &out);
    ir_interp_set_limits(interp, 20000000, 100);
    bool ok = ir_interp_call(interp, call->func, call->args, call->want);
    IrInterpError error = ir_interp_error(interp);
    if (ok || error.kind > 0) {
        strbuf_clear(&codegen_printed);
        int32_t status = run_code(code, call, what);
        int32_t wanted = ok ? 0 : error.kind;
        ck_assert_msg(status == wanted, "%s: @%s gives status %d, not %d (%s)", what, call->line,
                      status, wanted, ok ? adl_last_error_message() : error.message);
        if (ok) compare_results(call, what);
        if (ok && strstr(what, "-O3")) check_threads(code, call, what);
        if (!ok && error.kind != IR_ERROR_SIZE && error.kind != IR_ERROR_MEMORY)
            ck_assert_msg(strstr(adl_last_error_message(), error.message),
                          "%s: @%s fails with\n%s, not\n%s", what, call->line,
                          adl_last_error_message(), error.message);
        ck_assert_str_eq(codegen_printed.text && codegen_printed.len ? codegen_printed.text : "",
                         out.text && out.len ? out.text : "");
    }
    for (uint32_t i = 0; i < MAX_VALUES; i++) {
        if (ok) ir_datum_drop(&call->want[i]);
        ir_datum_drop(&call->got[i]);
        ir_datum_drop(&call->args[i]);
    }
    strbuf_free(&out);
    ir_interp_free(interp);
}

/* ---- calls ---- */

static void find_func(IrModule *module, const char *line, size_t len, Call *call) {
    char name[64];
    ck_assert(len < sizeof name);
    snprintf(name, sizeof name, "%.*s", (int)len, line);
    call->func = ir_find_func(module, name);
    call->line = line;
    ck_assert_msg(call->func && call->func->nparams <= MAX_VALUES &&
                      call->func->nresults <= MAX_VALUES,
                  "no function @%s", name);
}

/* "f(1, 2) ...": as written. */
static void written_call(IrModule *module, CodegenCode *code, const char *line, const char *what) {
    Call call = {0};
    const char *open = strchr(line, '(');
    ck_assert_msg(open, "%s", line);
    find_func(module, line, (size_t)(open - line), &call);
    const char *at = open + 1;
    for (uint32_t i = 0; i < call.func->nparams; i++) {
        bool ok =
            (i == 0 || *at++ == ',') && ir_parse_datum(&at, call.func->params[i], &call.args[i]);
        ck_assert_msg(ok, "argument %u of @%s", i, line);
    }
    check_call(module, code, &call, what);
}

static uint64_t random_state;

static double random_number(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static IrDatum random_scalar(IrScalar scalar) {
    if (ir_scalar_float(scalar)) {
        double x = 0.25 + random_number();
        return ir_datum_float(scalar == IR_F32 ? (double)(float)x : x);
    }
    return ir_datum_int((int64_t)(random_number() * (scalar == IR_BOOL ? 2 : 5)));
}

static IrDatum random_value(IrType type, int64_t size) {
    int64_t dims[IR_MAX_RANK];
    if (type->kind == IR_T_SCALAR)
        return type->scalar == IR_I64 ? ir_datum_int(size) : random_scalar(type->scalar);
    for (uint32_t k = 0; k < type->rank; k++) dims[k] = type->dims[k] < 0 ? size : type->dims[k];
    IrDatum datum = ir_datum_array(type->scalar, type->rank, dims);
    for (int64_t i = 0; i < datum.as.array->count; i++)
        ir_array_set(datum.as.array, i, random_scalar(type->scalar));
    return datum;
}

/* "f [0, 1, ...]": by chance. */
static void random_calls(IrModule *module, CodegenCode *code, char *line, const char *what) {
    char *open = strchr(line, '['), *name_end = strchr(line, ' ');
    ck_assert_msg(open && name_end, "%s", line);
    for (char *at = open + 1; *at && *at != ']';) {
        Call call = {0};
        long size = strtol(at, &at, 10);
        if (*at == ',') at++;
        find_func(module, line, (size_t)(name_end - line), &call);
        random_state = (uint64_t)size;
        for (uint32_t i = 0; i < call.func->nparams; i++)
            call.args[i] = random_value(call.func->params[i], size);
        check_call(module, code, &call, what);
    }
}

static void check_level(const char *name, const char *text, int level) {
    char what[256], *copy = strdup(text), *state = NULL;
    snprintf(what, sizeof what, "%s, -O%d", name, level);
    IrModule *module = ir_case_module(text, what);
    for (uint32_t i = 0; i < module->funcs.len; i++) module->funcs.at[i]->flags |= IR_FUNC_ROOT;
    CodegenCode *code = compile(module, level);
    for (char *line = strtok_r(copy, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        if (strncmp(line, "; @", 3) == 0) written_call(module, code, line + 3, what);
        if (strncmp(line, "; any @", 7) == 0) random_calls(module, code, line + 7, what);
    }
    codegen_api()->unload(code);
    ir_module_free(module);
    free(copy);
}

static void check_file(const char *name, char *text, void *data) {
    adl_set_num_threads(1);
    const char *only = getenv("CASES");
    (void)data;
    if (only && !strstr(name, only)) return;
    check_level(name, text, 0);
    check_level(name, text, 2);
    check_level(name, text, 3);
}

START_TEST(ir_cases) {
    ir_case_files("ir", check_file, NULL);
}
END_TEST

START_TEST(own_cases) {
    ir_case_files("codegen", check_file, NULL);
}
END_TEST

UNIT_MAIN("codegen-cases", ir_cases, own_cases)
