/* What the files of this folder share.  In order of use: requests (run.c), activity (activity.c),
   the mixed function (linearise*.c), its sizes (shape.c), the residual plan (plan.c, cut.c), and
   the two sweeps (forward.c, transpose*.c). */
#ifndef ADL_AD_INTERNAL_H
#define ADL_AD_INTERNAL_H

#include "ad/ad.h"
#include "base/bitset.h"
#include "ir/build.h"

/* ---- requests ---- */

typedef enum AdMode { AD_JVP, AD_GRAD, AD_PAIR } AdMode;

/* One thing to make.  A threaded pair is what calls inside of derivatives use: its tape comes from
   the caller and goes back to it:
     forward (params..., tape) -> (results..., tape)
     reverse (tape, cotangents of active results...) -> (cotangents of active params..., tape)
   OPTIONS say how many lanes tangents and cotangents have; a pair of more than one has the forward
   function of the pair without lanes.
   An active tape has a tape of tangents or cotangents, pushed and popped in step with it. */
typedef struct AdRequest {
    AdMode mode;
    IrFunc *base;
    const uint8_t *in_active, *out_active;
    uint32_t options;
    bool threaded, made;
    IrFunc *func, *reverse; /* reverse: of a pair, else NULL */
} AdRequest;

typedef struct Ad {
    IrModule *module;
    Diags *diags;
    Arena *arena; /* what lives as long as the run */
    Map by_func;  /* functions made here that ir_deriv does not know, to their AdRequest */
    Map requests; /* by hash: the same, to be found again */
    Map masks;    /* rule function to its dependence mask, plus one */
    Map depends;  /* function to its Depends (depends.c) */
    Map uses;     /* reverse rule to which of its operands it reads */
    Map worlds;   /* function to 1, or 2 if it asks the world outside of the program */
    Map given_up; /* of a device: functions that could not be made, to themselves */
    VEC(const IrFunc *) inlining; /* rules being put in place */
    bool failed;
} Ad;

IrFunc *ad_jvp(Ad *ad, IrFunc *base, const uint8_t *in_active, const uint8_t *out_active,
               uint32_t options);
IrFunc *ad_grad(Ad *ad, IrFunc *base, const uint8_t *in_active, const uint8_t *out_active,
                uint32_t options);
const AdRequest *ad_pair(Ad *ad, IrFunc *base, const uint8_t *in_active, const uint8_t *out_active,
                         uint32_t options);
/* The type of tangents and cotangents of what has TYPE. */
static inline IrType ad_tangent_type(const AdRequest *request, IrType type) {
    return ir_type_with_lanes(request->base->module, type, ir_option_lanes(request->options));
}
/* A request with lanes whose base has values with lanes itself, being made of batched derivatives,
   is met lane by lane (apart.c). */
bool ad_needs_apart(const AdRequest *request);
void ad_make_apart(Ad *ad, const AdRequest *request);
/* Makes the body of FUNC, if it is a derivative that has none yet. */
void ad_ensure(Ad *ad, IrFunc *func);
void ad_report(Ad *ad, DiagCode code, Pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- facts ---- */

/* Can it carry a derivative: float scalars and arrays, their accumulators, tapes. */
bool ad_carries(IrType type);
const IrRegion *ad_home(const IrValue *value);
/* Values of BASE (by id) that depend on an active parameter and reach an active result. */
void ad_activity(Ad *ad, const IrFunc *base, const uint8_t *in_active, const uint8_t *out_active,
                 Bitset *active);
/* Does result R of a call of FUNC depend on parameter P in a way that has a derivative? */
bool ad_depends(Ad *ad, IrFunc *func, uint32_t p, uint32_t r);
/* Warns of requests in the first N functions, those of the source, whose derivatives are zero
   whatever the arguments are. */
void ad_warn_of_zeros(Ad *ad, uint32_t n);
/* Values of BASE (by id) that depend on PARAM so. */
void ad_varied(Ad *ad, const IrFunc *base, uint32_t param, Bitset *varied);
/* Bit k: the tangent that the rule of a scalar function gives depends on the tangent of argument k.
   Without a rule: all. */
uint32_t ad_math_mask(Ad *ad, IrMath fn, IrScalar scalar);
/* Removes unused pure instructions. */
void ad_clean(IrFunc *func);
/* PRODUCT, or 0 where NONE of it counts and it is NaN.  Elsewhere it is the product that is zero,
   so that the derivative of this is that of a product. */
IrValue *ad_zero_for_nan(IrBuilder *b, IrValue *product, IrValue *none);

/* ---- the mixed function ---- */

/* A call in the mixed function: operands and results of a JVP of CALLEE, with as many lanes as the
   function's. */
typedef struct MixedCall {
    IrFunc *callee;
    const uint8_t *in_active, *out_active;
    /* Or CALLEE is a reverse rule, which the transposed call is: operands are its first ones, then
       tangents of those of its results for which in_active says so; results are tangents, for each
       of its last operands. */
    bool is_rule;
    const bool *uses; /* of a rule: which of its first operands it reads */
} MixedCall;

/* A dimension of a linear array: a constant, or a nonlinear value of the mixed function. */
typedef struct Dim {
    int64_t size; /* -1: see value */
    IrValue *value;
} Dim;

typedef struct Mixed {
    Ad *ad;
    IrFunc *func;   /* (params..., tangents...) -> (results..., tangents...) */
    Bitset linear;  /* by value id: tangents, their accumulators and tapes */
    Bitset zero;    /* linear values that are zero by construction */
    Map partners;   /* linear value to a nonlinear value of the same sizes */
    Map calls;      /* CALL to MixedCall */
    Map dims;       /* value to its Dim array (shape.c) */
    Map inputs;     /* instruction with regions to what they take from outside (needs.c) */
    Map kept;       /* value of a map's body to the map's result that has it, by index (keep.c) */
    Map has_linear; /* instructions that are, or contain, something linear (transposing only) */
    Bitset
        changed; /* of a kernel: shared arrays that it changes, by their roots (transposing only) */
    uint32_t options;
    bool transposed; /* made to be transposed, not as a JVP */
} Mixed;

/* The reverse rule that a linear call stands for, or NULL: another call, or none. */
static inline const MixedCall *rule_call(const Mixed *mixed, const IrInst *inst) {
    const MixedCall *info = inst->op == IR_CALL ? map_getp(&mixed->calls, inst) : NULL;
    return info && info->is_rule ? info : NULL;
}
static inline bool is_rule_call(const Mixed *mixed, const IrInst *inst) {
    return rule_call(mixed, inst) != NULL;
}
/* Into FUNC, whose body has its parameters and nothing else. */
Mixed *ad_linearise(Ad *ad, const AdRequest *request, IrFunc *func, bool transposed);
void mixed_free(Mixed *mixed);
static inline bool is_linear(const Mixed *mixed, const IrValue *value) {
    return bitset_has(&mixed->linear, value->id);
}
static inline bool is_zero(const Mixed *mixed, const IrValue *value) {
    return bitset_has(&mixed->zero, value->id);
}
static inline bool has_linear(const Mixed *mixed, const IrInst *inst) {
    return map_hasp(&mixed->has_linear, inst);
}
/* Is VALUE an array of several invocations' that the function changes; does INST have to do with
   one, so that it cannot run again (shared.c)? */
bool ad_is_shared(const Mixed *mixed, const IrValue *value);
bool ad_reads_shared(const Mixed *mixed, const IrInst *inst);
/* The dimensions of a linear array; instructions for them may be put behind the primal ones. */
const Dim *mixed_dims(Mixed *mixed, IrValue *linear);
/* Is SIZE that of dimension K of LINEAR? */
bool mixed_dim_is(Mixed *mixed, IrValue *linear, uint32_t k, IrValue *size);

/* ---- the residual plan ---- */

/* FULL: forward and reverse sweep run in one region, all is visible (the body of GRAD).
   SPLIT: they run in two regions, what is saved goes over a tape (loop bodies, branches, pairs).
   LITE: the reverse region runs what it needs again (parallel regions).
   The body of a checkpointed loop is FULL: its reverse runs one trip forward, then back. */
typedef enum ScopeKind { SCOPE_FULL, SCOPE_SPLIT, SCOPE_LITE } ScopeKind;

typedef struct Scope {
    ScopeKind kind;
    uint32_t depth;
    int64_t freq;
    const IrRegion *region;
    struct Scope *parent;
    VEC(IrValue *) saved; /* pushed at the end of the forward region, in order of ids */
    bool tape;            /* something is pushed here or within */
    bool reruns;          /* the body of a loop in a LITE scope that runs again to leave a tape */
    int64_t checkpoint;   /* the body of a loop of which states are kept: IR_KEEP_... (0: not so) */
} Scope;

typedef struct Plan {
    Map scopes; /* region of the mixed function to its Scope */
    VEC(Scope *) all;
    Bitset saved; /* values on the tape */
    Bitset again; /* values that the reverse region of their scope computes again */
} Plan;

Plan *ad_plan(Ad *ad, Mixed *mixed, ScopeKind kind);
void plan_free(Plan *plan);
static inline Scope *plan_scope(const Plan *plan, const IrRegion *region) {
    return map_getp(&plan->scopes, region);
}
/* Calls VISIT for the nonlinear values that the transpose of INST (not of its regions' content)
   needs in the reverse sweep. */
void ad_linear_needs(Mixed *mixed, IrInst *inst, void (*visit)(IrValue *, void *), void *data);
/* The result that has VALUE of a map's body, by the indices of that body, or NULL. */
IrValue *ad_kept(const Mixed *mixed, const IrValue *value);
/* Calls VISIT for the nonlinear values that the regions of INST take from outside. */
void ad_nonlinear_captures(Mixed *mixed, const IrInst *inst, void (*visit)(IrValue *, void *),
                           void *data);
/* The policy for the loop INST, IR_KEEP_DEFAULT where none is given or its trips cannot be run
   again. */
int64_t ad_checkpoint(Mixed *mixed, const IrInst *inst);
/* Calls VISIT for each use in the regions of INST of a linear value that is defined outside;
   accumulators are left out. */
void ad_linear_captures(Mixed *mixed, const IrInst *inst, void (*visit)(IrValue *, void *),
                        void *data);

/* Tells what was decided, if the module asks for it (remarks.c).  PLAN is NULL of a JVP. */
void ad_remark(Ad *ad, const AdRequest *request, Mixed *mixed, const Plan *plan);

/* Minimum cut of a directed graph: nodes 0 .. n-1. */
typedef struct Cut Cut;
#define CUT_INFINITE (INT64_C(1) << 60)
Cut *cut_new(Arena *arena, uint32_t nodes);
void cut_edge(Cut *cut, uint32_t from, uint32_t to, int64_t capacity);
int64_t cut_solve(Cut *cut, uint32_t source, uint32_t sink);
/* After solving: is NODE on the sink's side (the cut nearest to the sink)? */
bool cut_sink_side(const Cut *cut, uint32_t node);
void cut_free(Cut *cut);

/* ---- the sweeps ---- */

/* What a cotangent that is zero may stand for: for nothing at all, where no branch, trip or call
   that ran has added to it.  So that nothing meets an infinite slope, products with it are guarded;
   those with elements of arrays, and with what loops carry, only where the slope is infinite by its
   form. */
typedef enum Zero { ZERO_IS_ZERO, ZERO_MAY_BE_NOTHING, ZERO_OF_ELEMENT } Zero;

/* When a cotangent counts.  PRESENT: a condition without which it is zero and stands for nothing
   (NULL: none).  SOFT: the condition hardly ever fails (a loop without a trip), so that a map is
   not put under it as a whole, but its products are.  WHOLE: of an array, each of its elements
   counts where the array does. */
typedef struct When {
    IrValue *present;
    bool soft;
    Zero zero;
    bool whole;
} When;

/* What is known of the additions to an accumulator of cotangents: that one is met, at each place,
   whenever INST, which it stands round, is transposed; ZERO is what that one's zero may stand for.
   Or that one would be, but for a branch of INST's region. */
typedef struct Additions {
    const IrInst *inst;
    uint32_t guards; /* of Transposer, when it was made */
    uint32_t n;      /* how many there are */
    bool are_sure;
    Zero zero;
    const IrRegion *branch; /* where the first one stands, if its places are all of INST's */
} Additions;

/* A cotangent on its way: a sum so far (NULL: zero), or an accumulator. */
typedef struct Ct {
    IrValue *value;
    When when;
    bool is_acc;
    Additions *additions; /* of an accumulator */
    IrValue *mask; /* of an array: which of its elements count, others being absent; or NULL */
    Zero masked;   /* what a zero of those may stand for */
} Ct;

typedef struct Transposer {
    Ad *ad;
    Mixed *mixed;
    Plan *plan;
    IrBuilder b;
    IrValue **forward;      /* by id of the mixed value: where the forward sweep has it */
    IrValue **now;          /* the same for the reverse sweep and what runs again there */
    Ct *ct;                 /* by id of the linear value; see ct_at */
    const IrRegion *region; /* whose instructions are being transposed */
    Map tapes;              /* mixed instruction to its own tape, in FULL and LITE scopes */
    IrValue *tape;          /* the tape that is threaded through a SPLIT scope, else NULL */
    uint32_t guards;        /* conditions round what is being transposed (transpose_guarded) */
    uint32_t options;
    bool is_kernel; /* what each invocation on a device runs */
} Transposer;

/* How a region is emitted.  EFFECTS: as the program's own (else: again, without them).  TAPE: what
   the plan says is pushed. */
typedef struct Emit {
    IrValue **map;
    bool effects, tape;
    const IrInst *root; /* again: the instruction whose copy this is part of, NULL: none */
} Emit;

IrValue *emit_value(const Emit *emit, const IrValue *value);
void emit_region(Transposer *t, const IrRegion *region, const Emit *emit);
void emit_inst(Transposer *t, const IrInst *inst, const Emit *emit);
/* A loop that leaves states on the tape (checkpoint.c). */
void emit_checkpointed(Transposer *t, const IrInst *inst, const Emit *emit);
/* The tape that INST starts with: the one that is threaded through this scope, or its own. */
IrValue *emit_tape_in(Transposer *t);
/* ... and ends with; OUTER: what was threaded before. */
void emit_tape_out(Transposer *t, const IrInst *inst, IrValue *outer, IrValue *tape);
/* The values to be saved of a SPLIT scope go onto the tape. */
void emit_pushes(Transposer *t, const Scope *scope, const Emit *emit);

/* The start of a reverse region: pops, and what is computed again. */
void reverse_begin(Transposer *t, const Scope *scope);
/* The linear instructions of REGION, from the last to the first. */
void reverse_region(Transposer *t, const IrRegion *region);
IrValue *now_of(Transposer *t, const IrValue *value);
IrValue **now_dims_of(Transposer *t, IrValue *linear); /* sizes of a linear array */
/* The cotangent of LINEAR.  All values of an array that invocations share have one: what is there.
 */
Ct *ct_at(const Transposer *t, const IrValue *linear);
void ct_add(Transposer *t, IrValue *linear, IrValue *value, When when);
Ct ct_take(Transposer *t, IrValue *linear);
/* A cotangent that counts WHEN was added to the accumulator of LINEAR, at N subscripts, values of
   the mixed function: notes whether each place is met. */
void ct_added(Transposer *t, IrValue *linear, uint32_t n, IrValue *const *at, When when);
/* Makes the cotangents of the arrays that a block shares, before BODY is transposed (shared.c). */
void ct_open_shared(Transposer *t, const IrRegion *body);
/* Is the cotangent of LINEAR an array to which other invocations may add at once?  Adds VALUE to
   its part at the N subscripts AT. */
bool ct_is_shared(const Transposer *t, const IrValue *linear);
void ct_add_shared(Transposer *t, const IrValue *linear, uint32_t n, IrValue *const *at,
                   IrValue *value, When when);
/* Its value, with zeros where there is none. */
IrValue *ct_value(Transposer *t, IrValue *linear);
IrValue *zeros_of(Transposer *t, IrValue *linear);
IrValue *ct_sum(Transposer *t, IrValue *a, IrValue *b);
/* The same for what a region or a call gave, which need not have added to it. */
void ct_add_given(Transposer *t, IrValue *linear, IrValue *value);
/* Is there anything on a tape of cotangents that another function, or a part that need not have
   run, gave?  What no path walked is empty, there being no zeros in the shape of a tape.  NULL:
   certainly. */
IrValue *ct_tape_present(Transposer *t, IrValue *tape);
When ct_given(const IrValue *value);
/* When a sum of two cotangents counts. */
When ct_either(Transposer *t, When a, When b);
/* When an element counts that was read from an array of cotangents that counts WHEN. */
When ct_element(const IrValue *element, When when);
static inline bool may_be_nothing(When when) {
    return when.present || when.zero != ZERO_IS_ZERO;
}
/* Is there nothing to transpose in INST, as none of its results has a cotangent? */
bool transpose_is_idle(const Transposer *t, const IrInst *inst);

/* Does REGION read the cotangent of an accumulator? */
bool region_adds(const Transposer *t, const IrRegion *region);
/* Where all cotangents of INST's results stand under a condition: TRANSPOSE, under it. */
bool transpose_guarded(Transposer *t, IrInst *inst, void (*transpose)(Transposer *, IrInst *));
void transpose_scalar(Transposer *t, IrInst *inst);
void transpose_array(Transposer *t, IrInst *inst);
void transpose_tape(Transposer *t, IrInst *inst);
void transpose_if(Transposer *t, IrInst *inst);
void transpose_loop(Transposer *t, IrInst *inst);
void transpose_checkpointed(Transposer *t, IrInst *inst); /* checkpoint.c */
void transpose_call(Transposer *t, IrInst *inst);
void transpose_rule(Transposer *t, IrInst *inst, const MixedCall *info); /* rule.c */
void transpose_parallel(Transposer *t, IrInst *inst);                    /* BUILD, REDUCE */
void transpose_with_acc(Transposer *t, IrInst *inst);
void transpose_shared(Transposer *t, IrInst *inst); /* shared.c */

void ad_make_grad(Ad *ad, const AdRequest *request, Mixed *mixed);
void ad_make_pair(Ad *ad, const AdRequest *request, Mixed *mixed);

#endif
