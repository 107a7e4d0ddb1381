/* Expressions: the dispatch, names, fields, brackets, blocks, branches. */
#include "types/internal.h"

#include <string.h>

/* ---- names ---- */

static Tree *read_binding(FnChecker *f, Binding *b, Span span) {
    Local *local = b->local;
    Type type = local->type;
    Tree *tree = make_local(f, local, span);
    if (is_array(type)) { /* a var declared with `_`: its size at this time */
        bool any = false;
        Size *dims = ARENA_ARRAY(f->c->arena, Size, type->rank);
        for (uint32_t i = 0; i < type->rank; i++) {
            bool open = type->dims[i]->kind == SIZE_ANY;
            dims[i] = open ? size_var(f->c->types, NULL) : type->dims[i];
            any |= open;
        }
        if (any) tree->type = type_array(f->c->types, type->elem, type->rank, dims);
    }
    return tree;
}

static Tree *deriv_alias(FnChecker *f, const ConstDecl *decl, Span span);

static bool written_function(Checker *c, Module *m, const AstNode *node) {
    switch ((AstKind)node->kind) {
    case AST_Lambda:
    case AST_Deriv:
    case AST_TypeApply: return true;
    case AST_Call: return ((const AstCall *)node)->callee->kind == AST_Deriv;
    case AST_Name: {
        NameLookup found = modules_lookup(&c->modules, m, ((const AstName *)node)->name.sym);
        if (found.kind == ITEM_CONST) {
            const ConstDecl *d = found.item->cnst;
            return d->exported || (d->ast && d->ast->value != node &&
                                   written_function(c, d->module, d->ast->value));
        }
        return found.kind == ITEM_FN || found.kind == ITEM_BUILTIN || found.kind == ITEM_MATH;
    }
    default: return false;
    }
}

/* A call of a derivative with words only, `grad f(Active, Const)`, is a function; with arguments it
   is a value. */
static bool is_alias(Checker *c, const ConstDecl *decl) {
    if (decl->exported || decl->ast->name2.sym) return true;
    const AstNode *value = decl->ast->value;
    if (value->kind == AST_Call && ((const AstCall *)value)->callee->kind == AST_Deriv) {
        const AstList *args = &((const AstCall *)value)->args;
        for (uint32_t i = 0; i < args->len; i++) {
            if (args->at[i]->kind != AST_Arg) return false;
            const AstNode *arg = ((const AstArg *)args->at[i])->value;
            if (arg->kind != AST_ActArg || ((const AstActArg *)arg)->has_args) return false;
        }
        return args->len > 0;
    }
    return written_function(c, decl->module, value);
}

Tree *const_tree(FnChecker *f, const ConstDecl *decl, Span span) {
    int64_t value;
    if (const_integer(f->c, decl, &value)) return make_int(f, value, ty_i64(f), span);
    if (is_alias(f->c, decl)) return deriv_alias(f, decl, span);
    Instance *inst = instance_of_const(f->c, decl, span);
    if (!inst || is_poison(inst->result)) return tree_poison(f, span);
    Map none = {0};
    Tree *tree = make(f, T_CALL, inst->result, span);
    tree->instance = inst;
    map_free(&none);
    return tree;
}

/* A name for a function: its value is made once, in the scope of its module. */
static Tree *deriv_alias(FnChecker *f, const ConstDecl *decl, Span span) {
    const void *key = decl->ast ? (const void *)decl->ast : (const void *)decl->exported;
    AstNode *value = decl->ast ? decl->ast->value : decl->exported->value;
    Checker *c = f->c;
    if (!map_hasp(&c->constants, key)) {
        map_setp(&c->constants, key, NULL);
        Instance *home = instance_new(c, INSTANCE_FN, decl->name->text, value->span);
        info_of(c, home)->module = decl->module;
        FnChecker g;
        fn_checker_begin(&g, c, home, decl->module);
        Tree *tree = check_expr(&g, value, NULL);
        fn_checker_end(&g);
        home->checked = true;
        map_setp(&c->constants, key, tree);
    }
    Tree *tree = map_getp(&c->constants, key);
    if (!tree) {
        diag_report(c->diags, DIAG_CONST_CIRCLE, span, "`%s` is defined by itself",
                    decl->name->text);
        return tree_poison(f, span);
    }
    bool pair = decl->ast ? decl->ast->name2.sym != NULL : decl->exported->name2.sym != NULL;
    Type type = tree->type;
    if (pair && type->kind == TYPE_TUPLE && type->nparts == 2) type = type->parts[decl->part].type;
    else if (pair && !is_poison(type))
        diag_report(c->diags, DIAG_PATTERN, value->span, "two names for one function");
    return type->kind == TYPE_FNVAL ? fnvalue_tree(f, type->fn, span) : tree_poison(f, span);
}

Instance *instance_of_const(Checker *c, const ConstDecl *decl, Span span) {
    Instance *inst = map_getp(&c->constants, decl);
    if (!inst) {
        inst = instance_new(c, INSTANCE_FN, decl->name->text, decl->ast->name.span);
        map_setp(&c->constants, decl, inst);
        InstanceInfo *info = info_of(c, inst);
        inst->constant = decl;
        info->module = decl->module;
        info->body = decl->ast->value;
        if (decl->ast->type) {
            TypeScope s = {.c = c, .module = decl->module, .any = true};
            info->declared_result = resolve_type(&s, decl->ast->type);
        }
        check_body(c, inst);
        inst->result_act = ACT_CONST;
    } else if (info_of(c, inst)->in_progress) {
        diag_report(c->diags, DIAG_CONST_CIRCLE, span, "`%s` is defined by itself",
                    decl->name->text);
        inst->result = type_poison(c->types);
    }
    return inst;
}

static Tree *item_value(FnChecker *f, const NameLookup *found, Sym name, Span span) {
    switch (found->kind) {
    case ITEM_FN:
        return fnvalue_tree(f, fnvalue_of_decl(f->c, found->item->fn, found->math, found->builtin),
                            span);
    case ITEM_CONST: return const_tree(f, found->item->cnst, span);
    case ITEM_BUILTIN:
    case ITEM_MATH: return fnvalue_tree(f, fnvalue_of_row(f->c, found->math, found->builtin), span);
    case ITEM_STRUCT:
        diag_report(f->c->diags, DIAG_NOT_A_VALUE, span, "`%s` is a struct, not a value",
                    name->text);
        diag_help(f->c->diags, (Span){0}, "build one by a call: `%s(…)`", name->text);
        return tree_poison(f, span);
    case ITEM_MODULE:
        diag_report(f->c->diags, DIAG_NOT_A_VALUE, span, "`%s` is a module, not a value",
                    name->text);
        return tree_poison(f, span);
    case ITEM_AMBIGUOUS:
        diag_report(f->c->diags, DIAG_AMBIGUOUS, span, "`%s` may mean that of `%s` or of `%s`",
                    name->text, found->item->from->name->text,
                    found->item->other->from->name->text);
        diag_help(f->c->diags, (Span){0}, "use the modules themselves and write `%s.%s`",
                  found->item->from->name->text, name->text);
        return tree_poison(f, span);
    case ITEM_POISON: return tree_poison(f, span);
    case ITEM_NONE: break;
    }
    return NULL;
}

Tree *check_name(FnChecker *f, AstName *node, Type expected) {
    Sym name = node->name.sym;
    Binding *b = scope_find(f, name);
    if (b) return read_binding(f, b, node->node.span);
    if (is_flexible(f, (AstNode *)node)) return check_literal(f, (AstNode *)node, expected, false);
    NameLookup found = modules_lookup(&f->c->modules, f->module, name);
    Tree *tree = item_value(f, &found, name, node->node.span);
    if (tree) return tree;
    Size only = f->info ? map_getp(&f->info->sizes, name) : NULL;
    if (only) {
        diag_report(f->c->diags, DIAG_SIZE_RESULT, node->node.span,
                    "the size `%s` stands only in a result: it is not known here", name->text);
        diag_help(f->c->diags, (Span){0}, "take it of a value: `len(y)`");
    } else {
        report_unknown(f, name, node->node.span);
    }
    return tree_poison(f, node->node.span);
}

/* The module that a path names if no local hides it, else NULL. */
Module *module_of(FnChecker *f, const AstNode *node) {
    if (node->kind != AST_Name) return NULL;
    Sym name = ((const AstName *)node)->name.sym;
    for (uint32_t i = 0; i < f->scope.len; i++)
        if (f->scope.at[i].name == name) return NULL;
    NameLookup found = modules_lookup(&f->c->modules, f->module, name);
    return found.kind == ITEM_MODULE ? found.item->module : NULL;
}

NameLookup module_lookup(FnChecker *f, Module *m, AstIdent name) {
    NameLookup found = {.math = -1, .builtin = -1, .item = module_item(m, name.sym)};
    if (found.item) {
        found.kind = found.item->kind;
        return found;
    }
    diag_report(f->c->diags, DIAG_NAME_NOT_IN_MODULE, name.span, "module `%s` has no `%s`",
                m->name->text, name.sym->text);
    const char *closest = module_closest(m, name.sym);
    if (closest) diag_help(f->c->diags, (Span){0}, "did you mean `%s`?", closest);
    return found;
}

static Tree *no_field(FnChecker *f, Type type, AstIdent name) {
    Type elem = elem_of(type);
    diag_report(f->c->diags, DIAG_NO_FIELD, name.span, "a value of type %s has no `%s`",
                tt(f, type), name.sym->text);
    VEC(const char *) names = {0};
    for (uint32_t i = 0;
         (elem->kind == TYPE_TUPLE || elem->kind == TYPE_STRUCT) && i < elem->nparts; i++)
        if (elem->parts[i].name) vec_push(&names, elem->parts[i].name->text);
    const char *closest = diag_closest(name.sym->text, names.at, names.len);
    if (closest) diag_help(f->c->diags, (Span){0}, "did you mean `%s`?", closest);
    vec_free(&names);
    return tree_poison(f, name.span);
}

int32_t find_part(Type type, Sym name) {
    Type elem = elem_of(type);
    if (elem->kind != TYPE_TUPLE && elem->kind != TYPE_STRUCT) return -1;
    for (uint32_t i = 0; i < elem->nparts; i++)
        if (elem->parts[i].name == name) return (int32_t)i;
    return -1;
}

Tree *check_field(FnChecker *f, AstField *node, Type expected) {
    (void)expected;
    Module *m = module_of(f, node->base);
    if (m) {
        NameLookup found = module_lookup(f, m, node->name);
        Tree *tree = item_value(f, &found, node->name.sym, node->node.span);
        return tree ? tree : tree_poison(f, node->node.span);
    }
    Tree *base = check_value(f, node->base, NULL);
    if (is_poison(base->type)) return base;
    int32_t part = find_part(base->type, node->name.sym);
    return part < 0 ? no_field(f, base->type, node->name)
                    : make_part(f, base, (uint32_t)part, node->node.span);
}

static Tree *check_part(FnChecker *f, AstPart *node) {
    Tree *base = check_value(f, node->base, NULL);
    if (is_poison(base->type)) return base;
    Type elem = elem_of(base->type);
    bool parts = elem->kind == TYPE_TUPLE || elem->kind == TYPE_STRUCT;
    if (parts && node->index < elem->nparts)
        return make_part(f, base, (uint32_t)node->index, node->node.span);
    diag_report(f->c->diags, DIAG_NO_FIELD, node->node.span, "a value of type %s has no part %lld",
                tt(f, base->type), (long long)node->index);
    return tree_poison(f, node->node.span);
}

/* ---- brackets ---- */

static bool element_type(FnChecker *f, const Tree *value) {
    Type t = value->type;
    if (!t->has_fns && t->kind != TYPE_UNIT && t->kind != TYPE_TAPE) return true;
    diag_report(f->c->diags, t->has_fns ? DIAG_FUNCTION_PLACE : DIAG_ELEMENT, value->span,
                "a value of type %s cannot be an array element", tt(f, t));
    return false;
}

/* The elements of a literal agree with the first that decided the type. */
static bool same_element(FnChecker *f, Tree *node, const Tree *first, const Tree *value) {
    if (is_poison(value->type)) return false;
    if (!same_shape(first->type, value->type)) {
        bool rows = is_array(first->type) && is_array(value->type);
        diag_report(f->c->diags, DIAG_ELEMENT, value->span,
                    rows ? "the rows are of different types: %s and %s"
                         : "the elements are of different types: %s and %s",
                    tt(f, first->type), tt(f, value->type));
        return false;
    }
    return !is_array(first->type) ||
           require_same_dims(f, first->type, value->type, node, value->span, "the first row",
                             "this row", DIAG_ROWS);
}

/* What rows of bare literals are together: *SCALAR is raised to it.  False: there is more in them.
 */
static bool rows_of_literals(const AstNode *node, Scalar *scalar) {
    switch ((AstKind)node->kind) {
    case AST_Int: return true;
    case AST_Name:
    case AST_Float:
        if (*scalar == SCALAR_I64) *scalar = SCALAR_F64;
        return true;
    case AST_Imag: *scalar = SCALAR_C128; return true;
    case AST_Unary: return rows_of_literals(((const AstUnary *)node)->arg, scalar);
    case AST_Binary: {
        const AstBinary *b = (const AstBinary *)node;
        return rows_of_literals(b->left, scalar) &&
               (b->op == AST_OP_POW || rows_of_literals(b->right, scalar));
    }
    case AST_Array: {
        const AstList *parts = &((const AstArray *)node)->parts;
        for (uint32_t i = 0; i < parts->len; i++)
            if (!rows_of_literals(parts->at[i], scalar)) return false;
        return parts->len > 0;
    }
    default: return false;
    }
}

Tree *check_array(FnChecker *f, AstArray *node, Type expected) {
    Span span = node->node.span;
    uint32_t n = node->parts.len;
    Type hint = expected && is_array(expected) ? type_drop_dims(f->c->types, expected, 1) : NULL;
    if (expected && !is_array(expected) && is_scalar(expected)) hint = expected;
    if (!n) {
        if (!hint || !is_array(expected) || is_poison(hint)) {
            diag_report(f->c->diags, DIAG_CANNOT_INFER, span,
                        "the type of the elements of `[]` is not known");
            diag_help(f->c->diags, (Span){0}, "declare it: `var xs: [_]f64 = [];`");
            return tree_poison(f, span);
        }
        Size dims[1] = {size_const(f->c->types, 0)};
        Tree *empty = make(f, T_ARRAY, type_array(f->c->types, hint, 1, dims), span);
        return empty;
    }
    Tree **parts = ARENA_ARRAY(f->c->arena, Tree *, n);
    Tree *first = NULL;
    for (uint32_t i = 0; i < n && !first; i++)
        if (!is_flexible(f, node->parts.at[i])) {
            first = parts[i] = check_value(f, node->parts.at[i], hint);
            if (is_poison(first->type)) return first;
            hint = first->type;
        }
    Scalar scalar = SCALAR_I64;
    if (!first && !hint && node->parts.at[0]->kind == AST_Array &&
        rows_of_literals(&node->node, &scalar))
        hint = type_scalar(f->c->types, scalar);
    if (!first && !hint) { /* one decimal literal makes all of them decimal */
        for (uint32_t i = 0; i < n; i++) {
            Tree *probe = parts[i] = check_value(f, node->parts.at[i], hint);
            if (!hint || is_integer(elem_of(hint))) hint = probe->type;
        }
        for (uint32_t i = 0; i < n; i++)
            if (elem_of(parts[i]->type) != elem_of(hint)) parts[i] = NULL;
    }
    bool ok = true;
    Tree *tree = make(f, T_ARRAY, ty_poison(f), span);
    for (uint32_t i = 0; i < n; i++) {
        if (!parts[i]) parts[i] = check_value(f, node->parts.at[i], hint);
        if (!first) first = parts[i];
        ok = ok && element_type(f, parts[i]) && same_element(f, tree, first, parts[i]);
    }
    if (!ok) return tree_poison(f, span);
    tree->nargs = n;
    tree->args = parts;
    Size dims[1] = {size_const(f->c->types, (int64_t)n)};
    tree->type = type_array(f->c->types, first->type, 1, dims);
    return tree;
}

Tree *check_tuple(FnChecker *f, AstTuple *node, Type expected) {
    uint32_t n = node->parts.len;
    bool hints = expected && expected->kind == TYPE_TUPLE && expected->nparts == n;
    Tree **args = ARENA_ARRAY(f->c->arena, Tree *, n);
    TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, n);
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        args[i] = check_value(f, node->parts.at[i], hints ? expected->parts[i].type : NULL);
        parts[i] = (TypePart){.type = args[i]->type};
        if (is_poison(args[i]->type)) ok = false;
    }
    if (!ok) return tree_poison(f, node->node.span);
    return make_args(f, T_TUPLE, type_tuple(f->c->types, n, parts), node->node.span, n, args);
}

/* ---- blocks and branches ---- */

/* Does control never come out of it? */
static bool diverges(const Tree *tree) {
    switch (tree->kind) {
    case T_RETURN:
    case T_BREAK:
    case T_CONTINUE: return true;
    case T_BLOCK:
        for (uint32_t i = 0; i < tree->nstmts; i++)
            if (diverges(tree->stmts[i])) return true;
        return tree->body && diverges(tree->body);
    case T_IF: return tree->other && diverges(tree->body) && diverges(tree->other);
    case T_EXPR: return diverges(tree->args[0]);
    default: return false;
    }
}

Tree *check_block(FnChecker *f, AstBlock *block, Type expected, bool want_value) {
    uint32_t mark = f->scope.len, sizes = size_mark(f->c->types);
    Tree *tree = make(f, T_BLOCK, ty_unit(f), block->node.span);
    tree->stmts = ARENA_ARRAY(f->c->arena, Tree *, block->stmts.len);
    for (uint32_t i = 0; i < block->stmts.len; i++)
        tree->stmts[tree->nstmts++] = check_stmt(f, block->stmts.at[i]);
    if (block->value) {
        AstNode *value = block->value;
        if (value->kind == AST_If) tree->body = check_if(f, (AstIf *)value, expected, want_value);
        else if (value->kind == AST_Block)
            tree->body = check_block(f, (AstBlock *)value, expected, want_value);
        else tree->body = check_expr(f, value, expected);
        tree->type = tree->body->type;
        if (block->stmts.len) tree->type = type_leave(f, tree->type, sizes);
    }
    scope_leave(f, mark);
    return tree;
}

/* The size that both branches have, or one that is known at run time only. */
static Type join_types(FnChecker *f, Type a, Type b) {
    TypeTable *t = f->c->types;
    if (a == b || is_poison(b)) return a;
    if (is_poison(a)) return b;
    if (a->kind == TYPE_ARRAY) {
        Size *dims = ARENA_ARRAY(f->c->arena, Size, a->rank);
        for (uint32_t i = 0; i < a->rank; i++)
            dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : size_var(t, NULL);
        return type_array(t, join_types(f, a->elem, b->elem), a->rank, dims);
    }
    if (a->kind == TYPE_TUPLE) {
        TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, a->nparts);
        for (uint32_t i = 0; i < a->nparts; i++) {
            parts[i] = a->parts[i];
            parts[i].type = join_types(f, a->parts[i].type, b->parts[i].type);
        }
        return type_tuple(t, a->nparts, parts);
    }
    if (a->kind == TYPE_STRUCT) {
        Map map = {0};
        Type whole = struct_type(f->c, a->decl);
        for (uint32_t i = 0; i < a->nsizes; i++) {
            Size s = a->dims[i] == b->dims[i] ? a->dims[i] : size_var(t, NULL);
            map_set(&map, whole->dims[i]->id, (void *)s);
        }
        Type joined = type_subst(t, whole, &map);
        map_free(&map);
        return joined;
    }
    return a;
}

static Tree *check_branch(FnChecker *f, AstNode *node, Type expected, bool want_value) {
    return node->kind == AST_If ? check_if(f, (AstIf *)node, expected, want_value)
                                : check_block(f, AST_AS(Block, node), expected, want_value);
}

Tree *check_if(FnChecker *f, AstIf *node, Type expected, bool want_value) {
    Tree *cond = check_condition(f, node->cond, "the condition of `if`");
    Tree *tree = make_args(f, T_IF, ty_unit(f), node->node.span, 1, &cond);
    if (!node->other) {
        tree->body = check_branch(f, node->then, NULL, false);
        bool unused = tree->body->type->kind != TYPE_UNIT && !is_poison(tree->body->type);
        if (unused && !want_value) {
            diag_report(f->c->diags, DIAG_VALUE_UNUSED,
                        tree->body->body ? tree->body->body->span : tree->body->span,
                        "the value of an `if` without `else` goes nowhere");
            diag_help(f->c->diags, (Span){0}, "add `;` behind it, or an `else`");
        }
        if (want_value) {
            diag_report(f->c->diags, DIAG_NO_VALUE, node->node.span,
                        "an `if` without `else` has no value");
            return tree_poison(f, node->node.span);
        }
        return tree;
    }
    bool swap = literal_after(f, node->then, node->other);
    Tree *first = check_branch(f, swap ? node->other : node->then, expected, want_value);
    Type hint = diverges(first) || first->type->kind == TYPE_UNIT || is_poison(first->type)
                    ? expected
                    : first->type;
    Tree *second = check_branch(f, swap ? node->then : node->other, hint, want_value);
    tree->body = swap ? second : first;
    tree->other = swap ? first : second;
    Type a = tree->body->type, b = tree->other->type;
    if (diverges(tree->body)) tree->type = b;
    else if (diverges(tree->other)) tree->type = a;
    else if (!same_shape(a, b) && !(a->has_fns && b->has_fns)) {
        diag_report(f->c->diags, DIAG_BRANCHES, node->node.span,
                    "the branches of this `if` are of different types: %s and %s", tt(f, a),
                    tt(f, b));
        tree->type = ty_poison(f);
    } else {
        tree->type = join_types(f, a, b);
    }
    if (tree->type->has_fns) {
        diag_report(f->c->diags, DIAG_FUNCTION_PLACE, node->node.span,
                    "the value of an `if` cannot be a function: which one it is must be known when "
                    "this is compiled");
        tree->type = ty_poison(f);
    }
    return tree;
}

/* ---- the dispatch ---- */

static Tree *check_bool(FnChecker *f, AstBool *node) {
    Tree *tree = make(f, T_BOOL, ty_bool(f), node->node.span);
    tree->value = node->value;
    return tree;
}

Tree *check_expr(FnChecker *f, AstNode *node, Type expected) {
    if (node->poison) return tree_poison(f, node->span);
    switch ((AstKind)node->kind) {
    case AST_Name: return check_name(f, (AstName *)node, expected);
    case AST_Int:
    case AST_Float:
    case AST_Imag: return check_literal(f, node, expected, false);
    case AST_Bool: return check_bool(f, (AstBool *)node);
    case AST_Str: return check_str(f, (AstStr *)node);
    case AST_Unary: return check_unary(f, (AstUnary *)node, expected);
    case AST_Binary: return check_binary(f, (AstBinary *)node, expected);
    case AST_If: return check_if(f, (AstIf *)node, expected, true);
    case AST_Block: return check_block(f, (AstBlock *)node, expected, true);
    case AST_Lambda: return check_lambda(f, (AstLambda *)node);
    case AST_Call: return check_call(f, (AstCall *)node, expected);
    case AST_Index: return check_index(f, (AstIndex *)node);
    case AST_Field: return check_field(f, (AstField *)node, expected);
    case AST_Part: return check_part(f, (AstPart *)node);
    case AST_Tuple: return check_tuple(f, (AstTuple *)node, expected);
    case AST_Array: return check_array(f, (AstArray *)node, expected);
    case AST_Comp: return check_comp(f, (AstComp *)node, expected);
    case AST_Deriv: return check_deriv_value(f, (AstDeriv *)node, expected);
    case AST_TypeApply: return check_type_apply(f, (AstTypeApply *)node);
    case AST_Launch: return check_launch(f, (AstLaunch *)node, expected);
    case AST_ActArg:
        diag_report(f->c->diags, DIAG_ACTIVITY_PLACE, node->span,
                    "an activity stands in the call of a derivative only");
        return tree_poison(f, node->span);
    default: return tree_poison(f, node->span);
    }
}

Tree *check_value(FnChecker *f, AstNode *node, Type expected) {
    Tree *tree = check_expr(f, node, expected);
    if (tree->type->kind != TYPE_UNIT || tree->kind == T_TUPLE) return tree;
    if (diverges(tree)) return tree_poison(f, node->span);
    diag_report(f->c->diags, DIAG_NO_VALUE, node->span, "this has no value");
    return tree_poison(f, node->span);
}

Tree *check_condition(FnChecker *f, AstNode *node, const char *what) {
    Tree *cond = check_value(f, node, NULL);
    if (is_poison(cond->type) || is_bool(cond->type)) return cond;
    diag_report(f->c->diags, DIAG_CONDITION, node->span, "%s is of type %s, not bool", what,
                tt(f, cond->type));
    if (is_array(cond->type) && is_bool(cond->type->elem))
        diag_help(f->c->diags, (Span){0}, "write `all(%s)` or `any(%s)`", ast_text(f, node),
                  ast_text(f, node));
    else if (is_numeric(cond->type))
        diag_help(f->c->diags, (Span){0}, "write `%s != 0%s`", ast_text(f, node),
                  is_integer(cond->type) ? "" : ".0");
    return tree_poison(f, node->span);
}

Tree *check_integer(FnChecker *f, AstNode *node, const char *what) {
    Tree *value = check_value(f, node, is_flexible(f, node) ? ty_i64(f) : NULL);
    if (is_poison(value->type) || is_integer(value->type)) return value;
    diag_report(f->c->diags, DIAG_INTEGER, node->span, "%s is of type %s, not an integer", what,
                tt(f, value->type));
    if (is_floating(value->type))
        diag_help(f->c->diags, (Span){0}, "write `i64(%s)`", ast_text(f, node));
    return tree_poison(f, node->span);
}
