#include "codegen/cpu/calls.h"

#include <string.h>

#include "base/fatal.h"
#include "codegen/common/compat.h"

/* A parenthesised list of up to CALL_PARAMS tokens. */
#define TOKENS_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, ...)                            \
    {                                                                                              \
        TOKEN_##_1, TOKEN_##_2, TOKEN_##_3, TOKEN_##_4, TOKEN_##_5, TOKEN_##_6, TOKEN_##_7,        \
            TOKEN_##_8, TOKEN_##_9, TOKEN_##_10, TOKEN_##_11, TOKEN_##_12                          \
    }
#define TOKENS(...)                                                                                \
    TOKENS_(__VA_ARGS__, T_VOID, T_VOID, T_VOID, T_VOID, T_VOID, T_VOID, T_VOID, T_VOID, T_VOID,   \
            T_VOID, T_VOID, T_VOID)

static const RuntimeCall runtime_calls[] = {
#define ADL_CALL(name, result, parameters, attributes)                                             \
    {#name, TOKEN_##result, TOKENS parameters, attributes},
#include "runtime/calls.def"
#undef ADL_CALL
};

const RuntimeCall *call_find(const char *name) {
    for (size_t i = 0; i < sizeof runtime_calls / sizeof runtime_calls[0]; i++)
        if (strcmp(runtime_calls[i].name, name) == 0) return &runtime_calls[i];
    return NULL;
}

bool gen_runtime_known(const char *name) {
    return strncmp(name, "adl__", 5) == 0 && call_find(name);
}

LLVMTypeRef call_token_type(const Emit *e, CallToken token) {
    static const AdlClass classes[] = {
#define X(name, type, class) class,
        ADL_CALL_TYPES(X)
#undef X
    };
    switch (classes[token]) {
    case ADL_CLASS_VOID: return e->none;
    case ADL_CLASS_I16: return e->i16;
    case ADL_CLASS_I32: return e->i32;
    case ADL_CLASS_I64: return e->i64;
    case ADL_CLASS_F32: return e->f32;
    case ADL_CLASS_F64: return e->f64;
    case ADL_CLASS_PTR: return e->ptr;
    }
    UNREACHABLE("class %d", (int)classes[token]);
}

static LLVMTypeRef call_type(const Emit *e, const RuntimeCall *call) {
    LLVMTypeRef params[CALL_PARAMS];
    unsigned n = 0;
    for (; n < CALL_PARAMS && call->params[n] != TOKEN_T_VOID; n++)
        params[n] = call_token_type(e, call->params[n]);
    return LLVMFunctionType(call_token_type(e, call->result), params, n, false);
}

static LLVMValueRef declare(Gen *g, const RuntimeCall *call) {
    LLVMValueRef fn = LLVMAddFunction(g->e.module, call->name, call_type(&g->e, call));
    unsigned function = LLVMAttributeFunctionIndex;
    gen_attribute(g, fn, function, "nounwind", 0);
    if (call->attributes & ADL_PURE) {
        gen_attribute(g, fn, function, "memory", COMPAT_MEMORY_NONE);
        gen_attribute(g, fn, function, "willreturn", 0);
    }
    if (call->attributes & ADL_FRESH) {
        gen_attribute(g, fn, LLVMAttributeReturnIndex, "noalias", 0);
        gen_attribute(g, fn, function, "memory", COMPAT_MEMORY_ARGS_HIDDEN);
        gen_attribute(g, fn, function, "willreturn", 0);
    }
    if (call->result == TOKEN_T_DATA && call->attributes & ADL_FRESH)
        gen_attribute(g, fn, LLVMAttributeReturnIndex, "align", ADL_ALIGNMENT);
    if (call->attributes & ADL_COLD) gen_attribute(g, fn, function, "cold", 0);
    return fn;
}

LLVMValueRef call_build(Gen *g, const RuntimeCall *call, LLVMValueRef *args, unsigned n) {
    LLVMValueRef fn = map_getp(&g->calls, call);
    if (!fn) {
        fn = declare(g, call);
        map_setp(&g->calls, call, fn);
    }
    return LLVMBuildCall2(g->e.b, call_type(&g->e, call), fn, args, n, "");
}

LLVMValueRef gen_runtime(Gen *g, const char *name, LLVMValueRef *args, unsigned n) {
    const RuntimeCall *call = call_find(name);
    if (!call) UNREACHABLE("no runtime function %s", name);
    return call_build(g, call, args, n);
}
