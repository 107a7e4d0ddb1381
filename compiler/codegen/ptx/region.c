/* Entries of a program's parallel loops.  An invocation runs the loop's body for the indices that
   it comes to in strides of the grid: the last index along x, the one before along y, all others
   along z. */
#include "codegen/ptx/regions.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/ptx/entry.h"
#include "opt/scan.h"

enum { REGION_BLOCK = 256 };

/* ---- what a loop captures ---- */

typedef struct Captures {
    Arena *arena;
    VEC(IrValue *) values;
} Captures;

static void capture(IrValue *value, void *data) {
    Captures *c = data;
    value = ir_resolve(value);
    for (uint32_t i = 0; i < c->values.len; i++)
        if (c->values.at[i] == value) return;
    vec_push(&c->values, value);
}

/* Constants and texts are made in the kernel. */
static bool is_passed(const IrValue *value) {
    return value->type->kind != IR_T_STR && !(value->def && value->def->op == IR_CONST);
}

static void find_captures(DeviceKernel *kernel, Arena *arena) {
    Captures c = {.arena = arena};
    const IrInst *inst = kernel->inst;
    if (inst->nregions) ir_captures(inst->regions[0], capture, &c);
    for (uint32_t k = 0; k < inst->noperands && !inst->nregions; k++)
        capture(inst->operands[k], &c);
    /* Sizes by which an index is taken apart. */
    bool reduces = inst->op == IR_REDUCE;
    int64_t sizes = reduces || inst->op == IR_BUILD ? inst->imm : 0;
    for (int64_t k = reduces ? 0 : 1; k + (reduces ? 0 : 2) < sizes; k++)
        capture(inst->operands[k], &c);
    kernel->ncaptures = c.values.len;
    kernel->captures = ARENA_ARRAY(arena, IrValue *, c.values.len + 1);
    for (uint32_t i = 0; i < c.values.len; i++) kernel->captures[i] = c.values.at[i];
    vec_free(&c.values);
}

/* ---- loops ---- */

void axis_open(Ptx *g, Axis *axis, char name, LLVMValueRef extent) {
    Emit *e = &g->e;
    LLVMValueRef first = ptx_own_index(g, name);
    axis->step = emit_size_mul(e, ptx_special(g, "nctaid", name), ptx_special(g, "ntid", name));
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), body = ptx_block(g, "");
    axis->head = ptx_block(g, "stride");
    axis->done = ptx_block(g, "");
    LLVMBuildBr(e->b, axis->head);
    LLVMPositionBuilderAtEnd(e->b, axis->head);
    axis->i = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(axis->i, &first, &before, 1);
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntSLT, axis->i, extent, "");
    LLVMBuildCondBr(e->b, more, body, axis->done);
    LLVMPositionBuilderAtEnd(e->b, body);
}

void axis_close(Ptx *g, Axis *axis) {
    Emit *e = &g->e;
    LLVMValueRef next = emit_size_add(e, axis->i, axis->step);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(axis->i, &next, &latch, 1);
    LLVMBuildBr(e->b, axis->head);
    LLVMPositionBuilderAtEnd(e->b, axis->done);
}

/* ---- entries ---- */

/* Of the one result of a map, the launch says where its elements are. */
static bool has_strides(const IrInst *inst) {
    return inst->op == IR_BUILD && inst->nresults == 1;
}

typedef VEC(LLVMTypeRef) Types;

static void push_open_sizes(const Emit *e, IrType type, Types *types) {
    for (uint32_t k = 0; k < type->rank; k++)
        if (type->dims[k] < 0) vec_push(types, e->i64);
}

/* Of a scan the number carried comes first, whatever its place among the results. */
static void push_scanned(const Emit *e, const IrInst *loop, Types *types) {
    vec_push(types, e->ptr);
    for (uint32_t r = 0; r < loop->nresults; r++)
        if (loop->results[r]->type->kind == IR_T_SCALAR)
            vec_push(types, emit_memory_type(e, loop->results[r]->type->scalar));
    for (uint32_t r = 0; r < loop->nresults; r++) {
        if (loop->results[r]->type->kind == IR_T_SCALAR) continue;
        vec_push(types, e->ptr);
        push_open_sizes(e, loop->results[r]->type, types);
    }
}

static LLVMTypeRef entry_type(Ptx *g, const DeviceKernel *kernel) {
    Emit *e = &g->e;
    Types types = {0};
    vec_push(&types, e->ptr);
    for (int i = 0; i < 3; i++) vec_push(&types, e->i64);
    for (uint32_t i = 0; i < kernel->ncaptures; i++) {
        const IrValue *value = kernel->captures[i];
        IrType type = value->type;
        if (!is_passed(value)) continue;
        if (type->kind == IR_T_SCALAR) {
            for (uint32_t k = 0; k < ir_scalar_lanes(type->scalar); k++)
                vec_push(&types, emit_memory_type(e, ir_scalar_base(type->scalar)));
            continue;
        }
        vec_push(&types, e->ptr);
        push_open_sizes(e, type, &types);
    }
    bool scans = kernel->inst->op == IR_LOOP;
    if (scans) push_scanned(e, kernel->inst, &types);
    for (uint32_t r = 0; r < kernel->inst->nresults && !scans; r++) vec_push(&types, e->ptr);
    for (int64_t k = 0; has_strides(kernel->inst) && k <= kernel->inst->imm; k++)
        vec_push(&types, e->i64);
    if (kernel->inst->op == IR_ARGSORT) vec_push(&types, e->ptr);
    LLVMTypeRef type = LLVMFunctionType(e->none, types.at, types.len, false);
    vec_free(&types);
    return type;
}

/* A number from parameter *AT on, with one for each of its lanes. */
static LLVMValueRef take_scalar(Ptx *g, IrScalar scalar, unsigned *at) {
    Emit *e = &g->e;
    uint32_t lanes = ir_scalar_lanes(scalar);
    if (lanes == 1) return emit_from_memory(e, scalar, LLVMGetParam(g->entry, (*at)++));
    LLVMValueRef all = LLVMGetPoison(emit_memory_type(e, scalar));
    for (uint32_t k = 0; k < lanes; k++)
        all = LLVMBuildInsertElement(e->b, all, LLVMGetParam(g->entry, (*at)++),
                                     emit_int32(e, (int32_t)k), "");
    return emit_from_memory(e, scalar, all);
}

/* SHARED: a result may lie in the memory of what is read. */
static void take_params(Entry *x, bool shared) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    const DeviceKernel *kernel = x->kernel;
    unsigned at = 1;
    for (int i = 0; i < 3; i++) x->extents[i] = LLVMGetParam(g->entry, at++);
    for (uint32_t i = 0; i < kernel->ncaptures; i++) {
        const IrValue *value = kernel->captures[i];
        IrType type = value->type;
        Val *val = &x->vals[value->id];
        LLVMValueRef open[IR_MAX_RANK];
        if (!is_passed(value)) {
            val->at = type->kind == IR_T_STR ? emit_null(e) : emit_const(e, value->def);
            continue;
        }
        if (type->kind == IR_T_SCALAR) {
            val->at = take_scalar(g, type->scalar, &at);
            continue;
        }
        unsigned first = at++;
        LLVMValueRef given = LLVMGetParam(g->entry, first);
        for (uint32_t k = 0, n = 0; k < type->rank; k++)
            if (type->dims[k] < 0) open[n++] = LLVMGetParam(g->entry, at++);
        *val = ptx_array(g, given, type, open, false);
        if (type->kind == IR_T_ARRAY) val->root->kind = ROOT_CONST;
        if (type->kind != IR_T_ARRAY || shared) continue;
        ptx_mark(g, first, "noalias");
        ptx_mark(g, first, "readonly");
    }
    x->next = at;
    for (uint32_t r = 0; r < kernel->inst->nresults && kernel->inst->op != IR_LOOP; r++)
        x->outs[r] = LLVMGetParam(g->entry, at++);
}

static void set_indices(Entry *x, const Axis *axes) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    const IrInst *inst = x->kernel->inst;
    uint32_t n = (uint32_t)inst->imm;
    IrValue **params = inst->regions[0]->params;
    x->vals[params[n - 1]->id].at = axes[0].i;
    if (n > 1) x->vals[params[n - 2]->id].at = axes[1].i;
    LLVMValueRef rest = n > 2 ? axes[2].i : NULL;
    for (uint32_t k = n - 2; n > 3 && k-- > 1;) {
        LLVMValueRef size = x->vals[ir_resolve(inst->operands[k])->id].at;
        x->vals[params[k]->id].at = LLVMBuildURem(e->b, rest, size, "");
        rest = LLVMBuildUDiv(e->b, rest, size, "");
    }
    if (n > 2) x->vals[params[0]->id].at = rest;
}

static LLVMValueRef flat_place(const Entry *x, const Axis *axes) {
    Emit *e = &x->g->e;
    LLVMValueRef flat = emit_size_mul(e, axes[2].i, x->extents[1]);
    flat = emit_size_mul(e, emit_size_add(e, flat, axes[1].i), x->extents[0]);
    return emit_size_add(e, flat, axes[0].i);
}

/* The last parameters are the strides of the indices, and where the first element is. */
static LLVMValueRef strided_place(const Entry *x) {
    Emit *e = &x->g->e;
    const IrInst *inst = x->kernel->inst;
    uint32_t n = (uint32_t)inst->imm, first = LLVMCountParams(x->g->entry) - n - 1;
    LLVMValueRef place = LLVMGetParam(x->g->entry, first + n);
    for (uint32_t k = 0; k < n; k++) {
        LLVMValueRef index = x->vals[inst->regions[0]->params[k]->id].at;
        LLVMValueRef stride = LLVMGetParam(x->g->entry, first + k);
        place = LLVMBuildAdd(e->b, place, LLVMBuildMul(e->b, index, stride, ""), "");
    }
    return place;
}

/* Result R has an array, ROW, for each index: this one's is the FLAT-th, or, if there are strides,
   begins with that element. */
static void store_row(Entry *x, uint32_t r, const Val *row, IrType type, LLVMValueRef flat) {
    Ptx *g = x->g;
    LLVMValueRef count = ptx_count(g, row, type);
    if (!has_strides(x->kernel->inst)) flat = emit_size_mul(&g->e, flat, count);
    ptx_copy(g, type->scalar, ptx_element(g, type->scalar, x->outs[r], flat), row->at, count);
}

static void store_results(Entry *x, const Axis *axes) {
    Ptx *g = x->g;
    const IrInst *inst = x->kernel->inst;
    Val *results = ARENA_ARRAY(g->arena, Val, inst->nresults + 1);
    Scope scope;
    ptx_scope_open(g, &scope);
    ptx_region(g, inst->regions[0], x->vals, results);
    if (*g->error) return;
    LLVMValueRef flat = has_strides(inst) ? strided_place(x) : flat_place(x, axes);
    for (uint32_t r = 0; r < inst->nresults; r++) {
        IrType type = ir_resolve(inst->regions[0]->last->operands[r])->type;
        if (type->kind == IR_T_ARRAY) {
            store_row(x, r, &results[r], type, flat);
            continue;
        }
        ptx_store(g, type->scalar, results[r].at, ptx_element(g, type->scalar, x->outs[r], flat));
    }
    ptx_scope_close(g);
}

static void entry_map(Entry *x) {
    Ptx *g = x->g;
    Axis axes[3];
    for (int k = 3; k-- > 0;) axis_open(g, &axes[k], "xyz"[k], x -> extents[k]);
    set_indices(x, axes);
    store_results(x, axes);
    for (int k = 0; k < 3 && !*g->error; k++) axis_close(g, &axes[k]);
}

static void gen_region_entry(Ptx *g, DeviceKernel *kernel, bool shared) {
    Emit *e = &g->e;
    const IrInst *inst = kernel->inst;
    const IrFunc *func = inst->parent->func;
    g->pos = inst->pos;
    g->name = func->name;
    g->trap = NULL;
    g->checks = false;
    g->rank = (uint32_t)inst->imm;
    g->region = inst->nregions ? inst->regions[0] : NULL;
    g->entry = LLVMAddFunction(e->module, kernel->name, entry_type(g, kernel));
    ptx_make_entry(g, g->entry, REGION_BLOCK);
    LLVMPositionBuilderAtEnd(e->b, ptx_block(g, ""));
    Entry x = {g,
               kernel,
               ARENA_ARRAY(g->arena, Val, func->nvalues + 1),
               {NULL},
               ARENA_ARRAY(g->arena, LLVMValueRef, inst->nresults + 1),
               0};
    take_params(&x, shared);
    if (inst->op == IR_REDUCE) entry_reduce(&x);
    else if (inst->op == IR_CONTRACT) entry_product(&x);
    else if (inst->op == IR_ARGSORT) entry_sort(&x);
    else if (inst->op == IR_LOOP) entry_scan(&x);
    else entry_map(&x);
    if (*g->error) return;
    ptx_leave(g);
    LLVMBuildRetVoid(e->b);
    ptx_finish_checks(g);
    kernel->checks = g->checks;
    kernel->heap = g->takes_heap;
}

/* ---- all regions ---- */

static void refuse_what_cannot_be(Ptx *g, const DeviceKernel *kernel) {
    const IrInst *inst = kernel->inst;
    Scan scan;
    if (inst->op == IR_LOOP) {
        if (!scan_find(inst, &scan))
            ptx_refuse(g, "it is not a sum, product, minimum or maximum of one number from trip to "
                          "trip");
        scan_free(&scan);
    }
    for (uint32_t i = 0; i < kernel->ncaptures; i++) {
        IrType type = kernel->captures[i]->type;
        if (type->kind == IR_T_TAPE) ptx_refuse(g, "a tape");
    }
}

typedef struct Region {
    DeviceKernel *kernel;
    bool shared; /* a result may lie in the memory of what is read */
} Region;

static void gen_region(Ptx *g, void *data) {
    const Region *region = data;
    refuse_what_cannot_be(g, region->kernel);
    if (!*g->error) gen_region_entry(g, region->kernel, region->shared);
}

bool device_try(Ptx *g, DeviceKernel *kernel, Pos pos, const char *what,
                void (*gen)(Ptx *g, void *data), void *data) {
    StrBuf text = {0};
    const char *missing = g->missing;
    g->entry = NULL;
    g->missing = NULL;
    g->scope = NULL;
    g->takes_heap = false;
    g->tapes.len = 0;
    g->kernel.held = NULL;
    gen(g, data);
    if (g->missing && !g->options->libdevice)
        ptx_refuse(g, "`%s`, which needs libdevice of the CUDA Toolkit", g->missing);
    ptx_settle_additions(g);
    bool good = !*g->error;
    if (good) {
        vec_push(&g->code->list, kernel);
        strbuf_printf(&text, "%s can run on the device", what);
    } else {
        LLVMClearInsertionPosition(g->e.b);
        if (g->entry) LLVMDeleteFunction(g->entry);
        strbuf_printf(&text, "%s stays on the CPU: %s", what, *g->error);
        free(*g->error);
        *g->error = NULL;
    }
    if (!good || !g->missing) g->missing = missing;
    if (g->options->remark) g->options->remark(g->options->remark_data, pos, text.text);
    strbuf_free(&text);
    return good;
}

/* The number of results of INST whose memory is that of something it reads. */
static bool writes_over(const MemPlan *plan, const IrInst *inst) {
    const MemInst *planned = map_getp(&plan->funcs[inst->parent->func->id].insts, inst);
    for (uint32_t r = 0; planned && planned->reuse && r < inst->nresults; r++)
        if (planned->reuse[r].n) return true;
    return false;
}

static void compile(DeviceCode *code, Ptx *g, const MemPlan *plan, const IrInst *inst,
                    Arena *arena) {
    const IrFunc *func = inst->parent->func;
    DeviceKernel *kernel = ARENA_NEW(arena, DeviceKernel);
    Region region = {kernel, writes_over(plan, inst)};
    if (map_hasp(&code->launches, func)) return; /* runs there as a whole */
    *kernel = (DeviceKernel){.inst = inst, .number = code->list.len};
    kernel->name = arena_printf(arena, "adl_region_%u", kernel->number);
    find_captures(kernel, arena);
    if (device_try(g, kernel, inst->pos ? inst->pos : func->pos,
                   inst->op == IR_CONTRACT  ? "this product"
                   : inst->op == IR_ARGSORT ? "this sort"
                   : inst->op == IR_LOOP    ? "this scan"
                                            : "this loop",
                   gen_region, &region))
        map_setp(&code->kernels, inst, kernel);
}

static bool assemble_all(DeviceCode *code, const CodegenOptions *options, char **error) {
    for (uint32_t i = 0; i < options->ndevices; i++) {
        DeviceImage image = {.sm = atoi(options->devices[i] + strlen("sm_"))};
        bool good =
            options->assemble(options->assemble_data, options->devices[i], &code->ptx, &image.code);
        vec_push(&code->images, image);
        if (!good) {
            *error = machine_text("no code for %s was made", options->devices[i]);
            return false;
        }
    }
    return true;
}

bool device_code(DeviceCode *code, const IrModule *ir, const CodegenOptions *options,
                 const MemPlan *plan, Arena *arena, char **error) {
    Ptx g;
    *code = (DeviceCode){.plan = device_plan(ir, arena)};
    if (!ptx_open(&g, ir, options, error)) return false;
    g.whole = true;
    g.code = code;
    launch_entries(code, &g, arena);
    for (uint32_t i = 0; i < code->plan.regions.len; i++)
        compile(code, &g, plan, code->plan.regions.at[i], arena);
    bool ok = !code->list.len || (ptx_finish(&g, &code->ptx) && assemble_all(code, options, error));
    ptx_close(&g);
    return ok;
}

void device_code_free(DeviceCode *code) {
    device_plan_free(&code->plan);
    map_free(&code->kernels);
    vec_free(&code->list);
    vec_free(&code->sites);
    map_free(&code->launches);
    strbuf_free(&code->ptx);
    for (uint32_t i = 0; i < code->images.len; i++) strbuf_free(&code->images.at[i].code);
    vec_free(&code->images);
}
