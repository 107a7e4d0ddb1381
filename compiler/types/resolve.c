/* Types and dimensions as written. */
#include "types/internal.h"

#include "base/num.h"

#include <string.h>

/* ---- integer constants ---- */

static bool const_op(AstOp op, int64_t a, int64_t b, int64_t *value) {
    if ((op == AST_OP_DIV || op == AST_OP_MOD) && b == 0) return false;
    if (op == AST_OP_DIV && b == -1) return !__builtin_sub_overflow(0, a, value);
    switch (op) {
    case AST_OP_ADD: return !__builtin_add_overflow(a, b, value);
    case AST_OP_SUB: return !__builtin_sub_overflow(a, b, value);
    case AST_OP_MUL: return !__builtin_mul_overflow(a, b, value);
    case AST_OP_DIV: *value = a / b - (a % b != 0 && (a < 0) != (b < 0)); return true;
    case AST_OP_MOD:
        *value = b == -1 ? 0 : a % b;
        if (*value && (*value < 0) != (b < 0)) *value += b;
        return true;
    default: return false;
    }
}

bool const_eval(Checker *c, Module *m, const AstNode *node, int64_t *value) {
    switch ((AstKind)node->kind) {
    case AST_Int: {
        const AstInt *n = (const AstInt *)node;
        uint64_t u;
        if (!num_parse_u64(n->text.at, n->text.len, &u) || u > INT64_MAX) return false;
        *value = (int64_t)u;
        return true;
    }
    case AST_Name: {
        NameLookup found = modules_lookup(&c->modules, m, ((const AstName *)node)->name.sym);
        return found.kind == ITEM_CONST && const_integer(c, found.item->cnst, value);
    }
    case AST_Unary: {
        const AstUnary *n = (const AstUnary *)node;
        int64_t a;
        return n->op == AST_OP_NEG && const_eval(c, m, n->arg, &a) &&
               !__builtin_sub_overflow(0, a, value);
    }
    case AST_Binary: {
        const AstBinary *n = (const AstBinary *)node;
        int64_t a, b;
        return const_eval(c, m, n->left, &a) && const_eval(c, m, n->right, &b) &&
               const_op((AstOp)n->op, a, b, value);
    }
    default: return false;
    }
}

static bool is_i64_type(const AstNode *type) {
    if (!type) return true;
    if (type->kind != AST_TypeName) return false;
    const AstNode *path = ((const AstTypeName *)type)->path;
    return path->kind == AST_Name && !strcmp(((const AstName *)path)->name.sym->text, "i64");
}

bool const_integer(Checker *c, const ConstDecl *decl, int64_t *value) {
    if (!decl->ast || decl->ast->name2.sym || !is_i64_type(decl->ast->type)) return false;
    if (map_hasp(&c->integers, decl)) {
        int64_t *known = map_getp(&c->integers, decl);
        if (known) *value = *known;
        return known != NULL;
    }
    map_setp(&c->integers, decl, NULL); /* against circles */
    int64_t v;
    if (!const_eval(c, decl->module, decl->ast->value, &v)) return false;
    int64_t *known = ARENA_NEW(c->arena, int64_t);
    *known = *value = v;
    map_setp(&c->integers, decl, known);
    return true;
}

/* ---- dimensions ---- */

static Size dim_name(TypeScope *s, AstName *node, bool whole) {
    Sym name = node->name.sym;
    Size size = s->sizes ? map_getp(s->sizes, name) : NULL;
    if (size) return size;
    Binding *b = s->f ? scope_find(s->f, name) : NULL;
    if (b && b->local->size) return b->local->size;
    NameLookup found = b ? (NameLookup){0} : modules_lookup(&s->c->modules, s->module, name);
    int64_t value;
    if (found.kind == ITEM_CONST && const_integer(s->c, found.item->cnst, &value))
        return size_const(s->c->types, value);
    if (s->hint) return size_any(s->c->types);
    if (b) {
        if (is_poison(b->local->type)) return size_any(s->c->types);
        bool is_var = is_scalar_of(b->local->type, SCALAR_I64);
        diag_report(s->c->diags, DIAG_SIZE_KIND, node->node.span,
                    is_var ? "`%s` is a variable: a size must not change"
                           : "`%s` is no i64, so that it is no size",
                    name->text);
        if (is_var) diag_help(s->c->diags, (Span){0}, "take its value: `let n = %s;`", name->text);
        return size_any(s->c->types);
    }
    if (whole && s->bind && s->sizes && found.kind != ITEM_CONST) {
        size = size_var(s->c->types, name);
        map_setp(s->sizes, name, (void *)size);
        return size;
    }
    if (found.kind == ITEM_CONST) {
        diag_report(s->c->diags, DIAG_SIZE_KIND, node->node.span,
                    "`%s` is not an integer constant that is known here", name->text);
    } else {
        diag_report(s->c->diags, DIAG_SIZE_UNBOUND, node->node.span,
                    "the size `%s` is bound nowhere", name->text);
        diag_help(s->c->diags, (Span){0},
                  "a size is bound by standing alone as a dimension of a "
                  "parameter: expressions are checked, never solved");
    }
    return size_any(s->c->types);
}

static Size dim_binary(TypeScope *s, AstBinary *node) {
    Size a = resolve_dim(s, node->left), b = resolve_dim(s, node->right);
    TypeTable *t = s->c->types;
    if (a->kind == SIZE_ANY || b->kind == SIZE_ANY) return size_any(t);
    switch ((AstOp)node->op) {
    case AST_OP_ADD: return size_plus(t, a, b);
    case AST_OP_SUB: return size_minus(t, a, b);
    case AST_OP_MUL: return size_times(t, a, b);
    case AST_OP_DIV: return size_binary(t, SIZE_DIV, a, b);
    case AST_OP_MOD: return size_binary(t, SIZE_MOD, a, b);
    default: break;
    }
    diag_report(s->c->diags, DIAG_SIZE_KIND, node->node.span,
                "a dimension is made of integers, names and + - * / %%");
    return size_any(t);
}

Size resolve_dim(TypeScope *s, AstNode *dim) {
    TypeTable *t = s->c->types;
    int64_t value;
    if (dim->kind == AST_DimAny) return s->any ? size_any(t) : size_var(t, NULL);
    if (dim->kind == AST_Name) return dim_name(s, (AstName *)dim, true);
    if (const_eval(s->c, s->module, dim, &value)) {
        if (value >= 0) return size_const(t, value);
        if (!s->hint)
            diag_report(s->c->diags, DIAG_SIZE_NEGATIVE, dim->span, "a size cannot be negative");
        return size_any(t);
    }
    bool bind = s->bind;
    s->bind = false;
    Size size = size_any(t);
    if (dim->kind == AST_Binary) size = dim_binary(s, (AstBinary *)dim);
    else if (!s->hint)
        diag_report(s->c->diags, DIAG_SIZE_KIND, dim->span,
                    "a dimension is made of integers, names and + - * / %%");
    s->bind = bind;
    return size;
}

/* ---- types ---- */

static Type poison(TypeScope *s) {
    return type_poison(s->c->types);
}

static int scalar_of_name(Sym name) {
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (!strcmp(name->text, scalar_name((Scalar)i))) return i;
    return -1;
}

static void unknown_type(TypeScope *s, Sym name, Span span) {
    if (s->hint) return;
    diag_report(s->c->diags, DIAG_UNKNOWN_TYPE, span, "there is no type `%s`", name->text);
    VEC(const char *) names = {0};
    for (int i = 0; i < SCALAR_COUNT; i++) vec_push(&names, scalar_name((Scalar)i));
    vec_push(&names, "str");
    vec_push(&names, "Tape");
    for (uint32_t i = 0; s->generics && i < s->generics->len; i++)
        vec_push(&names, ((Sym)(uintptr_t)s->generics->keys[i])->text);
    for (uint32_t i = 0; i < s->module->items.len; i++) {
        const Item *item = s->module->items.values[i];
        if (item->kind == ITEM_STRUCT) vec_push(&names, item->strct->name->text);
    }
    const char *closest = diag_closest(name->text, names.at, names.len);
    if (closest) diag_help(s->c->diags, (Span){0}, "did you mean `%s`?", closest);
    vec_free(&names);
}

static Type resolve_struct(TypeScope *s, const StructDecl *decl, AstTypeName *node) {
    Type whole = struct_type(s->c, decl);
    if (is_poison(whole)) return whole;
    if (node->dims.len > decl->nsizes && !s->hint)
        diag_report(s->c->diags, DIAG_STRUCT_SIZES, node->node.span, "`%s` has %u size%s, not %u",
                    decl->name->text, decl->nsizes, decl->nsizes == 1 ? "" : "s", node->dims.len);
    Map map = {0};
    for (uint32_t i = 0; i < whole->nsizes; i++) {
        bool named = i < node->dims.len && i < decl->nsizes;
        Size size = named    ? resolve_dim(s, node->dims.at[i])
                    : s->any ? size_any(s->c->types)
                             : size_var(s->c->types, NULL);
        map_set(&map, whole->dims[i]->id, (void *)size);
    }
    Type type = type_subst(s->c->types, whole, &map);
    map_free(&map);
    return type;
}

static const StructDecl *find_struct(TypeScope *s, AstNode *path) {
    NameLookup found = {0};
    Sym name = NULL;
    if (path->kind == AST_Name) {
        name = ((AstName *)path)->name.sym;
        found = modules_lookup(&s->c->modules, s->module, name);
    } else if (path->kind == AST_Field && ((AstField *)path)->base->kind == AST_Name) {
        AstField *field = (AstField *)path;
        NameLookup base =
            modules_lookup(&s->c->modules, s->module, ((AstName *)field->base)->name.sym);
        name = field->name.sym;
        if (base.kind == ITEM_MODULE) found.item = module_item(base.item->module, name);
        if (found.item) found.kind = found.item->kind;
    }
    if (found.kind == ITEM_STRUCT) return found.item->strct;
    if (name && found.kind != ITEM_POISON) unknown_type(s, name, path->span);
    return NULL;
}

static Type resolve_name(TypeScope *s, AstTypeName *node) {
    Type type = NULL;
    if (node->path->kind == AST_Name) {
        Sym name = ((AstName *)node->path)->name.sym;
        int scalar = scalar_of_name(name);
        if (s->generics && map_hasp(s->generics, name)) {
            type = map_getp(s->generics, name);
            if (!type) type = poison(s);
        } else if (scalar >= 0) type = type_scalar(s->c->types, (Scalar)scalar);
        else if (!strcmp(name->text, "str")) type = type_str(s->c->types);
        else if (!strcmp(name->text, "Tape")) type = type_tape(s->c->types, NULL);
    }
    if (type) {
        if (node->has_dims && !s->hint)
            diag_report(s->c->diags, DIAG_STRUCT_SIZES, node->node.span,
                        "this type has no sizes: an array type is written `[n]f64`");
        return type;
    }
    const StructDecl *decl = find_struct(s, node->path);
    return decl ? resolve_struct(s, decl, node) : poison(s);
}

static Type resolve_array(TypeScope *s, AstTypeArray *node) {
    Size *dims = ARENA_ARRAY(s->c->arena, Size, node->dims.len);
    for (uint32_t i = 0; i < node->dims.len; i++) dims[i] = resolve_dim(s, node->dims.at[i]);
    Type elem = resolve_type(s, node->elem);
    if (elem->kind == TYPE_UNIT || elem->kind == TYPE_TAPE || elem->has_fns) {
        if (!s->hint)
            diag_report(s->c->diags, elem->has_fns ? DIAG_FUNCTION_PLACE : DIAG_ELEMENT,
                        node->elem->span, "a value of type %s cannot be an array element",
                        type_text(s->c->types, elem));
        return poison(s);
    }
    return type_array(s->c->types, elem, node->dims.len, dims);
}

static Type resolve_tuple(TypeScope *s, AstTypeTuple *node) {
    TypePart *parts = ARENA_ARRAY(s->c->arena, TypePart, node->parts.len);
    for (uint32_t i = 0; i < node->parts.len; i++) {
        AstTypePart *part = AST_AS(TypePart, node->parts.at[i]);
        uint8_t act = part->act ? (uint8_t)(((AstActivity *)part->act)->kind + 1) : 0;
        parts[i] =
            (TypePart){.name = part->name.sym, .type = resolve_type(s, part->type), .act = act};
        for (uint32_t k = 0; k < i && part->name.sym && !s->hint; k++)
            if (parts[k].name == part->name.sym)
                diag_report(s->c->diags, DIAG_NAME_TWICE, part->name.span,
                            "two parts are called `%s`", part->name.sym->text);
    }
    return type_tuple(s->c->types, node->parts.len, parts);
}

static Type resolve_fn(TypeScope *s, AstTypeFn *node) {
    TypePart *params = ARENA_ARRAY(s->c->arena, TypePart, node->params.len);
    for (uint32_t i = 0; i < node->params.len; i++) {
        AstParam *p = AST_AS(Param, node->params.at[i]);
        uint8_t act = p->act ? (uint8_t)(((AstActivity *)p->act)->kind + 1) : 0;
        params[i] = (TypePart){.type = resolve_type(s, p->type), .act = act, .mut = p->mut != 0};
    }
    AstRet *ret = (AstRet *)node->ret;
    uint8_t act = ret && ret->act ? (uint8_t)(((AstActivity *)ret->act)->kind + 1) : 0;
    Type result = ret ? resolve_type(s, ret->type) : type_unit(s->c->types);
    return type_fn(s->c->types, node->params.len, params, result, act);
}

Type resolve_type(TypeScope *s, AstNode *type) {
    if (type->poison) return poison(s);
    switch ((AstKind)type->kind) {
    case AST_TypeName: return resolve_name(s, (AstTypeName *)type);
    case AST_TypeArray: return resolve_array(s, (AstTypeArray *)type);
    case AST_TypeTuple: return resolve_tuple(s, (AstTypeTuple *)type);
    case AST_TypeFn: return resolve_fn(s, (AstTypeFn *)type);
    default: return poison(s);
    }
}

/* ---- structs ---- */

typedef VEC(Size) Sizes;

static void add_size(Sizes *sizes, Size size) {
    if (size->kind != SIZE_VAR) return;
    for (uint32_t i = 0; i < sizes->len; i++)
        if (sizes->at[i] == size) return;
    vec_push(sizes, size);
}

/* Sizes of structs in TYPE, a field's, that it does not name: they differ from value to value, too.
 */
static void find_unnamed(Sizes *sizes, Type type) {
    if (type->kind == TYPE_ARRAY) find_unnamed(sizes, type->elem);
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->nparts; i++)
        find_unnamed(sizes, type->parts[i].type);
    for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->nsizes; i++)
        add_size(sizes, type->dims[i]);
}

Type struct_type(Checker *c, const StructDecl *decl) {
    if (map_hasp(&c->struct_types, decl)) {
        Type known = map_getp(&c->struct_types, decl);
        if (known) return known;
        diag_report(c->diags, DIAG_STRUCT_CIRCLE, decl->ast->name.span,
                    "struct `%s` would contain itself", decl->name->text);
        return type_poison(c->types);
    }
    map_setp(&c->struct_types, decl, NULL);
    Map sizes = {0};
    Sizes dims = {0}; /* those that have names first */
    for (uint32_t i = 0; i < decl->nsizes; i++) {
        vec_push(&dims, size_var(c->types, decl->sizes[i]));
        map_setp(&sizes, decl->sizes[i], (void *)dims.at[i]);
    }
    TypeScope scope = {.c = c, .module = decl->module, .sizes = &sizes};
    const AstList *fields = &decl->ast->fields;
    TypePart *parts = ARENA_ARRAY(c->arena, TypePart, fields->len);
    for (uint32_t i = 0; i < fields->len; i++) {
        AstFieldDecl *field = AST_AS(FieldDecl, fields->at[i]);
        parts[i] = (TypePart){.name = field->name.sym, .type = resolve_type(&scope, field->type)};
        if (parts[i].type->has_fns)
            diag_report(c->diags, DIAG_FUNCTION_PLACE, field->type->span,
                        "a field cannot hold a function: which one it is must be known when this "
                        "is compiled");
        for (uint32_t k = 0; k < i; k++)
            if (parts[k].name == field->name.sym)
                diag_report(c->diags, DIAG_NAME_TWICE, field->name.span,
                            "two fields are called `%s`", field->name.sym->text);
    }
    map_free(&sizes);
    for (uint32_t i = 0; i < fields->len; i++) find_unnamed(&dims, parts[i].type);
    Type type = type_struct(c->types, decl, dims.len, dims.at, fields->len, parts);
    vec_free(&dims);
    map_setp(&c->struct_types, decl, (void *)type);
    return type;
}
