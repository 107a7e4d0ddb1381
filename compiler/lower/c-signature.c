/* The C signature of an exported function: its sizes, its parameters, its results.

   A size that stands in an array is an argument, in front; one that stands in structs or views only
   comes from the first of them.  What else says it, in a struct or a view, has to be equal. */
#include "lower/c-interface.h"

#include <string.h>

/* What a leaf of the signature is made of; its sizes are put in when all places are known. */
typedef struct Source {
    const Leaf *leaf; /* or NULL, and: */
    Size size;
} Source;

typedef struct Signature {
    Lower *lw;
    const Root *root;
    const Instance *inst;
    IrFunc *inner;
    VEC(IrCParam) params;
    VEC(Source) sources; /* of each of them */
    VEC(IrCArg) args;
    Map sizes;       /* id of a size variable -> leaf + 1 */
    Map base;        /* the same -> any: sizes of what a derivative is of */
    VEC(Size) extra; /* sizes that are passed for results only: parameters behind the INNER's own */
    bool *pairs_in,
        *pairs_out; /* parameters, results of INNER that come with the next in one array */
    bool pairs, failed;
} Signature;

/* A parameter or result that is being added. */
typedef struct Adding {
    Signature *s;
    const Shape *shape;
    const char *role;
    int32_t param, result; /* of the first leaf, or -1 */
    bool written;
    uint32_t at;    /* of a parameter: which */
    uint32_t tapes; /* so many came already: of this parameter, of all results */
} Adding;

static void fail(Signature *s, const char *what, const char *name) {
    if (!s->failed)
        diag_report(s->lw->diags, DIAG_NOT_IMPLEMENTED, s->root->span,
                    "the export of %s '%s' cannot be compiled yet", what, name);
    s->failed = true;
}

/* ---- sizes ---- */

static uint64_t key_of(Size size) {
    return (uint64_t)size->id + 1;
}

/* Can the wrapper compute it from leaves?  It knows + - * /. */
static bool is_expression(const Signature *s, Size size) {
    if (size->kind == SIZE_CONST) return true;
    if (size->kind == SIZE_VAR) return map_has(&s->sizes, key_of(size));
    if (size->kind != SIZE_SUM && size->kind != SIZE_PROD && size->kind != SIZE_DIV) return false;
    for (uint32_t i = 0; i < size->nterms; i++)
        if (!is_expression(s, size->terms[i])) return false;
    return true;
}

static int32_t place_of(const Signature *s, Size size) {
    return (int32_t)(intptr_t)map_get(&s->sizes, key_of(size)) - 1;
}

typedef VEC(IrCStep) Steps;

static void add_step(Steps *steps, IrCStepKind kind, int64_t value) {
    vec_push(steps, ((IrCStep){kind, value}));
}

static void add_steps(const Signature *s, Steps *steps, Size size) {
    if (size->kind == SIZE_CONST) {
        add_step(steps, IR_STEP_NUMBER, size->value);
        return;
    }
    if (size->kind == SIZE_VAR) {
        add_step(steps, IR_STEP_LEAF, place_of(s, size));
        return;
    }
    IrCStepKind op = size->kind == SIZE_SUM   ? IR_STEP_ADD
                     : size->kind == SIZE_DIV ? IR_STEP_DIV
                                              : IR_STEP_MUL;
    for (uint32_t i = 0; i < size->nterms; i++) {
        add_steps(s, steps, size->terms[i]);
        if (size->kind == SIZE_SUM) {
            add_step(steps, IR_STEP_NUMBER, size->coefs[i]);
            add_step(steps, IR_STEP_MUL, 0);
        }
        if (i) add_step(steps, op, 0);
    }
}

static IrCDim c_dim(Signature *s, Size size, bool wanted) {
    Lower *lw = s->lw;
    const char *text = size_text(lw->program->types, size);
    IrCDim dim = {.constant = -1, .place = -1};
    dim.text = arena_strndup(lw->module->arena, text, strlen(text));
    if (size->kind == SIZE_CONST) dim.constant = size->value;
    if (size->kind == SIZE_VAR) dim.place = place_of(s, size);
    if (dim.place >= 0 && (!size->name || s->params.at[dim.place].offset >= 0))
        dim.text = s->params.at[dim.place].name;
    if (is_expression(s, size) && dim.constant < 0 && dim.place < 0) {
        Steps steps = {0};
        add_steps(s, &steps, size);
        IrCStep *kept = ARENA_ARRAY(lw->module->arena, IrCStep, steps.len);
        for (uint32_t i = 0; i < steps.len; i++) kept[i] = steps.at[i];
        dim.steps = kept;
        dim.nsteps = steps.len;
        vec_free(&steps);
    } else if (wanted && !ir_c_dim_known(&dim)) {
        fail(s, "a parameter of the size", dim.text);
    }
    return dim;
}

/* Does a parameter give all variables of SIZE? */
static bool is_given(const Signature *s, Size size) {
    if (size->kind == SIZE_ANY) return false;
    if (size->kind == SIZE_VAR) return map_has(&s->sizes, key_of(size));
    for (uint32_t i = 0; i < size->nterms; i++)
        if (!is_given(s, size->terms[i])) return false;
    return true;
}

/* The size that an i64 parameter is, or NULL; of a derivative the parameter of its base. */
static Size param_size(const Instance *inst, uint32_t i) {
    const Local *local = inst->params[i];
    if (inst->deriv && i >= inst->ncaptures) {
        const Instance *base = inst->deriv->base_instance;
        const DerivSlot *slot = &inst->deriv->params[i - inst->ncaptures];
        if (slot->role != ROLE_PRIMAL) return NULL;
        return param_size(base, base->ncaptures + slot->of);
    }
    bool is_size = local->size && local->size->kind == SIZE_VAR;
    return is_size && local->type->kind == TYPE_SCALAR ? local->size : NULL;
}

/* Sizes that are parameters get their place when the parameters have theirs. */
static bool is_param(const Instance *inst, Size size) {
    for (uint32_t i = 0; i < inst->nparams; i++)
        if (param_size(inst, i) == size) return true;
    return false;
}

/* Is SIZE one of an array that INST takes? */
static bool is_of_array(Signature *s, Size size) {
    for (uint32_t i = 0; i < s->inst->nparams; i++) {
        const Shape *shape = shape_of(s->lw, s->inst->params[i]->type);
        for (uint32_t k = 0; k < shape->n; k++)
            for (uint32_t d = 0; d < shape->leaf[k].rank; d++)
                if (shape->leaf[k].dims[d] == size) return true;
    }
    return false;
}

static IrCParam *push_leaf(Signature *s, IrCParam leaf, Source source) {
    leaf.arg = s->args.len - 1;
    s->args.at[leaf.arg].count++;
    vec_push(&s->params, leaf);
    vec_push(&s->sources, source);
    return &s->params.at[s->params.len - 1];
}

static void push_arg(Signature *s, IrCArg arg) {
    arg.first = s->params.len;
    vec_push(&s->args, arg);
}

/* A leaf that says what SIZE is. */
static void define_size(Signature *s, const char *name, Size size, int32_t offset) {
    IrCParam p = {.kind = IR_C_SIZE, .name = name, .param = -1, .result = -1, .offset = offset};
    p.type = ir_scalar(s->lw->module, IR_I64);
    if (!is_of_array(s, size)) {
        /* Of a result only: the caller says how much room there is. */
        p.kind = IR_C_SCALAR;
        p.role = "size, read";
        p.param = (int32_t)(s->inner->nparams + s->extra.len);
        vec_push(&s->extra, size);
    }
    push_leaf(s, p, (Source){0});
    map_set(&s->sizes, key_of(size), (void *)(uintptr_t)s->params.len);
}

/* Sizes of a struct have the names of its declaration, behind the parameter's. */
static const char *size_name(Signature *s, const Local *local, Size size) {
    if (size->name) return module_text(s->lw, "%s", size->name->text);
    Type type = type_element(local->type);
    for (uint32_t k = 0; type->kind == TYPE_STRUCT && local->name && k < type->nsizes; k++)
        if (type->dims[k] == size && k < type->decl->nsizes)
            return module_text(s->lw, "%s_%s", local->name->text, type->decl->sizes[k]->text);
    return module_text(s->lw, "n%u", s->params.len);
}

typedef struct Sizing {
    Signature *s;
    const Local *local;
    const Shape *shape;
    bool all; /* those in structs and views, too */
} Sizing;

static void size_arg(void *data, CArg arg) {
    (void)data;
    (void)arg;
}

static void size_size(void *data, const char *name, Size size, int32_t offset) {
    (void)name;
    (void)offset;
    Sizing *z = data;
    if (size->kind == SIZE_VAR) map_set(&z->s->base, key_of(size), z->s);
}

static void size_leaf(void *data, CLeaf leaf) {
    Sizing *z = data;
    const Leaf *own = &z->shape->leaf[leaf.leaf];
    for (uint32_t d = 0; d < own->rank; d++) {
        Size size = own->dims[d];
        if (size->kind != SIZE_VAR) continue;
        map_set(&z->s->base, key_of(size), z->s);
        if (leaf.offset >= 0 && !z->all) continue;
        if (map_has(&z->s->sizes, key_of(size)) || is_param(z->s->inst, size)) continue;
        const char *name = size_name(z->s, z->local, size);
        push_arg(z->s, (IrCArg){.kind = IR_ARG_LEAF, .name = name});
        define_size(z->s, name, size, -1);
    }
}

/* Does a parameter or a result of the derivative INST have the type of parameter I of its base? */
static bool has_like(const Instance *inst, uint32_t i) {
    const DerivSpec *spec = inst->deriv;
    for (uint32_t k = 0; k < spec->nparams; k++)
        if (spec->params[k].role != ROLE_SEED && spec->params[k].role != ROLE_TAPE &&
            spec->params[k].of == i)
            return true;
    for (uint32_t k = 0; k < spec->nresults; k++)
        if (spec->results[k].role == ROLE_COTANGENT && spec->results[k].of == i) return true;
    return false;
}

static bool is_strided(const Instance *inst, uint32_t i) {
    if (!inst->deriv || i < inst->ncaptures) return inst->params[i]->strided;
    const DerivSlot *slot = &inst->deriv->params[i - inst->ncaptures];
    if (slot->role != ROLE_PRIMAL && slot->role != ROLE_SHADOW && slot->role != ROLE_TANGENT)
        return false;
    const Instance *base = inst->deriv->base_instance;
    return is_strided(base, base->ncaptures + slot->of);
}

static const char *param_name(Signature *s, const Instance *inst, uint32_t i) {
    const Local *local = inst->params[i];
    return local->name ? local->name->text : module_text(s->lw, "arg%u", i);
}

static void add_sizes_of(Signature *s, const Instance *of) {
    static const CVisitor visit = {size_arg, size_leaf, size_size};
    for (uint32_t i = 0; i < of->nparams; i++) {
        Type type = of->params[i]->type;
        Sizing z = {s, of->params[i], shape_of(s->lw, type), false};
        z.all = of != s->inst && i >= of->ncaptures && !has_like(s->inst, i - of->ncaptures);
        c_walk(s->lw, type, param_name(s, of, i), is_strided(of, i), &visit, &z);
    }
}

static void add_sizes(Signature *s) {
    const Instance *inst = s->inst;
    /* A reverse pass takes the sizes of its forward pass, though it sees some on its tape only. */
    if (inst->deriv && inst->deriv->part == DERIV_PART_REVERSE)
        add_sizes_of(s, inst->deriv->base_instance);
    add_sizes_of(s, inst);
}

/* ---- parameters and results ---- */

static const DerivSlot *param_slot(const Instance *inst, uint32_t i) {
    return inst->deriv && i >= inst->ncaptures ? &inst->deriv->params[i - inst->ncaptures] : NULL;
}

/* Does the option `unmodified` name it? */
static bool is_kept(const Instance *inst, uint32_t i) {
    const DerivSlot *slot = param_slot(inst, i);
    return slot && slot->role == ROLE_PRIMAL && inst->deriv->unmodified &&
           inst->deriv->unmodified[slot->of];
}

static const char *param_role(Signature *s, const Instance *inst, uint32_t i) {
    const DerivSlot *slot = param_slot(inst, i);
    bool mut = inst->params[i]->mut;
    if (slot && slot->role == ROLE_SHADOW) {
        bool memory = inst->deriv->base_instance->params[inst->ncaptures + slot->of]->mut;
        return memory ? "shadow, read and overwritten" : "shadow, added to";
    }
    if (slot && slot->role == ROLE_TANGENT)
        return mut ? "tangent, read and overwritten" : "tangent, read";
    if (slot && slot->role == ROLE_SEED) return "cotangent of the result, read";
    if (slot && slot->role == ROLE_TAPE) return "read";
    const Instance *base = slot ? inst->deriv->base_instance : inst;
    uint8_t act = slot ? inst->deriv->act[slot->of] : base->act ? base->act[i] : ACT_CONST;
    if (!inst->params[i]->type->has_floats) return mut ? "read and overwritten" : "read";
    return module_text(s->lw, "%s, %s%s", act_name((ActKind)act),
                       mut ? "read and overwritten" : "read",
                       is_kept(inst, i) ? "; not to be written while the tape is used" : "");
}

static void add_arg(void *data, CArg arg) {
    Adding *a = data;
    push_arg(a->s, (IrCArg){.kind = arg.kind,
                            .written = a->written,
                            .name = arg.name,
                            .role = a->role,
                            .type = arg.type});
}

static void add_size(void *data, const char *name, Size size, int32_t offset) {
    Adding *a = data;
    Signature *s = a->s;
    bool known =
        size->kind != SIZE_VAR || map_has(&s->sizes, key_of(size)) || is_param(s->inst, size);
    /* A result's size that nothing else gives is an error, told of its arrays, unless a forward
       pass knew it. */
    if (!known && (a->param >= 0 || map_has(&s->base, key_of(size)))) {
        define_size(s, name, size, offset);
        return;
    }
    IrCParam p = {.kind = IR_C_SIZE, .name = name, .param = -1, .result = -1, .offset = offset};
    p.type = ir_scalar(s->lw->module, IR_I64);
    p.again = true;
    push_leaf(s, p, (Source){.size = size});
}

static IrCParam leaf_param(Adding *a, CLeaf leaf) {
    const Leaf *own = &a->shape->leaf[leaf.leaf];
    IrCParam p = {.name = leaf.name,
                  .type = own->type,
                  .role = a->role,
                  .offset = leaf.offset,
                  .pairs = leaf.pairs,
                  .view = leaf.view};
    p.param = a->param < 0 ? -1 : a->param + (int32_t)leaf.leaf;
    p.result = a->result < 0 ? -1 : a->result + (int32_t)leaf.leaf;
    if (leaf.pairs) {
        int64_t dims[IR_MAX_RANK];
        a->s->pairs = true;
        if (own->rank == IR_MAX_RANK) {
            fail(a->s, "complex numbers of so many dimensions,", leaf.name);
            return p;
        }
        if (p.param >= 0) a->s->pairs_in[p.param] = true;
        if (p.result >= 0) a->s->pairs_out[p.result] = true;
        memcpy(dims, own->type->dims, own->rank * sizeof *dims);
        dims[own->rank] = 2;
        p.type = ir_array(a->s->lw->module, own->scalar, own->rank + 1, dims);
    }
    if (own->kind == IR_T_TAPE && leaf.offset >= 0) fail(a->s, "a tape in a struct,", leaf.name);
    return p;
}

static void add_param_leaf(void *data, CLeaf leaf) {
    Adding *a = data;
    Signature *s = a->s;
    const Leaf *own = &a->shape->leaf[leaf.leaf];
    IrCParam p = leaf_param(a, leaf);
    bool plain = own->kind == IR_T_STR || !scalar_is_real_float(own->scalar);
    if (plain) p.role = a->written ? "read and overwritten" : "read";
    p.kind = a->written                ? IR_C_MUT
             : own->kind == IR_T_ARRAY ? IR_C_ARRAY
             : own->kind == IR_T_STR   ? IR_C_STR
                                       : IR_C_SCALAR;
    if (own->kind == IR_T_TAPE) p.tape = tape_kind_of_param(s->lw, s->inst, a->at, a->tapes++);
    if (own->kind == IR_T_STR && a->written) fail(s, "a string that is written,", leaf.name);
    /* What a view shows may have to be gathered, and that is gone when the call ends. */
    p.kept = p.kind == IR_C_ARRAY && !p.view && is_kept(s->inst, a->at);
    Size size = param_size(s->inst, a->at);
    if (size) map_set(&s->sizes, key_of(size), (void *)(uintptr_t)(s->params.len + 1));
    if (s->args.at[s->args.len - 1].kind == IR_ARG_LEAF) s->args.at[s->args.len - 1].role = p.role;
    push_leaf(s, p, (Source){.leaf = own});
}

static void add_params(Signature *s) {
    static const CVisitor visit = {add_arg, add_param_leaf, add_size};
    const Instance *inst = s->inst;
    int32_t param = 0, result = (int32_t)shape_count(s->lw, inst->result);
    for (uint32_t i = 0; i < inst->nparams; i++) {
        const Local *local = inst->params[i];
        const Shape *shape = shape_of(s->lw, local->type);
        Adding adding = {
            s, shape, param_role(s, inst, i), param, local->mut ? result : -1, local->mut, i, 0};
        c_walk(s->lw, local->type, param_name(s, inst, i), is_strided(inst, i), &visit, &adding);
        param += (int32_t)shape->n;
        if (local->mut) result += (int32_t)shape->n;
    }
}

static void add_result_leaf(void *data, CLeaf leaf) {
    Adding *a = data;
    Signature *s = a->s;
    const Leaf *own = &a->shape->leaf[leaf.leaf];
    IrCParam p = leaf_param(a, leaf);
    p.kind = IR_C_OUT;
    if (own->kind == IR_T_TAPE) {
        p.tape = tape_kind_of_result(s->lw, s->inst, a->tapes++);
        p.role = "a new tape, to be freed with adl_tape_free";
    }
    if (own->kind == IR_T_STR && !s->failed) {
        s->failed = true;
        diag_report(
            s->lw->diags, DIAG_EXPORT_SIZE, s->root->span,
            "'%s' cannot be exported: its result '%s' is a text, whose length C cannot know",
            s->root->name, leaf.name);
    }
    if (s->args.at[s->args.len - 1].kind == IR_ARG_LEAF) s->args.at[s->args.len - 1].role = p.role;
    push_leaf(s, p, (Source){.leaf = own});
}

static const char *result_name(Signature *s, const Instance *inst, uint32_t k, const TypePart *part,
                               uint32_t n) {
    if (inst->deriv && k < inst->deriv->nresults) {
        const DerivSlot *slot = &inst->deriv->results[k];
        if (slot->role == ROLE_PRIMAL) return "value";
        if (slot->role == ROLE_COTANGENT) {
            const Instance *base = inst->deriv->base_instance;
            const Local *of = base->params[base->ncaptures + slot->of];
            return module_text(s->lw, "d%s", of->name ? of->name->text : "");
        }
        if (slot->name) return slot->name->text;
    }
    if (part && part->name) return part->name->text;
    return n > 1 ? module_text(s->lw, "result%u", k) : "result";
}

static void add_result(Signature *s, Type type, const TypePart *part, uint32_t k, uint32_t n,
                       int32_t *result, uint32_t *tapes) {
    static const CVisitor visit = {add_arg, add_result_leaf, add_size};
    const Shape *shape = shape_of(s->lw, type);
    Adding adding = {s, shape, "overwritten", -1, *result, true, 0, *tapes};
    c_walk(s->lw, type, result_name(s, s->inst, k, part, n), false, &visit, &adding);
    *result += (int32_t)shape->n;
    *tapes = adding.tapes;
}

static void add_results(Signature *s) {
    const Instance *inst = s->inst;
    int32_t result = 0;
    uint32_t tapes = 0;
    if (inst->deriv) {
        for (uint32_t k = 0; k < inst->deriv->nresults; k++)
            add_result(s, inst->deriv->results[k].type, NULL, k, inst->deriv->nresults, &result,
                       &tapes);
    } else if (inst->result->kind == TYPE_TUPLE) {
        for (uint32_t k = 0; k < inst->result->nparts; k++)
            add_result(s, inst->result->parts[k].type, &inst->result->parts[k], k,
                       inst->result->nparts, &result, &tapes);
    } else if (inst->result->kind != TYPE_UNIT) {
        add_result(s, inst->result, NULL, 0, 1, &result, &tapes);
    }
}

/* ---- when all places are known ---- */

static void check_given(Signature *s, Size size) {
    if (s->failed || is_given(s, size)) return;
    s->failed = true;
    diag_report(s->lw->diags, DIAG_EXPORT_SIZE, s->root->span,
                "'%s' cannot be exported: a size of its result, %s, follows from no parameter",
                s->root->name, c_dim(s, size, false).text);
    diag_help(s->lw->diags, (Span){0, 0},
              "take the array as a mut parameter, or a size of it as an i64 parameter");
}

static void set_sizes(Signature *s) {
    for (uint32_t i = 0; i < s->params.len; i++) {
        Source source = s->sources.at[i];
        IrCParam *p = &s->params.at[i];
        bool result = p->kind == IR_C_OUT;
        if (p->again) {
            if (p->arg < s->args.len && s->args.at[p->arg].written && p->result < 0)
                check_given(s, source.size);
            if (!s->failed) p->want = c_dim(s, source.size, true);
        }
        if (!source.leaf || source.leaf->kind != IR_T_ARRAY) continue;
        p->rank = source.leaf->rank;
        for (uint32_t d = 0; d < p->rank && !s->failed; d++) {
            if (result) check_given(s, source.leaf->dims[d]);
            p->dims[d] = c_dim(s, source.leaf->dims[d], !result);
        }
        if (p->pairs) p->dims[p->rank++] = (IrCDim){.constant = 2, .place = -1, .text = "2"};
    }
}

/* ---- the function that takes and gives what C passes ---- */

/* The sizes of the results against those that the caller gave for them. */
static void check_results(Signature *s, Fn *f, IrValue *const *results, IrValue *const *extra) {
    const Shape *shape = shape_of(s->lw, s->inst->result);
    for (uint32_t i = 0; i < shape->n; i++)
        for (uint32_t k = 0; k < shape->leaf[i].rank; k++)
            for (uint32_t e = 0; e < s->extra.len; e++) {
                if (shape->leaf[i].dims[k] != s->extra.at[e]) continue;
                IrValue *pair[] = {extra[e], irb_dim(&f->b, results[i], k)};
                emit_check(
                    f, irb_binary(&f->b, IR_EQ, pair[0], pair[1]), LOWER_ERROR_SIZE,
                    module_text(s->lw, "%s is {0}, but was {1} in the forward pass",
                                s->extra.at[e]->name ? s->extra.at[e]->name->text : "a size"),
                    2, pair);
            }
}

/* The real and the imaginary parts of an array of pairs. */
static void take_pairs(Fn *f, IrValue *pairs, IrValue **re, IrValue **im) {
    IrValue *sizes[IR_MAX_RANK], *at[IR_MAX_RANK];
    uint32_t rank = pairs->type->rank - 1;
    IrType scalar = ir_scalar(f->lw->module, pairs->type->scalar), elems[] = {scalar, scalar};
    for (uint32_t k = 0; k < rank; k++) sizes[k] = irb_dim(&f->b, pairs, k);
    IrInst *build = irb_build(&f->b, rank, sizes, 2, elems, 0, NULL);
    IrBuilder inner = f->b;
    irb_at_end(&inner, build->regions[0]);
    memcpy(at, build->regions[0]->params, rank * sizeof *at);
    IrValue *both[2];
    for (int64_t part = 0; part < 2; part++) {
        at[rank] = irb_int(&inner, part);
        both[part] = irb_index(&inner, pairs, rank + 1, at);
    }
    irb_yield(&inner, 2, both);
    *re = build->results[0];
    *im = build->results[1];
}

static IrValue *make_pairs(Fn *f, IrValue *re, IrValue *im) {
    IrValue *sizes[IR_MAX_RANK];
    int64_t two = 2;
    uint32_t rank = re->type->rank;
    IrType elem = ir_array(f->lw->module, re->type->scalar, 1, &two);
    for (uint32_t k = 0; k < rank; k++) sizes[k] = irb_dim(&f->b, re, k);
    IrValue *inner_size = irb_int(&f->b, 2);
    IrInst *build = irb_build(&f->b, rank, sizes, 1, &elem, 1, &inner_size);
    IrBuilder inner = f->b;
    irb_at_end(&inner, build->regions[0]);
    IrValue *both[] = {irb_index(&inner, re, rank, build->regions[0]->params),
                       irb_index(&inner, im, rank, build->regions[0]->params)};
    IrValue *pair = irb_pack(&inner, 2, both);
    irb_yield(&inner, 1, &pair);
    return build->results[0];
}

static IrType pair_type(Lower *lw, IrType type) {
    int64_t dims[IR_MAX_RANK];
    memcpy(dims, type->dims, type->rank * sizeof *dims);
    dims[type->rank] = 2;
    return ir_array(lw->module, type->scalar, type->rank + 1, dims);
}

/* TYPES of the N of the inner function, with PAIRS; INDEX: where each went. */
static uint32_t outer_types(Lower *lw, uint32_t n, const IrType *inner, const bool *pairs,
                            IrType *types, int32_t *index) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        index[i] = (int32_t)count;
        types[count++] = pairs[i] ? pair_type(lw, inner[i]) : inner[i];
        if (pairs[i]) index[++i] = (int32_t)count - 1;
    }
    return count;
}

static IrFunc *make_entry(Signature *s) {
    Lower *lw = s->lw;
    IrFunc *inner = s->inner;
    uint32_t n = inner->nparams + s->extra.len;
    IrType *params = ARENA_ARRAY(lw->arena, IrType, n + 1);
    IrType *results = ARENA_ARRAY(lw->arena, IrType, inner->nresults + 1);
    int32_t *in = ARENA_ARRAY(lw->arena, int32_t, n + 1);
    int32_t *out = ARENA_ARRAY(lw->arena, int32_t, inner->nresults + 1);
    const char **names = ARENA_ARRAY(lw->arena, const char *, n + 1);
    uint32_t nparams = outer_types(lw, inner->nparams, inner->params, s->pairs_in, params, in);
    uint32_t nresults =
        outer_types(lw, inner->nresults, inner->results, s->pairs_out, results, out);
    for (uint32_t i = inner->nparams; i-- > 0;) names[in[i]] = inner->param_names[i];
    for (uint32_t e = 0; e < s->extra.len; e++) {
        in[inner->nparams + e] = (int32_t)nparams;
        names[nparams] = "size";
        params[nparams++] = ir_scalar(lw->module, IR_I64);
    }
    IrFunc *func = ir_func_new(lw->module, "entry", nparams, params, names, nresults, results);
    Fn *f = fn_open(lw, s->inst, func);
    f->b.pos = s->inst->span.begin;
    IrValue **given = func->body->params;
    IrValue **args = ARENA_ARRAY(lw->arena, IrValue *, n + 1);
    for (uint32_t i = 0; i < inner->nparams; i++) {
        args[i] = given[in[i]];
        if (!s->pairs_in[i]) continue;
        take_pairs(f, given[in[i]], &args[i], &args[i + 1]);
        i++;
    }
    IrInst *call = irb_call(&f->b, inner, args);
    check_results(s, f, call->results, given + nparams - s->extra.len);
    IrValue **give = ARENA_ARRAY(lw->arena, IrValue *, nresults + 1);
    for (uint32_t i = inner->nresults; i-- > 0;)
        if (s->pairs_out[i]) give[out[i]] = make_pairs(f, call->results[i], call->results[i + 1]);
        else give[out[i]] = call->results[i];
    irb_yield(&f->b, nresults, give);
    fn_close(f);
    for (uint32_t i = 0; i < s->params.len; i++) {
        IrCParam *p = &s->params.at[i];
        if (p->param >= 0) p->param = in[p->param];
        if (p->result >= 0) p->result = out[p->result];
    }
    return func;
}

bool c_signature(Lower *lw, const Root *root, IrExport *export) {
    Signature s = {.lw = lw, .root = root, .inst = root->instance, .inner = export->func};
    s.pairs_in = ARENA_ARRAY(lw->arena, bool, s.inner->nparams + 1);
    s.pairs_out = ARENA_ARRAY(lw->arena, bool, s.inner->nresults + 1);
    add_sizes(&s);
    add_params(&s);
    add_results(&s);
    set_sizes(&s);
    if (!s.failed && (s.extra.len || s.pairs)) export->func = make_entry(&s);
    export->nparams = s.params.len;
    export->params = ARENA_ARRAY(lw->module->arena, IrCParam, s.params.len + 1);
    if (s.params.len) memcpy(export->params, s.params.at, s.params.len * sizeof *s.params.at);
    export->nargs = s.args.len;
    export->args = ARENA_ARRAY(lw->module->arena, IrCArg, s.args.len + 1);
    if (s.args.len) memcpy(export->args, s.args.at, s.args.len * sizeof *s.args.at);
    vec_free(&s.extra);
    vec_free(&s.params);
    vec_free(&s.sources);
    vec_free(&s.args);
    map_free(&s.sizes);
    map_free(&s.base);
    return !s.failed;
}
