/* Declaring the items of one module, and attaching `derivative` items to their functions. */
#include "base/bitset.h"
#include "names/modules.h"

static bool reserved(const Module *m, Sym name) {
    return !m->is_std && name->len > 2 && name->text[0] == '_' && name->text[1] == '_';
}

/* A new item of M under NAME; NULL after reporting that there is one already. */
static Item *add_item(ModuleSet *set, Module *m, AstIdent name, ItemKind kind) {
    if (!name.sym) return NULL;
    if (reserved(m, name.sym)) {
        diag_report(set->diags, DIAG_NAME_RESERVED, name.span,
                    "names that begin with __ belong to the standard library");
        return NULL;
    }
    Item *old = map_getp(&m->items, name.sym);
    if (old) {
        diag_report(set->diags, DIAG_ITEM_TWICE, name.span, "`%s` is declared twice",
                    name.sym->text);
        diag_note(set->diags, old->span, "it is also declared here");
        return NULL;
    }
    Item *item = ARENA_NEW(set->arena, Item);
    *item = (Item){.kind = kind, .span = name.span, .from = m};
    map_setp(&m->items, name.sym, item);
    return item;
}

static void declare_fn(ModuleSet *set, Module *m, AstFn *fn, AstExtern *ext) {
    AstIdent name = fn ? fn->name : ext->name;
    FnDecl *decl = ARENA_NEW(set->arena, FnDecl);
    *decl = (FnDecl){.name = name.sym, .module = m, .ast = fn, .written = fn, .ext = ext};
    if (fn && fn->kernel) kernel_declare(set, decl);
    Item *old = name.sym ? map_getp(&m->items, name.sym) : NULL;
    if (old && old->kind == ITEM_FN && m->is_std) {
        FnDecl *last = old->fn;
        while (last->next) last = last->next;
        decl->index = last->index + 1;
        last->next = decl;
        return;
    }
    Item *item = add_item(set, m, name, ITEM_FN);
    if (item) item->fn = decl;
}

static void declare_const(ModuleSet *set, Module *m, AstConst *cnst, AstExportOp *exported) {
    AstIdent names[2] = {cnst ? cnst->name : exported->name, cnst ? cnst->name2 : exported->name2};
    for (uint32_t i = 0; i < 2; i++) {
        Item *item = add_item(set, m, names[i], ITEM_CONST);
        if (!item) continue;
        ConstDecl *decl = ARENA_NEW(set->arena, ConstDecl);
        *decl = (ConstDecl){names[i].sym, m, cnst, exported, i};
        item->cnst = decl;
    }
}

typedef struct SizeNames {
    VEC(Sym) names;
    const AstStruct *decl;
} SizeNames;

static void add_size(SizeNames *sizes, Sym name) {
    for (uint32_t i = 0; i < sizes->names.len; i++)
        if (sizes->names.at[i] == name) return;
    vec_push(&sizes->names, name);
}

/* Names that stand as whole dimensions, in order of first appearance. */
static void collect_sizes(const AstNode *type, SizeNames *sizes) {
    const AstList *dims = NULL;
    if (type->kind == AST_TypeArray) dims = &((const AstTypeArray *)type)->dims;
    if (type->kind == AST_TypeName) dims = &((const AstTypeName *)type)->dims;
    for (uint32_t i = 0; dims && i < dims->len; i++)
        if (dims->at[i]->kind == AST_Name) add_size(sizes, ((AstName *)dims->at[i])->name.sym);
    if (type->kind == AST_TypeArray) collect_sizes(((const AstTypeArray *)type)->elem, sizes);
    if (type->kind == AST_TypeTuple) {
        const AstList *parts = &((const AstTypeTuple *)type)->parts;
        for (uint32_t i = 0; i < parts->len; i++)
            collect_sizes(((AstTypePart *)parts->at[i])->type, sizes);
    }
}

static void declare_struct(ModuleSet *set, Module *m, AstStruct *ast) {
    Item *item = add_item(set, m, ast->name, ITEM_STRUCT);
    if (!item) return;
    SizeNames sizes = {.decl = ast};
    for (uint32_t i = 0; i < ast->sizes.len; i++)
        add_size(&sizes, ((AstName *)ast->sizes.at[i])->name.sym);
    for (uint32_t i = 0; !ast->sizes.len && i < ast->fields.len; i++)
        collect_sizes(((AstFieldDecl *)ast->fields.at[i])->type, &sizes);
    StructDecl *decl = ARENA_NEW(set->arena, StructDecl);
    *decl = (StructDecl){.name = ast->name.sym, .module = m, .ast = ast};
    decl->nsizes = sizes.names.len;
    decl->sizes = ARENA_ARRAY(set->arena, Sym, sizes.names.len);
    for (uint32_t i = 0; i < sizes.names.len; i++) decl->sizes[i] = sizes.names.at[i];
    vec_free(&sizes.names);
    item->strct = decl;
}

/* A name of a module constant is no size of a struct: taken out once all items are known. */
static void drop_constant_sizes(Module *m) {
    for (uint32_t i = 0; i < m->items.len; i++) {
        Item *item = m->items.values[i];
        if (item->kind != ITEM_STRUCT || item->strct->ast->sizes.len) continue;
        uint32_t n = 0;
        for (uint32_t k = 0; k < item->strct->nsizes; k++) {
            Item *other = map_getp(&m->items, item->strct->sizes[k]);
            if (!other || other->kind != ITEM_CONST)
                item->strct->sizes[n++] = item->strct->sizes[k];
        }
        item->strct->nsizes = n;
    }
}

static void declare_rule(ModuleSet *set, Module *m, AstDerivative *ast) {
    RuleDecl *rule = ARENA_NEW(set->arena, RuleDecl);
    *rule = (RuleDecl){.ast = ast, .module = m, .math = -1};
    vec_push(&set->rules, rule);
}

void module_declare(ModuleSet *set, Module *m) {
    for (uint32_t i = 0; m->ast && i < m->ast->items.len; i++) {
        AstNode *node = m->ast->items.at[i];
        if (node->poison) continue;
        switch ((AstKind)node->kind) {
        case AST_Fn: declare_fn(set, m, (AstFn *)node, NULL); break;
        case AST_Extern: declare_fn(set, m, NULL, (AstExtern *)node); break;
        case AST_Const: declare_const(set, m, (AstConst *)node, NULL); break;
        case AST_ExportOp: declare_const(set, m, NULL, (AstExportOp *)node); break;
        case AST_Struct: declare_struct(set, m, (AstStruct *)node); break;
        case AST_Derivative: declare_rule(set, m, (AstDerivative *)node); break;
        default: break; /* uses are loaded, tests have no names */
        }
    }
    drop_constant_sizes(m);
}

static bool is_array(const AstNode *param) {
    return ((const AstParam *)param)->type->kind == AST_TypeArray;
}

static const AstNode *element_type(const AstNode *param) {
    const AstNode *type = ((const AstParam *)param)->type;
    return is_array(param) ? ((const AstTypeArray *)type)->elem : type;
}

/* May a rule's parameter be this one?  Both are arrays or neither is; without type variables their
   types have one name. */
static bool may_be(const AstNode *a, const AstNode *b, bool generic) {
    const AstNode *x = element_type(a), *y = element_type(b);
    if (is_array(a) != is_array(b)) return false;
    if (generic || x->kind != AST_TypeName || y->kind != AST_TypeName) return true;
    x = ((const AstTypeName *)x)->path, y = ((const AstTypeName *)y)->path;
    return x->kind != AST_Name || y->kind != AST_Name ||
           ((const AstName *)x)->name.sym == ((const AstName *)y)->name.sym;
}

/* The overload that repeats the parameters of the rule. */
static FnDecl *rule_overload(FnDecl *fn, const AstDerivative *rule) {
    for (; fn; fn = fn->next) {
        const AstList *params = fn->ast ? &fn->ast->params : &fn->ext->params;
        if (params->len != rule->params.len) continue;
        if (fn->ast && (fn->ast->generics.len > 0) != (rule->generics.len > 0)) continue;
        uint32_t i = 0;
        bool generic = rule->generics.len > 0;
        while (i < params->len && may_be(params->at[i], rule->params.at[i], generic)) i++;
        if (i == params->len) return fn;
    }
    return NULL;
}

/* What the path of a rule names: `f`, or `m.f` of a module. */
static NameLookup rule_target(ModuleSet *set, const RuleDecl *rule, Sym *name) {
    const AstNode *path = rule->ast->path;
    if (path->kind == AST_Name) {
        *name = ((const AstName *)path)->name.sym;
        return modules_lookup(set, rule->module, *name);
    }
    const AstField *field = (const AstField *)path;
    NameLookup found = {.math = -1, .builtin = -1};
    *name = field->name.sym;
    if (field->base->kind != AST_Name) return found;
    Sym base = ((const AstName *)field->base)->name.sym;
    const Item *module = map_getp(&rule->module->modules, base);
    if (!module || module->kind != ITEM_MODULE) return found;
    map_setp(&rule->module->used, base, rule->module);
    found.item = module_item(module->module, *name);
    if (found.item) found.kind = found.item->kind;
    return found;
}

static void attach_rule(ModuleSet *set, RuleDecl *rule) {
    const AstNode *path = rule->ast->path;
    Sym name;
    NameLookup found = rule_target(set, rule, &name);
    FnDecl *fn = found.kind == ITEM_FN ? found.item->fn : NULL;
    /* Parameters of a function that has one form only are compared by the checker. */
    if (fn && (fn->next || found.math >= 0)) fn = rule_overload(fn, rule->ast);
    rule->attached = true;
    if (fn && !fn->rule) {
        fn->rule = rule;
        rule->fn = fn;
    } else if (!fn && found.math >= 0 && !set->math_rules[found.math]) {
        set->math_rules[found.math] = rule;
        rule->math = found.math;
    } else if (fn || found.math >= 0) {
        diag_report(set->diags, DIAG_RULE_TWICE, path->span, "`%s` has a derivative rule already",
                    name->text);
        const RuleDecl *other = fn ? fn->rule : set->math_rules[found.math];
        diag_note(set->diags, other->ast->path->span, "the other one is here");
    } else if (found.kind != ITEM_POISON) {
        diag_report(set->diags, DIAG_RULE_TARGET, path->span,
                    "there is no function `%s` with these parameters", name->text);
    }
}

/* For a function of the rule's own module? */
static bool is_at_home(const RuleDecl *rule) {
    const AstNode *path = rule->ast->path;
    return rule->module->is_std ||
           (path->kind == AST_Name && module_item(rule->module, ((const AstName *)path)->name.sym));
}

void modules_attach_rules(ModuleSet *set) {
    for (int guests = 0; guests < 2; guests++)
        for (uint32_t i = 0; i < set->rules.len; i++)
            if (!set->rules.at[i]->attached && (guests || is_at_home(set->rules.at[i])))
                attach_rule(set, set->rules.at[i]);
}
