/* Signatures, type variables and their classes. */
#include "types/internal.h"

#include <string.h>

static AstGeneric *find_generic(const AstList *generics, Sym name) {
    for (uint32_t i = 0; generics && i < generics->len; i++) {
        AstGeneric *g = AST_AS(Generic, generics->at[i]);
        if (g->name.sym == name) return g;
    }
    return NULL;
}

/* The type variable that a written type is, or NULL. */
static AstGeneric *as_generic(const AstNode *type, const AstList *generics) {
    if (type->kind != AST_TypeName) return NULL;
    const AstNode *path = ((const AstTypeName *)type)->path;
    return path->kind == AST_Name ? find_generic(generics, ((const AstName *)path)->name.sym)
                                  : NULL;
}

bool type_is_generic(const AstNode *type, const AstList *generics) {
    if (!generics || !generics->len) return false;
    switch ((AstKind)type->kind) {
    case AST_TypeName: return as_generic(type, generics) != NULL;
    case AST_TypeArray: return type_is_generic(((const AstTypeArray *)type)->elem, generics);
    case AST_TypeTuple: {
        const AstList *parts = &((const AstTypeTuple *)type)->parts;
        for (uint32_t i = 0; i < parts->len; i++)
            if (type_is_generic(((AstTypePart *)parts->at[i])->type, generics)) return true;
        return false;
    }
    case AST_TypeFn: {
        const AstTypeFn *fn = (const AstTypeFn *)type;
        for (uint32_t i = 0; i < fn->params.len; i++)
            if (type_is_generic(((AstParam *)fn->params.at[i])->type, generics)) return true;
        return fn->ret && type_is_generic(((AstRet *)fn->ret)->type, generics);
    }
    default: return false;
    }
}

static bool holds_fn(const AstNode *type) {
    if (type->kind == AST_TypeFn) return true;
    if (type->kind != AST_TypeTuple) return false;
    const AstList *parts = &((const AstTypeTuple *)type)->parts;
    for (uint32_t i = 0; i < parts->len; i++)
        if (holds_fn(((AstTypePart *)parts->at[i])->type)) return true;
    return false;
}

static bool class_is(Sym cls, const char *name) {
    return cls && !strcmp(cls->text, name);
}

static bool scalar_name_text(const char *text) {
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (!strcmp(text, scalar_name((Scalar)i))) return true;
    return false;
}

static bool written_scalar(const AstNode *type, const AstList *generics) {
    if (type->kind != AST_TypeName) return false;
    const AstTypeName *name = (const AstTypeName *)type;
    AstGeneric *g = as_generic(type, generics);
    if (g) return g->cls.sym && !class_is(g->cls.sym, "any") && !class_is(g->cls.sym, "array");
    return name->path->kind == AST_Name &&
           scalar_name_text(((const AstName *)name->path)->name.sym->text);
}

static bool written_scalars(const AstNode *type, const AstList *generics) {
    if (type->kind != AST_TypeTuple) return written_scalar(type, generics);
    const AstList *parts = &((const AstTypeTuple *)type)->parts;
    for (uint32_t i = 0; i < parts->len; i++)
        if (!written_scalar(((AstTypePart *)parts->at[i])->type, generics)) return false;
    return parts->len > 0;
}

Signature *signature_of(Checker *c, const FnDecl *decl) {
    Signature *sig = map_getp(&c->signatures, decl);
    if (sig) return sig;
    sig = ARENA_NEW(c->arena, Signature);
    map_setp(&c->signatures, decl, sig);
    static const AstList none;
    const AstList *params = decl->ast ? &decl->ast->params : &decl->ext->params;
    sig->decl = decl;
    sig->generics = decl->ast ? &decl->ast->generics : &none;
    sig->ret = (AstRet *)(decl->ast ? decl->ast->ret : decl->ext->ret);
    sig->nparams = params->len;
    sig->params = ARENA_ARRAY(c->arena, ParamSig, params->len);
    sig->scalar = sig->ret && written_scalars(sig->ret->type, sig->generics) && params->len;
    for (uint32_t i = 0; i < params->len; i++) {
        AstParam *p = AST_AS(Param, params->at[i]);
        ParamSig *s = &sig->params[i];
        *s = (ParamSig){.name = p->name.sym,
                        .ast = p,
                        .generic = type_is_generic(p->type, sig->generics),
                        .is_fn = holds_fn(p->type),
                        .scalar = written_scalar(p->type, sig->generics)};
        sig->scalar = sig->scalar && s->scalar && !p->mut;
        if (p->strided && decl->ext)
            diag_report(c->diags, DIAG_STRIDED, p->name.span,
                        "`%s` cannot be strided: a C function takes a pointer", p->name.sym->text);
    }
    return sig;
}

/* ---- inference ---- */

static bool infer_list(Checker *c, Module *m, const AstList *parts, Type actual,
                       const AstList *generics, Map *bound) {
    if (actual->kind != TYPE_TUPLE || actual->nparts != parts->len) return false;
    for (uint32_t i = 0; i < parts->len; i++)
        if (!infer_type(c, m, ((AstTypePart *)parts->at[i])->type, actual->parts[i].type, generics,
                        bound))
            return false;
    return true;
}

bool infer_type(Checker *c, Module *m, AstNode *written, Type actual, const AstList *generics,
                Map *bound) {
    if (is_poison(actual) || !type_is_generic(written, generics)) return true;
    AstGeneric *g = as_generic(written, generics);
    if (g) {
        Type old = map_getp(bound, g->name.sym);
        if (!old) map_setp(bound, g->name.sym, (void *)actual);
        return !old || same_shape(old, actual);
    }
    if (written->kind == AST_TypeArray) {
        AstTypeArray *array = (AstTypeArray *)written;
        if (!is_array(actual) || actual->rank < array->dims.len) return false;
        return infer_type(c, m, array->elem, type_drop_dims(c->types, actual, array->dims.len),
                          generics, bound);
    }
    if (written->kind == AST_TypeTuple)
        return infer_list(c, m, &((AstTypeTuple *)written)->parts, actual, generics, bound);
    if (written->kind == AST_TypeFn && actual->kind == TYPE_FN) {
        AstTypeFn *fn = (AstTypeFn *)written;
        for (uint32_t i = 0; i < fn->params.len && i < actual->nparts; i++)
            infer_type(c, m, ((AstParam *)fn->params.at[i])->type, actual->parts[i].type, generics,
                       bound);
        if (fn->ret && actual->elem)
            infer_type(c, m, ((AstRet *)fn->ret)->type, actual->elem, generics, bound);
    }
    return true;
}

bool class_has(Sym cls, Type type) {
    if (is_poison(type) || !cls || class_is(cls, "any")) return !type->has_fns;
    if (class_is(cls, "array")) return is_array(type) && is_floating(type->elem);
    if (class_is(cls, "num"))
        return is_numeric(type) && type->scalar != SCALAR_F16 && type->scalar != SCALAR_BF16;
    if (class_is(cls, "float"))
        return is_scalar_of(type, SCALAR_F32) || is_scalar_of(type, SCALAR_F64);
    if (class_is(cls, "int")) return is_integer(type);
    if (class_is(cls, "complex")) return is_complex(type);
    return true;
}

Type class_representative(Checker *c, Sym cls) {
    if (class_is(cls, "int")) return type_scalar(c->types, SCALAR_I64);
    if (class_is(cls, "complex")) return type_scalar(c->types, SCALAR_C128);
    Type f64 = type_scalar(c->types, SCALAR_F64);
    if (!class_is(cls, "array")) return f64;
    Size n = size_var(c->types, intern(c->interner, "n"));
    return type_array(c->types, f64, 1, &n);
}
