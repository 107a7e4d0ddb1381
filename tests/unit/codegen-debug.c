/* Debug information: gdb stops on a line of the source, in the function that is meant. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/export.h"
#include "tests/unit/generated.h"

static const char adl_text[] = "// A test.\n"
                               "fn total(x: [n]f64) -> f64 {\n"
                               "    var s = 0.0;\n"
                               "    for i in 0..n {\n"
                               "        s = s + x[i];\n"
                               "    }\n"
                               "    s\n"
                               "}\n";

static const char ir_text[] = "func @total(%x: [?]f64) -> (f64) {\n"
                              "  %zero: f64 = const 0.0\n"
                              "  %n: i64 = dim %x, 0\n"
                              "  %r: f64 = loop %n, %zero { (%i: i64, %s: f64)\n"
                              "    %v: f64 = index %x [%i]\n"
                              "    %t: f64 = add %s, %v\n"
                              "    yield %t\n"
                              "  }\n"
                              "  yield %r\n"
                              "}\n";

static const char c_text[] = "#include <stdint.h>\n"
                             "int total(int64_t, const double *, double *);\n"
                             "int main(void) {\n"
                             "    double x[50] = {1, 2, 4}, s;\n"
                             "    return total(50, x, &s) || s != 7;\n"
                             "}\n";

static Pos line_pos(const SourceFile *file, uint32_t line) {
    return file->base + file->lines[line - 1];
}

static void set_positions(IrInst *inst, void *data) {
    const SourceFile *file = data;
    inst->pos = line_pos(file, inst->op == IR_INDEX || inst->op == IR_ADD ? 5 : 4);
}

static void add_export(IrModule *m) {
    IrType f64 = ir_scalar(m, IR_F64), vector = ir_array(m, IR_F64, 1, NULL);
    IrExport *e = ARENA_NEW(m->arena, IrExport);
    e->kind = IR_EXPORT_C;
    e->name = "total";
    e->func = ir_find_func(m, "total");
    e->func->flags |= IR_FUNC_ROOT;
    e->params = ARENA_ARRAY(m->arena, IrCParam, 3);
    e->nparams = 3;
    e->params[0] = (IrCParam){
        .kind = IR_C_SIZE, .name = "n", .type = ir_scalar(m, IR_I64), .param = -1, .result = -1};
    e->params[1] = (IrCParam){.kind = IR_C_ARRAY,
                              .name = "x",
                              .type = vector,
                              .param = 0,
                              .result = -1,
                              .rank = 1,
                              .dims = {{.constant = -1, .text = "n"}}};
    e->params[2] = (IrCParam){
        .kind = IR_C_OUT, .name = "result", .type = f64, .param = -1, .result = 0};
    e->args = ARENA_ARRAY(m->arena, IrCArg, 3);
    e->nargs = 3;
    for (uint32_t i = 0; i < 3; i++) {
        e->params[i].arg = i;
        e->params[i].offset = -1;
        e->args[i] = (IrCArg){.name = e->params[i].name, .first = i, .count = 1};
    }
    vec_push(&m->exports, e);
}

static void write_file(const char *folder, const char *name, const char *bytes, size_t len) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

static void run(const char *folder, const char *format) {
    char command[1024];
    const char *build = getenv("ADL_BUILD_DIR"), *library = getenv("ADL_LIBRARY_DIR");
    char libs[512];
    if (library) snprintf(libs, sizeof libs, "%s", library);
    else snprintf(libs, sizeof libs, "%s/.libs", build ? build : ".");
    setenv("LIBS", libs, 1);
    setenv("DIR", folder, 1);
    snprintf(command, sizeof command, "cd \"$DIR\" && %s", format);
    ck_assert_msg(system(command) == 0, "%s", command);
}

static void check_level(int level, bool derivative) {
    char folder[] = "/tmp/adl-debug-XXXXXX", path[64], *error = NULL;
    const char *message;
    Sources sources;
    Arena *arena = arena_new();
    StrBuf object = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/total.adl", folder);
    sources_init(&sources, arena);
    SourceFile *file = sources_add(&sources, path, adl_text, strlen(adl_text));
    IrModule *m = ir_module_new(&sources);
    ck_assert_msg(ir_parse(m, ir_text, strlen(ir_text), &message), "%s", message);
    IrFunc *func = ir_find_func(m, "total"), base;
    func->pos = line_pos(file, 2);
    if (derivative) {
        base = *func;
        func->deriv.mode = IR_DERIV_GRAD;
        func->deriv.base = &base;
    }
    ir_walk(func->body, set_positions, file);
    add_export(m);
    CodegenOptions options = {
        .opt_level = level, .debug = true, .pic = true, .verify = true, .producer = "test"};
    bool ok = codegen_api()->emit(m, &options, CODEGEN_OBJECT, &object, &error);
    ck_assert_msg(ok, "%s", error);
    write_file(folder, "total.o", object.text, object.len);
    write_file(folder, "main.c", c_text, strlen(c_text));
    write_file(folder, "total.adl", adl_text, strlen(adl_text));
    run(folder,
        "${CC:-cc} -g main.c total.o -L\"$LIBS\" -ladl -Wl,-rpath,\"$LIBS\" -o main && ./main");
    run(folder,
        "command -v gdb >/dev/null || exit 0; "
        "gdb -batch -nx -ex 'break total.adl:5' -ex run -ex backtrace -ex 'list 5,5' ./main "
        ">log 2>&1; grep -q 'total.adl:5' log && grep -q 'main.c:5' log && "
        "grep -q 's = s + x' log || { cat log; exit 1; }");
    if (derivative) run(folder, "command -v gdb >/dev/null || exit 0; grep -q 'grad of total' log");
    run(folder, "rm -r \"$DIR\"");
    strbuf_free(&object);
    ir_module_free(m);
    sources_free(&sources);
    arena_free(arena);
}

START_TEST(plain) {
    check_level(0, false);
}
END_TEST

START_TEST(optimised) {
    check_level(2, false);
}
END_TEST

START_TEST(derivative) {
    check_level(0, true);
}
END_TEST

UNIT_MAIN("codegen-debug", plain, optimised, derivative)
