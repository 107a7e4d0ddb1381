/* The optimiser on the cases of tests/cases/ir and tests/cases/opt: every pass alone, and both orders
   of passes as the compiler runs them.  After each the module must verify, and every call must give
   what it gave: the same values, the same errors. */
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

START_TEST(values_stay) { ir_case_files("ir", check_file, NULL); }
END_TEST

UNIT_MAIN("opt-cases", values_stay)
