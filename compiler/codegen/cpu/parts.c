/* Arrays that a PACK or a CONCAT puts together of maps close before it: the whole is made ready at
   the first map, and each fills its part of it.  A whole may be a part of another.  Nothing in
   between may use it, of course, and nothing can: it is not there yet in the IR. */
#include "codegen/cpu/gen.h"

enum { NEAR = 64 };

static bool joins(const IrInst *inst) {
    return inst->op == IR_PACK || inst->op == IR_CONCAT;
}

static bool uses(const IrInst *inst, const IrValue *value) {
    for (uint32_t k = 0; k < inst->noperands; k++)
        if (ir_resolve(inst->operands[k]) == value) return true;
    return false;
}

/* The PACK or CONCAT that is the only use of VALUE, with nothing before it but maps, numbers and
   others of the kind; NULL: there is none. */
static const IrInst *whole_of(const Fn *f, const IrValue *value) {
    if (f->uses[value->id] != 1) return NULL;
    const IrInst *inst = value->def->next;
    for (uint32_t n = 0; inst && n < NEAR; inst = inst->next, n++) {
        bool number = inst->op <= IR_MATH && inst->nresults == 1;
        if (uses(inst, value)) return joins(inst) ? inst : NULL;
        if (!number && inst->op != IR_DIM && inst->op != IR_BUILD && !joins(inst)) return NULL;
    }
    return NULL;
}

/* A number that is there already. */
static bool number_of(Fn *f, const IrValue *value, LLVMValueRef *number) {
    value = ir_resolve((IrValue *)value);
    if (f->vals[value->id].at) {
        *number = f->vals[value->id].at;
    } else {
        if (!value->def || value->def->op != IR_CONST) return false;
        *number = emit_const(f->e, value->def);
    }
    return true;
}

/* The sizes of PART, a map's result or a whole that is still to be made; false: they are not known
 * yet. */
static bool sizes_of(Fn *f, const IrValue *part, LLVMValueRef *dims) {
    const IrInst *def = part->def;
    if (!def || f->vals[part->id].at || part->type->kind != IR_T_ARRAY) return false;
    if (def->op == IR_BUILD) {
        uint32_t n = (uint32_t)def->imm, inner = n;
        for (uint32_t r = 0; r < part->index; r++) inner += (uint32_t)def->ints[r];
        for (uint32_t k = 0; k < part->type->rank; k++)
            if (!number_of(f, def->operands[k < n ? k : inner + k - n], &dims[k])) return false;
        return true;
    }
    if (!joins(def)) return false;
    bool pack = def->op == IR_PACK;
    LLVMValueRef first = gen_int(f->e, pack ? def->noperands : 0), one[IR_MAX_RANK] = {NULL};
    for (uint32_t k = 0; k < def->noperands; k++) {
        if (!sizes_of(f, ir_resolve(def->operands[k]), one)) return false;
        if (!pack) first = emit_size_add(f->e, first, one[0]);
    }
    for (uint32_t k = 1; k < part->type->rank; k++) dims[k] = one[pack ? k - 1 : k];
    dims[0] = first;
    return true;
}

static bool can_open(const Fn *f, const IrInst *whole) {
    if (map_hasp(&f->done, whole)) return false;
    for (uint32_t k = 0; k < whole->noperands; k++) {
        const IrValue *part = ir_resolve(whole->operands[k]);
        if (!part->def || part->def->parent != whole->parent) return false;
        if (f->uses[part->id] != 1 || f->dests[part->id].at) return false;
        if (!joins(part->def) && whole_of(f, part) != whole) return false;
    }
    return true;
}

/* Makes WHOLE ready, as a part of what it belongs to. */
static void open_whole(Fn *f, const IrInst *whole) {
    const IrValue *result = whole->results[0];
    LLVMValueRef dims[IR_MAX_RANK], at = gen_int(f->e, 0);
    if (!can_open(f, whole) || !sizes_of(f, result, dims)) return;
    const IrInst *outer = whole_of(f, result);
    if (outer) open_whole(f, outer);
    Val all = gen_new_array(f, result, dims);
    for (uint32_t k = 0; k < whole->noperands; k++) {
        const IrValue *part = ir_resolve(whole->operands[k]);
        LLVMValueRef count = gen_int(f->e, 1), size[IR_MAX_RANK] = {NULL};
        sizes_of(f, part, size);
        for (uint32_t d = 0; d < part->type->rank; d++) count = emit_size_mul(f->e, count, size[d]);
        f->dests[part->id] =
            (Dest){.at = gen_element_at(f, result->type, all.at, at), .depth = all.depth};
        at = emit_size_add(f->e, at, count);
    }
    gen_set(f, result, all);
    map_setp(&f->done, whole, (void *)(uintptr_t)whole);
}

void gen_wholes(Fn *f, const IrInst *build) {
    for (uint32_t r = 0; r < build->nresults; r++) {
        const IrInst *whole = whole_of(f, build->results[r]);
        if (whole) open_whole(f, whole);
    }
}
