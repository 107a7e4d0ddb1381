/* What LLVM writes as PTX, on the simulator: kernels through LLVM's C API at -O0 and -O3, answers
   against C.  With libdevice, where the CUDA Toolkit is, also the functions of it. */
#include "tests/ptxsim/harness.h"
#include "tests/unit/unit.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from IR to PTX ---------------------------------------------------------------------------
 */

static LLVMTargetMachineRef make_machine(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMTargetRef target = NULL;
    char *message = NULL;
    ck_assert_msg(!LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &message), "%s",
                  message);
    return LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", "sm_75", "",
                                   LLVMCodeGenLevelDefault, LLVMRelocDefault, LLVMCodeModelDefault);
}

static LLVMModuleRef read_text(LLVMContextRef context, const char *text) {
    LLVMModuleRef module = NULL;
    char *message = NULL;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
    ck_assert_msg(!LLVMParseIRInContext(context, buffer, &module, &message), "%s", message);
    return module;
}

/* Adds what MODULE calls of libdevice. */
static void link_libdevice(LLVMContextRef context, LLVMModuleRef module, const char *path) {
    LLVMMemoryBufferRef buffer = NULL;
    LLVMModuleRef library = NULL;
    char *message = NULL;
    ck_assert_msg(!LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message), "%s",
                  message);
    ck_assert(!LLVMGetBitcodeModuleInContext2(context, buffer, &library));
    LLVMSetTarget(library, LLVMGetTarget(module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    ck_assert(!LLVMLinkModules2(module, library));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMLinkOnceODRLinkage)
            LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorOverride, "nvvm-reflect-ftz", 16,
                      LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), 0, 0)));
}

/* The PTX of TEXT, to be freed. */
static char *emit(const char *text, const char *passes, const char *libdevice) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = read_text(context, text);
    LLVMTargetMachineRef machine = make_machine();
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, "nvptx64-nvidia-cuda");
    if (libdevice) link_libdevice(context, module, libdevice);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
    ck_assert_msg(!error, "%s", error ? LLVMGetErrorMessage(error) : "");
    LLVMMemoryBufferRef out = NULL;
    char *message = NULL;
    ck_assert_msg(
        !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &message, &out),
        "%s", message);
    char *ptx = strndup(LLVMGetBufferStart(out), LLVMGetBufferSize(out));
    LLVMDisposeMemoryBuffer(out);
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return ptx;
}

static const char *const levels[] = {"default<O0>", "globaldce,default<O3>"};
enum { LEVELS = 2 };

/* Runs kernel k of TEXT at each level: x in place, on so many blocks and threads. */
static void run(const char *text, const char *libdevice, unsigned blocks, unsigned threads,
                const double *x, double *y, size_t count, void (*check)(const double *, size_t)) {
    for (int level = 0; level < LEVELS; level++) {
        char *ptx = emit(text, levels[level], libdevice);
        assemble(ptx, "sm_75");
        device_start();
        CUdeviceptr memory = device_copy(x, count * sizeof *x);
        CUresult state =
            device_run(device_kernel(device_load(ptx), "k"), blocks, threads, (void *[]){&memory});
        ck_assert_msg(state == CUDA_SUCCESS, "%s: %s\n%s", levels[level], ptxsim_message(), ptx);
        device_read(y, memory, count * sizeof *x);
        device_stop();
        check(y, count);
        free(ptx);
    }
}

#define HEAD                                                                                       \
    "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"                                               \
    "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n"                                              \
    "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"                                             \
    "declare void @llvm.nvvm.barrier0()\n"

#define INDEX                                                                                      \
    "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"                                             \
    "%b = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n"                                            \
    "%c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"                                           \
    "%m = mul i32 %b, %c\n%i32 = add i32 %m, %t\n%i = zext i32 %i32 to i64\n"                      \
    "%p = getelementptr double, ptr %x, i64 %i\n"

/* ---- kernels ----------------------------------------------------------------------------------
 */

static void check_sums(const double *y, size_t count) {
    for (size_t b = 0; b < count / 64; b++) {
        double sum = 0;
        for (size_t i = 0; i < 64; i++) sum += (double)(b * 64 + i);
        ck_assert_double_eq(y[b * 64], sum);
    }
}

/* The sum of a block by halves in shared memory: a loop round a barrier. */
START_TEST(block_sums) {
    static const char text[] = HEAD
        "@s = internal addrspace(3) global [64 x double] undef\n"
        "define ptx_kernel void @k(ptr %x) {\n" INDEX
        "%v = load double, ptr %p\n%t64 = zext i32 %t to i64\n"
        "%q = getelementptr double, ptr addrspace(3) @s, i64 %t64\n"
        "store double %v, ptr addrspace(3) %q\ncall void @llvm.nvvm.barrier0()\n"
        "br label %loop\nloop:\n%h = phi i32 [32, %0], [%h2, %next]\n"
        "%in = icmp ult i32 %t, %h\nbr i1 %in, label %add, label %next\n"
        "add:\n%o = add i32 %t, %h\n%o64 = zext i32 %o to i64\n"
        "%r = getelementptr double, ptr addrspace(3) @s, i64 %o64\n"
        "%a = load double, ptr addrspace(3) %q\n%e = load double, ptr addrspace(3) %r\n"
        "%sum = fadd double %a, %e\nstore double %sum, ptr addrspace(3) %q\nbr label %next\n"
        "next:\ncall void @llvm.nvvm.barrier0()\n%h2 = lshr i32 %h, 1\n"
        "%go = icmp ne i32 %h2, 0\nbr i1 %go, label %loop, label %out\n"
        "out:\n%first = icmp eq i32 %t, 0\nbr i1 %first, label %put, label %end\n"
        "put:\n%got = load double, ptr addrspace(3) @s\nstore double %got, ptr %p\nbr label %end\n"
        "end:\nret void\n}\n";
    double x[128], y[128];
    for (int i = 0; i < 128; i++) x[i] = i;
    run(text, NULL, 2, 64, x, y, 128, check_sums);
}
END_TEST

static void check_scatter(const double *y, size_t count) {
    double sum[4] = {0}, most = 0;
    for (size_t i = 0; i < 96; i++) sum[i % 3] += (double)i;
    most = 95;
    for (size_t i = 0; i < 3; i++) ck_assert_double_eq(y[i], sum[i]);
    ck_assert_double_eq(y[3], most);
    (void)count;
}

/* Adds into three cells, and the largest into a fourth. */
START_TEST(scattered_adds) {
    static const char text[] =
        HEAD "define ptx_kernel void @k(ptr %x) {\n" INDEX
             "%v = uitofp i64 %i to double\n%w = urem i64 %i, 3\n"
             "%q = getelementptr double, ptr %x, i64 %w\n"
             "%old = atomicrmw fadd ptr %q, double %v monotonic\n"
             "%r = getelementptr double, ptr %x, i64 3\n"
             "%o = atomicrmw fmax ptr %r, double %v monotonic\nret void\n}\n";
    double x[4] = {0}, y[4];
    run(text, NULL, 3, 32, x, y, 4, check_scatter);
}
END_TEST

static void check_mixed(const double *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double v = 0.25 * (double)i - 1.0, part[4] = {v, v * v, -v, 1.0 / 3.0};
        double expect = fma(part[i % 4], 2.0, floor(v)) + sqrt(fabs(v)) + (double)(int)(v * 3);
        switch (i % 5) {
        case 0: expect += 10; break;
        case 1: expect *= 3; break;
        case 2: expect = fmax(expect, 0.5); break;
        case 3: expect /= 7; break;
        default: break;
        }
        ck_assert_double_eq(y[i], expect);
    }
}

/* Calls, a local array, a switch, conversions and rounding. */
START_TEST(mixed_code) {
    static const char text[] = HEAD
        "declare double @llvm.sqrt.f64(double)\ndeclare double @llvm.floor.f64(double)\n"
        "declare double @llvm.fabs.f64(double)\ndeclare double @llvm.maxnum.f64(double, double)\n"
        "declare double @llvm.fma.f64(double, double, double)\n"
        "@table = internal addrspace(1) constant [2 x double] [double 2.0, double 7.0]\n"
        "define {double, i64} @pair(double %v, i64 %i) noinline {\n"
        "%f = call double @llvm.floor.f64(double %v)\n"
        "%a = insertvalue {double, i64} undef, double %f, 0\n%m = and i64 %i, 3\n"
        "%b = insertvalue {double, i64} %a, i64 %m, 1\nret {double, i64} %b\n}\n"
        "define ptx_kernel void @k(ptr %x) {\n" INDEX
        "%v = load double, ptr %p\n%parts = alloca [4 x double]\nstore double %v, ptr %parts\n"
        "%sq = fmul double %v, %v\n%p1 = getelementptr double, ptr %parts, i64 1\n"
        "store double %sq, ptr %p1\n%n = fneg double %v\n"
        "%p2 = getelementptr double, ptr %parts, i64 2\nstore double %n, ptr %p2\n"
        "%p3 = getelementptr double, ptr %parts, i64 3\n"
        "%third = fdiv double 1.0, 3.0\nstore double %third, ptr %p3\n"
        "%pair = call {double, i64} @pair(double %v, i64 %i)\n"
        "%fl = extractvalue {double, i64} %pair, 0\n%which = extractvalue {double, i64} %pair, 1\n"
        "%pw = getelementptr double, ptr %parts, i64 %which\n%w = load double, ptr %pw\n"
        "%two = load double, ptr addrspace(1) @table\n"
        "%e1 = call double @llvm.fma.f64(double %w, double %two, double %fl)\n"
        "%ab = call double @llvm.fabs.f64(double %v)\n%rt = call double @llvm.sqrt.f64(double "
        "%ab)\n"
        "%e2 = fadd double %e1, %rt\n%v3 = fmul double %v, 3.0\n%int = fptosi double %v3 to i32\n"
        "%back = sitofp i32 %int to double\n%e3 = fadd double %e2, %back\n%five = urem i64 %i, 5\n"
        "switch i64 %five, label %out [i64 0, label %c0 i64 1, label %c1 i64 2, label %c2\n"
        "i64 3, label %c3]\n"
        "c0:\n%g0 = fadd double %e3, 10.0\nbr label %out\n"
        "c1:\n%g1 = fmul double %e3, 3.0\nbr label %out\n"
        "c2:\n%g2 = call double @llvm.maxnum.f64(double %e3, double 0.5)\nbr label %out\n"
        "c3:\n%seven = load double, ptr addrspace(1) getelementptr (double, ptr addrspace(1) "
        "@table,"
        " i64 1)\n%g3 = fdiv double %e3, %seven\nbr label %out\n"
        "out:\n%r = phi double [%e3, %0], [%g0, %c0], [%g1, %c1], [%g2, %c2], [%g3, %c3]\n"
        "store double %r, ptr %p\nret void\n}\n";
    double x[40], y[40];
    for (int i = 0; i < 40; i++) x[i] = 0.25 * i - 1.0;
    run(text, NULL, 5, 8, x, y, 40, check_mixed);
}
END_TEST

/* ---- libdevice --------------------------------------------------------------------------------
 */

typedef double Function(double);
static double c_lgamma(double x) {
    return lgamma(x);
}

static const struct {
    const char *name;
    Function *function;
    double from, to, ulp;
} functions[] = {
    {"exp", exp, -700, 700, 1},     {"exp2", exp2, -1000, 1000, 1},
    {"expm1", expm1, -30, 30, 2},   {"log", log, 1e-300, 1e3, 1},
    {"log2", log2, 1e-3, 1e3, 2},   {"log1p", log1p, -0.9, 50, 2},
    {"sin", sin, -1e5, 1e5, 2},     {"cos", cos, -1e5, 1e5, 2},
    {"tan", tan, -50, 50, 3},       {"asin", asin, -1, 1, 2},
    {"acos", acos, -1, 1, 2},       {"atan", atan, -50, 50, 2},
    {"sinh", sinh, -20, 20, 3},     {"cosh", cosh, -20, 20, 2},
    {"tanh", tanh, -5, 5, 2},       {"asinh", asinh, -50, 50, 3},
    {"acosh", acosh, 1, 50, 3},     {"atanh", atanh, -0.99, 0.99, 3},
    {"erf", erf, -3, 3, 2},         {"erfc", erfc, -3, 10, 5},
    {"cbrt", cbrt, -50, 50, 2},     {"tgamma", tgamma, 0.1, 20, 10},
    {"lgamma", c_lgamma, 3, 50, 5},
};
static size_t current;

static double input_of(size_t i, size_t count) {
    return functions[current].from +
           (functions[current].to - functions[current].from) * ((double)i + 0.5) / (double)count;
}

static void check_function(const double *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double x = input_of(i, count), expect = functions[current].function(x);
        double unit = fabs(nextafter(expect, HUGE_VAL) - expect);
        ck_assert_msg(fabs(y[i] - expect) <= functions[current].ulp * unit,
                      "%s(%.17g) is %.17g, not %.17g", functions[current].name, x, y[i], expect);
    }
}

START_TEST(functions_of_libdevice) {
    enum { COUNT = 64 };
    const char *cuda = getenv("CUDA_DIR");
    char path[1024], text[2048];
    if (!cuda || !*cuda) return;
    snprintf(path, sizeof path, "%s/nvvm/libdevice/libdevice.10.bc", cuda);
    for (current = 0; current < sizeof functions / sizeof *functions; current++) {
        double x[COUNT], y[COUNT];
        for (size_t i = 0; i < COUNT; i++) x[i] = input_of(i, COUNT);
        snprintf(text, sizeof text,
                 HEAD "declare double @__nv_%s(double)\n"
                      "define ptx_kernel void @k(ptr %%x) {\n"
                      "%%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                      "%%p = getelementptr double, ptr %%x, i32 %%t\n%%v = load double, ptr %%p\n"
                      "%%r = call double @__nv_%s(double %%v)\nstore double %%r, ptr %%p\n"
                      "ret void\n}\n",
                 functions[current].name, functions[current].name);
        run(text, path, 1, COUNT, x, y, COUNT, check_function);
    }
}
END_TEST

UNIT_MAIN("ptxsim-llvm", block_sums, scattered_adds, mixed_code, functions_of_libdevice)
