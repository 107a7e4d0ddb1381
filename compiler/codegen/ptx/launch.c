/* Entries of what a program launches.  Their parameters: the address of the word that a failed
   check sets; along x, y and z the first block, since a grid need not have all; then those of the
   function, as an array's address and open sizes each; then the address of each result that is a
   number, which all invocations add to. */
#include <ctype.h>
#include <string.h>

#include "codegen/ptx/entry.h"

enum { FIRST_PARAM = 4, MOST_ALONG_Z = 64 };

/* ---- how it is launched ---- */

typedef struct Sizes {
    const DeviceCode *code;
    const CodegenOptions *options;
    const IrFunc *func; /* of the CPU */
    int64_t most;       /* invocations in a block of it */
    bool deep;          /* more along z than a device takes */
} Sizes;

static void stays_here(const CodegenOptions *options, Pos pos, const char *name, const char *why) {
    StrBuf text = {0};
    strbuf_printf(&text, "the launched `%s` stays on the CPU: %s", name, why);
    if (options->remark) options->remark(options->remark_data, pos, text.text);
    strbuf_free(&text);
}

static bool is_parallel(const DeviceCode *code, const IrInst *call) {
    const IrRegion *r = call->parent;
    for (; r->owner; r = r->owner->parent)
        if (r->owner->op == IR_BUILD || r->owner->op == IR_REDUCE) return true;
    return !code->plan.level[r->func->id];
}

static void look_at_call(IrInst *inst, void *data) {
    Sizes *s = data;
    int64_t all = 1, size;
    if (inst->op != IR_CALL || inst->func != s->func) return;
    const IrLaunch *launch = s->func->launch;
    if (is_parallel(s->code, inst)) {
        stays_here(s->options, inst->pos, launch->name, "it is part of a parallel loop");
        return;
    }
    for (uint32_t d = 0; d < launch->n; d++) {
        if (!ir_const_int(inst->operands[launch->size[d]], &size)) size = PTX_LARGEST_BLOCK;
        if (launch->n == 3 && !d && size > MOST_ALONG_Z) s->deep = true;
        all *= size;
    }
    if (all > PTX_LARGEST_BLOCK) all = PTX_LARGEST_BLOCK;
    if (all > s->most) s->most = all;
}

static Sizes find_sizes(const Ptx *g, const IrModule *ir, const IrFunc *func) {
    Sizes s = {.code = g->code, .options = g->options, .func = func};
    for (uint32_t i = 0; i < ir->funcs.len; i++)
        if (ir->funcs.at[i]->body) ir_walk(ir->funcs.at[i]->body, look_at_call, &s);
    return s;
}

/* ---- checks ---- */

/* The index of the launch that VALUE is; -1: none. */
static int index_of(const IrLaunch *launch, const IrValue *value) {
    const IrInst *def = ir_resolve((IrValue *)value)->def;
    int64_t dim;
    if (!def || def->op != IR_RUNTIME || strcmp(def->text, "adl__device_index") != 0) return -1;
    return ir_const_int(def->operands[0], &dim) ? (int)(launch->n - 1 - dim) : -1;
}

/* The parameter of the launched function that VALUE is; -1: none that the host has. */
static int32_t param_of(const IrLaunch *launch, const IrValue *value) {
    uint32_t more = 0;
    value = ir_resolve((IrValue *)value);
    for (uint32_t r = 0; r < launch->func->nresults; r++) more += launch->like[r] >= 0;
    bool own = !value->def && value->region == launch->func->body;
    return own && value->index < launch->func->nparams - more ? (int32_t)value->index : -1;
}

/* The array that VALUE is, under names that say more of its sizes. */
static const IrValue *array_of(const IrValue *value) {
    value = ir_resolve((IrValue *)value);
    while (value->def && value->def->op == IR_ASSUME) value = ir_resolve(value->def->operands[0]);
    return value;
}

bool ptx_is_bounded(Body *b, const IrInst *inst) {
    Ptx *g = b->g;
    int d = g->launch ? index_of(g->launch, inst->operands[0]) : -1;
    const IrValue *size = ir_resolve(inst->operands[1]);
    DeviceBound bound = {.d = (uint32_t)d, .param = -1, .dim = -1};
    if (d < 0 || b->caller) return false;
    if (size->def && size->def->op == IR_DIM) {
        bound.param = param_of(g->launch, array_of(size->def->operands[0]));
        bound.dim = (int32_t)size->def->imm;
        if (bound.param < 0) return false;
    } else if (!ir_const_int(size, &bound.value)) {
        bound.param = param_of(g->launch, size);
        if (bound.param < 0) return false;
    }
    for (uint32_t i = 0; i < g->bounds.len; i++) {
        const DeviceBound *known = &g->bounds.at[i];
        if (known->d == bound.d && known->param == bound.param && known->dim == bound.dim &&
            known->value == bound.value)
            return true;
    }
    vec_push(&g->bounds, bound);
    return true;
}

/* ---- entries ---- */

/* Is result R added up, not the last value of a parameter? */
static bool is_added(const IrLaunch *launch, uint32_t r) {
    return launch->memory[r] < 0;
}

/* Is parameter P written? */
static bool is_mut(const IrLaunch *launch, uint32_t p) {
    for (uint32_t r = 0; r < launch->func->nresults; r++)
        if (launch->memory[r] == (int32_t)p) return true;
    return false;
}

/* Ends the number that parameter P is as it began? */
static bool is_kept(const IrLaunch *launch, uint32_t p) {
    const IrRegion *body = launch->func->body;
    for (uint32_t r = 0; r < launch->func->nresults; r++)
        if (launch->memory[r] == (int32_t)p)
            return ir_resolve(body->last->operands[r]) == body->params[p];
    return true;
}

static LLVMTypeRef entry_type(Ptx *g, const IrLaunch *launch) {
    Emit *e = &g->e;
    const IrFunc *func = launch->func;
    VEC(LLVMTypeRef) types = {0};
    vec_push(&types, e->ptr);
    for (int i = 1; i < FIRST_PARAM; i++) vec_push(&types, e->i64);
    for (uint32_t p = 0; p < func->nparams; p++) {
        IrType type = func->params[p];
        if (type->kind == IR_T_SCALAR) {
            vec_push(&types, emit_memory_type(e, type->scalar));
            continue;
        }
        vec_push(&types, e->ptr);
        for (uint32_t k = 0; k < type->rank; k++)
            if (type->dims[k] < 0) vec_push(&types, e->i64);
    }
    for (uint32_t r = 0; r < func->nresults; r++)
        if (is_added(launch, r)) vec_push(&types, e->ptr);
    LLVMTypeRef type = LLVMFunctionType(e->none, types.at, types.len, false);
    vec_free(&types);
    return type;
}

static void refuse_what_cannot_be(Ptx *g, const IrLaunch *launch) {
    const IrFunc *func = launch->func;
    for (uint32_t p = 0; p < func->nparams; p++) {
        IrTypeKind kind = func->params[p]->kind;
        if (kind != IR_T_SCALAR && kind != IR_T_ARRAY) ptx_refuse(g, "a text or a tape");
        if (kind == IR_T_SCALAR && !is_kept(launch, p)) ptx_refuse(g, "a mut number");
    }
    for (uint32_t r = 0; r < func->nresults; r++) {
        IrType type = func->results[r];
        if (!is_added(launch, r)) continue;
        if (type->kind != IR_T_SCALAR)
            ptx_refuse(g, "a returned array that is not of the sizes of a parameter");
        else if (type->scalar != IR_F64 && type->scalar != IR_F32)
            ptx_refuse(g, "a derivative that is no f32 or f64");
    }
}

/* The entry's parameters are FUNC's, as ARGS; PLACES: the first of each. */
static unsigned take_params(Ptx *g, const IrLaunch *launch, Val *args, unsigned *places) {
    const IrFunc *func = launch->func;
    unsigned at = FIRST_PARAM;
    for (uint32_t p = 0; p < func->nparams; p++) {
        IrType type = func->params[p];
        LLVMValueRef open[IR_MAX_RANK], given = LLVMGetParam(g->entry, at);
        places[p] = at++;
        if (type->kind == IR_T_SCALAR) {
            args[p].at = emit_from_memory(&g->e, type->scalar, given);
            continue;
        }
        for (uint32_t k = 0, n = 0; k < type->rank; k++)
            if (type->dims[k] < 0) open[n++] = LLVMGetParam(g->entry, at++);
        args[p] = ptx_array(g, given, type, open, false);
        if (!is_mut(launch, p)) args[p].root->kind = ROOT_CONST;
        ptx_mark(g, places[p], "noalias");
    }
    return at;
}

static void give_results(Ptx *g, const IrLaunch *launch, const Val *args, const unsigned *places,
                         const Val *results, unsigned first) {
    const IrFunc *func = launch->func;
    LLVMValueRef *at = ARENA_ARRAY(g->arena, LLVMValueRef, func->nresults + 1);
    LLVMValueRef *values = ARENA_ARRAY(g->arena, LLVMValueRef, func->nresults + 1);
    uint32_t n = 0;
    for (uint32_t p = 0; p < func->nparams; p++)
        if (args[p].root && args[p].root->kind == ROOT_CONST) ptx_mark(g, places[p], "readonly");
    for (uint32_t r = 0; r < func->nresults; r++) {
        int32_t memory = launch->memory[r];
        if (!is_added(launch, r)) {
            if (results[r].root != args[memory].root)
                ptx_refuse(g, "%s, which ends as another array", func->param_names[memory]);
            continue;
        }
        at[n] = LLVMGetParam(g->entry, first++);
        values[n++] = results[r].at;
    }
    ptx_leave(g);
    ptx_add_results(g, n, at, values);
}

static void gen_launch_entry(Ptx *g, DeviceKernel *kernel, int64_t most) {
    Emit *e = &g->e;
    const IrLaunch *launch = kernel->launch;
    const IrFunc *func = launch->func;
    Val *args = ARENA_ARRAY(g->arena, Val, func->nparams + 1);
    Val *results = ARENA_ARRAY(g->arena, Val, func->nresults + 1);
    unsigned *places = ARENA_ARRAY(g->arena, unsigned, func->nparams + 1);
    g->pos = func->pos;
    g->name = launch->name;
    g->trap = NULL;
    g->checks = false;
    g->rank = launch->n;
    g->region = NULL;
    g->entry = LLVMAddFunction(e->module, kernel->name, entry_type(g, launch));
    ptx_make_entry(g, g->entry, (int)most);
    LLVMPositionBuilderAtEnd(e->b, ptx_block(g, ""));
    for (int i = 0; i < 3; i++) g->first[i] = LLVMGetParam(g->entry, 1 + (unsigned)i);
    unsigned at = take_params(g, launch, args, places);
    ptx_inline(g, NULL, func, args, results);
    if (!*g->error) give_results(g, launch, args, places, results, at);
    if (*g->error) return;
    LLVMBuildRetVoid(e->b);
    ptx_finish_checks(g);
    kernel->checks = g->checks;
    kernel->bounded = !g->unbounded;
}

typedef struct Attempt {
    DeviceKernel *kernel;
    Sizes sizes;
} Attempt;

static void gen_launch(Ptx *g, void *data) {
    const Attempt *a = data;
    const IrLaunch *launch = a->kernel->launch;
    g->launch = launch;
    g->bounds.len = 0;
    g->unbounded = false;
    refuse_what_cannot_be(g, launch);
    if (a->sizes.deep)
        ptx_refuse(g, "blocks of more than %d along the first of three indices", MOST_ALONG_Z);
    if (!*g->error) gen_launch_entry(g, a->kernel, a->sizes.most);
    for (int i = 0; i < 3; i++) g->first[i] = NULL;
    g->launch = NULL;
}

/* ---- all ---- */

/* For tools that list kernels: with the source's name. */
static const char *entry_name(Arena *arena, const char *name, uint32_t number) {
    char *text = arena_printf(arena, "adl_kernel_%s_%u", name, number);
    for (char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at)) *at = '_';
    return text;
}

static void compile(DeviceCode *code, Ptx *g, const IrFunc *func, Sizes sizes, Arena *arena) {
    const char *name = func->launch->name;
    DeviceKernel *kernel = ARENA_NEW(arena, DeviceKernel);
    Attempt attempt = {kernel, sizes};
    *kernel = (DeviceKernel){.launch = func->launch, .number = code->list.len};
    kernel->name = entry_name(arena, name, kernel->number);
    const char *what = arena_printf(arena, "the launched `%s`", name);
    if (!device_try(g, kernel, func->pos, what, gen_launch, &attempt)) return;
    map_setp(&code->launches, func, kernel);
    kernel->nbounds = g->bounds.len;
    kernel->bounds = ARENA_ARRAY(arena, DeviceBound, g->bounds.len);
    for (uint32_t i = 0; i < g->bounds.len; i++) kernel->bounds[i] = g->bounds.at[i];
}

void launch_entries(DeviceCode *code, Ptx *g, Arena *arena) {
    const IrModule *ir = g->ir;
    MemPlan *plan = g->plan;
    if (ir->kernels) {
        g->ir = ir->kernels;
        g->plan = mem_plan(g->ir);
    }
    for (uint32_t i = 0; i < ir->unlaunched.len; i++)
        stays_here(g->options, ir->unlaunched.at[i].pos, ir->unlaunched.at[i].name,
                   ir->unlaunched.at[i].why);
    for (uint32_t i = 0; i < ir->funcs.len; i++) {
        const IrFunc *func = ir->funcs.at[i];
        if (!func->launch || !func->launch->func) continue;
        Sizes sizes = find_sizes(g, ir, func);
        if (sizes.most) compile(code, g, func, sizes, arena);
    }
    if (ir->kernels) mem_plan_free(g->plan);
    vec_free(&g->bounds);
    g->ir = ir;
    g->plan = plan;
}
