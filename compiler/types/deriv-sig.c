/* Signatures of derivatives: sections 5, 6 and 17 of the language. */
#include "types/deriv.h"

#include <string.h>

/* ---- types ---- */

Type deriv_strip(TypeTable *t, Type type, uint8_t act) {
    if (act == ACT_CONST || !type->has_floats) return NULL;
    if (type->kind == TYPE_ARRAY) {
        Type elem = deriv_strip(t, type->elem, ACT_ACTIVE);
        return elem ? type_array(t, elem, type->rank, type->dims) : NULL;
    }
    if (type->kind != TYPE_TUPLE) return type;
    TypePart parts[64];
    uint32_t n = 0;
    for (uint32_t k = 0; k < type->nparts && n < 64; k++) {
        const TypePart *part = &type->parts[k];
        Type left = deriv_strip(t, part->type, part->act ? (uint8_t)(part->act - 1) : ACT_ACTIVE);
        if (!left) continue;
        parts[n] = *part;
        parts[n].act = 0;
        parts[n++].type = left;
    }
    if (n == 0) return NULL;
    return n == 1 ? parts[0].type : type_tuple(t, n, parts);
}

static bool is_real_scalar(Type type) {
    return type->kind == TYPE_SCALAR && scalar_is_float(type->scalar) &&
           !scalar_is_complex(type->scalar);
}

/* ---- names ---- */

typedef struct Names {
    Checker *c;
    const DerivParam *params; /* names of the base that are taken */
    uint32_t nparams;
    const DerivSlot *slots;
    uint32_t nslots;
} Names;

static bool taken(const Names *names, Sym name) {
    for (uint32_t k = 0; k < names->nparams; k++)
        if (names->params[k].name == name) return true;
    for (uint32_t k = 0; k < names->nslots; k++)
        if (names->slots[k].name == name) return true;
    return false;
}

/* PREFIX, then NAME; where that is taken, with 2, 3, ... behind the prefix (or, without a name,
   behind the whole). */
static Sym fresh_name(const Names *names, const char *prefix, Sym name) {
    const char *rest = name ? name->text : "";
    Sym sym = intern(names->c->interner, arena_printf(names->c->arena, "%s%s", prefix, rest));
    for (int k = 2; taken(names, sym); k++)
        sym = intern(names->c->interner, arena_printf(names->c->arena, "%s%d%s", prefix, k, rest));
    return sym;
}

/* ---- slots of the parameters ---- */

/* S(T): what is linear has a leading dimension in a request of width N. */
static Type widened(Checker *c, const DerivSpec *spec, Type type) {
    Size n = size_const(c->types, spec->width);
    return spec->width ? type_array(c->types, type, 1, &n) : type;
}

static bool has_shadow(DerivPart part, const DerivParam *p) {
    if (p->act == ACT_CONST) return false;
    return part == DERIV_PART_JVP || p->act != ACT_ACTIVE;
}

static void add_slot(DerivSlot *slots, uint32_t *n, DerivRole role, uint32_t of, Sym name,
                     bool mut) {
    slots[(*n)++] = (DerivSlot){.role = role, .of = of, .name = name, .mut = mut};
}

/* Without seed and tape, which come last and depend on the result's type. */
uint32_t deriv_slots(Checker *c, const DerivRequest *request, uint32_t n, const DerivParam *params,
                     DerivSlot **out) {
    DerivPart part = request->spec.part;
    DerivSlot *slots = ARENA_ARRAY(c->arena, DerivSlot, 2 * n + 2);
    uint32_t count = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (part != DERIV_PART_REVERSE)
            add_slot(slots, &count, ROLE_PRIMAL, k, params[k].name, params[k].mut);
        if (part == DERIV_PART_FORWARD || !has_shadow(part, &params[k])) continue;
        Names names = {c, params, n, slots, count};
        Sym name = params[k].name ? fresh_name(&names, "d", params[k].name) : NULL;
        bool tangent = part == DERIV_PART_JVP;
        add_slot(slots, &count, tangent ? ROLE_TANGENT : ROLE_SHADOW, k, name,
                 !tangent || params[k].mut);
    }
    *out = slots;
    return count;
}

static void add_seed(Checker *c, const DerivSpec *spec, Type seed, Type tape, uint32_t n,
                     const DerivParam *params, DerivSlot *slots, uint32_t *count) {
    bool reverse = spec->part == DERIV_PART_REVERSE;
    if (spec->part != DERIV_PART_GRAD && !reverse) return;
    Names names = {c, params, n, slots, *count};
    if (seed && !spec->holomorphic && (reverse || spec->seed || !is_real_scalar(seed))) {
        add_slot(slots, count, ROLE_SEED, 0, fresh_name(&names, "seed", NULL), false);
        slots[*count - 1].type = widened(c, spec, seed);
    }
    names.nslots = *count;
    if (!reverse) return;
    add_slot(slots, count, ROLE_TAPE, 0, fresh_name(&names, "tape", NULL), false);
    slots[*count - 1].type = tape;
}

/* ---- slots of the results ---- */

static void add_result(DerivSpec *spec, DerivRole role, uint32_t of, Sym name, Type type) {
    spec->results[spec->nresults++] = (DerivSlot){role, of, name, type, false};
}

static Sym derivative_name(Checker *c, const DerivSpec *spec, Sym name) {
    static const char *const reserved[] = {"primal", "tangent", "tape", "shadow"};
    if (!name) return NULL;
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
        if (!strcmp(name->text, reserved[k]))
            return intern(c->interner, arena_printf(c->arena, "d%s", name->text));
    (void)spec;
    return name;
}

static void add_results(Checker *c, DerivSpec *spec, const Instance *base, Type stripped, Type tape,
                        const uint8_t *act) {
    uint32_t first = base->ncaptures;
    spec->results = ARENA_ARRAY(c->arena, DerivSlot, base->nparams + 4);
    if (spec->part == DERIV_PART_FORWARD)
        add_result(spec, ROLE_TAPE, 0, intern(c->interner, "tape"), tape);
    if (spec->primal && spec->part != DERIV_PART_REVERSE && base->result->kind != TYPE_UNIT)
        add_result(spec, ROLE_PRIMAL, 0, intern(c->interner, "primal"), base->result);
    if (spec->part == DERIV_PART_FORWARD && base->result_act == ACT_DUPLICATED && stripped)
        add_result(spec, ROLE_RESULT_SHADOW, 0, intern(c->interner, "shadow"),
                   widened(c, spec, stripped));
    if (spec->part == DERIV_PART_JVP && stripped)
        add_result(spec, ROLE_TANGENT, 0, intern(c->interner, "tangent"),
                   widened(c, spec, stripped));
    if (spec->part == DERIV_PART_GRAD || spec->part == DERIV_PART_REVERSE)
        for (uint32_t k = first; k < base->nparams; k++)
            if (act[k - first] == ACT_ACTIVE)
                add_result(spec, ROLE_COTANGENT, k - first,
                           derivative_name(c, spec, base->params[k]->name),
                           widened(c, spec, base->params[k]->type));
}

static Type result_type(Checker *c, const DerivSpec *spec) {
    if (spec->nresults == 0) return type_unit(c->types);
    if (spec->nresults == 1) return spec->results[0].type;
    TypePart *parts = ARENA_ARRAY(c->arena, TypePart, spec->nresults);
    for (uint32_t k = 0; k < spec->nresults; k++)
        parts[k] = (TypePart){.name = spec->results[k].name, .type = spec->results[k].type};
    return type_tuple(c->types, spec->nresults, parts);
}

/* ---- the instance ---- */

static const char *op_name(DerivPart part) {
    switch (part) {
    case DERIV_PART_GRAD: return "grad";
    case DERIV_PART_JVP: return "jvp";
    case DERIV_PART_FORWARD: return "forward part of split";
    case DERIV_PART_REVERSE: return "reverse part of split";
    }
    return "";
}

static Local *slot_local(Checker *c, Instance *inst, const DerivSlot *slot, Span span,
                         uint32_t id) {
    Local *local = ARENA_NEW(c->arena, Local);
    *local = (Local){.name = slot->name,
                     .span = span,
                     .type = slot->type,
                     .mut = slot->mut,
                     .var = slot->mut,
                     .owner = inst,
                     .id = id};
    return local;
}

/* The activity that a further operator sees (section 6, "a derivative is a function"). */
static uint8_t outer_activity(const Instance *base, const DerivSlot *slot, uint8_t act) {
    switch (slot->role) {
    case ROLE_PRIMAL: {
        uint8_t declared = base->act[base->ncaptures + slot->of];
        if (act == ACT_CONST) return declared;
        return act == ACT_ACTIVE ? ACT_ACTIVE : ACT_DUPLICATED;
    }
    case ROLE_SHADOW: return ACT_DUPLICATED;
    case ROLE_TANGENT: return slot->mut ? ACT_DUPLICATED : ACT_ACTIVE;
    default: return ACT_ACTIVE;
    }
}

static void fill_params(Checker *c, Instance *inst, const Instance *base, const uint8_t *act,
                        Span span) {
    DerivSpec *spec = inst->deriv;
    uint32_t captures = base->ncaptures;
    inst->ncaptures = captures;
    inst->nparams = captures + spec->nparams;
    inst->params = ARENA_ARRAY(c->arena, Local *, inst->nparams);
    inst->act = ARENA_ARRAY(c->arena, uint8_t, inst->nparams);
    for (uint32_t k = 0; k < captures; k++) {
        Local *local = ARENA_NEW(c->arena, Local);
        *local = *base->params[k];
        local->owner = inst;
        local->id = k;
        inst->params[k] = local;
        inst->act[k] = ACT_CONST;
    }
    for (uint32_t k = 0; k < spec->nparams; k++) {
        DerivSlot *slot = &spec->params[k];
        if (slot->role == ROLE_PRIMAL) slot->type = base->params[captures + slot->of]->type;
        else if (slot->role != ROLE_SEED && slot->role != ROLE_TAPE)
            slot->type = widened(c, spec, base->params[captures + slot->of]->type);
        inst->params[captures + k] = slot_local(c, inst, slot, span, captures + k);
        bool floats = slot->type->has_floats || slot->role == ROLE_TAPE;
        inst->act[captures + k] =
            floats ? outer_activity(base, slot, slot->role == ROLE_PRIMAL ? act[slot->of] : 0)
                   : ACT_CONST;
    }
    inst->locals = inst->params;
    inst->nlocals = inst->nparams;
}

/* The base's size names bind in the derivative's arguments just as in the base's. */
static void inherit_info(Checker *c, Instance *inst, const Instance *base) {
    InstanceInfo *info = info_of(c, inst), *from = info_of(c, base);
    info->module = from->module;
    map_copy(&info->generics, &from->generics);
    map_copy(&info->sizes, &from->sizes);
    map_copy(&info->bindable, &from->bindable);
    info->declared = ARENA_ARRAY(c->arena, Type, inst->nparams + 1);
    info->declared_result = inst->result;
    for (uint32_t k = 0; from->declared && k < inst->nparams; k++) {
        if (k < base->ncaptures) info->declared[k] = from->declared[k];
        else {
            const DerivSlot *slot = &inst->deriv->params[k - base->ncaptures];
            if (slot->role == ROLE_PRIMAL)
                info->declared[k] = from->declared[base->ncaptures + slot->of];
        }
    }
}

static void base_params(const Instance *base, const uint8_t *act, DerivParam *params) {
    for (uint32_t k = base->ncaptures; k < base->nparams; k++) {
        const Local *p = base->params[k];
        params[k - base->ncaptures] =
            (DerivParam){.name = p->name, .act = act[k - base->ncaptures], .mut = p->mut};
    }
}

/* Tapes of one function, one set of activities and options have one type, whatever else the pair
   was asked for: that of the plain forward part. */
static Type tape_type(Checker *c, const DerivRequest *request, Instance *inst, Instance *base,
                      const uint8_t *act, Span span) {
    const DerivSpec *spec = &request->spec;
    if (spec->part == DERIV_PART_GRAD || spec->part == DERIV_PART_JVP) return NULL;
    if (spec->part == DERIV_PART_FORWARD && !spec->primal && !spec->seed && !spec->width &&
        !request->nunmodified)
        return type_tape(c->types, inst);
    DerivRequest plain = *request;
    plain.spec.part = DERIV_PART_FORWARD;
    plain.spec.primal = plain.spec.seed = false;
    plain.spec.width = 0;
    plain.nunmodified = 0;
    return type_tape(c->types, deriv_instance(c, &plain, base, act, span));
}

/* By parameter of the base: is it in `unmodified`? */
static const bool *unmodified_params(Checker *c, const DerivRequest *request,
                                     const Instance *base) {
    uint32_t n = base->nparams - base->ncaptures;
    if (!request->nunmodified) return NULL;
    bool *which = ARENA_ARRAY(c->arena, bool, n + 1);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < request->nunmodified; j++)
            which[k] |= base->params[base->ncaptures + k]->name == request->unmodified[j];
    return which;
}

static bool has_tape(Type type) {
    if (!type) return false;
    for (uint32_t k = 0; type->kind == TYPE_TUPLE && k < type->nparts; k++)
        if (has_tape(type->parts[k].type)) return true;
    return type->kind == TYPE_TAPE;
}

/* Lanes are elements of arrays, which tapes are not. */
static void refuse_lanes_of_tapes(Checker *c, const DerivSpec *spec, const Instance *base,
                                  Type stripped, Span span) {
    bool any = spec->part != DERIV_PART_FORWARD && has_tape(stripped);
    for (uint32_t k = 0; k < spec->nparams && spec->part != DERIV_PART_FORWARD; k++) {
        const DerivSlot *slot = &spec->params[k];
        bool active = slot->role == ROLE_PRIMAL && spec->act[slot->of] != ACT_CONST;
        any |= active && has_tape(base->params[base->ncaptures + slot->of]->type);
    }
    if (spec->width && any)
        diag_report(c->diags, DIAG_DERIV_OPTION, span,
                    "tapes are no elements of arrays: no batch of them can be differentiated");
}

Instance *deriv_instance(Checker *c, const DerivRequest *request, Instance *base,
                         const uint8_t *act, Span span) {
    uint32_t n = base->nparams - base->ncaptures;
    const char *key_text = arena_strndup(c->arena, (const char *)act, n);
    for (uint32_t k = 0; k < n; k++) ((char *)key_text)[k] = (char)('0' + act[k]);
    const DerivSpec *asked = &request->spec;
    char *options = arena_printf(c->arena, "deriv %d%d%d%d%d %u %lld %s", (int)asked->part,
                                 asked->primal, asked->seed, asked->strong_zero, asked->holomorphic,
                                 asked->width, (long long)asked->checkpoint, key_text);
    for (uint32_t k = 0; k < request->nunmodified; k++)
        options = arena_printf(c->arena, "%s %s", options, request->unmodified[k]->text);
    const void *key[2] = {intern(c->interner, options), base};
    InstanceInfo *found = instance_find(c, 2, key);
    if (found) {
        found->instance->deriv->deferred &= asked->deferred;
        return found->instance;
    }

    const char *name = arena_printf(c->arena, "%s of %s", op_name(asked->part), base->name);
    Instance *inst = instance_new(c, INSTANCE_DERIV, name, span);
    instance_add_key(c, info_of(c, inst), 2, key);
    DerivSpec *spec = ARENA_NEW(c->arena, DerivSpec);
    *spec = *asked;
    spec->base_instance = base;
    spec->unmodified = unmodified_params(c, request, base);
    spec->act = ARENA_ARRAY(c->arena, uint8_t, n + 1);
    memcpy(spec->act, act, n);
    inst->deriv = spec;
    inst->decl = base->decl;
    DerivParam *params = ARENA_ARRAY(c->arena, DerivParam, n + 1);
    base_params(base, act, params);
    spec->nparams = deriv_slots(c, request, n, params, &spec->params);
    Type stripped = base->result->kind == TYPE_UNIT
                        ? NULL
                        : deriv_strip(c->types, base->result, base->result_act);
    Type tape = tape_type(c, request, inst, base, act, span);
    refuse_lanes_of_tapes(c, spec, base, stripped, span);
    add_seed(c, spec, stripped, tape, n, params, spec->params, &spec->nparams);
    add_results(c, spec, base, stripped, tape, act);
    inst->result = result_type(c, spec);
    inst->result_act = ACT_ACTIVE;
    inst->checked = true;
    fill_params(c, inst, base, act, span);
    inherit_info(c, inst, base);
    return inst;
}
