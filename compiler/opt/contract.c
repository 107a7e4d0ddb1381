/* Recognises products of matrices that are written out: [for i, j: sum(for l: A[i, l] * B[l, j])],
   the factors transposed or not, and rows of larger arrays (A[t, i, l]).  As contractions they are
   computed in a good order, their derivatives are contractions, and large ones go to a library.

   Like sums of products (muladd), these are formed in the function where they are written, before
   anything is inlined: a sum's order must not depend on who calls.  Small products of known sizes
   stay as they are, to be written out; so do products of a matrix and a vector in parallel bodies,
   where they need no memory. */
#include "ir/build.h"
#include "opt/opt.h"
#include "opt/uses.h"

enum { SMALL = 16 };

/* One factor in the innermost body: ARRAY [FIXED..., two or one of the indices]. */
typedef struct Factor {
    const IrInst *index;
    uint32_t nfixed; /* subscripts before, which do not change */
    IrValue *by[2];  /* the last ones: indices of the map or the sum */
    uint32_t n;
} Factor;

typedef struct Product {
    IrInst *build;
    const IrInst *sum;
    Factor a, b; /* A has the map's first index, B the second if there is one */
} Product;

static bool belongs(const IrValue *value, const IrRegion *region) {
    return !value->def && value->region == region;
}

static bool read_factor(const Product *p, const IrValue *value, Factor *f) {
    const IrRegion *rows = p->build->regions[0], *body = p->sum->regions[0];
    const IrInst *index = value->def;
    if (!index || index->op != IR_INDEX || index->parent != body) return false;
    if (!ir_visible(ir_resolve(index->operands[0]), p->build->parent)) return false;
    *f = (Factor){.index = index};
    for (uint32_t k = 1; k < index->noperands; k++) {
        IrValue *at = ir_resolve(index->operands[k]);
        bool moves = belongs(at, rows) || belongs(at, body);
        bool fixed = ir_const_int(at, &(int64_t){0}) || ir_visible(at, p->build->parent);
        if (!moves && (f->n || !fixed)) return false;
        if (!moves) f->nfixed++;
        else if (f->n == 2) return false;
        else f->by[f->n++] = at;
    }
    return f->n > 0;
}

static bool has(const Factor *f, const IrValue *index) {
    return f->by[0] == index || (f->n == 2 && f->by[1] == index);
}

static bool is_zero(const IrValue *value) {
    double zero;
    return ir_const_float(ir_resolve((IrValue *)value), &zero) && zero == 0.0;
}

/* The two factors of what the sum adds, if nothing else is computed. */
static bool read_factors(Product *p) {
    const IrRegion *body = p->sum->regions[0];
    const IrValue *value = ir_resolve(body->last->operands[0]);
    const IrInst *mul = value->def;
    if (!mul || mul->op != IR_MUL || mul->parent != body) return false;
    return read_factor(p, ir_resolve(mul->operands[0]), &p->a) &&
           read_factor(p, ir_resolve(mul->operands[1]), &p->b);
}

/* Do the factors have the indices that a product's have?  A is the one with the first. */
static bool arrange(Product *p) {
    IrValue *const *at = p->build->regions[0]->params, *l = p->sum->regions[0]->params[0];
    uint32_t rank = (uint32_t)p->build->imm;
    if (!has(&p->a, at[0])) {
        Factor a = p->a;
        p->a = p->b;
        p->b = a;
    }
    if (p->a.n != 2 || !has(&p->a, at[0]) || !has(&p->a, l)) return false;
    return has(&p->b, l) && p->b.n == rank && (rank == 1 || has(&p->b, at[1]));
}

/* Do the subscripts run over all of the factor's last dimensions? */
static bool whole(const Product *p, const Factor *f) {
    const IrValue *x = ir_resolve(f->index->operands[0]);
    if (x->type->rank != f->nfixed + f->n) return false;
    for (uint32_t k = 0; k < f->n; k++) {
        const IrInst *owner = belongs(f->by[k], p->sum->regions[0]) ? p->sum : p->build;
        const IrValue *size = ir_resolve(owner->operands[f->by[k]->index]);
        if (!opt_has_size(x, f->nfixed + k, size)) return false;
    }
    return true;
}

static bool in_parallel_body(const IrInst *inst) {
    for (const IrInst *owner = inst->parent->owner; owner; owner = owner->parent->owner)
        if (owner->op == IR_BUILD || owner->op == IR_REDUCE) return true;
    return false;
}

static bool is_small(const Product *p) {
    int64_t size;
    for (uint32_t k = 0; k < (uint32_t)p->build->imm; k++)
        if (!ir_const_int(ir_resolve(p->build->operands[k]), &size) || size > SMALL) return false;
    return ir_const_int(ir_resolve(p->sum->operands[0]), &size) && size <= SMALL;
}

static bool read_product(Product *p, IrInst *build) {
    *p = (Product){.build = build};
    if (build->op != IR_BUILD || build->nresults != 1 || build->ints[0]) return false;
    if (build->imm != 1 && build->imm != 2) return false;
    const IrScalar scalar = build->results[0]->type->scalar;
    if (scalar != IR_F64 && scalar != IR_F32) return false;
    const IrValue *element = ir_resolve(build->regions[0]->last->operands[0]);
    p->sum = element->def;
    if (!p->sum || p->sum->op != IR_REDUCE || p->sum->parent != build->regions[0]) return false;
    if (p->sum->flags != IR_SUM || p->sum->imm != 1 || p->sum->nresults != 1) return false;
    if (!is_zero(p->sum->operands[1]) || !ir_removable(build)) return false;
    if (!ir_visible(ir_resolve(p->sum->operands[0]), build->parent)) return false;
    if (!read_factors(p) || !arrange(p) || !whole(p, &p->a) || !whole(p, &p->b)) return false;
    return !is_small(p) && (build->imm == 2 || !in_parallel_body(build));
}

static IrValue *matrix(IrBuilder *b, const Factor *f) {
    IrValue *at[IR_MAX_RANK], *x = ir_resolve(f->index->operands[0]);
    int64_t constant;
    for (uint32_t k = 0; k < f->nfixed; k++) {
        at[k] = ir_resolve(f->index->operands[1 + k]);
        if (ir_const_int(at[k], &constant)) at[k] = irb_int(b, constant);
    }
    return f->nfixed ? irb_index(b, x, f->nfixed, at) : x;
}

static void form(OptContext *c, const Product *p) {
    IrBuilder b = {.module = c->module, .func = c->func, .pos = p->build->pos};
    irb_before(&b, p->build);
    const IrValue *l = p->sum->regions[0]->params[0];
    uint32_t flags = p->a.by[0] == l ? IR_CONTRACT_TA : 0;
    if (p->b.n == 2 && p->b.by[1] == l) flags |= IR_CONTRACT_TB;
    IrValue *x = matrix(&b, &p->a), *y = matrix(&b, &p->b);
    IrValue *product = irb_contract(&b, x, y, flags);
    if (product->type != p->build->results[0]->type) {
        IrValue *sizes[2];
        for (uint32_t k = 0; k < (uint32_t)p->build->imm; k++)
            sizes[k] = ir_resolve(p->build->operands[k]);
        product = irb_reshape(&b, product, (uint32_t)p->build->imm, sizes);
    }
    ir_replace(p->build->results[0], product);
    ir_remove(p->build);
    c->changed = true;
}

static void contract_region(OptContext *c, IrRegion *region) {
    for (IrInst *inst = region->first, *next; inst; inst = next) {
        Product product;
        next = inst->next;
        if (read_product(&product, inst)) {
            form(c, &product);
            continue;
        }
        for (uint32_t r = 0; r < inst->nregions; r++) contract_region(c, inst->regions[r]);
    }
}

void opt_contract(OptContext *c) {
    contract_region(c, c->func->body);
    ir_settle(c->func);
}
