/* Roots: exported functions with their C signatures, main with its options, tests. */
#include "lower/internal.h"

#include <stdio.h>
#include <string.h>

typedef struct Signature {
    Lower *lw;
    const Root *root;
    VEC(IrCParam) params;
    Map sizes; /* id of a size variable -> C parameter + 1 */
    VEC(Size) extra; /* sizes that are passed for results only: parameters behind the INNER ones */
    uint32_t inner;
    bool failed;
} Signature;

/* ---- names ---- */

static const char *keep(Lower *lw, const char *text) {
    return text ? arena_strndup(lw->module->arena, text, strlen(text)) : NULL;
}

/* Calls of this with each leaf of a type give names: "hand", then "hand_rest" for its parts. */
typedef void (*NameFn)(void *data, uint32_t leaf, const char *name);

static void leaf_names(Lower *lw, Type type, const char *name, uint32_t *leaf, NameFn give,
                       void *data) {
    Type element = type_element(type);
    if (element->kind == TYPE_TUPLE || element->kind == TYPE_STRUCT) {
        for (uint32_t k = 0; k < element->nparts; k++) {
            const TypePart *part = &element->parts[k];
            const char *own = part->name ? module_text(lw, "%s_%s", name, part->name->text)
                                         : module_text(lw, "%s_%u", name, k);
            leaf_names(lw, part->type, own, leaf, give, data);
        }
        return;
    }
    if (type_is_complex(type)) {
        give(data, (*leaf)++, module_text(lw, "%s_re", name));
        give(data, (*leaf)++, module_text(lw, "%s_im", name));
        return;
    }
    for (uint32_t n = shape_count(lw, element); n > 0; n--) give(data, (*leaf)++, name);
}

/* ---- sizes ---- */

/* Can the wrapper compute it from the C parameters?  It knows + - * /. */
static bool is_expression(const Signature *s, Size size) {
    if (size->kind == SIZE_CONST) return true;
    if (size->kind == SIZE_VAR) return map_has(&s->sizes, (uint64_t)size->id + 1);
    if (size->kind != SIZE_SUM && size->kind != SIZE_PROD && size->kind != SIZE_DIV) return false;
    for (uint32_t i = 0; i < size->nterms; i++)
        if (!is_expression(s, size->terms[i])) return false;
    return true;
}

static IrCDim c_dim(Signature *s, Size size, bool param) {
    TypeTable *types = s->lw->program->types;
    IrCDim dim = {.constant = -1, .place = -1, .text = keep(s->lw, size_text(types, size))};
    if (size->kind == SIZE_CONST) dim.constant = size->value;
    if (size->kind == SIZE_VAR)
        dim.place = (int32_t)(intptr_t)map_get(&s->sizes, (uint64_t)size->id + 1) - 1;
    if (dim.place >= 0 && !size->name && (uint32_t)dim.place < s->params.len)
        dim.text = s->params.at[dim.place].name;
    if (param && !is_expression(s, size) && !s->failed) {
        s->failed = true;
        diag_report(s->lw->diags, DIAG_NOT_IMPLEMENTED, s->root->span,
                    "the export of a parameter of the size %s cannot be compiled yet", dim.text);
    }
    return dim;
}

/* Variables of SIZE that no parameter gives. */
static bool is_given(const Signature *s, Size size) {
    if (size->kind == SIZE_ANY) return false;
    if (size->kind == SIZE_VAR) return map_has(&s->sizes, (uint64_t)size->id + 1);
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

/* Sizes of a struct have the names of its declaration, behind the parameter's. */
static const char *size_name(Signature *s, const Local *local, Size size) {
    if (size->name) return keep(s->lw, size->name->text);
    Type type = type_element(local->type);
    for (uint32_t k = 0; type->kind == TYPE_STRUCT && local->name && k < type->nsizes; k++)
        if (type->dims[k] == size && k < type->decl->nsizes)
            return module_text(s->lw, "%s_%s", local->name->text, type->decl->sizes[k]->text);
    return module_text(s->lw, "n%u", s->params.len);
}

/* Is SIZE one of an array that INST takes? */
static bool is_of_array(Signature *s, const Instance *inst, Size size) {
    for (uint32_t i = 0; i < inst->nparams; i++) {
        const Shape *shape = shape_of(s->lw, inst->params[i]->type);
        for (uint32_t k = 0; k < shape->n; k++)
            for (uint32_t d = 0; d < shape->leaf[k].rank; d++)
                if (shape->leaf[k].dims[d] == size) return true;
    }
    return false;
}

static void add_size(Signature *s, const Instance *inst, const Local *local, Size size) {
    if (size->kind != SIZE_VAR || map_has(&s->sizes, (uint64_t)size->id + 1)) return;
    if (is_param(inst, size)) return;
    IrCParam p = {.kind = IR_C_SIZE, .param = -1, .result = -1};
    p.name = size_name(s, local, size);
    p.type = ir_scalar(s->lw->module, IR_I64);
    if (!is_of_array(s, inst, size)) {
        /* Of a result only: the caller says how much room there is. */
        p.kind = IR_C_SCALAR;
        p.role = "size, read";
        p.param = (int32_t)(s->inner + s->extra.len);
        vec_push(&s->extra, size);
    }
    vec_push(&s->params, p);
    map_set(&s->sizes, (uint64_t)size->id + 1, (void *)(uintptr_t)s->params.len);
}

static void add_sizes_of(Signature *s, const Instance *inst, const Instance *of) {
    for (uint32_t i = 0; i < of->nparams; i++) {
        const Shape *shape = shape_of(s->lw, of->params[i]->type);
        for (uint32_t k = 0; k < shape->n; k++)
            for (uint32_t d = 0; d < shape->leaf[k].rank; d++)
                add_size(s, inst, of->params[i], shape->leaf[k].dims[d]);
    }
}

static void add_sizes(Signature *s, const Instance *inst) {
    /* A reverse pass takes the sizes of its forward pass, though it sees some on its tape only. */
    if (inst->deriv && inst->deriv->part == DERIV_PART_REVERSE)
        add_sizes_of(s, inst, inst->deriv->base_instance);
    add_sizes_of(s, inst, inst);
    /* Behind all sizes: the parameters, of which some are sizes themselves. */
    uint32_t place = s->params.len;
    for (uint32_t i = 0; i < inst->nparams; i++) {
        Size size = param_size(inst, i);
        if (size) map_set(&s->sizes, (uint64_t)size->id + 1, (void *)(uintptr_t)(place + 1));
        place += shape_count(s->lw, inst->params[i]->type);
    }
}

/* ---- parameters and results ---- */

static void set_dims(Signature *s, IrCParam *p, const Leaf *leaf, bool param) {
    p->rank = leaf->rank;
    for (uint32_t d = 0; d < leaf->rank; d++) p->dims[d] = c_dim(s, leaf->dims[d], param);
}

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

typedef struct Adding {
    Signature *s;
    const Shape *shape;
    const char *role;
    int32_t param, result; /* of the first leaf, or -1 */
    const Instance *inst;
    uint32_t at;    /* of a parameter: which */
    uint32_t tapes; /* so many came already: of this parameter, of all results */
} Adding;

static void add_param_leaf(void *data, uint32_t leaf, const char *name) {
    Adding *a = data;
    const Leaf *own = &a->shape->leaf[leaf];
    bool plain = own->kind == IR_T_STR || !scalar_is_real_float(own->scalar);
    const char *role = plain ? a->result >= 0 ? "read and overwritten" : "read" : a->role;
    IrCParam p = {.name = keep(a->s->lw, name), .type = own->type, .role = role};
    p.param = a->param + (int32_t)leaf;
    p.result = a->result < 0 ? -1 : a->result + (int32_t)leaf;
    p.kind = a->result >= 0            ? IR_C_MUT
             : own->kind == IR_T_ARRAY ? IR_C_ARRAY
             : own->kind == IR_T_STR   ? IR_C_STR
                                       : IR_C_SCALAR;
    if (own->kind == IR_T_TAPE)
        p.tape = tape_kind_of_param(a->s->lw, a->inst, a->at, a->tapes++);
    p.kept = p.kind == IR_C_ARRAY && is_kept(a->inst, a->at);
    set_dims(a->s, &p, own, true);
    vec_push(&a->s->params, p);
}

static void add_params(Signature *s, const Instance *inst) {
    int32_t param = 0, result = (int32_t)shape_count(s->lw, inst->result);
    for (uint32_t i = 0; i < inst->nparams; i++) {
        const Local *local = inst->params[i];
        const Shape *shape = shape_of(s->lw, local->type);
        Adding adding = {s, shape, param_role(s, inst, i), param, local->mut ? result : -1,
                         inst, i, 0};
        uint32_t leaf = 0;
        const char *name = local->name ? local->name->text : module_text(s->lw, "arg%u", i);
        leaf_names(s->lw, local->type, name, &leaf, add_param_leaf, &adding);
        param += (int32_t)shape->n;
        if (local->mut) result += (int32_t)shape->n;
    }
}

static void add_result_leaf(void *data, uint32_t leaf, const char *name) {
    Adding *a = data;
    const Leaf *own = &a->shape->leaf[leaf];
    IrCParam p = {.kind = IR_C_OUT,
                  .name = keep(a->s->lw, name),
                  .type = own->type,
                  .param = -1,
                  .role = a->role};
    p.result = a->result + (int32_t)leaf;
    if (own->kind == IR_T_TAPE) {
        p.tape = tape_kind_of_result(a->s->lw, a->inst, a->tapes++);
        p.role = "a new tape, to be freed with adl_tape_free";
    }
    set_dims(a->s, &p, own, false);
    for (uint32_t d = 0; d < own->rank && !a->s->failed; d++) {
        if (is_given(a->s, own->dims[d])) continue;
        a->s->failed = true;
        diag_report(a->s->lw->diags, DIAG_EXPORT_SIZE, a->s->root->span,
                    "'%s' cannot be exported: a size of its result, %s, follows from no parameter",
                    a->s->root->name, p.dims[d].text);
        diag_help(a->s->lw->diags, (Span){0, 0},
                  "take the array as a mut parameter, or a size of it as an i64 parameter");
    }
    vec_push(&a->s->params, p);
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

static void add_result(Signature *s, const Instance *inst, Type type, const TypePart *part,
                       uint32_t k, uint32_t n, int32_t *result, uint32_t *tapes) {
    const Shape *shape = shape_of(s->lw, type);
    Adding adding = {s, shape, "overwritten", -1, *result, inst, 0, *tapes};
    uint32_t leaf = 0;
    leaf_names(s->lw, type, result_name(s, inst, k, part, n), &leaf, add_result_leaf, &adding);
    *result += (int32_t)shape->n;
    *tapes = adding.tapes;
}

static void add_results(Signature *s, const Instance *inst) {
    int32_t result = 0;
    uint32_t tapes = 0;
    if (inst->deriv) {
        for (uint32_t k = 0; k < inst->deriv->nresults; k++)
            add_result(s, inst, inst->deriv->results[k].type, NULL, k, inst->deriv->nresults,
                       &result, &tapes);
    } else if (inst->result->kind == TYPE_TUPLE) {
        for (uint32_t k = 0; k < inst->result->nparts; k++)
            add_result(s, inst, inst->result->parts[k].type, &inst->result->parts[k], k,
                       inst->result->nparts, &result, &tapes);
    } else if (inst->result->kind != TYPE_UNIT) {
        add_result(s, inst, inst->result, NULL, 0, 1, &result, &tapes);
    }
}

static bool can_export(Lower *lw, const Root *root) {
    const Instance *inst = root->instance;
    bool functions = inst->result->has_fns;
    for (uint32_t i = 0; i < inst->nparams; i++)
        functions = functions || inst->params[i]->type->has_fns ||
                    inst->params[i]->type->kind == TYPE_FNVAL;
    if (!functions) return true;
    diag_report(lw->diags, DIAG_EXPORT_FUNCTION, root->span,
                "'%s' cannot be exported: C cannot pass a function to it", root->name);
    return false;
}

void export_put(Lower *lw, const Root *root, IrExport *export) {
    export->doc = keep(lw, root->doc);
    export->pos = root->span.begin;
    export->func->flags |= IR_FUNC_ROOT;
    vec_push(&lw->module->exports, export);
}

/* The sizes of the results against those that the caller gave for them. */
static void check_results(Signature *s, Fn *f, const Instance *inst, IrInst *call) {
    const Shape *shape = shape_of(s->lw, inst->result);
    for (uint32_t i = 0; i < shape->n; i++)
        for (uint32_t k = 0; k < shape->leaf[i].rank; k++)
            for (uint32_t e = 0; e < s->extra.len; e++) {
                if (shape->leaf[i].dims[k] != s->extra.at[e]) continue;
                IrValue *pair[] = {f->func->body->params[s->inner + e],
                                   irb_dim(&f->b, call->results[i], k)};
                emit_check(f, irb_binary(&f->b, IR_EQ, pair[0], pair[1]), LOWER_ERROR_SIZE,
                           module_text(s->lw, "%s is {0}, but was {1} in the forward pass",
                                       s->extra.at[e]->name ? s->extra.at[e]->name->text
                                                            : "a size"),
                           2, pair);
            }
}

static IrFunc *with_extra_sizes(Signature *s, const Instance *inst, IrFunc *inner) {
    Lower *lw = s->lw;
    uint32_t n = inner->nparams + s->extra.len;
    IrType *types = ARENA_ARRAY(lw->arena, IrType, n);
    const char **names = ARENA_ARRAY(lw->arena, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        bool own = i < inner->nparams;
        types[i] = own ? inner->params[i] : ir_scalar(lw->module, IR_I64);
        names[i] = own ? inner->param_names[i] : "size";
    }
    IrFunc *func = ir_func_new(lw->module, "sized", n, types, names, inner->nresults,
                               inner->results);
    Fn *f = fn_open(lw, inst, func);
    f->b.pos = inst->span.begin;
    IrInst *call = irb_call(&f->b, inner, func->body->params);
    check_results(s, f, inst, call);
    irb_yield(&f->b, call->nresults, call->results);
    fn_close(f);
    return func;
}

static void export_c(Lower *lw, const Root *root) {
    if (!can_export(lw, root)) return;
    Signature s = {.lw = lw, .root = root};
    IrExport *export = ARENA_NEW(lw->module->arena, IrExport);
    export->kind = IR_EXPORT_C;
    export->name =
        module_text(lw, "%s%s", lw->options->prefix ? lw->options->prefix : "", root->name);
    bool open = root->instance->deriv && root->instance->deriv->open;
    export->func = open ? export_entry(lw, root->instance, export->name)
                        : lower_func(lw, root->instance);
    s.inner = export->func->nparams;
    add_sizes(&s, root->instance);
    add_params(&s, root->instance);
    add_results(&s, root->instance);
    if (s.extra.len) export->func = with_extra_sizes(&s, root->instance, export->func);
    vec_free(&s.extra);
    export->nparams = s.params.len;
    export->params = ARENA_ARRAY(lw->module->arena, IrCParam, s.params.len);
    if (s.params.len) memcpy(export->params, s.params.at, s.params.len * sizeof *s.params.at);
    vec_free(&s.params);
    map_free(&s.sizes);
    export_put(lw, root, export);
}

/* ---- main ---- */

static void check_dim(Fn *f, const Instance *inst, uint32_t p, IrValue *x, uint32_t k, Size size) {
    IrValue *pair[] = {irb_dim(&f->b, x, k), size_value(f, size)};
    if (!pair[1] || pair[0] == pair[1] || size_is_dim_of(pair[1], x, k)) return;
    emit_check(f, emit_binary(f, IR_EQ, pair[0], pair[1]), LOWER_ERROR_SIZE,
               module_text(f->lw, "dimension %u of %s is {0}, but %s is {1}", k + 1,
                           inst->params[p]->name ? inst->params[p]->name->text : "a parameter",
                           size_text(f->lw->program->types, size)),
               2, pair);
}

IrFunc *export_entry(Lower *lw, const Instance *inst, const char *name) {
    IrFunc *inner = lower_func(lw, inst);
    IrFunc *func = ir_func_new(lw->module, name, inner->nparams, inner->params,
                               inner->param_names, inner->nresults, inner->results);
    Fn *f = fn_open(lw, inst, func);
    uint32_t at = 0;
    f->b.pos = inst->span.begin;
    for (uint32_t pass = 0; pass < 2; pass++) {
        at = 0;
        for (uint32_t p = 0; p < inst->nparams; p++) {
            const Shape *shape = shape_of(lw, inst->params[p]->type);
            Vals own = {func->body->params + at, shape->n};
            if (!pass) env_note_size(f, inst->params[p], own);
            if (pass) size_bind(f, inst->params[p]->type, own);
            for (uint32_t i = 0; pass && i < shape->n; i++)
                for (uint32_t k = 0; k < shape->leaf[i].rank; k++)
                    check_dim(f, inst, p, own.at[i], k, shape->leaf[i].dims[k]);
            at += shape->n;
        }
    }
    IrInst *call = irb_call(&f->b, inner, func->body->params);
    irb_yield(&f->b, call->nresults, call->results);
    fn_close(f);
    return func;
}

/* "[n, 3]" of an array: the sizes as they are called. */
static const char *shape_text(Lower *lw, Type type) {
    if (type->kind != TYPE_ARRAY) return NULL;
    StrBuf text = {0};
    for (uint32_t k = 0; k < type->rank; k++) {
        Size size = type->dims[k];
        strbuf_add(&text, k ? ", " : "[");
        if (size->kind == SIZE_ANY || (size->kind == SIZE_VAR && !size->name))
            strbuf_add(&text, "_");
        else size_print(&text, size);
    }
    strbuf_add(&text, "]");
    const char *kept = keep(lw, text.text);
    strbuf_free(&text);
    return kept;
}

static void export_main(Lower *lw, const Root *root) {
    const Instance *inst = root->instance;
    IrExport *export = ARENA_NEW(lw->module->arena, IrExport);
    export->kind = IR_EXPORT_MAIN;
    export->name = "main";
    export->noptions = inst->nparams;
    export->options = ARENA_ARRAY(lw->module->arena, IrOption, inst->nparams);
    for (uint32_t i = 0; i < inst->nparams; i++) {
        const Local *local = inst->params[i];
        IrOption *option = &export->options[i];
        const Shape *shape = shape_of(lw, local->type);
        option->name = keep(lw, local->name ? local->name->text : "");
        option->doc = keep(lw, root->param_docs ? root->param_docs[i] : NULL);
        option->param = (int32_t)i;
        if (shape->n != 1 || shape->leaf[0].kind == IR_T_TAPE) {
            diag_report(lw->diags, DIAG_MAIN_PARAMETER, local->span,
                        "parameter '%s' of main cannot come from the command line", option->name);
            diag_help(lw->diags, (Span){0, 0},
                      "parameters of main are numbers, bools, strings and arrays of numbers");
            return;
        }
        option->type = shape->leaf[0].type;
        option->shape = shape_text(lw, local->type);
        if (root->defaults && root->defaults[i]) {
            option->has_default = true;
            option->default_func = lower_func(lw, root->defaults[i]);
            option->default_func->flags |= IR_FUNC_ROOT;
            option->default_text = keep(lw, root->default_texts ? root->default_texts[i] : NULL);
        }
    }
    export->func = export_entry(lw, inst, "main_entry");
    export_put(lw, root, export);
}

static void export_test(Lower *lw, const Root *root) {
    IrExport *export = ARENA_NEW(lw->module->arena, IrExport);
    export->kind = root->kind == ROOT_TEST ? IR_EXPORT_TEST : IR_EXPORT_BENCH;
    export->name = keep(lw, root->name);
    export->func = lower_func(lw, root->instance);
    export_put(lw, root, export);
}

void export_roots(Lower *lw) {
    uint32_t wanted = lw->options->roots;
    for (uint32_t i = 0; i < lw->program->roots.len; i++) {
        const Root *root = &lw->program->roots.at[i];
        if (wanted && !(wanted >> root->kind & 1)) continue;
        switch (root->kind) {
        case ROOT_EXPORT: export_c(lw, root); break;
        case ROOT_MAIN: export_main(lw, root); break;
        case ROOT_TEST:
        case ROOT_BENCH: export_test(lw, root); break;
        case ROOT_CHECK: export_check(lw, root); break;
        case ROOT_OPEN: export_open(lw, root); break;
        }
    }
}
