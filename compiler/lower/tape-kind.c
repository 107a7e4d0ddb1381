/* A number for what a tape is of, so that a C program cannot bring back another one: the function
   with its types, activities and options, and which of the derivatives of a tape it is.  It depends
   on the source alone, so that parts that were compiled apart agree. */
#include "lower/internal.h"

#include <string.h>

#include "base/map.h"

/* ---- the function ---- */

static void add_place(StrBuf *out, const Lower *lw, const Instance *inst) {
    const SourceFile *file =
        inst->span.begin ? sources_file(lw->module->sources, inst->span.begin) : NULL;
    if (!file) return;
    uint32_t line, column;
    const char *slash = strrchr(file->path, '/');
    source_line_col(file, inst->span.begin, &line, &column);
    strbuf_printf(out, "%s:%u:%u ", slash ? slash + 1 : file->path, line, column);
}

static void add_function(StrBuf *out, const Lower *lw, const Instance *inst) {
    if (!inst->deriv) {
        add_place(out, lw, inst);
        strbuf_add(out, inst->name ? inst->name : "");
        for (uint32_t i = 0; i < inst->nparams; i++) {
            strbuf_char(out, ' ');
            type_print(out, inst->params[i]->type);
        }
        return;
    }
    const DerivSpec *spec = inst->deriv;
    const Instance *base = spec->base_instance;
    strbuf_printf(out, "%d %d %d %d %d %u %lld ", (int)spec->part, spec->primal, spec->seed,
                  spec->strong_zero, spec->holomorphic, spec->width, (long long)spec->checkpoint);
    for (uint32_t i = base->ncaptures; i < base->nparams; i++)
        strbuf_printf(out, "%d ", (int)spec->act[i - base->ncaptures]);
    add_function(out, lw, base);
}

/* ---- which derivative of a tape: a bit for each operator that made it a tangent or cotangent ----
 */

static uint32_t count_tapes(Type type) {
    uint32_t n = type->kind == TYPE_TAPE;
    for (uint32_t k = 0; type->kind == TYPE_TUPLE && k < type->nparts; k++)
        n += count_tapes(type->parts[k].type);
    return n;
}

static Type find_tape(Type type, uint32_t *nth) {
    if (type->kind == TYPE_TAPE && (*nth)-- == 0) return type;
    for (uint32_t k = 0; type->kind == TYPE_TUPLE && k < type->nparts; k++) {
        Type found = find_tape(type->parts[k].type, nth);
        if (found) return found;
    }
    return NULL;
}

static uint32_t own_bit(const Instance *inst) {
    uint32_t depth = 0;
    for (; inst->deriv; inst = inst->deriv->base_instance) depth++;
    return 1u << (depth % 32);
}

static uint32_t result_order(const Instance *inst, uint32_t nth);

static uint32_t param_order(const Instance *inst, uint32_t i, uint32_t nth) {
    if (!inst->deriv || i < inst->ncaptures) return 0;
    const DerivSlot *slot = &inst->deriv->params[i - inst->ncaptures];
    const Instance *base = inst->deriv->base_instance;
    if (slot->role == ROLE_TAPE) return 0;
    if (slot->role == ROLE_SEED) return own_bit(inst) | result_order(base, nth);
    uint32_t of = param_order(base, base->ncaptures + slot->of, nth);
    return slot->role == ROLE_PRIMAL ? of : own_bit(inst) | of;
}

static uint32_t slot_order(const Instance *inst, const DerivSlot *slot, uint32_t nth) {
    const Instance *base = inst->deriv->base_instance;
    if (slot->role == ROLE_TAPE) return 0;
    if (slot->role == ROLE_PRIMAL) return result_order(base, nth);
    if (slot->role == ROLE_COTANGENT)
        return own_bit(inst) | param_order(base, base->ncaptures + slot->of, nth);
    return own_bit(inst) | result_order(base, nth);
}

static uint32_t result_order(const Instance *inst, uint32_t nth) {
    for (uint32_t k = 0; inst->deriv && k < inst->deriv->nresults; k++) {
        const DerivSlot *slot = &inst->deriv->results[k];
        uint32_t n = count_tapes(slot->type);
        if (nth < n) return slot_order(inst, slot, nth);
        nth -= n;
    }
    return 0;
}

/* ---- the number ---- */

static int64_t number_of(const Lower *lw, Type type, uint32_t nth, uint32_t order) {
    Type tape = find_tape(type, &nth);
    if (!tape || !tape->tape_of) return 0;
    StrBuf text = {0};
    strbuf_printf(&text, "%u ", order);
    add_function(&text, lw, tape->tape_of);
    uint64_t hash = hash_bytes(text.text, text.len);
    strbuf_free(&text);
    return (int64_t)(hash ? hash : 1);
}

int64_t tape_kind_of_param(const Lower *lw, const Instance *inst, uint32_t i, uint32_t nth) {
    return number_of(lw, inst->params[i]->type, nth, param_order(inst, i, nth));
}

int64_t tape_kind_of_result(const Lower *lw, const Instance *inst, uint32_t nth) {
    return number_of(lw, inst->result, nth, result_order(inst, nth));
}
