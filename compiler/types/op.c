/* Operators: which types meet, which conversions that makes, arrays element by element. */
#include "types/internal.h"

static bool is_comparison(AstOp op) {
    return op >= AST_OP_EQ && op <= AST_OP_GE;
}
static bool is_logic(AstOp op) {
    return op == AST_OP_AND || op == AST_OP_OR;
}

static Tree *no_operator(FnChecker *f, AstOp op, Tree *left, Tree *right, Span span) {
    if (right)
        diag_report(f->c->diags, DIAG_NO_OPERATOR, span, "`%s` does not take %s and %s",
                    ast_op_text(op), tt(f, left->type), tt(f, right->type));
    else
        diag_report(f->c->diags, DIAG_NO_OPERATOR, span, "`%s` does not take %s", ast_op_text(op),
                    tt(f, left->type));
    return tree_poison(f, span);
}

/* ---- arrays that meet ---- */

static const char *const INDEX_NAMES[] = {"i", "j", "k", "l"};

static void put_indices(StrBuf *out, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        if (i > from) strbuf_add(out, ", ");
        strbuf_add(out, INDEX_NAMES[i]);
    }
}

/* X - mu with shapes [n, d] and [d]: the comprehension to write. */
static void help_ranks(FnChecker *f, AstOp op, const AstNode *left, Type lt, const AstNode *right,
                       Type rt) {
    if (!left || !right || lt->rank > 4 || rt->rank > 4) return;
    uint32_t rank = lt->rank > rt->rank ? lt->rank : rt->rank;
    StrBuf text = {0};
    strbuf_add(&text, "[for ");
    put_indices(&text, 0, rank);
    strbuf_printf(&text, ": %s[", ast_text(f, left));
    put_indices(&text, rank - lt->rank, rank);
    strbuf_printf(&text, "] %s %s[", ast_op_text(op), ast_text(f, right));
    put_indices(&text, rank - rt->rank, rank);
    strbuf_add(&text, "]]");
    diag_help(f->c->diags, (Span){0}, "nothing is repeated along a dimension by itself: write `%s`",
              text.text);
    strbuf_free(&text);
}

/* Shapes of two operands; the shape of the result in *SHAPE (NULL: scalar). */
static bool meet(FnChecker *f, AstOp op, Tree *node, Tree *left, Tree *right, const AstNode *la,
                 const AstNode *ra, Type *shape) {
    Type lt = left->type, rt = right->type;
    *shape = is_array(lt) ? lt : is_array(rt) ? rt : NULL;
    if (!is_array(lt) || !is_array(rt)) return true;
    if (lt->rank != rt->rank) {
        diag_report(f->c->diags, DIAG_SHAPES, node->span,
                    "`%s` of arrays of different shapes: %s and %s", ast_op_text(op), tt(f, lt),
                    tt(f, rt));
        help_ranks(f, op, la, lt, ra, rt);
        return false;
    }
    return require_same_dims(f, lt, rt, node, node->span, la ? ast_text(f, la) : NULL,
                             ra ? ast_text(f, ra) : NULL, DIAG_SHAPES);
}

static Type shaped(FnChecker *f, Type elem, Type shape) {
    return shape ? type_array(f->c->types, elem, shape->rank, shape->dims) : elem;
}

/* ---- scalars that meet ---- */

static Tree *widen_storage(FnChecker *f, Tree *value) {
    Type elem = elem_of(value->type);
    bool storage = is_scalar_of(elem, SCALAR_F16) || is_scalar_of(elem, SCALAR_BF16);
    return storage ? make_cast(f, value, SCALAR_F32, value->span) : value;
}

static bool real_of_complex(Type real, Type complex) {
    return (is_scalar_of(complex, SCALAR_C128) && is_scalar_of(real, SCALAR_F64)) ||
           (is_scalar_of(complex, SCALAR_C64) && is_scalar_of(real, SCALAR_F32));
}

static void report_operands(FnChecker *f, AstOp op, Tree *left, Tree *right, Span span,
                            const AstNode *la, const AstNode *ra) {
    Type a = elem_of(left->type), b = elem_of(right->type);
    diag_report(f->c->diags, DIAG_OPERANDS, span, "the operands of `%s` are of types %s and %s",
                ast_op_text(op), tt(f, left->type), tt(f, right->type));
    bool convert_left = (is_integer(a) && !is_integer(b)) || is_bool(a) ||
                        (is_scalar_of(a, SCALAR_F32) && is_scalar_of(b, SCALAR_F64));
    Type to = convert_left ? b : a;
    const AstNode *what = convert_left ? la : ra;
    if (!is_numeric(to) || is_complex(to)) return;
    const Tree *made = convert_left ? right : left;
    if (!made_array(f, made)) made = convert_left ? left : right;
    if (made_array(f, made) && is_floating(a) && is_floating(b) && made->kind == T_LOCAL) {
        Type other = elem_of(made == left ? right->type : left->type);
        diag_help(f->c->diags, (Span){0}, "declare the type: `let %s: %s = …;`",
                  made->local->name->text,
                  tt(f, type_array(f->c->types, other, made->type->rank, made->type->dims)));
        return;
    }
    diag_help(f->c->diags, (Span){0}, "numbers do not convert by themselves: write `%s(%s)`",
              tt(f, to), what ? ast_text(f, what) : "…");
}

/* Both operands brought to one scalar type; false after reporting. */
static bool unify(FnChecker *f, AstOp op, Tree **left, Tree **right, Span span, const AstNode *la,
                  const AstNode *ra) {
    *left = widen_storage(f, *left);
    *right = widen_storage(f, *right);
    Type a = elem_of((*left)->type), b = elem_of((*right)->type);
    if (a == b) return true;
    if (!is_comparison(op) && op != AST_OP_MOD && real_of_complex(a, b)) {
        *left = make_cast(f, *left, b->scalar, (*left)->span);
        return true;
    }
    if (!is_comparison(op) && op != AST_OP_MOD && real_of_complex(b, a)) {
        *right = make_cast(f, *right, a->scalar, (*right)->span);
        return true;
    }
    report_operands(f, op, *left, *right, span, la, ra);
    return false;
}

static Tree *matmul(FnChecker *f, Tree *left, Tree *right, Span span, const AstNode *la,
                    const AstNode *ra) {
    Type a = left->type, b = right->type;
    if (!is_array(a) || !is_array(b) || a->rank > 2 || b->rank > 2 || !is_numeric(a->elem) ||
        !is_numeric(b->elem)) {
        Tree *poison = no_operator(f, AST_OP_MATMUL, left, right, span);
        if ((is_numeric(a) || is_numeric(b)))
            diag_help(f->c->diags, (Span){0}, "the product with a scalar is `*`");
        return poison;
    }
    if (!unify(f, AST_OP_MATMUL, &left, &right, span, la, ra)) return tree_poison(f, span);
    Tree *args[2] = {left, right};
    Tree *node = make_args(f, T_MATMUL, ty_poison(f), span, 2, args);
    a = left->type;
    b = right->type;
    Size inner_a = a->dims[a->rank - 1], inner_b = b->dims[0];
    Size one[1] = {inner_a}, other[1] = {inner_b};
    const char *an = la ? ast_text(f, la) : NULL, *bn = ra ? ast_text(f, ra) : NULL;
    SizeRel rel = size_compare(inner_a, inner_b);
    const char *at = dim_text(f, an, a->rank, a->rank - 1), *bt = dim_text(f, bn, b->rank, 0);
    if (rel == SIZE_DIFFERENT) {
        diag_report(f->c->diags, DIAG_SHAPES, span, "`@` of %s and %s: %s is %s, but %s is %s",
                    tt(f, a), tt(f, b), at, size_text(f->c->types, one[0]), bt,
                    size_text(f->c->types, other[0]));
        return tree_poison(f, span);
    }
    if (rel == SIZE_UNKNOWN)
        add_check(f, node,
                  (TreeCheck){.a = inner_a,
                              .b = inner_b,
                              .a_text = at,
                              .b_text = bt,
                              .span = span,
                              .message = arena_printf(f->c->arena,
                                                      "the sizes of `@` differ: %s is "
                                                      "{0}, %s is {1}",
                                                      at, bt)});
    Size dims[2];
    uint32_t rank = 0;
    if (a->rank == 2) dims[rank++] = a->dims[0];
    if (b->rank == 2) dims[rank++] = b->dims[1];
    node->type = type_add_dims(f->c->types, a->elem, rank, dims);
    return node;
}

static Tree *logic(FnChecker *f, AstOp op, Tree *left, Tree *right, Span span, const AstNode *la,
                   const AstNode *ra) {
    if (!is_bool(elem_of(left->type)) || !is_bool(elem_of(right->type)))
        return no_operator(f, op, left, right, span);
    Tree *args[2] = {left, right};
    Tree *node = make_args(f, T_LOGIC, ty_bool(f), span, 2, args);
    node->op = op;
    Type shape;
    if (!meet(f, op, node, left, right, la, ra, &shape)) return tree_poison(f, span);
    if (shape) {
        node->kind = T_OP; /* without short cut */
        node->lifted = true;
        node->type = shaped(f, ty_bool(f), shape);
    }
    return node;
}

static Tree *power(FnChecker *f, Tree *left, Tree *right, Span span, const AstNode *la,
                   const AstNode *ra) {
    left = widen_storage(f, left);
    right = widen_storage(f, right);
    Type a = elem_of(left->type), b = elem_of(right->type);
    if (!is_integer(b) && !unify(f, AST_OP_POW, &left, &right, span, la, ra))
        return tree_poison(f, span);
    a = elem_of(left->type);
    Tree *args[2] = {left, right};
    Tree *node = make_args(f, T_OP, a, span, 2, args);
    node->op = AST_OP_POW;
    Type shape;
    if (!meet(f, AST_OP_POW, node, left, right, la, ra, &shape)) return tree_poison(f, span);
    node->lifted = shape != NULL;
    node->type = shaped(f, a, shape);
    if (is_floating(a) && !is_integer(b)) need_math_rule(f->c, MATH_POW, a->scalar, span);
    return node;
}

static bool takes(AstOp op, Type elem) {
    if (op == AST_OP_EQ || op == AST_OP_NE) return true;
    if (is_bool(elem)) return false;
    return !is_complex(elem) || (op != AST_OP_MOD && !is_comparison(op));
}

Tree *op_binary(FnChecker *f, AstOp op, Tree *left, Tree *right, Span span, const AstNode *la,
                const AstNode *ra) {
    Type a = left->type, b = right->type;
    if (is_poison(a) || is_poison(b)) return tree_poison(f, span);
    if (op == AST_OP_MATMUL) return matmul(f, left, right, span, la, ra);
    if (a->kind == TYPE_STR && b->kind == TYPE_STR && (op == AST_OP_EQ || op == AST_OP_NE)) {
        Tree *args[2] = {left, right};
        Tree *node = make_args(f, T_OP, ty_bool(f), span, 2, args);
        node->op = op;
        return node;
    }
    if (!is_scalar_like(a) || !is_scalar_like(b)) return no_operator(f, op, left, right, span);
    if (is_logic(op)) return logic(f, op, left, right, span, la, ra);
    if (op == AST_OP_POW && is_numeric(elem_of(a)) && is_numeric(elem_of(b)))
        return power(f, left, right, span, la, ra);
    bool bools = is_bool(elem_of(a)) && is_bool(elem_of(b));
    if (!bools && !unify(f, op, &left, &right, span, la, ra)) return tree_poison(f, span);
    Type elem = elem_of(left->type);
    if (!takes(op, elem)) return no_operator(f, op, left, right, span);
    if (op == AST_OP_MOD && is_floating(elem)) /* its derivative has a floor */
        need_math_rule(f->c, MATH_FLOOR, elem->scalar, span);
    Tree *args[2] = {left, right};
    Tree *node = make_args(f, T_OP, elem, span, 2, args);
    node->op = op;
    Type shape;
    if (!meet(f, op, node, left, right, la, ra, &shape)) return tree_poison(f, span);
    node->lifted = shape != NULL;
    node->type = shaped(f, is_comparison(op) ? ty_bool(f) : elem, shape);
    return node;
}

/* ---- operators as written ---- */

typedef struct NaturalFinder {
    FnChecker *f;
    Natural most;
    bool within;  /* names stand here that the expression brings itself */
    bool unknown; /* there is a call within */
    bool least;   /* what `zeros(n)` can be, not what it is alone */
} NaturalFinder;

/* What a call on literals gives alone; asked once, since calls nest. */
static Natural natural_alone(FnChecker *f, AstNode *node) {
    Type type = map_getp(&f->c->naturals, node);
    if (!type) {
        type = elem_of(check_value(f, node, NULL)->type);
        map_setp(&f->c->naturals, node, (void *)type);
    }
    return is_integer(type) ? NATURAL_INT : is_complex(type) ? NATURAL_COMPLEX : NATURAL_FLOAT;
}

static void find_natural(AstNode *node, void *data);

/* Of BODY, the value of NODE, which brings names for it. */
static Natural natural_within(NaturalFinder *n, AstNode *node, AstNode *body) {
    NaturalFinder inner = {n->f, NATURAL_INT, true, false, n->least};
    find_natural(body, &inner);
    if (inner.unknown && !n->within) return natural_alone(n->f, node);
    n->unknown |= inner.unknown;
    return inner.most;
}

static void find_natural(AstNode *node, void *data) {
    NaturalFinder *n = data;
    Natural here = NATURAL_INT;
    if (!node) return;
    switch ((AstKind)node->kind) {
    case AST_Imag: here = NATURAL_COMPLEX; break;
    case AST_Float:
    case AST_Name: here = NATURAL_FLOAT; break;
    case AST_Call:
        if (n->least && is_zeros_call(n->f, (AstCall *)node)) break;
        if (n->within) n->unknown = true;
        else here = natural_alone(n->f, node);
        break;
    case AST_Index: break;
    case AST_Comp: here = natural_within(n, node, ((AstComp *)node)->body); break;
    case AST_Block: here = natural_within(n, node, ((AstBlock *)node)->value); break;
    case AST_If:
        find_natural(((AstIf *)node)->then, data);
        find_natural(((AstIf *)node)->other, data);
        break;
    case AST_Binary:
        find_natural(((AstBinary *)node)->left, data);
        if (((AstBinary *)node)->op != AST_OP_POW) find_natural(((AstBinary *)node)->right, data);
        break;
    default: ast_children(node, find_natural, data); break;
    }
    if (here > n->most) n->most = here;
}

Natural natural_of(FnChecker *f, AstNode *node) {
    NaturalFinder finder = {f, NATURAL_INT, false, false, false};
    find_natural(node, &finder);
    return finder.most;
}

/* Can an integer type hold it?  Alone, `zeros(n)` is f64, but its place may ask for any type. */
static bool fits_integer(FnChecker *f, AstNode *node) {
    NaturalFinder finder = {f, NATURAL_INT, false, false, true};
    find_natural(node, &finder);
    return finder.most == NATURAL_INT;
}

bool literal_after(FnChecker *f, AstNode *a, AstNode *b) {
    if (!is_flexible(f, a)) return false;
    return !is_flexible(f, b) || natural_of(f, b) > natural_of(f, a);
}

/* The type of two operands that are both made of literals. */
static Type literal_context(FnChecker *f, AstNode *left, AstNode *right, Type expected) {
    Natural a = natural_of(f, left), b = natural_of(f, right), n = a > b ? a : b;
    Type elem = expected ? elem_of(expected) : NULL;
    if (elem && is_complex(elem)) return elem;
    if (elem && is_floating(elem) && n != NATURAL_COMPLEX) return elem;
    if (elem && is_integer(elem) && fits_integer(f, left) && fits_integer(f, right)) return elem;
    return type_scalar(f->c->types, n == NATURAL_INT     ? SCALAR_I64
                                    : n == NATURAL_FLOAT ? SCALAR_F64
                                                         : SCALAR_C128);
}

static Tree *check_power(FnChecker *f, AstBinary *node, Type expected) {
    bool lf = is_flexible(f, node->left), rf = is_flexible(f, node->right);
    Tree *left, *right;
    if (lf && !rf) {
        right = check_value(f, node->right, NULL);
        Type hint = is_integer(elem_of(right->type)) ? expected : right->type;
        left = check_value(f, node->left, hint);
    } else {
        left = check_value(f, node->left, expected);
        bool whole = rf && natural_of(f, node->right) == NATURAL_INT;
        right = check_value(f, node->right, whole ? ty_i64(f) : rf ? left->type : NULL);
    }
    return op_binary(f, AST_OP_POW, left, right, node->node.span, node->left, node->right);
}

Tree *check_binary(FnChecker *f, AstBinary *node, Type expected) {
    AstOp op = (AstOp)node->op;
    if (op == AST_OP_POW) return check_power(f, node, expected);
    Type hint = is_comparison(op) || is_logic(op) ? NULL : expected;
    bool lf = is_flexible(f, node->left), rf = is_flexible(f, node->right);
    Tree *left, *right;
    if (lf && rf) {
        Type both = literal_context(f, node->left, node->right, hint);
        left = check_value(f, node->left, both);
        right = check_value(f, node->right, both);
    } else if (lf) {
        right = check_value(f, node->right, hint);
        left = check_value(f, node->left, right->type);
    } else {
        left = check_value(f, node->left, hint);
        right = check_value(f, node->right, rf ? left->type : hint);
    }
    return op_binary(f, op, left, right, node->node.span, node->left, node->right);
}

Tree *check_unary(FnChecker *f, AstUnary *node, Type expected) {
    AstNode *arg = node->arg;
    if (node->op == AST_OP_NEG &&
        (arg->kind == AST_Int || arg->kind == AST_Float || arg->kind == AST_Imag)) {
        Tree *tree = check_literal(f, arg, expected, true);
        tree->span = node->node.span;
        return tree;
    }
    Tree *value = check_value(f, arg, node->op == AST_OP_NEG ? expected : NULL);
    if (is_poison(value->type)) return value;
    value = widen_storage(f, value);
    Type elem = elem_of(value->type);
    bool fits = node->op == AST_OP_NEG ? is_numeric(elem) : is_bool(elem);
    if (!fits) return no_operator(f, (AstOp)node->op, value, NULL, node->node.span);
    Tree *tree = make_args(f, T_OP, value->type, node->node.span, 1, &value);
    tree->op = (int32_t)node->op;
    tree->lifted = is_array(value->type);
    return tree;
}
