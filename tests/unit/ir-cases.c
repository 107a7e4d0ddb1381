/* The cases of tests/cases/ir: a case is a module in the IR's text form, with what its functions give
   in comments (ircalls.h).  Each is parsed, verified, printed and parsed again, then the calls are
   run.  Together they must hold every operation. */
#include "tests/unit/ircalls.h"
#include "tests/unit/unit.h"

static void check_round_trip(const IrModule *module, const char *what) {
    StrBuf once = {0}, again = {0};
    ir_print_module(&once, module);
    IrModule *copy = ir_case_module(once.text, what);
    ir_print_module(&again, copy);
    ck_assert_str_eq(once.text, again.text);
    ir_module_free(copy);
    strbuf_free(&once);
    strbuf_free(&again);
}

static void note_op(IrInst *inst, void *data) {
    bool *seen = data;
    seen[inst->op] = true;
}

static void check_case(const char *name, char *text, void *seen) {
    IrModule *module = ir_case_module(text, name);
    check_round_trip(module, name);
    for (uint32_t i = 0; i < module->funcs.len; i++)
        if (module->funcs.at[i]->body) ir_walk(module->funcs.at[i]->body, note_op, seen);
    ir_case_calls(module, text, name);
    ir_module_free(module);
}

START_TEST(cases) {
    bool seen[IR_OP_COUNT] = {false};
    ir_case_files("ir", check_case, seen);
    for (int op = 0; op < IR_OP_COUNT; op++)
        ck_assert_msg(seen[op], "no case holds '%s'", ir_op_info((IrOp)op)->name);
}
END_TEST

UNIT_MAIN("ir-cases", cases)
