/* Sizes on tapes.  A reverse pass does not get the primal arguments, so the forward pass puts the
   sizes of the base's parameters and results on top of its tape; the reverse pass takes them off
   and checks what it is given against them. */
#include "lower/internal.h"

typedef VEC(Size) SizeList;

/* Size variables of the base's parameters, each once, in order of appearance. */
static void collect_sizes(Lower *lw, const Instance *base, SizeList *sizes) {
    for (uint32_t p = 0; p < base->nparams; p++) {
        const Shape *shape = shape_of(lw, base->params[p]->type);
        for (uint32_t i = 0; i < shape->n; i++)
            for (uint32_t k = 0; k < shape->leaf[i].rank; k++) {
                Size size = shape->leaf[i].dims[k];
                bool seen = size->kind != SIZE_VAR;
                for (uint32_t j = 0; j < sizes->len && !seen; j++) seen = sizes->at[j] == size;
                if (!seen) vec_push(sizes, size);
            }
    }
}

static uint32_t leaf_rank(const IrValue *value) {
    return value->type->kind == IR_T_ARRAY ? value->type->rank : 0;
}

/* Above the sizes lies a 1.  Being a constant it has tangents and cotangents of 0: so the tangent
   of a tape, which has the same type, is known if it is pulled as a tape of values, on which
   branches and counts would be decided. */
static IrValue *put_seal(Fn *f, IrValue *tape) {
    IrValue *seal = irb_scalar_const(&f->b, IR_F64, 0, 1.0);
    return irb_tape_push(&f->b, tape, 1, &seal);
}

static IrValue *take_seal(Fn *f, IrValue *tape) {
    IrType type = ir_scalar(f->lw->module, IR_F64);
    IrInst *pop = irb_tape_pop(&f->b, tape, 1, &type);
    IrValue *seal = irb_scalar_const(&f->b, IR_F64, 0, 1.0);
    emit_check(f, irb_binary(&f->b, IR_EQ, pop->results[1], seal), LOWER_ERROR_ARGUMENT,
               "this tape holds a tangent or cotangent, not values", 0, NULL);
    return pop->results[0];
}

IrValue *tape_put_sizes(Fn *f, const Instance *base, IrValue *tape, Vals results,
                        const bool *in_seed) {
    SizeList sizes = {0};
    VEC(IrValue *) values = {0};
    collect_sizes(f->lw, base, &sizes);
    for (uint32_t i = 0; i < sizes.len; i++) vec_push(&values, size_value(f, sizes.at[i]));
    for (uint32_t i = 0; i < results.n; i++)
        for (uint32_t k = 0; in_seed[i] && k < leaf_rank(results.at[i]); k++)
            vec_push(&values, irb_dim(&f->b, results.at[i], k));
    if (values.len) tape = irb_tape_push(&f->b, tape, values.len, values.at);
    vec_free(&sizes);
    vec_free(&values);
    return put_seal(f, tape);
}

static void check_size(Fn *f, IrValue *given, IrValue *kept, const char *what) {
    IrValue *pair[] = {given, kept};
    emit_check(f, irb_binary(&f->b, IR_EQ, given, kept), LOWER_ERROR_SIZE,
               module_text(f->lw, "%s is {0}, but was {1} in the forward pass", what), 2, pair);
}

IrValue *tape_take_sizes(Fn *f, const Instance *base, IrValue *tape, Vals seed, uint32_t lanes,
                         const bool *in_seed) {
    SizeList sizes = {0};
    VEC(IrType) types = {0};
    IrType i64 = ir_scalar(f->lw->module, IR_I64);
    const Shape *result = shape_of(f->lw, base->result);
    tape = take_seal(f, tape);
    collect_sizes(f->lw, base, &sizes);
    for (uint32_t i = 0; i < sizes.len; i++) vec_push(&types, i64);
    for (uint32_t i = 0; i < result->n; i++)
        for (uint32_t k = 0; in_seed[i] && k < result->leaf[i].rank; k++) vec_push(&types, i64);
    if (types.len) {
        IrInst *pop = irb_tape_pop(&f->b, tape, types.len, types.at);
        uint32_t at = 1, leaf = 0;
        tape = pop->results[0];
        for (uint32_t i = 0; i < sizes.len; i++, at++) {
            IrValue *bound = env_size(f, sizes.at[i]->id);
            if (!bound) env_bind_size(f, sizes.at[i]->id, pop->results[at]);
            else
                check_size(f, bound, pop->results[at],
                           sizes.at[i]->name ? sizes.at[i]->name->text : "a size");
        }
        for (uint32_t i = 0; i < result->n; i++) {
            if (!in_seed[i]) continue;
            for (uint32_t k = 0; k < result->leaf[i].rank; k++, at++)
                if (seed.at)
                    check_size(f, irb_dim(&f->b, seed.at[leaf], k + lanes), pop->results[at],
                               module_text(f->lw, "dimension %u of the seed", k + 1));
            leaf++;
        }
    }
    vec_free(&sizes);
    vec_free(&types);
    return tape;
}
