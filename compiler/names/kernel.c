/* Kernels as functions.  To everything behind this, a kernel is a function of its ranges: each
   parameter `i: index` stands for three of type i64, where the range begins and ends and how many
   of its indices make a block.  Their names have a point, so that no program can write them. */
#include "names/modules.h"

#include <string.h>

enum { PARTS = 3 };

static AstNode *new_node(Arena *arena, size_t size, AstKind kind, Span span) {
    AstNode *node = arena_alloc(arena, size);
    memset(node, 0, size);
    node->kind = (uint16_t)kind;
    node->span = span;
    return node;
}

static AstParam *range_param(ModuleSet *set, const AstParam *index, const char *part) {
    Span span = index->name.span;
    AstName *name = (AstName *)new_node(set->arena, sizeof(AstName), AST_Name, span);
    AstTypeName *type = (AstTypeName *)new_node(set->arena, sizeof *type, AST_TypeName, span);
    AstParam *param = (AstParam *)new_node(set->arena, sizeof *param, AST_Param, span);
    name->name = (AstIdent){intern(set->interner, "i64"), span};
    type->path = (AstNode *)name;
    const char *text = arena_printf(set->arena, "%s.%s", index->name.sym->text, part);
    param->name = (AstIdent){intern(set->interner, text), span};
    param->type = (AstNode *)type;
    return param;
}

bool param_is_index(const AstNode *param) {
    const AstNode *type = ((const AstParam *)param)->type;
    if (type->kind != AST_TypeName || ((const AstTypeName *)type)->has_dims) return false;
    const AstNode *path = ((const AstTypeName *)type)->path;
    return path->kind == AST_Name && !strcmp(((const AstName *)path)->name.sym->text, "index");
}

void kernel_declare(ModuleSet *set, FnDecl *decl) {
    static const char *const parts[PARTS] = {"begin", "end", "block"};
    const AstFn *written = decl->ast;
    const AstList *params = &written->params;
    while (decl->nindices < params->len && decl->nindices < KERNEL_RANK &&
           param_is_index(params->at[decl->nindices]))
        decl->nindices++;
    AstFn *fn = (AstFn *)new_node(set->arena, sizeof *fn, AST_Fn, written->node.span);
    *fn = *written;
    uint32_t own = params->len - decl->nindices;
    fn->params.len = PARTS * decl->nindices + own;
    fn->params.at = ARENA_ARRAY(set->arena, AstNode *, fn->params.len);
    for (uint32_t i = 0; i < decl->nindices; i++)
        for (uint32_t k = 0; k < PARTS; k++)
            fn->params.at[PARTS * i + k] =
                (AstNode *)range_param(set, AST_AS(Param, params->at[i]), parts[k]);
    for (uint32_t i = 0; i < own; i++)
        fn->params.at[PARTS * decl->nindices + i] = params->at[decl->nindices + i];
    decl->ast = fn;
}
