#include "tests/fuzz/random/shrink.h"

#include <string.h>

typedef struct Shrinker {
    Arena *arena;
    RandomProgram *program;
    uint32_t left; /* attempts */
    ShrinkTest test;
    void *data;
} Shrinker;

static bool holds(Shrinker *s) {
    if (!s->left) return false;
    s->left--;
    return s->test(s->data, s->program);
}

/* Takes COUNT items at FIRST out of the list; false, and nothing done, if the fault goes. */
static bool take_out(Shrinker *s, Node *list, uint32_t first, uint32_t count) {
    Node **old = list->kids;
    uint32_t n = list->nkids;
    for (uint32_t k = first; k < first + count; k++)
        if (old[k]->fixed) return false;
    list->kids = ARENA_ARRAY(s->arena, Node *, n);
    list->nkids = list->cap = n - count;
    memcpy(list->kids, old, first * sizeof *old);
    memcpy(list->kids + first, old + first + count, (n - first - count) * sizeof *old);
    if (holds(s)) return true;
    list->kids = old;
    list->nkids = list->cap = n;
    return false;
}

/* The statements of a block in place of what holds it. */
static bool open_block(Shrinker *s, Node *list, uint32_t at) {
    Node *item = list->kids[at], **old = list->kids;
    uint32_t n = list->nkids;
    for (uint32_t k = 0; !item->fixed && k < item->nkids; k++) {
        Node *inner = item->kids[k];
        if (inner->kind != NODE_LIST || !inner->nkids) continue;
        list->nkids = list->cap = n - 1 + inner->nkids;
        list->kids = ARENA_ARRAY(s->arena, Node *, list->nkids);
        memcpy(list->kids, old, at * sizeof *old);
        memcpy(list->kids + at, inner->kids, inner->nkids * sizeof *old);
        memcpy(list->kids + at + inner->nkids, old + at + 1, (n - at - 1) * sizeof *old);
        if (holds(s)) return true;
        list->kids = old;
        list->nkids = list->cap = n;
    }
    return false;
}

static bool shrink_list(Shrinker *s, Node *list) {
    bool changed = false;
    for (uint32_t size = list->nkids / 2; size > 0; size /= 2)
        for (uint32_t at = list->nkids; at >= size && s->left;) {
            at -= size;
            if (at + size <= list->nkids && take_out(s, list, at, size)) changed = true;
            if (at < size && at > 0 && size > 1) break;
        }
    for (uint32_t at = list->nkids; at-- > 0 && s->left;)
        if (at < list->nkids && open_block(s, list, at)) changed = true;
    return changed;
}

static bool has_list(const Node *node) {
    if (node->kind == NODE_LIST) return true;
    for (uint32_t k = 0; k < node->nkids; k++)
        if (has_list(node->kids[k])) return true;
    return false;
}

/* An expression of the same type below NODE in its place. */
static bool lift(Shrinker *s, Node **slot, Node *top, Node *node) {
    for (uint32_t k = 0; k < node->nkids && s->left; k++) {
        Node *kid = node->kids[k];
        if (kid->kind == NODE_EXPR && kid->type && kind_same(kid->type, top->type)) {
            *slot = kid;
            if (holds(s)) return true;
            *slot = top;
        } else if (lift(s, slot, top, kid)) {
            return true;
        }
    }
    return false;
}

static bool shrink_expr(Shrinker *s, Node **slot) {
    Node *top = *slot;
    if (!top->type || (!top->nkids && !has_list(top))) return false;
    Node *plain = node_plain(s->arena, top->type);
    if (plain && strcmp(plain->text, top->text) != 0) {
        *slot = plain;
        if (holds(s)) return true;
        *slot = top;
    }
    return lift(s, slot, top, top);
}

static bool shrink_node(Shrinker *s, Node **slot, bool exprs) {
    bool changed = false;
    if (!s->left) return false;
    if ((*slot)->kind == NODE_LIST && !exprs) changed |= shrink_list(s, *slot);
    if ((*slot)->kind == NODE_EXPR && exprs) changed |= shrink_expr(s, slot);
    for (uint32_t k = 0; k < (*slot)->nkids; k++)
        changed |= shrink_node(s, &(*slot)->kids[k], exprs);
    return changed;
}

void shrink(Arena *arena, RandomProgram *program, uint32_t attempts, ShrinkTest test, void *data) {
    Shrinker s = {arena, program, attempts, test, data};
    for (bool changed = true; changed && s.left;) {
        changed = shrink_node(&s, &program->root, false);
        changed |= shrink_node(&s, &program->root, true);
    }
}
