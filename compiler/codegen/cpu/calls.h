/* The runtime's functions, as runtime/calls.def has them. */
#ifndef ADL_CODEGEN_CPU_CALLS_H
#define ADL_CODEGEN_CPU_CALLS_H

#include "codegen/cpu/gen.h"
#include "runtime/layout.h"

/* The type tokens of calls.def. */
typedef enum CallToken {
#define X(token, type, class) TOKEN_##token,
    ADL_CALL_TYPES(X)
#undef X
} CallToken;

enum { CALL_PARAMS = 12 };

typedef struct RuntimeCall {
    const char *name;
    CallToken result;
    CallToken params[CALL_PARAMS]; /* behind the last one: TOKEN_T_VOID */
    unsigned attributes;           /* AdlCallAttr */
} RuntimeCall;

const RuntimeCall *call_find(const char *name); /* NULL: there is none */
LLVMTypeRef call_token_type(const Emit *e, CallToken token);
LLVMValueRef call_build(Gen *g, const RuntimeCall *call, LLVMValueRef *args, unsigned n);

#endif
