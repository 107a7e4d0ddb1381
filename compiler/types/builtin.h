/* One call of a row of builtins.def on its way. */
#ifndef ADL_TYPES_BUILTIN_H
#define ADL_TYPES_BUILTIN_H

#include "types/internal.h"

typedef struct BuiltinCall {
    FnChecker *f;
    int32_t row;
    const char *name;
    AstCall *call;
    Span span;
    uint32_t n;
    AstNode **nodes; /* the arguments in the order of the parameters; NULL: left out */
    bool others;     /* other functions have the name too */
    bool failed;     /* an argument was wrong: reported */
} BuiltinCall;

AstNode *builtin_arg_node(const AstCall *call, uint32_t i);
Tree *builtin_arg(BuiltinCall *b, uint32_t i, Type expected);
/* "`len` takes an array, not a value of type f64"; poison. */
Tree *builtin_refuse(BuiltinCall *b, const Tree *arg, const char *wants);
Tree *builtin_node(BuiltinCall *b, Type type, uint32_t n, Tree *const *args);
Tree *builtin_array_call(BuiltinCall *b, Type expected);

#endif
