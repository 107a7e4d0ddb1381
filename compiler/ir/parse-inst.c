/* Types, values, instructions and regions of the IR's text. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "ir/build.h"
#include "ir/parse.h"
#include "ir/syntax.h"

enum { MAX_DEPTH = 3000, MAX_ID = 1 << 22 };

/* ---- types ---- */

/* Is the word at hand NAME, or NAME with a number of lanes?  0: no. */
static uint32_t lanes_behind(const IrParser *p, const char *name) {
    size_t len = strlen(name);
    uint64_t lanes = 0;
    if (ir_at_word(p, name)) return 1;
    if (p->token != TOKEN_WORD || p->len < len + 2 || memcmp(p->text, name, len) != 0) return 0;
    bool fits = p->text[len] == 'x' && num_parse_u64(p->text + len + 1, p->len - len - 1, &lanes);
    return fits && lanes > 1 && lanes <= IR_MAX_LANES ? (uint32_t)lanes : 0;
}

static IrType parse_shape(IrParser *p) {
    int64_t dims[IR_MAX_RANK];
    uint32_t rank = 0;
    if (ir_take_punct(p, '[')) {
        do {
            int64_t dim = ir_take_punct(p, '?') ? -1 : ir_parse_int(p);
            if (rank == IR_MAX_RANK || dim < -1)
                ir_parse_error(p, "a type has an impossible shape");
            else dims[rank++] = dim;
        } while (ir_take_punct(p, ','));
        ir_expect_punct(p, ']');
    }
    for (int s = 0; s < IR_SCALAR_COUNT; s++) {
        uint32_t lanes = lanes_behind(p, ir_scalar_name((IrScalar)s));
        if (!lanes) continue;
        ir_next(p);
        return ir_array(p->module, ir_scalar_with((IrScalar)s, lanes), rank, dims);
    }
    ir_parse_error(p, "expected a type");
    return ir_scalar(p->module, IR_I64);
}

IrType ir_parse_type(IrParser *p) {
    if (ir_take_word(p, "str")) return ir_str(p->module);
    if (ir_take_word(p, "tape")) return ir_tape(p->module);
    if (ir_take_word(p, "acc")) return ir_acc(p->module, parse_shape(p));
    return parse_shape(p);
}

/* ---- names ---- */

IrFunc *ir_parse_func_ref(IrParser *p) {
    IrFunc *func = NULL;
    if (p->token == TOKEN_FUNC)
        func = ir_find_func(p->module, arena_strndup(p->module->arena, p->text, p->len));
    if (!func)
        ir_parse_error(
            p, p->token == TOKEN_FUNC ? "there is no function @%.*s" : "expected a function",
            (int)p->len, p->text);
    else ir_next(p);
    return func;
}

/* Where the digits of an id begin in a value's name: behind the last dot, or at 0; or its end. */
static size_t id_start(const char *text, size_t len) {
    size_t start = len;
    while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9') start--;
    return start > 0 && text[start - 1] != '.' ? len : start;
}

static const char *hint(IrParser *p, const char *text, size_t len) {
    size_t start = id_start(text, len);
    if (start > 0 && start < len) start--;
    return start ? arena_strndup(p->module->arena, text, start) : NULL;
}

const char *ir_value_hint(IrParser *p) {
    return hint(p, p->text, p->len);
}

static void define(IrParser *p, IrValue *value, const char *text, size_t len) {
    uint64_t id = 0;
    size_t start = id_start(text, len);
    Sym name = intern_n(p->names, text, len);
    value->name = hint(p, text, len);
    if (map_hasp(&p->values, name)) ir_parse_error(p, "%%%s is defined twice", name->text);
    map_setp(&p->values, name, value);
    if (start == len) {
        vec_push(&p->unnumbered, value);
    } else if (!num_parse_u64(text + start, len - start, &id) || id >= MAX_ID ||
               !bitset_add(&p->ids, (uint32_t)id)) {
        ir_parse_error(p, "the id of %%%s is too high, or that of another value", name->text);
    } else {
        value->id = (uint32_t)id;
        if (value->id >= p->next_id) p->next_id = value->id + 1;
    }
}

void ir_define(IrParser *p, IrValue *value) {
    if (p->token != TOKEN_VALUE) ir_parse_error(p, "expected a value");
    else define(p, value, p->text, p->len);
    ir_next(p);
}

static IrValue *parse_operand(IrParser *p) {
    IrValue *value = NULL;
    if (p->token == TOKEN_VALUE) value = map_getp(&p->values, intern_n(p->names, p->text, p->len));
    if (!value)
        ir_parse_error(p, p->token == TOKEN_VALUE ? "%%%.*s is not defined" : "expected a value",
                       (int)p->len, p->text);
    ir_next(p);
    return value;
}

/* ---- parts of instructions ---- */

typedef VEC(IrValue *) Values;
typedef VEC(int64_t) Ints;

typedef struct Result {
    const char *name;
    size_t len;
    IrType type;
} Result;

/* What is read of an instruction before it can be made. */
typedef struct Draft {
    IrInst inst;
    Values operands;
    Ints ints;
    VEC(Result) results;
} Draft;

/* There may be none: then what follows stands on a new line. */
static void parse_operands(IrParser *p, Draft *d) {
    if (p->token != TOKEN_VALUE || p->starts_line) return;
    do vec_push(&d->operands, parse_operand(p));
    while (ir_take_punct(p, ','));
}

static void parse_list(IrParser *p, Draft *d) {
    ir_expect_punct(p, '[');
    parse_operands(p, d);
    ir_expect_punct(p, ']');
}

static void parse_ints(IrParser *p, Draft *d) {
    ir_expect_punct(p, '(');
    if (p->token == TOKEN_NUMBER) {
        do vec_push(&d->ints, ir_parse_int(p));
        while (ir_take_punct(p, ','));
    }
    ir_expect_punct(p, ')');
}

static void parse_inner(IrParser *p, Draft *d) {
    if (ir_take_word(p, "inner")) parse_list(p, d);
    if (ir_take_word(p, "ranks")) parse_ints(p, d);
    else
        for (uint32_t i = 0; i < d->results.len; i++) vec_push(&d->ints, 0);
}

static double parse_bits(IrParser *p) {
    uint64_t bits = (uint64_t)ir_parse_int(p);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double parse_float(IrParser *p, bool single) {
    double x = 0;
    float f = 0;
    if (ir_take_word(p, "bits")) return parse_bits(p);
    if (ir_take_word(p, "inf")) return INFINITY;
    if (ir_take_word(p, "nan")) return NAN;
    bool ok = p->token == TOKEN_NUMBER, minus = ok && p->text[0] == '-';
    const char *text = p->text + minus;
    size_t len = p->len - minus;
    if (ok && len == 3 && memcmp(text, "inf", 3) == 0) x = INFINITY;
    else if (ok && single && num_parse_float(text, len, &f)) x = (double)f;
    else if (!ok || single || !num_parse_double(text, len, &x))
        ir_parse_error(p, "expected a number");
    ir_next(p);
    return minus ? -x : x;
}

static void parse_const(IrParser *p, Draft *d) {
    IrType type = d->results.len ? d->results.at[0].type : ir_scalar(p->module, IR_I64);
    if (type->kind == IR_T_SCALAR && ir_scalar_float(type->scalar))
        d->inst.fimm = parse_float(p, ir_scalar_base(type->scalar) == IR_F32);
    else if (ir_take_word(p, "true")) d->inst.imm = 1;
    else if (!ir_take_word(p, "false")) d->inst.imm = ir_parse_int(p);
}

static void parse_math(IrParser *p, Draft *d) {
    for (int fn = 0; fn < IR_MATH_COUNT; fn++) {
        if (!ir_at_word(p, ir_math_name((IrMath)fn))) continue;
        d->inst.imm = fn;
        ir_next(p);
        return;
    }
    ir_parse_error(p, "expected a scalar function");
}

static void parse_reduction(IrParser *p, Draft *d) {
    for (uint32_t kind = 0; kind <= IR_ARGMAX; kind++) {
        if (!ir_at_word(p, ir_reduce_name((IrReduce)kind))) continue;
        d->inst.flags = kind;
        ir_next(p);
        return;
    }
    ir_parse_error(p, "expected a kind of reduction");
}

static void parse_flag_words(IrParser *p, Draft *d, char part) {
    if (part == 'X' && ir_take_word(p, "exit")) d->inst.flags |= IR_LOOP_EXIT;
    if (part == 'X' && ir_take_word(p, "scan")) d->inst.flags |= IR_LOOP_SCAN;
    if (part == 'C' && ir_take_word(p, "ta")) d->inst.flags |= IR_CONTRACT_TA;
    if (part == 'C' && ir_take_word(p, "tb")) d->inst.flags |= IR_CONTRACT_TB;
    if (part == 'B' && ir_take_word(p, "copies")) d->inst.flags |= IR_TAPE_COPIES;
    if (part == 'B' && ir_take_word(p, "typed")) d->inst.flags |= IR_TAPE_TYPED;
}

static void parse_part(IrParser *p, Draft *d, char part) {
    switch (part) {
    case 'A': vec_push(&d->operands, parse_operand(p)); break;
    case 'R': parse_operands(p, d); break;
    case 'I':
        parse_list(p, d);
        d->inst.imm = d->operands.len;
        break;
    case 'E':
    case 'V':
    case 'S':
    case 'H': parse_list(p, d); break;
    case 'N': parse_inner(p, d); break;
    case 'J':
        if (ir_take_word(p, "init")) parse_operands(p, d);
        break;
    case 'K': parse_const(p, d); break;
    case 'M': parse_math(p, d); break;
    case 'Q': parse_reduction(p, d); break;
    case 'X':
    case 'C':
    case 'B': parse_flag_words(p, d, part); break;
    case 'T': d->inst.text = ir_parse_string(p); break;
    case 'G': d->inst.flags = (uint32_t)ir_parse_int(p); break;
    case 'D': d->inst.imm = ir_parse_int(p); break;
    case 'P': parse_ints(p, d); break;
    case 'F': d->inst.func = ir_parse_func_ref(p); break;
    default: ir_expect_punct(p, part); break;
    }
}

static bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

static void parse_pattern(IrParser *p, Draft *d, const char *pattern) {
    while (*pattern) {
        const char *end = pattern + 1;
        if (is_lower(*pattern)) {
            while (is_lower(*end)) end++;
            ir_expect_word(p, arena_strndup(p->module->arena, pattern, (size_t)(end - pattern)));
        } else if (*pattern != ' ') {
            parse_part(p, d, *pattern);
        }
        pattern = end;
    }
}

static void parse_other_attributes(IrParser *p, Draft *d) {
    if (ir_take_word(p, "flags")) d->inst.flags = (uint32_t)ir_parse_int(p);
    if (ir_take_word(p, "imm")) d->inst.imm = ir_parse_int(p);
    if (ir_take_word(p, "fimm")) d->inst.fimm = parse_float(p, false);
    if (ir_take_word(p, "ints")) parse_ints(p, d);
    if (ir_take_word(p, "text")) d->inst.text = ir_parse_string(p);
}

/* ---- instructions ---- */

/* They are defined when the regions were read: results are not visible in them. */
static void parse_results(IrParser *p, Draft *d) {
    if (p->token != TOKEN_VALUE) return;
    do {
        Result result = {p->text, p->len, NULL};
        if (p->token != TOKEN_VALUE) ir_parse_error(p, "expected a value");
        ir_next(p);
        ir_expect_punct(p, ':');
        result.type = ir_parse_type(p);
        vec_push(&d->results, result);
    } while (ir_take_punct(p, ','));
    ir_expect_punct(p, '=');
}

static void define_results(IrParser *p, Draft *d, IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults && !p->message; i++) {
        inst->results[i]->type = d->results.at[i].type;
        define(p, inst->results[i], d->results.at[i].name, d->results.at[i].len);
    }
}

static IrInst *make_inst(IrParser *p, Draft *d) {
    IrOp op = d->inst.op;
    IrInst *inst =
        ir_inst_alloc(p->func, op, d->operands.len, d->results.len, ir_op_info(op)->regions);
    inst->flags = d->inst.flags;
    inst->imm = d->inst.imm;
    inst->fimm = d->inst.fimm;
    inst->text = d->inst.text;
    inst->func = d->inst.func;
    inst->nints = d->ints.len;
    inst->ints = ir_copy(p->module->arena, d->ints.at, d->ints.len, sizeof(int64_t));
    for (uint32_t i = 0; i < d->operands.len; i++) inst->operands[i] = d->operands.at[i];
    return inst;
}

static void parse_op(IrParser *p, Draft *d) {
    int op = 0;
    while (op < IR_OP_COUNT && !ir_at_word(p, ir_op_info((IrOp)op)->name)) op++;
    if (op == IR_OP_COUNT) {
        ir_parse_error(p, "expected an operation");
        return;
    }
    d->inst.op = (IrOp)op;
    ir_next(p);
    parse_pattern(p, d, ir_syntax(d->inst.op));
    parse_other_attributes(p, d);
}

static void parse_params(IrParser *p, IrRegion *region) {
    if (!ir_take_punct(p, '(')) return;
    do {
        IrValue *param = ir_region_param(region, NULL, NULL);
        ir_define(p, param);
        ir_expect_punct(p, ':');
        param->type = ir_parse_type(p);
    } while (ir_take_punct(p, ','));
    ir_expect_punct(p, ')');
}

static void parse_inst(IrParser *p, IrRegion *region) {
    Draft draft = {0};
    parse_results(p, &draft);
    parse_op(p, &draft);
    if (!p->message) {
        IrInst *inst = make_inst(p, &draft);
        ir_link(inst, region, NULL);
        for (uint32_t r = 0; r < inst->nregions && !p->message; r++) {
            if (r) ir_expect_word(p, "else");
            ir_expect_punct(p, '{');
            parse_params(p, inst->regions[r]);
            ir_parse_region(p, inst->regions[r]);
        }
        define_results(p, &draft, inst);
    }
    vec_free(&draft.operands);
    vec_free(&draft.ints);
    vec_free(&draft.results);
}

void ir_parse_region(IrParser *p, IrRegion *region) {
    if (++p->depth > MAX_DEPTH) ir_parse_error(p, "regions are nested too deeply");
    while (!p->message && !ir_at_punct(p, '}')) {
        if (p->token == TOKEN_END) ir_parse_error(p, "expected '}'");
        else parse_inst(p, region);
    }
    p->depth--;
    ir_next(p);
}
