#include "ast/ast.h"

#include "ast/fields.h"
#include "base/fatal.h"

/* ---- shapes ------------------------------------------------------------------------------- */

/* One function for each kind, so that the fields can name their struct. */
#define NODE(kind, group)                                                                          \
    static const AstFieldInfo *fields_##kind(void) {                                               \
        typedef Ast##kind Self;                                                                    \
        static const AstFieldInfo fields[] = {
#define F_NODE(name) {AST_FIELD_NODE, offsetof(Self, name), #name},
#define F_LIST(name) {AST_FIELD_LIST, offsetof(Self, name), #name},
#define F_IDENT(name) {AST_FIELD_IDENT, offsetof(Self, name), #name},
#define F_INT(name) {AST_FIELD_INT, offsetof(Self, name), #name},
#define F_TEXT(name) {AST_FIELD_TEXT, offsetof(Self, name), #name},
#define END(kind)                                                                                  \
    { AST_FIELD_END, sizeof(Self), NULL }                                                          \
    }                                                                                              \
    ;                                                                                              \
    return fields;                                                                                 \
    }
#include "ast/node.def"
#undef NODE
#undef F_NODE
#undef F_LIST
#undef F_IDENT
#undef F_INT
#undef F_TEXT
#undef END

#define F_NODE(name)
#define F_LIST(name)
#define F_IDENT(name)
#define F_INT(name)
#define F_TEXT(name)
#define END(kind)

const AstFieldInfo *ast_fields(AstKind kind) {
    static const AstFieldInfo *(*const table[])(void) = {
#define NODE(kind, group) fields_##kind,
#include "ast/node.def"
#undef NODE
    };
    return table[kind]();
}

size_t ast_size(AstKind kind) {
    static const size_t sizes[] = {
#define NODE(kind, group) sizeof(Ast##kind),
#include "ast/node.def"
#undef NODE
    };
    return sizes[kind];
}

const char *ast_kind_name(AstKind kind) {
    static const char *const names[] = {
#define NODE(kind, group) #kind,
#include "ast/node.def"
#undef NODE
    };
    return kind < AST_KIND_COUNT ? names[kind] : "?";
}

const char *ast_op_text(AstOp op) {
    static const char *const texts[] = {
        "",
#define OPERATOR(name, text, arity) text,
#include "lang/operators.def"
#undef OPERATOR
    };
    return op < AST_OP_COUNT ? texts[op] : "?";
}

AstNode *ast_expect(AstNode *node, AstKind kind) {
#ifndef NDEBUG
    if (!node || node->kind != kind)
        UNREACHABLE("a node of kind %s where %s is expected",
                    node ? ast_kind_name((AstKind)node->kind) : "NULL", ast_kind_name(kind));
#else
    (void)kind;
#endif
    return node;
}

void ast_children(const AstNode *node, void (*visit)(AstNode *child, void *data), void *data) {
    for (const AstFieldInfo *f = ast_fields((AstKind)node->kind); f->type; f++) {
        if (f->type == AST_FIELD_NODE) {
            AstNode *child = ast_field_node(node, f);
            if (child) visit(child, data);
        } else if (f->type == AST_FIELD_LIST) {
            const AstList *list = ast_field_list(node, f);
            for (uint32_t i = 0; i < list->len; i++) visit(list->at[i], data);
        }
    }
}

const char *act_name(ActKind act) {
    static const char *const names[] = {
        [ACT_CONST] = "Const",           [ACT_ACTIVE] = "Active",
        [ACT_DUPLICATED] = "Duplicated", [ACT_DUPLICATED_NONEED] = "DuplicatedNoNeed",
        [ACT_BATCH] = "BatchDuplicated", [ACT_BATCH_NONEED] = "BatchDuplicatedNoNeed",
    };
    return names[act];
}

/* ---- dump --------------------------------------------------------------------------------- */

/* A field that is a number: by name where it is an enum. */
static void dump_int(StrBuf *out, const AstNode *node, const AstFieldInfo *f) {
    static const char *const derivs[] = {"grad", "jvp", "split"};
    int64_t value = *(const int64_t *)(const void *)((const char *)node + f->offset);
    switch ((AstKind)node->kind) {
    case AST_Activity: strbuf_printf(out, " %s", act_name((ActKind)value)); return;
    case AST_Unary:
    case AST_Binary: strbuf_printf(out, " %s", ast_op_text((AstOp)value)); return;
    case AST_Assign: strbuf_printf(out, " %s=", ast_op_text((AstOp)value)); return;
    case AST_Bool: strbuf_add(out, value ? " true" : " false"); return;
    case AST_Part: strbuf_printf(out, " .%lld", (long long)value); return;
    case AST_Deriv:
        if (f->offset == offsetof(AstDeriv, op)) strbuf_printf(out, " %s", derivs[value]);
        else if (value) strbuf_add(out, " deferred");
        return;
    default:
        if (value) strbuf_printf(out, " %s", f->name);
    }
}

static void dump_node(StrBuf *out, const AstNode *node, const char *label, int depth) {
    static const char spaces[] = "                                                            ";
    strbuf_add_n(out, spaces, 2 * (size_t)(depth < 30 ? depth : 30));
    if (label) strbuf_printf(out, "%s: ", label);
    strbuf_add(out, ast_kind_name((AstKind)node->kind));
    const AstFieldInfo *fields = ast_fields((AstKind)node->kind);
    for (const AstFieldInfo *f = fields; f->type; f++) {
        const void *at = (const char *)node + f->offset;
        if (f->type == AST_FIELD_IDENT && ((const AstIdent *)at)->sym) {
            strbuf_printf(out, " %s", ((const AstIdent *)at)->sym->text);
        } else if (f->type == AST_FIELD_TEXT && ((const AstText *)at)->at) {
            strbuf_char(out, ' ');
            strbuf_json(out, ((const AstText *)at)->at, ((const AstText *)at)->len);
        } else if (f->type == AST_FIELD_INT) {
            dump_int(out, node, f);
        }
    }
    strbuf_char(out, '\n');
    if (depth >= AST_MAX_DEPTH) return;
    for (const AstFieldInfo *f = fields; f->type; f++) {
        if (f->type == AST_FIELD_NODE && ast_field_node(node, f)) {
            dump_node(out, ast_field_node(node, f), f->name, depth + 1);
        } else if (f->type == AST_FIELD_LIST) {
            const AstList *list = ast_field_list(node, f);
            for (uint32_t i = 0; i < list->len; i++)
                dump_node(out, list->at[i], f->name, depth + 1);
        }
    }
}

void ast_dump(StrBuf *out, const AstNode *node) {
    dump_node(out, node, NULL, 0);
}
