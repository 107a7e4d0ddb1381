#include "tests/fuzz/random/tree.h"

#include <string.h>

bool size_same(Dim a, Dim b) {
    return a.symbol == b.symbol && a.offset == b.offset;
}

bool kind_same(const Type *a, const Type *b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->rank != b->rank || a->nparts != b->nparts) return false;
    if (a->kind == T_STRUCT) return a->name == b->name;
    for (int k = 0; k < a->rank; k++)
        if (!size_same(a->dims[k], b->dims[k])) return false;
    for (int k = 0; k < a->nparts; k++)
        if (!kind_same(a->parts[k], b->parts[k])) return false;
    return true;
}

const char *size_text_of(Arena *arena, Dim dim) {
    if (!dim.symbol) return arena_printf(arena, "%d", dim.offset);
    if (!dim.offset) return arena_printf(arena, "%c", dim.symbol);
    return arena_printf(arena, "%c %c %d", dim.symbol, dim.offset < 0 ? '-' : '+',
                        dim.offset < 0 ? -dim.offset : dim.offset);
}

const char *kind_text_of(Arena *arena, const Type *type) {
    static const char *const scalars[] = {"f64", "f32", "i64", "bool", "c128"};
    const char *text = "";
    if (type->kind == T_STRUCT) return arena_printf(arena, "%s[n]", type->name);
    for (int k = 0; k < type->nparts; k++)
        text = arena_printf(arena, "%s%s%s", text, k ? ", " : "",
                            kind_text_of(arena, type->parts[k]));
    if (type->kind == T_TUPLE) return arena_printf(arena, "(%s)", text);
    for (int k = 0; k < type->rank; k++)
        text = arena_printf(arena, "%s%s%s", text, k ? ", " : "",
                            size_text_of(arena, type->dims[k]));
    if (type->rank) text = arena_printf(arena, "[%s]", text);
    return arena_printf(arena, "%s%s", text, scalars[type->kind]);
}

static void new_line(int indent, StrBuf *out) {
    strbuf_char(out, '\n');
    for (int k = 0; k < indent; k++) strbuf_char(out, ' ');
}

void node_print(const Node *node, int indent, StrBuf *out) {
    uint32_t kid = 0;
    if (node->kind == NODE_LIST) {
        if (!node->nkids) return;
        for (uint32_t k = 0; k < node->nkids; k++) {
            new_line(indent + 4, out);
            node_print(node->kids[k], indent + 4, out);
        }
        new_line(indent, out);
        return;
    }
    for (const char *at = node->text; *at; at++) {
        if (*at == '$' && kid < node->nkids) node_print(node->kids[kid++], indent, out);
        else if (*at == '\n') new_line(indent, out);
        else strbuf_char(out, *at);
    }
}

uint32_t node_count(const Node *node) {
    uint32_t count = 1;
    for (uint32_t k = 0; k < node->nkids; k++) count += node_count(node->kids[k]);
    return count;
}

Node *node_plain(Arena *arena, const Type *type) {
    static const char *const scalars[] = {"0.5", "0.5f32", "1", "true", "(0.5 + 0.5i)"};
    Node *node = ARENA_NEW(arena, Node);
    *node = (Node){.kind = NODE_EXPR, .type = type};
    if (type->kind > T_C128 || type->rank > MAX_RANK) return NULL;
    node->text = scalars[type->kind];
    if (!type->rank) return node;
    const char *heads = "";
    for (int k = 0; k < type->rank; k++)
        heads = arena_printf(arena, "%s%s z%d in 0..%s", heads, k ? "," : "", k,
                             size_text_of(arena, type->dims[k]));
    node->text = arena_printf(arena, "[for%s: %s]", heads, node->text);
    return node;
}

/* The items of the root stand at the margin. */
void program_print(const RandomProgram *program, StrBuf *out) {
    const Setting *s = &program->setting;
    strbuf_printf(out, SETTING_FORMAT "\n",
                  (unsigned long long)s->seed, s->n, s->m, s->result, s->width, s->entries,
                  s->single, s->ordered, s->smooth, s->derived);
    for (uint32_t k = 0; k < program->root->nkids; k++) {
        const Node *item = program->root->kids[k];
        if (item->entry && !(item->entry & s->entries)) continue;
        node_print(item, 0, out);
        strbuf_char(out, '\n');
    }
}
