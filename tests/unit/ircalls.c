#define _GNU_SOURCE /* strtok_r */
#include "tests/unit/ircalls.h"

#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const char *case_path(const char *folder, const char *name, char path[512]) {
    const char *source = getenv("ADL_SOURCE_DIR");
    snprintf(path, 512, "%s/tests/cases/%s/%s", source ? source : ".", folder, name);
    return path;
}

IrModule *ir_case_module(const char *text, const char *what) {
    const char *message;
    IrModule *module = ir_module_new(NULL);
    bool ok = ir_parse(module, text, strlen(text), &message);
    ck_assert_msg(ok, "%s: %s", what, ok ? "" : message);
    const char *fault = ir_verify(module);
    ck_assert_msg(!fault, "%s: %s", what, fault ? fault : "");
    return module;
}

typedef struct Call {
    IrFunc *func;
    IrDatum args[16], results[16];
    const char *rest; /* of the line, behind ")" */
} Call;

static void read_call(IrModule *module, const char *line, Call *call) {
    char name[64];
    const char *open = strchr(line, '(');
    ck_assert_msg(open && open - line < 64, "%s", line);
    snprintf(name, sizeof name, "%.*s", (int)(open - line), line);
    call->func = ir_find_func(module, name);
    ck_assert_msg(call->func && call->func->nparams <= 16 && call->func->nresults <= 16,
                  "no function @%s", name);
    const char *at = open + 1;
    for (uint32_t i = 0; i < call->func->nparams; i++) {
        bool ok =
            (i == 0 || *at++ == ',') && ir_parse_datum(&at, call->func->params[i], &call->args[i]);
        ck_assert_msg(ok, "argument %u of @%s", i, line);
    }
    ck_assert_msg(*at == ')', "end of the arguments of @%s", line);
    call->rest = at + 1;
}

/* What the line should say behind ")". */
static void run_call(IrModule *module, Call *call, StrBuf *out) {
    IrInterp *interp = ir_interp_new(module);
    StrBuf printed = {0};
    ir_interp_set_output(interp, &printed);
    ir_interp_set_limits(interp, 100000, 100);
    bool ok = ir_interp_call(interp, call->func, call->args, call->results);
    if (!ok) {
        IrInterpError error = ir_interp_error(interp);
        strbuf_printf(out, " fails %d: %s", error.kind, error.message);
    } else if (printed.len) {
        strbuf_printf(out, " prints: %.*s", (int)printed.len - 1, printed.text);
    } else {
        for (uint32_t i = 0; i < call->func->nresults; i++) {
            strbuf_add(out, i ? ", " : " = ");
            ir_print_datum(out, call->results[i], call->func->results[i]);
        }
    }
    for (uint32_t i = 0; i < 16; i++) {
        ir_datum_drop(&call->args[i]);
        if (ok) ir_datum_drop(&call->results[i]);
    }
    strbuf_free(&printed);
    ir_interp_free(interp);
}

static void check_call(IrModule *module, char *line, const char *file) {
    Call call = {0};
    StrBuf out = {0};
    strbuf_add(&out, "");
    read_call(module, line, &call);
    run_call(module, &call, &out);
    if (getenv("IR_CASES_SHOW"))
        fprintf(stderr, "; @%.*s%s\n", (int)(call.rest - line), line, out.text);
    else
        ck_assert_msg(strcmp(call.rest, out.text) == 0, "%s: @%.*s is\n%s, not\n%s", file,
                      (int)(call.rest - line), line, out.text, call.rest);
    strbuf_free(&out);
}

void ir_case_calls(IrModule *module, char *text, const char *what) {
    char *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
        if (strncmp(line, "; @", 3) == 0) check_call(module, line + 3, what);
}

void ir_case_files(const char *folder, void (*visit)(const char *name, char *text, void *data),
                   void *data) {
    char path[512], *text;
    size_t len;
    FileError error;
    DIR *dir = opendir(case_path(folder, "", path));
    ck_assert_msg(dir, "%s", path);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        size_t n = strlen(entry->d_name);
        if (n <= 3 || strcmp(entry->d_name + n - 3, ".ir") != 0) continue;
        bool ok = file_read_all(case_path(folder, entry->d_name, path), &text, &len, &error);
        ck_assert_msg(ok, "%s", path);
        visit(entry->d_name, text, data);
        free(text);
    }
    closedir(dir);
}
