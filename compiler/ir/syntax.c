#include "ir/syntax.h"

const char *ir_syntax(IrOp op) {
    switch ((int)op) {
    case IR_CONST: return "K";
    case IR_MATH: return "M R";
    case IR_STRING: return "T";
    case IR_LOOP: return "X R";
    case IR_CALL: return "F(R)";
    case IR_DIM: return "A, D";
    case IR_BUILD: return "I N";
    case IR_REDUCE: return "Q I J";
    case IR_INDEX:
    case IR_RESHAPE:
    case IR_ASSUME: return "A E";
    case IR_UPDATE:
    case IR_ACC_ADD: return "A V, A";
    case IR_SLICE: return "A start S count S step S";
    case IR_ASSIGN: return "A start H step H, A";
    case IR_TRANSPOSE: return "A P";
    case IR_CONTRACT: return "C R";
    case IR_TAPE_PUSH:
    case IR_TAPE_POP: return "B R";
    case IR_CHECK: return "G T R";
    case IR_CHECK_INDEX:
    case IR_RUNTIME: return "T R";
    case IR_FAIL: return "G R";
    default: return "R";
    }
}

uint32_t ir_syntax_uses(IrOp op) {
    uint32_t uses = 0;
    for (const char *at = ir_syntax(op); *at; at++) {
        switch (*at) {
        case 'I':
        case 'M':
        case 'D': uses |= IR_USES_IMM; break;
        case 'N':
        case 'P': uses |= IR_USES_INTS; break;
        case 'K': uses |= IR_USES_IMM | IR_USES_FIMM; break;
        case 'Q':
        case 'X':
        case 'C':
        case 'B':
        case 'G': uses |= IR_USES_FLAGS; break;
        case 'T': uses |= IR_USES_TEXT; break;
        default: break;
        }
    }
    return uses;
}
