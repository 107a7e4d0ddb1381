/* A complex number by value is a struct of two reals, which LLVM leaves to its callers to pass as
   the C compiler does.  On x86-64 two doubles take two vector registers, two floats share one, and
   where too few are left the struct is in memory; on AArch64 each part has its register, or all are
   in memory, which LLVM knows of arrays. */
#include "codegen/cpu/c-args.h"

#include <string.h>

enum { X86_VECTOR_REGISTERS = 8 };

static LLVMTypeRef leaf_type(const Emit *e, const IrCParam *leaf) {
    if (leaf->kind == IR_C_SIZE) return e->i64;
    if (leaf->kind == IR_C_SCALAR && leaf->type->kind == IR_T_SCALAR)
        return emit_memory_type(e, leaf->type->scalar);
    return e->ptr;
}

static bool is_real(const Emit *e, LLVMTypeRef type) {
    return type == e->f32 || type == e->f64;
}

/* The part type of an argument that is a struct of two reals by value, else NULL. */
static LLVMTypeRef pair_of(const Emit *e, const IrExport *export, const IrCArg *arg) {
    if (arg->kind != IR_ARG_COMPLEX || arg->written) return NULL;
    return leaf_type(e, &export->params[arg->first]);
}

static LLVMTypeRef pair_struct(const Emit *e, LLVMTypeRef part) {
    LLVMTypeRef parts[] = {part, part};
    return LLVMStructTypeInContext(e->context, parts, 2, false);
}

static CPassing passing(const Emit *e, LLVMTypeRef part, unsigned *registers) {
    const char *triple = LLVMGetTarget(e->module);
    if (strncmp(triple, "aarch64", strlen("aarch64")) == 0) return C_ARRAY;
    if (strncmp(triple, "x86_64", strlen("x86_64")) != 0) return C_TWO;
    unsigned wanted = part == e->f64 ? 2 : 1;
    if (*registers + wanted > X86_VECTOR_REGISTERS) return C_MEMORY;
    *registers += wanted;
    return part == e->f64 ? C_TWO : C_VECTOR;
}

LLVMTypeRef c_args_type(const Emit *e, const IrExport *export, CPlace *places) {
    VEC(LLVMTypeRef) types = {0};
    unsigned registers = 0;
    for (uint32_t i = 0; i < export->nargs; i++) {
        const IrCArg *arg = &export->args[i];
        LLVMTypeRef part = pair_of(e, export, arg);
        places[i] = (CPlace){C_ONE, types.len};
        if (part) {
            places[i].how = passing(e, part, &registers);
            switch (places[i].how) {
            case C_ONE: break;
            case C_TWO:
                vec_push(&types, part);
                vec_push(&types, part);
                break;
            case C_VECTOR: vec_push(&types, LLVMVectorType(part, 2)); break;
            case C_ARRAY: vec_push(&types, LLVMArrayType2(part, 2)); break;
            case C_MEMORY: vec_push(&types, e->ptr); break;
            }
            continue;
        }
        LLVMTypeRef type =
            arg->kind == IR_ARG_LEAF ? leaf_type(e, &export->params[arg->first]) : e->ptr;
        if (is_real(e, type) && registers < X86_VECTOR_REGISTERS) registers++;
        vec_push(&types, type);
    }
    LLVMTypeRef type = LLVMFunctionType(e->i32, types.at, types.len, false);
    vec_free(&types);
    return type;
}

/* C callers extend small integers. */
static void describe_small(Gen *g, LLVMValueRef fn, unsigned i, IrType type) {
    if (type->kind != IR_T_SCALAR || ir_scalar_float(type->scalar)) return;
    if (ir_scalar_bytes(type->scalar) >= 4) return;
    gen_attribute(g, fn, i + 1, ir_scalar_signed(type->scalar) ? "signext" : "zeroext", 0);
}

void c_args_describe(Gen *g, LLVMValueRef fn, const IrExport *export, const CPlace *places) {
    for (uint32_t i = 0; i < export->nargs; i++) {
        const IrCArg *arg = &export->args[i];
        unsigned at = places[i].first;
        LLVMValueRef param = LLVMGetParam(fn, at);
        LLVMSetValueName2(param, arg->name, strlen(arg->name));
        if (places[i].how == C_MEMORY) {
            LLVMTypeRef type = pair_struct(&g->e, pair_of(&g->e, export, arg));
            unsigned kind = LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
            LLVMAddAttributeAtIndex(fn, at + 1, LLVMCreateTypeAttribute(g->e.context, kind, type));
            gen_attribute(g, fn, at + 1, "align", 8);
        } else if (places[i].how == C_ONE && LLVMTypeOf(param) == g->e.ptr) {
            gen_attribute(g, fn, at + 1, "noalias", 0);
        } else if (arg->kind == IR_ARG_LEAF) {
            describe_small(g, fn, at, export->params[arg->first].type);
        }
    }
}

static LLVMValueRef pair_part(Emit *e, LLVMValueRef fn, CPlace place, unsigned part,
                              LLVMTypeRef type) {
    LLVMValueRef given = LLVMGetParam(fn, place.first);
    switch (place.how) {
    case C_ONE: break;
    case C_TWO: return LLVMGetParam(fn, place.first + part);
    case C_VECTOR: return LLVMBuildExtractElement(e->b, given, emit_int32(e, (int)part), "");
    case C_ARRAY: return LLVMBuildExtractValue(e->b, given, part, "");
    case C_MEMORY: {
        int64_t bytes = type == e->f64 ? 8 : 4;
        return LLVMBuildLoad2(e->b, type, emit_offset(e, given, (int64_t)part * bytes), "");
    }
    }
    return given;
}

LLVMValueRef c_args_leaf(Emit *e, LLVMValueRef fn, const IrExport *export, const CPlace *places,
                         uint32_t i) {
    const IrCParam *leaf = &export->params[i];
    CPlace place = places[leaf->arg];
    const IrCArg *arg = &export->args[leaf->arg];
    LLVMTypeRef part = pair_of(e, export, arg);
    if (part) return pair_part(e, fn, place, i - arg->first, part);
    LLVMValueRef given = LLVMGetParam(fn, place.first);
    if (leaf->offset < 0) return given;
    LLVMValueRef at = emit_offset(e, given, leaf->offset);
    bool written = leaf->kind == IR_C_MUT || leaf->kind == IR_C_OUT;
    if (written && leaf->type->kind == IR_T_SCALAR) return at;
    return LLVMBuildLoad2(e->b, leaf_type(e, leaf), at, leaf->name);
}
