/* Custom derivatives: a `derivative` is compared with its function, and its parts become instances,
   for each instance of the function once more.  All parts of one have the same size variables. */
#include "types/rule.h"

#include <string.h>

/* ---- the signature ---- */

static uint8_t rule_act(Checker *c, const AstParam *p, Type type) {
    uint8_t act =
        p->act ? (uint8_t)((const AstActivity *)p->act)->kind : activity_default(type, p->mut != 0);
    if (!type->has_floats || type->has_fns) return ACT_CONST;
    if (act == ACT_DUPLICATED_NONEED) act = ACT_DUPLICATED;
    if (act == ACT_BATCH || act == ACT_BATCH_NONEED) {
        diag_report(c->diags, DIAG_RULE_TARGET, p->act->span,
                    "a rule serves every width: write Duplicated");
        act = ACT_DUPLICATED;
    }
    return act;
}

static void resolve_rule(Rule *r) {
    const AstDerivative *ast = r->decl->ast;
    Checker *c = r->c;
    uint32_t n = ast->params.len;
    TypeScope s = {.c = c,
                   .module = r->decl->module,
                   .generics = &r->generics,
                   .sizes = &r->sizes,
                   .bind = true};
    r->n = n;
    r->params = ARENA_ARRAY(c->arena, Type, n + 1);
    r->act = ARENA_ARRAY(c->arena, uint8_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const AstParam *p = AST_AS(Param, ast->params.at[i]);
        if (param_is_i64(p))
            map_setp(&r->sizes, p->name.sym, (void *)size_var(c->types, p->name.sym));
    }
    for (uint32_t i = 0; i < n; i++) {
        const AstParam *p = AST_AS(Param, ast->params.at[i]);
        r->params[i] = resolve_type(&s, p->type);
        r->act[i] = rule_act(c, p, r->params[i]);
    }
    const AstRet *ret = (const AstRet *)ast->ret;
    r->result = ret ? resolve_type(&s, ret->type) : type_unit(c->types);
    if (ret && ret->act) r->result_act = (uint8_t)((const AstActivity *)ret->act)->kind;
    else r->result_act = ACT_ACTIVE;
}

static bool same_dims(TypeTable *t, Map *sizes, uint32_t n, const Size *own, const Size *of) {
    for (uint32_t k = 0; k < n; k++) {
        if (own[k]->kind == SIZE_VAR && !map_has(sizes, own[k]->id))
            map_set(sizes, own[k]->id, (void *)of[k]);
        if (size_subst(t, own[k], sizes) != of[k] && of[k]->kind != SIZE_ANY) return false;
    }
    return true;
}

/* Equal types, with the sizes of the rule's standing for those of the function's. */
static bool same_type(TypeTable *t, Map *sizes, Type own, Type of) {
    if (is_poison(own) || is_poison(of)) return true;
    if (own->kind != of->kind || type_erase(t, own) != type_erase(t, of)) return false;
    if (own->kind == TYPE_ARRAY)
        return same_dims(t, sizes, own->rank, own->dims, of->dims) &&
               same_type(t, sizes, own->elem, of->elem);
    if (own->kind == TYPE_STRUCT) return same_dims(t, sizes, own->nsizes, own->dims, of->dims);
    if (own->kind != TYPE_TUPLE) return true;
    for (uint32_t k = 0; k < own->nparts; k++)
        if (!same_type(t, sizes, own->parts[k].type, of->parts[k].type)) return false;
    return true;
}

static void note_function(Rule *r, Span span, const char *text) {
    diag_note(r->c->diags, span, "%s", text);
    r->decl->failed = true;
}

static const char *shown_type(Rule *r, Type type, bool mut) {
    return arena_printf(r->c->arena, "%s%s", mut ? "mut " : "", type_text(r->c->types, type));
}

static bool check_param(Rule *r, Map *sizes, uint32_t i) {
    const AstParam *p = AST_AS(Param, r->decl->ast->params.at[i]);
    const Local *local = r->of->params[i];
    const InstanceInfo *info = info_of(r->c, r->of);
    Type type = info->declared && info->declared[i] ? info->declared[i] : local->type;
    Diags *d = r->c->diags;
    if (p->name.sym != local->name)
        diag_report(d, DIAG_RULE_TARGET, p->name.span, "parameter %u of `%s` is called `%s`", i + 1,
                    r->of->name, local->name ? local->name->text : "_");
    else if ((p->mut != 0) != local->mut || !same_type(r->c->types, sizes, r->params[i], type))
        diag_report(d, DIAG_RULE_TARGET, p->type->span, "`%s` is of type %s, not %s",
                    p->name.sym->text, shown_type(r, type, local->mut),
                    shown_type(r, r->params[i], p->mut != 0));
    else if (p->act && r->act[i] == ACT_CONST && ((AstActivity *)p->act)->kind != ACT_CONST)
        diag_report(d, DIAG_ACT_INTEGER, p->act->span, "a value of type %s has no derivative",
                    type_text(r->c->types, type));
    else if (r->act[i] == ACT_ACTIVE && local->mut)
        diag_report(d, DIAG_ACT_ACTIVE_MUT, p->act ? p->act->span : p->name.span,
                    "`%s` is `mut`: memory needs a shadow: write Duplicated", p->name.sym->text);
    else if (r->act[i] == ACT_DUPLICATED && !local->mut && is_scalar(type))
        diag_report(d, DIAG_ACT_DUPLICATED_SCALAR, p->act->span,
                    "`%s` is a scalar, an immutable value: write Active", p->name.sym->text);
    else return true;
    note_function(r, local->span, "it is declared here");
    return false;
}

static bool check_signature(Rule *r) {
    const AstDerivative *ast = r->decl->ast;
    Map sizes = {0};
    bool fits = r->n == r->of->nparams;
    if (!fits) {
        diag_report(r->c->diags, DIAG_RULE_TARGET, ast->path->span,
                    "`%s` has %u parameter%s, not %u", r->of->name, r->of->nparams,
                    r->of->nparams == 1 ? "" : "s", r->n);
        note_function(r, r->of->span, "it is declared here");
    }
    for (uint32_t i = 0; fits && i < r->n; i++) {
        Size own = map_getp(&r->sizes, AST_AS(Param, ast->params.at[i])->name.sym);
        if (r->of->params[i]->size && own) map_set(&sizes, own->id, (void *)r->of->params[i]->size);
    }
    for (uint32_t i = 0; fits && i < r->n; i++) fits = check_param(r, &sizes, i);
    if (fits && !same_type(r->c->types, &sizes, r->result, r->of->result)) {
        diag_report(r->c->diags, DIAG_RULE_TARGET, ast->ret ? ast->ret->span : ast->path->span,
                    "the result of `%s` is of type %s, not %s", r->of->name,
                    type_text(r->c->types, r->of->result), type_text(r->c->types, r->result));
        note_function(r, r->of->span, "it is declared here");
        fits = false;
    }
    map_free(&sizes);
    return fits;
}

/* ---- parts ---- */

static const char *const part_names[] = {"forward", "reverse", "augmented"};

static int part_number(const AstRule *part) {
    for (int k = 0; k < 3; k++)
        if (part->name.sym && !strcmp(part->name.sym->text, part_names[k])) return k;
    return -1;
}

/* The parts by number; false after reporting. */
static bool find_parts(Rule *r, AstRule *parts[3]) {
    const AstList *rules = &r->decl->ast->rules;
    Diags *d = r->c->diags;
    parts[0] = parts[1] = parts[2] = NULL;
    for (uint32_t i = 0; i < rules->len; i++) {
        AstRule *part = AST_AS(Rule, rules->at[i]);
        int k = part_number(part);
        if (k >= 0 && !parts[k]) {
            parts[k] = part;
            continue;
        }
        if (k < 0)
            diag_report(d, DIAG_RULE_PART, part->name.span,
                        "a rule has `forward`, `reverse` and `augmented`, not `%s`",
                        part->name.sym ? part->name.sym->text : "");
        else diag_report(d, DIAG_RULE_PART, part->name.span, "a second `%s`", part_names[k]);
        if (k >= 0) diag_note(d, parts[k]->name.span, "the first is here");
        r->decl->failed = true;
        return false;
    }
    if (!parts[RULE_AUGMENTED] || parts[RULE_REVERSE]) return true;
    diag_report(d, DIAG_RULE_PART, parts[RULE_AUGMENTED]->name.span,
                "`augmented` saves something for a `reverse`, but there is none");
    r->decl->failed = true;
    return false;
}

typedef struct Part {
    Rule *r;
    AstRule *ast;
    Instance *inst;
    InstanceInfo *info;
    uint32_t patterns; /* used */
    StrBuf wanted;     /* names of the parameters that it takes */
} Part;

static void want(Part *p, const char *prefix, Sym name) {
    strbuf_printf(&p->wanted, "%s%s%s", p->wanted.len ? ", " : "", prefix, name ? name->text : "");
}

/* One parameter; NAMED: the next pattern of the part names it, or takes it apart. */
static Local *add_slot(Part *p, DerivRole role, uint32_t of, Type type, bool mut, bool named) {
    Instance *inst = p->inst;
    uint32_t at = inst->nparams++;
    AstNode *pattern = NULL;
    if (named && p->patterns++ < p->ast->params.len) pattern = p->ast->params.at[p->patterns - 1];
    AstIdent id = {0};
    if (pattern && pattern->kind == AST_PatName) id = ((AstPatName *)pattern)->name;
    instance_set_param(p->r->c, inst, at, id.sym, type, mut, ACT_ACTIVE,
                       pattern ? pattern->span : p->r->decl->ast->path->span);
    if (pattern && pattern->kind == AST_PatTuple) p->info->patterns[at] = pattern;
    inst->slots[at] = (DerivSlot){.role = role, .of = of, .name = id.sym, .type = type, .mut = mut};
    return inst->params[at];
}

static Part part_begin(Rule *r, AstRule *ast, const char *what) {
    Checker *c = r->c;
    const char *name = r->of ? r->of->name : ((AstName *)r->decl->ast->path)->name.sym->text;
    Part p = {.r = r, .ast = ast};
    p.inst = instance_new(c, INSTANCE_RULE, arena_printf(c->arena, "%s %s", what, name),
                          r->decl->ast->path->span);
    p.info = info_of(c, p.inst);
    p.inst->decl = r->of ? r->of->decl : NULL;
    p.inst->rule_of = r->of;
    p.info->asked_at = r->span;
    p.info->module = r->decl->module;
    map_copy(&p.info->generics, &r->generics);
    map_copy(&p.info->sizes, &r->sizes);
    uint32_t room = 3 * r->n + 4;
    p.inst->params = ARENA_ARRAY(c->arena, Local *, room);
    p.inst->act = ARENA_ARRAY(c->arena, uint8_t, room);
    p.inst->slots = ARENA_ARRAY(c->arena, DerivSlot, room);
    p.info->patterns = ARENA_ARRAY(c->arena, AstNode *, room);
    p.info->declared = ARENA_ARRAY(c->arena, Type, room);
    return p;
}

/* Parameter OF of the function, as a value: before the call. */
static void add_primal(Part *p, uint32_t of, bool mut, bool named) {
    Rule *r = p->r;
    const AstParam *ast = AST_AS(Param, r->decl->ast->params.at[of]);
    Type type = r->params[of];
    uint32_t at = p->inst->nparams;
    if (type->has_fns) {
        p->info->declared[at] = type;
        type = r->of->params[of]->type;
    }
    Local *local = add_slot(p, ROLE_PRIMAL, of, type, mut, named);
    if (param_is_i64(ast)) local->size = map_getp(&r->sizes, ast->name.sym);
    if (named) want(p, "", ast->name.sym);
}

static void add_result(Part *p) {
    Sym name = intern(p->r->c->interner, "result");
    for (uint32_t i = 0; i < p->inst->nparams; i++)
        if (p->inst->params[i]->name == name) name = NULL;
    add_slot(p, ROLE_RESULT, 0, p->r->result, false, false)->name = name;
}

static Instance *part_end(Part *p, RulePart part, Type result) {
    Checker *c = p->r->c;
    p->inst->rule_part = part;
    p->inst->result = p->info->declared_result = result;
    p->inst->small = !((AstBlock *)p->ast->body)->stmts.len;
    instance_collect_sizes(p->inst, p->info);
    p->info->body = p->ast->body;
    if (p->patterns != p->ast->params.len) {
        diag_report(c->diags, DIAG_RULE_PART, p->ast->name.span,
                    "`%s` takes (%s): %u name%s, not %u", part_names[part],
                    p->wanted.len ? p->wanted.text : "", p->patterns, p->patterns == 1 ? "" : "s",
                    p->ast->params.len);
        p->r->decl->failed = true;
        p->inst->checked = p->inst->failed = true;
        p->inst->body = tree_new(c->arena, T_POISON, type_poison(c->types), p->inst->span);
    } else {
        vec_push(&c->queue, p->inst);
    }
    strbuf_free(&p->wanted);
    return p->inst;
}

static Sym param_name(const Rule *r, uint32_t i) {
    return AST_AS(Param, r->decl->ast->params.at[i])->name.sym;
}

static bool param_mut(const Rule *r, uint32_t i) {
    return AST_AS(Param, r->decl->ast->params.at[i])->mut != 0;
}

/* The parameters of f, tangents of those that are not Const, the result: in this order, while the
   patterns have each tangent behind its parameter. */
static Instance *forward_part(Rule *r, AstRule *ast) {
    Part p = part_begin(r, ast, "derivative");
    uint32_t *tangent_at = ARENA_ARRAY(r->c->arena, uint32_t, r->n + 1), at = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        p.patterns = at++;
        add_primal(&p, i, false, true);
        if (r->act[i] == ACT_CONST) continue;
        tangent_at[i] = at++;
        want(&p, "d", param_name(r, i));
    }
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->act[i] == ACT_CONST) continue;
        p.patterns = tangent_at[i];
        add_slot(&p, ROLE_TANGENT, i, r->params[i], param_mut(r, i), true);
    }
    p.patterns = at;
    add_result(&p);
    Type stripped =
        r->result->kind == TYPE_UNIT ? NULL : deriv_strip(r->c->types, r->result, r->result_act);
    return part_end(&p, RULE_FORWARD, stripped ? stripped : type_unit(r->c->types));
}

static Instance *augmented_part(Rule *r, AstRule *ast) {
    Part p = part_begin(r, ast, "augmented");
    for (uint32_t i = 0; i < r->n; i++) add_primal(&p, i, param_mut(r, i), true);
    return part_end(&p, RULE_AUGMENTED, r->result);
}

/* What `augmented` returns behind the result; NULL after an error. */
static Type saved_type(Rule *r, Instance *augmented) {
    if (!instance_need_body(r->c, augmented, r->span) || augmented->failed) return NULL;
    Type type = augmented->result;
    return r->result->kind == TYPE_UNIT ? type : type->parts[1].type;
}

static Type contributions(const Rule *r) {
    TypePart *parts = ARENA_ARRAY(r->c->arena, TypePart, r->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->act[i] == ACT_ACTIVE) parts[n++].type = r->params[i];
    if (n == 0) return type_unit(r->c->types);
    return n == 1 ? parts[0].type : type_tuple(r->c->types, n, parts);
}

/* With SAVED the parameters of f are there without names, so that sizes are known. */
static Instance *reverse_part(Rule *r, AstRule *ast, Type saved) {
    Part p = part_begin(r, ast, "reverse derivative");
    if (saved) {
        add_slot(&p, ROLE_SAVED, 0, saved, false, true);
        strbuf_add(&p.wanted, "saved");
    }
    for (uint32_t i = 0; i < r->n; i++) {
        add_primal(&p, i, false, !saved);
        if (r->act[i] != ACT_DUPLICATED) continue;
        add_slot(&p, ROLE_SHADOW, i, r->params[i], true, true);
        want(&p, "d", param_name(r, i));
    }
    Type seed =
        r->result->kind == TYPE_UNIT ? NULL : deriv_strip(r->c->types, r->result, r->result_act);
    if (seed) {
        add_slot(&p, ROLE_SEED, 0, seed, false, true);
        strbuf_printf(&p.wanted, "%sseed", p.wanted.len ? ", " : "");
    }
    add_result(&p);
    return part_end(&p, RULE_REVERSE, contributions(r));
}

/* ---- attaching ---- */

static Size fresh_dim(TypeTable *t, Size size, void *data) {
    (void)data;
    return size_var(t, size->kind == SIZE_VAR ? size->name : NULL);
}

/* The rule's type variables stand for what those of the function stand for, in order. */
static void bind_generics(Rule *r, const AstList *theirs, const Map *generics) {
    const AstList *own = &r->decl->ast->generics;
    for (uint32_t i = 0; i < own->len; i++) {
        Sym name = theirs && i < theirs->len ? AST_AS(Generic, theirs->at[i])->name.sym : NULL;
        Type type = name ? map_getp(generics, name) : NULL;
        map_setp(&r->generics, AST_AS(Generic, own->at[i])->name.sym,
                 (void *)(type ? type_map_sizes(r->c->types, type, fresh_dim, NULL) : NULL));
    }
}

static bool same_generics(Rule *r, const AstList *theirs) {
    uint32_t own = r->decl->ast->generics.len, n = theirs ? theirs->len : 0;
    if (own == n) return true;
    diag_report(r->c->diags, DIAG_RULE_TARGET, r->decl->ast->path->span,
                "`%s` has %u type variable%s, not %u", r->of->decl->name->text, n,
                n == 1 ? "" : "s", own);
    note_function(r, r->of->span, "it is declared here");
    return false;
}

static void attach(Rule *r, Instance *inst) {
    AstRule *parts[3];
    if (!find_parts(r, parts)) return;
    inst->rule_active = ARENA_ARRAY(r->c->arena, bool, r->n + 1);
    inst->rule_decl = r->decl;
    for (uint32_t i = 0; i < r->n; i++) inst->rule_active[i] = r->act[i] != ACT_CONST;
    if (parts[RULE_FORWARD]) inst->rule = forward_part(r, parts[RULE_FORWARD]);
    if (!parts[RULE_REVERSE]) return;
    Type saved = NULL;
    if (parts[RULE_AUGMENTED]) {
        inst->rule_augmented = augmented_part(r, parts[RULE_AUGMENTED]);
        saved = saved_type(r, inst->rule_augmented);
        if (!saved) return;
    }
    inst->rule_reverse = reverse_part(r, parts[RULE_REVERSE], saved);
}

void check_rules_of(Checker *c, Instance *inst, const Map *generics, Span span) {
    RuleDecl *decl = inst->decl ? inst->decl->rule : NULL;
    if (!decl || decl->failed) return;
    Rule r = {.c = c, .decl = decl, .of = inst, .span = span};
    const AstList *theirs = inst->decl->ast ? &inst->decl->ast->generics : NULL;
    if (same_generics(&r, theirs)) {
        bind_generics(&r, theirs, generics);
        resolve_rule(&r);
        if (check_signature(&r)) attach(&r, inst);
    }
    map_free(&r.generics);
    map_free(&r.sizes);
}

void need_math_rule(Checker *c, int32_t row, Scalar scalar, Span span) {
    uint32_t which = scalar == SCALAR_F32 ? 0 : 1;
    RuleDecl *decl = c->modules.math_rules[row];
    AstRule *parts[3];
    if (!decl || decl->failed || c->program->math_rules[which][row]) return;
    Rule r = {.c = c, .decl = decl, .span = span};
    if (decl->ast->generics.len)
        map_setp(&r.generics, AST_AS(Generic, decl->ast->generics.at[0])->name.sym,
                 (void *)type_scalar(c->types, scalar));
    resolve_rule(&r);
    if (find_parts(&r, parts) && parts[RULE_FORWARD])
        c->program->math_rules[which][row] = forward_part(&r, parts[RULE_FORWARD]);
    map_free(&r.generics);
    map_free(&r.sizes);
}

/* ---- bodies ---- */

/* The value of `augmented`: the result, of its type, and whatever is saved. */
static Tree *check_augmented(FnChecker *f, AstBlock *block) {
    Type wanted = f->inst->result;
    bool unit = wanted->kind == TYPE_UNIT;
    TypePart parts[2] = {{.type = wanted}, {.type = ty_poison(f)}};
    f->no_return = true;
    f->result = ty_poison(f);
    Tree *body = check_block(f, block, unit ? NULL : type_tuple(f->c->types, 2, parts), true);
    if (is_poison(body->type)) return body;
    bool fits = body->type->kind != TYPE_UNIT;
    if (!unit) fits = body->type->kind == TYPE_TUPLE && body->type->nparts == 2;
    if (!fits) {
        diag_report(f->c->diags, DIAG_RULE_PART, body->span,
                    unit ? "`augmented` returns what is saved"
                         : "`augmented` returns the result and what is saved, in parentheses");
        return tree_poison(f, body->span);
    }
    if (!unit) {
        parts[1].type = body->type->parts[1].type;
        f->result = type_tuple(f->c->types, 2, parts);
        body = require_result(f, body);
    }
    f->inst->result = body->type;
    return body;
}

void check_rule_body(FnChecker *f, AstBlock *block) {
    VEC(Tree *) lets = {0};
    for (uint32_t i = 0; i < f->inst->nparams; i++) {
        if (!f->info->patterns[i]) continue;
        Local *local = f->inst->params[i];
        Tree *arg = make_local(f, local, local->span);
        Tree *let = make_args(f, T_LET, ty_unit(f), local->span, 1, &arg);
        check_pattern(f, f->info->patterns[i], local->type, false, &let->pattern);
        vec_push(&lets, let);
    }
    if (f->inst->rule_part == RULE_AUGMENTED) f->inst->body = check_augmented(f, block);
    else check_fn_body(f, block);
    if (lets.len) {
        Tree *whole = make(f, T_BLOCK, f->inst->body->type, f->inst->body->span);
        whole->nstmts = lets.len;
        whole->stmts = ARENA_ARRAY(f->c->arena, Tree *, lets.len);
        for (uint32_t i = 0; i < lets.len; i++) whole->stmts[i] = lets.at[i];
        if (f->inst->body->type->kind == TYPE_UNIT) {
            Tree **stmts = ARENA_ARRAY(f->c->arena, Tree *, lets.len + 1);
            memcpy(stmts, whole->stmts, lets.len * sizeof *stmts);
            stmts[whole->nstmts++] =
                make_args(f, T_EXPR, ty_unit(f), f->inst->body->span, 1, &f->inst->body);
            whole->stmts = stmts;
        } else whole->body = f->inst->body;
        f->inst->body = whole;
    }
    vec_free(&lets);
}

bool rule_covers(Checker *c, const Instance *base, const uint8_t *act, uint32_t n, Span span) {
    const RuleDecl *rule = base->rule_decl;
    if (base->kind == INSTANCE_EXTERN && base->decl && !rule &&
        !(base->decl->rule && base->decl->rule->failed)) {
        diag_report(c->diags, DIAG_DERIV_NONE, span, "`%s` is extern and has no derivative",
                    base->name);
        diag_note(c->diags, base->span, "it is declared here");
        diag_help(c->diags, (Span){0}, "write a `derivative %s`", base->name);
        return false;
    }
    for (uint32_t k = 0; rule && k < n; k++) {
        if (act[k] == ACT_CONST || base->rule_active[base->ncaptures + k]) continue;
        const AstParam *p = AST_AS(Param, rule->ast->params.at[k]);
        diag_report(c->diags, DIAG_DERIV_LACKS, span,
                    "the derivative of `%s` says nothing of `%s`, which is differentiated here",
                    base->name, p->name.sym->text);
        diag_note(c->diags, p->name.span, "`%s` is Const in the rule", p->name.sym->text);
        diag_help(c->diags, (Span){0}, "extend the rule, or ask for less: Const(%s)",
                  p->name.sym->text);
        return false;
    }
    return true;
}
