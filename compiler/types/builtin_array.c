/* Built-in functions of arrays. */
#include "types/builtin.h"

#include <string.h>

static Tree *call_len(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    if (arg->type->kind == TYPE_TUPLE) return make_int(f, arg->type->nparts, ty_i64(f), b->span);
    if (!is_array(arg->type)) return builtin_refuse(b, arg, "an array");
    return builtin_node(b, ty_i64(f), 1, &arg);
}

static Tree *call_shape(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    if (!is_array(arg->type)) return builtin_refuse(b, arg, "an array");
    TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, arg->type->rank);
    for (uint32_t i = 0; i < arg->type->rank; i++) parts[i].type = ty_i64(f);
    return builtin_node(b, type_tuple(f->c->types, arg->type->rank, parts), 1, &arg);
}

static Tree *size_argument(BuiltinCall *b, uint32_t i) {
    FnChecker *f = b->f;
    Tree *arg = check_integer(f, b->nodes[i], "a size");
    if (is_poison(arg->type)) b->failed = true;
    else if (!is_scalar_of(arg->type, SCALAR_I64)) arg = make_cast(f, arg, SCALAR_I64, arg->span);
    Size size = size_of_tree(f, arg);
    if (size && size->kind == SIZE_CONST && size->value < 0) {
        diag_report(f->c->diags, DIAG_SIZE_NEGATIVE, arg->span, "a size cannot be negative");
        b->failed = true;
    }
    return arg;
}

static Tree *call_zeros(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    Type elem = expected && is_numeric(elem_of(expected)) ? elem_of(expected) : ty_f64(f);
    Tree **args = ARENA_ARRAY(f->c->arena, Tree *, b->n);
    Size *dims = ARENA_ARRAY(f->c->arena, Size, b->n);
    for (uint32_t i = 0; i < b->n; i++) {
        args[i] = size_argument(b, i);
        if (!b->failed) dims[i] = size_of(f, args[i], NULL);
    }
    if (b->failed) return tree_poison(f, b->span);
    return builtin_node(b, type_array(f->c->types, elem, b->n, dims), b->n, args);
}

static Tree *call_iota(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *arg = size_argument(b, 0);
    if (b->failed) return arg;
    Size dims[1] = {size_of(f, arg, NULL)};
    return builtin_node(b, type_array(f->c->types, ty_i64(f), 1, dims), 1, &arg);
}

static Tree *call_transpose(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    if (!is_array(arg->type) || arg->type->rank != 2) return builtin_refuse(b, arg, "a matrix");
    Size dims[2] = {arg->type->dims[1], arg->type->dims[0]};
    return builtin_node(b, type_array(f->c->types, arg->type->elem, 2, dims), 1, &arg);
}

/* The first dimension goes behind the others. */
static Tree *call_rotate(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    if (!is_array(arg->type)) return builtin_refuse(b, arg, "an array");
    uint32_t rank = arg->type->rank;
    Size *dims = ARENA_ARRAY(f->c->arena, Size, rank);
    for (uint32_t k = 0; k < rank; k++) dims[k] = arg->type->dims[(k + 1) % rank];
    return builtin_node(b, type_array(f->c->types, arg->type->elem, rank, dims), 1, &arg);
}

/* A size that is not known by itself gets a name, so that the check can speak of it. */
static Tree *named_size(FnChecker *f, Tree *arg, Size *size, Tree **lets, uint32_t *nlets) {
    *size = size_of_tree(f, arg);
    if (*size) return arg;
    *size = size_var(f->c->types, NULL);
    Local *local = new_local(f, NULL, arg->type, arg->span);
    local->size = *size;
    Tree *let = make_args(f, T_LET, ty_unit(f), arg->span, 1, &arg);
    let->pattern.local = local;
    lets[(*nlets)++] = let;
    return make_local(f, local, arg->span);
}

static Tree *call_reshape(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    TypeTable *t = f->c->types;
    Tree **args = ARENA_ARRAY(f->c->arena, Tree *, b->n);
    Tree **lets = ARENA_ARRAY(f->c->arena, Tree *, b->n);
    Size *dims = ARENA_ARRAY(f->c->arena, Size, b->n);
    uint32_t nlets = 0;
    args[0] = builtin_arg(b, 0, expected ? elem_of(expected) : NULL);
    Size want = size_const(t, 1), have = size_const(t, 1);
    for (uint32_t i = 1; i < b->n; i++) {
        args[i] = size_argument(b, i);
        if (b->failed) continue;
        args[i] = named_size(f, args[i], &dims[i - 1], lets, &nlets);
        want = size_times(t, want, dims[i - 1]);
    }
    if (b->failed) return tree_poison(f, b->span);
    Type type = args[0]->type;
    if (!is_array(type)) return builtin_refuse(b, args[0], "an array");
    for (uint32_t i = 0; i < type->rank; i++) have = size_times(t, have, type->dims[i]);
    Tree *tree = builtin_node(b, type_array(t, type->elem, b->n - 1, dims), b->n, args);
    SizeRel rel = size_compare(want, have);
    if (rel == SIZE_DIFFERENT) {
        diag_report(f->c->diags, DIAG_RESHAPE, b->span, "%s elements do not make an array of %s",
                    size_text(t, have), size_text(t, want));
        return tree_poison(f, b->span);
    }
    if (rel == SIZE_UNKNOWN)
        add_check(f, tree,
                  (TreeCheck){.a = want,
                              .b = have,
                              .span = b->span,
                              .a_text = "the new shape",
                              .b_text = "the array",
                              .message = "reshape: {1} elements do not make an array of {0}"});
    return with_lets(f, nlets, lets, tree);
}

static Tree *call_flatten(BuiltinCall *b) {
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    if (!is_array(arg->type)) return builtin_refuse(b, arg, "an array");
    return flatten(b->f, arg);
}

/* All arguments, the first that knows its type deciding for literals. */
static bool arguments_alike(BuiltinCall *b, Tree **args, Type expected) {
    FnChecker *f = b->f;
    Type hint = expected;
    for (uint32_t i = 0; i < b->n; i++)
        if (!is_flexible(f, b->nodes[i])) {
            args[i] = builtin_arg(b, i, hint);
            hint = args[i]->type;
        }
    for (uint32_t i = 0; i < b->n; i++) {
        if (!args[i]) args[i] = builtin_arg(b, i, hint);
        if (!hint) hint = args[i]->type;
    }
    return !b->failed;
}

static Tree *call_concat(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    TypeTable *t = f->c->types;
    Tree **args = ARENA_ARRAY(f->c->arena, Tree *, b->n);
    if (!arguments_alike(b, args, expected)) return tree_poison(f, b->span);
    Tree *tree = builtin_node(b, ty_poison(f), b->n, args);
    Type first = args[0]->type;
    Size total = size_const(t, 0);
    for (uint32_t i = 0; i < b->n; i++) {
        Type type = args[i]->type;
        if (!is_array(type)) {
            Tree *poison = builtin_refuse(b, args[i], "arrays");
            if (same_shape(type, elem_of(first)))
                diag_help(f->c->diags, (Span){0}, "write `[%s]`", ast_text(f, b->nodes[i]));
            return poison;
        }
        if (!same_shape(type, first)) return builtin_refuse(b, args[i], "arrays of one type");
        total = size_plus(t, total, type->dims[0]);
        if (type->rank > 1 &&
            !require_same_dims(f, type_drop_dims(t, first, 1), type_drop_dims(t, type, 1), tree,
                               args[i]->span, "the first array's rows", "this array's rows",
                               DIAG_SHAPES))
            return tree_poison(f, b->span);
    }
    Size *dims = ARENA_ARRAY(f->c->arena, Size, first->rank);
    for (uint32_t i = 0; i < first->rank; i++) dims[i] = i ? first->dims[i] : total;
    tree->type = type_array(t, first->elem, first->rank, dims);
    return tree;
}

static Tree *call_stack(BuiltinCall *b, Type expected) {
    AstArray array = {.node = {.kind = AST_Array, .span = b->span}, .parts = {b->nodes, b->n}};
    return check_array(b->f, &array, expected);
}

static Tree *call_zip(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree **args = ARENA_ARRAY(f->c->arena, Tree *, b->n);
    TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, b->n);
    for (uint32_t i = 0; i < b->n; i++) {
        args[i] = builtin_arg(b, i, NULL);
        if (!b->failed && !is_array(args[i]->type)) return builtin_refuse(b, args[i], "arrays");
        parts[i] = (TypePart){.type = elem_of(args[i]->type)};
    }
    if (b->failed) return tree_poison(f, b->span);
    Tree *tree = builtin_node(b, ty_poison(f), b->n, args);
    Type first = args[0]->type;
    for (uint32_t i = 1; i < b->n; i++) {
        if (args[i]->type->rank != first->rank)
            return builtin_refuse(b, args[i], "arrays of one shape");
        if (!require_same_dims(f, first, args[i]->type, tree, args[i]->span, "the first array",
                               "this one", DIAG_SHAPES))
            return tree_poison(f, b->span);
    }
    tree->type =
        type_array(f->c->types, type_tuple(f->c->types, b->n, parts), first->rank, first->dims);
    return tree;
}

static Tree *call_unzip(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    Type type = arg->type, elem = elem_of(type);
    if (!is_array(type) || (elem->kind != TYPE_TUPLE && elem->kind != TYPE_STRUCT))
        return builtin_refuse(b, arg, "an array of tuples");
    TypePart *parts = ARENA_ARRAY(f->c->arena, TypePart, elem->nparts);
    for (uint32_t i = 0; i < elem->nparts; i++) {
        parts[i] = elem->parts[i];
        parts[i].type = type_array(f->c->types, parts[i].type, type->rank, type->dims);
    }
    return builtin_node(b, type_tuple(f->c->types, elem->nparts, parts), 1, &arg);
}

/* ---- functions of functions ---- */

/* Argument 0 as a function of N arguments of TYPE with that result; NULL after reporting. */
static Instance *operator_instance(BuiltinCall *b, const Tree *fn, uint32_t n, Type type) {
    FnChecker *f = b->f;
    if (fn->type->kind != TYPE_FNVAL) {
        builtin_refuse(b, fn, "a function first");
        return NULL;
    }
    Type types[15];
    for (uint32_t i = 0; i < n && i < 15; i++) types[i] = type;
    Instance *inst = instance_of_fnvalue(f->c, fn->type->fn, n, types, fn->span);
    if (!inst) return NULL;
    if (!same_shape(inst->result, type) || inst->result->kind == TYPE_UNIT) {
        diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, fn->span,
                    "the function given to `%s` returns %s, not %s", b->name, tt(f, inst->result),
                    tt(f, type));
        return NULL;
    }
    return inst;
}

static Tree *call_fold(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    Tree *args[4];
    Type array_hint = expected && b->row == BUILTIN_SCAN ? expected : NULL;
    args[2] = builtin_arg(b, 2, array_hint);
    if (b->failed) return tree_poison(f, b->span);
    if (!is_array(args[2]->type)) return builtin_refuse(b, args[2], "an array");
    if (b->row == BUILTIN_REDUCE) args[2] = flatten(f, args[2]);
    Type elem = args[2]->type->elem;
    if (args[2]->type->rank != 1) return builtin_refuse(b, args[2], "an array of one dimension");
    args[1] = builtin_arg(b, 1, elem);
    args[0] = builtin_arg(b, 0, NULL);
    if (b->failed) return tree_poison(f, b->span);
    if (!same_shape(args[1]->type, elem)) return builtin_refuse(b, args[1], tt(f, elem));
    uint32_t n = 3;
    if (b->row == BUILTIN_SCAN && b->nodes[3]) {
        args[n++] = builtin_arg(b, 3, NULL);
        if (args[3]->kind != T_BOOL)
            return builtin_refuse(b, args[3], "`exclusive: true` or false");
    }
    Instance *inst = operator_instance(b, args[0], 2, elem);
    if (!inst) return tree_poison(f, b->span);
    Tree *tree = builtin_node(b, b->row == BUILTIN_REDUCE ? elem : args[2]->type, n, args);
    tree->instance = inst;
    return tree;
}

/* Indices: integers for the first dimension, or tuples of integers for the first ones. */
static uint32_t index_rank(Type elem) {
    if (is_integer(elem)) return 1;
    if (elem->kind != TYPE_TUPLE) return 0;
    for (uint32_t i = 0; i < elem->nparts; i++)
        if (!is_integer(elem->parts[i].type)) return 0;
    return elem->nparts;
}

static Tree *call_accumulate(BuiltinCall *b, Type expected) {
    FnChecker *f = b->f;
    TypeTable *t = f->c->types;
    Tree *args[4];
    args[1] = builtin_arg(b, 1, expected);
    args[2] = builtin_arg(b, 2, NULL);
    args[3] = builtin_arg(b, 3, args[1]->type);
    args[0] = builtin_arg(b, 0, NULL);
    if (b->failed) return tree_poison(f, b->span);
    Type into = args[1]->type, indices = args[2]->type, values = args[3]->type;
    if (!is_array(into)) return builtin_refuse(b, args[1], "an array to add into");
    uint32_t taken = is_array(indices) && indices->rank == 1 ? index_rank(indices->elem) : 0;
    if (!taken || taken > into->rank)
        return builtin_refuse(b, args[2], "indices: an array of integers, or of tuples of them,");
    if (!is_array(values) || !same_shape(values->elem, into->elem) ||
        values->rank != 1 + into->rank - taken) {
        diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, args[3]->span,
                    "the values are of type %s: for each index one of type %s is needed",
                    tt(f, values), tt(f, type_drop_dims(t, into, taken)));
        return tree_poison(f, b->span);
    }
    Instance *inst = operator_instance(b, args[0], 2, into->elem);
    if (!inst) return tree_poison(f, b->span);
    Tree *tree = builtin_node(b, into, 4, args);
    tree->instance = inst;
    Size count[1] = {indices->dims[0]}, rows[1] = {values->dims[0]};
    bool ok =
        require_same_dims(f, type_array(t, ty_i64(f), 1, count), type_array(t, ty_i64(f), 1, rows),
                          tree, args[3]->span, "the indices", "the values", DIAG_SHAPES);
    if (ok && into->rank > taken)
        ok = require_same_dims(f, type_drop_dims(t, into, taken), type_drop_dims(t, values, 1),
                               tree, args[3]->span, "a row of the array", "a row of the values",
                               DIAG_SHAPES);
    return ok ? tree : tree_poison(f, b->span);
}

/* Which floats a type holds: bit 0 f32, bit 1 f64, bit 2 others. */
static unsigned float_kinds(Type type) {
    if (is_scalar(type)) {
        if (type->scalar == SCALAR_F32) return 1;
        if (type->scalar == SCALAR_F64) return 2;
        return type->has_floats ? 4 : 0;
    }
    if (is_array(type)) return float_kinds(type->elem);
    unsigned kinds = 0;
    for (uint32_t i = 0; i < type->nparts; i++) kinds |= float_kinds(type->parts[i].type);
    return kinds;
}

static Tree *call_parts(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree **args = ARENA_ARRAY(f->c->arena, Tree *, b->n);
    for (uint32_t i = 1; i < b->n; i++) args[i] = builtin_arg(b, i, i > 1 ? args[1]->type : NULL);
    args[0] = builtin_arg(b, 0, NULL);
    if (b->failed) return tree_poison(f, b->span);
    Type type = args[1]->type;
    unsigned kinds = float_kinds(type);
    if (!kinds || (kinds & 4))
        return builtin_refuse(b, args[1], "values that hold f32 and f64 only");
    Tree *tree = builtin_node(b, type, b->n, args);
    for (uint32_t i = 2; i < b->n; i++) {
        Require how = {.code = DIAG_ARGUMENT_TYPE,
                       .size_code = DIAG_SHAPES,
                       .what = arena_printf(f->c->arena, "argument %u of `parts`", i + 1),
                       .have = ast_text(f, b->nodes[i])};
        if (is_poison(require(f, args[i], type, tree, &how)->type)) return tree_poison(f, b->span);
    }
    Type f64 = ty_f64(f), f32 = type_scalar(f->c->types, SCALAR_F32);
    if (kinds & 2) tree->instance = operator_instance(b, args[0], b->n - 1, f64);
    if ((kinds & 2) && !tree->instance) return tree_poison(f, b->span);
    if (kinds & 1) tree->instance32 = operator_instance(b, args[0], b->n - 1, f32);
    if ((kinds & 1) && !tree->instance32) return tree_poison(f, b->span);
    return tree;
}

/* The product of two values of one type: its type is that of the floats. */
Tree *dot_parts(FnChecker *f, Tree *a, Tree *b, Span span) {
    unsigned kinds = float_kinds(a->type);
    if (kinds != 1 && kinds != 2) {
        diag_report(f->c->diags, DIAG_ARGUMENT_TYPE, a->span,
                    "a value of type %s does not hold floats of one type", tt(f, a->type));
        return tree_poison(f, span);
    }
    Tree *args[2] = {a, b};
    Type result = kinds == 1 ? type_scalar(f->c->types, SCALAR_F32) : ty_f64(f);
    Tree *tree = make_args(f, T_BUILTIN, result, span, 2, args);
    tree->builtin = BUILTIN_DOT_PARTS;
    Require how = {
        .code = DIAG_ARGUMENT_TYPE, .size_code = DIAG_SHAPES, .what = "the second argument"};
    return is_poison(require(f, b, a->type, tree, &how)->type) ? tree_poison(f, span) : tree;
}

static Tree *call_dot_parts(BuiltinCall *b) {
    Tree *x = builtin_arg(b, 0, NULL), *y = builtin_arg(b, 1, x->type);
    return b->failed ? tree_poison(b->f, b->span) : dot_parts(b->f, x, y, b->span);
}

static Tree *call_argsort(BuiltinCall *b) {
    FnChecker *f = b->f;
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    bool fits = is_array(arg->type) && arg->type->rank == 1 &&
                (is_integer(arg->type->elem) || is_floating(arg->type->elem));
    if (!fits) return builtin_refuse(b, arg, "an array of one dimension of integers or floats");
    return builtin_node(b, type_array(f->c->types, ty_i64(f), 1, arg->type->dims), 1, &arg);
}

static Tree *call_extreme(BuiltinCall *b) {
    Tree *arg = builtin_arg(b, 0, NULL);
    if (b->failed) return arg;
    bool fits = is_array(arg->type) && arg->type->rank == 1 && is_floating(arg->type->elem);
    if (!fits) return builtin_refuse(b, arg, "an array of one dimension of floats");
    return builtin_node(b, arg->type->elem, 1, &arg);
}

Tree *builtin_array_call(BuiltinCall *b, Type expected) {
    switch (b->row) {
    case BUILTIN_LEN: return call_len(b);
    case BUILTIN_SHAPE: return call_shape(b);
    case BUILTIN_ZEROS:
    case BUILTIN_ONES: return call_zeros(b, expected);
    case BUILTIN_IOTA: return call_iota(b);
    case BUILTIN_TRANSPOSE: return call_transpose(b);
    case BUILTIN_ROTATE: return call_rotate(b);
    case BUILTIN_RESHAPE: return call_reshape(b, expected);
    case BUILTIN_FLATTEN: return call_flatten(b);
    case BUILTIN_CONCAT: return call_concat(b, expected);
    case BUILTIN_STACK: return call_stack(b, expected);
    case BUILTIN_ZIP: return call_zip(b);
    case BUILTIN_UNZIP: return call_unzip(b);
    case BUILTIN_REDUCE:
    case BUILTIN_SCAN: return call_fold(b, expected);
    case BUILTIN_ACCUMULATE: return call_accumulate(b, expected);
    case BUILTIN_PARTS: return call_parts(b);
    case BUILTIN_DOT_PARTS: return call_dot_parts(b);
    case BUILTIN_ARGSORT: return call_argsort(b);
    case BUILTIN_MINIMUM:
    case BUILTIN_MAXIMUM: return call_extreme(b);
    default: return tree_poison(b->f, b->span);
    }
}
