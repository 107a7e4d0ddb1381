/* Operations on parts of arrays, and those that put arrays together. */
#include "codegen/cpu/device.h"

#include "base/fatal.h"
#include "runtime/layout.h"

/* The numbers of the runtime's kinds are those of the IR's scalars. */
_Static_assert((int)ADL_KIND_BOOL == (int)IR_BOOL && (int)ADL_KIND_I64 == (int)IR_I64 &&
                   (int)ADL_KIND_U64 == (int)IR_U64 && (int)ADL_KIND_F64 == (int)IR_F64 &&
                   (int)ADL_KIND_C128 == (int)IR_C128,
               "kinds differ");

typedef VEC(LLVMValueRef) VecConstants;

static void scalars(Fn *f, IrValue **operands, uint32_t n, LLVMValueRef *out) {
    for (uint32_t k = 0; k < n; k++) out[k] = gen_scalar(f, operands[k]);
}

void gen_dim(Fn *f, const IrInst *inst) {
    gen_set_scalar(f, inst->results[0], gen_val(f, inst->operands[0])->dims[inst->imm]);
}

/* ---- views ---- */

/* X from element FLAT on, with the sizes DIMS. */
static Val view(Fn *f, const IrInst *inst, LLVMValueRef flat, LLVMValueRef const *dims) {
    Val val = *gen_val(f, inst->operands[0]);
    if (flat) val.at = gen_element_at(f, inst->results[0]->type, val.at, flat);
    val.dims = gen_dims(f, inst->results[0]->type, dims);
    return val;
}

void gen_index(Fn *f, const IrInst *inst) {
    const IrValue *x = ir_resolve(inst->operands[0]);
    const Val *val = gen_val(f, x);
    LLVMValueRef at[IR_MAX_RANK];
    uint32_t n = inst->noperands - 1;
    scalars(f, inst->operands + 1, n, at);
    LLVMValueRef flat = gen_flat(f, val, x->type, n, at);
    if (n < x->type->rank) {
        gen_set(f, inst->results[0], view(f, inst, flat, val->dims + n));
        return;
    }
    device_element(f, val, x->type, flat, false);
    gen_set_scalar(f, inst->results[0], gen_load(f, val, x->type->scalar, flat));
}

void gen_reshape(Fn *f, const IrInst *inst) {
    LLVMValueRef dims[IR_MAX_RANK];
    scalars(f, inst->operands + 1, inst->noperands - 1, dims);
    gen_set(f, inst->results[0], view(f, inst, NULL, dims));
}

/* ---- loops over index spaces ---- */

typedef struct Nest {
    Loop loops[IR_MAX_RANK];
    LLVMValueRef i[IR_MAX_RANK];
    uint32_t n;
} Nest;

static void nest_open(Fn *f, Nest *nest, uint32_t n, LLVMValueRef const *sizes) {
    nest->n = n;
    for (uint32_t k = 0; k < n; k++) {
        loop_open_group(f);
        gen_loop_open(f, &nest->loops[k], "copy");
        loop_enter(f, &nest->loops[k], sizes[k]);
        nest->i[k] = nest->loops[k].i;
    }
}

static void nest_close(Fn *f, Nest *nest) {
    for (uint32_t k = nest->n; k-- > 0;)
        gen_loop_close(f, &nest->loops[k], loop_close_group(f, false));
}

void gen_slice(Fn *f, const IrInst *inst) {
    const IrValue *x = ir_resolve(inst->operands[0]);
    IrType type = x->type;
    const Val *val = gen_val(f, x);
    LLVMValueRef start[IR_MAX_RANK], count[IR_MAX_RANK], step[IR_MAX_RANK], from[IR_MAX_RANK];
    uint32_t rank = type->rank;
    scalars(f, inst->operands + 1, rank, start);
    scalars(f, inst->operands + 1 + rank, rank, count);
    scalars(f, inst->operands + 1 + 2 * rank, rank, step);
    if (mem_is_view(inst)) {
        gen_set(f, inst->results[0], view(f, inst, gen_flat(f, val, type, rank, start), count));
        return;
    }
    Val out = gen_new_array(f, inst->results[0], count);
    Nest nest;
    nest_open(f, &nest, rank, out.dims);
    for (uint32_t k = 0; k < rank; k++) from[k] = emit_strided(f->e, start[k], nest.i[k], step[k]);
    LLVMValueRef element = gen_load(f, val, type->scalar, gen_flat(f, val, type, rank, from));
    gen_store(f, &out, type->scalar, gen_flat(f, &out, inst->results[0]->type, rank, nest.i),
              element);
    nest_close(f, &nest);
    gen_set(f, inst->results[0], out);
}

void gen_transpose(Fn *f, const IrInst *inst) {
    const IrValue *x = ir_resolve(inst->operands[0]);
    IrType type = x->type, out_type = inst->results[0]->type;
    const Val *val = gen_val(f, x);
    LLVMValueRef dims[IR_MAX_RANK], from[IR_MAX_RANK];
    if (mem_is_view(inst)) {
        gen_set(f, inst->results[0], view(f, inst, NULL, val->dims));
        return;
    }
    for (uint32_t k = 0; k < type->rank; k++) dims[k] = val->dims[inst->ints[k]];
    Val out = gen_new_array(f, inst->results[0], dims);
    Nest nest;
    nest_open(f, &nest, type->rank, out.dims);
    for (uint32_t k = 0; k < type->rank; k++) from[inst->ints[k]] = nest.i[k];
    LLVMValueRef element = gen_load(f, val, type->scalar, gen_flat(f, val, type, type->rank, from));
    gen_store(f, &out, type->scalar, gen_flat(f, &out, out_type, type->rank, nest.i), element);
    nest_close(f, &nest);
    gen_set(f, inst->results[0], out);
}

/* ---- writing ---- */

void gen_update(Fn *f, const IrInst *inst) {
    uint32_t n = inst->noperands - 2;
    IrType type = inst->results[0]->type;
    const IrValue *v = ir_resolve(inst->operands[n + 1]);
    LLVMValueRef at[IR_MAX_RANK];
    Val base = gen_base(f, inst, 0);
    scalars(f, inst->operands + 1, n, at);
    LLVMValueRef flat = gen_flat(f, &base, type, n, at);
    const Val *val = gen_val(f, v);
    if (v->type->kind == IR_T_SCALAR) {
        gen_store(f, &base, type->scalar, flat, val->at);
        device_element(f, &base, type, flat, true);
    } else {
        gen_copy(f, type->scalar, gen_element_at(f, type, base.at, flat), val->at,
                 gen_count(f, val, v->type));
    }
    gen_set(f, inst->results[0], base);
}

void gen_assign(Fn *f, const IrInst *inst) {
    IrType type = inst->results[0]->type;
    uint32_t rank = type->rank;
    const IrValue *v = ir_resolve(inst->operands[1 + 2 * rank]);
    LLVMValueRef start[IR_MAX_RANK], step[IR_MAX_RANK], to[IR_MAX_RANK];
    Val base = gen_base(f, inst, 0), val = *gen_val(f, v);
    scalars(f, inst->operands + 1, rank, start);
    scalars(f, inst->operands + 1 + rank, rank, step);
    Nest nest;
    nest_open(f, &nest, rank, val.dims);
    for (uint32_t k = 0; k < rank; k++) to[k] = emit_strided(f->e, start[k], nest.i[k], step[k]);
    LLVMValueRef element =
        gen_load(f, &val, type->scalar, gen_flat(f, &val, v->type, rank, nest.i));
    gen_store(f, &base, type->scalar, gen_flat(f, &base, type, rank, to), element);
    nest_close(f, &nest);
    gen_set(f, inst->results[0], base);
}

/* ---- putting together ---- */

/* VALUE's elements, appended to ELEMENTS, if they are all constants. */
static bool constant_elements(Fn *f, const IrValue *value, VecConstants *elements) {
    const IrInst *def = ir_resolve((IrValue *)value)->def;
    if (!def) return false;
    if (def->op == IR_CONST) {
        LLVMValueRef constant = emit_const(f->e, def);
        if (def->results[0]->type->scalar == IR_BOOL)
            constant = LLVMConstInt(f->e->i8, def->imm != 0, false);
        vec_push(elements, constant);
        return true;
    }
    if (def->op != IR_PACK) return false;
    for (uint32_t k = 0; k < def->noperands; k++)
        if (!constant_elements(f, def->operands[k], elements)) return false;
    return true;
}

/* A table of constants stands in the object's constants and is never written to. */
static bool constant_pack(Fn *f, const IrInst *inst) {
    const IrValue *result = inst->results[0];
    VecConstants elements = {0};
    bool small = mem_is_small(result->type) && !f->dests[result->id].at;
    bool all = small && constant_elements(f, result, &elements);
    if (all) {
        LLVMTypeRef element = emit_memory_type(f->e, result->type->scalar);
        LLVMValueRef table = LLVMConstArray2(element, elements.at, elements.len);
        gen_set(f, result,
                (Val){.at = gen_constant(f->g, table, "table"),
                      .block = emit_null(f->e),
                      .dims = gen_dims(f, result->type, NULL)});
    }
    vec_free(&elements);
    return all;
}

void gen_pack(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    IrType type = inst->results[0]->type;
    if (constant_pack(f, inst)) return;
    const IrValue *first = ir_resolve(inst->operands[0]);
    bool of_scalars = first->type->kind == IR_T_SCALAR;
    LLVMValueRef dims[IR_MAX_RANK] = {gen_int(e, inst->noperands)}, count = gen_int(e, 1);
    if (!of_scalars) {
        const Val *val = gen_val(f, first);
        for (uint32_t k = 0; k < first->type->rank; k++) dims[k + 1] = val->dims[k];
        count = gen_count(f, val, first->type);
    }
    Val out = gen_new_array(f, inst->results[0], dims);
    for (uint32_t i = 0; i < inst->noperands; i++) {
        LLVMValueRef at = emit_size_mul(e, gen_int(e, i), count);
        const Val *val = gen_val(f, inst->operands[i]);
        if (of_scalars) gen_store(f, &out, type->scalar, at, val->at);
        else gen_copy(f, type->scalar, gen_element_at(f, type, out.at, at), val->at, count);
    }
    gen_set(f, inst->results[0], out);
}

void gen_concat(Fn *f, const IrInst *inst) {
    Emit *e = f->e;
    IrType type = inst->results[0]->type;
    const Val *first = gen_val(f, inst->operands[0]);
    LLVMValueRef dims[IR_MAX_RANK], at = gen_int(e, 0);
    dims[0] = first->dims[0];
    for (uint32_t k = 1; k < type->rank; k++) dims[k] = first->dims[k];
    for (uint32_t i = 1; i < inst->noperands; i++)
        dims[0] = emit_size_add(e, dims[0], gen_val(f, inst->operands[i])->dims[0]);
    Val out = gen_new_array(f, inst->results[0], dims);
    for (uint32_t i = 0; i < inst->noperands; i++) {
        const IrValue *value = ir_resolve(inst->operands[i]);
        const Val *val = gen_val(f, value);
        LLVMValueRef count = gen_count(f, val, value->type);
        gen_copy(f, type->scalar, gen_element_at(f, type, out.at, at), val->at, count);
        at = emit_size_add(e, at, count);
    }
    gen_set(f, inst->results[0], out);
}

static void sort_here(Fn *f, const IrInst *inst, const Val *out) {
    const IrValue *x = ir_resolve(inst->operands[0]);
    const Val *val = gen_val(f, x);
    LLVMValueRef args[] = {f->context, emit_int32(f->e, (int32_t)x->type->scalar), val->dims[0],
                           val->at, out->at};
    gen_check_status(f, gen_runtime(f->g, "adl__argsort", args, 5));
}

/* Beside the result a device needs other places, and two keys of the size of an element for each.
 */
static void sort_on_device(Fn *f, const IrInst *inst, const DeviceKernel *kernel, const Val *out) {
    int64_t size = ir_scalar_bytes(ir_resolve(inst->operands[0])->type->scalar);
    LLVMValueRef spare = emit_size_mul(f->e, out->dims[0], gen_int(f->e, 8 + 2 * size));
    Launch launch = launch_open_sort(f, kernel, out, out->dims[0], spare);
    sort_here(f, inst, out);
    launch_done(f, &launch);
    launch_close(f, &launch, 0, NULL, NULL);
}

void gen_argsort(Fn *f, const IrInst *inst) {
    const DeviceKernel *kernel = device_kernel(f, inst);
    Val out = gen_new_array(f, inst->results[0], gen_val(f, inst->operands[0])->dims);
    if (kernel) sort_on_device(f, inst, kernel, &out);
    else sort_here(f, inst, &out);
    gen_set(f, inst->results[0], out);
}
