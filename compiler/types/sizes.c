/* Sizes of values: integers that are array sizes, and sizes that leave their scope. */
#include "types/internal.h"

#include <string.h>

static Size size_of_op(FnChecker *f, const Tree *value) {
    TypeTable *t = f->c->types;
    if (value->lifted) return NULL;
    Size a = size_of_tree(f, value->args[0]);
    if (!a) return NULL;
    if (value->nargs == 1)
        return value->op == AST_OP_NEG ? size_minus(t, size_const(t, 0), a) : NULL;
    Size b = size_of_tree(f, value->args[1]);
    if (!b) return NULL;
    switch (value->op) {
    case AST_OP_ADD: return size_plus(t, a, b);
    case AST_OP_SUB: return size_minus(t, a, b);
    case AST_OP_MUL: return size_times(t, a, b);
    case AST_OP_DIV:
        return b->kind == SIZE_CONST && b->value > 0 ? size_binary(t, SIZE_DIV, a, b) : NULL;
    case AST_OP_MOD:
        return b->kind == SIZE_CONST && b->value > 0 ? size_binary(t, SIZE_MOD, a, b) : NULL;
    default: return NULL;
    }
}

static Size size_of_call(FnChecker *f, const Tree *value) {
    const char *name = value->instance->decl ? value->instance->decl->name->text : "";
    bool least = !strcmp(name, "min"), most = !strcmp(name, "max");
    const Module *m = value->instance->decl ? value->instance->decl->module : NULL;
    if ((!least && !most) || m != f->c->modules.prelude || value->nargs != 2 || value->lifted)
        return NULL;
    Size a = size_of_tree(f, value->args[0]), b = size_of_tree(f, value->args[1]);
    return a && b ? size_binary(f->c->types, least ? SIZE_LEAST : SIZE_GREATEST, a, b) : NULL;
}

Size size_of_tree(FnChecker *f, const Tree *value) {
    if (!is_scalar_of(value->type, SCALAR_I64)) return NULL;
    switch (value->kind) {
    case T_INT: return size_const(f->c->types, value->value);
    case T_SIZE: return value->size;
    case T_LOCAL: return value->local->size;
    case T_OP: return size_of_op(f, value);
    case T_CALL: return size_of_call(f, value);
    case T_BLOCK: return !value->nstmts && value->body ? size_of_tree(f, value->body) : NULL;
    case T_BUILTIN:
        if (value->builtin == BUILTIN_LEN && is_array(value->args[0]->type))
            return value->args[0]->type->dims[0];
        return NULL;
    case T_PART: {
        const Tree *base = value->args[0];
        if (base->kind == T_BUILTIN && base->builtin == BUILTIN_SHAPE)
            return base->args[0]->type->dims[value->index];
        return NULL;
    }
    default: return NULL;
    }
}

Size size_of(FnChecker *f, const Tree *value, Sym name) {
    Size size = size_of_tree(f, value);
    return size ? size : size_var(f->c->types, name);
}

typedef struct Leave {
    FnChecker *f;
    uint32_t mark;
    Map fresh;
} Leave;

static bool leave_var(Size var, void *data) {
    Leave *leave = data;
    if (var->id >= leave->mark && !map_has(&leave->fresh, var->id))
        map_set(&leave->fresh, var->id, (void *)size_var(leave->f->c->types, var->name));
    return false;
}

Type type_leave(FnChecker *f, Type type, uint32_t mark) {
    Leave leave = {.f = f, .mark = mark};
    type_mentions(type, leave_var, &leave);
    Type left = type_subst(f->c->types, type, &leave.fresh);
    map_free(&leave.fresh);
    return left;
}
