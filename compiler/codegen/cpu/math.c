/* Calls of scalar functions.

   A function gives the same bits wherever it stands, in a vectorised loop, in its rest, or alone.
   So where the C library has a vector version, that one is called always, and in one width only
   (widths differ in the last bit): a single call goes to a function of ours that fills a vector
   with the argument, and the vectoriser is told that the vector version is this function's.  Other
   functions are called where they stand: LLVM computes no calls itself, whose tanhf(0.3f) is not
   the C library's. */
#include "codegen/cpu/gen.h"

#include <stdio.h>
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

static void mark_plain(Gen *g, LLVMValueRef fn) {
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "willreturn", 0);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "memory", COMPAT_MEMORY_NONE);
}

static LLVMValueRef declare_vector(Gen *g, const char *name, LLVMTypeRef scalar, unsigned lanes,
                                   unsigned arity) {
    LLVMTypeRef vector = LLVMVectorType(scalar, lanes), params[] = {vector, vector};
    LLVMValueRef fn =
        LLVMAddFunction(g->e.module, name, LLVMFunctionType(vector, params, arity, false));
    mark_plain(g, fn);
    return fn;
}

/* The lanes of the CPU's widest vectors, and the letter for them in the names of the versions. */
static unsigned widest(const Gen *g, bool single, char *isa) {
    unsigned bits = g->machine->vector_bits;
    *isa = bits >= 512 ? 'e' : bits >= 256 ? 'd' : 'b';
    return bits / (single ? 32 : 64);
}

/* ours(x) = first lane of version((x, x, ...)). */
static void define_by_vector(Gen *g, LLVMValueRef ours, LLVMValueRef version, unsigned lanes,
                             unsigned arity) {
    LLVMContextRef context = g->e.context;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, ours, "entry"));
    LLVMTypeRef type = LLVMGlobalGetValueType(version), params[2];
    LLVMGetParamTypes(type, params);
    LLVMValueRef args[2], zero = LLVMConstInt(g->e.i32, 0, false);
    for (unsigned i = 0; i < arity; i++) {
        args[i] = LLVMGetUndef(params[i]);
        for (unsigned k = 0; k < lanes; k++)
            args[i] = LLVMBuildInsertElement(b, args[i], LLVMGetParam(ours, i),
                                             LLVMConstInt(g->e.i32, k, false), "");
    }
    LLVMValueRef all = LLVMBuildCall2(b, type, version, args, arity, "");
    LLVMBuildRet(b, LLVMBuildExtractElement(b, all, zero, ""));
    LLVMDisposeBuilder(b);
}

/* Our function for NAME, and in *VARIANT the attribute of its calls. */
static LLVMValueRef vector_function(Gen *g, const char *name, LLVMTypeRef type, bool single,
                                    unsigned arity, const char **variant) {
    char isa;
    unsigned lanes = widest(g, single, &isa);
    const char *args = arity == 2 ? "vv" : "v";
    char *own = arena_printf(g->plan->arena, "adlm.%s", name); /* functions are adl.NAME */
    char *symbol = arena_printf(g->plan->arena, "_ZGV%cN%u%s_%s", isa, lanes, args, name);
    *variant = arena_printf(g->plan->arena, "_ZGV_LLVM_N%u%s_%s(%s)", lanes, args, own, symbol);
    LLVMValueRef fn = LLVMGetNamedFunction(g->e.module, own);
    if (fn) return fn;
    LLVMValueRef version = declare_vector(g, symbol, LLVMGetReturnType(type), lanes, arity);
    vec_push(&g->vector_functions, version);
    fn = LLVMAddFunction(g->e.module, own, type);
    mark_plain(g, fn);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "noinline", 0);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    define_by_vector(g, fn, version, lanes, arity);
    return fn;
}

static void mark_call(LLVMValueRef call, LLVMAttributeRef attribute) {
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, attribute);
}

/* A call of which LLVM knows nothing. */
static LLVMValueRef plain_call(Gen *g, LLVMTypeRef type, LLVMValueRef fn, LLVMValueRef *args,
                               unsigned n) {
    static const char name[] = "nobuiltin";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMValueRef call = LLVMBuildCall2(g->e.b, type, fn, args, n, "");
    if (!g->options->fast_math) mark_call(call, LLVMCreateEnumAttribute(g->e.context, kind, 0));
    return call;
}

static LLVMValueRef declare_scalar(Gen *g, const char *name, LLVMTypeRef type) {
    LLVMValueRef fn = LLVMAddFunction(g->e.module, name, type);
    mark_plain(g, fn);
    return fn;
}

LLVMValueRef gen_math_call(Emit *e, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                           unsigned n) {
    Gen *g = e->data;
    LLVMTypeRef params[3];
    if (gen_runtime_known(name)) return gen_runtime(g, name, args, n);
    for (unsigned i = 0; i < n; i++) params[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, params, n, false);
    bool single = result == e->f32;
    unsigned arity =
        g->machine->vector_bits && !g->options->scalar_math ? vector_arity(name, single) : 0;
    if (!arity) {
        LLVMValueRef fn = LLVMGetNamedFunction(e->module, name);
        if (!fn) fn = declare_scalar(g, name, type);
        return plain_call(g, type, fn, args, n);
    }
    const char *variant;
    LLVMValueRef fn = vector_function(g, name, type, single, arity, &variant);
    LLVMValueRef call = LLVMBuildCall2(e->b, type, fn, args, n, "");
    static const char attribute[] = "vector-function-abi-variant";
    mark_call(call, LLVMCreateStringAttribute(e->context, attribute, strlen(attribute), variant,
                                              (unsigned)strlen(variant)));
    g->used_libm = true;
    return call;
}

/* The vectoriser must choose the width of the versions that there are. */
static void prefer_width(Gen *g) {
    static const char name[] = "prefer-vector-width";
    char bits[16];
    snprintf(bits, sizeof bits, "%u", g->machine->vector_bits);
    LLVMAttributeRef attribute =
        LLVMCreateStringAttribute(g->e.context, name, strlen(name), bits, (unsigned)strlen(bits));
    for (LLVMValueRef fn = LLVMGetFirstFunction(g->e.module); fn; fn = LLVMGetNextFunction(fn))
        if (LLVMCountBasicBlocks(fn))
            LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, attribute);
}

/* Nothing calls them before the vectoriser runs. */
void gen_keep_vector_functions(Gen *g) {
    if (g->vector_functions.len) prefer_width(g);
    if (g->carried) vec_push(&g->vector_functions, g->carried);
    if (!g->vector_functions.len) return;
    LLVMValueRef list = LLVMConstArray2(g->e.ptr, g->vector_functions.at, g->vector_functions.len);
    LLVMValueRef used = LLVMAddGlobal(g->e.module, LLVMTypeOf(list), "llvm.compiler.used");
    LLVMSetInitializer(used, list);
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
}
