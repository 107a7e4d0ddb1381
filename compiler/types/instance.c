/* Instances: one body for one choice of type variables and function arguments.  Sizes are variables
   of the instance and no part of its key. */
#include "types/internal.h"

#include <string.h>

enum { CHAIN_LIMIT = 120, WEIGHT_LIMIT = 2000 };

InstanceInfo *info_of(Checker *c, const Instance *inst) {
    return map_getp(&c->infos, inst);
}

void map_copy(Map *to, const Map *from) {
    for (uint32_t i = 0; i < from->len; i++) map_set(to, from->keys[i], from->values[i]);
}

/* ---- the table ---- */

static uint64_t hash_key(uint32_t n, const void *const *key) {
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++) h = hash_mix(h, (uint64_t)(uintptr_t)key[i]);
    return h;
}

InstanceInfo *instance_find(Checker *c, uint32_t n, const void *const *key) {
    for (InstanceInfo *e = map_get(&c->instances, hash_key(n, key)); e; e = e->next)
        if (e->nkey == n && !memcmp(e->key, key, n * sizeof *key)) return e;
    return NULL;
}

void instance_add_key(Checker *c, InstanceInfo *info, uint32_t n, const void *const *key) {
    info->hash = hash_key(n, key);
    info->nkey = n;
    info->key = ARENA_ARRAY(c->arena, const void *, n);
    memcpy(info->key, key, n * sizeof *key);
    info->next = map_get(&c->instances, info->hash);
    map_set(&c->instances, info->hash, info);
}

/* The chain of requests is as long as a program's functions are deep, unless it never ends. */
static void report_endless(Checker *c, const InstanceInfo *info, Span span) {
    if (c->too_deep) return;
    c->too_deep = true;
    diag_report(c->diags, DIAG_ENDLESS, span, "`%s` would be specialised without end",
                info->instance->name);
    const InstanceInfo *at = info;
    for (uint32_t i = 0; at && at->asked_by && i < 4; i++) {
        diag_note(c->diags, at->asked_at, "`%s` asks for `%s`", at->asked_by->name,
                  at->instance->name);
        at = info_of(c, at->asked_by);
    }
}

Instance *instance_new(Checker *c, InstanceKind kind, const char *name, Span span) {
    Instance *inst = ARENA_NEW(c->arena, Instance);
    InstanceInfo *info = ARENA_NEW(c->arena, InstanceInfo);
    inst->kind = kind;
    inst->name = name;
    inst->span = span;
    inst->id = c->all.len;
    inst->result = type_unit(c->types);
    inst->result_act = ACT_ACTIVE;
    info->instance = inst;
    if (c->current) {
        info->asked_by = c->current->inst;
        InstanceInfo *by = info_of(c, info->asked_by);
        info->chain = by ? by->chain + 1 : 1;
    }
    vec_push(&c->all, inst);
    map_setp(&c->infos, inst, info);
    return inst;
}

void instance_queue(Checker *c, Instance *inst) {
    InstanceInfo *info = info_of(c, inst);
    if (info->chain > CHAIN_LIMIT) {
        report_endless(c, info, info->asked_at.begin ? info->asked_at : inst->span);
        inst->failed = true;
        inst->checked = true;
        inst->body = tree_new(c->arena, T_POISON, type_poison(c->types), inst->span);
        return;
    }
    vec_push(&c->queue, inst);
}

/* ---- parameters ---- */

uint8_t activity_default(Type type, bool mut) {
    if (!type->has_floats || type->has_fns) return ACT_CONST;
    return mut ? ACT_DUPLICATED : ACT_ACTIVE;
}

void instance_set_param(Checker *c, Instance *inst, uint32_t i, Sym name, Type type, bool mut,
                        uint8_t act, Span span) {
    Local *local = ARENA_NEW(c->arena, Local);
    *local = (Local){
        .name = name, .span = span, .type = type, .var = mut, .mut = mut, .owner = inst, .id = i};
    inst->params[i] = local;
    inst->act[i] = act;
}

static bool collect_var(Size var, void *data) {
    Map *map = data;
    map_set(map, var->id, (void *)var);
    return false;
}

void instance_collect_sizes(Instance *inst, InstanceInfo *info) {
    for (uint32_t i = inst->ncaptures; i < inst->nparams; i++) {
        Local *p = inst->params[i];
        type_mentions(p->type, collect_var, &info->bindable);
        if (p->size) size_mentions(p->size, collect_var, &info->bindable);
    }
}

/* The function types of WRITTEN replaced by the function values of ACTUAL; without it, by functions
   of which no more is known than their type. */
static Type put_functions(Checker *c, Type written, Type actual) {
    if (!written->has_fns) return written;
    if (written->kind == TYPE_FN)
        return actual ? actual : type_fnval(c->types, fnvalue_opaque(c, written));
    if (written->kind != TYPE_TUPLE || (actual && actual->kind != TYPE_TUPLE)) return written;
    TypePart *parts = ARENA_ARRAY(c->arena, TypePart, written->nparts);
    for (uint32_t i = 0; i < written->nparts; i++) {
        parts[i] = written->parts[i];
        parts[i].type = put_functions(c, parts[i].type, actual ? actual->parts[i].type : NULL);
    }
    return type_tuple(c->types, written->nparts, parts);
}

static Size fresh_dim(TypeTable *t, Size size, void *data) {
    (void)data;
    return size_var(t, size->kind == SIZE_VAR ? size->name : NULL);
}

/* Names that stand alone as dimensions outside function types become sizes. */
static void bind_dims(TypeScope *s, AstNode *type) {
    AstList *dims = type->kind == AST_TypeArray  ? &((AstTypeArray *)type)->dims
                    : type->kind == AST_TypeName ? &((AstTypeName *)type)->dims
                                                 : NULL;
    for (uint32_t i = 0; dims && i < dims->len; i++) {
        if (dims->at[i]->kind != AST_Name) continue;
        Sym name = ((AstName *)dims->at[i])->name.sym;
        NameLookup found = modules_lookup(&s->c->modules, s->module, name);
        if (found.kind != ITEM_CONST && !map_hasp(s->sizes, name))
            map_setp(s->sizes, name, (void *)size_var(s->c->types, name));
    }
    if (type->kind == AST_TypeArray) bind_dims(s, ((AstTypeArray *)type)->elem);
    if (type->kind == AST_TypeTuple) {
        AstList *parts = &((AstTypeTuple *)type)->parts;
        for (uint32_t i = 0; i < parts->len; i++) bind_dims(s, ((AstTypePart *)parts->at[i])->type);
    }
}

bool param_is_i64(const AstParam *p) {
    if (p->type->kind != AST_TypeName || p->mut) return false;
    const AstNode *path = ((const AstTypeName *)p->type)->path;
    return path->kind == AST_Name && !strcmp(((const AstName *)path)->name.sym->text, "i64");
}

static uint8_t written_act(Checker *c, AstNode *act, Type type, bool mut) {
    if (!act) return activity_default(type, mut);
    AstActivity *a = (AstActivity *)act;
    ActKind kind = a->kind;
    /* The width is for requests (params_of_decl); apart from it a batch is as one. */
    if (kind == ACT_BATCH) kind = ACT_DUPLICATED;
    if (kind == ACT_BATCH_NONEED) kind = ACT_DUPLICATED_NONEED;
    if (kind != ACT_CONST && !type->has_floats && !is_poison(type)) {
        diag_report(c->diags, DIAG_ACT_INTEGER, act->span, "a value of type %s has no derivative",
                    type_text(c->types, type));
        diag_help(c->diags, (Span){0}, "leave the word out, or write `Const`");
        return ACT_CONST;
    }
    if (kind == ACT_ACTIVE && mut) {
        diag_report(c->diags, DIAG_ACT_ACTIVE_MUT, act->span,
                    "`Active` on a `mut` parameter: memory needs a shadow");
        diag_help(c->diags, (Span){0}, "write `Duplicated`");
        return ACT_DUPLICATED;
    }
    if (kind == ACT_DUPLICATED_NONEED && !mut) {
        diag_report(c->diags, DIAG_ACT_NONEED, act->span,
                    "`DuplicatedNoNeed` is for `mut` parameters: a value has no final state");
        diag_help(c->diags, (Span){0}, "write `Duplicated`");
        return ACT_DUPLICATED;
    }
    return (uint8_t)kind;
}

/* Types, sizes and activities of the parameters and the result as DECL writes them. */
static void set_signature(Checker *c, Instance *inst, InstanceInfo *info, const Signature *sig,
                          const Type *fn_args) {
    TypeScope s = {.c = c,
                   .module = info->module,
                   .generics = &info->generics,
                   .sizes = &info->sizes,
                   .bind = true};
    inst->nparams = sig->nparams;
    inst->params = ARENA_ARRAY(c->arena, Local *, sig->nparams);
    inst->act = ARENA_ARRAY(c->arena, uint8_t, sig->nparams);
    info->declared = ARENA_ARRAY(c->arena, Type, sig->nparams);
    for (uint32_t i = 0; i < sig->nparams; i++)
        if (param_is_i64(sig->params[i].ast))
            map_setp(&info->sizes, sig->params[i].name,
                     (void *)size_var(c->types, sig->params[i].name));
    for (uint32_t i = 0; i < sig->nparams; i++) bind_dims(&s, sig->params[i].ast->type);
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t known = info->sizes.len;
        for (uint32_t i = 0; i < sig->nparams; i++) {
            const ParamSig *p = &sig->params[i];
            if (p->is_fn != (pass == 1)) continue;
            Type type = resolve_type(&s, p->ast->type);
            if (type->kind == TYPE_UNIT) type = type_poison(c->types);
            if (type->has_fns) {
                info->declared[i] = type;
                type = put_functions(c, type, fn_args ? fn_args[i] : NULL);
            }
            uint8_t act = written_act(c, p->ast->act, type, p->ast->mut != 0);
            instance_set_param(c, inst, i, p->name, type, p->ast->mut != 0, act, p->ast->name.span);
            inst->params[i]->strided = p->ast->strided != 0;
            if (p->ast->strided && type->kind != TYPE_ARRAY && type->kind != TYPE_POISON)
                diag_report(c->diags, DIAG_STRIDED, p->ast->name.span,
                            "`%s` cannot be strided: it is %s, and no array", p->name->text,
                            type_text(c->types, type));
            if (param_is_i64(p->ast)) inst->params[i]->size = map_getp(&info->sizes, p->name);
        }
        for (uint32_t i = known; pass && i < info->sizes.len; i++)
            collect_var(info->sizes.values[i], &info->fn_only);
    }
    instance_collect_sizes(inst, info);
    inst->result = sig->ret ? resolve_type(&s, sig->ret->type) : type_unit(c->types);
    info->declared_result = inst->result;
    if (sig->ret && sig->ret->act) inst->result_act = (uint8_t)((AstActivity *)sig->ret->act)->kind;
    else inst->result_act = inst->result->has_floats ? ACT_ACTIVE : ACT_CONST;
}

static const char *instance_text(Checker *c, const Signature *sig, const Map *generics) {
    if (!sig->generics->len) return sig->decl->name->text;
    StrBuf text = {0};
    strbuf_printf(&text, "%s<", sig->decl->name->text);
    for (uint32_t i = 0; i < sig->generics->len; i++) {
        Type type = map_getp(generics, AST_AS(Generic, sig->generics->at[i])->name.sym);
        if (i) strbuf_add(&text, ", ");
        if (type) type_print(&text, type);
    }
    strbuf_char(&text, '>');
    const char *copy = arena_strndup(c->arena, text.text, text.len);
    strbuf_free(&text);
    return copy;
}

static void small_or_not(Instance *inst) {
    const FnDecl *decl = inst->decl;
    if (!decl || !decl->ast || !decl->ast->body) return;
    const AstBlock *body = (const AstBlock *)decl->ast->body;
    inst->small = body->stmts.len == 0 && body->value;
}

/* Types that double with each request would not end within any length of the chain. */
static bool too_heavy(Checker *c, const Signature *sig, const Map *generics, Span span) {
    for (uint32_t i = 0; i < sig->generics->len; i++) {
        Type type = map_getp(generics, AST_AS(Generic, sig->generics->at[i])->name.sym);
        if (!type || type->weight <= WEIGHT_LIMIT) continue;
        if (c->too_deep) return true;
        c->too_deep = true;
        diag_report(c->diags, DIAG_ENDLESS, span, "`%s` would be specialised without end",
                    sig->decl->name->text);
        const InstanceInfo *at = c->current ? info_of(c, c->current->inst) : NULL;
        for (uint32_t k = 0; at && at->asked_by && at->asked_at.begin && k < 3; k++) {
            diag_note(c->diags, at->asked_at, "`%s` asks for itself with a larger type",
                      sig->decl->name->text);
            at = info_of(c, at->asked_by);
        }
        return true;
    }
    return false;
}

Instance *instance_of_decl(Checker *c, const FnDecl *decl, const Map *generics, const Type *fn_args,
                           Span span) {
    Signature *sig = signature_of(c, decl);
    if (too_heavy(c, sig, generics, span)) return NULL;
    VEC(const void *) key = {0};
    vec_push(&key, (const void *)decl);
    for (uint32_t i = 0; i < sig->generics->len; i++) {
        Type type = map_getp(generics, AST_AS(Generic, sig->generics->at[i])->name.sym);
        vec_push(&key, (const void *)(type ? type_erase(c->types, type) : NULL));
    }
    for (uint32_t i = 0; i < sig->nparams; i++)
        if (sig->params[i].is_fn)
            vec_push(&key, (const void *)(fn_args && fn_args[i] ? type_erase(c->types, fn_args[i])
                                                                : NULL));
    InstanceInfo *info = instance_find(c, key.len, key.at);
    if (info) {
        vec_free(&key);
        return info->instance;
    }
    Instance *inst =
        instance_new(c, decl->ast ? INSTANCE_FN : INSTANCE_EXTERN, instance_text(c, sig, generics),
                     decl->ast ? decl->ast->name.span : decl->ext->name.span);
    info = info_of(c, inst);
    instance_add_key(c, info, key.len, key.at);
    vec_free(&key);
    inst->decl = decl;
    info->asked_at = span;
    info->module = decl->module;
    for (uint32_t i = 0; i < sig->generics->len; i++) {
        Sym name = AST_AS(Generic, sig->generics->at[i])->name.sym;
        Type type = map_getp(generics, name);
        map_setp(&info->generics, name,
                 (void *)(type ? type_map_sizes(c->types, type, fresh_dim, NULL) : NULL));
    }
    set_signature(c, inst, info, sig, fn_args);
    small_or_not(inst);
    if (decl->ast) {
        info->body = decl->ast->body;
        instance_queue(c, inst);
    } else {
        inst->checked = true;
    }
    check_rules_of(c, inst, generics, span);
    return inst;
}

bool instance_need_body(Checker *c, Instance *inst, Span span) {
    InstanceInfo *info = info_of(c, inst);
    if (inst->checked || inst->kind == INSTANCE_EXTERN || inst->kind == INSTANCE_DERIV) return true;
    if (info->in_progress) {
        diag_report(c->diags, DIAG_RECURSIVE_RESULT, span,
                    "`%s` returns a function and calls itself: which function that is cannot be "
                    "known",
                    inst->name);
        inst->failed = true;
        return false;
    }
    check_body(c, inst);
    return !inst->failed;
}

/* ---- what a call gives ---- */

typedef struct ResultMap {
    FnChecker *f;
    const Instance *inst;
    Map bind; /* id -> Size, completed with fresh variables */
    bool keep_captured;
    Map captured;
} ResultMap;

static bool complete_var(Size var, void *data) {
    ResultMap *r = data;
    Size known = map_get(&r->bind, var->id);
    if (known && known != var) return false;
    if (r->keep_captured && map_has(&r->captured, var->id)) return false;
    map_set(&r->bind, var->id, (void *)size_var(r->f->c->types, var->name));
    return false;
}

Type call_result(FnChecker *f, const Instance *inst, const Map *bind) {
    ResultMap r = {.f = f, .inst = inst};
    map_copy(&r.bind, bind);
    const InstanceInfo *info = info_of(f->c, inst);
    r.keep_captured = info && info->lambda && info->lambda->value->lambda_in == f->inst;
    for (uint32_t i = 0; i < inst->ncaptures; i++) {
        type_mentions(inst->params[i]->type, collect_var, &r.captured);
        if (inst->params[i]->size) size_mentions(inst->params[i]->size, collect_var, &r.captured);
    }
    type_mentions(inst->result, complete_var, &r);
    Type type = type_subst(f->c->types, inst->result, &r.bind);
    map_free(&r.bind);
    map_free(&r.captured);
    return type;
}
