/* Typed trees as indented text. */
#include "types/internal.h"

static const char *const KINDS[] = {[T_INT] = "int",
                                    [T_FLOAT] = "float",
                                    [T_BOOL] = "bool",
                                    [T_STR] = "str",
                                    [T_LOCAL] = "local",
                                    [T_SIZE] = "size",
                                    [T_OP] = "op",
                                    [T_MATH] = "math",
                                    [T_SCALAR_FN] = "scalar_fn",
                                    [T_CAST] = "cast",
                                    [T_LOGIC] = "logic",
                                    [T_MATMUL] = "matmul",
                                    [T_BUILTIN] = "builtin",
                                    [T_CALL] = "call",
                                    [T_FN] = "fn",
                                    [T_TUPLE] = "tuple",
                                    [T_PART] = "part",
                                    [T_ARRAY] = "array",
                                    [T_INDEX] = "index",
                                    [T_COMP] = "comp",
                                    [T_REDUCE] = "reduce",
                                    [T_IF] = "if",
                                    [T_BLOCK] = "block",
                                    [T_INTERPOLATE] = "interpolate",
                                    [T_LET] = "let",
                                    [T_ASSIGN] = "assign",
                                    [T_EXPR] = "expr",
                                    [T_ASSERT] = "assert",
                                    [T_RETURN] = "return",
                                    [T_BREAK] = "break",
                                    [T_CONTINUE] = "continue",
                                    [T_FOR] = "for",
                                    [T_WHILE] = "while",
                                    [T_KERNEL] = "kernel",
                                    [T_BARRIER] = "barrier",
                                    [T_POISON] = "poison"};

static const char *const REDUCES[] = {"sum",    "prod",   "all", "any", "count",
                                      "argmin", "argmax", "min", "max"};

static void indent(StrBuf *out, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) strbuf_add(out, "  ");
}

static void local_name(StrBuf *out, const Local *local) {
    strbuf_printf(out, "%s#%u", local->name ? local->name->text : "", local->id);
}

static void print_pattern(StrBuf *out, const TreePattern *p) {
    if (p->local) {
        local_name(out, p->local);
        strbuf_add(out, ": ");
        type_print(out, p->local->type);
        return;
    }
    if (!p->nparts) {
        strbuf_char(out, '_');
        return;
    }
    strbuf_char(out, '(');
    for (uint32_t i = 0; i < p->nparts; i++) {
        if (i) strbuf_add(out, ", ");
        print_pattern(out, &p->parts[i]);
    }
    strbuf_char(out, ')');
}

static void dump(StrBuf *out, const Tree *t, uint32_t depth, const char *label);

static void dump_subs(StrBuf *out, const TreeSub *subs, uint32_t n, uint32_t depth) {
    static const char *const kinds[] = {"at", "slice", "gather"};
    for (uint32_t i = 0; i < n; i++) {
        indent(out, depth);
        strbuf_printf(out, "%s\n", kinds[subs[i].kind]);
        if (subs[i].lo) dump(out, subs[i].lo, depth + 1, "lo");
        if (subs[i].hi) dump(out, subs[i].hi, depth + 1, "hi");
        if (subs[i].step) dump(out, subs[i].step, depth + 1, "step");
    }
}

static void dump_place(StrBuf *out, const TreePlace *place, uint32_t depth) {
    indent(out, depth);
    strbuf_add(out, "place ");
    local_name(out, place->local);
    strbuf_add(out, ": ");
    type_print(out, place->type);
    strbuf_char(out, '\n');
    for (uint32_t i = 0; i < place->nsteps; i++) {
        if (!place->steps[i].is_part) {
            dump_subs(out, place->steps[i].subs, place->steps[i].nsubs, depth + 1);
            continue;
        }
        indent(out, depth + 1);
        strbuf_printf(out, "part %u\n", place->steps[i].part);
    }
}

static void dump_heads(StrBuf *out, const Tree *t, uint32_t depth) {
    for (uint32_t i = 0; i < t->nheads; i++) {
        const TreeHead *h = &t->heads[i];
        indent(out, depth);
        strbuf_add(out, "for ");
        print_pattern(out, &h->pattern);
        if (h->count) {
            strbuf_add(out, " times ");
            size_print(out, h->count);
        }
        strbuf_char(out, '\n');
        if (h->lo) dump(out, h->lo, depth + 1, "lo");
        if (h->hi) dump(out, h->hi, depth + 1, "hi");
        if (h->step) dump(out, h->step, depth + 1, "step");
        if (h->array) dump(out, h->array, depth + 1, "in");
    }
}

static void dump_value(StrBuf *out, const Tree *t) {
    switch (t->kind) {
    case T_INT:
    case T_BOOL: strbuf_printf(out, " %lld", (long long)t->value); break;
    case T_FLOAT:
        strbuf_char(out, ' ');
        strbuf_double(out, t->real);
        break;
    case T_STR:
        strbuf_char(out, ' ');
        strbuf_json(out, t->text.at, t->text.len);
        break;
    case T_LOCAL:
        strbuf_char(out, ' ');
        local_name(out, t->local);
        break;
    case T_SIZE:
        strbuf_char(out, ' ');
        size_print(out, t->size);
        break;
    case T_OP:
    case T_LOGIC: strbuf_printf(out, " %s", ast_op_text((AstOp)t->op)); break;
    case T_MATH: strbuf_printf(out, " %s", math_row_name(t->builtin)); break;
    case T_SCALAR_FN:
    case T_BUILTIN: strbuf_printf(out, " %s", builtin_row_name(t->builtin)); break;
    case T_REDUCE: strbuf_printf(out, " %s", REDUCES[t->reduce]); break;
    case T_CALL: strbuf_printf(out, " %s", t->instance->name); break;
    case T_PART: strbuf_printf(out, " %u", t->index); break;
    case T_ASSIGN:
        if (t->op != AST_OP_NONE) strbuf_printf(out, " %s", ast_op_text((AstOp)t->op));
        break;
    case T_LET:
        strbuf_char(out, ' ');
        print_pattern(out, &t->pattern);
        break;
    default: break;
    }
}

static void dump(StrBuf *out, const Tree *t, uint32_t depth, const char *label) {
    indent(out, depth);
    if (label) strbuf_printf(out, "%s ", label);
    strbuf_add(out, KINDS[t->kind]);
    dump_value(out, t);
    if (t->lifted) strbuf_add(out, " lifted");
    if (t->type->kind != TYPE_UNIT) {
        strbuf_add(out, ": ");
        type_print(out, t->type);
    }
    strbuf_char(out, '\n');
    for (uint32_t i = 0; i < t->nchecks; i++) {
        indent(out, depth + 1);
        strbuf_add(out, "check ");
        size_print(out, t->checks[i].a);
        strbuf_add(out, " = ");
        size_print(out, t->checks[i].b);
        strbuf_char(out, '\n');
    }
    for (uint32_t i = 0; i < t->noverlaps; i++) {
        indent(out, depth + 1);
        strbuf_printf(out, "apart %u, %u\n", t->overlaps[i].a, t->overlaps[i].b);
    }
    dump_heads(out, t, depth + 1);
    for (uint32_t i = 0; i < t->nplaces; i++) dump_place(out, &t->targets[i], depth + 1);
    for (uint32_t i = 0; i < t->nargs; i++)
        if (t->args[i]) dump(out, t->args[i], depth + 1, NULL);
    dump_subs(out, t->subs, t->nsubs, depth + 1);
    for (uint32_t i = 0; i < t->nstmts; i++) dump(out, t->stmts[i], depth + 1, NULL);
    if (t->where) dump(out, t->where, depth + 1, "where");
    if (t->body) dump(out, t->body, depth + 1, "value");
    if (t->other) dump(out, t->other, depth + 1, "else");
}

void instance_dump(StrBuf *out, const Instance *inst) {
    static const char *const kinds[] = {"fn", "lambda", "extern", "derivative", "rule"};
    strbuf_printf(out, "%s %s(", kinds[inst->kind], inst->name);
    for (uint32_t i = 0; i < inst->nparams; i++) {
        if (i) strbuf_add(out, ", ");
        local_name(out, inst->params[i]);
        strbuf_add(out, inst->params[i]->mut ? ": mut " : ": ");
        type_print(out, inst->params[i]->type);
    }
    strbuf_add(out, ")");
    if (inst->result->kind != TYPE_UNIT) {
        strbuf_add(out, " -> ");
        type_print(out, inst->result);
    }
    strbuf_char(out, '\n');
    if (inst->body) dump(out, inst->body, 1, NULL);
}
