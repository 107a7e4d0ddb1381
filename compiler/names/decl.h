/* Declarations and modules: what names stand for, before any type is known. */
#ifndef ADL_NAMES_DECL_H
#define ADL_NAMES_DECL_H

#include "ast/ast.h"
#include "base/map.h"
#include "base/vec.h"

typedef struct Module Module;

enum { KERNEL_RANK = 3 }; /* dimensions of a launch */

typedef struct FnDecl {
    Sym name;
    Module *module;
    AstFn *ast;        /* NULL for an extern */
    AstFn *written;    /* as it stands in the source: AST, but for a kernel (names/kernel.c) */
    uint32_t nindices; /* of a kernel; 0: a function */
    AstExtern *ext;
    struct RuleDecl *rule; /* a `derivative` for it, or NULL */
    uint32_t index;        /* among overloads of one name (standard library only) */
    struct FnDecl *next;   /* the next overload, or NULL */
} FnDecl;

typedef struct RuleDecl {
    AstDerivative *ast;
    Module *module;
    FnDecl *fn;            /* or a row of math.def: */
    int32_t math;          /* -1: none */
    bool attached, failed; /* failed: it does not fit its function, which was reported */
} RuleDecl;

typedef struct StructDecl {
    Sym name;
    Module *module;
    AstStruct *ast;
    Sym *sizes; /* in order: of the list, else of first appearance in the fields */
    uint32_t nsizes;
} StructDecl;

typedef struct ConstDecl {
    Sym name;
    Module *module;
    AstConst *ast; /* or: */
    AstExportOp *exported;
    uint32_t part; /* of (a, b) = split f: 0 or 1 */
} ConstDecl;

typedef enum ItemKind {
    ITEM_NONE,
    ITEM_FN,
    ITEM_STRUCT,
    ITEM_CONST,
    ITEM_MODULE,
    ITEM_BUILTIN,
    ITEM_MATH,
    ITEM_AMBIGUOUS,
    ITEM_POISON /* of a module that was not found: reported */
} ItemKind;

typedef struct Item {
    ItemKind kind;
    union {
        FnDecl *fn; /* the first of its overloads: see module_overloads */
        StructDecl *strct;
        ConstDecl *cnst;
        Module *module;
        int32_t row; /* BUILTIN, MATH */
    };
    Span span;
    const struct Item *other; /* AMBIGUOUS: both that were brought; where from stands in `span` */
    Module *from;             /* the module it was declared in */
} Item;

struct Module {
    Sym name; /* "nn.layers" */
    const SourceFile *file;
    AstFile *ast; /* NULL while it loads, and if the file could not be read */
    Map items;    /* Sym -> Item *: own items */
    Map brought;  /* Sym -> Item *: by `use m: a, b` */
    Map modules;  /* Sym -> Item *: by `use m`, `use m as n` */
    Map used;     /* Sym -> anything: names of `brought` and `modules` that were looked up */
    bool is_std;  /* belongs to the standard library: may use __names */
    bool loading; /* for cycles */
};

#endif
