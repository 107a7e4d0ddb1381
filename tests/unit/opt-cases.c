/* The optimiser on the cases of tests/cases/ir and tests/cases/opt: every pass alone, and both orders
   of passes as the compiler runs them.  After each the module must verify, and every call must give
   what it gave: the same values, the same errors. */
#define _GNU_SOURCE /* strdup */
#include "tests/unit/ircalls.h"
#include "tests/unit/unit.h"

#include "opt/opt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep_all(IrModule *module) {
    for (uint32_t k = 0; k < module->funcs.len; k++) module->funcs.at[k]->flags |= IR_FUNC_ROOT;
}

static void verify_after(void *data, const char *pass, IrModule *module) {
    const char *fault = ir_verify(module);
    ck_assert_msg(!fault, "%s after %s: %s", (const char *)data, pass, fault ? fault : "");
}

/* What is undefined (negative kinds) may come out otherwise: a loop that does not end and does nothing
   may be removed. */
static void check_calls(IrModule *module, const char *text, const char *what) {
    char *copy = strdup(text), *limit = copy;
    while ((limit = strstr(limit, " fails -"))) {
        char *line = limit;
        while (line > copy && line[-1] != '\n') line--;
        line[0] = '#';
        limit++;
    }
    ir_case_calls(module, copy, what);
    free(copy);
}

static void single_pass(const char *name, const char *text, const char *pass) {
    char what[256];
    snprintf(what, sizeof what, "%s, pass %s", name, pass);
    IrModule *module = ir_case_module(text, what);
    keep_all(module);
    opt_run_pass(module, pass);
    verify_after(what, pass, module);
    check_calls(module, text, what);
    ir_module_free(module);
}

static void check_file(const char *name, char *text, void *data) {
    (void)data;
    for (const char *const *pass = opt_pass_names(); *pass; pass++) single_pass(name, text, *pass);
    OptHooks hooks = {verify_after, (void *)name};
    IrModule *module = ir_case_module(text, name);
    keep_all(module);
    opt_before_ad(module, 3, &hooks);
    check_calls(module, text, name);
    opt_after_ad(module, 3, &hooks);
    check_calls(module, text, name);
    ir_module_free(module);
}

/* ---- shapes ---- */

typedef struct Counter {
    const char *op;
    int count;
} Counter;

static void count_op(IrInst *inst, void *data) {
    Counter *counter = data;
    counter->count += strcmp(ir_op_info(inst->op)->name, counter->op) == 0;
}

static void check_shape(const char *name, const char *text, const char *line) {
    char func[64], pass[64], verb[16], op[32];
    int n = sscanf(line, "; shape @%63s %63s %15s %31s", func, pass, verb, op);
    ck_assert_msg(n == 4, "%s: %s", name, line);
    IrModule *module = ir_case_module(text, name);
    keep_all(module);
    if (strcmp(pass, "all") == 0) {
        opt_before_ad(module, 3, NULL);
        opt_after_ad(module, 3, NULL);
    } else {
        ck_assert_msg(opt_run_pass(module, pass), "%s: no pass %s", name, pass);
        opt_run_pass(module, "dce");
    }
    IrFunc *f = ir_find_func(module, func);
    ck_assert_msg(f, "%s: no function @%s", name, func);
    Counter counter = {op, 0};
    ir_walk(f->body, count_op, &counter);
    bool number = verb[0] >= '0' && verb[0] <= '9';
    bool good = number ? counter.count == atoi(verb)
                       : (counter.count > 0) == (strcmp(verb, "has") == 0);
    StrBuf dump = {0};
    ir_print_func(&dump, f);
    ck_assert_msg(good, "%s: %.80s\n%s", name, line, dump.text);
    strbuf_free(&dump);
    ir_module_free(module);
}

static void check_shapes(const char *name, char *text, void *data) {
    (void)data;
    for (const char *line = text; (line = strstr(line, "; shape @")); line++)
        check_shape(name, text, line);
}

START_TEST(shapes) { ir_case_files("opt", check_shapes, NULL); }
END_TEST

START_TEST(values_stay) {
    ir_case_files("ir", check_file, NULL);
    ir_case_files("opt", check_file, NULL);
}
END_TEST

UNIT_MAIN("opt-cases", values_stay, shapes)
