/* What the files of linearisation share. */
#ifndef ADL_AD_LINEARISE_H
#define ADL_AD_LINEARISE_H

#include "ad/internal.h"

/* A function (or the rule of one, put in place) on its way into the mixed function. */
typedef struct Lin {
    Ad *ad;
    Mixed *mixed;
    IrBuilder *b;
    const IrFunc *base;
    Map primal;     /* value of base to its copy */
    Map tangent;    /* value of base to its tangent; absent: zero */
    uint32_t lanes; /* of all tangents; more than one only where the base has none itself */
    Bitset active;  /* values of base */
    bool is_again;  /* effects have happened already */
    bool is_rule;   /* primal values that depend on a tangent parameter are zero */
} Lin;

/* A rule's results are asked for at these arguments; TANGENTS: NULL where there is none, or the
   tangent that stands behind a tangent parameter. */
typedef struct RuleCall {
    IrFunc *rule;
    IrValue **args; /* per parameter of the rule; NULL: a tangent parameter, which is zero */
    IrValue **like; /* for those: a value of the same sizes */
    IrValue **tangents;
    IrValue **results; /* filled in: tangents of the rule's results, NULL: zero */
} RuleCall;

void linearise_region(Lin *l, const IrRegion *region); /* all but the YIELD */
void linearise_inst(Lin *l, IrInst *inst);
void linearise_rule(Lin *l, RuleCall *call);
/* A call of CALLEE on values of the mixed function, before its tangents come from a rule: REVERSED,
   from the one of linearise_reverse_rule. */
IrInst *linearise_primal_call(Lin *l, IrFunc *callee, IrValue *const *args, bool reversed);
/* The tangents OUT of the results (NULL: those that are no floats) of the call PRIMAL, as a linear
   call that is transposed to one of CALLEE's reverse rule. */
void linearise_reverse_rule(Lin *l, const IrFunc *callee, IrValue *const *args,
                            IrValue *const *tangents, const IrInst *primal, IrValue **out);
void linearise_scalar(Lin *l, IrInst *inst);
void linearise_array(Lin *l, IrInst *inst);
void linearise_control(Lin *l, IrInst *inst);
void linearise_reduce(Lin *l, IrInst *inst);
void linearise_shared(Lin *l, IrInst *inst);

static inline IrValue *primal_of(const Lin *l, const IrValue *value) {
    return map_getp(&l->primal, value);
}
static inline IrValue *tangent_of(const Lin *l, const IrValue *value) {
    return map_getp(&l->tangent, value);
}
/* The type of tangents of what has TYPE. */
static inline IrType tangent_type(const Lin *l, IrType type) {
    return ir_type_with_lanes(l->ad->module, type, l->lanes);
}
static inline bool is_active(const Lin *l, const IrValue *value) {
    return bitset_has(&l->active, value->id);
}
bool region_is_active(const Lin *l, const IrRegion *region);
/* Copies INST without any tangent. */
void copy_primal(Lin *l, const IrInst *inst);
void set_primal(Lin *l, const IrValue *value, IrValue *copy);
/* TANGENT may be NULL: zero. */
void set_tangent(Lin *l, const IrValue *value, IrValue *tangent);
/* The tangent, or zeros of the primal copy's sizes. */
IrValue *tangent_or_zero(Lin *l, const IrValue *value);
/* A linear zero for PRIMAL, a value of the mixed function without lanes of its tangents. */
IrValue *linear_zero(Lin *l, IrValue *primal);

/* Linear arithmetic; NULL is zero, as operand and as result. */
IrValue *mark_linear(Lin *l, IrValue *value);
IrValue *linear_add(Lin *l, IrValue *x, IrValue *y);
IrValue *linear_sub(Lin *l, IrValue *x, IrValue *y);
IrValue *linear_neg(Lin *l, IrValue *x);
IrValue *linear_mul(Lin *l, IrValue *x, IrValue *factor);
IrValue *linear_div(Lin *l, IrValue *x, IrValue *divisor);
IrValue *linear_select(Lin *l, IrValue *c, IrValue *x, IrValue *y);

#endif
