/* The text form: what parse.c reads. */
#include "ir/ir.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/syntax.h"

/* ---- names and types ---- */

static void print_hint(StrBuf *out, const char *name) {
    strbuf_char(out, '%');
    for (const char *c = name; *c; c++)
        strbuf_char(out, (unsigned char)*c < 128 && isalnum((unsigned char)*c) ? *c : '_');
}

static void print_value(StrBuf *out, const IrValue *value) {
    value = ir_resolve((IrValue *)value);
    if (!value) {
        strbuf_add(out, "%none");
        return;
    }
    if (value->name && value->name[0]) {
        print_hint(out, value->name);
        strbuf_printf(out, ".%" PRIu32, value->id);
    } else {
        strbuf_printf(out, "%%%" PRIu32, value->id);
    }
}

static void print_func_name(StrBuf *out, const IrFunc *func) {
    strbuf_char(out, '@');
    if (!func) {
        strbuf_add(out, "none");
        return;
    }
    bool plain = func->name[0] != '\0';
    for (const char *c = func->name; *c; c++)
        plain = plain && (unsigned char)*c < 128 &&
                (isalnum((unsigned char)*c) || *c == '_' || *c == '.' || *c == '$');
    if (plain) strbuf_add(out, func->name);
    else strbuf_json(out, func->name, strlen(func->name));
}

static void print_shape(StrBuf *out, IrType type) {
    if (type->rank) {
        strbuf_char(out, '[');
        for (uint32_t k = 0; k < type->rank; k++) {
            if (k) strbuf_add(out, ", ");
            if (type->dims[k] < 0) strbuf_char(out, '?');
            else strbuf_printf(out, "%" PRId64, type->dims[k]);
        }
        strbuf_char(out, ']');
    }
    strbuf_add(out, ir_scalar_name(type->scalar));
    if (ir_scalar_lanes(type->scalar) > 1) strbuf_printf(out, "x%u", ir_scalar_lanes(type->scalar));
}

void ir_print_type(StrBuf *out, IrType type) {
    if (!type) {
        strbuf_add(out, "none");
        return;
    }
    switch (type->kind) {
    case IR_T_SCALAR:
    case IR_T_ARRAY: print_shape(out, type); break;
    case IR_T_STR: strbuf_add(out, "str"); break;
    case IR_T_TAPE: strbuf_add(out, "tape"); break;
    case IR_T_ACC:
        strbuf_add(out, "acc ");
        print_shape(out, type);
        break;
    }
}

static void print_typed(StrBuf *out, const IrValue *value) {
    print_value(out, value);
    strbuf_add(out, ": ");
    ir_print_type(out, value->type);
}

/* ---- constants ---- */

static void print_float(StrBuf *out, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x) && bits != UINT64_C(0x7ff8000000000000))
        strbuf_printf(out, "bits 0x%" PRIx64, bits);
    else strbuf_double(out, x);
}

/* The shortest decimal that reads back as this float. */
static void print_single(StrBuf *out, double x) {
    char text[32];
    int digits = 6;
    if (isnan(x) || isinf(x) || (double)(float)x != x) {
        print_float(out, x);
        return;
    }
    do snprintf(text, sizeof text, "%.*g", digits, x);
    while (digits++ < 9 && strtof(text, NULL) != (float)x);
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.';
    strbuf_add(out, text);
    if (!strpbrk(text, ".e")) strbuf_add(out, ".0");
}

void ir_print_real(StrBuf *out, IrScalar scalar, double x) {
    if (ir_scalar_base(scalar) == IR_F32) print_single(out, x);
    else print_float(out, x);
}

static void print_const(StrBuf *out, const IrInst *inst) {
    IrType type = inst->nresults ? inst->results[0]->type : NULL;
    if (!type || type->kind != IR_T_SCALAR) strbuf_printf(out, "%" PRId64, inst->imm);
    else if (ir_scalar_float(type->scalar)) ir_print_real(out, type->scalar, inst->fimm);
    else if (ir_scalar_base(type->scalar) == IR_BOOL && (inst->imm == 0 || inst->imm == 1))
        strbuf_add(out, inst->imm ? "true" : "false");
    else if (type->scalar == IR_U64) strbuf_printf(out, "%" PRIu64, (uint64_t)inst->imm);
    else strbuf_printf(out, "%" PRId64, inst->imm);
}

/* ---- instructions ---- */

/* Where the printer is in an instruction's operands. */
typedef struct Cursor {
    StrBuf *out;
    const IrInst *inst;
    uint32_t at;
} Cursor;

static void print_operands(Cursor *c, uint32_t n) {
    for (uint32_t i = 0; i < n && c->at < c->inst->noperands; i++) {
        if (i) strbuf_add(c->out, ", ");
        print_value(c->out, c->inst->operands[c->at++]);
    }
}

static void print_list(Cursor *c, uint64_t n) {
    uint32_t left = c->inst->noperands - c->at;
    strbuf_char(c->out, '[');
    print_operands(c, n < left ? (uint32_t)n : left);
    strbuf_char(c->out, ']');
}

static void print_ints(StrBuf *out, const IrInst *inst) {
    strbuf_char(out, '(');
    for (uint32_t i = 0; i < inst->nints; i++)
        strbuf_printf(out, "%s%" PRId64, i ? ", " : "", inst->ints[i]);
    strbuf_char(out, ')');
}

static bool all_zero(const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nints; i++)
        if (inst->ints[i]) return false;
    return inst->nints == inst->nresults;
}

static void print_inner(Cursor *c) {
    if (c->at < c->inst->noperands) {
        strbuf_add(c->out, "inner ");
        print_list(c, c->inst->noperands);
        strbuf_char(c->out, ' ');
    }
    if (all_zero(c->inst)) return;
    strbuf_add(c->out, "ranks ");
    print_ints(c->out, c->inst);
}

static void print_text(StrBuf *out, const char *text) {
    if (text) strbuf_json(out, text, strlen(text));
    else strbuf_add(out, "none");
}

static void print_flag_words(Cursor *c, char part) {
    uint32_t flags = c->inst->flags;
    if (part == 'X' && (flags & IR_LOOP_EXIT)) strbuf_add(c->out, "exit ");
    if (part == 'X' && (flags & IR_LOOP_SCAN)) strbuf_add(c->out, "scan ");
    if (part == 'C' && (flags & IR_CONTRACT_TA)) strbuf_add(c->out, "ta ");
    if (part == 'C' && (flags & IR_CONTRACT_TB)) strbuf_add(c->out, "tb ");
    if (part == 'B' && (flags & IR_TAPE_COPIES)) strbuf_add(c->out, "copies ");
    if (part == 'B' && (flags & IR_TAPE_TYPED)) strbuf_add(c->out, "typed ");
    if (part == 'Q')
        strbuf_add(c->out, flags <= IR_ARGMAX ? ir_reduce_name((IrReduce)flags) : "none");
}

static void print_part(Cursor *c, char part) {
    const IrInst *inst = c->inst;
    uint32_t n = inst->noperands, left = n - c->at;
    switch (part) {
    case 'A': print_operands(c, 1); break;
    case 'R': print_operands(c, left); break;
    case 'E': print_list(c, left); break;
    case 'V': print_list(c, left ? left - 1 : 0); break;
    case 'S': print_list(c, (n - 1) / 3); break;
    case 'H': print_list(c, n > 1 ? (n - 2) / 2 : 0); break;
    case 'I': print_list(c, inst->imm < 0 ? 0 : (uint64_t)inst->imm); break;
    case 'N': print_inner(c); break;
    case 'J':
        if (left) strbuf_add(c->out, "init ");
        print_operands(c, left);
        break;
    case 'K': print_const(c->out, inst); break;
    case 'M':
        strbuf_add(c->out,
                   (uint64_t)inst->imm < IR_MATH_COUNT ? ir_math_name((IrMath)inst->imm) : "none");
        break;
    case 'Q':
    case 'X':
    case 'C':
    case 'B': print_flag_words(c, part); break;
    case 'T': print_text(c->out, inst->text); break;
    case 'G': strbuf_printf(c->out, "%" PRIu32, inst->flags); break;
    case 'D': strbuf_printf(c->out, "%" PRId64, inst->imm); break;
    case 'P': print_ints(c->out, inst); break;
    case 'F': print_func_name(c->out, inst->func); break;
    default: strbuf_char(c->out, part); break;
    }
}

/* Blanks of a pattern are written only before something: parts may be empty. */
static void print_pattern(Cursor *c, const char *pattern) {
    bool blank = true;
    for (; *pattern; pattern++) {
        if (*pattern == ' ') {
            blank = true;
            continue;
        }
        size_t before = c->out->len;
        if (blank) strbuf_char(c->out, ' ');
        size_t start = c->out->len;
        print_part(c, *pattern);
        if (c->out->len == start) {
            c->out->len = before;
            c->out->text[before] = '\0';
        } else {
            blank = c->out->text[c->out->len - 1] == ' ';
            if (blank) c->out->text[--c->out->len] = '\0';
        }
    }
}

static void print_other_attributes(StrBuf *out, const IrInst *inst) {
    uint32_t uses = ir_syntax_uses(inst->op);
    if (inst->flags && !(uses & IR_USES_FLAGS)) strbuf_printf(out, " flags %" PRIu32, inst->flags);
    if (inst->imm && !(uses & IR_USES_IMM)) strbuf_printf(out, " imm %" PRId64, inst->imm);
    if (inst->fimm != 0 && !(uses & IR_USES_FIMM)) {
        strbuf_add(out, " fimm ");
        print_float(out, inst->fimm);
    }
    if (inst->nints && !(uses & IR_USES_INTS)) {
        strbuf_add(out, " ints ");
        print_ints(out, inst);
    }
    if (inst->text && !(uses & IR_USES_TEXT)) {
        strbuf_add(out, " text ");
        print_text(out, inst->text);
    }
}

void ir_print_inst(StrBuf *out, const IrInst *inst) {
    Cursor cursor = {out, inst, 0};
    for (uint32_t i = 0; i < inst->nresults; i++) {
        if (i) strbuf_add(out, ", ");
        print_typed(out, inst->results[i]);
    }
    if (inst->nresults) strbuf_add(out, " = ");
    strbuf_add(out, ir_op_info(inst->op)->name);
    print_pattern(&cursor, ir_syntax(inst->op));
    print_other_attributes(out, inst);
}

static void indent(StrBuf *out, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) strbuf_add(out, "  ");
}

static void print_body(StrBuf *out, const IrRegion *region, uint32_t depth) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        indent(out, depth);
        ir_print_inst(out, inst);
        for (uint32_t r = 0; r < inst->nregions; r++) {
            const IrRegion *inner = inst->regions[r];
            strbuf_add(out, r ? " else {" : " {");
            for (uint32_t i = 0; i < inner->nparams; i++) {
                strbuf_add(out, i ? ", " : " (");
                print_typed(out, inner->params[i]);
            }
            strbuf_add(out, inner->nparams ? ")\n" : "\n");
            print_body(out, inner, depth + 1);
            indent(out, depth);
            strbuf_char(out, '}');
        }
        strbuf_char(out, '\n');
    }
}

/* ---- functions ---- */

static void print_active(StrBuf *out, const uint8_t *active, uint32_t n) {
    strbuf_char(out, '(');
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, "%s%d", i ? ", " : "", active && active[i] ? 1 : 0);
    strbuf_char(out, ')');
}

static void print_signature(StrBuf *out, const IrFunc *func) {
    strbuf_char(out, '(');
    for (uint32_t i = 0; i < func->nparams; i++) {
        if (i) strbuf_add(out, ", ");
        if (func->body && i < func->body->nparams) {
            print_typed(out, func->body->params[i]);
            continue;
        }
        if (func->param_names[i]) {
            print_hint(out, func->param_names[i]);
            strbuf_add(out, ": ");
        }
        ir_print_type(out, func->params[i]);
    }
    strbuf_add(out, ") -> (");
    for (uint32_t i = 0; i < func->nresults; i++) {
        if (i) strbuf_add(out, ", ");
        ir_print_type(out, func->results[i]);
    }
    strbuf_char(out, ')');
}

static void print_deriv(StrBuf *out, const IrDeriv *deriv) {
    static const char *const modes[] = {"", "jvp", "grad", "forward", "reverse"};
    if (deriv->mode == IR_DERIV_NONE) return;
    strbuf_printf(out, " = %s of ", modes[deriv->mode]);
    print_func_name(out, deriv->base);
    strbuf_add(out, " active ");
    print_active(out, deriv->in_active, deriv->base->nparams);
    strbuf_add(out, " -> ");
    print_active(out, deriv->out_active, deriv->base->nresults);
    if (deriv->options) strbuf_printf(out, " options %" PRIu32, deriv->options);
}

void ir_print_func(StrBuf *out, const IrFunc *func) {
    strbuf_add(out, "func ");
    print_func_name(out, func);
    print_signature(out, func);
    print_deriv(out, &func->deriv);
    if (func->flags & IR_FUNC_EXTERN) strbuf_add(out, " extern");
    if (func->flags & IR_FUNC_OPEN) strbuf_add(out, " open");
    if (func->flags & IR_FUNC_ROOT) strbuf_add(out, " root");
    if (func->flags & IR_FUNC_INLINE) strbuf_add(out, " inline");
    if (func->flags & IR_FUNC_LIBRARY) strbuf_add(out, " library");
    if (func->flags & IR_FUNC_PURE_EXTERN) strbuf_add(out, " pure");
    if (func->symbol) {
        strbuf_add(out, " symbol ");
        print_text(out, func->symbol);
    }
    if (func->rule) {
        strbuf_add(out, " rule ");
        print_func_name(out, func->rule);
        strbuf_char(out, ' ');
        print_active(out, func->rule_active, func->nparams);
    }
    if (func->reverse_rule) {
        strbuf_add(out, " reverse_rule ");
        print_func_name(out, func->reverse_rule);
    }
    if (func->augmented) {
        strbuf_add(out, " augmented ");
        print_func_name(out, func->augmented);
    }
    if (func->body) {
        strbuf_add(out, " {\n");
        print_body(out, func->body, 1);
        strbuf_char(out, '}');
    }
    strbuf_char(out, '\n');
}

void ir_print_module(StrBuf *out, const IrModule *module) {
    if (module->unchecked) strbuf_add(out, "unchecked\n");
    for (uint32_t i = 0; i < module->funcs.len; i++) {
        if (i) strbuf_char(out, '\n');
        ir_print_func(out, module->funcs.at[i]);
    }
    for (int fn = 0; fn < IR_MATH_COUNT; fn++) {
        for (int width = 0; width < 2; width++) {
            if (!module->math_rules[fn][width]) continue;
            strbuf_printf(out, "math_rule %s %s ", ir_math_name((IrMath)fn), width ? "f64" : "f32");
            print_func_name(out, module->math_rules[fn][width]);
            strbuf_char(out, '\n');
        }
    }
}
