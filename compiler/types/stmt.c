/* Statements. */
#include "types/internal.h"

#include <string.h>

static Tree *nothing(FnChecker *f, Span span) {
    return make(f, T_BLOCK, ty_unit(f), span);
}

/* ---- let ---- */

static bool is_open(Size var, void *data) {
    map_set(data, var->id, (void *)var);
    return false;
}

/* `let f: fn(f64) -> f64 = …;` */
static bool declared_function(FnChecker *f, Type declared, const Tree *value) {
    if (value->type->kind == TYPE_FNVAL)
        return fnvalue_fits(f, value->type->fn, declared, value->span, "the value", NULL);
    diag_report(f->c->diags, DIAG_LET_TYPE, value->span, "the value is of type %s, not %s",
                tt(f, value->type), tt(f, declared));
    return false;
}

/* The declared type of a let, its new size names bound to the sizes of the value. */
static Type declare(FnChecker *f, AstLet *node, Tree **value, Tree *let, bool var) {
    Map sizes = {0}, bind = {0};
    TypeScope s = {.f = f,
                   .c = f->c,
                   .module = f->module,
                   .generics = f->generics,
                   .sizes = &sizes,
                   .bind = true,
                   .any = true};
    Type declared = resolve_type(&s, node->type);
    for (uint32_t i = 0; i < sizes.len; i++) is_open(sizes.values[i], &bind);
    *value = check_value(f, node->value, declared);
    Type type = ty_poison(f);
    if (declared->kind == TYPE_FN) {
        if (!is_poison((*value)->type) && declared_function(f, declared, *value))
            type = (*value)->type;
    } else if (!is_poison((*value)->type)) {
        const char *what = "the value";
        if (node->pattern->kind == AST_PatName)
            what = arena_printf(f->c->arena, "the value of `%s`",
                                ((AstPatName *)node->pattern)->name.sym->text);
        Require how = {.code = DIAG_LET_TYPE,
                       .size_code = DIAG_SIZE_ASSIGN,
                       .what = what,
                       .have = is_array((*value)->type) ? ast_text(f, node->value) : NULL,
                       .bind = &bind};
        Type have = (*value)->type;
        *value = require(f, *value, declared, let, &how);
        if (!is_poison((*value)->type)) {
            type = type_subst(f->c->types, declared, &bind);
            if (!var || !is_array(type)) type = required_type(f, declared, have, &bind);
        } else {
            type = declared; /* what was meant: no messages follow from it */
            type = ty_poison(f);
        }
    }
    for (uint32_t i = 0; i < sizes.len; i++) {
        Size open = sizes.values[i], size = map_get(&bind, open->id);
        Local *local = new_local(f, (Sym)(uintptr_t)sizes.keys[i], ty_i64(f), node->type->span);
        local->size = size;
        local->is_size = true;
        bind_local(f, local)->quiet = true;
    }
    map_free(&sizes);
    map_free(&bind);
    return type;
}

static void mark_const(TreePattern *pattern) {
    if (pattern->local) pattern->local->is_const = true;
    for (uint32_t i = 0; i < pattern->nparts; i++) mark_const(&pattern->parts[i]);
}

static void check_twice(FnChecker *f, AstNode *pattern, uint32_t mark) {
    if (pattern->kind == AST_PatTuple) {
        AstPatTuple *tuple = (AstPatTuple *)pattern;
        for (uint32_t i = 0; i < tuple->parts.len; i++) check_twice(f, tuple->parts.at[i], mark);
    } else if (pattern->kind == AST_PatName) {
        Sym name = ((AstPatName *)pattern)->name.sym;
        uint32_t i = mark;
        while (i < f->scope.len && f->scope.at[i].name != name) i++;
        if (i < f->scope.len && f->scope.at[i].local->span.begin != pattern->span.begin)
            diag_report(f->c->diags, DIAG_NAME_TWICE, pattern->span,
                        "`%s` stands twice in this pattern", name->text);
    }
}

static Tree *check_let(FnChecker *f, AstLet *node) {
    Tree *let = make(f, T_LET, ty_unit(f), node->node.span);
    Tree *value;
    Type type;
    if (node->type) {
        type = declare(f, node, &value, let, node->var != 0);
    } else {
        value = check_value(f, node->value, NULL);
        type = value->type;
    }
    bool is_const = false;
    if (node->act) {
        is_const = ((AstActivity *)node->act)->kind == ACT_CONST;
        if (!is_const) {
            diag_report(f->c->diags, DIAG_ACTIVITY_PLACE, node->act->span,
                        "a local is differentiated as needed: only `Const` can be written here");
        }
    }
    if (is_const && !is_poison(value->type)) value = make_stop(f, value);
    uint32_t mark = f->scope.len;
    check_pattern(f, node->pattern, type, node->var != 0, &let->pattern);
    check_twice(f, node->pattern, mark);
    if (is_const) mark_const(&let->pattern);
    if (let->pattern.local) {
        Binding *b = &vec_last(&f->scope);
        if (!node->var) local_set_size(f, let->pattern.local, size_of_tree(f, value));
        if (node->type && node->type->kind == AST_TypeFn) {
            TypeScope s = {.f = f,
                           .c = f->c,
                           .module = f->module,
                           .generics = f->generics,
                           .any = true,
                           .hint = true};
            b->fn_type = resolve_type(&s, node->type);
        }
        if (made_array(f, value) && !node->type)
            map_setp(&f->c->made_arrays, let->pattern.local, value);
        b->int_literal = value->kind == T_INT && !node->type;
    } else if (let->pattern.nparts && value->kind == T_TUPLE) {
        for (uint32_t i = 0; i < let->pattern.nparts && i < value->nargs; i++)
            if (let->pattern.parts[i].local && !node->var)
                local_set_size(f, let->pattern.parts[i].local, size_of_tree(f, value->args[i]));
    }
    if (is_poison(value->type)) return nothing(f, node->node.span);
    let->nargs = 1;
    let->args = ARENA_ARRAY(f->c->arena, Tree *, 1);
    let->args[0] = value;
    return let;
}

/* ---- assignment ---- */

/* `var s = 0; … s += x[i];` */
static bool literal_trap(FnChecker *f, AstAssign *node, const Tree *value) {
    if (node->place->kind != AST_Name || !is_floating(elem_of(value->type))) return false;
    Binding *b = scope_find(f, ((AstName *)node->place)->name.sym);
    if (!b || !b->int_literal || !is_integer(b->local->type)) return false;
    diag_report(f->c->diags, DIAG_INT_VARIABLE, node->node.span,
                "`%s` is an i64, because its first value is the integer literal, but this is of "
                "type %s",
                b->name->text, tt(f, value->type));
    diag_note(f->c->diags, b->local->span, "it is declared here");
    diag_help(f->c->diags, (Span){0}, "write `var %s = 0.0`", b->name->text);
    b->int_literal = false;
    return true;
}

static Tree *assign_compound(FnChecker *f, AstAssign *node, TreePlace *place, Tree *tree) {
    Type hint = elem_of(place->type);
    AstOp op = (AstOp)node->op;
    if (op == AST_OP_POW)
        hint = is_flexible(f, node->value) && node->value->kind == AST_Int ? ty_i64(f) : hint;
    Tree *value = check_value(f, node->value, op == AST_OP_MATMUL ? NULL : hint);
    if (is_poison(value->type)) return value;
    if (literal_trap(f, node, value)) return tree_poison(f, node->node.span);
    Tree *old = place_read(f, place);
    Tree *result = op_binary(f, op, old, value, node->node.span, node->place, node->value);
    if (is_poison(result->type)) return result;
    for (uint32_t i = 0; i < result->nchecks; i++) add_check(f, tree, result->checks[i]);
    Tree *fits = require_place(f, place, result, tree);
    if (is_poison(fits->type)) return fits;
    return result->nargs == 2 ? result->args[1] : value;
}

static Tree *check_assign_tuple(FnChecker *f, AstAssign *node) {
    AstTuple *places = (AstTuple *)node->place;
    uint32_t n = places->parts.len;
    Span span = node->node.span;
    Tree *tree = make(f, T_ASSIGN, ty_unit(f), span);
    tree->targets = ARENA_ARRAY(f->c->arena, TreePlace, n);
    TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, n);
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        TreePlace *place = check_place(f, places->parts.at[i], "assigned");
        if (place) tree->targets[tree->nplaces++] = *place;
        else ok = false;
        parts[i].type = place ? place->type : ty_poison(f);
    }
    if (node->op != AST_OP_NONE) {
        diag_report(f->c->diags, DIAG_NOT_A_PLACE, span, "several places take `=` only");
        ok = false;
    }
    Type want = type_tuple(f->c->types, n, parts);
    Tree *value = check_value(f, node->value, want);
    if (!ok || is_poison(value->type)) return nothing(f, span);
    Require how = {.code = DIAG_ASSIGN_TYPE, .size_code = DIAG_SIZE_ASSIGN, .what = "the value"};
    value = require(f, value, want, tree, &how);
    if (is_poison(value->type)) return nothing(f, span);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (tree->targets[i].local == tree->targets[k].local &&
                places_overlap(f, &tree->targets[i], &tree->targets[k]) == 1)
                diag_report(f->c->diags, DIAG_MUT_OVERLAP, tree->targets[i].span,
                            "this place is assigned twice");
    tree->nargs = 1;
    tree->args = ARENA_ARRAY(f->c->arena, Tree *, 1);
    tree->args[0] = value;
    return tree;
}

static Tree *check_assign(FnChecker *f, AstAssign *node) {
    if (node->place->kind == AST_Tuple) return check_assign_tuple(f, node);
    Span span = node->node.span;
    TreePlace *place = check_place(f, node->place, "assigned");
    if (!place) {
        Tree *value = check_value(f, node->value, NULL);
        (void)value;
        return nothing(f, span);
    }
    Tree *tree = make(f, T_ASSIGN, ty_unit(f), span);
    tree->op = (int32_t)node->op;
    Tree *value;
    if (node->op != AST_OP_NONE) {
        value = assign_compound(f, node, place, tree);
    } else {
        value = check_value(f, node->value, place->type);
        if (!is_poison(value->type) && literal_trap(f, node, value)) return nothing(f, span);
        value = require_place(f, place, value, tree);
        if (!is_poison(value->type) && place->local->is_const) value = make_stop(f, value);
    }
    if (is_poison(value->type)) return nothing(f, span);
    tree->nplaces = 1;
    tree->targets = place;
    tree->nargs = 1;
    tree->args = ARENA_ARRAY(f->c->arena, Tree *, 1);
    tree->args[0] = value;
    return tree;
}

/* ---- loops ---- */

static Tree *check_body_block(FnChecker *f, AstNode *body) {
    Tree *block = check_block(f, AST_AS(Block, body), NULL, false);
    if (block->type->kind != TYPE_UNIT && !is_poison(block->type)) {
        diag_report(f->c->diags, DIAG_VALUE_UNUSED, block->body->span,
                    "the value of a loop's body goes nowhere");
        diag_help(f->c->diags, (Span){0}, "add `;` behind it");
    }
    return block;
}

static int64_t clause(FnChecker *f, AstNode *node) {
    int64_t policy = 0;
    if (node) deriv_checkpoint(f, node, &policy);
    return policy;
}

static Tree *check_for(FnChecker *f, AstFor *node) {
    Tree *tree = make(f, T_FOR, ty_unit(f), node->node.span);
    tree->nheads = 1;
    tree->heads = ARENA_ARRAY(f->c->arena, TreeHead, 1);
    tree->checkpoint = clause(f, node->checkpoint);
    Type elem;
    bool ok = head_iter(f, node->iter, &tree->heads[0], &elem);
    uint32_t mark = f->scope.len;
    tree->heads[0].span = node->pattern->span;
    check_pattern(f, node->pattern, elem, false, &tree->heads[0].pattern);
    for (uint32_t i = mark; i < f->scope.len; i++) f->scope.at[i].quiet = true;
    f->loops++;
    tree->body = check_body_block(f, node->body);
    f->loops--;
    scope_leave(f, mark);
    return ok ? tree : nothing(f, node->node.span);
}

static Tree *check_while(FnChecker *f, AstWhile *node) {
    Tree *cond = check_condition(f, node->cond, "the condition of `while`");
    Tree *tree = make_args(f, T_WHILE, ty_unit(f), node->node.span, 1, &cond);
    tree->checkpoint = clause(f, node->checkpoint);
    f->loops++;
    tree->body = check_body_block(f, node->body);
    f->loops--;
    return tree;
}

static Tree *check_jump(FnChecker *f, AstNode *node, TreeKind kind) {
    if (!f->loops) {
        const char *word = kind == T_BREAK ? "break" : "continue";
        if (f->parallel)
            diag_report(f->c->diags, DIAG_PARALLEL_JUMP, node->span,
                        "`%s` cannot leave %s: its iterations run in any order", word,
                        f->parallel_what);
        else diag_report(f->c->diags, DIAG_NO_LOOP, node->span, "`%s` stands in no loop", word);
        return nothing(f, node->span);
    }
    return make(f, kind, ty_unit(f), node->span);
}

static Tree *check_return(FnChecker *f, AstReturn *node) {
    Span span = node->node.span;
    if (f->no_return || f->parallel) {
        diag_report(f->c->diags, DIAG_PARALLEL_JUMP, span, "`return` cannot leave %s",
                    f->parallel                      ? f->parallel_what
                    : f->inst->kind == INSTANCE_RULE ? "`augmented`: it ends with its value"
                                                     : "a lambda");
        if (node->value) check_value(f, node->value, NULL);
        return nothing(f, span);
    }
    Tree *tree = make(f, T_RETURN, ty_unit(f), span);
    bool wants = f->result && f->result->kind != TYPE_UNIT;
    if (!node->value) {
        if (wants && !is_poison(f->result))
            diag_report(f->c->diags, DIAG_RESULT_MISSING, span,
                        "`return` without a value in a function with a result of type %s",
                        tt(f, f->result));
        return tree;
    }
    Tree *value = check_value(f, node->value, wants ? f->result : NULL);
    if (!wants) {
        if (!is_poison(value->type))
            diag_report(f->c->diags, DIAG_VALUE_UNEXPECTED, span,
                        "`%s` has no result, but a value is returned", f->inst->name);
        return tree;
    }
    value = require_result(f, value);
    tree->nargs = 1;
    tree->args = ARENA_ARRAY(f->c->arena, Tree *, 1);
    tree->args[0] = value;
    return tree;
}

/* ---- the rest ---- */

static Tree *check_assert(FnChecker *f, AstAssert *node) {
    Tree *args[2] = {check_condition(f, node->cond, "what is asserted"), NULL};
    uint32_t n = 1;
    if (node->message) {
        args[n++] = check_value(f, node->message, NULL);
        if (args[1]->type->kind != TYPE_STR && !is_poison(args[1]->type))
            diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, node->message->span,
                        "the message is of type %s, not str", tt(f, args[1]->type));
    }
    return make_args(f, T_ASSERT, ty_unit(f), node->node.span, n, args);
}

static bool has_effect(const AstNode *node) {
    switch ((AstKind)node->kind) {
    case AST_Call:
    case AST_If:
    case AST_Block:
    case AST_Launch: return true;
    default: return false;
    }
}

static Tree *check_expr_stmt(FnChecker *f, AstExprStmt *node) {
    AstNode *value = node->value;
    Tree *tree;
    if (value->kind == AST_If) tree = check_if(f, (AstIf *)value, NULL, false);
    else if (value->kind == AST_Block) tree = check_block(f, (AstBlock *)value, NULL, false);
    else tree = check_expr(f, value, NULL);
    bool is_value = tree->type->kind != TYPE_UNIT && !is_poison(tree->type);
    if (is_value && (value->kind == AST_If || value->kind == AST_Block)) {
        diag_report(f->c->diags, DIAG_VALUE_UNUSED, value->span, "this value goes nowhere");
    } else if (is_value && !has_effect(value)) {
        diag_report(f->c->diags, DIAG_UNUSED_VALUE, value->span, "this value is not used");
    }
    return make_args(f, T_EXPR, ty_unit(f), node->node.span, 1, &tree);
}

Tree *check_stmt(FnChecker *f, AstNode *node) {
    if (node->poison) return nothing(f, node->span);
    switch ((AstKind)node->kind) {
    case AST_Let: return check_let(f, (AstLet *)node);
    case AST_Assign: return check_assign(f, (AstAssign *)node);
    case AST_ExprStmt: return check_expr_stmt(f, (AstExprStmt *)node);
    case AST_Assert: return check_assert(f, (AstAssert *)node);
    case AST_Return: return check_return(f, (AstReturn *)node);
    case AST_Break: return check_jump(f, node, T_BREAK);
    case AST_Continue: return check_jump(f, node, T_CONTINUE);
    case AST_For: return check_for(f, (AstFor *)node);
    case AST_While: return check_while(f, (AstWhile *)node);
    case AST_Shared: return check_shared(f, (AstShared *)node);
    default: return nothing(f, node->span);
    }
}
