/* The derivative operators: as values and as calls. */
#include "types/deriv.h"

#include <string.h>

static const char *const part_names[] = {"grad", "jvp", "split", "split"};

/* A function value for the request: one for each request, so that its type is one, too. */
static const FnValue *value_of_request(FnChecker *f, DerivRequest *request, const FnValue *base) {
    StrBuf text = {0};
    const DerivSpec *spec = &request->spec;
    strbuf_printf(&text, "deriv %p %d%d%d%d%d%d %u %lld ", (const void *)base, (int)spec->part,
                  spec->primal, spec->seed, spec->strong_zero, spec->holomorphic, spec->deferred,
                  spec->width, (long long)spec->checkpoint);
    for (uint32_t k = 0; k < request->nwords; k++)
        strbuf_printf(&text, "%d/%u ", request->words[k], request->widths ? request->widths[k] : 0);
    for (uint32_t k = 0; k < request->nwrt; k++) strbuf_printf(&text, " %s", request->wrt[k]->text);
    for (uint32_t k = 0; k < request->nunmodified; k++)
        strbuf_printf(&text, " unmodified %s", request->unmodified[k]->text);
    Sym key = intern_n(f->c->interner, text.text, text.len);
    strbuf_free(&text);
    FnValue *found = map_getp(&f->c->fn_values, key);
    if (found) return found;
    FnValue *fn = ARENA_NEW(f->c->arena, FnValue);
    request->spec.base = base;
    *fn = (FnValue){
        .kind = FN_DERIV,
        .decl = base->decl,
        .deriv = &request->spec,
        .lambda_in = base->lambda_in,
        .ncaptures = base->ncaptures,
        .captures = base->captures,
        .math = -1,
        .builtin = -1,
        .name = arena_printf(f->c->arena, "%s %s", part_names[spec->part], fnvalue_name(base))};
    map_setp(&f->c->fn_values, key, fn);
    return fn;
}

/* At run time a derivative is what its operand is: the captured values. */
static Tree *value_tree(FnChecker *f, const FnValue *fn, Tree *operand, Span span) {
    Tree **args = ARENA_ARRAY(f->c->arena, Tree *, fn->ncaptures + 1);
    for (uint32_t k = 0; k < fn->ncaptures; k++)
        args[k] = operand->kind == T_FN ? operand->args[k] : make_part(f, operand, k, span);
    return make_args(f, T_FN, type_fnval(f->c->types, fn), span, fn->ncaptures, args);
}

static Tree *check_operand(FnChecker *f, AstNode *operand) {
    Tree *value = check_expr(f, operand, NULL);
    if (is_poison(value->type)) return NULL;
    if (value->type->kind == TYPE_FNVAL) return value;
    diag_report(f->c->diags, DIAG_DERIV_OPERAND, operand->span, "this is a `%s`, not a function",
                tt(f, value->type));
    return NULL;
}

/* The value of an operator: one function, or the pair of split. */
static Tree *operator_value(FnChecker *f, DerivRequest *request, const FnValue *base, Tree *operand,
                            Span span) {
    if (request->spec.part != DERIV_PART_FORWARD)
        return value_tree(f, value_of_request(f, request, base), operand, span);
    DerivRequest *reverse = ARENA_NEW(f->c->arena, DerivRequest);
    *reverse = *request;
    reverse->spec.part = DERIV_PART_REVERSE;
    /* Widths concern the reverse pass: a tape may be pulled at any.  What is borrowed concerns the
       forward pass. */
    request->spec.width = 0;
    reverse->nunmodified = 0;
    Tree *pair[2] = {value_tree(f, value_of_request(f, request, base), operand, span),
                     value_tree(f, value_of_request(f, reverse, base), operand, span)};
    TypePart parts[2] = {{.type = pair[0]->type}, {.type = pair[1]->type}};
    return make_args(f, T_TUPLE, type_tuple(f->c->types, 2, parts), span, 2, pair);
}

/* Which function it is must be known, unless the operator is deferred. */
static bool is_known(FnChecker *f, const DerivRequest *request, const FnValue *base, Span span) {
    for (; base->kind == FN_DERIV; base = base->deriv->base) {
    }
    if (base->kind != FN_OPAQUE || request->spec.deferred) return true;
    diag_report(f->c->diags, DIAG_DERIV_UNKNOWN, span, "which function `%s` is, is not known here",
                fnvalue_name(base));
    diag_help(f->c->diags, (Span){0, 0}, "write `deferred` before the operator");
    return false;
}

/* For a function parameter the activities are those of its declared type. */
static void activities_of_parameter(FnChecker *f, const AstNode *operand, DerivRequest *request) {
    if (operand->kind != AST_Name || request->nwords) return;
    const Binding *binding = scope_find(f, ((const AstName *)operand)->name.sym);
    if (!binding || !binding->fn_type || binding->fn_type->kind != TYPE_FN) return;
    Type fn = binding->fn_type;
    uint8_t *words = ARENA_ARRAY(f->c->arena, uint8_t, fn->nparts + 1);
    for (uint32_t k = 0; k < fn->nparts; k++) {
        const TypePart *part = &fn->parts[k];
        uint8_t act = part->type->has_floats ? part->mut ? ACT_DUPLICATED : ACT_ACTIVE : ACT_CONST;
        words[k] = part->act ? part->act : (uint8_t)(act + 1);
    }
    request->words = words;
    request->nwords = fn->nparts;
}

/* Operator and operand, checked against each other as far as can be; NULL after reporting. */
static Tree *check_operator(FnChecker *f, AstDeriv *node, DerivRequest **request) {
    bool defers = f->defers;
    *request = deriv_parse_request(f, node);
    f->defers = node->operand->kind == AST_Deriv && (node->deferred || defers);
    Tree *operand = check_operand(f, node->operand);
    f->defers = false;
    if (!*request || !operand || !is_known(f, *request, operand->type->fn, node->node.span))
        return NULL;
    activities_of_parameter(f, node->operand, *request);
    return operand;
}

static Tree *checked_value(FnChecker *f, DerivRequest *request, const FnValue *base, Tree *operand,
                           Span span) {
    uint32_t n, width;
    DerivParam *params;
    if (!deriv_params(f, base, span, &n, &params) ||
        !deriv_activities(f, request, n, params, span) ||
        !deriv_request_width(f, request->spec.width, n, params, span, &width))
        return tree_poison(f, span);
    request->spec.width = width;
    return operator_value(f, request, base, operand, span);
}

Tree *check_deriv_value(FnChecker *f, AstDeriv *node, Type expected) {
    (void)expected;
    DerivRequest *request;
    Tree *operand = check_operator(f, node, &request);
    if (!operand) return tree_poison(f, node->node.span);
    return checked_value(f, request, operand->type->fn, operand, node->node.span);
}

/* ---- lists of words without a call ---- */

static AstNode *arg_value(AstNode *arg) {
    return arg->kind == AST_Arg ? AST_AS(Arg, arg)->value : arg;
}

static bool is_bare_list(const AstCall *call) {
    if (!call->args.len) return false;
    for (uint32_t k = 0; k < call->args.len; k++) {
        AstNode *value = arg_value(call->args.at[k]);
        if (value->kind != AST_ActArg || AST_AS(ActArg, value)->has_args) return false;
    }
    return true;
}

/* OLD with the words of the list. */
static DerivRequest *with_words(FnChecker *f, const DerivRequest *old, AstCall *call) {
    DerivRequest *request = ARENA_NEW(f->c->arena, DerivRequest);
    *request = *old;
    uint8_t *words = ARENA_ARRAY(f->c->arena, uint8_t, call->args.len);
    uint32_t *widths = ARENA_ARRAY(f->c->arena, uint32_t, call->args.len);
    for (uint32_t k = 0; k < call->args.len; k++) {
        AstActivity *word = AST_AS(Activity, AST_AS(ActArg, arg_value(call->args.at[k]))->act);
        words[k] = (uint8_t)(word->kind + 1);
        if (!deriv_word_width(f, word, &widths[k])) return NULL;
    }
    request->words = words;
    request->widths = widths;
    request->nwords = call->args.len;
    request->span = call->node.span;
    return request;
}

static Tree *apply_words(FnChecker *f, const DerivRequest *old, const FnValue *base, AstCall *call,
                         Tree *operand) {
    DerivRequest *request = with_words(f, old, call);
    if (!request) return tree_poison(f, call->node.span);
    return checked_value(f, request, base, operand, call->node.span);
}

/* ---- calls ---- */

typedef struct DerivCall {
    FnChecker *f;
    AstCall *call;
    const DerivRequest *request;
    uint32_t n; /* parameters of the base */
    DerivParam *params;
    uint32_t nslots; /* without seed and tape */
    DerivSlot *slots;
    uint32_t width;   /* of the whole request */
    CallArg *args;    /* by slot; two more places at the end */
    AstNode *rest[4]; /* positional arguments behind the slots, and named seed or tape */
    Sym rest_names[4];
    uint32_t nrest;
} DerivCall;

static int find_param(const DerivCall *d, Sym name) {
    for (uint32_t k = 0; k < d->n; k++)
        if (d->params[k].name == name) return (int)k;
    return -1;
}

static int find_slot(const DerivCall *d, Sym name) {
    for (uint32_t k = 0; k < d->nslots; k++)
        if (d->slots[k].name == name) return (int)k;
    return -1;
}

static bool needs_shadow(const DerivCall *d, uint32_t p) {
    if (d->params[p].act == ACT_CONST) return false;
    return d->request->spec.part == DERIV_PART_JVP || d->params[p].act != ACT_ACTIVE;
}

/* A batch without <N>: N is the leading dimension of the shadow, a constant in its type. */
static bool width_of_shadow(DerivCall *d, AstActArg *arg, uint32_t *width) {
    AstNode *shadow = arg->args.len > 1 ? arg_value(arg->args.at[1]) : NULL;
    Type type = shadow ? check_expr(d->f, shadow, NULL)->type : NULL;
    if (type && type->kind == TYPE_POISON) return false;
    bool known = type && type->kind == TYPE_ARRAY && type->dims[0]->kind == SIZE_CONST &&
                 type->dims[0]->value >= 1 && type->dims[0]->value <= UINT16_MAX;
    if (known) {
        *width = (uint32_t)type->dims[0]->value;
        return true;
    }
    diag_report(d->f->c->diags, DIAG_DERIV_WIDTH, arg->node.span,
                "the width of this batch is not known: its shadow's first size is no constant");
    diag_help(d->f->c->diags, (Span){0, 0}, "write it: BatchDuplicated<8>(...)");
    return false;
}

static bool take_word(DerivCall *d, uint32_t p, AstActArg *arg) {
    AstActivity *word = AST_AS(Activity, arg->act);
    DerivParam *param = &d->params[p];
    bool batch = word->kind == ACT_BATCH || word->kind == ACT_BATCH_NONEED;
    if (!deriv_set_activity(d->f, param, (ActKind)word->kind, d->request->spec.part,
                            arg->node.span))
        return false;
    if (!deriv_word_width(d->f, word, &param->width)) return false;
    return !batch || param->width || width_of_shadow(d, arg, &param->width);
}

/* The words in the arguments.  Which parameter a positional argument belongs to follows from the
   activities of those before it. */
static bool take_words(DerivCall *d) {
    bool *named = ARENA_ARRAY(d->f->c->arena, bool, d->n + 1);
    for (uint32_t k = 0; k < d->call->args.len; k++) {
        AstNode *node = d->call->args.at[k];
        if (node->kind != AST_Arg || !AST_AS(Arg, node)->name.sym) continue;
        int p = find_param(d, AST_AS(Arg, node)->name.sym);
        if (p < 0) continue;
        named[p] = true;
        AstNode *value = AST_AS(Arg, node)->value;
        if (value->kind == AST_ActArg && !take_word(d, (uint32_t)p, AST_AS(ActArg, value)))
            return false;
    }
    uint32_t p = 0;
    bool shadow_next = false;
    for (uint32_t k = 0; k < d->call->args.len; k++) {
        AstNode *node = d->call->args.at[k], *value = arg_value(node);
        if (node->kind == AST_Arg && AST_AS(Arg, node)->name.sym) continue;
        if (shadow_next && value->kind != AST_ActArg) {
            shadow_next = false;
            p++;
            continue;
        }
        shadow_next = false;
        while (p < d->n && named[p]) p++;
        if (p >= d->n) break;
        uint32_t given = 1;
        if (value->kind == AST_ActArg) {
            if (!take_word(d, p, AST_AS(ActArg, value))) return false;
            given = AST_AS(ActArg, value)->args.len;
        }
        if (needs_shadow(d, p) && given < 2) shadow_next = true;
        else p++;
    }
    return true;
}

static void fill(DerivCall *d, int slot, AstNode *node) {
    if (slot >= 0) d->args[slot].node = node;
}

static bool fill_word(DerivCall *d, uint32_t p, AstActArg *arg) {
    int primal = -1, shadow = -1;
    for (uint32_t k = 0; k < d->nslots; k++) {
        if (d->slots[k].of != p) continue;
        if (d->slots[k].role == ROLE_PRIMAL) primal = (int)k;
        else shadow = (int)k;
    }
    if (arg->args.len > (shadow >= 0 ? 2u : 1u)) {
        diag_report(d->f->c->diags, DIAG_DERIV_ARGUMENTS, arg->node.span,
                    shadow >= 0 ? "a value and its shadow are expected"
                                : "one value is expected: this parameter has no shadow here");
        return false;
    }
    fill(d, primal, arg_value(arg->args.at[0]));
    if (arg->args.len < 2) return true;
    AstNode *a = arg_value(arg->args.at[0]), *b = arg_value(arg->args.at[1]);
    if (d->slots[shadow].role == ROLE_SHADOW && a->kind == AST_Name && b->kind == AST_Name &&
        AST_AS(Name, a)->name.sym == AST_AS(Name, b)->name.sym) {
        diag_report(d->f->c->diags, DIAG_DERIV_SHADOW_SAME, b->span,
                    "`%s` is passed as its own shadow", AST_AS(Name, b)->name.sym->text);
        return false;
    }
    fill(d, shadow, b);
    return true;
}

static bool keep_rest(DerivCall *d, AstNode *value, Sym name) {
    if (d->nrest < 4) {
        d->rest_names[d->nrest] = name;
        d->rest[d->nrest++] = value;
        return true;
    }
    diag_report(d->f->c->diags, DIAG_DERIV_ARGUMENTS, value->span,
                "too many arguments for the derivative of a function of %u parameters", d->n);
    return false;
}

static bool fill_args(DerivCall *d) {
    for (uint32_t k = 0; k < d->call->args.len; k++) {
        AstNode *node = d->call->args.at[k];
        if (node->kind != AST_Arg || !AST_AS(Arg, node)->name.sym) continue;
        AstArg *arg = AST_AS(Arg, node);
        int slot = find_slot(d, arg->name.sym);
        if (slot < 0) {
            if (!keep_rest(d, arg->value, arg->name.sym)) return false;
        } else if (arg->value->kind == AST_ActArg) {
            if (!fill_word(d, d->slots[slot].of, AST_AS(ActArg, arg->value))) return false;
        } else fill(d, slot, arg->value);
    }
    uint32_t next = 0;
    for (uint32_t k = 0; k < d->call->args.len; k++) {
        AstNode *node = d->call->args.at[k], *value = arg_value(node);
        if (node->kind == AST_Arg && AST_AS(Arg, node)->name.sym) continue;
        while (next < d->nslots && d->args[next].node) next++;
        if (next >= d->nslots) {
            if (!keep_rest(d, value, NULL)) return false;
        } else if (value->kind == AST_ActArg) {
            if (!fill_word(d, d->slots[next].of, AST_AS(ActArg, value))) return false;
        } else fill(d, (int)next, value);
    }
    return true;
}

static bool report_missing(DerivCall *d, const DerivSlot *slot) {
    const DerivParam *p = &d->params[slot->of];
    const char *name = p->name ? p->name->text : "?";
    const char *what = slot->role == ROLE_TANGENT ? "tangent" : "shadow";
    if (slot->role == ROLE_PRIMAL)
        diag_report(d->f->c->diags, DIAG_DERIV_ARGUMENTS, d->call->node.span,
                    "the argument for `%s` is missing", name);
    else
        diag_report(d->f->c->diags, DIAG_DERIV_ARGUMENTS, d->call->node.span,
                    "`%s` is differentiated: its %s `%s` is missing", name, what,
                    slot->name ? slot->name->text : "");
    if (p->span.begin) diag_note(d->f->c->diags, p->span, "`%s` is declared here", name);
    return false;
}

/* Defaults of the base's parameters serve its derivative, too. */
static void fill_defaults(DerivCall *d, const FnValue *base) {
    if (base->kind != FN_NAMED || !base->decl || !base->decl->ast) return;
    for (uint32_t k = 0; k < d->nslots; k++) {
        if (d->args[k].node || d->slots[k].role != ROLE_PRIMAL) continue;
        AstParam *param = AST_AS(Param, base->decl->ast->params.at[d->slots[k].of]);
        if (!param->value) continue;
        d->args[k].node = param->value;
        d->args[k].is_default = true;
    }
}

/* "write `reverse(dx, seed: ..., tape)`": all that a reverse pass takes. */
static void report_wanted(DerivCall *d, const DerivSpec *spec) {
    StrBuf text = {0};
    for (uint32_t s = 0; s < spec->nparams; s++) {
        const char *name = spec->params[s].name ? spec->params[s].name->text : "_";
        strbuf_printf(&text, "%s%s", s ? ", " : "", name);
        if (spec->params[s].role == ROLE_SEED) strbuf_add(&text, ": ...");
    }
    diag_help(d->f->c->diags, (Span){0, 0}, "it is called as `%s(%s)`",
              ast_text(d->f, d->call->callee), text.text ? text.text : "");
    strbuf_free(&text);
}

/* What is left goes to the seed (and tape), by name or in order. */
static bool fill_rest(DerivCall *d, const Instance *inst) {
    const DerivSpec *spec = inst->deriv;
    for (uint32_t k = 0; k < d->nrest; k++) {
        uint32_t to = spec->nparams;
        for (uint32_t s = d->nslots; s < spec->nparams && to == spec->nparams; s++)
            if (d->rest_names[k] ? spec->params[s].name == d->rest_names[k] : !d->args[s].node)
                to = s;
        if (to < spec->nparams) {
            d->args[to].node = d->rest[k];
            continue;
        }
        bool primal = d->rest_names[k] ? find_param(d, d->rest_names[k]) >= 0 : true;
        if (spec->part == DERIV_PART_REVERSE && primal) {
            diag_report(
                d->f->c->diags, DIAG_DERIV_ARGUMENTS, d->call->node.span,
                "a reverse pass takes no arguments of `%s`: what it needs of them is on the "
                "tape",
                spec->base_instance->name);
            report_wanted(d, spec);
            return false;
        }
        if (d->rest_names[k])
            diag_report(d->f->c->diags, DIAG_DERIV_ARGUMENTS, d->rest[k]->span,
                        "`%s` has no parameter `%s`", inst->name, d->rest_names[k]->text);
        else
            diag_report(d->f->c->diags, DIAG_DERIV_ARGUMENTS, d->rest[k]->span,
                        "one argument too many for `%s`: no parameter is left for it", inst->name);
        return false;
    }
    for (uint32_t s = d->nslots; s < spec->nparams; s++) {
        if (d->args[s].node) continue;
        diag_report(d->f->c->diags, DIAG_DERIV_SEED, d->call->node.span,
                    "the %s of `%s` is missing: `%s: ...` of type `%s`",
                    spec->params[s].role == ROLE_TAPE ? "tape" : "seed", inst->name,
                    spec->params[s].name->text, tt(d->f, spec->params[s].type));
        return false;
    }
    return true;
}

/* A reverse pass takes no primal arguments: which instance it belongs to, its tape says. */
static Instance *base_of_tape(Checker *c, const FnValue *base, Type tape, Span span) {
    const Instance *forward = tape && tape->kind == TYPE_TAPE ? tape->tape_of : NULL;
    if (forward && forward->deriv->base == base) return forward->deriv->base_instance;
    if (tape && tape->kind == TYPE_POISON) return NULL;
    diag_report(c->diags, DIAG_DERIV_TAPE, span,
                forward ? "this is a tape of `%s`, not of `%s`"
                        : "the tape of `%s` is expected here%s",
                forward ? forward->deriv->base_instance->name : fnvalue_name(base),
                forward ? fnvalue_name(base) : "");
    return NULL;
}

/* The tape among the arguments that are left: by its name, else the last. */
static AstNode *tape_argument(const DerivCall *d) {
    for (uint32_t k = 0; k < d->nrest; k++)
        if (d->rest_names[k] && !strcmp(d->rest_names[k]->text, "tape")) return d->rest[k];
    for (uint32_t k = d->nrest; k-- > 0;)
        if (!d->rest_names[k]) return d->rest[k];
    return NULL;
}

static Instance *base_of_call(DerivCall *d, const FnValue *base) {
    FnChecker *f = d->f;
    if (!deriv_needs_types(f->c, base))
        return instance_of_fnvalue(f->c, base, 0, NULL, d->call->node.span);
    if (d->request->spec.part == DERIV_PART_REVERSE) {
        AstNode *tape = tape_argument(d);
        return base_of_tape(f->c, base, tape ? check_expr(f, tape, NULL)->type : NULL,
                            tape ? tape->span : d->call->node.span);
    }
    Type *types = ARENA_ARRAY(f->c->arena, Type, d->n + 1);
    for (uint32_t k = 0; k < d->nslots; k++) {
        if (d->slots[k].role != ROLE_PRIMAL) continue;
        Tree *value = check_expr(f, d->args[k].node, NULL);
        if (is_poison(value->type)) return NULL;
        if (!d->slots[k].mut) d->args[k].value = value;
        /* A scalar function over arrays: one instance, for the element. */
        bool lift = d->params[d->slots[k].of].scalar && value->type->kind == TYPE_ARRAY;
        types[d->slots[k].of] = lift ? value->type->elem : value->type;
    }
    return instance_of_fnvalue(f->c, base, d->n, types, d->call->node.span);
}

static uint8_t *final_activities(Checker *c, const Instance *base, uint32_t n,
                                 const DerivParam *params) {
    uint8_t *act = ARENA_ARRAY(c->arena, uint8_t, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        bool floats = base->params[base->ncaptures + k]->type->has_floats;
        act[k] = floats ? params[k].act : ACT_CONST;
    }
    return act;
}

static bool anything_active(FnChecker *f, const Instance *base, const uint8_t *act, uint32_t n,
                            Span span) {
    for (uint32_t k = 0; k < n; k++)
        if (act[k] != ACT_CONST) return rule_covers(f->c, base, act, n, span);
    diag_report(f->c->diags, DIAG_DERIV_NOTHING, span,
                "`%s` has no parameter that could be differentiated here", base->name);
    return false;
}

/* Takes the slots again where a parameter turned out to hold no floats. */
static void settle_slots(DerivCall *d, const uint8_t *act) {
    uint32_t to = 0;
    for (uint32_t k = 0; k < d->nslots; k++) {
        if (d->slots[k].role != ROLE_PRIMAL && act[d->slots[k].of] == ACT_CONST) {
            if (d->args[k].node) keep_rest(d, d->args[k].node, NULL);
            continue;
        }
        d->slots[to] = d->slots[k];
        d->args[to++] = d->args[k];
    }
    memset(d->args + to, 0, (d->nslots - to) * sizeof *d->args);
    d->nslots = to;
}

Tree *check_deriv_call(FnChecker *f, const FnValue *deriv, AstCall *call, Tree *fn_value,
                       Type expected) {
    Span span = call->node.span;
    const DerivRequest *asked = (const DerivRequest *)deriv->deriv;
    if (is_bare_list(call)) return apply_words(f, asked, asked->spec.base, call, fn_value);
    if (!check_launched(f, kernel_of_value(deriv) != NULL, ast_text(f, call->callee), span)) {
        mark_names(f, &call->node);
        return tree_poison(f, span);
    }
    DerivCall d = {.f = f, .call = call, .request = (const DerivRequest *)deriv->deriv};
    const FnValue *base = deriv->deriv->base;
    if (!deriv_params(f, base, span, &d.n, &d.params) ||
        !deriv_activities(f, d.request, d.n, d.params, span) || !take_words(&d) ||
        !deriv_request_width(f, d.request->spec.width, d.n, d.params, span, &d.width))
        return tree_poison(f, span);
    DerivRequest request = *d.request;
    request.spec.width = d.width;
    d.nslots = deriv_slots(f->c, d.request, d.n, d.params, &d.slots);
    d.args = ARENA_ARRAY(f->c->arena, CallArg, d.nslots + 4);
    if (!fill_args(&d)) return tree_poison(f, span);
    fill_defaults(&d, base);
    for (uint32_t k = 0; k < d.nslots; k++)
        if (!d.args[k].node && !report_missing(&d, &d.slots[k])) return tree_poison(f, span);
    Instance *base_inst = base_of_call(&d, base);
    if (!base_inst) return tree_poison(f, span);
    uint8_t *act = final_activities(f->c, base_inst, d.n, d.params);
    if (!anything_active(f, base_inst, act, d.n, span) ||
        !deriv_holomorphic(f, &request, base_inst, act, d.n, span))
        return tree_poison(f, span);
    settle_slots(&d, act);
    Instance *inst = deriv_instance(f->c, &request, base_inst, act, span);
    if (!fill_rest(&d, inst)) return tree_poison(f, span);
    return call_instance(f, inst, d.args, fn_value, expected, inst->name, span);
}

Tree *check_deriv_apply(FnChecker *f, AstDeriv *node, AstCall *call, Type expected) {
    DerivRequest *request;
    Tree *operand = check_operator(f, node, &request);
    if (!operand) return tree_poison(f, call->node.span);
    const FnValue *base = operand->type->fn;
    if (is_bare_list(call)) return apply_words(f, request, base, call, operand);
    if (request->spec.part == DERIV_PART_FORWARD) {
        diag_report(f->c->diags, DIAG_DERIV_SPLIT, call->node.span,
                    "split gives two functions: take them apart before calling one");
        diag_help(f->c->diags, (Span){0, 0}, "let (forward, reverse) = split ...;");
        return tree_poison(f, call->node.span);
    }
    const FnValue *fn = value_of_request(f, request, base);
    return check_deriv_call(f, fn, call, value_tree(f, fn, operand, node->node.span), expected);
}

Instance *instance_of_deriv(Checker *c, const FnValue *fn, uint32_t nargs, const Type *arg_types,
                            Span span) {
    FnChecker f = {.c = c};
    const DerivRequest *request = (const DerivRequest *)fn->deriv;
    const FnValue *base = request->spec.base;
    uint32_t n;
    DerivParam *params;
    if (!deriv_params(&f, base, span, &n, &params) ||
        !deriv_activities(&f, request, n, params, span))
        return NULL;
    Instance *inst;
    if (!deriv_needs_types(c, base) || !nargs) inst = instance_of_fnvalue(c, base, 0, NULL, span);
    else if (request->spec.part == DERIV_PART_REVERSE)
        inst = base_of_tape(c, base, arg_types[nargs - 1], span);
    else {
        DerivSlot *slots;
        uint32_t nslots = deriv_slots(c, request, n, params, &slots);
        Type *types = ARENA_ARRAY(c->arena, Type, n + 1);
        for (uint32_t k = 0; k < n; k++) types[k] = type_poison(c->types);
        for (uint32_t k = 0; k < nslots && k < nargs; k++)
            if (slots[k].role == ROLE_PRIMAL) types[slots[k].of] = arg_types[k];
        inst = instance_of_fnvalue(c, base, n, types, span);
    }
    if (!inst) return NULL;
    uint8_t *act = final_activities(c, inst, n, params);
    if (!anything_active(&f, inst, act, n, span) ||
        !deriv_holomorphic(&f, request, inst, act, n, span))
        return NULL;
    return deriv_instance(c, request, inst, act, span);
}
