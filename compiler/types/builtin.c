/* Calls of builtins.def: scalars, values and the world; arrays are in builtin_array.c. */
#include "types/builtin.h"

#include <string.h>

/* ---- arguments ---- */

AstNode *builtin_arg_node(const AstCall *call, uint32_t i) {
    AstNode *node = call->args.at[i];
    return node->kind == AST_Arg ? ((AstArg *)node)->value : node;
}

Tree *builtin_arg(BuiltinCall *b, uint32_t i, Type expected) {
    Tree *value = check_arg(b->f, b->nodes[i], expected);
    if (is_poison(value->type)) b->failed = true;
    return value;
}

Tree *builtin_refuse(BuiltinCall *b, const Tree *arg, const char *wants) {
    FnChecker *f = b->f;
    if (!is_poison(arg->type))
        diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, arg->span,
                    "`%s` takes %s, not a value of type %s", b->name, wants, tt(f, arg->type));
    return tree_poison(f, b->span);
}

Tree *builtin_node(BuiltinCall *b, Type type, uint32_t n, Tree *const *args) {
    Tree *tree = make_args(b->f, T_BUILTIN, type, b->span, n, args);
    tree->builtin = b->row;
    return tree;
}

static const struct {
    int8_t min, max;
} ARITY[] = {
#define BUILTIN(name, text, least, most) {least, most},
#include "lang/builtins.def"
#undef BUILTIN
};

/* Names of parameters that are passed by name. */
static const char *const NEAR_NAMES[] = {"a", "b", "rtol", "atol", NULL};
static const char *const SCAN_NAMES[] = {"op", "unit", "xs", "exclusive", NULL};
static const char *const REDUCE_NAMES[] = {"op", "unit", "xs", NULL};
static const char *const ACCUMULATE_NAMES[] = {"op", "into", "indices", "values", NULL};
static const char *const LOAD_NAMES[] = {"path", "words", NULL};

static const char *const *param_names(int32_t row) {
    switch (row) {
    case BUILTIN_NEAR: return NEAR_NAMES;
    case BUILTIN_SCAN: return SCAN_NAMES;
    case BUILTIN_REDUCE: return REDUCE_NAMES;
    case BUILTIN_ACCUMULATE: return ACCUMULATE_NAMES;
    case BUILTIN_LOAD_TEXT: return LOAD_NAMES;
    default: return NULL;
    }
}

static bool collect_named(BuiltinCall *b, const char *const *texts) {
    FnChecker *f = b->f;
    uint32_t n = 0;
    Sym names[4];
    bool optional[4];
    CallArg args[4];
    while (texts[n]) {
        names[n] = intern(f->c->interner, texts[n]);
        optional[n] = (int)n >= ARITY[b->row].min;
        n++;
    }
    if (!match_args(f, b->call, b->name, n, names, optional, args)) return false;
    for (uint32_t i = 0; i < n; i++) b->nodes[i] = args[i].node;
    b->n = n;
    return true;
}

static bool collect(BuiltinCall *b) {
    FnChecker *f = b->f;
    b->nodes = ARENA_ARRAY(f->c->arena, AstNode *, b->call->args.len + 4);
    const char *const *names = param_names(b->row);
    if (names) return collect_named(b, names);
    b->n = b->call->args.len;
    int least = ARITY[b->row].min, most = ARITY[b->row].max;
    if ((int)b->n < least || (int)b->n > most) {
        if (least == most)
            diag_report(f->c->diags, DIAG_ARGUMENT_COUNT, b->span,
                        "`%s` takes %d argument%s, not %u", b->name, least, least == 1 ? "" : "s",
                        b->n);
        else
            diag_report(f->c->diags, DIAG_ARGUMENT_COUNT, b->span,
                        "`%s` takes %d to %d arguments, not %u", b->name, least, most, b->n);
        return false;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        AstNode *node = b->call->args.at[i];
        if (node->kind == AST_Arg && ((AstArg *)node)->name.sym) {
            AstIdent name = ((AstArg *)node)->name;
            diag_report(f->c->diags, DIAG_ARGUMENT_NAME, name.span, "`%s` has no parameter `%s`",
                        b->name, name.sym->text);
            return false;
        }
        b->nodes[i] = builtin_arg_node(b->call, i);
    }
    return true;
}

/* ---- scalar functions ---- */

typedef enum Takes { TAKES_INT, TAKES_REAL } Takes;

static bool takes(Takes what, Type t) {
    return is_integer(t) || (what == TAKES_REAL && is_floating(t));
}

static Tree *wide(FnChecker *f, Tree *value) {
    Type t = elem_of(value->type);
    bool storage = is_scalar_of(t, SCALAR_F16) || is_scalar_of(t, SCALAR_BF16);
    return storage ? make_cast(f, value, SCALAR_F32, value->span) : value;
}

/* All arguments of one scalar type (but the count of a shift), element by element on arrays. */
static Tree *scalar_fn(BuiltinCall *b, Takes what, Type expected) {
    FnChecker *f = b->f;
    Tree *args[2] = {NULL, NULL};
    bool shift = b->row == BUILTIN_SHL || b->row == BUILTIN_SHR;
    bool context = expected && takes(what, elem_of(expected));
    Type hint = context ? elem_of(expected) : NULL;
    if (b->n == 2 && !shift && is_flexible(f, b->nodes[0]) && !is_flexible(f, b->nodes[1])) {
        args[1] = wide(f, builtin_arg(b, 1, hint));
        hint = elem_of(args[1]->type);
    }
    args[0] = wide(f, builtin_arg(b, 0, hint));
    if (b->n == 2 && !args[1])
        args[1] = wide(f, builtin_arg(b, 1, shift ? ty_i64(f) : elem_of(args[0]->type)));
    if (b->failed) return tree_poison(f, b->span);
    Type elem = elem_of(args[0]->type);
    if (b->others && is_scalar(elem) && is_complex(elem)) {
        f->pre_node = b->nodes[0];
        f->pre_value = args[0];
        return NULL;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        Type t = elem_of(args[i]->type);
        bool fits = i && shift ? is_integer(t) : takes(what, t);
        if (!fits)
            return builtin_refuse(b, args[i],
                                  what == TAKES_INT ? "integers" : "integers or floats");
        if (i && !shift && t != elem) {
            diag_report(f->c->diags, DIAG_OPERANDS, b->span,
                        "the arguments of `%s` are of types %s and %s", b->name,
                        tt(f, args[0]->type), tt(f, args[1]->type));
            return tree_poison(f, b->span);
        }
    }
    Tree *tree = builtin_node(b, elem, b->n, args);
    tree->kind = T_SCALAR_FN;
    Type shape;
    if (!lift_shape(f, tree, 0, &shape, b->name)) return tree_poison(f, b->span);
    tree->lifted = shape != NULL;
    tree->type = lift_type(f, elem, shape);
    return tree;
}

static Tree *call_complex(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    bool single = expected && is_scalar_of(elem_of(expected), SCALAR_C64);
    Type hint = type_scalar(f->c->types, single ? SCALAR_F32 : SCALAR_F64);
    Tree *args[2] = {NULL, NULL};
    bool swap = literal_after(f, b->nodes[0], b->nodes[1]);
    args[swap] = builtin_arg(b, swap, hint);
    args[!swap] = builtin_arg(b, !swap, elem_of(args[swap]->type));
    if (b->failed) return tree_poison(f, b->span);
    Type t = elem_of(args[0]->type);
    if (!is_scalar_of(t, SCALAR_F32) && !is_scalar_of(t, SCALAR_F64))
        return builtin_refuse(b, args[0], "two floats");
    if (elem_of(args[1]->type) != t) return builtin_refuse(b, args[1], tt(f, t));
    Type result = type_scalar(f->c->types, t->scalar == SCALAR_F32 ? SCALAR_C64 : SCALAR_C128);
    Tree *tree = builtin_node(b, result, 2, args);
    Type shape;
    if (!lift_shape(f, tree, 0, &shape, b->name)) return tree_poison(f, b->span);
    tree->lifted = shape != NULL;
    tree->type = lift_type(f, result, shape);
    return tree;
}

static Tree *call_complex_part(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    Type t = elem_of(arg->type);
    if (!is_complex(t)) return builtin_refuse(b, arg, "complex numbers");
    Type result = t;
    if (b->row != BUILTIN_CONJ)
        result = type_scalar(f->c->types, t->scalar == SCALAR_C64 ? SCALAR_F32 : SCALAR_F64);
    Tree *tree = builtin_node(b, result, 1, &arg);
    tree->lifted = is_array(arg->type);
    tree->type = lift_type(f, result, tree->lifted ? arg->type : NULL);
    return tree;
}

static Tree *call_select(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    Tree *args[3];
    args[0] = builtin_arg(b, 0, NULL);
    bool swap = literal_after(f, b->nodes[1], b->nodes[2]);
    uint32_t first = swap ? 2 : 1, second = swap ? 1 : 2;
    args[first] = builtin_arg(b, first, expected);
    args[second] = builtin_arg(b, second, args[first]->type);
    if (b->failed) return tree_poison(f, b->span);
    if (!is_bool(elem_of(args[0]->type))) return builtin_refuse(b, args[0], "a bool first");
    if (!is_scalar_like(args[1]->type))
        return builtin_refuse(b, args[1], "scalars or arrays of them");
    if (elem_of(args[1]->type) != elem_of(args[2]->type)) {
        diag_report(f->c->diags, DIAG_OPERANDS, b->span,
                    "the values of `select` are of types %s and %s", tt(f, args[1]->type),
                    tt(f, args[2]->type));
        return tree_poison(f, b->span);
    }
    Tree *tree = builtin_node(b, elem_of(args[1]->type), 3, args);
    Type shape;
    if (!lift_shape(f, tree, 0, &shape, b->name)) return tree_poison(f, b->span);
    tree->lifted = shape != NULL;
    tree->type = lift_type(f, elem_of(args[1]->type), shape);
    return tree;
}

static Tree *call_near(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *args[4];
    bool swap = literal_after(f, b->nodes[0], b->nodes[1]);
    args[swap] = builtin_arg(b, swap, NULL);
    args[!swap] = builtin_arg(b, !swap, args[swap]->type);
    if (b->failed) return tree_poison(f, b->span);
    Type t = elem_of(args[0]->type);
    if (!is_scalar_like(args[0]->type) || (!is_floating(t) && !is_complex(t)))
        return builtin_refuse(b, args[0], "floats or arrays of them");
    Tree *tree = builtin_node(b, ty_bool(f), 0, NULL);
    if (elem_of(args[1]->type) != t || args[0]->type->rank != args[1]->type->rank) {
        diag_report(f->c->diags, DIAG_OPERANDS, b->span, "`near` compares %s with %s",
                    tt(f, args[0]->type), tt(f, args[1]->type));
        return tree_poison(f, b->span);
    }
    if (is_array(args[0]->type) &&
        !require_same_dims(f, args[0]->type, args[1]->type, tree, b->span, ast_text(f, b->nodes[0]),
                           ast_text(f, b->nodes[1]), DIAG_SHAPES))
        return tree_poison(f, b->span);
    Type real = is_scalar_of(t, SCALAR_C128)  ? ty_f64(f)
                : is_scalar_of(t, SCALAR_C64) ? type_scalar(f->c->types, SCALAR_F32)
                                              : t;
    uint32_t n = 2;
    for (uint32_t i = 2; i < 4; i++) {
        if (!b->nodes[i]) continue;
        args[n] = builtin_arg(b, i, real);
        if (!is_floating(args[n]->type)) return builtin_refuse(b, args[n], "a float as tolerance");
        n++;
    }
    tree->nargs = n;
    tree->args = ARENA_ARRAY(f->c->arena, Tree *, n);
    for (uint32_t i = 0; i < n; i++) tree->args[i] = args[i];
    return tree;
}

/* ---- the world ---- */

static Tree *call_print(BuiltinCall *b) {
    FnChecker *f = b->f;
    if (!b->n) return builtin_node(b, ty_unit(f), 0, NULL);
    Tree *arg = builtin_arg(b, 0, NULL);
    if (arg->type->has_fns || arg->type->kind == TYPE_TAPE) {
        diag_report(f->c->diags, DIAG_PRINTABLE, arg->span, "a value of type %s cannot be shown",
                    tt(f, arg->type));
        return tree_poison(f, b->span);
    }
    return builtin_node(b, ty_unit(f), 1, &arg);
}

static bool want_str(BuiltinCall *b, const Tree *arg) {
    if (arg->type->kind == TYPE_STR) return true;
    builtin_refuse(b, arg, "a path, a str,");
    return false;
}

static Tree *call_save(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *args[2] = {builtin_arg(b, 0, NULL), builtin_arg(b, 1, NULL)};
    if (b->failed || !want_str(b, args[0])) return tree_poison(f, b->span);
    if (!is_scalar_like(args[1]->type))
        return builtin_refuse(b, args[1], "a scalar or an array of them");
    return builtin_node(b, ty_unit(f), 2, args);
}

static Tree *call_load(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    Tree *path = builtin_arg(b, 0, NULL);
    if (b->failed || !want_str(b, path)) return tree_poison(f, b->span);
    Type elem = ty_f64(f);
    uint32_t rank = b->row == BUILTIN_LOAD_CSV ? 2 : 0;
    if (expected && is_array(expected) && is_scalar(expected->elem)) {
        elem = expected->elem;
        rank = expected->rank;
    }
    if (!rank) {
        diag_report(f->c->diags, DIAG_CANNOT_INFER, b->span,
                    "the type of what `%s` reads is not known", b->name);
        diag_help(f->c->diags, (Span){0}, "declare it: `let x: [n, m]f64 = %s(…);`", b->name);
        return tree_poison(f, b->span);
    }
    Size *dims = ARENA_ARRAY(f->c->arena, Size, rank);
    for (uint32_t i = 0; i < rank; i++) dims[i] = size_var(f->c->types, NULL);
    return builtin_node(b, type_array(f->c->types, elem, rank, dims), 1, &path);
}

static Tree *call_load_text(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *args[2] = {builtin_arg(b, 0, NULL), NULL};
    if (b->failed || !want_str(b, args[0])) return tree_poison(f, b->span);
    uint32_t n = 1;
    if (b->nodes[1]) {
        args[n++] = builtin_arg(b, 1, NULL);
        if (!is_bool(args[1]->type)) return builtin_refuse(b, args[1], "`words`, a bool,");
    }
    Size dims[1] = {size_var(f->c->types, NULL)};
    return builtin_node(b, type_array(f->c->types, ty_f64(f), 1, dims), n, args);
}

static Tree *call_progress(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *args[3] = {builtin_arg(b, 0, ty_i64(f)), builtin_arg(b, 1, ty_i64(f)),
                     builtin_arg(b, 2, NULL)};
    if (b->failed) return tree_poison(f, b->span);
    for (uint32_t i = 0; i < 2; i++)
        if (!is_scalar_of(args[i]->type, SCALAR_I64)) return builtin_refuse(b, args[i], "two i64");
    if (args[2]->type->kind != TYPE_STR) return builtin_refuse(b, args[2], "a str last");
    return builtin_node(b, ty_unit(f), 3, args);
}

static Tree *call_tape_bytes(BuiltinCall *b) {
    Tree *arg = builtin_arg(b, 0, NULL);
    if (arg->type->kind != TYPE_TAPE) return builtin_refuse(b, arg, "a tape");
    return builtin_node(b, ty_i64(b->f), 1, &arg);
}

/* ---- any value ---- */

static Tree *call_like(BuiltinCall *b) {
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    Type t = arg->type;
    if (t->has_fns || t->kind == TYPE_STR || t->kind == TYPE_TAPE)
        return builtin_refuse(b, arg, "numbers, arrays, tuples and structs");
    return builtin_node(b, t, 1, &arg);
}

static Tree *call_stop(BuiltinCall *b, Type expected) {
    Tree *arg = builtin_arg(b, 0, expected);
    if (b->failed) return arg;
    if (arg->type->has_fns) return builtin_refuse(b, arg, "values");
    return make_stop(b->f, arg);
}

static Tree *dispatch_scalar(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    switch (b->row) {
    case BUILTIN_REM:
    case BUILTIN_BAND:
    case BUILTIN_BOR:
    case BUILTIN_BXOR:
    case BUILTIN_BNOT:
    case BUILTIN_SHL:
    case BUILTIN_SHR:
    case BUILTIN_MULHI: return scalar_fn(b, TAKES_INT, expected);
    case BUILTIN_ABS:
    case BUILTIN_MIN2:
    case BUILTIN_MAX2: return scalar_fn(b, TAKES_REAL, expected);
    case BUILTIN_COMPLEX: return call_complex(b, expected);
    case BUILTIN_RE:
    case BUILTIN_IM:
    case BUILTIN_CONJ: return call_complex_part(b);
    case BUILTIN_SELECT: return call_select(b, expected);
    case BUILTIN_NEAR: return call_near(b);
    case BUILTIN_STOP: return call_stop(b, expected);
    case BUILTIN_ZEROS_LIKE:
    case BUILTIN_ONES_LIKE: return call_like(b);
    case BUILTIN_PRINT: return call_print(b);
    case BUILTIN_SAVE: return call_save(b);
    case BUILTIN_LOAD_NPY:
    case BUILTIN_LOAD_CSV: return call_load(b, expected);
    case BUILTIN_LOAD_TEXT: return call_load_text(b);
    case BUILTIN_ARGS:
        diag_report(f->c->diags, DIAG_NOT_YET, b->span, "`args` is not supported yet");
        diag_help(f->c->diags, (Span){0}, "the parameters of `main` are command-line options");
        return tree_poison(f, b->span);
    case BUILTIN_TIME: return builtin_node(b, ty_f64(f), 0, NULL);
    case BUILTIN_PROGRESS: return call_progress(b);
    case BUILTIN_TAPE_BYTES: return call_tape_bytes(b);
    default: return builtin_array_call(b, expected);
    }
}

Tree *call_builtin(FnChecker *f, int32_t row, AstCall *call, Type expected, bool others) {
    if (row >= BUILTIN_SUM && row <= BUILTIN_ARGMAX) return check_reduction(f, call, row, expected);
    BuiltinCall b = {.f = f, .row = row, .call = call, .span = call->node.span, .others = others};
    b.name = fnvalue_of_row(f->c, -1, row)->name;
    if (!collect(&b)) {
        mark_names(f, (AstNode *)call);
        return tree_poison(f, b.span);
    }
    return dispatch_scalar(&b, expected);
}
