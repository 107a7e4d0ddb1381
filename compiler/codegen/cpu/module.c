/* The LLVM module as a whole: constants, the runtime's functions, attributes, the order of work. */
#include "codegen/cpu/gen.h"

#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"
#include "codegen/common/compat.h"
#include "codegen/cpu/device.h"
#include "codegen/cpu/generate.h"
#include "ir/export.h"

LLVMBasicBlockRef gen_block(Fn *f, const char *name) {
    return LLVMAppendBasicBlockInContext(f->e->context, f->llvm, name);
}

/* ---- attributes ---- */

void gen_attribute(Gen *g, LLVMValueRef fn, unsigned index, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    CHECK_INTERNAL(kind != 0);
    LLVMAddAttributeAtIndex(fn, index, LLVMCreateEnumAttribute(g->e.context, kind, value));
}

/* ---- constants ---- */

LLVMValueRef gen_constant(Gen *g, LLVMValueRef value, const char *name) {
    LLVMValueRef global = LLVMAddGlobal(g->e.module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return global;
}

LLVMValueRef gen_text(Gen *g, const char *text, size_t len) {
    uint64_t key = hash_bytes(text, len);
    LLVMValueRef known = map_get(&g->texts, key);
    if (known) return known;
    LLVMValueRef bytes = LLVMConstStringInContext2(g->e.context, text, len, false);
    known = gen_constant(g, bytes, "text");
    map_set(&g->texts, key, known);
    return known;
}

LLVMValueRef gen_site_value(Gen *g, const char *name, Pos pos) {
    const SourceFile *file = pos && g->ir->sources ? sources_file(g->ir->sources, pos) : NULL;
    uint32_t line = 0, column = 0;
    if (file) source_line_col(file, pos, &line, &column);
    bool library = file && file->library;
    LLVMValueRef fields[] = {file ? gen_text(g, file->display, strlen(file->display))
                                  : emit_null(&g->e),
                             gen_text(g, name, strlen(name)),
                             emit_int32(&g->e, (int32_t)line),
                             emit_int32(&g->e, (int32_t)column),
                             emit_int32(&g->e, library),
                             emit_int32(&g->e, 0)};
    return LLVMConstStructInContext(g->e.context, fields, 6, false);
}

LLVMValueRef gen_site(Gen *g, const IrFunc *func, Pos pos) {
    uint64_t key = hash_mix(func->id, pos);
    LLVMValueRef known = map_get(&g->sites, key);
    if (known) return known;
    const IrFunc *named = func;
    while (named->deriv.mode != IR_DERIV_NONE && named->deriv.base) named = named->deriv.base;
    known = gen_constant(g, gen_site_value(g, named->name, pos ? pos : func->pos), "site");
    map_set(&g->sites, key, known);
    return known;
}

/* ---- functions ---- */

LLVMValueRef gen_helper(Gen *g, const char *name, LLVMTypeRef type, bool *fresh) {
    LLVMValueRef fn = LLVMGetNamedFunction(g->e.module, name);
    *fresh = !fn;
    if (fn) return fn;
    fn = LLVMAddFunction(g->e.module, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    return fn;
}

static void declare_extern(Gen *g, const IrFunc *func) {
    const char *symbol = func->symbol ? func->symbol : func->name;
    LLVMTypeRef type = gen_func_type(g, func);
    LLVMValueRef fn = LLVMGetNamedFunction(g->e.module, symbol);
    if (!fn) fn = LLVMAddFunction(g->e.module, symbol, type);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    g->funcs[func->id] = fn;
    g->func_types[func->id] = type;
}

static void declare_func(Gen *g, const IrFunc *func) {
    StrBuf name = {0};
    if (func->flags & IR_FUNC_EXTERN) {
        if (!(func->flags & IR_FUNC_OPEN)) declare_extern(g, func);
        return;
    }
    if (!func->body) return;
    strbuf_printf(&name, "adl.%s", func->name);
    LLVMTypeRef type = gen_func_type(g, func);
    LLVMValueRef fn = LLVMAddFunction(g->e.module, name.text, type);
    strbuf_free(&name);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    gen_attribute(g, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    g->funcs[func->id] = fn;
    g->func_types[func->id] = type;
}

static unsigned metadata_kind(LLVMContextRef context, const char *name) {
    return LLVMGetMDKindIDInContext(context, name, (unsigned)strlen(name));
}

/* The driver's choice of what to say stays the driver's. */
static void swallow(LLVMDiagnosticInfoRef info, void *context) {
    char **error = context;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || *error) return;
    char *text = LLVMGetDiagInfoDescription(info);
    *error = machine_text("%s", text);
    LLVMDisposeMessage(text);
}

/* ---- recursion ---- */

typedef enum Visit { UNSEEN, OPEN, DONE } Visit;
typedef struct Cycles {
    Gen *g;
    uint8_t *visit; /* by function */
} Cycles;

static void visit_func(Cycles *c, const IrFunc *func);

static void visit_call(IrInst *inst, void *data) {
    Cycles *c = data;
    if (inst->op != IR_CALL) return;
    if (c->visit[inst->func->id] == OPEN) c->g->recursive[inst->func->id] = true;
    else if (c->visit[inst->func->id] == UNSEEN) visit_func(c, inst->func);
}

static void visit_func(Cycles *c, const IrFunc *func) {
    c->visit[func->id] = OPEN;
    if (func->body) ir_walk(func->body, visit_call, c);
    c->visit[func->id] = DONE;
}

/* Marks at least one function of each cycle of calls. */
static void find_recursion(Gen *g, uint32_t n) {
    Cycles c = {g, ARENA_ARRAY(g->plan->arena, uint8_t, n)};
    for (uint32_t i = 0; i < g->ir->funcs.len; i++)
        if (c.visit[g->ir->funcs.at[i]->id] == UNSEEN) visit_func(&c, g->ir->funcs.at[i]);
}

/* Does running REGION always come to a call of an endless function? */
static bool goes_on(const Gen *g, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        if (inst->op == IR_CALL && g->endless[inst->func->id]) return true;
        if (inst->op != IR_IF) continue;
        if (goes_on(g, inst->regions[0]) && goes_on(g, inst->regions[1])) return true;
    }
    return false;
}

/* Functions that call one of themselves whatever their arguments are.  Their calls stay calls: LLVM
   would make a loop of those at the end, without an end. */
static void find_endless(Gen *g) {
    bool changed = true;
    for (uint32_t i = 0; i < g->ir->funcs.len; i++)
        g->endless[g->ir->funcs.at[i]->id] = g->ir->funcs.at[i]->body != NULL;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < g->ir->funcs.len; i++) {
            const IrFunc *func = g->ir->funcs.at[i];
            if (!g->endless[func->id] || goes_on(g, func->body)) continue;
            g->endless[func->id] = false;
            changed = true;
        }
    }
    for (uint32_t i = 0; i < g->ir->funcs.len; i++) {
        const IrFunc *func = g->ir->funcs.at[i];
        LLVMAttributeRef calls =
            LLVMCreateStringAttribute(g->e.context, "disable-tail-calls", 18, "true", 4);
        if (g->endless[func->id])
            LLVMAddAttributeAtIndex(g->funcs[func->id], LLVMAttributeFunctionIndex, calls);
    }
}

/* Nothing refers to it. */
void gen_carried(Gen *g) {
    LLVMContextRef context = g->e.context;
    if (!g->options->carried) return;
    LLVMValueRef bytes =
        LLVMConstStringInContext2(context, g->options->carried, g->options->carried_len, true);
    g->carried = gen_constant(g, bytes, "carried");
    LLVMSetSection(g->carried, CODEGEN_CARRIED);
    LLVMSetAlignment(g->carried, 1);
    LLVMGlobalSetMetadata(g->carried, metadata_kind(context, "exclude"),
                          LLVMMDNodeInContext2(context, NULL, 0));
}

static const char *entry_name(Gen *g, const IrFunc *func) {
    return arena_printf(g->plan->arena, "adl__entry_%s", func->name);
}

static void generate_all(Gen *g) {
    const IrModule *ir = g->ir;
    for (uint32_t i = 0; i < ir->funcs.len; i++) declare_func(g, ir->funcs.at[i]);
    find_endless(g);
    for (uint32_t i = 0; i < ir->funcs.len; i++)
        if (ir->funcs.at[i]->body) gen_func(g, ir->funcs.at[i]);
    for (uint32_t i = 0; g->options->entries && i < ir->funcs.len; i++)
        if (ir->funcs.at[i]->body && ir->funcs.at[i]->flags & IR_FUNC_ROOT)
            gen_entry(g, ir->funcs.at[i], entry_name(g, ir->funcs.at[i]));
    gen_exports(g);
    device_tables(g);
    gen_carried(g);
    gen_keep_vector_functions(g);
}

LLVMModuleRef generate_module(const IrModule *ir, const CodegenOptions *options,
                              const Machine *machine, LLVMContextRef context, char **error) {
    Gen g = {.ir = ir, .options = options, .machine = machine};
    uint32_t n = ir_func_ids(ir);
    LLVMContextSetDiagnosticHandler(context, swallow, error);
    emit_init(&g.e, context, "adl");
    g.e.fast_math = options->fast_math;
    g.e.fused = ir->fused && machine->fused;
    g.e.call = gen_math_call;
    g.e.data = &g;
    LLVMSetTarget(g.e.module, machine->triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine->target);
    LLVMSetModuleDataLayout(g.e.module, layout);
    LLVMDisposeTargetData(layout);
    g.loop_kind = metadata_kind(context, "llvm.loop");
    g.group_kind = metadata_kind(context, "llvm.access.group");
    g.prof_kind = metadata_kind(context, "prof");
    g.plan = mem_plan(ir);
    g.funcs = ARENA_ARRAY(g.plan->arena, LLVMValueRef, n);
    g.func_types = ARENA_ARRAY(g.plan->arena, LLVMTypeRef, n);
    g.places = ARENA_ARRAY(g.plan->arena, bool, n);
    g.launches = ARENA_ARRAY(g.plan->arena, bool, n);
    g.recursive = ARENA_ARRAY(g.plan->arena, bool, n);
    g.endless = ARENA_ARRAY(g.plan->arena, bool, n);
    find_recursion(&g, n);
    for (uint32_t i = 0; i < ir->exports.len; i++)
        if (ir->exports.at[i]->kind == IR_EXPORT_C) g.places[ir->exports.at[i]->func->id] = true;
    if (options->debug)
        g.debug = debug_open(g.e.module, context, ir, options->producer, options->opt_level > 0);
    DeviceCode device;
    if (options->whole && device_code(&device, ir, options, g.plan, g.plan->arena, error)) {
        g.device = &device;
        device_find_launching(&g);
    }
    generate_all(&g);
    if (options->whole) device_code_free(&device);
    debug_close(g.debug);
    LLVMDisposeBuilder(g.e.b);
    mem_plan_free(g.plan);
    map_free(&g.texts);
    map_free(&g.sites);
    map_free(&g.calls);
    vec_free(&g.vector_functions);
    return g.e.module;
}
