/* Derivatives: an instance of kind DERIV becomes a wrapper round the function that ir_deriv asks
   for.  The wrapper speaks of whole values (structs with integers in them, shadows, one seed); the
   derivative inside of flattened float parts only.

   The law of shadows: the shadow of mut memory goes in as the cotangent of its last value and comes
   out as that of its first; the shadow of what is only read gets the cotangent added.  Parts that
   are no floats are zero in returned derivatives and stay as they are in shadows.

   A request of width N has a few lanes at once in the derivative, where primal parts are there once,
   and a BUILD over such groups where N is larger.  A reverse pass, which has no primal part, is called
   for each lane. */
#include "lower/internal.h"

#include <string.h>

enum { UNROLLED_LANES = IR_MAX_LANES };

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

/* What one call gave: the base's results, then the linear part. */
typedef struct Lane {
    Vals primal, linear;
} Lane;

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
            deriv_mark_seed(lw, element->parts[k].type, own && !whole ? (uint8_t)(own - 1) : ACT_ACTIVE,
                      marks, at);
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

static bool is_linear(DerivRole role) {
    return role == ROLE_SHADOW || role == ROLE_TANGENT || role == ROLE_SEED ||
           role == ROLE_COTANGENT;
}

/* A linear value in one lane. */
static IrValue *in_lane(const Deriv *d, IrValue *x, IrValue *lane) {
    return lane ? emit_index(d->f, x, 1, &lane) : x;
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

static void add_tangents(const Deriv *d, IrValue *lane, Operands *args) {
    for (uint32_t p = d->ncaptures; p < d->base->nparams; p++) {
        Vals value = slot_value(d, ROLE_TANGENT, p - d->ncaptures);
        for (uint32_t i = 0; i < value.n; i++)
            if (d->in_active[d->param_at[p] + i]) vec_push(args, in_lane(d, value.at[i], lane));
    }
}

static IrValue *cotangent_of_result(const Deriv *d, Vals seed, uint32_t *at, uint32_t i,
                                    IrValue *lane) {
    IrType type = d->base_func->results[i];
    IrValue *value = seed.at ? in_lane(d, seed.at[*at], lane) : NULL;
    (*at)++;
    if (!d->out_active[i]) return NULL;
    /* Of a holomorphic function the seed is 1, too: 0 in the imaginary part. */
    bool is_im = d->spec->holomorphic && i == 1;
    return value ? value : irb_scalar_const(&d->f->b, type->scalar, !is_im, is_im ? 0.0 : 1.0);
}

static void add_cotangents(const Deriv *d, IrValue *lane, Operands *args) {
    Vals seed = slot_value(d, ROLE_SEED, 0);
    uint32_t at = 0;
    for (uint32_t i = 0; i < d->nresult; i++) {
        if (!d->in_seed[i]) continue;
        IrValue *value = cotangent_of_result(d, seed, &at, i, lane);
        if (value) vec_push(args, value);
    }
    for (uint32_t p = d->ncaptures; p < d->base->nparams; p++) {
        if (!d->base->params[p]->mut) continue;
        Vals shadow = slot_value(d, ROLE_SHADOW, p - d->ncaptures);
        for (uint32_t i = 0; i < shadow.n; i++)
            if (d->in_active[d->param_at[p] + i]) vec_push(args, in_lane(d, shadow.at[i], lane));
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

/* The results of a call in N lanes: those of the base, the linear ones of each lane. */
static void call_lanes(const Deriv *d, IrValue *const *lanes, uint32_t n, Lane *got) {
    DerivPart part = d->spec->part;
    Operands args = {0};
    IrFunc *func = func_of(d, n);
    if (part == DERIV_PART_REVERSE) vec_push(&args, slot_value(d, ROLE_TAPE, 0).at[0]);
    else add_primal(d, &args);
    for (uint32_t k = 0; k < n; k++) {
        if (part == DERIV_PART_JVP) add_tangents(d, lanes[k], &args);
        if (part == DERIV_PART_GRAD || part == DERIV_PART_REVERSE)
            add_cotangents(d, lanes[k], &args);
    }
    CHECK_INTERNAL(args.len == func->nparams);
    IrInst *call = irb_call(&d->f->b, func, args.at);
    vec_free(&args);
    Vals all = vals_new(d->f->lw, call->nresults);
    for (uint32_t i = 0; i < all.n; i++) all.at[i] = call->results[i];
    uint32_t nprimal = part == DERIV_PART_REVERSE ? 0 : d->base_func->nresults;
    uint32_t nlinear = (all.n - nprimal) / n;
    for (uint32_t k = 0; k < n; k++) {
        got[k] = (Lane){vals_slice(all, 0, nprimal),
                        vals_slice(all, nprimal + k * nlinear, nlinear)};
        if (d->spec->holomorphic) conjugate(d, got[k].linear);
    }
}

/* ---- from the call to the wrapper's linear results ---- */

IrValue *deriv_zero(Fn *f, IrValue *x, const Leaf *leaf) {
    if (x && (x->type->kind == IR_T_SCALAR || x->type->kind == IR_T_ARRAY))
        return irb_zeros_like(&f->b, x);
    Shape one = {.n = 1, .leaf = (Leaf *)leaf};
    return emit_nothing(f, &one).at[0];
}

/* Where the cotangent of flattened parameter AT stands among the linear results. */
static uint32_t active_before(const uint8_t *active, uint32_t at) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < at; i++) n += active[i] != 0;
    return n;
}

static void add_cotangent(const Deriv *d, const Lane *got, uint32_t of, Operands *out) {
    const Shape *shape = param_shape(d, of);
    Vals primal = slot_value(d, ROLE_PRIMAL, of);
    uint32_t begin = param_begin(d, of);
    for (uint32_t i = 0; i < shape->n; i++) {
        bool active = d->in_active[begin + i];
        vec_push(out, active ? got->linear.at[active_before(d->in_active, begin + i)]
                             : deriv_zero(d->f, primal.at ? primal.at[i] : NULL, &shape->leaf[i]));
    }
}

static void add_shadow(const Deriv *d, const Lane *got, uint32_t of, IrValue *lane, Operands *out) {
    Vals shadow = slot_value(d, ROLE_SHADOW, of);
    uint32_t begin = param_begin(d, of);
    bool mut = d->base->params[d->ncaptures + of]->mut;
    for (uint32_t i = 0; i < shadow.n; i++) {
        IrValue *own = in_lane(d, shadow.at[i], lane);
        if (d->in_active[begin + i]) {
            IrValue *got_it = got->linear.at[active_before(d->in_active, begin + i)];
            own = mut ? got_it : irb_elementwise(&d->f->b, IR_ADD, own, got_it);
        }
        vec_push(out, own);
    }
}

static void add_tangent_of_result(const Deriv *d, const Lane *got, Operands *out) {
    const Shape *shape = shape_of(d->f->lw, d->base->result);
    for (uint32_t i = 0; i < d->nresult; i++) {
        if (!d->in_seed[i]) continue;
        vec_push(out, d->out_active[i] ? got->linear.at[active_before(d->out_active, i)]
                                       : deriv_zero(d->f, got->primal.at[i], &shape->leaf[i]));
    }
}

static void add_tangent_of_memory(const Deriv *d, const Lane *got, uint32_t of, IrValue *lane,
                                  Operands *out) {
    Vals tangent = slot_value(d, ROLE_TANGENT, of);
    uint32_t at = d->final_at[d->ncaptures + of];
    for (uint32_t i = 0; i < tangent.n; i++)
        vec_push(out, d->out_active[at + i] ? got->linear.at[active_before(d->out_active, at + i)]
                                            : in_lane(d, tangent.at[i], lane));
}

/* All linear results of the wrapper in one lane: first those returned, then memory. */
static Vals linear_of(const Deriv *d, const Lane *got, IrValue *lane) {
    Operands out = {0};
    for (uint32_t i = 0; i < d->spec->nresults; i++) {
        const DerivSlot *slot = &d->spec->results[i];
        if (slot->role == ROLE_COTANGENT) add_cotangent(d, got, slot->of, &out);
        if (slot->role == ROLE_TANGENT) add_tangent_of_result(d, got, &out);
    }
    for (uint32_t i = 0; i < d->spec->nparams; i++) {
        const DerivSlot *slot = &d->spec->params[i];
        if (!slot->mut) continue;
        if (slot->role == ROLE_SHADOW) add_shadow(d, got, slot->of, lane, &out);
        if (slot->role == ROLE_TANGENT) add_tangent_of_memory(d, got, slot->of, lane, &out);
    }
    Vals all = vals_new(d->f->lw, out.len);
    if (out.len) memcpy(all.at, out.at, out.len * sizeof *out.at);
    vec_free(&out);
    return all;
}

/* ---- lanes ---- */

/* The shapes of all linear results, lanes in front. */
static Shape *linear_shape(const Deriv *d) {
    VEC(Leaf) leaves = {0};
    for (int pass = 0; pass < 2; pass++) {
        uint32_t n = pass ? d->spec->nparams : d->spec->nresults;
        for (uint32_t i = 0; i < n; i++) {
            const DerivSlot *slot = pass ? &d->spec->params[i] : &d->spec->results[i];
            if (!is_linear(slot->role) || (pass && !slot->mut)) continue;
            const Shape *shape = shape_of(d->f->lw, slot->type);
            for (uint32_t k = 0; k < shape->n; k++) vec_push(&leaves, shape->leaf[k]);
        }
    }
    Shape *all = ARENA_NEW(d->f->lw->arena, Shape);
    all->n = leaves.len;
    all->leaf = ARENA_ARRAY(d->f->lw->arena, Leaf, leaves.len);
    if (leaves.len) memcpy(all->leaf, leaves.at, leaves.len * sizeof *leaves.at);
    vec_free(&leaves);
    return all;
}

/* COUNT lanes from FIRST_LANE on (NULL: 0). */
static Lane run_unrolled(const Deriv *d, IrValue *first_lane, uint32_t count) {
    Vals lanes[UNROLLED_LANES];
    Lane got[UNROLLED_LANES];
    IrValue *at[UNROLLED_LANES];
    for (uint32_t k = 0; k < count; k++) {
        at[k] = emit_int(d->f, k);
        if (first_lane) at[k] = emit_add(d->f, first_lane, at[k]);
    }
    uint32_t at_once = d->spec->part == DERIV_PART_REVERSE ? 1 : count;
    for (uint32_t k = 0; k < count; k += at_once) call_lanes(d, at + k, at_once, got + k);
    for (uint32_t k = 0; k < count; k++) lanes[k] = linear_of(d, &got[k], at[k]);
    Vals out = vals_new(d->f->lw, lanes[0].n);
    for (uint32_t i = 0; i < out.n; i++) {
        IrValue *row[UNROLLED_LANES];
        for (uint32_t k = 0; k < count; k++) row[k] = lanes[k].at[i];
        out.at[i] = irb_pack(&d->f->b, count, row);
    }
    return (Lane){got[0].primal, out};
}

static Vals base_results(const Deriv *d) {
    Operands args = {0};
    add_primal(d, &args);
    IrInst *call = irb_call(&d->f->b, d->base_func, args.at);
    vec_free(&args);
    Vals all = vals_new(d->f->lw, call->nresults);
    for (uint32_t i = 0; i < all.n; i++) all.at[i] = call->results[i];
    return all;
}

typedef struct Groups {
    const Deriv *d;
    uint32_t size;
} Groups;

static Vals group_body(Fn *f, IrValue *const *indices, void *data) {
    const Groups *groups = data;
    IrValue *first = emit_mul(f, indices[0], emit_int(f, groups->size));
    return run_unrolled(groups->d, first, groups->size).linear;
}

/* The shape of all linear results with the lanes' dimension cut into groups. */
static Shape *grouped_shape(const Deriv *d, uint32_t whole, uint32_t size) {
    Lower *lw = d->f->lw;
    Shape *shape = linear_shape(d);
    for (uint32_t i = 0; i < shape->n; i++) {
        Leaf *leaf = &shape->leaf[i];
        Size *dims = ARENA_ARRAY(lw->arena, Size, leaf->rank + 1);
        int64_t known[IR_MAX_RANK];
        CHECK_INTERNAL(leaf->rank < IR_MAX_RANK);
        dims[0] = size_const(lw->program->types, whole / size);
        dims[1] = size_const(lw->program->types, size);
        for (uint32_t k = 1; k < leaf->rank; k++) dims[k + 1] = leaf->dims[k];
        leaf->rank++;
        leaf->dims = dims;
        for (uint32_t k = 0; k < leaf->rank; k++)
            known[k] = dims[k]->kind == SIZE_CONST ? dims[k]->value : -1;
        leaf->type = ir_array(lw->module, leaf->scalar, leaf->rank, known);
    }
    return shape;
}

/* The first WHOLE lanes in groups of SIZE. */
static Vals run_groups(const Deriv *d, uint32_t whole, uint32_t size) {
    Fn *f = d->f;
    Groups groups = {d, size};
    IrValue *count = emit_int(f, whole / size);
    Vals all = emit_build(f, 1, &count, grouped_shape(d, whole, size), group_body, &groups);
    for (uint32_t i = 0; i < all.n; i++) {
        IrValue *sizes[IR_MAX_RANK];
        uint32_t rank = all.at[i]->type->rank - 1;
        sizes[0] = emit_int(f, whole);
        for (uint32_t k = 1; k < rank; k++) sizes[k] = irb_dim(&f->b, all.at[i], k + 1);
        all.at[i] = irb_reshape(&f->b, all.at[i], rank, sizes);
    }
    return all;
}

static Lane run(const Deriv *d) {
    uint32_t width = d->spec->width;
    if (!width || d->spec->part == DERIV_PART_FORWARD) {
        IrValue *none = NULL;
        Lane got;
        call_lanes(d, &none, 1, &got);
        if (d->spec->part == DERIV_PART_FORWARD) return got;
        return (Lane){got.primal, linear_of(d, &got, NULL)};
    }
    if (width <= UNROLLED_LANES) return run_unrolled(d, NULL, width);
    /* As few groups as there can be, of about one size; what is left over is a smaller one. */
    uint32_t ngroups = (width + UNROLLED_LANES - 1) / UNROLLED_LANES;
    uint32_t size = (width + ngroups - 1) / ngroups, whole = width - width % size;
    Lane all = {.primal = {0}};
    if (d->spec->part != DERIV_PART_REVERSE) all.primal = base_results(d);
    all.linear = run_groups(d, whole, size);
    if (whole == width) return all;
    Lane rest = run_unrolled(d, emit_int(d->f, whole), width - whole);
    for (uint32_t i = 0; i < all.linear.n; i++) {
        IrValue *both[] = {all.linear.at[i], rest.linear.at[i]};
        all.linear.at[i] = irb_concat(&d->f->b, 2, both);
    }
    return all;
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

static void yield_all(const Deriv *d, const Lane *got) {
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
        below.at[0] = tape_take_sizes(d->f, d->base, d->slots[i].at[0],
                                      slot_value(d, ROLE_SEED, 0), d->spec->width > 0, d->in_seed);
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
    Lane got = run(&d);
    if (d.spec->part == DERIV_PART_FORWARD)
        got.linear.at[0] = tape_put_sizes(f, d.base, got.linear.at[0],
                                          vals_slice(got.primal, 0, d.nresult), d.in_seed);
    yield_all(&d, &got);
    fn_close(f);
}
