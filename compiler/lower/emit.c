/* Small pieces of IR. */
#include "lower/internal.h"

#include <string.h>

IrValue *emit_int(Fn *f, int64_t value) {
    return irb_int(&f->b, value);
}

IrValue *emit_bool(Fn *f, bool value) {
    return irb_bool(&f->b, value);
}

bool emit_is_int(IrValue *value, int64_t what) {
    int64_t known;
    return ir_const_int(value, &known) && known == what;
}

IrValue *emit_binary(Fn *f, IrOp op, IrValue *a, IrValue *b) {
    return irb_binary(&f->b, op, a, b);
}

IrValue *emit_add(Fn *f, IrValue *a, IrValue *b) {
    return emit_binary(f, IR_ADD, a, b);
}

/* (b + c) - b is c: the length of many ranges. */
IrValue *emit_sub(Fn *f, IrValue *a, IrValue *b) {
    if (a->type->kind == IR_T_SCALAR && a->type->scalar == IR_I64 && a->def &&
        a->def->op == IR_ADD) {
        if (a->def->operands[0] == b) return a->def->operands[1];
        if (a->def->operands[1] == b) return a->def->operands[0];
    }
    if (a == b && a->type->scalar == IR_I64) return emit_int(f, 0);
    return emit_binary(f, IR_SUB, a, b);
}

IrValue *emit_mul(Fn *f, IrValue *a, IrValue *b) {
    return emit_binary(f, IR_MUL, a, b);
}

IrValue *emit_to_i64(Fn *f, IrValue *value) {
    return irb_cast(&f->b, value, IR_I64);
}

IrValue *emit_and(Fn *f, IrValue *a, IrValue *b) {
    return emit_binary(f, IR_AND, a, b);
}

IrValue *emit_or(Fn *f, IrValue *a, IrValue *b) {
    return emit_binary(f, IR_OR, a, b);
}

IrValue *emit_not(Fn *f, IrValue *a) {
    return irb_unary(&f->b, IR_NOT, a);
}

void emit_check(Fn *f, IrValue *cond, uint32_t error, const char *text, uint32_t n,
                IrValue *const *args) {
    if (f->lw->options->unchecked || emit_is_int(cond, 1)) return;
    irb_check(&f->b, cond, error, text, n, args);
}

void emit_check_index(Fn *f, IrValue *i, IrValue *n, const char *name) {
    if (!f->lw->options->unchecked) irb_check_index(&f->b, i, n, name);
}

IrValue *emit_index(Fn *f, IrValue *x, uint32_t n, IrValue *const *indices) {
    return n ? irb_index(&f->b, x, n, indices) : x;
}

IrValue *emit_fill(Fn *f, IrValue *scalar, uint32_t n, IrValue *const *sizes) {
    if (!n) return scalar;
    IrType elem = scalar->type;
    IrInst *build = irb_build(&f->b, n, sizes, 1, &elem, 0, NULL);
    IrBuilder inner = f->b;
    irb_at_end(&inner, build->regions[0]);
    irb_yield(&inner, 1, &scalar);
    return build->results[0];
}

static IrValue *nothing(Fn *f, const Leaf *leaf) {
    IrValue *sizes[IR_MAX_RANK];
    if (leaf->kind == IR_T_STR) return irb_string(&f->b, "");
    if (leaf->kind == IR_T_TAPE) return irb_tape_new(&f->b);
    for (uint32_t k = 0; k < leaf->rank; k++)
        sizes[k] = emit_int(f, leaf->type->dims[k] >= 0 ? leaf->type->dims[k] : 0);
    return emit_fill(f, irb_zero(&f->b, leaf->scalar), leaf->rank, sizes);
}

Vals emit_nothing(Fn *f, const Shape *shape) {
    Vals vals = vals_new(f->lw, shape->n);
    for (uint32_t i = 0; i < shape->n; i++) vals.at[i] = nothing(f, &shape->leaf[i]);
    return vals;
}

Vals emit_stop(Fn *f, Vals vals) {
    Vals out = vals_copy(f->lw, vals);
    for (uint32_t i = 0; i < out.n; i++) {
        IrType type = out.at[i]->type;
        if (out.at[i]->def && out.at[i]->def->op == IR_STOP) continue;
        if (ir_is_float(type) || type->kind == IR_T_TAPE) out.at[i] = irb_stop(&f->b, out.at[i]);
    }
    return out;
}

IrValue *emit_trip_count(Fn *f, IrValue *lo, IrValue *hi, IrValue *step) {
    int64_t known;
    if (!step || emit_is_int(step, 1)) return emit_sub(f, hi, lo);
    if (ir_const_int(step, &known) && known != 0 && known != INT64_MIN) {
        IrValue *size = emit_int(f, known < 0 ? -known : known);
        IrValue *way = known > 0 ? emit_sub(f, hi, lo) : emit_sub(f, lo, hi);
        way = emit_add(f, way, emit_int(f, (known < 0 ? -known : known) - 1));
        return emit_binary(f, IR_DIV, way, size);
    }
    IrValue *zero = emit_int(f, 0);
    IrValue *nonzero = emit_binary(f, IR_NE, step, zero);
    emit_check(f, nonzero, LOWER_ERROR_DOMAIN, "the step of a range is 0", 0, NULL);
    IrValue *up = emit_binary(f, IR_GT, step, zero);
    IrValue *way = irb_select(&f->b, up, emit_sub(f, hi, lo), emit_sub(f, lo, hi));
    IrValue *size = irb_unary(&f->b, IR_ABS, irb_select(&f->b, nonzero, step, emit_int(f, 1)));
    way = emit_add(f, way, emit_sub(f, size, emit_int(f, 1)));
    return emit_binary(f, IR_DIV, way, size);
}

IrValue *emit_at_least_zero(Fn *f, IrValue *count) {
    if (size_nonneg(f, count)) return count;
    return emit_binary(f, IR_MAX, count, emit_int(f, 0));
}

/* ---- BUILD ---- */

/* What a body of unknown sizes has for sizes, by running it for the first place, if there is one.
 */
typedef struct Probe {
    const Shape *shape;
    uint32_t n, front; /* indices; dimensions of the shape that are theirs */
    EmitBody run;
    void *data;
    SlotSet slots;
} Probe;

static void mark_ahead(IrInst *inst, void *data) {
    (void)data;
    if (inst->op == IR_CALL) inst->flags |= IR_CALL_AHEAD;
}

static void probe_side(Fn *f, bool taken, void *data) {
    Probe *probe = data;
    IrValue *zeros[IR_MAX_RANK];
    uint32_t at = 0;
    Vals vals = {0};
    if (taken) {
        IrRegion *region = f->b.region;
        IrInst *before = region->last;
        for (uint32_t k = 0; k < probe->n; k++) zeros[k] = emit_int(f, 0);
        vals = probe->run(f, zeros, probe->data);
        for (IrInst *inst = before ? before->next : region->first; inst; inst = inst->next) {
            mark_ahead(inst, NULL);
            for (uint32_t r = 0; r < inst->nregions; r++)
                ir_walk(inst->regions[r], mark_ahead, NULL);
        }
    }
    for (uint32_t i = 0; i < probe->shape->n; i++) {
        uint32_t rank = probe->shape->leaf[i].rank - probe->front;
        for (uint32_t k = 0; k < rank; k++, at++) {
            IrValue *dim = taken ? irb_dim(&f->b, vals.at[i], k) : emit_int(f, 0);
            env_set(f, probe->slots.at[at], vals_one(f->lw, dim));
        }
    }
}

static void probe_sizes(Fn *f, Probe *probe, IrValue *const *sizes, uint32_t ninner,
                        IrValue **inner) {
    Type i64 = type_scalar(f->lw->program->types, SCALAR_I64);
    IrValue *some = emit_bool(f, true);
    for (uint32_t k = 0; k < probe->n; k++)
        some = emit_and(f, some, emit_binary(f, IR_GT, sizes[k], emit_int(f, 0)));
    for (uint32_t k = 0; k < ninner; k++)
        slots_add(&probe->slots, env_new_slot(f, shape_of(f->lw, i64)));
    uint32_t mark = env_mark(f);
    merge_if(f, some, &probe->slots, probe_side, probe);
    for (uint32_t k = 0; k < ninner; k++) {
        inner[k] = env_get(f, probe->slots.at[k]).at[0];
        size_note_nonneg(f, inner[k]);
    }
    env_rollback(f, mark);
    vec_free(&probe->slots);
}

/* The sizes of what the body yields, from the types; false if some are not known. */
static bool inner_sizes(Fn *f, const Shape *shape, uint32_t n, IrValue **inner) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < shape->n; i++)
        for (uint32_t k = n; k < shape->leaf[i].rank; k++, at++) {
            inner[at] = size_dim(f, shape->leaf[i].dims[k]);
            if (!inner[at]) return false;
        }
    return true;
}

static void check_inner(Fn *f, const Vals vals, IrValue *const *inner) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < vals.n; i++)
        for (uint32_t k = 0; k < vals.at[i]->type->rank; k++, at++) {
            IrValue *pair[] = {irb_dim(&f->b, vals.at[i], k), inner[at]};
            if (pair[0] == pair[1]) continue;
            emit_check(f, emit_binary(f, IR_EQ, pair[0], pair[1]), LOWER_ERROR_SIZE,
                       "the elements of an array have different sizes: {0} and {1}", 2, pair);
        }
}

bool emit_inner_sizes(Fn *f, uint32_t n, IrValue *const *sizes, const Shape *shape, uint32_t front,
                      EmitBody run, void *data, IrValue **inner) {
    uint32_t ninner = 0;
    for (uint32_t i = 0; i < shape->n; i++) ninner += shape->leaf[i].rank - front;
    if (inner_sizes(f, shape, front, inner)) return true;
    Probe probe = {.shape = shape, .n = n, .front = front, .run = run, .data = data};
    probe_sizes(f, &probe, sizes, ninner, inner);
    return false;
}

Vals emit_build(Fn *f, uint32_t n, IrValue *const *sizes, const Shape *shape, EmitBody run,
                void *data) {
    IrType *elems = ARENA_ARRAY(f->lw->arena, IrType, shape->n);
    uint32_t ninner = 0;
    for (uint32_t i = 0; i < shape->n; i++) {
        elems[i] = ir_type_inner(f->lw->module, shape->leaf[i].type, n);
        ninner += shape->leaf[i].rank - n;
    }
    IrValue **inner = ARENA_ARRAY(f->lw->arena, IrValue *, ninner);
    bool known = emit_inner_sizes(f, n, sizes, shape, n, run, data, inner);
    IrInst *build = irb_build(&f->b, n, sizes, shape->n, elems, ninner, inner);
    IrRegion *outside = f->b.region;
    uint32_t mark = env_mark(f);
    irb_at_end(&f->b, build->regions[0]);
    Vals vals = run(f, build->regions[0]->params, data);
    CHECK_INTERNAL(vals.n == shape->n);
    if (!known) check_inner(f, vals, inner);
    irb_yield(&f->b, vals.n, vals.at);
    env_rollback(f, mark);
    irb_at_end(&f->b, outside);
    Vals results = vals_new(f->lw, build->nresults);
    for (uint32_t i = 0; i < build->nresults; i++) results.at[i] = build->results[i];
    return results;
}

void lower_unsupported(Fn *f, Span span, const char *what) {
    diag_report(f->lw->diags, DIAG_NOT_IMPLEMENTED, span, "%s cannot be compiled yet", what);
}

/* ---- texts ---- */

enum { SOURCE_TEXT_MAX = 60 };

const char *emit_source_text(Fn *f, Span span, bool template) {
    const SourceFile *file = span.begin ? sources_file(f->lw->sources, span.begin) : NULL;
    if (!file || span.end < span.begin || span.end - file->base > file->len) return NULL;
    const char *at = file->text + (span.begin - file->base);
    const char *end = file->text + (span.end - file->base);
    StrBuf buf = {0};
    for (; at < end && buf.len < SOURCE_TEXT_MAX; at++) {
        bool space = *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r';
        if (space && (!buf.len || buf.text[buf.len - 1] == ' ')) continue;
        if (template && (*at == '{' || *at == '}')) strbuf_char(&buf, *at);
        strbuf_char(&buf, space ? ' ' : *at);
    }
    if (at < end) {
        while (buf.len && ((unsigned char)buf.text[buf.len - 1] & 0xC0) == 0x80) buf.len--;
        if (buf.len && (unsigned char)buf.text[buf.len - 1] >= 0xC0) buf.len--;
        strbuf_add(&buf, "...");
    }
    const char *text = arena_strndup(f->lw->module->arena, buf.text ? buf.text : "", buf.len);
    strbuf_free(&buf);
    return text;
}
