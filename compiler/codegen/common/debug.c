#include "codegen/common/debug.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

struct Debug {
    LLVMDIBuilderRef builder;
    LLVMContextRef context;
    const IrModule *ir;
    LLVMMetadataRef unit, type;
    Map files;     /* SourceFile to DIFile */
    Map functions; /* IrFunc to DISubprogram */
};

static LLVMMetadataRef file_of(Debug *debug, const SourceFile *file) {
    LLVMMetadataRef known = map_getp(&debug->files, file);
    if (known) return known;
    const char *path = file->path, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t folder = slash ? (size_t)(slash - path) : 0;
    known = LLVMDIBuilderCreateFile(debug->builder, name, strlen(name), folder ? path : ".",
                                    folder ? folder : 1);
    map_setp(&debug->files, file, known);
    return known;
}

static void module_flag(LLVMModuleRef module, LLVMContextRef context, const char *name,
                        unsigned value) {
    LLVMValueRef number = LLVMConstInt(LLVMInt32TypeInContext(context), value, false);
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(number));
}

Debug *debug_open(LLVMModuleRef module, LLVMContextRef context, const IrModule *ir,
                  const char *producer, bool optimised) {
    if (!ir->sources || !ir->sources->files.len) return NULL;
    Debug *debug = memory_zeroed(1, sizeof *debug);
    if (!producer) producer = "dslc";
    debug->builder = LLVMCreateDIBuilder(module);
    debug->context = context;
    debug->ir = ir;
    module_flag(module, context, "Debug Info Version", LLVMDebugMetadataVersion());
    module_flag(module, context, "Dwarf Version", 4);
    debug->unit = LLVMDIBuilderCreateCompileUnit(
        debug->builder, LLVMDWARFSourceLanguageC11, file_of(debug, ir->sources->files.at[0]),
        producer, strlen(producer), optimised, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, false,
        false, "", 0, "", 0);
    debug->type =
        LLVMDIBuilderCreateSubroutineType(debug->builder, NULL, NULL, 0, LLVMDIFlagZero);
    return debug;
}

void debug_close(Debug *debug) {
    if (!debug) return;
    LLVMDIBuilderFinalize(debug->builder);
    LLVMDisposeDIBuilder(debug->builder);
    map_free(&debug->files);
    map_free(&debug->functions);
    free(debug);
}

static unsigned line_of(const Debug *debug, Pos pos, unsigned *column) {
    const SourceFile *file = pos ? sources_file(debug->ir->sources, pos) : NULL;
    uint32_t line = 0, col = 0;
    if (file) source_line_col(file, pos, &line, &col);
    *column = col;
    return line;
}

void debug_function(Debug *debug, LLVMValueRef llvm, const IrFunc *func, const char *symbol) {
    static const char *const modes[] = {"", "jvp of ", "grad of ", "forward of ", "reverse of "};
    if (!debug) return;
    const IrFunc *named = func;
    while (named->deriv.mode != IR_DERIV_NONE && named->deriv.base && !named->pos)
        named = named->deriv.base;
    const SourceFile *file =
        named->pos ? sources_file(debug->ir->sources, named->pos) : debug->ir->sources->files.at[0];
    unsigned column, line = line_of(debug, named->pos, &column);
    char *name = NULL;
    if (func->deriv.mode != IR_DERIV_NONE && func->deriv.base)
        name = arena_printf(debug->ir->arena, "%s%s", modes[func->deriv.mode],
                            func->deriv.base->name);
    const char *shown = name ? name : func->name;
    LLVMMetadataRef where = file_of(debug, file);
    LLVMMetadataRef program = LLVMDIBuilderCreateFunction(
        debug->builder, where, shown, strlen(shown), symbol, strlen(symbol), where, line,
        debug->type, true, true, line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(llvm, program);
    map_setp(&debug->functions, func, program);
}

void debug_position(Debug *debug, LLVMBuilderRef builder, const IrFunc *func, Pos pos) {
    if (!debug) return;
    LLVMMetadataRef program = map_getp(&debug->functions, func);
    unsigned column, line = line_of(debug, pos ? pos : func->pos, &column);
    if (!program) return;
    LLVMSetCurrentDebugLocation2(
        builder, LLVMDIBuilderCreateDebugLocation(debug->context, line, column, program, NULL));
}

void debug_nowhere(Debug *debug, LLVMBuilderRef builder) {
    if (debug) LLVMSetCurrentDebugLocation2(builder, NULL);
}
