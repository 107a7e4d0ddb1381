/* Scalar operations element by element, and products of matrices. */
#include "lower/internal.h"

typedef struct Lift {
    uint32_t n;
    const Vals *args;
    const bool *lifted;
    LiftFn run;
    void *data;
    uint32_t rank;
} Lift;

static Vals lift_body(Fn *f, IrValue *const *indices, void *data) {
    const Lift *lift = data;
    Vals *args = ARENA_ARRAY(f->lw->arena, Vals, lift->n + 1);
    for (uint32_t i = 0; i < lift->n; i++) {
        args[i] = lift->args[i];
        if (!lift->lifted[i]) continue;
        args[i] = vals_new(f->lw, lift->args[i].n);
        for (uint32_t k = 0; k < args[i].n; k++)
            args[i].at[k] = emit_index(f, lift->args[i].at[k], lift->rank, indices);
    }
    return lift->run(f, args, lift->data);
}

Vals lift(Fn *f, Type result, uint32_t n, const Vals *args, const bool *lifted, LiftFn run,
          void *data) {
    Lift lift = {n, args, lifted, run, data, 0};
    IrValue *sizes[IR_MAX_RANK];
    for (uint32_t i = 0; i < n; i++) {
        if (!lifted[i] || !args[i].n) continue;
        lift.rank = args[i].at[0]->type->rank;
        size_dims(f, args[i].at[0], sizes);
        break;
    }
    if (!lift.rank) return run(f, args, data);
    return emit_build(f, lift.rank, sizes, shape_of(f->lw, result), lift_body, &lift);
}

/* ---- nodes of scalar operations ---- */

typedef struct Node {
    TreeKind kind;
    int32_t op, builtin;
    Type result;       /* of one element */
    const Type *types; /* of one element */
} Node;

static Vals run_node(Fn *f, const Vals *args, void *data) {
    const Node *node = data;
    switch ((int)node->kind) {
    case T_OP: return scalar_op(f, (AstOp)node->op, node->result, node->types, args);
    case T_MATH: return scalar_math(f, node->builtin, node->result, node->types, args);
    case T_SCALAR_FN: return scalar_builtin(f, node->builtin, node->result, node->types, args);
    case T_CAST: return scalar_cast(f, node->result, node->types[0], args[0]);
    default: UNREACHABLE("tree kind %d cannot be lifted", node->kind);
    }
}

static Vals run_lifted(Fn *f, Node *node, Type result, uint32_t n, const Type *types,
                       const Vals *args) {
    Type *elems = ARENA_ARRAY(f->lw->arena, Type, n);
    bool *lifted = ARENA_ARRAY(f->lw->arena, bool, n);
    for (uint32_t i = 0; i < n; i++) {
        elems[i] = type_element(types[i]);
        lifted[i] = types[i]->kind == TYPE_ARRAY;
    }
    node->types = elems;
    node->result = type_element(result);
    return lift(f, result, n, args, lifted, run_node, node);
}

Vals lift_op(Fn *f, AstOp op, Type result, const Type *types, const Vals *args) {
    Node node = {.kind = T_OP, .op = op};
    if (op == AST_OP_MATMUL) return lower_matmul(f, result, types, args, 0);
    return run_lifted(f, &node, result, 2, types, args);
}

Vals lower_lifted(Fn *f, const Tree *t) {
    Node node = {.kind = t->kind, .op = t->op, .builtin = t->builtin};
    Vals args[4] = {{0}};
    Type types[4];
    CHECK_INTERNAL(t->nargs && t->nargs <= 4);
    lower_args(f, t, args);
    for (uint32_t i = 0; i < t->nargs; i++) types[i] = t->args[i]->type;
    if (t->kind == T_OP && !t->lifted && (t->op == AST_OP_EQ || t->op == AST_OP_NE)) {
        IrValue *equal = scalar_equal(f, types[0], args[0], args[1]);
        if (equal) return vals_one(f->lw, t->op == AST_OP_EQ ? equal : emit_not(f, equal));
    }
    return run_lifted(f, &node, t->type, t->nargs, types, args);
}

/* ---- products of matrices ---- */

typedef struct Product {
    IrValue *x, *y;
    uint32_t xrank, yrank;
    uint32_t flags;
    IrScalar scalar;
    IrValue *inner; /* the common size */
} Product;

static IrValue *product_element(Fn *f, const Product *p, IrValue *const *indices) {
    IrValue *zero = irb_zero(&f->b, p->scalar);
    IrInst *sum = irb_reduce(&f->b, IR_SUM, 1, &p->inner, 1, &zero);
    IrRegion *outside = f->b.region;
    irb_at_end(&f->b, sum->regions[0]);
    IrValue *k = sum->regions[0]->params[0];
    IrValue *at[2];
    uint32_t used = 0;
    bool ta = p->flags & IR_CONTRACT_TA, tb = p->flags & IR_CONTRACT_TB;
    at[p->xrank == 2 && !ta ? 1 : 0] = k;
    if (p->xrank == 2) at[ta ? 1 : 0] = indices[used++];
    IrValue *a = emit_index(f, p->x, p->xrank, at);
    at[p->yrank == 2 && tb ? 1 : 0] = k;
    if (p->yrank == 2) at[tb ? 0 : 1] = indices[used++];
    IrValue *b = emit_index(f, p->y, p->yrank, at);
    IrValue *term = emit_mul(f, irb_cast(&f->b, a, p->scalar), irb_cast(&f->b, b, p->scalar));
    irb_yield(&f->b, 1, &term);
    irb_at_end(&f->b, outside);
    return sum->results[0];
}

static Vals product_body(Fn *f, IrValue *const *indices, void *data) {
    return vals_one(f->lw, product_element(f, data, indices));
}

/* x @ y of real parts; OF: the real type of the result. */
static IrValue *product(Fn *f, Type of, IrValue *x, IrValue *y, uint32_t flags) {
    IrScalar scalar = ir_of_scalar(type_element(of)->scalar);
    bool same = x->type->scalar == scalar && y->type->scalar == scalar;
    if (same && (scalar == IR_F32 || scalar == IR_F64)) return irb_contract(&f->b, x, y, flags);
    Product p = {x, y, x->type->rank, y->type->rank, flags, scalar, NULL};
    IrValue *sizes[2];
    uint32_t n = 0;
    bool ta = flags & IR_CONTRACT_TA, tb = flags & IR_CONTRACT_TB;
    p.inner = irb_dim(&f->b, x, p.xrank == 2 && !ta ? 1 : 0);
    if (p.xrank == 2) sizes[n++] = irb_dim(&f->b, x, ta ? 1 : 0);
    if (p.yrank == 2) sizes[n++] = irb_dim(&f->b, y, tb ? 0 : 1);
    if (!n) return product_element(f, &p, NULL);
    return emit_build(f, n, sizes, shape_of(f->lw, of), product_body, &p).at[0];
}

static Type real_of(Fn *f, Type type) {
    TypeTable *types = f->lw->program->types;
    Scalar scalar = type_element(type)->scalar;
    Type real = type_scalar(types, scalar == SCALAR_C64    ? SCALAR_F32
                                   : scalar == SCALAR_C128 ? SCALAR_F64
                                                           : scalar);
    return type->kind == TYPE_ARRAY ? type_array(types, real, type->rank, type->dims) : real;
}

Vals lower_matmul(Fn *f, Type result, const Type *types, const Vals *args, uint32_t flags) {
    Type real = real_of(f, result);
    bool cx = type_is_complex(types[0]), cy = type_is_complex(types[1]);
    IrValue *re = product(f, real, args[0].at[0], args[1].at[0], flags);
    if (!cx && !cy) return vals_one(f->lw, re);
    Vals out = vals_new(f->lw, 2);
    IrValue *im = NULL;
    if (cx && cy) {
        IrValue *minus = product(f, real, args[0].at[1], args[1].at[1], flags);
        re = irb_elementwise(&f->b, IR_SUB, re, minus);
    }
    if (cx) im = product(f, real, args[0].at[1], args[1].at[0], flags);
    if (cy) {
        IrValue *more = product(f, real, args[0].at[0], args[1].at[1], flags);
        im = im ? irb_elementwise(&f->b, IR_ADD, im, more) : more;
    }
    out.at[0] = re;
    out.at[1] = im;
    return out;
}
