/* Modules, types, functions.  Types and derivative requests are found by the hash of what they are
   made of; where two hashes meet, the next key is tried. */
#include "ir/ir.h"

#include <string.h>

#include "base/fatal.h"
#include "ir/internal.h"

IrModule *ir_module_new(const Sources *sources) {
    Arena *arena = arena_new();
    IrModule *module = ARENA_NEW(arena, IrModule);
    module->arena = arena;
    module->sources = sources;
    return module;
}

void ir_module_free(IrModule *module) {
    if (!module) return;
    ir_module_free(module->kernels);
    vec_free(&module->funcs);
    vec_free(&module->exports);
    vec_free(&module->requests);
    vec_free(&module->unlaunched);
    map_free(&module->types);
    map_free(&module->by_name);
    map_free(&module->derivs);
    strbuf_free(&module->explanation);
    arena_free(module->arena);
}

void *ir_copy(Arena *arena, const void *elements, size_t n, size_t size) {
    if (n == 0) return NULL;
    void *copy = arena_alloc_array(arena, n, size);
    memcpy(copy, elements, n * size);
    return copy;
}

/* ---- types ---- */

static bool same_type(const IrTypeInfo *a, const IrTypeInfo *b) {
    return a->kind == b->kind && a->scalar == b->scalar && a->rank == b->rank &&
           memcmp(a->dims, b->dims, sizeof a->dims[0] * a->rank) == 0;
}

static IrType intern_type(IrModule *module, const IrTypeInfo *info) {
    uint64_t key = hash_mix((uint64_t)info->kind << 16 | info->rank, (uint64_t)info->scalar);
    for (uint32_t k = 0; k < info->rank; k++) key = hash_mix(key, (uint64_t)info->dims[k]);
    for (;; key++) {
        IrTypeInfo *found = map_get(&module->types, key);
        if (!found) break;
        if (same_type(found, info)) return found;
    }
    IrTypeInfo *type = ir_copy(module->arena, info, 1, sizeof *info);
    map_set(&module->types, key, type);
    return type;
}

static IrType make_type(IrModule *module, IrTypeKind kind, IrScalar scalar, uint32_t rank,
                        const int64_t *dims) {
    IrTypeInfo info = {.kind = kind, .scalar = scalar, .rank = (uint8_t)rank};
    CHECK_INTERNAL(rank <= IR_MAX_RANK);
    for (uint32_t k = 0; k < IR_MAX_RANK; k++) info.dims[k] = -1;
    for (uint32_t k = 0; k < rank; k++)
        if (dims && dims[k] >= 0) info.dims[k] = dims[k];
    return intern_type(module, &info);
}

IrType ir_scalar(IrModule *module, IrScalar scalar) {
    return make_type(module, IR_T_SCALAR, scalar, 0, NULL);
}

IrType ir_array(IrModule *module, IrScalar scalar, uint32_t rank, const int64_t *dims) {
    return make_type(module, rank ? IR_T_ARRAY : IR_T_SCALAR, scalar, rank, dims);
}

IrType ir_type_with_lanes(IrModule *module, IrType type, uint32_t lanes) {
    if (lanes == 1 || type->kind == IR_T_TAPE) return type;
    CHECK_INTERNAL(ir_is_float(type) && ir_scalar_lanes(type->scalar) == 1);
    return make_type(module, type->kind, ir_scalar_with(type->scalar, lanes), type->rank,
                     type->dims);
}

IrType ir_str(IrModule *module) {
    return make_type(module, IR_T_STR, (IrScalar)0, 0, NULL);
}

IrType ir_tape(IrModule *module) {
    return make_type(module, IR_T_TAPE, (IrScalar)0, 0, NULL);
}

IrType ir_acc(IrModule *module, IrType of) {
    return make_type(module, IR_T_ACC, of->scalar, of->rank, of->dims);
}

bool ir_is_float(IrType type) {
    bool has_scalar =
        type->kind == IR_T_SCALAR || type->kind == IR_T_ARRAY || type->kind == IR_T_ACC;
    return has_scalar && ir_scalar_float(type->scalar);
}

bool ir_can_be_active(IrType type) {
    if (type->kind == IR_T_TAPE) return true;
    return type->kind != IR_T_ACC && ir_is_float(type);
}

bool ir_is_scalar(IrType type, IrScalar scalar) {
    return type->kind == IR_T_SCALAR && type->scalar == scalar;
}

bool ir_compatible(IrType a, IrType b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->scalar != b->scalar || a->rank != b->rank) return false;
    for (uint32_t k = 0; k < a->rank; k++)
        if (a->dims[k] >= 0 && b->dims[k] >= 0 && a->dims[k] != b->dims[k]) return false;
    return true;
}

IrType ir_type_inner(IrModule *module, IrType type, uint32_t count) {
    CHECK_INTERNAL(count <= type->rank);
    return ir_array(module, type->scalar, type->rank - count, type->dims + count);
}

IrType ir_type_outer(IrModule *module, IrType type, uint32_t count, const int64_t *dims) {
    int64_t all[IR_MAX_RANK];
    CHECK_INTERNAL(count + type->rank <= IR_MAX_RANK);
    for (uint32_t k = 0; k < count; k++) all[k] = dims ? dims[k] : -1;
    for (uint32_t k = 0; k < type->rank; k++) all[count + k] = type->dims[k];
    return ir_array(module, type->scalar, count + type->rank, all);
}

/* ---- functions ---- */

static uint64_t name_key(const char *name) {
    return hash_bytes(name, strlen(name));
}

uint32_t ir_func_ids(const IrModule *module) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < module->funcs.len; i++)
        if (module->funcs.at[i]->id >= n) n = module->funcs.at[i]->id + 1;
    return n;
}

IrFunc *ir_find_func(const IrModule *module, const char *name) {
    for (uint64_t key = name_key(name);; key++) {
        IrFunc *func = map_get(&module->by_name, key);
        if (!func || strcmp(func->name, name) == 0) return func;
    }
}

static void enter_name(IrModule *module, IrFunc *func) {
    uint64_t key = name_key(func->name);
    while (map_has(&module->by_name, key)) key++;
    map_set(&module->by_name, key, func);
}

static const char *unique_name(IrModule *module, const char *name) {
    IrFunc *first = ir_find_func(module, name);
    if (!first) return arena_strndup(module->arena, name, strlen(name));
    if (!first->copies) first->copies = 1;
    for (;;) {
        const char *next = arena_printf(module->arena, "%s.%u", name, ++first->copies);
        if (!ir_find_func(module, next)) return next;
    }
}

IrFunc *ir_func_alloc(IrModule *module, const char *name, uint32_t nparams, const IrType *params,
                      const char *const *param_names, uint32_t nresults, const IrType *results) {
    IrFunc *func = ARENA_NEW(module->arena, IrFunc);
    func->name = unique_name(module, name);
    func->module = module;
    func->nparams = nparams;
    func->params = ir_copy(module->arena, params, nparams, sizeof(IrType));
    func->param_names = ARENA_ARRAY(module->arena, const char *, nparams);
    for (uint32_t i = 0; i < nparams && param_names; i++) func->param_names[i] = param_names[i];
    func->nresults = nresults;
    func->results = ir_copy(module->arena, results, nresults, sizeof(IrType));
    func->id = module->funcs.len;
    enter_name(module, func);
    vec_push(&module->funcs, func);
    return func;
}

IrFunc *ir_func_new(IrModule *module, const char *name, uint32_t nparams, const IrType *params,
                    const char *const *param_names, uint32_t nresults, const IrType *results) {
    IrFunc *func = ir_func_alloc(module, name, nparams, params, param_names, nresults, results);
    func->body = ir_region_new(func, NULL);
    for (uint32_t i = 0; i < nparams; i++)
        ir_region_param(func->body, params[i], func->param_names[i]);
    return func;
}

/* ---- derivative requests ---- */

/* By the base's name: ids change when functions are dropped. */
static uint64_t deriv_key(const IrDeriv *deriv) {
    const char *name = deriv->base->name;
    uint64_t key =
        hash_mix((uint64_t)deriv->mode << 32 | deriv->options, hash_bytes(name, strlen(name)));
    key = hash_mix(key, hash_bytes(deriv->in_active, deriv->base->nparams));
    return hash_mix(key, hash_bytes(deriv->out_active, deriv->base->nresults));
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, uint32_t n) {
    return n == 0 || memcmp(a, b, n) == 0;
}

static bool same_deriv(const IrDeriv *a, const IrDeriv *b) {
    return a->mode == b->mode && a->base == b->base && a->options == b->options &&
           same_bytes(a->in_active, b->in_active, a->base->nparams) &&
           same_bytes(a->out_active, b->out_active, a->base->nresults);
}

typedef struct Signature {
    IrType *types;
    const char **names;
    uint32_t n;
} Signature;

static void add_type(Signature *signature, IrType type, const char *name) {
    signature->types[signature->n] = type;
    signature->names[signature->n++] = name;
}

static Signature new_signature(IrModule *module, uint32_t room) {
    return (Signature){ARENA_ARRAY(module->arena, IrType, room),
                       ARENA_ARRAY(module->arena, const char *, room), 0};
}

static void add_params(Signature *signature, const IrFunc *base) {
    for (uint32_t i = 0; i < base->nparams; i++)
        add_type(signature, base->params[i], base->param_names[i]);
}

static void add_active_params(Signature *signature, const IrDeriv *deriv) {
    const IrFunc *base = deriv->base;
    uint32_t lanes = ir_option_lanes(deriv->options);
    for (uint32_t i = 0; i < base->nparams; i++) {
        const char *name = base->param_names[i];
        if (!deriv->in_active[i]) continue;
        CHECK_INTERNAL(ir_can_be_active(base->params[i]));
        add_type(signature, ir_type_with_lanes(base->module, base->params[i], lanes),
                 name ? arena_printf(base->module->arena, "d%s", name) : NULL);
    }
}

static void add_results(Signature *signature, const IrFunc *base) {
    for (uint32_t i = 0; i < base->nresults; i++) add_type(signature, base->results[i], NULL);
}

static void add_active_results(Signature *signature, const IrDeriv *deriv) {
    const IrFunc *base = deriv->base;
    uint32_t lanes = ir_option_lanes(deriv->options);
    for (uint32_t i = 0; i < base->nresults; i++) {
        if (!deriv->out_active[i]) continue;
        CHECK_INTERNAL(ir_can_be_active(base->results[i]));
        add_type(signature, ir_type_with_lanes(base->module, base->results[i], lanes), "seed");
    }
}

static void deriv_signature(IrModule *module, const IrDeriv *deriv, Signature *in, Signature *out) {
    const IrFunc *base = deriv->base;
    uint32_t room = 2 * (base->nparams + base->nresults) + 1;
    *in = new_signature(module, room);
    *out = new_signature(module, room);
    switch (deriv->mode) {
    case IR_DERIV_NONE: UNREACHABLE("derivative without a mode");
    case IR_DERIV_JVP:
        add_params(in, base);
        add_active_params(in, deriv);
        add_results(out, base);
        add_active_results(out, deriv);
        break;
    case IR_DERIV_GRAD:
        add_params(in, base);
        add_active_results(in, deriv);
        add_results(out, base);
        add_active_params(out, deriv);
        break;
    case IR_DERIV_FORWARD:
        add_params(in, base);
        add_results(out, base);
        add_type(out, ir_tape(module), NULL);
        break;
    case IR_DERIV_REVERSE:
        add_type(in, ir_tape(module), "tape");
        add_active_results(in, deriv);
        add_active_params(out, deriv);
        break;
    }
}

static bool same_types(const IrType *a, uint32_t na, const Signature *b) {
    bool same = na == b->n;
    for (uint32_t i = 0; same && i < na; i++) same = ir_compatible(a[i], b->types[i]);
    return same;
}

static bool active_floats(const uint8_t *active, const IrType *types, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (active[i] && !ir_can_be_active(types[i])) return false;
    return true;
}

bool ir_deriv_fits(const IrFunc *func) {
    Signature in, out;
    const IrDeriv *deriv = &func->deriv;
    const IrFunc *base = deriv->base;
    if (!active_floats(deriv->in_active, base->params, base->nparams)) return false;
    if (!active_floats(deriv->out_active, base->results, base->nresults)) return false;
    deriv_signature(func->module, deriv, &in, &out);
    return same_types(func->params, func->nparams, &in) &&
           same_types(func->results, func->nresults, &out);
}

void ir_deriv_enter(IrFunc *func) {
    uint64_t key = deriv_key(&func->deriv);
    while (map_has(&func->module->derivs, key)) key++;
    map_set(&func->module->derivs, key, func);
}

static IrFunc *find_deriv(const IrModule *module, const IrDeriv *deriv) {
    for (uint64_t key = deriv_key(deriv);; key++) {
        IrFunc *found = map_get(&module->derivs, key);
        if (!found || same_deriv(&found->deriv, deriv)) return found;
    }
}

/* One that was dropped while nothing asked for it is to be made anew. */
static IrFunc *back_in_module(IrFunc *func) {
    IrModule *module = func->module;
    if (func->id < module->funcs.len && module->funcs.at[func->id] == func) return func;
    func->id = module->funcs.len;
    func->body = NULL;
    func->nvalues = 0;
    func->purity = 0;
    vec_push(&module->funcs, func);
    return func;
}

IrFunc *ir_deriv(IrModule *module, IrDerivMode mode, IrFunc *base, const uint8_t *in_active,
                 const uint8_t *out_active, uint32_t options) {
    static const char *const suffix[] = {"", "jvp", "grad", "forward", "reverse"};
    IrDeriv deriv = {.mode = mode, .base = base, .options = options};
    Signature in, out;
    deriv.in_active = ir_copy(module->arena, in_active, base->nparams, 1);
    deriv.out_active = ir_copy(module->arena, out_active, base->nresults, 1);
    IrFunc *found = find_deriv(module, &deriv);
    if (found) return back_in_module(found);
    deriv_signature(module, &deriv, &in, &out);
    const char *name = arena_printf(module->arena, "%s.%s", base->name, suffix[mode]);
    IrFunc *func = ir_func_alloc(module, name, in.n, in.types, in.names, out.n, out.types);
    func->deriv = deriv;
    func->pos = base->pos;
    func->flags |= base->flags & IR_FUNC_LIBRARY;
    ir_deriv_enter(func);
    return func;
}
