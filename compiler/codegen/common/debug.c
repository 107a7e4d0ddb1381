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
    Map scopes; /* a subprogram and another file to a scope of code that was inlined from there */
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
    debug->type = LLVMDIBuilderCreateSubroutineType(debug->builder, NULL, NULL, 0, LLVMDIFlagZero);
    return debug;
}

void debug_close(Debug *debug) {
    if (!debug) return;
    LLVMDIBuilderFinalize(debug->builder);
    LLVMDisposeDIBuilder(debug->builder);
    map_free(&debug->files);
    map_free(&debug->functions);
    map_free(&debug->scopes);
    free(debug);
}

static unsigned line_of(const Debug *debug, Pos pos, unsigned *column) {
    const SourceFile *file = pos ? sources_file(debug->ir->sources, pos) : NULL;
    uint32_t line = 0, col = 0;
    if (file) source_line_col(file, pos, &line, &col);
    *column = col;
    return line;
}

/* The function that FUNC stands for in the source, and its file. */
static const IrFunc *written_as(const IrFunc *func) {
    while (func->deriv.mode != IR_DERIV_NONE && func->deriv.base && !func->pos)
        func = func->deriv.base;
    return func;
}

static const SourceFile *home_of(const Debug *debug, const IrFunc *func) {
    func = written_as(func);
    return func->pos ? sources_file(debug->ir->sources, func->pos)
                     : debug->ir->sources->files.at[0];
}

void debug_function(Debug *debug, LLVMValueRef llvm, const IrFunc *func) {
    static const char *const modes[] = {"", "jvp of ", "grad of ", "forward of ", "reverse of "};
    if (!debug) return;
    const SourceFile *file = home_of(debug, func);
    unsigned column, line = line_of(debug, written_as(func)->pos, &column);
    char *name = NULL;
    if (func->deriv.mode != IR_DERIV_NONE && func->deriv.base)
        name =
            arena_printf(debug->ir->arena, "%s%s", modes[func->deriv.mode], func->deriv.base->name);
    const char *shown = name ? name : func->name;
    LLVMMetadataRef where = file_of(debug, file);
    LLVMMetadataRef program =
        LLVMDIBuilderCreateFunction(debug->builder, where, shown, strlen(shown), NULL, 0, where,
                                    line, debug->type, true, true, line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(llvm, program);
    map_setp(&debug->functions, func, program);
}

void debug_back(Debug *debug, LLVMValueRef llvm, const IrFunc *func) {
    if (debug) map_setp(&debug->functions, func, LLVMGetSubprogram(llvm));
}

static LLVMMetadataRef scope_of(Debug *debug, const IrFunc *func, LLVMMetadataRef program,
                                Pos pos) {
    const SourceFile *file = pos ? sources_file(debug->ir->sources, pos) : NULL;
    if (!file || file == home_of(debug, func)) return program;
    uint64_t key = hash_mix((uint64_t)(uintptr_t)program, (uint64_t)(uintptr_t)file);
    LLVMMetadataRef scope = map_get(&debug->scopes, key);
    if (scope) return scope;
    scope = LLVMDIBuilderCreateLexicalBlockFile(debug->builder, program, file_of(debug, file), 0);
    map_set(&debug->scopes, key, scope);
    return scope;
}

void debug_position(Debug *debug, LLVMBuilderRef builder, const IrFunc *func, Pos pos) {
    if (!debug) return;
    LLVMMetadataRef program = map_getp(&debug->functions, func);
    if (!pos) pos = func->pos;
    unsigned column, line = line_of(debug, pos, &column);
    if (!program) return;
    LLVMSetCurrentDebugLocation2(
        builder, LLVMDIBuilderCreateDebugLocation(debug->context, line, column,
                                                  scope_of(debug, func, program, pos), NULL));
}

void debug_nowhere(Debug *debug, LLVMBuilderRef builder) {
    if (debug) LLVMSetCurrentDebugLocation2(builder, NULL);
}
