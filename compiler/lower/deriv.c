/* Derivatives: an instance of kind DERIV becomes a wrapper round the function that ir_deriv asks
   for.  The wrapper speaks of whole values (structs with integers in them, shadows, one seed); the
   derivative inside of flattened float parts only.

   The law of shadows: the shadow of mut memory goes in as the cotangent of its last value and comes
   out as that of its first; the shadow of what is only read gets the cotangent added.  Parts that
   are no floats are zero in returned derivatives and stay as they are in shadows.

   A request of width N speaks of blocks with N in front.  The derivative inside has values with
   lanes, which stand innermost: the block's lanes are put side by side on the way in and taken
   apart on the way out.  Their number is a power of two, which is what vectors of the machine are
   made for; where N is larger than LANES_AT_ONCE, there are several groups of so many.  Lanes
   beyond N are the last lane once more. */
#include "lower/internal.h"

#include <string.h>

/* One register of AVX-512, or two of AVX2.  More would share one primal, but their values no longer
   fit into the registers, and LLVM takes longer over them. */
enum { LANES_AT_ONCE = 8 };

typedef struct Deriv {
    Fn *f;
    const DerivSpec *spec;
    const Instance *base;
    IrFunc *base_func;
    uint8_t *in_active, *out_active; /* of the flattened base */
    uint32_t *param_at;              /* where each base parameter begins, captures included */
    uint32_t *final_at;              /* of mut ones, among the base's results */
    bool *in_seed;                   /* result leaves that are in R' */
    uint32_t nresult;                /* leaves of the base's result */
    uint32_t ncaptures;
    Vals captures;
    Vals *slots; /* the wrapper's parameters */
} Deriv;

/* What a call gave: the base's results, then the linear part. */
typedef struct Got {
    Vals primal, linear;
} Got;

/* Some lanes of the N in front of blocks: COUNT from FIRST on (NULL: 0).  COUNT 0: there are no
   blocks. */
typedef struct Group {
    IrValue *first;
    uint32_t count;
} Group;

static IrDerivMode mode_of(DerivPart part) {
    switch (part) {
    case DERIV_PART_GRAD: return IR_DERIV_GRAD;
    case DERIV_PART_JVP: return IR_DERIV_JVP;
    case DERIV_PART_FORWARD: return IR_DERIV_FORWARD;
    case DERIV_PART_REVERSE: return IR_DERIV_REVERSE;
    }
    UNREACHABLE("derivative part %d", part);
}

static const Shape *param_shape(const Deriv *d, uint32_t of) {
    return shape_of(d->f->lw, d->base->params[d->ncaptures + of]->type);
}

static uint32_t param_begin(const Deriv *d, uint32_t of) {
    return d->param_at[d->ncaptures + of];
}

/* ---- what is active ---- */

/* Marks what is left of a result in R': without Const and float-free parts; a struct stays whole.
 */
void deriv_mark_seed(Lower *lw, Type type, uint8_t act, bool *marks, uint32_t *at) {
    uint32_t n = shape_count(lw, type);
    bool none = act == ACT_CONST || !type->has_floats;
    Type element = type_element(type);
    if (!none && element->kind == TYPE_TUPLE) {
        for (uint32_t k = 0; k < element->nparts; k++) {
            uint8_t own = element->parts[k].act;
            bool whole = type->kind == TYPE_ARRAY;
            deriv_mark_seed(lw, element->parts[k].type,
                            own && !whole ? (uint8_t)(own - 1) : ACT_ACTIVE, marks, at);
        }
        return;
    }
    for (uint32_t i = 0; i < n; i++) marks[*at + i] = !none;
    *at += n;
}

static void find_active(Deriv *d) {
    Lower *lw = d->f->lw;
    const Instance *base = d->base;
    uint32_t at = 0, out = 0;
    d->param_at = ARENA_ARRAY(lw->arena, uint32_t, base->nparams + 1);
    d->final_at = ARENA_ARRAY(lw->arena, uint32_t, base->nparams + 1);
    d->in_active = ARENA_ARRAY(lw->arena, uint8_t, d->base_func->nparams + 1);
    d->out_active = ARENA_ARRAY(lw->arena, uint8_t, d->base_func->nresults + 1);
    d->nresult = shape_count(lw, base->result);
    d->in_seed = ARENA_ARRAY(lw->arena, bool, d->nresult + 1);
    deriv_mark_seed(lw, base->result, base->result_act, d->in_seed, &out);
    for (uint32_t i = 0; i < d->nresult; i++)
        d->out_active[i] = d->in_seed[i] && ir_can_be_active(d->base_func->results[i]);
    for (uint32_t p = 0; p < base->nparams; p++) {
        uint32_t n = shape_count(lw, base->params[p]->type);
        bool active = p >= d->ncaptures && d->spec->act[p - d->ncaptures] != ACT_CONST;
        d->param_at[p] = at;
        d->final_at[p] = out;
        for (uint32_t i = 0; i < n; i++)
            d->in_active[at + i] = active && ir_can_be_active(d->base_func->params[at + i]);
        if (base->params[p]->mut)
            for (uint32_t i = 0; i < n; i++, out++) d->out_active[out] = d->in_active[at + i];
        at += n;
    }
}

/* ---- slots ---- */

static Vals slot_value(const Deriv *d, DerivRole role, uint32_t of) {
    for (uint32_t i = 0; i < d->spec->nparams; i++) {
        const DerivSlot *slot = &d->spec->params[i];
        bool any = role == ROLE_SEED || role == ROLE_TAPE;
        if (slot->role == role && (any || slot->of == of)) return d->slots[i];
    }
    return (Vals){0};
}

/* A linear value with the lanes of GROUP. */
static IrValue *in_group(const Deriv *d, IrValue *x, const Group *group) {
    IrValue *parts[IR_MAX_LANES];
    Fn *f = d->f;
    if (!group->count) return x;
    for (uint32_t k = 0; k < group->count; k++) {
        IrValue *lane = emit_int(f, k);
        if (group->first) lane = emit_add(f, group->first, lane);
        lane = irb_binary(&f->b, IR_MIN, lane, emit_int(f, d->spec->width - 1));
        parts[k] = emit_index(f, x, 1, &lane);
    }
    return irb_lanes(&f->b, group->count, parts);
}

/* ---- the call ---- */

typedef VEC(IrValue *) Operands;

static void add_primal(const Deriv *d, Operands *args) {
    for (uint32_t i = 0; i < d->captures.n; i++) vec_push(args, d->captures.at[i]);
    for (uint32_t p = d->ncaptures; p < d->base->nparams; p++) {
        Vals value = slot_value(d, ROLE_PRIMAL, p - d->ncaptures);
        CHECK_INTERNAL(value.n == shape_count(d->f->lw, d->base->params[p]->type));
        for (uint32_t i = 0; i < value.n; i++) vec_push(args, value.at[i]);
    }
}

static void add_tangents(const Deriv *d, const Group *group, Operands *args) {
    for (uint32_t p = d->ncaptures; p < d->base->nparams; p++) {
        Vals value = slot_value(d, ROLE_TANGENT, p - d->ncaptures);
        for (uint32_t i = 0; i < value.n; i++)
            if (d->in_active[d->param_at[p] + i]) vec_push(args, in_group(d, value.at[i], group));
    }
}

static IrValue *cotangent_of_result(const Deriv *d, Vals seed, uint32_t *at, uint32_t i,
                                    const Group *group) {
    IrType type = d->base_func->results[i];
    IrScalar scalar = ir_scalar_with(type->scalar, group->count);
    IrValue *value = seed.at ? seed.at[*at] : NULL;
    (*at)++;
    if (!d->out_active[i]) return NULL;
    if (value) return in_group(d, value, group);
    /* Of a holomorphic function the seed is 1, too: 0 in the imaginary part. */
    bool is_im = d->spec->holomorphic && i == 1;
    return irb_scalar_const(&d->f->b, scalar, !is_im, is_im ? 0.0 : 1.0);
}

static void add_cotangents(const Deriv *d, const Group *group, Operands *args) {
    Vals seed = slot_value(d, ROLE_SEED, 0);
    uint32_t at = 0;
    for (uint32_t i = 0; i < d->nresult; i++) {
        if (!d->in_seed[i]) continue;
        IrValue *value = cotangent_of_result(d, seed, &at, i, group);
        if (value) vec_push(args, value);
    }
    for (uint32_t p = d->ncaptures; p < d->base->nparams; p++) {
        if (!d->base->params[p]->mut) continue;
        Vals shadow = slot_value(d, ROLE_SHADOW, p - d->ncaptures);
        for (uint32_t i = 0; i < shadow.n; i++)
            if (d->in_active[d->param_at[p] + i]) vec_push(args, in_group(d, shadow.at[i], group));
    }
}

/* The cotangent of a holomorphic function at seed 1 is the conjugate of its derivative. */
static void conjugate(const Deriv *d, Vals linear) {
    uint32_t at = 0;
    for (uint32_t p = d->ncaptures; p < d->base->nparams; p++) {
        if (d->spec->act[p - d->ncaptures] == ACT_CONST) continue;
        CHECK_INTERNAL(type_is_complex(d->base->params[p]->type));
        linear.at[at + 1] = irb_elementwise(&d->f->b, IR_NEG, linear.at[at + 1], NULL);
        at += 2;
    }
}

static IrFunc *func_of(const Deriv *d, uint32_t lanes) {
    return ir_deriv(d->f->lw->module, mode_of(d->spec->part), d->base_func, d->in_active,
                    d->out_active,
                    (d->spec->strong_zero ? IR_STRONG_ZERO : 0u) | ir_lanes_option(lanes) |
                        ir_checkpoint_option(d->spec->checkpoint));
}

/* The results of a call: those of the base, the linear ones with the lanes of GROUP. */
static Got call_deriv(const Deriv *d, const Group *group) {
    DerivPart part = d->spec->part;
    Operands args = {0};
    IrFunc *func = func_of(d, group->count ? group->count : 1);
    if (part == DERIV_PART_REVERSE) vec_push(&args, slot_value(d, ROLE_TAPE, 0).at[0]);
    else add_primal(d, &args);
    if (part == DERIV_PART_JVP) add_tangents(d, group, &args);
    if (part == DERIV_PART_GRAD || part == DERIV_PART_REVERSE) add_cotangents(d, group, &args);
    CHECK_INTERNAL(args.len == func->nparams);
    IrInst *call = irb_call(&d->f->b, func, args.at);
    vec_free(&args);
    Vals all = vals_new(d->f->lw, call->nresults);
    for (uint32_t i = 0; i < all.n; i++) all.at[i] = call->results[i];
    uint32_t nprimal = part == DERIV_PART_REVERSE ? 0 : d->base_func->nresults;
    return (Got){vals_slice(all, 0, nprimal), vals_slice(all, nprimal, all.n - nprimal)};
}

/* ---- from the call to the wrapper's linear results ---- */

IrValue *deriv_zero(Fn *f, IrValue *x, const Leaf *leaf) {
    if (x && (x->type->kind == IR_T_SCALAR || x->type->kind == IR_T_ARRAY))
        return irb_zeros_like(&f->b, x);
    Shape one = {.n = 1, .leaf = (Leaf *)leaf};
    return emit_nothing(f, &one).at[0];
}

/* The same for each of the N lanes. */
static IrValue *zero_block(const Deriv *d, IrValue *x, const Leaf *leaf) {
    IrValue *zero = deriv_zero(d->f, x, leaf), *sizes[IR_MAX_RANK], *width;
    uint32_t rank = zero->type->rank;
    IrBuilder *b = &d->f->b;
    if (!d->spec->width) return zero;
    for (uint32_t k = 0; k < rank; k++) sizes[k] = irb_dim(b, zero, k);
    width = emit_int(d->f, d->spec->width);
    IrInst *build = irb_build(b, 1, &width, 1, &zero->type, rank, sizes);
    IrBuilder inner = *b;
    irb_at_end(&inner, build->regions[0]);
    irb_yield(&inner, 1, &zero);
    return build->results[0];
}

/* Where the cotangent of flattened parameter AT stands among the linear results. */
static uint32_t active_before(const uint8_t *active, uint32_t at) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < at; i++) n += active[i] != 0;
    return n;
}

static void add_cotangent(const Deriv *d, const Got *got, uint32_t of, Operands *out) {
    const Shape *shape = param_shape(d, of);
    Vals primal = slot_value(d, ROLE_PRIMAL, of);
    uint32_t begin = param_begin(d, of);
    for (uint32_t i = 0; i < shape->n; i++) {
        bool active = d->in_active[begin + i];
        vec_push(out, active ? got->linear.at[active_before(d->in_active, begin + i)]
                             : zero_block(d, primal.at ? primal.at[i] : NULL, &shape->leaf[i]));
    }
}

static void add_shadow(const Deriv *d, const Got *got, uint32_t of, Operands *out) {
    Vals shadow = slot_value(d, ROLE_SHADOW, of);
    uint32_t begin = param_begin(d, of);
    bool mut = d->base->params[d->ncaptures + of]->mut;
    for (uint32_t i = 0; i < shadow.n; i++) {
        IrValue *own = shadow.at[i];
        if (d->in_active[begin + i]) {
            IrValue *got_it = got->linear.at[active_before(d->in_active, begin + i)];
            own = mut ? got_it : irb_elementwise(&d->f->b, IR_ADD, own, got_it);
        }
        vec_push(out, own);
    }
}

static void add_tangent_of_result(const Deriv *d, const Got *got, Operands *out) {
    const Shape *shape = shape_of(d->f->lw, d->base->result);
    for (uint32_t i = 0; i < d->nresult; i++) {
        if (!d->in_seed[i]) continue;
        vec_push(out, d->out_active[i] ? got->linear.at[active_before(d->out_active, i)]
                                       : zero_block(d, got->primal.at[i], &shape->leaf[i]));
    }
}

static void add_tangent_of_memory(const Deriv *d, const Got *got, uint32_t of, Operands *out) {
    Vals tangent = slot_value(d, ROLE_TANGENT, of);
    uint32_t at = d->final_at[d->ncaptures + of];
    for (uint32_t i = 0; i < tangent.n; i++)
        vec_push(out, d->out_active[at + i] ? got->linear.at[active_before(d->out_active, at + i)]
                                            : tangent.at[i]);
}

/* All linear results of the wrapper: first those returned, then memory. */
static Vals linear_of(const Deriv *d, const Got *got) {
    Operands out = {0};
    for (uint32_t i = 0; i < d->spec->nresults; i++) {
        const DerivSlot *slot = &d->spec->results[i];
        if (slot->role == ROLE_COTANGENT) add_cotangent(d, got, slot->of, &out);
        if (slot->role == ROLE_TANGENT) add_tangent_of_result(d, got, &out);
    }
    for (uint32_t i = 0; i < d->spec->nparams; i++) {
        const DerivSlot *slot = &d->spec->params[i];
        if (!slot->mut) continue;
        if (slot->role == ROLE_SHADOW) add_shadow(d, got, slot->of, &out);
        if (slot->role == ROLE_TANGENT) add_tangent_of_memory(d, got, slot->of, &out);
    }
    Vals all = vals_new(d->f->lw, out.len);
    if (out.len) memcpy(all.at, out.at, out.len * sizeof *out.at);
    vec_free(&out);
    return all;
}

/* ---- lanes ---- */

static Vals base_results(const Deriv *d) {
    Operands args = {0};
    add_primal(d, &args);
    IrInst *call = irb_call(&d->f->b, d->base_func, args.at);
    vec_free(&args);
    Vals all = vals_new(d->f->lw, call->nresults);
    for (uint32_t i = 0; i < all.n; i++) all.at[i] = call->results[i];
    return all;
}

/* The block of VALUE, whose lanes are all or (with a dimension in front for them) those of groups
   of SIZE. */
static IrValue *as_block(const Deriv *d, IrValue *value, uint32_t size, bool grouped) {
    IrBuilder *b = &d->f->b, inner;
    IrValue *sizes[IR_MAX_RANK], *at[IR_MAX_RANK], *lanes[IR_MAX_LANES];
    IrType elem = ir_scalar(b->module, ir_scalar_base(value->type->scalar));
    uint32_t rank = value->type->rank - grouped;
    if (!grouped && (rank == 0 || size == 1)) {
        for (uint32_t k = 0; k < d->spec->width; k++)
            lanes[k] = irb_lane(b, value, emit_int(d->f, k));
        return irb_pack(b, d->spec->width, lanes);
    }
    sizes[0] = emit_int(d->f, d->spec->width);
    for (uint32_t k = 0; k < rank; k++) sizes[1 + k] = irb_dim(b, value, k + grouped);
    IrInst *build = irb_build(b, 1 + rank, sizes, 1, &elem, 0, NULL);
    IrValue **params = build->regions[0]->params, *lane = params[0];
    inner = *b;
    irb_at_end(&inner, build->regions[0]);
    if (grouped) {
        IrValue *by = irb_int(&inner, size);
        at[0] = irb_binary(&inner, IR_DIV, lane, by);
        lane = irb_binary(&inner, IR_MOD, lane, by);
    }
    for (uint32_t k = 0; k < rank; k++) at[k + grouped] = params[1 + k];
    IrValue *element = irb_index(&inner, value, rank + grouped, at);
    element = irb_lane(&inner, element, lane);
    irb_yield(&inner, 1, &element);
    return build->results[0];
}

static Vals as_blocks(const Deriv *d, Vals linear, uint32_t size, bool grouped) {
    Vals out = vals_new(d->f->lw, linear.n);
    for (uint32_t i = 0; i < out.n; i++) out.at[i] = as_block(d, linear.at[i], size, grouped);
    return out;
}

/* The shapes of a call's linear results with SIZE lanes, and in front a dimension for groups. */
typedef struct Groups {
    const Deriv *d;
    uint32_t n, size;
    VEC(Leaf) leaves;
} Groups;

static void add_leaves(Groups *groups, Type type, const uint8_t *active) {
    Lower *lw = groups->d->f->lw;
    const Shape *shape = shape_of(lw, type);
    for (uint32_t i = 0; i < shape->n; i++) {
        Leaf leaf = shape->leaf[i];
        Size *dims = ARENA_ARRAY(lw->arena, Size, leaf.rank + 1);
        int64_t known[IR_MAX_RANK];
        if (!active[i]) continue;
        CHECK_INTERNAL(leaf.rank < IR_MAX_RANK);
        dims[0] = size_const(lw->program->types, groups->n);
        for (uint32_t k = 0; k < leaf.rank; k++) dims[k + 1] = leaf.dims[k];
        leaf.rank++;
        leaf.kind = IR_T_ARRAY;
        leaf.dims = dims;
        for (uint32_t k = 0; k < leaf.rank; k++)
            known[k] = dims[k]->kind == SIZE_CONST ? dims[k]->value : -1;
        leaf.scalar = ir_scalar_with(leaf.scalar, groups->size);
        leaf.type = ir_array(lw->module, leaf.scalar, leaf.rank, known);
        vec_push(&groups->leaves, leaf);
    }
}

static void add_all_leaves(Groups *groups) {
    const Deriv *d = groups->d;
    bool forward = d->spec->part == DERIV_PART_JVP;
    if (forward) add_leaves(groups, d->base->result, d->out_active);
    for (uint32_t p = 0; p < d->base->nparams; p++) {
        Type type = d->base->params[p]->type;
        if (!forward) add_leaves(groups, type, d->in_active + d->param_at[p]);
        else if (d->base->params[p]->mut) add_leaves(groups, type, d->out_active + d->final_at[p]);
    }
}

static Vals group_body(Fn *f, IrValue *const *indices, void *data) {
    const Groups *groups = data;
    Group group = {emit_mul(f, indices[0], emit_int(f, groups->size)), groups->size};
    return call_deriv(groups->d, &group).linear;
}

/* The derivative for N groups of SIZE: its linear results, with a dimension in front. */
static Vals call_groups(const Deriv *d, uint32_t n, uint32_t size) {
    Groups groups = {d, n, size, {0}};
    IrValue *count = emit_int(d->f, n);
    add_all_leaves(&groups);
    Shape shape = {.n = groups.leaves.len, .leaf = groups.leaves.at};
    Vals all = emit_build(d->f, 1, &count, &shape, group_body, &groups);
    vec_free(&groups.leaves);
    return all;
}

_Static_assert((int)DERIV_MOST_LANES == (int)IR_MAX_LANES, "effects.c promises so many");

/* How many lanes the derivative has for a width: the next power of two, up to MOST. */
static uint32_t lanes_for(uint32_t width, uint32_t most) {
    uint32_t lanes = width ? 1 : 0;
    while (lanes < width && lanes < most) lanes *= 2;
    return lanes;
}

/* Is anything of the base's results wanted: they themselves, memory, or the shape of some that have
   no tangent? */
static bool wants_primal(const Deriv *d) {
    bool wants = false;
    if (d->spec->part == DERIV_PART_REVERSE) return false;
    for (uint32_t i = 0; i < d->spec->nresults; i++)
        wants |= d->spec->results[i].role == ROLE_PRIMAL ||
                 d->spec->results[i].role == ROLE_RESULT_SHADOW;
    for (uint32_t i = 0; i < d->spec->nparams; i++)
        wants |= d->spec->params[i].role == ROLE_PRIMAL && d->spec->params[i].mut;
    for (uint32_t i = 0; i < d->nresult; i++) wants |= d->in_seed[i] && !d->out_active[i];
    return wants;
}

static Got run(const Deriv *d) {
    uint32_t width = d->spec->part == DERIV_PART_FORWARD ? 0 : d->spec->width;
    /* What has effects runs once. */
    uint32_t most = d->spec->effects ? DERIV_MOST_LANES : LANES_AT_ONCE;
    uint32_t size = lanes_for(width, most), ngroups = size ? (width + size - 1) / size : 0;
    Group all = {NULL, size};
    Got got = {.primal = {0}};
    if (ngroups <= 1) {
        got = call_deriv(d, &all);
        if (width) got.linear = as_blocks(d, got.linear, size, false);
    } else {
        if (wants_primal(d)) got.primal = base_results(d);
        got.linear = as_blocks(d, call_groups(d, ngroups, size), size, true);
    }
    if (d->spec->part == DERIV_PART_FORWARD) return got;
    if (d->spec->holomorphic) conjugate(d, got.linear);
    got.linear = linear_of(d, &got);
    return got;
}

/* ---- the wrapper ---- */

static Vals result_shadow(const Deriv *d, Vals primal) {
    Operands out = {0};
    for (uint32_t i = 0; i < d->nresult; i++)
        if (d->in_seed[i]) vec_push(&out, irb_zeros_like(&d->f->b, primal.at[i]));
    Vals all = vals_new(d->f->lw, out.len);
    if (out.len) memcpy(all.at, out.at, out.len * sizeof *out.at);
    vec_free(&out);
    return all;
}

static void yield_all(const Deriv *d, const Got *got) {
    Operands out = {0};
    uint32_t at = 0; /* in the linear results */
    for (uint32_t i = 0; i < d->spec->nresults; i++) {
        const DerivSlot *slot = &d->spec->results[i];
        uint32_t n = shape_count(d->f->lw, slot->type);
        Vals part;
        if (slot->role == ROLE_PRIMAL) part = vals_slice(got->primal, 0, d->nresult);
        else if (slot->role == ROLE_TAPE) part = got->linear;
        else if (slot->role == ROLE_RESULT_SHADOW) part = result_shadow(d, got->primal);
        else part = vals_slice(got->linear, at, n), at += n;
        for (uint32_t k = 0; k < part.n; k++) vec_push(&out, part.at[k]);
    }
    for (uint32_t i = 0; i < d->spec->nparams; i++) {
        const DerivSlot *slot = &d->spec->params[i];
        uint32_t n = shape_count(d->f->lw, slot->type);
        if (!slot->mut) continue;
        Vals part;
        if (slot->role == ROLE_PRIMAL)
            part = vals_slice(got->primal, d->final_at[d->ncaptures + slot->of], n);
        else part = vals_slice(got->linear, at, n), at += n;
        for (uint32_t k = 0; k < part.n; k++) vec_push(&out, part.at[k]);
    }
    irb_yield(&d->f->b, out.len, out.at);
    vec_free(&out);
}

/* Of a reverse pass: the tape without the sizes on top of it. */
static void take_sizes(Deriv *d) {
    for (uint32_t i = 0; i < d->spec->nparams; i++) {
        if (d->spec->params[i].role != ROLE_TAPE) continue;
        Vals below = vals_new(d->f->lw, 1);
        below.at[0] = tape_take_sizes(d->f, d->base, d->slots[i].at[0], slot_value(d, ROLE_SEED, 0),
                                      d->spec->width > 0, d->in_seed);
        d->slots[i] = below;
    }
}

void lower_deriv(Lower *lw, const Instance *inst) {
    IrFunc *func = map_getp(&lw->funcs, inst);
    Fn *f = fn_open(lw, inst, func);
    Deriv d = {.f = f, .spec = inst->deriv, .base = inst->deriv->base_instance};
    uint32_t at = 0;
    func->flags |= IR_FUNC_INLINE;
    d.base_func = lower_func(lw, d.base);
    d.ncaptures = d.base->ncaptures;
    CHECK_INTERNAL(inst->ncaptures == d.ncaptures);
    find_active(&d);
    Vals all = {func->body->params, func->nparams};
    for (uint32_t p = 0; p < d.ncaptures; p++) at += shape_count(lw, inst->params[p]->type);
    d.captures = vals_slice(all, 0, at);
    d.slots = ARENA_ARRAY(lw->arena, Vals, d.spec->nparams + 1);
    for (uint32_t i = 0; i < d.spec->nparams; i++) {
        uint32_t n = shape_count(lw, d.spec->params[i].type);
        d.slots[i] = size_assume(f, d.spec->params[i].type, vals_slice(all, at, n));
        at += n;
    }
    CHECK_INTERNAL(at == all.n);
    take_sizes(&d);
    Got got = run(&d);
    if (d.spec->part == DERIV_PART_FORWARD)
        got.linear.at[0] = tape_put_sizes(f, d.base, got.linear.at[0],
                                          vals_slice(got.primal, 0, d.nresult), d.in_seed);
    yield_all(&d, &got);
    fn_close(f);
}
