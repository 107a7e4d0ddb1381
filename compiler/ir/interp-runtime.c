/* Checks, messages, and the few runtime functions that programs cannot do without: texts and
   printing.  Names of runtime functions may begin with "adl__". */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ir/interp-internal.h"

/* ---- checks ---- */

/* TEMPLATE with {0}, {1}, ... replaced by operands 1, 2, ...; "{{" and "}}" are braces. */
static void fill_template(IrFrame *frame, const IrInst *inst, StrBuf *out) {
    for (const char *c = inst->text; *c; c++) {
        if ((c[0] == '{' && c[1] == '{') || (c[0] == '}' && c[1] == '}')) {
            strbuf_char(out, *c++);
        } else if (c[0] == '{' && isdigit((unsigned char)c[1])) {
            char *end;
            unsigned long i = strtoul(c + 1, &end, 10);
            if (*end != '}' || i + 1 >= inst->noperands) {
                strbuf_char(out, *c);
                continue;
            }
            IrType type = inst->operands[i + 1]->type;
            ir_print_datum(out, ir_peek(frame, inst, (uint32_t)i + 1), type);
            c = end;
        } else {
            strbuf_char(out, *c);
        }
    }
}

bool ir_run_check(IrFrame *frame, const IrInst *inst) {
    StrBuf text = {0};
    if (ir_peek_int(frame, inst, 0)) return true;
    strbuf_add(&text, "");
    fill_template(frame, inst, &text);
    ir_interp_fail(frame->interp, (int)inst->flags, inst->pos, "%s", text.text);
    strbuf_free(&text);
    return false;
}

bool ir_run_check_index(IrFrame *frame, const IrInst *inst) {
    int64_t i = ir_peek_int(frame, inst, 0), n = ir_peek_int(frame, inst, 1);
    if (i >= 0 && i < n) return true;
    return ir_interp_fail(frame->interp, IR_ERROR_INDEX, inst->pos,
                          "index %" PRId64 " is out of range 0..%" PRId64 "%s%s", i, n,
                          inst->text ? " for " : "", inst->text ? inst->text : "");
}

bool ir_run_fail(IrFrame *frame, const IrInst *inst) {
    const IrText *text = ir_peek(frame, inst, 0).as.text;
    return ir_interp_fail(frame->interp, (int)inst->flags, inst->pos, "%s", text->text);
}

/* ---- texts ---- */

static bool give_text(IrFrame *frame, const IrInst *inst, StrBuf *text) {
    IrDatum datum = ir_datum_text(text->text, text->len);
    strbuf_free(text);
    return ir_give(frame, inst, 0, datum);
}

/* Flags, width and precision of a printf form: at most three digits each. */
static bool split_form(const IrText *form, char head[16], char *letter) {
    const char *c = form->text;
    size_t n = 1;
    head[0] = '%';
    while (*c && strchr("-+ 0#", *c) && n < 4) head[n++] = *c++;
    for (int i = 0; i < 3 && isdigit((unsigned char)*c); i++) head[n++] = *c++;
    if (*c == '.') head[n++] = *c++;
    for (int i = 0; i < 3 && head[n - 1] != '%' && isdigit((unsigned char)*c); i++)
        head[n++] = *c++;
    head[n] = '\0';
    *letter = *c ? *c++ : '\0';
    return *c == '\0';
}

static void format_float(StrBuf *out, const char *head, char letter, double value) {
    char full[24], text[1600];
    snprintf(full, sizeof full, "%s%c", head, letter ? letter : 'g');
    snprintf(text, sizeof text, full, value);
    strbuf_add(out, text);
}

static void format_int(StrBuf *out, const char *head, char letter, IrScalar scalar, int64_t value) {
    char full[24], text[1600];
    const char *conversion = letter == 'x'              ? PRIx64
                             : letter == 'X'            ? PRIX64
                             : letter == 'o'            ? PRIo64
                             : ir_scalar_signed(scalar) ? PRId64
                                                        : PRIu64;
    uint32_t unseen = 64 - 8 * ir_scalar_bytes(scalar);
    bool bits = letter && strchr("xXo", letter);
    if (bits) value = (int64_t)((uint64_t)value << unseen >> unseen);
    snprintf(full, sizeof full, "%s%s", head, conversion);
    snprintf(text, sizeof text, full, value);
    strbuf_add(out, text);
}

static void format_word(StrBuf *out, const char *head, const char *word) {
    char full[24], text[1600];
    snprintf(full, sizeof full, "%ss", head);
    snprintf(text, sizeof text, full, word);
    strbuf_add(out, text);
}

/* A number or a truth value; false if the form is not for one. */
static bool format_scalar(StrBuf *out, const IrText *form, IrDatum value, IrScalar scalar) {
    char head[16], letter;
    if (!split_form(form, head, &letter)) return false;
    bool any = !letter || letter == 's', real = letter && strchr("eEfFgGaA", letter);
    if (value.kind == IR_D_FLOAT && (!letter || real)) {
        format_float(out, head, letter, value.as.f);
    } else if (value.kind == IR_D_INT && scalar == IR_BOOL && any) {
        format_word(out, head, value.as.i ? "true" : "false");
    } else if (value.kind == IR_D_INT && (!letter || strchr("diuxXo", letter))) {
        format_int(out, head, letter, scalar, value.as.i);
    } else {
        return false;
    }
    return true;
}

/* The part of the array that begins at *AT, from dimension K on, each element in the form. */
static bool format_array(StrBuf *out, const IrText *form, const IrArray *array, uint32_t k,
                         int64_t *at) {
    if (k == array->rank)
        return format_scalar(out, form, ir_array_get(array, (*at)++), array->scalar);
    strbuf_char(out, '[');
    for (int64_t i = 0; i < array->dims[k]; i++) {
        if (i) strbuf_add(out, ", ");
        if (!format_array(out, form, array, k + 1, at)) return false;
    }
    strbuf_char(out, ']');
    return true;
}

static bool format_formed(StrBuf *out, const IrText *form, IrDatum value, IrType type) {
    int64_t at = 0;
    if (value.kind == IR_D_ARRAY) return format_array(out, form, value.as.array, 0, &at);
    return format_scalar(out, form, value, type->scalar);
}

/* (value) or (form, value). */
static bool run_format(IrFrame *frame, const IrInst *inst) {
    uint32_t last = inst->noperands - 1;
    IrDatum value = ir_peek(frame, inst, last);
    const IrText *form = last ? ir_peek(frame, inst, 0).as.text : NULL;
    StrBuf out = {0};
    strbuf_add(&out, "");
    if (form && form->len && format_formed(&out, form, value, inst->operands[last]->type))
        return give_text(frame, inst, &out);
    strbuf_clear(&out);
    ir_print_datum(&out, value, inst->operands[last]->type);
    return give_text(frame, inst, &out);
}

static bool run_str_concat(IrFrame *frame, const IrInst *inst) {
    StrBuf out = {0};
    strbuf_add(&out, "");
    for (uint32_t i = 0; i < inst->noperands; i++) {
        const IrText *part = ir_peek(frame, inst, i).as.text;
        strbuf_add_n(&out, part->text, part->len);
    }
    return give_text(frame, inst, &out);
}

static bool run_str_equal(IrFrame *frame, const IrInst *inst) {
    bool equal = ir_datum_equal(ir_peek(frame, inst, 0), ir_peek(frame, inst, 1));
    return ir_give(frame, inst, 0, ir_datum_int(equal));
}

static bool run_print(IrFrame *frame, const IrInst *inst) {
    const IrText *text = ir_peek(frame, inst, 0).as.text;
    StrBuf *out = frame->interp->out;
    if (out) {
        strbuf_add_n(out, text->text, text->len);
        strbuf_char(out, '\n');
    } else {
        fwrite(text->text, 1, text->len, stdout);
        putchar('\n');
    }
    return true;
}

/* ---- dispatch ---- */

static bool run_custom(IrFrame *frame, const IrInst *inst, const IrRuntimeEntry *entry) {
    IrDatum *args = memory_zeroed((size_t)inst->noperands + 1, sizeof *args);
    IrDatum *results = memory_zeroed((size_t)inst->nresults + 1, sizeof *results);
    for (uint32_t i = 0; i < inst->noperands; i++) args[i] = ir_peek(frame, inst, i);
    bool ok = entry->fn(frame->interp, inst, args, results, entry->data);
    for (uint32_t i = 0; i < inst->nresults; i++) {
        if (ok) ok = ir_give(frame, inst, i, results[i]);
        else ir_datum_drop(&results[i]);
    }
    free(args);
    free(results);
    return ok;
}

static bool texts_only(const IrInst *inst) {
    for (uint32_t i = 0; i < inst->noperands; i++)
        if (inst->operands[i]->type->kind != IR_T_STR) return false;
    return true;
}

bool ir_run_runtime(IrFrame *frame, const IrInst *inst, const char *name) {
    IrInterp *interp = frame->interp;
    if (strncmp(name, "adl__", 5) == 0) name += 5;
    for (uint32_t i = interp->runtime.len; i-- > 0;)
        if (strcmp(interp->runtime.at[i].name, name) == 0)
            return run_custom(frame, inst, &interp->runtime.at[i]);
    bool texts = texts_only(inst);
    uint32_t in = inst->noperands, out = inst->nresults;
    if (strcmp(name, "print") == 0 && texts && in == 1 && out == 0) return run_print(frame, inst);
    if (strcmp(name, "str_concat") == 0 && texts && out == 1) return run_str_concat(frame, inst);
    if (strcmp(name, "str_equal") == 0 && texts && in == 2 && out == 1)
        return run_str_equal(frame, inst);
    bool form = in == 1 || (in == 2 && inst->operands[0]->type->kind == IR_T_STR);
    if (strncmp(name, "format_", 7) == 0 && form && out == 1) return run_format(frame, inst);
    return ir_interp_fail(interp, IR_ERROR_INVALID, inst->pos,
                          "the interpreter has no function '%s' of this kind", name);
}
