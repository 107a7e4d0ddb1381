/* Entries: a kernel's function as PTX.

   An entry's parameters are its extents, one i64 for each index, then what the C interface has: the
   sizes, then the parameters in order, arrays as pointers to device memory.  It is launched on a
   grid whose blocks cover the extents, the last index along x, the one before along y. */
#include "codegen/ptx/gen.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Error.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"
#include "ir/export.h"

enum { PTX_KERNEL = 71 };

void ptx_refuse(Ptx *g, const char *format, ...) {
    if (*g->error) return;
    StrBuf text = {0};
    const SourceFile *file = g->whole ? NULL : sources_file(g->ir->sources, g->pos);
    if (file) {
        uint32_t line, column;
        source_line_col(file, g->pos, &line, &column);
        strbuf_printf(&text, "%s:%u:%u: ", file->display, line, column);
    }
    if (!g->whole) strbuf_add(&text, "a kernel on a device cannot have this yet: ");
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    *g->error = text.text;
}

/* ---- functions of libdevice ---- */

static LLVMValueRef call_device(Emit *e, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                                unsigned n) {
    static const char *const known[] = {
        "acos", "acosh", "asin", "asinh", "atan",   "atan2",  "atanh", "cbrt",
        "cos",  "cosh",  "erf",  "erfc",  "exp",    "exp10",  "exp2",  "expm1",
        "fmod", "hypot", "log",  "log10", "log1p",  "log2",   "pow",   "remainder",
        "sin",  "sinh",  "tan",  "tanh",  "tgamma", "lgamma",
    };
    Ptx *g = e->data;
    LLVMValueRef written_out = ptx_written_out(g, name, result, args);
    if (written_out) return written_out;
    bool single = result == e->f32;
    size_t len = strlen(name) - (single ? 1 : 0), i = 0;
    if (strncmp(name, "adl__lgamma_", 12) == 0) {
        name = single ? "lgammaf" : "lgamma";
        len = 6;
    }
    while (i < sizeof known / sizeof *known &&
           (strlen(known[i]) != len || strncmp(known[i], name, len) != 0))
        i++;
    LLVMTypeRef types[3];
    CHECK_INTERNAL(n <= 3);
    for (unsigned k = 0; k < n; k++) types[k] = LLVMTypeOf(args[k]);
    if (i == sizeof known / sizeof *known) {
        ptx_refuse(g, "the function %s", name);
        return LLVMGetUndef(result);
    }
    char device[48];
    snprintf(device, sizeof device, "__nv_%s", name);
    g->missing = known[i];
    LLVMTypeRef type = LLVMFunctionType(result, types, n, false);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, device);
    if (!fn) fn = LLVMAddFunction(e->module, device, type);
    return LLVMBuildCall2(e->b, type, fn, args, n, "");
}

/* Only what is called is read of the file. */
static bool link_libdevice(Ptx *g) {
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef library, module = g->e.module;
    char *text = NULL;
    if (!g->missing) return true;
    if (!g->options->libdevice) {
        *g->error = machine_text("`%s` on a device needs libdevice of the CUDA Toolkit, which was "
                                 "not there when dslc was configured (--with-cuda=DIR)",
                                 g->missing);
        return false;
    }
    if (LLVMCreateMemoryBufferWithContentsOfFile(g->options->libdevice, &buffer, &text)) {
        *g->error = machine_text("%s: %s", g->options->libdevice, text);
        LLVMDisposeMessage(text);
        return false;
    }
    if (LLVMGetBitcodeModuleInContext2(g->e.context, buffer, &library)) {
        *g->error = machine_text("%s is no bitcode", g->options->libdevice);
        LLVMDisposeMemoryBuffer(buffer);
        return false;
    }
    LLVMSetTarget(library, LLVMGetTarget(module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    if (LLVMLinkModules2(module, library)) {
        *g->error = machine_text("%s cannot be linked", g->options->libdevice);
        return false;
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (LLVMGetLinkage(f) == LLVMLinkOnceODRLinkage) LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorOverride, "nvvm-reflect-ftz", 16,
                      LLVMValueAsMetadata(emit_int32(&g->e, 0)));
    return true;
}

/* ---- entries ---- */

static bool ends_in(const char *name, const char *suffix) {
    size_t len = strlen(name), n = strlen(suffix);
    return len > n && strcmp(name + len - n, suffix) == 0;
}

static LLVMTypeRef param_type(const Ptx *g, const IrCParam *param) {
    bool pointer = param->kind == IR_C_ARRAY || param->kind == IR_C_MUT;
    if (param->kind == IR_C_SIZE) return g->e.i64;
    if (param->kind == IR_C_OUT) return g->e.ptr;
    return pointer ? g->e.ptr : emit_memory_type(&g->e, param->type->scalar);
}

/* Which of the ranges' parts PARAM is: its end is an extent; it begins at 0 in blocks of any size.
 */
typedef enum Range { NO_RANGE, RANGE_END, RANGE_REST } Range;
static Range range_part(const IrCParam *param) {
    if (ends_in(param->name, ".end")) return RANGE_END;
    return strchr(param->name, '.') ? RANGE_REST : NO_RANGE;
}

void ptx_make_entry(Ptx *g, LLVMValueRef fn, int limit) {
    Emit *e = &g->e;
    char text[16];
    snprintf(text, sizeof text, "%d", limit);
    LLVMSetFunctionCallConv(fn, PTX_KERNEL);
    LLVMAddTargetDependentFunctionAttr(fn, "nvvm.maxntid", text);
    /* The same for LLVM 19. */
    LLVMMetadataRef row[] = {LLVMValueAsMetadata(fn),
                             LLVMMDStringInContext2(e->context, "maxntidx", 8),
                             LLVMValueAsMetadata(emit_int32(e, limit))};
    LLVMAddNamedMetadataOperand(
        e->module, "nvvm.annotations",
        LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, row, 3)));
}

void ptx_mark(const Ptx *g, unsigned param, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(g->entry, param + 1, LLVMCreateEnumAttribute(g->e.context, kind, 0));
}

static LLVMValueRef size_of_dim(Ptx *g, const IrExport *export, const IrCDim *dim,
                                const unsigned *places) {
    if (dim->constant >= 0) return gen_int(&g->e, dim->constant);
    if (dim->place < 0 || range_part(&export->params[dim->place]) != NO_RANGE) {
        ptx_refuse(g, "a parameter of the size %s", dim->text);
        return gen_int(&g->e, 0);
    }
    LLVMValueRef size = LLVMGetParam(g->entry, places[dim->place]);
    return LLVMTypeOf(size) == g->e.i64 ? size : LLVMBuildSExt(g->e.b, size, g->e.i64, "");
}

static void gen_entry(Ptx *g, const IrExport *export) {
    Emit *e = &g->e;
    const IrFunc *func = export->func;
    uint32_t n = export->nparams, count = 0;
    LLVMTypeRef *types = ARENA_ARRAY(g->arena, LLVMTypeRef, n + 1);
    unsigned *places = ARENA_ARRAY(g->arena, unsigned, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (range_part(&export->params[i]) == RANGE_END) {
            places[i] = count;
            types[count++] = e->i64;
        }
    g->rank = count;
    for (uint32_t i = 0; i < n; i++)
        if (range_part(&export->params[i]) == NO_RANGE) {
            places[i] = count;
            types[count++] = param_type(g, &export->params[i]);
        }
    g->pos = export->pos;
    g->scope = NULL;
    g->trap = NULL;
    g->entry =
        LLVMAddFunction(e->module, export->name, LLVMFunctionType(e->none, types, count, false));
    ptx_make_entry(g, g->entry, PTX_LARGEST_BLOCK);
    LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->context, g->entry, ""));
    Val *args = ARENA_ARRAY(g->arena, Val, func->nparams + 1);
    Val *results = ARENA_ARRAY(g->arena, Val, func->nresults + 1);
    for (uint32_t i = 0; i < n; i++) {
        const IrCParam *param = &export->params[i];
        if (param->param < 0) continue;
        Val *arg = &args[param->param];
        LLVMValueRef given = LLVMGetParam(g->entry, places[i]);
        if (range_part(param) == RANGE_REST) {
            arg->at = gen_int(e, 0);
        } else if (param->type->kind == IR_T_ARRAY) {
            LLVMValueRef open[IR_MAX_RANK];
            for (uint32_t k = 0, at = 0; k < param->rank; k++)
                if (param->type->dims[k] < 0)
                    open[at++] = size_of_dim(g, export, &param->dims[k], places);
            *arg = ptx_array(g, given, param->type, open, false);
            if (param->kind == IR_C_ARRAY) arg->root->kind = ROOT_CONST;
            ptx_mark(g, places[i], "noalias");
        } else if (param->kind == IR_C_SCALAR) {
            arg->at = emit_from_memory(e, param->type->scalar, given);
        } else {
            ptx_refuse(g, "the parameter %s", param->name);
        }
    }
    if (*g->error) return;
    ptx_inline(g, NULL, func, args, results);
    if (*g->error) return;
    uint32_t nresults = 0;
    LLVMValueRef *at = ARENA_ARRAY(g->arena, LLVMValueRef, n + 1);
    LLVMValueRef *values = ARENA_ARRAY(g->arena, LLVMValueRef, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const IrCParam *param = &export->params[i];
        if (param->kind == IR_C_ARRAY && !args[param->param].root->written)
            ptx_mark(g, places[i], "readonly");
        if (param->kind == IR_C_MUT && results[param->result].root != args[param->param].root)
            ptx_refuse(g, "%s ends as another array", param->name);
        if (param->kind != IR_C_OUT) continue;
        at[nresults] = LLVMGetParam(g->entry, places[i]);
        values[nresults++] = results[param->result].at;
    }
    ptx_leave(g);
    ptx_add_results(g, nresults, at, values);
    LLVMBuildRetVoid(e->b);
    ptx_settle_additions(g);
    if (!g->trap) return;
    LLVMPositionBuilderAtEnd(e->b, g->trap);
    emit_intrinsic(e, "llvm.trap", NULL, NULL, 0);
    LLVMBuildUnreachable(e->b);
}

/* ---- the module ---- */

static LLVMTargetMachineRef open_machine(const char *cpu, char **error) {
    LLVMTargetRef target;
    char *text = NULL;
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &text)) {
        *error = machine_text("this LLVM makes no PTX: %s", text);
        LLVMDisposeMessage(text);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", cpu, "",
                                   LLVMCodeGenLevelAggressive, LLVMRelocDefault,
                                   LLVMCodeModelDefault);
}

/* What is not optimised at all keeps everything in memory, which is no faster to compile. */
static bool optimise(Ptx *g) {
    LLVMPassBuilderOptionsRef passes = LLVMCreatePassBuilderOptions();
    const char *all = "globaldce,default<O3>", *few = "globaldce,default<O1>";
    LLVMErrorRef failed =
        LLVMRunPasses(g->e.module, g->options->opt_level > 0 ? all : few, g->target, passes);
    LLVMDisposePassBuilderOptions(passes);
    if (!failed) return true;
    char *text = LLVMGetErrorMessage(failed);
    *g->error = machine_text("%s", text);
    LLVMDisposeErrorMessage(text);
    return false;
}

static bool is_valid(Ptx *g) {
    char *text = NULL;
    if (!g->options->verify) return true;
    if (LLVMVerifyModule(g->e.module, LLVMReturnStatusAction, &text))
        *g->error = machine_text("the generated code is invalid: %s", text);
    LLVMDisposeMessage(text);
    return !*g->error;
}

bool ptx_finish(Ptx *g, StrBuf *out) {
    if (*g->error || !is_valid(g) || !link_libdevice(g) || !optimise(g)) return false;
    Machine machine = {.target = g->target};
    return machine_emit(&machine, g->e.module, CODEGEN_ASSEMBLY, out, g->error);
}

bool ptx_open(Ptx *g, const IrModule *ir, const CodegenOptions *options, char **error) {
    LLVMTargetMachineRef target = open_machine(options->device, error);
    if (!target) return false;
    *g =
        (Ptx){.ir = ir, .options = options, .arena = arena_new(), .target = target, .error = error};
    g->plan = mem_plan(ir);
    *error = NULL;
    emit_init(&g->e, LLVMContextCreate(), "adl");
    g->e.fast_math = options->fast_math;
    g->e.fused = ir->fused;
    g->e.call = call_device;
    g->e.data = g;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(target);
    LLVMSetTarget(g->e.module, "nvptx64-nvidia-cuda");
    LLVMSetModuleDataLayout(g->e.module, layout);
    LLVMDisposeTargetData(layout);
    return true;
}

void ptx_close(Ptx *g) {
    ptx_settle_additions(g);
    vec_free(&g->tapes);
    LLVMDisposeBuilder(g->e.b);
    LLVMDisposeModule(g->e.module);
    LLVMContextDispose(g->e.context);
    LLVMDisposeTargetMachine(g->target);
    mem_plan_free(g->plan);
    arena_free(g->arena);
}

bool ptx_emit(const IrModule *ir, const CodegenOptions *options, StrBuf *out, char **error) {
    Ptx g;
    if (!ptx_open(&g, ir, options, error)) return false;
    for (uint32_t i = 0; i < ir->exports.len && !*error; i++) gen_entry(&g, ir->exports.at[i]);
    bool ok = ptx_finish(&g, out);
    ptx_close(&g);
    return ok && !*error;
}
