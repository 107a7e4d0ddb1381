/* The bodies of functions: scopes, labels, instructions and their operands. */
#include "tests/ptxsim/parse.h"

#include <string.h>

static _Noreturn void fail_here(PtxParser *p, const char *what) {
    ptx_fail(p->lex.failure, p->lex.line, "%s", what);
}

/* ---- declarations -----------------------------------------------------------------------------
 */

static uint32_t add_reg(PtxParser *p, PtxType type) {
    PtxFunc *f = p->func;
    f->regs = ptx_grow(p, f->regs, f->reg_count, &p->reg_room, sizeof *f->regs);
    f->regs[f->reg_count] = type;
    return f->reg_count++;
}

/* ".reg .b32 %r<4>, x;": %r0 to %r3, and x. */
static void parse_regs(PtxParser *p) {
    static const char *const names[] = {"",
#define X(name, kind, bits) "." #name,
                                        PTX_TYPES(X)
#undef X
    };
    unsigned type = 1;
    while (type < sizeof names / sizeof *names && !ptx_at(p, names[type])) type++;
    if (type == sizeof names / sizeof *names) ptx_unexpected(p);
    ptx_lex_next(&p->lex);
    do {
        const char *name = ptx_take_name(p);
        if (!ptx_accept(p, "<")) {
            ptx_declare(p, NAME_REG, name)->index = add_reg(p, type);
            continue;
        }
        /* One name stands for all of them: see find_reg. */
        uint64_t count = ptx_take_number(p);
        ptx_expect(p, ">");
        PtxName *range = ptx_declare(p, NAME_REG, name);
        range->index = p->func->reg_count;
        range->count = (uint32_t)count;
        for (uint64_t i = 0; i < count; i++) add_reg(p, type);
    } while (ptx_accept(p, ","));
    ptx_expect(p, ";");
}

/* "%r12": alone, or of a range "%r". */
static bool find_reg(PtxParser *p, const char *text, size_t len, uint32_t *reg) {
    const PtxName *alone = ptx_find(p, text, len);
    if (alone && alone->kind == NAME_REG && !alone->count) {
        *reg = alone->index;
        return true;
    }
    size_t stem = len;
    while (stem && text[stem - 1] >= '0' && text[stem - 1] <= '9') stem--;
    const PtxName *range = stem < len ? ptx_find(p, text, stem) : NULL;
    if (!range || range->kind != NAME_REG) return false;
    uint32_t number = 0;
    for (size_t i = stem; i < len; i++) number = number * 10 + (uint32_t)(text[i] - '0');
    if (number >= range->count) return false;
    *reg = range->index + number;
    return true;
}

/* ---- operands ---------------------------------------------------------------------------------
 */

static bool find_special(const PtxParser *p, uint32_t *special) {
    static const char *const names[] = {
#define X(name, text) text,
        PTX_SPECIALS(X)
#undef X
    };
    for (uint32_t s = 0; s < SPECIAL_COUNT; s++)
        if (ptx_at(p, names[s])) {
            *special = s;
            return true;
        }
    return false;
}

static void add_fixup(PtxParser *p, uint32_t operand) {
    PtxFixup *fixup = ptx_new(p, sizeof *fixup);
    *fixup = (PtxFixup){.next = p->fixups,
                        .text = ptx_take_name(p),
                        .line = p->lex.line,
                        .inst = p->func->inst_count,
                        .operand = operand};
    p->fixups = fixup;
}

static uint32_t add_part(PtxParser *p, PtxOperand part) {
    PtxFunc *f = p->func;
    f->parts = ptx_grow(p, f->parts, f->part_count, &p->part_room, sizeof *f->parts);
    f->parts[f->part_count] = part;
    return f->part_count++;
}

static PtxOperand parse_operand(PtxParser *p);

static PtxOperand parse_list(PtxParser *p, const char *end) {
    PtxOperand part[8];
    uint32_t count = 0;
    while (!ptx_at(p, end)) {
        if (count == 8) fail_here(p, "a list is too long");
        part[count++] = parse_operand(p);
        if (!ptx_accept(p, ",")) break;
    }
    ptx_expect(p, end);
    PtxOperand list = {.kind = OPERAND_VECTOR, .count = count, .index = p->func->part_count};
    for (uint32_t i = 0; i < count; i++) add_part(p, part[i]);
    return list;
}

static PtxOperand parse_memory(PtxParser *p) {
    PtxOperand at = {.kind = OPERAND_MEMORY};
    if (p->lex.token == TOKEN_WORD) {
        PtxOperand base = parse_operand(p);
        at.based = base.kind == OPERAND_REG;
        at.index = base.index;
        at.symbol = base.symbol;
        if (!at.based && base.kind != OPERAND_SYMBOL) fail_here(p, "no address");
    }
    if (ptx_accept(p, "+") || !(at.based || at.symbol) || ptx_at(p, "-"))
        at.bits = ptx_take_number(p);
    ptx_expect(p, "]");
    return at;
}

static void count_shared(PtxParser *p, PtxSymbol *symbol) {
    if (symbol->space != SPACE_shared || symbol->named == p->func) return;
    symbol->named = p->func;
    p->func->shared_size += symbol->size;
}

static PtxOperand parse_operand(PtxParser *p) {
    PtxOperand o = {0};
    if (ptx_accept(p, "{")) return parse_list(p, "}");
    if (ptx_accept(p, "[")) return parse_memory(p);
    if (p->lex.token == TOKEN_NUMBER || ptx_at(p, "-")) {
        o.kind = OPERAND_IMM;
        o.bits = ptx_take_number(p);
        return o;
    }
    o.negate = ptx_accept(p, "!");
    if (ptx_accept(p, "_")) return o;
    if (p->lex.token != TOKEN_WORD) ptx_unexpected(p);
    const PtxName *name = NULL;
    if (find_reg(p, p->lex.text, p->lex.len, &o.index)) {
        o.kind = OPERAND_REG;
    } else if (find_special(p, &o.index)) {
        o.kind = OPERAND_SPECIAL;
    } else if (ptx_at(p, "WARP_SZ")) {
        o.kind = OPERAND_IMM;
        o.bits = 32;
    } else if ((name = ptx_find(p, p->lex.text, p->lex.len)) && name->kind == NAME_SYMBOL) {
        o.kind = OPERAND_SYMBOL;
        o.symbol = name->symbol;
        count_shared(p, name->symbol);
    } else if (name && name->kind == NAME_FUNC) {
        o.kind = OPERAND_FUNC;
        o.func = name->func;
    } else {
        ptx_unexpected(p);
    }
    if (o.negate && o.kind != OPERAND_REG) fail_here(p, "'!' is for predicates");
    ptx_lex_next(&p->lex);
    return o;
}

/* ---- instructions -----------------------------------------------------------------------------
 */

static unsigned operand_bits(const PtxParser *p, const PtxOperand *o) {
    return o->kind == OPERAND_REG ? ptx_type_bits(p->func->regs[o->index]) : 0;
}

/* A register must have the width of the type, and a predicate is nothing else; where it holds what
   is loaded, stored or converted it may be wider. */
static void check_width(PtxParser *p, const PtxInst *inst, const PtxOperand *o, unsigned bits,
                        bool wider) {
    unsigned has = operand_bits(p, o);
    if (!has || has == bits || (wider && has > bits && bits > 1)) return;
    ptx_fail(p->lex.failure, inst->line, "'%s' wants %u bits, the register has %u",
             ptx_op_name(inst->op), bits, has);
}

static void check_operands(PtxParser *p, const PtxInst *inst) {
    unsigned bits = ptx_type_bits(inst->type);
    const PtxOperand *o = inst->operand;
    switch (inst->op) {
    case OP_cvt:
        check_width(p, inst, &o[0], bits, true);
        check_width(p, inst, &o[1], ptx_type_bits(inst->source), true);
        return;
    case OP_ld:
    case OP_st: {
        const PtxOperand *value = &o[inst->op == OP_st];
        if ((value->kind == OPERAND_VECTOR ? value->count : 1) != inst->vec)
            ptx_fail(p->lex.failure, inst->line, "a vector of another length");
        for (uint32_t i = 0; value->kind == OPERAND_VECTOR && i < value->count; i++)
            check_width(p, inst, &p->func->parts[value->index + i], bits, true);
        check_width(p, inst, value, bits, true);
        if (o[inst->op == OP_ld].kind != OPERAND_MEMORY)
            ptx_fail(p->lex.failure, inst->line, "an address stands in brackets");
        return;
    }
    case OP_setp:
    case OP_testp:
    case OP_isspacep:
        check_width(p, inst, &o[0], 1, false);
        check_width(p, inst, &inst->second, 1, false);
        if (inst->op == OP_isspacep) return;
        check_width(p, inst, &o[1], bits, false);
        check_width(p, inst, &o[2], bits, false);
        check_width(p, inst, &o[3], 1, false);
        return;
    case OP_mul:
    case OP_mad:
        check_width(p, inst, &o[0], inst->part == PART_wide ? 2 * bits : bits, false);
        check_width(p, inst, &o[1], bits, false);
        check_width(p, inst, &o[2], bits, false);
        check_width(p, inst, &o[3], inst->part == PART_wide ? 2 * bits : bits, false);
        return;
    case OP_selp:
        for (int i = 0; i < 3; i++) check_width(p, inst, &o[i], bits, false);
        check_width(p, inst, &o[3], 1, false);
        return;
    case OP_shl:
    case OP_shr:
        check_width(p, inst, &o[0], bits, false);
        check_width(p, inst, &o[1], bits, false);
        check_width(p, inst, &o[2], 32, false);
        return;
    case OP_clz:
    case OP_popc:
    case OP_bfind:
        check_width(p, inst, &o[0], 32, false);
        check_width(p, inst, &o[1], bits, false);
        return;
    case OP_bfe:
    case OP_bfi:
        for (int i = 0; i < (inst->op == OP_bfe ? 2 : 3); i++)
            check_width(p, inst, &o[i], bits, false);
        return;
    case OP_mov:
        if (o[0].kind == OPERAND_VECTOR || o[1].kind == OPERAND_VECTOR) {
            const PtxOperand *v = &o[o[1].kind == OPERAND_VECTOR];
            for (uint32_t i = 0; i < v->count; i++)
                check_width(p, inst, &p->func->parts[v->index + i], bits / v->count, false);
        }
        check_width(p, inst, &o[0], bits, false);
        check_width(p, inst, &o[1], bits, false);
        return;
    case OP_shfl:
        check_width(p, inst, &inst->second, 1, false);
        for (int i = 0; i < 5; i++) check_width(p, inst, &o[i], 32, false);
        return;
    default:
        for (int i = 0; bits && i < PTX_OPERANDS; i++) check_width(p, inst, &o[i], bits, false);
    }
}

/* "(retval0), name, (param0, param1)", of which lists may be missing. */
static void parse_call(PtxParser *p, PtxInst *inst) {
    PtxOperand *o = inst->operand;
    if (ptx_accept(p, "(")) {
        o[0] = parse_list(p, ")");
        ptx_expect(p, ",");
    }
    o[1] = parse_operand(p);
    if (o[1].kind != OPERAND_FUNC)
        ptx_fail(p->lex.failure, inst->line, "only calls of named functions are known");
    if (ptx_accept(p, ",")) {
        ptx_expect(p, "(");
        o[2] = parse_list(p, ")");
    }
    if (o[0].count != o[1].func->result_count || o[2].count != o[1].func->param_count)
        ptx_fail(p->lex.failure, inst->line, "'%s' takes %u and gives %u", o[1].func->name,
                 o[1].func->param_count, o[1].func->result_count);
    for (int list = 0; list <= 2; list += 2)
        for (uint32_t i = 0; i < o[list].count; i++) {
            const PtxOperand *part = &p->func->parts[o[list].index + i];
            const PtxSymbol *formal = (list ? o[1].func->params : o[1].func->results)[i];
            if (part->kind != OPERAND_SYMBOL || part->symbol->space != SPACE_param ||
                part->symbol->size != formal->size)
                ptx_fail(p->lex.failure, inst->line, "'%s' is passed something else for '%s'",
                         o[1].func->name, formal->name);
        }
}

static void parse_brx(PtxParser *p, PtxInst *inst) {
    inst->operand[0] = parse_operand(p);
    ptx_expect(p, ",");
    PtxName *list = ptx_find(p, p->lex.text, p->lex.len);
    if (!list || list->kind != NAME_TARGETS) ptx_unexpected(p);
    inst->operand[1] =
        (PtxOperand){.kind = OPERAND_VECTOR, .index = list->index, .count = list->count};
    ptx_lex_next(&p->lex);
}

static void operand_range(const PtxInst *inst, unsigned *least, unsigned *most) {
    *least = *most = ptx_op_operands(inst->op);
    if (inst->op == OP_setp) {
        *least = *most = inst->combine ? 4 : 3;
    } else if (inst->op == OP_atom || inst->op == OP_red) {
        *least = *most = 2u + (inst->op == OP_atom) + (inst->atom == ATOM_cas);
    } else if (inst->op == OP_bar || inst->op == OP_barrier) {
        *most = 2;
    }
}

static void parse_operands(PtxParser *p, PtxInst *inst) {
    if (inst->op == OP_call) {
        parse_call(p, inst);
        return;
    }
    if (inst->op == OP_bra) {
        inst->operand[0].kind = OPERAND_LABEL;
        add_fixup(p, 0);
        return;
    }
    if (inst->op == OP_brx) {
        parse_brx(p, inst);
        return;
    }
    unsigned least, most, count = 0;
    operand_range(inst, &least, &most);
    while (!ptx_at(p, ";")) {
        if (count == PTX_OPERANDS) ptx_unexpected(p);
        inst->operand[count++] = parse_operand(p);
        if (count == 1 && ptx_accept(p, "|")) inst->second = parse_operand(p);
        if (!ptx_accept(p, ",")) break;
    }
    if (count < least || count > most)
        ptx_fail(p->lex.failure, inst->line, "'%s' takes %u operands, not %u",
                 ptx_op_name(inst->op), most, count);
    check_operands(p, inst);
}

static void parse_inst(PtxParser *p) {
    PtxInst inst = {.line = p->lex.line, .guard = PTX_NO_GUARD};
    if (ptx_accept(p, "@")) {
        inst.guard_not = ptx_accept(p, "!");
        uint32_t reg;
        if (!find_reg(p, p->lex.text, p->lex.len, &reg) || p->func->regs[reg] != TYPE_pred)
            ptx_unexpected(p);
        inst.guard = (int32_t)reg;
        ptx_lex_next(&p->lex);
    }
    if (p->lex.token != TOKEN_WORD) ptx_unexpected(p);
    ptx_decode(&inst, p->lex.text, p->lex.len, p->lex.failure);
    ptx_lex_next(&p->lex);
    parse_operands(p, &inst);
    ptx_expect(p, ";");
    PtxFunc *f = p->func;
    f->insts = ptx_grow(p, f->insts, f->inst_count, &p->inst_room, sizeof *f->insts);
    f->insts[f->inst_count++] = inst;
}

/* ---- scopes -----------------------------------------------------------------------------------
 */

/* "name:", or "name: .branchtargets a, b;". */
static bool parse_label(PtxParser *p) {
    const char *at = p->lex.at;
    while (*at == ' ' || *at == '\t') at++;
    if (p->lex.token != TOKEN_WORD || *at != ':') return false;
    const char *name = ptx_take_name(p);
    ptx_expect(p, ":");
    if (!ptx_accept(p, ".branchtargets")) {
        ptx_declare(p, NAME_LABEL, name)->index = p->func->inst_count;
        return true;
    }
    PtxName *list = ptx_declare(p, NAME_TARGETS, name);
    list->index = p->func->part_count;
    do {
        add_fixup(p, PTX_OPERANDS + add_part(p, (PtxOperand){.kind = OPERAND_LABEL}));
        list->count++;
    } while (ptx_accept(p, ","));
    ptx_expect(p, ";");
    return true;
}

static void parse_statement(PtxParser *p) {
    if (ptx_accept(p, ".reg")) {
        parse_regs(p);
    } else if (ptx_accept(p, ".local")) {
        ptx_place(ptx_parse_variable(p, SPACE_local), &p->func->local_size);
        ptx_expect(p, ";");
    } else if (ptx_accept(p, ".param")) {
        ptx_place(ptx_parse_variable(p, SPACE_param), &p->func->param_size);
        ptx_expect(p, ";");
    } else if (ptx_accept(p, ".shared")) {
        ptx_place(ptx_parse_variable(p, SPACE_shared), &p->module->shared_size);
        ptx_expect(p, ";");
    } else if (ptx_at(p, ".loc")) {
        ptx_lex_skip_line(&p->lex);
    } else if (ptx_accept(p, ".pragma")) {
        ptx_lex_next(&p->lex);
        ptx_expect(p, ";");
    } else if (!ptx_accept(p, ";") && !parse_label(p)) {
        parse_inst(p);
    }
}

/* Labels are resolved where their scope ends: one further in may be used, and none twice. */
static void resolve(PtxParser *p, bool all) {
    PtxFixup **at = &p->fixups;
    while (*at) {
        PtxFixup *fixup = *at;
        const PtxName *label = ptx_find(p, fixup->text, strlen(fixup->text));
        if (!label && all) ptx_fail(p->lex.failure, fixup->line, "no label '%s'", fixup->text);
        if (!label) {
            at = &fixup->next;
            continue;
        }
        if (label->kind != NAME_LABEL)
            ptx_fail(p->lex.failure, fixup->line, "'%s' is no label", fixup->text);
        PtxOperand *o = fixup->operand < PTX_OPERANDS
                            ? &p->func->insts[fixup->inst].operand[fixup->operand]
                            : &p->func->parts[fixup->operand - PTX_OPERANDS];
        o->index = label->index;
        *at = fixup->next;
    }
}

void ptx_parse_body(PtxParser *p) {
    enum { DEPTH = 32 };
    PtxName *outer[DEPTH];
    uint32_t first = p->depth;
    p->inst_room = p->part_room = p->reg_room = 0;
    ptx_expect(p, "{");
    for (;;) {
        if (ptx_accept(p, "{")) {
            if (p->depth - first == DEPTH) fail_here(p, "too many braces");
            outer[p->depth++ - first] = p->names;
        } else if (ptx_accept(p, "}")) {
            resolve(p, p->depth == first);
            if (p->depth == first) return;
            p->names = outer[--p->depth - first];
        } else {
            parse_statement(p);
        }
    }
}
