/* The shapes of the nodes as data, for whatever treats all kinds alike: visitor, dump, builder. */
#ifndef ADL_AST_FIELDS_H
#define ADL_AST_FIELDS_H

#include "ast/ast.h"

#include <stddef.h>

typedef enum AstFieldType {
    AST_FIELD_END, /* after the last field */
    AST_FIELD_NODE,
    AST_FIELD_LIST,
    AST_FIELD_IDENT,
    AST_FIELD_INT,
    AST_FIELD_TEXT
} AstFieldType;

typedef struct AstFieldInfo {
    AstFieldType type;
    uint32_t offset;
    const char *name;
} AstFieldInfo;

/* The fields of a kind in source order. */
const AstFieldInfo *ast_fields(AstKind kind);
size_t ast_size(AstKind kind);

static inline AstNode *ast_field_node(const AstNode *node, const AstFieldInfo *field) {
    return *(AstNode *const *)(const void *)((const char *)node + field->offset);
}
static inline const AstList *ast_field_list(const AstNode *node, const AstFieldInfo *field) {
    return (const AstList *)(const void *)((const char *)node + field->offset);
}

#endif
