#include "codegen/common/machine.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

char *machine_text(const char *format, ...) {
    StrBuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    return text.text;
}

/* CPUs by the vectors they have, for those that are named and not looked at. */
static unsigned named_vector_bits(const char *cpu) {
    static const struct {
        const char *name;
        unsigned bits;
    } known[] = {
        {"x86-64-v4", 512},      {"skylake-avx512", 512}, {"cascadelake", 512},
        {"cooperlake", 512},     {"icelake-", 512},       {"tigerlake", 512},
        {"sapphirerapids", 512}, {"emeraldrapids", 512},  {"graniterapids", 512},
        {"rocketlake", 512},     {"znver4", 512},         {"znver5", 512},
        {"x86-64-v3", 256},      {"haswell", 256},        {"broadwell", 256},
        {"skylake", 256},        {"alderlake", 256},      {"raptorlake", 256},
        {"meteorlake", 256},     {"znver", 256},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(cpu, known[i].name, strlen(known[i].name)) == 0) return known[i].bits;
    return 128;
}

/* Does the list "+a,-b,..." have this FEATURE, with its sign? */
static bool says(const char *features, const char *feature) {
    size_t len = strlen(feature);
    for (const char *at = features; (at = strstr(at, feature)); at += len)
        if (at[len] == '\0' || at[len] == ',') return true;
    return false;
}

static unsigned vector_bits(const char *triple, const char *cpu, const char *features) {
    if (strncmp(triple, "x86_64", strlen("x86_64")) != 0 || !strstr(triple, "linux-gnu")) return 0;
    unsigned bits = named_vector_bits(cpu);
    if (says(features, "+avx2") && bits < 256) bits = 256;
    if (says(features, "+avx512f") && bits < 512) bits = 512;
    if (says(features, "-avx512f") && bits > 256) bits = 256;
    if (says(features, "-avx2")) bits = 128;
    return bits;
}

/* Each x86 with 256-bit integer vectors has it, all 64-bit ARM have. */
static bool has_fused(const char *triple, const char *cpu, const char *features) {
    if (strncmp(triple, "aarch64", strlen("aarch64")) == 0) return true;
    if (strncmp(triple, "x86_64", strlen("x86_64")) != 0 || says(features, "-fma")) return false;
    return says(features, "+fma") || named_vector_bits(cpu) >= 256;
}

static void initialise_target(void) {
    /* Idempotent. */
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
}

bool machine_open(Machine *machine, const CodegenOptions *options, char **error) {
    LLVMTargetRef target;
    char *text = NULL;
    initialise_target();
    machine->triple = LLVMGetDefaultTargetTriple();
    if (LLVMGetTargetFromTriple(machine->triple, &target, &text)) {
        *error = machine_text("no code can be made for %s: %s", machine->triple, text);
        LLVMDisposeMessage(text);
        LLVMDisposeMessage(machine->triple);
        return false;
    }
    bool native = options->cpu && strcmp(options->cpu, "native") == 0;
    char *cpu = native ? LLVMGetHostCPUName() : NULL;
    char *own = native ? LLVMGetHostCPUFeatures() : NULL;
    const char *name = cpu ? cpu : options->cpu ? options->cpu : "x86-64";
    if (strncmp(machine->triple, "x86_64", 6) != 0 && !options->cpu) name = "generic";
    machine->features = machine_text("%s%s%s", own ? own : "", own && options->features ? "," : "",
                                     options->features ? options->features : "");
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                 LLVMCodeGenLevelDefault,
                                                 LLVMCodeGenLevelAggressive};
    machine->target = LLVMCreateTargetMachine(
        target, machine->triple, name, machine->features, levels[options->opt_level],
        options->pic ? LLVMRelocPIC : LLVMRelocDefault, LLVMCodeModelDefault);
    machine->fused = has_fused(machine->triple, name, machine->features);
    machine->vector_bits = vector_bits(machine->triple, name, machine->features);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(own);
    if (machine->target) return true;
    *error = machine_text("no code can be made for the CPU %s of %s", name, machine->triple);
    LLVMDisposeMessage(machine->triple);
    free(machine->features);
    return false;
}

void machine_close(Machine *machine) {
    LLVMDisposeTargetMachine(machine->target);
    LLVMDisposeMessage(machine->triple);
    free(machine->features);
}

/* Marks what is defined here for a sanitizer; returns the passes that do its work. */
static const char *prepare_sanitizer(LLVMModuleRef module, int sanitize) {
    if (!sanitize) return "";
    bool thread = sanitize == CODEGEN_SANITIZE_THREAD;
    const char *name = thread ? "sanitize_thread" : "sanitize_address";
    LLVMAttributeRef mark = LLVMCreateEnumAttribute(
        LLVMGetModuleContext(module), LLVMGetEnumAttributeKindForName(name, strlen(name)), 0);
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn)) LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, mark);
    return thread ? ",tsan-module,function(tsan)" : ",asan";
}

/* Older libraries of the thread sanitizer have no entry of their own for these; all see the plain
   ones. */
static void plain_names(LLVMModuleRef module) {
    static const char *const names[][2] = {
        {"__tsan_memcpy", "memcpy"}, {"__tsan_memmove", "memmove"}, {"__tsan_memset", "memset"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        LLVMValueRef fn = LLVMGetNamedFunction(module, names[i][0]);
        LLVMValueRef plain = LLVMGetNamedFunction(module, names[i][1]);
        if (!fn) continue;
        if (plain) LLVMReplaceAllUsesWith(fn, plain);
        else LLVMSetValueName2(fn, names[i][1], strlen(names[i][1]));
    }
}

bool machine_optimise(const Machine *machine, LLVMModuleRef module, const CodegenOptions *options,
                      char **error) {
    static const char *const pipelines[] = {"default<O0>", "default<O1>", "default<O2>",
                                            "default<O3>"};
    LLVMPassBuilderOptionsRef passes = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetSLPVectorization(passes, options->opt_level >= 2);
    LLVMPassBuilderOptionsSetLoopVectorization(passes, options->opt_level >= 2);
    LLVMPassBuilderOptionsSetLoopInterleaving(passes, options->opt_level >= 2);
    char *all = machine_text("%s%s", pipelines[options->opt_level],
                             prepare_sanitizer(module, options->sanitize));
    LLVMErrorRef failed = LLVMRunPasses(module, all, machine->target, passes);
    free(all);
    LLVMDisposePassBuilderOptions(passes);
    plain_names(module);
    if (!failed) return true;
    char *text = LLVMGetErrorMessage(failed);
    *error = machine_text("%s", text);
    LLVMDisposeErrorMessage(text);
    return false;
}

bool machine_emit(const Machine *machine, LLVMModuleRef module, CodegenKind kind, StrBuf *out,
                  char **error) {
    char *text = NULL;
    LLVMMemoryBufferRef buffer;
    if (kind == CODEGEN_LLVM || kind == CODEGEN_LLVM_RAW) {
        text = LLVMPrintModuleToString(module);
        strbuf_add(out, text);
        LLVMDisposeMessage(text);
        return true;
    }
    LLVMCodeGenFileType type = kind == CODEGEN_ASSEMBLY ? LLVMAssemblyFile : LLVMObjectFile;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine->target, module, type, &text, &buffer)) {
        *error = machine_text("%s", text);
        LLVMDisposeMessage(text);
        return false;
    }
    strbuf_add_n(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return true;
}
