/* Making trees, and the small questions about types that the checker asks everywhere. */
#include "types/internal.h"

#include <string.h>

Tree *tree_new(Arena *arena, TreeKind kind, Type type, Span span) {
    Tree *tree = ARENA_NEW(arena, Tree);
    tree->kind = kind;
    tree->type = type;
    tree->span = span;
    tree->builtin = -1;
    return tree;
}

Tree *tree_new_args(Arena *arena, TreeKind kind, Type type, Span span, uint32_t n,
                    Tree *const *args) {
    Tree *tree = tree_new(arena, kind, type, span);
    tree->nargs = n;
    tree->args = ARENA_ARRAY(arena, Tree *, n);
    for (uint32_t i = 0; i < n; i++) tree->args[i] = args[i];
    return tree;
}

Tree *make(FnChecker *f, TreeKind kind, Type type, Span span) {
    return tree_new(f->c->arena, kind, type, span);
}

Tree *make_args(FnChecker *f, TreeKind kind, Type type, Span span, uint32_t n, Tree *const *args) {
    return tree_new_args(f->c->arena, kind, type, span, n, args);
}

Tree *tree_poison(FnChecker *f, Span span) {
    return make(f, T_POISON, type_poison(f->c->types), span);
}

Tree *make_int(FnChecker *f, int64_t value, Type type, Span span) {
    Tree *tree = make(f, T_INT, type, span);
    tree->value = value;
    return tree;
}

Tree *make_size(FnChecker *f, Size size, Span span) {
    if (size->kind == SIZE_CONST) return make_int(f, size->value, ty_i64(f), span);
    Tree *tree = make(f, T_SIZE, ty_i64(f), span);
    tree->size = size;
    return tree;
}

Tree *make_cast(FnChecker *f, Tree *value, Scalar to, Span span) {
    Type scalar = type_scalar(f->c->types, to);
    if (elem_of(value->type) == scalar || is_poison(value->type)) return value;
    Type type = is_array(value->type)
                    ? type_array(f->c->types, scalar, value->type->rank, value->type->dims)
                    : scalar;
    Tree *tree = make_args(f, T_CAST, type, span, 1, &value);
    tree->lifted = is_array(value->type);
    return tree;
}

Tree *make_local(FnChecker *f, Local *local, Span span) {
    if (local->is_size) return make_size(f, local->size, span);
    Tree *tree = make(f, T_LOCAL, local->type, span);
    tree->local = local;
    return tree;
}

Tree *make_part(FnChecker *f, Tree *base, uint32_t index, Span span) {
    Type type = base->type, elem = elem_of(type);
    if (is_poison(type)) return base;
    if (type->kind == TYPE_FNVAL) { /* what it captured */
        Tree *captured = make_args(f, T_PART, type->fn->captures[index]->type, span, 1, &base);
        captured->index = index;
        return captured;
    }
    Type part = elem->parts[index].type;
    if (is_array(type)) part = type_array(f->c->types, part, type->rank, type->dims);
    Tree *tree = make_args(f, T_PART, part, span, 1, &base);
    tree->index = index;
    return tree;
}

Tree *make_stop(FnChecker *f, Tree *value) {
    if (!value->type->has_floats) return value;
    Tree *tree = make_args(f, T_BUILTIN, value->type, value->span, 1, &value);
    tree->builtin = BUILTIN_STOP;
    return tree;
}

void add_check(FnChecker *f, Tree *node, TreeCheck check) {
    TreeCheck *checks = ARENA_ARRAY(f->c->arena, TreeCheck, node->nchecks + 1);
    for (uint32_t i = 0; i < node->nchecks; i++) checks[i] = node->checks[i];
    checks[node->nchecks++] = check;
    node->checks = checks;
}

const char *tt(FnChecker *f, Type type) {
    return type_text(f->c->types, type);
}

bool is_integer(Type t) {
    return is_scalar(t) && scalar_is_int(t->scalar);
}
bool is_floating(Type t) {
    return is_scalar(t) && scalar_is_float(t->scalar);
}
bool is_complex(Type t) {
    return is_scalar(t) && scalar_is_complex(t->scalar);
}
bool is_numeric(Type t) {
    return is_scalar(t) && t->scalar != SCALAR_BOOL;
}
bool is_bool(Type t) {
    return is_scalar_of(t, SCALAR_BOOL);
}

Type ty_i64(FnChecker *f) {
    return type_scalar(f->c->types, SCALAR_I64);
}
Type ty_f64(FnChecker *f) {
    return type_scalar(f->c->types, SCALAR_F64);
}
Type ty_bool(FnChecker *f) {
    return type_scalar(f->c->types, SCALAR_BOOL);
}
Type ty_str(FnChecker *f) {
    return type_str(f->c->types);
}
Type ty_unit(FnChecker *f) {
    return type_unit(f->c->types);
}
Type ty_poison(FnChecker *f) {
    return type_poison(f->c->types);
}

const char *ast_text(FnChecker *f, const AstNode *node) {
    const SourceFile *file = sources_file(f->c->sources, node->span.begin);
    if (!file) return "…";
    const char *text = file->text + (node->span.begin - file->base);
    size_t len = node->span.end - node->span.begin;
    const char *line = memchr(text, '\n', len);
    if (!line && len <= 40) return arena_strndup(f->c->arena, text, len);
    if (line) len = (size_t)(line - text);
    if (len > 36) len = 36;
    while (len && ((unsigned char)text[len] & 0xc0) == 0x80) len--;
    return arena_printf(f->c->arena, "%.*s…", (int)len, text);
}
