/* Products of matrices and vectors.  Where the right factor has lanes, a row of it is one of so
   many more plain numbers, and so is one of the result; other factors with lanes are gone through
   element by element. */
#include "codegen/cpu/device.h"
#include "codegen/cpu/gen.h"
#include "runtime/layout.h"

/* Products of more multiplications than this go to the runtime, which has BLAS. */
enum { CONTRACT_LARGE = 8192 };
/* So many elements with lanes are summed at once: each addition waits for the one before. */
enum { AT_ONCE = 4 };

typedef struct Product {
    Fn *f;
    Emit *e;
    IrScalar scalar, of_a, of_b; /* of the result and of the factors */
    Val a, b, out;
    LLVMValueRef m, n, k; /* op(a) is m x k, op(b) is k x n */
    bool ta, tb;
} Product;

static LLVMValueRef at2(Emit *e, LLVMValueRef i, LLVMValueRef width, LLVMValueRef j) {
    return emit_size_add(e, emit_size_mul(e, i, width), j);
}

static LLVMValueRef element_a(Product *p, LLVMValueRef i, LLVMValueRef l) {
    LLVMValueRef at = p->ta ? at2(p->e, l, p->m, i) : at2(p->e, i, p->k, l);
    return gen_load(p->f, &p->a, p->of_a, at);
}

static LLVMValueRef element_b(Product *p, LLVMValueRef l, LLVMValueRef j) {
    LLVMValueRef at = p->tb ? at2(p->e, j, p->k, l) : at2(p->e, l, p->n, j);
    return gen_load(p->f, &p->b, p->of_b, at);
}

static void open(Fn *f, Loop *loop, LLVMValueRef count) {
    loop_open_group(f);
    gen_loop_open(f, loop, "product");
    loop_enter(f, loop, count);
}

static void close(Fn *f, Loop *loop) {
    gen_loop_close(f, loop, loop_close_group(f, false));
}

static LLVMValueRef row(Product *p, const Val *x, LLVMValueRef i, LLVMValueRef width) {
    LLVMValueRef at = emit_size_mul(p->e, i, width);
    return LLVMBuildInBoundsGEP2(p->e->b, emit_element_type(p->e, p->scalar), x->at, &at, 1, "");
}

static void clear(Product *p, LLVMValueRef count) {
    LLVMValueRef size = gen_int(p->e, ir_scalar_bytes(p->scalar));
    LLVMBuildMemSet(p->e->b, p->out.at, LLVMConstInt(p->e->i8, 0, false),
                    emit_size_mul(p->e, count, size), ir_scalar_align(p->scalar));
}

static LLVMValueRef add_product(const Product *p, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
    x = emit_widened(p->e, x, p->scalar);
    y = emit_widened(p->e, y, p->scalar);
    if (ir_scalar_float(p->scalar)) return emit_muladd(p->e, x, y, z);
    return emit_combine(p->e, IR_SUM, p->scalar, z, emit_combine(p->e, IR_PROD, p->scalar, x, y));
}

/* out[i, :] += a[i, l] b[l, :], with l inside i, or outside where a stands transposed. */
static void by_rows(Product *p) {
    Fn *f = p->f;
    Loop outer, middle, inner;
    uint32_t depth = p->out.depth;
    clear(p, emit_size_mul(p->e, p->m, p->n));
    open(f, &outer, p->ta ? p->k : p->m);
    open(f, &middle, p->ta ? p->m : p->k);
    LLVMValueRef i = p->ta ? middle.i : outer.i, l = p->ta ? outer.i : middle.i;
    LLVMValueRef factor = element_a(p, i, l);
    p->out.depth = f->groups.len; /* only the innermost loop has places of its own */
    open(f, &inner, p->n);
    LLVMValueRef to = at2(p->e, i, p->n, inner.i), old = gen_load(f, &p->out, p->scalar, to);
    gen_store(f, &p->out, p->scalar, to, add_product(p, factor, element_b(p, l, inner.i), old));
    close(f, &inner);
    close(f, &middle);
    close(f, &outer);
    p->out.depth = depth;
}

/* A sum of nothing is 0, not the -0.0 that the tree of sums begins with. */
static LLVMValueRef product_sum(Fn *f, IrScalar scalar, LLVMValueRef a, LLVMValueRef b,
                                LLVMValueRef n) {
    LLVMValueRef sum = sum_products(f, scalar, a, b, n);
    return emit_combine(f->e, IR_SUM, scalar, sum, emit_zero(f->e, scalar));
}

static bool is_plain_float(const Product *p) {
    return ir_scalar_float(p->scalar) && ir_scalar_lanes(p->scalar) == 1;
}

/* The N elements from (I, J) on, l by l. */
static void some_elements(Product *p, LLVMValueRef i, LLVMValueRef j, unsigned n) {
    Fn *f = p->f;
    Emit *e = p->e;
    LLVMValueRef sums[AT_ONCE];
    Loop l;
    gen_loop_open(f, &l, "product");
    for (unsigned w = 0; w < n; w++) sums[w] = LLVMBuildPhi(e->b, emit_type(e, p->scalar), "sum");
    loop_enter(f, &l, p->k);
    LLVMValueRef a = element_a(p, i, l.i);
    for (unsigned w = 0; w < n; w++) {
        LLVMValueRef b = element_b(p, l.i, emit_size_add(e, j, gen_int(e, w)));
        LLVMValueRef next = add_product(p, a, b, sums[w]);
        loop_phi(&l, sums[w], emit_zero(e, p->scalar), next, LLVMGetInsertBlock(e->b));
    }
    gen_loop_close(f, &l, NULL);
    for (unsigned w = 0; w < n; w++) {
        LLVMValueRef to = at2(e, i, p->n, emit_size_add(e, j, gen_int(e, w)));
        gen_store(f, &p->out, p->scalar, to, sums[w]);
    }
}

/* Row I of a result with lanes. */
static void row_with_lanes(Product *p, LLVMValueRef i) {
    Emit *e = p->e;
    LLVMValueRef step = gen_int(e, AT_ONCE);
    LLVMValueRef rest = LLVMBuildAnd(e->b, p->n, gen_int(e, AT_ONCE - 1), "");
    LLVMValueRef whole = LLVMBuildSub(e->b, p->n, rest, "");
    Loop j;
    open(p->f, &j, LLVMBuildUDiv(e->b, p->n, step, ""));
    some_elements(p, i, emit_size_mul(e, j.i, step), AT_ONCE);
    close(p->f, &j);
    open(p->f, &j, rest);
    some_elements(p, i, emit_size_add(e, whole, j.i), 1);
    close(p->f, &j);
}

/* Each element by itself: rows of a times rows of b where both are rows, else l by l. */
static void by_elements(Product *p) {
    Fn *f = p->f;
    Loop i, j;
    open(f, &i, p->m);
    if (ir_scalar_lanes(p->scalar) > 1) {
        row_with_lanes(p, i.i);
        close(f, &i);
        return;
    }
    open(f, &j, p->n);
    if (!p->ta && p->tb && is_plain_float(p)) {
        LLVMValueRef a = row(p, &p->a, i.i, p->k), b = row(p, &p->b, j.i, p->k);
        gen_store(f, &p->out, p->scalar, at2(p->e, i.i, p->n, j.i),
                  product_sum(f, p->scalar, a, b, p->k));
    } else {
        some_elements(p, i.i, j.i, 1);
    }
    close(f, &j);
    close(f, &i);
}

static void small_product(Product *p) {
    if (p->tb) by_elements(p);
    else by_rows(p);
}

static void large_product(Product *p) {
    Emit *e = p->e;
    LLVMValueRef args[] = {
        emit_int32(e, p->ta), emit_int32(e, p->tb), p->m, p->n, p->k, p->a.at, p->b.at, p->out.at,
        emit_int32(e, 0)};
    gen_runtime(p->f->g, p->scalar == IR_F32 ? "adl__gemm_f32" : "adl__gemm_f64", args, 9);
}

/* The operands' volume decides at run time, so that code for both is there unless it is known. */
static void matrices(Product *p) {
    Fn *f = p->f;
    Emit *e = p->e;
    if (!is_plain_float(p)) {
        small_product(p);
        return;
    }
    LLVMValueRef volume = emit_size_mul(e, emit_size_mul(e, p->m, p->n), p->k);
    LLVMValueRef large = LLVMBuildICmp(e->b, LLVMIntSGT, volume, gen_int(e, CONTRACT_LARGE), "");
    if (LLVMIsAConstantInt(large)) {
        if (LLVMConstIntGetZExtValue(large)) large_product(p);
        else small_product(p);
        return;
    }
    LLVMBasicBlockRef blas = gen_block(f, "large"), loops = gen_block(f, "small"),
                      done = gen_block(f, "product.done");
    LLVMBuildCondBr(e->b, large, blas, loops);
    LLVMPositionBuilderAtEnd(e->b, blas);
    large_product(p);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, loops);
    small_product(p);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
}

/* A vector as the matrix that it acts as: a row on the left, a column on the right. */
static void shape(Product *p, uint32_t rank_a, uint32_t rank_b) {
    LLVMValueRef one = gen_int(p->e, 1);
    p->m = rank_a == 1 ? one : p->a.dims[p->ta ? 1 : 0];
    p->k = rank_a == 1 ? p->a.dims[0] : p->a.dims[p->ta ? 0 : 1];
    p->n = rank_b == 1 ? one : p->b.dims[p->tb ? 0 : 1];
    if (rank_a == 1) p->ta = false;
    if (rank_b == 1) p->tb = true; /* a column of n = 1 lies like a row of its transpose */
}

static void dot(Product *p, const IrInst *inst) {
    if (is_plain_float(p)) {
        gen_set_scalar(p->f, inst->results[0],
                       product_sum(p->f, p->scalar, p->a.at, p->b.at, p->k));
        return;
    }
    Loop l;
    Emit *e = p->e;
    gen_loop_open(p->f, &l, "product");
    LLVMValueRef sum = LLVMBuildPhi(e->b, emit_type(e, p->scalar), "sum");
    loop_enter(p->f, &l, p->k);
    LLVMValueRef a = gen_load(p->f, &p->a, p->of_a, l.i), b = gen_load(p->f, &p->b, p->of_b, l.i);
    loop_phi(&l, sum, emit_zero(e, p->scalar), add_product(p, a, b, sum), LLVMGetInsertBlock(e->b));
    gen_loop_close(p->f, &l, NULL);
    gen_set_scalar(p->f, inst->results[0], sum);
}

/* Lanes of the right factor alone, if it stands as it is, become columns. */
static bool lanes_as_columns(Product *p, uint32_t rank_b) {
    uint32_t lanes = ir_scalar_lanes(p->of_b);
    if (lanes == 1 || ir_scalar_lanes(p->of_a) > 1 || (rank_b == 2 && p->tb)) return false;
    p->n = emit_size_mul(p->e, p->n, gen_int(p->e, lanes));
    p->tb = false;
    p->scalar = p->of_b = ir_scalar_base(p->of_b);
    return true;
}

/* A product that gives an array, into p->out. */
static void arrays(Product *p, uint32_t rank_a, uint32_t rank_b) {
    Fn *f = p->f;
    Product t = *p;
    if (lanes_as_columns(p, rank_b)) {
        if (rank_a == 2) matrices(p);
        else by_rows(p);
    } else if (rank_a == 2 && rank_b == 1 && p->ta) {
        /* Rows of a, each times one element: better than columns. */
        t.b = p->a, t.a = p->b;
        t.of_b = p->of_a, t.of_a = p->of_b;
        t.ta = t.tb = false;
        t.m = gen_int(f->e, 1), t.n = p->m;
        by_rows(&t);
    } else if (rank_a == 2 && rank_b == 2) {
        matrices(p);
    } else if (rank_a == 1 && p->tb) {
        /* Row by row of b. */
        t.a = p->b, t.b = p->a;
        t.of_a = p->of_b, t.of_b = p->of_a;
        t.ta = false, t.tb = true;
        t.m = p->n, t.n = gen_int(f->e, 1);
        by_elements(&t);
    } else {
        small_product(p);
    }
}

/* What BLAS has to know; it has no other types than these. */
static LLVMValueRef how(const Product *p, const IrInst *inst) {
    int32_t bits = 0;
    if (inst->flags & IR_CONTRACT_TA) bits |= ADL_GPU_PRODUCT_TA;
    if (inst->flags & IR_CONTRACT_TB) bits |= ADL_GPU_PRODUCT_TB;
    if (p->of_a == p->scalar && p->of_b == p->scalar) {
        if (p->scalar == IR_F64) bits |= ADL_GPU_PRODUCT_F64;
        if (p->scalar == IR_F32) bits |= ADL_GPU_PRODUCT_F32;
    }
    return emit_int32(p->e, bits);
}

static void on_device(Product *p, const IrInst *inst, const DeviceKernel *kernel) {
    Fn *f = p->f;
    uint32_t rank_a = ir_resolve(inst->operands[0])->type->rank,
             rank_b = ir_resolve(inst->operands[1])->type->rank;
    LaunchedProduct product = {how(p, inst), p->m, p->n, p->k};
    Launch launch = launch_open_product(f, kernel, &p->out, &product);
    arrays(p, rank_a, rank_b);
    launch_done(f, &launch);
    launch_close(f, &launch, 0, NULL, NULL);
}

void gen_contract(Fn *f, const IrInst *inst) {
    const IrValue *a = ir_resolve(inst->operands[0]), *b = ir_resolve(inst->operands[1]);
    Product p = {.f = f, .e = f->e, .scalar = inst->results[0]->type->scalar};
    p.of_a = a->type->scalar;
    p.of_b = b->type->scalar;
    uint32_t rank_a = a->type->rank, rank_b = b->type->rank;
    p.a = *gen_val(f, a);
    p.b = *gen_val(f, b);
    p.ta = inst->flags & IR_CONTRACT_TA;
    p.tb = inst->flags & IR_CONTRACT_TB;
    shape(&p, rank_a, rank_b);
    if (rank_a == 1 && rank_b == 1) {
        dot(&p, inst);
        return;
    }
    LLVMValueRef dims[2];
    uint32_t n = 0;
    if (rank_a == 2) dims[n++] = p.m;
    if (rank_b == 2) dims[n++] = p.n;
    p.out = gen_new_array(f, inst->results[0], dims);
    const DeviceKernel *kernel = device_kernel(f, inst);
    if (kernel) on_device(&p, inst, kernel);
    else arrays(&p, rank_a, rank_b);
    gen_set(f, inst->results[0], p.out);
}
