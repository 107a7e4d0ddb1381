/* Items of the main module: each is checked at least once, generic functions for representatives of
   their type variables; what must be compiled becomes a root. */
#include "types/deriv.h"

#include <string.h>

typedef struct Items {
    Checker *c;
    uint32_t which;
} Items;

static void add_root(Items *it, RootKind kind, const char *name, Instance *inst, AstText doc,
                     Span span) {
    if (!(it->which & (1u << kind)) || !inst) return;
    Root root = {.kind = kind, .name = name, .instance = inst, .span = span};
    root.doc = doc.len ? arena_strndup(it->c->arena, doc.at, doc.len) : NULL;
    vec_push(&it->c->program->roots, root);
}

static void not_yet(Items *it, Span span, const char *what) {
    diag_report(it->c->diags, DIAG_NOT_YET, span, "%s is not supported yet", what);
}

/* ---- functions ---- */

static void check_class_names(Items *it, const AstFn *fn) {
    static const char *const classes[] = {"any", "num", "float", "int", "complex", "array"};
    for (uint32_t i = 0; i < fn->generics.len; i++) {
        AstGeneric *g = AST_AS(Generic, fn->generics.at[i]);
        bool known = !g->cls.sym;
        for (uint32_t k = 0; k < 6 && !known; k++) known = !strcmp(g->cls.sym->text, classes[k]);
        if (known) continue;
        diag_report(it->c->diags, DIAG_UNKNOWN_TYPE, g->cls.span, "there is no class `%s`",
                    g->cls.sym->text);
        const char *closest = diag_closest(g->cls.sym->text, classes, 6);
        if (closest) diag_help(it->c->diags, (Span){0}, "did you mean `%s`?", closest);
    }
}

static Instance *representative(Items *it, const FnDecl *decl) {
    Checker *c = it->c;
    Signature *sig = signature_of(c, decl);
    Map generics = {0};
    for (uint32_t i = 0; i < sig->generics->len; i++) {
        AstGeneric *g = AST_AS(Generic, sig->generics->at[i]);
        map_setp(&generics, g->name.sym, (void *)class_representative(c, g->cls.sym));
    }
    Instance *inst = instance_of_decl(c, decl, &generics, NULL, (Span){0});
    map_free(&generics);
    return inst;
}

static void check_defaults(Items *it, Instance *inst, const FnDecl *decl, Root *root) {
    Checker *c = it->c;
    const AstList *params = &decl->ast->params;
    if (root) {
        root->defaults = ARENA_ARRAY(c->arena, Instance *, params->len);
        root->default_texts = ARENA_ARRAY(c->arena, const char *, params->len);
        root->param_docs = ARENA_ARRAY(c->arena, const char *, params->len);
    }
    for (uint32_t i = 0; i < params->len; i++) {
        AstParam *p = AST_AS(Param, params->at[i]);
        Instance *value = p->value ? instance_of_default(c, inst, i, p->value->span) : NULL;
        if (!root) continue;
        root->defaults[i] = value;
        if (p->doc.len) root->param_docs[i] = arena_strndup(c->arena, p->doc.at, p->doc.len);
        if (!p->value) continue;
        const SourceFile *file = sources_file(c->sources, p->value->span.begin);
        root->default_texts[i] =
            arena_strndup(c->arena, file->text + (p->value->span.begin - file->base),
                          p->value->span.end - p->value->span.begin);
    }
}

static void check_main(Items *it, Instance *inst, const FnDecl *decl) {
    Checker *c = it->c;
    bool fits = inst->result->kind == TYPE_UNIT || is_scalar_of(inst->result, SCALAR_I32);
    if (!fits && !is_poison(inst->result))
        diag_report(c->diags, DIAG_MAIN_RESULT,
                    decl->ast->ret ? decl->ast->ret->span : decl->ast->name.span,
                    "`main` returns nothing or an i32, not a value of type %s",
                    type_text(c->types, inst->result));
    add_root(it, ROOT_MAIN, "main", inst, decl->ast->doc, decl->ast->name.span);
    bool added = it->which & (1u << ROOT_MAIN);
    check_defaults(it, inst, decl, added ? &vec_last(&c->program->roots) : NULL);
}

/* The signature of a kernel. */
static bool check_kernel(Items *it, const AstFn *fn, const FnDecl *decl) {
    Diags *diags = it->c->diags;
    for (uint32_t i = 0; i < fn->params.len; i++) {
        if (param_is_index(fn->params.at[i]) == (i < decl->nindices)) continue;
        diag_report(diags, DIAG_KERNEL_INDEX, fn->params.at[i]->span,
                    "a kernel has one, two or three `index` parameters, before all others");
        return false;
    }
    if (!decl->nindices)
        diag_report(diags, DIAG_KERNEL_INDEX, fn->name.span, "the kernel `%s` has no index",
                    fn->name.sym->text);
    if (!decl->nindices) return false;
    if (!fn->ret) return true;
    diag_report(diags, DIAG_KERNEL_INDEX, fn->ret->span, "a kernel returns nothing");
    diag_help(diags, (Span){0}, "let it write to a `mut` parameter");
    return false;
}

static void check_fn(Items *it, AstFn *fn) {
    Checker *c = it->c;
    const Item *item = fn->name.sym ? module_item(c->main, fn->name.sym) : NULL;
    if (!item || item->kind != ITEM_FN) return; /* declared twice */
    const FnDecl *decl = item->fn;
    while (decl && decl->written != fn) decl = decl->next;
    if (!decl || (fn->kernel && !check_kernel(it, fn, decl))) return;
    check_class_names(it, fn);
    Instance *inst = representative(it, decl);
    bool is_main = !strcmp(fn->name.sym->text, "main") && !fn->generics.len;
    if (is_main) check_main(it, inst, decl);
    else check_defaults(it, inst, decl, NULL);
    if (!fn->exported) return;
    if (fn->generics.len) {
        diag_report(c->diags, DIAG_EXPORT_GENERIC, fn->name.span,
                    "`%s` is generic and cannot be exported as it is", fn->name.sym->text);
        diag_help(c->diags, (Span){0}, "export an instance: `export %s64 = %s<f64>;`",
                  fn->name.sym->text, fn->name.sym->text);
        return;
    }
    if (fn->kernel && c->options.objects)
        not_yet(it, fn->name.span, "an exported kernel, but with --emit=ptx,");
    else if ((fn->kernel != 0) == c->options.device)
        add_root(it, ROOT_EXPORT, fn->name.sym->text, inst, fn->doc, fn->name.span);
}

static bool extern_type(Type type) {
    return is_poison(type) || type->kind == TYPE_STR || is_scalar(type) ||
           (is_array(type) && is_scalar(type->elem));
}

static void check_extern(Items *it, AstExtern *ext) {
    Checker *c = it->c;
    const Item *item = ext->name.sym ? module_item(c->main, ext->name.sym) : NULL;
    if (!item || item->kind != ITEM_FN || item->fn->ext != ext) return;
    Instance *inst = instance_of_decl(c, item->fn, NULL, NULL, ext->name.span);
    for (uint32_t i = 0; i < inst->nparams; i++)
        if (!extern_type(inst->params[i]->type))
            diag_report(c->diags, DIAG_EXTERN_TYPE, inst->params[i]->span,
                        "a value of type %s cannot be passed to C here",
                        type_text(c->types, inst->params[i]->type));
    if (inst->result->kind != TYPE_UNIT && !is_scalar(inst->result) && !is_poison(inst->result))
        diag_report(c->diags, DIAG_EXTERN_TYPE, ext->ret->span,
                    "a C function cannot return a value of type %s",
                    type_text(c->types, inst->result));
}

/* ---- constants, exported derivatives ---- */

static void module_checker(Checker *c, FnChecker *f, Module *m, Span span) {
    Instance *home = instance_new(c, INSTANCE_FN, m->name->text, span);
    info_of(c, home)->module = m;
    home->checked = true;
    fn_checker_begin(f, c, home, m);
}

static const ConstDecl *declared_const(Items *it, AstIdent name) {
    const Item *item = name.sym ? module_item(it->c->main, name.sym) : NULL;
    return item && item->kind == ITEM_CONST ? item->cnst : NULL;
}

/* ---- derivatives to be compared ---- */

static bool holds_tape(Type type) {
    for (uint32_t k = 0; type->kind == TYPE_TUPLE && k < type->nparts; k++)
        if (holds_tape(type->parts[k].type)) return true;
    return type->kind == TYPE_TAPE;
}

/* Why values of the parameters and results cannot be made up; NULL: they can. */
static const char *why_not_comparable(const Instance *inst) {
    if (inst->ncaptures) return "it captures values";
    if (holds_tape(inst->result)) return "it returns a tape";
    for (uint32_t i = 0; i < inst->nparams; i++) {
        Type type = inst->params[i]->type;
        if (type->has_fns || type->kind == TYPE_FNVAL) return "it takes a function";
        if (holds_tape(type)) return "it takes a tape";
    }
    return NULL;
}

static void add_compared(Items *it, const char *name, Instance *inst, const DerivSpec *deriv,
                         const char *skipped, Span span) {
    Root root = {.kind = ROOT_CHECK, .name = name, .instance = inst, .span = span, .deriv = deriv};
    if (!(it->which & (1u << ROOT_CHECK))) return;
    root.skipped = skipped ? skipped : why_not_comparable(inst);
    if (root.skipped) root.instance = NULL;
    vec_push(&it->c->program->roots, root);
}

/* The derivative that NAME stands for. */
static void add_named(Items *it, Sym name, Type type, Span span) {
    Checker *c = it->c;
    if (it->which & (1u << ROOT_OPEN) && type->kind == TYPE_FNVAL) {
        Instance *open = instance_of_fnvalue(c, type->fn, 0, NULL, span);
        add_root(it, ROOT_OPEN, name->text, open, (AstText){"", 0}, span);
    }
    if (!(it->which & (1u << ROOT_CHECK)) || type->kind != TYPE_FNVAL || type->fn->kind != FN_DERIV)
        return;
    const char *text = arena_printf(c->arena, "%s (%s)", name->text, type->fn->name);
    if (deriv_needs_types(c, type->fn)) {
        add_compared(it, text, NULL, NULL, "its types come from arguments", span);
        return;
    }
    Instance *inst = instance_of_fnvalue(c, type->fn, 0, NULL, span);
    if (!inst || inst->kind != INSTANCE_DERIV) return;
    if (kernel_behind(inst->deriv->base_instance)) {
        add_compared(it, text, NULL, NULL, "it is a kernel", span);
        return;
    }
    add_compared(it, text, inst->deriv->base_instance, inst->deriv, NULL, span);
}

static void check_const(Items *it, AstConst *node) {
    AstIdent names[2] = {node->name, node->name2};
    for (uint32_t i = 0; i < 2; i++) {
        const ConstDecl *decl = declared_const(it, names[i]);
        if (!decl || decl->ast != node) continue;
        FnChecker f;
        module_checker(it->c, &f, it->c->main, node->node.span);
        Type type = const_tree(&f, decl, names[i].span)->type;
        fn_checker_end(&f);
        add_named(it, names[i].sym, type, names[i].span);
        int64_t value;
        if (const_integer(it->c, decl, &value)) instance_of_const(it->c, decl, names[i].span);
    }
}

static void check_export(Items *it, AstExportOp *node) {
    Checker *c = it->c;
    AstIdent names[2] = {node->name, node->name2};
    for (uint32_t i = 0; i < 2; i++) {
        const ConstDecl *decl = declared_const(it, names[i]);
        if (!decl || decl->exported != node) continue;
        FnChecker f;
        module_checker(c, &f, c->main, node->node.span);
        Tree *tree = const_tree(&f, decl, names[i].span);
        Type type = tree->type;
        Instance *inst = NULL;
        if (type->kind == TYPE_FNVAL) {
            inst = instance_of_fnvalue(c, type->fn, 0, NULL, node->value->span);
        } else if (!is_poison(type)) {
            diag_report(c->diags, DIAG_NOT_CALLABLE, node->value->span,
                        "a value of type %s cannot be exported", type_text(c->types, type));
        }
        fn_checker_end(&f);
        bool kernel = inst && kernel_behind(inst);
        bool split = kernel && inst->deriv && inst->deriv->part == DERIV_PART_FORWARD;
        if (kernel && (c->options.objects || (split && c->options.device))) {
            not_yet(it, names[i].span,
                    split ? "an exported `split` of a kernel"
                          : "an exported derivative of a kernel, but with --emit=ptx,");
            inst = NULL;
        }
        if (!inst || kernel == c->options.device)
            add_root(it, ROOT_EXPORT, names[i].sym->text, inst, node->doc, names[i].span);
        if (inst) add_named(it, names[i].sym, type, names[i].span);
    }
}

/* ---- tests ---- */

static void check_test(Items *it, AstTest *node) {
    Checker *c = it->c;
    const char *name = arena_strndup(c->arena, node->name.at, node->name.len);
    Instance *inst = instance_new(c, INSTANCE_FN, name, node->node.span);
    InstanceInfo *info = info_of(c, inst);
    info->module = c->main;
    info->body = node->body;
    info->asked_at = node->node.span;
    inst->result_act = ACT_CONST;
    instance_queue(c, inst);
    add_root(it, node->bench ? ROOT_BENCH : ROOT_TEST, name, inst, (AstText){"", 0},
             node->node.span);
}

/* A rule is checked against its function, and as it stands, also where nobody asks for it. */
static void check_derivative(Items *it, const AstDerivative *node) {
    const ModuleSet *set = &it->c->modules;
    for (uint32_t i = 0; i < set->rules.len; i++) {
        const RuleDecl *rule = set->rules.at[i];
        if (rule->ast != node || !rule->fn) continue;
        Instance *inst = representative(it, rule->fn);
        if (!inst || rule->failed || !inst->rule_active) continue;
        const char *name = arena_printf(it->c->arena, "%s (derivative)", rule->fn->name->text);
        add_compared(it, name, inst, NULL, NULL, node->path->span);
    }
}

/* In the standard library's own files rules are checked as they stand. */
static void check_std_rules(Items *it) {
    Checker *c = it->c;
    if (!c->main->is_std) return;
    for (uint32_t i = 0; i < c->modules.rules.len; i++) {
        const RuleDecl *rule = c->modules.rules.at[i];
        if (rule->fn) representative(it, rule->fn);
        if (rule->math < 0) continue;
        need_math_rule(c, rule->math, SCALAR_F32, rule->ast->path->span);
        need_math_rule(c, rule->math, SCALAR_F64, rule->ast->path->span);
    }
}

void check_items(Checker *c, uint32_t which) {
    Items it = {c, which};
    const AstFile *file = c->main->ast;
    for (uint32_t i = 0; file && i < file->items.len; i++) {
        AstNode *node = file->items.at[i];
        if (node->poison) continue;
        switch ((AstKind)node->kind) {
        case AST_Fn: check_fn(&it, (AstFn *)node); break;
        case AST_Extern: check_extern(&it, (AstExtern *)node); break;
        case AST_Const: check_const(&it, (AstConst *)node); break;
        case AST_ExportOp: check_export(&it, (AstExportOp *)node); break;
        case AST_Test: check_test(&it, (AstTest *)node); break;
        case AST_Derivative: check_derivative(&it, (AstDerivative *)node); break;
        case AST_Struct: {
            const Item *item = module_item(c->main, ((AstStruct *)node)->name.sym);
            if (item && item->kind == ITEM_STRUCT) struct_type(c, item->strct);
            break;
        }
        default: break;
        }
    }
    check_std_rules(&it);
}
