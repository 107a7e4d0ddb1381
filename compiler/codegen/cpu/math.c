/* Calls of scalar functions, with their vector versions in the C library. */
#include "codegen/cpu/gen.h"

#include <string.h>

#include "base/fatal.h"
#include "codegen/common/compat.h"

/* Functions of libmvec (glibc 2.35 and newer), without the f of float; arity. */
static const struct {
    const char *name;
    unsigned arity;
} vector_names[] = {
    {"acos", 1}, {"acosh", 1}, {"asin", 1},  {"asinh", 1}, {"atan", 1},  {"atan2", 2}, {"atanh", 1},
    {"cbrt", 1}, {"cos", 1},   {"cosh", 1},  {"erf", 1},   {"erfc", 1},  {"exp", 1},   {"exp10", 1},
    {"exp2", 1}, {"expm1", 1}, {"hypot", 2}, {"log", 1},   {"log10", 1}, {"log1p", 1}, {"log2", 1},
    {"pow", 2},  {"sin", 1},   {"sinh", 1},  {"tan", 1},   {"tanh", 1},
};

/* The arity of NAME's vector versions, 0 if there are none. */
static unsigned vector_arity(const char *name, bool single) {
    size_t len = strlen(name) - (single ? 1 : 0);
    for (size_t i = 0; i < sizeof vector_names / sizeof vector_names[0]; i++)
        if (strlen(vector_names[i].name) == len && strncmp(vector_names[i].name, name, len) == 0)
            return vector_names[i].arity;
    return 0;
}

static LLVMValueRef declare_vector(Gen *g, const char *name, LLVMTypeRef scalar, unsigned lanes,
                                   unsigned arity) {
    LLVMTypeRef vector = LLVMVectorType(scalar, lanes), params[] = {vector, vector};
    LLVMValueRef fn =
        LLVMAddFunction(g->e.module, name, LLVMFunctionType(vector, params, arity, false));
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "willreturn", 0);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "memory", COMPAT_MEMORY_NONE);
    return fn;
}

/* Declares the versions for all widths that the CPU has; the text of the call's attribute. */
static const char *vector_variants(Gen *g, const char *name, LLVMTypeRef scalar, bool single,
                                   unsigned arity) {
    static const struct {
        unsigned bits;
        char isa;
    } sets[] = {{128, 'b'}, {256, 'd'}, {512, 'e'}};
    StrBuf text = {0};
    for (size_t i = 0; i < 3 && sets[i].bits <= g->machine->vector_bits; i++) {
        unsigned lanes = sets[i].bits / (single ? 32 : 64);
        const char *args = arity == 2 ? "vv" : "v";
        char *symbol = arena_printf(g->plan->arena, "_ZGV%cN%u%s_%s", sets[i].isa, lanes, args, name);
        vec_push(&g->vector_functions, declare_vector(g, symbol, scalar, lanes, arity));
        strbuf_printf(&text, "%s_ZGV_LLVM_N%u%s_%s(%s)", i ? "," : "", lanes, args, name, symbol);
    }
    char *kept = arena_strndup(g->plan->arena, text.text, text.len);
    strbuf_free(&text);
    return kept;
}

static LLVMValueRef declare_scalar(Gen *g, const char *name, LLVMTypeRef type) {
    LLVMValueRef fn = LLVMAddFunction(g->e.module, name, type);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "willreturn", 0);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "memory", COMPAT_MEMORY_NONE);
    return fn;
}

LLVMValueRef gen_math_call(Emit *e, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                           unsigned n) {
    Gen *g = e->data;
    LLVMTypeRef params[3];
    if (gen_runtime_known(name)) return gen_runtime(g, name, args, n);
    for (unsigned i = 0; i < n; i++) params[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, params, n, false);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, name);
    bool single = result == e->f32;
    unsigned arity = g->machine->vector_bits && !g->options->scalar_math
                         ? vector_arity(name, single) : 0;
    if (!fn) fn = declare_scalar(g, name, type);
    LLVMValueRef call = LLVMBuildCall2(e->b, type, fn, args, n, "");
    if (!arity) return call;
    const char *variants = map_getp(&g->vector_names, fn);
    if (!variants) {
        variants = vector_variants(g, name, result, single, arity);
        map_setp(&g->vector_names, fn, (void *)(uintptr_t)variants);
    }
    static const char attribute[] = "vector-function-abi-variant";
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateStringAttribute(e->context, attribute, strlen(attribute),
                                                       variants, (unsigned)strlen(variants)));
    g->used_libm = true;
    return call;
}

/* Nothing calls them before the vectoriser runs. */
void gen_keep_vector_functions(Gen *g) {
    if (!g->vector_functions.len) return;
    LLVMValueRef list =
        LLVMConstArray2(g->e.ptr, g->vector_functions.at, g->vector_functions.len);
    LLVMValueRef used = LLVMAddGlobal(g->e.module, LLVMTypeOf(list), "llvm.compiler.used");
    LLVMSetInitializer(used, list);
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
}
