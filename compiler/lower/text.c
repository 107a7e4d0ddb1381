/* Texts, printing, files, asserts.

   What the runtime does for them is RUNTIME by the names of runtime/calls.def without "adl__", on
   values: contexts, kinds, ranks and sizes are the code generator's business.

     print(str)                       str_concat(str, str) -> str      str_equal(str, str) -> bool
     format_i64(form: str, i64) -> str, format_u64(str, u64), format_f64(str, f64),
     format_f32(str, f32), format_bool(str, bool), format_str(str, str), format_array(str, array)
     load_npy(path: str) -> array     load_csv(path) -> array
     load_text(path, words: bool) -> array           save(path, array)
     time() -> f64                    progress(i: i64, n: i64, label: str)
     tape_bytes(tape) -> i64 */
#include "lower/internal.h"

#include <string.h>

static IrValue *runtime1(Fn *f, const char *name, uint32_t n, IrValue *const *args, IrType type) {
    return irb_runtime(&f->b, name, n, args, 1, &type)->results[0];
}

static IrValue *concat_texts(Fn *f, IrValue *a, IrValue *b) {
    IrValue *pair[] = {a, b};
    return a ? runtime1(f, "str_concat", 2, pair, ir_str(f->lw->module)) : b;
}

static IrValue *format(Fn *f, const char *name, const char *form, IrValue *value) {
    IrValue *args[] = {irb_string(&f->b, form ? form : ""), value};
    return runtime1(f, name, 2, args, ir_str(f->lw->module));
}

/* ---- values as texts ---- */

/* Forms that show bits show those of the value's own width. */
static bool shows_bits(const char *form) {
    return form && *form && strchr("xXob", form[strlen(form) - 1]);
}

static IrValue *int_text(Fn *f, IrValue *x, const char *form) {
    static const IrScalar as_unsigned[IR_SCALAR_COUNT] = {
        [IR_I8] = IR_U8, [IR_I16] = IR_U16, [IR_I32] = IR_U32, [IR_I64] = IR_U64};
    IrScalar scalar = x->type->scalar;
    if (!ir_scalar_signed(scalar)) return format(f, "format_u64", form, irb_cast(&f->b, x, IR_U64));
    if (!shows_bits(form)) return format(f, "format_i64", form, emit_to_i64(f, x));
    IrValue *bits = irb_cast(&f->b, x, as_unsigned[scalar]);
    return format(f, "format_u64", form, irb_cast(&f->b, bits, IR_U64));
}

static IrValue *scalar_text(Fn *f, IrValue *x, const char *form) {
    IrScalar scalar = x->type->scalar;
    if (x->type->kind == IR_T_ARRAY) return format(f, "format_array", form, x);
    if (x->type->kind == IR_T_STR) return form && *form ? format(f, "format_str", form, x) : x;
    if (x->type->kind == IR_T_TAPE) return irb_string(&f->b, "<tape>");
    if (scalar == IR_BOOL) return format(f, "format_bool", form, x);
    if (scalar == IR_F64) return format(f, "format_f64", form, x);
    if (scalar_is_real_float(scalar))
        return format(f, "format_f32", form, irb_cast(&f->b, x, IR_F32));
    return int_text(f, x, form);
}

typedef struct Sign {
    uint32_t slot;
} Sign;

static void sign_side(Fn *f, bool plus, void *data) {
    Sign *sign = data;
    env_set(f, sign->slot, vals_one(f->lw, irb_string(&f->b, plus ? "+" : "")));
}

/* 1.5-2i; the sign of the imaginary part stands between, also that of NaN. */
static IrValue *complex_text(Fn *f, Vals value, const char *form) {
    IrValue *re = scalar_text(f, value.at[0], form), *im = scalar_text(f, value.at[1], form);
    if (value.at[0]->type->kind == IR_T_ARRAY) {
        re = concat_texts(f, re, irb_string(&f->b, " + "));
        return concat_texts(f, concat_texts(f, re, im), irb_string(&f->b, "i"));
    }
    Sign sign = {env_new_slot(f, shape_of(f->lw, type_str(f->lw->program->types)))};
    SlotSet set = {0};
    slots_add(&set, sign.slot);
    IrValue *zero = irb_zero(&f->b, value.at[1]->type->scalar);
    IrValue *args[] = {irb_scalar_const(&f->b, value.at[1]->type->scalar, 1, 1.0), value.at[1]};
    IrValue *copied = irb_math(&f->b, IR_MATH_COPYSIGN, args);
    merge_if(f, emit_binary(f, IR_GT, copied, zero), &set, sign_side, &sign);
    vec_free(&set);
    re = concat_texts(f, re, env_get(f, sign.slot).at[0]);
    return concat_texts(f, concat_texts(f, re, im), irb_string(&f->b, "i"));
}

static IrValue *parts_text(Fn *f, Type type, Vals value, const char *form) {
    TypeTable *types = f->lw->program->types;
    Type element = type_element(type);
    StrBuf glue = {0};
    IrValue *text = NULL;
    if (element->kind == TYPE_STRUCT) strbuf_add(&glue, element->decl->name->text);
    strbuf_char(&glue, '(');
    for (uint32_t k = 0; k < element->nparts; k++) {
        Type part = element->parts[k].type;
        if (k) strbuf_add(&glue, ", ");
        if (element->parts[k].name) strbuf_printf(&glue, "%s: ", element->parts[k].name->text);
        text = concat_texts(f, text, irb_string(&f->b, glue.text));
        strbuf_clear(&glue);
        if (type->kind == TYPE_ARRAY) part = type_array(types, part, type->rank, type->dims);
        text = concat_texts(f, text, text_of(f, part, lower_take_part(f, type, value, k), form));
    }
    strbuf_char(&glue, ')');
    text = concat_texts(f, text, irb_string(&f->b, glue.text));
    strbuf_free(&glue);
    return text;
}

IrValue *text_of(Fn *f, Type type, Vals value, const char *form) {
    Type element = type_element(type);
    if (element->kind == TYPE_TUPLE || element->kind == TYPE_STRUCT)
        return parts_text(f, type, value, form);
    if (element->kind == TYPE_UNIT) return irb_string(&f->b, "()");
    if (element->kind == TYPE_FNVAL) return irb_string(&f->b, "<function>");
    if (type_is_complex(type)) return complex_text(f, value, form);
    return scalar_text(f, value.at[0], form);
}

Vals lower_interpolate(Fn *f, const Tree *t) {
    IrValue *text = NULL;
    for (uint32_t i = 0; i < t->nargs; i++) {
        Vals value = lower_expr(f, t->args[i]);
        const char *form = t->forms ? t->forms[i] : NULL;
        text = concat_texts(f, text, text_of(f, t->args[i]->type, value, form));
    }
    return vals_one(f->lw, text ? text : irb_string(&f->b, ""));
}

/* ---- the world ---- */

static Vals builtin_load(Fn *f, const Tree *t, const Vals *args, const char *name) {
    const Shape *shape = shape_of(f->lw, t->type);
    IrValue *in[] = {args[0].at[0], NULL};
    uint32_t n = 1;
    if (shape->n != 1) {
        lower_unsupported(f, t->span, "loading of complex numbers and tuples");
        return emit_nothing(f, shape);
    }
    if (t->builtin == ROW_LOAD_TEXT)
        in[n++] = t->nargs > 1 && t->args[1] ? args[1].at[0] : emit_bool(f, false);
    return vals_one(f->lw, runtime1(f, name, n, in, shape->leaf[0].type));
}

static Vals builtin_save(Fn *f, const Tree *t, const Vals *args) {
    IrValue *in[] = {args[0].at[0], NULL};
    if (args[1].n != 1) {
        lower_unsupported(f, t->span, "saving of complex numbers and tuples");
        return vals_new(f->lw, 0);
    }
    in[1] = args[1].at[0];
    if (in[1]->type->kind == IR_T_SCALAR) in[1] = irb_pack(&f->b, 1, &in[1]);
    irb_runtime(&f->b, "save", 2, in, 0, NULL);
    return vals_new(f->lw, 0);
}

Vals builtin_text(Fn *f, const Tree *t) {
    Vals args[3];
    lower_args(f, t, args);
    switch (t->builtin) {
    case ROW_PRINT: {
        IrValue *text =
            t->nargs ? text_of(f, t->args[0]->type, args[0], NULL) : irb_string(&f->b, "");
        irb_runtime(&f->b, "print", 1, &text, 0, NULL);
        return vals_new(f->lw, 0);
    }
    case ROW_SAVE: return builtin_save(f, t, args);
    case ROW_LOAD_NPY: return builtin_load(f, t, args, "load_npy");
    case ROW_LOAD_CSV: return builtin_load(f, t, args, "load_csv");
    case ROW_LOAD_TEXT: return builtin_load(f, t, args, "load_text");
    case ROW_TIME:
        return vals_one(f->lw, runtime1(f, "time", 0, NULL, ir_scalar(f->lw->module, IR_F64)));
    case ROW_PROGRESS: {
        IrValue *in[] = {emit_to_i64(f, args[0].at[0]), emit_to_i64(f, args[1].at[0]),
                         args[2].at[0]};
        irb_runtime(&f->b, "progress", 3, in, 0, NULL);
        return vals_new(f->lw, 0);
    }
    case ROW_TAPE_BYTES:
        return vals_one(f->lw,
                        runtime1(f, "tape_bytes", 1, args[0].at, ir_scalar(f->lw->module, IR_I64)));
    default: break;
    }
    lower_unsupported(f, t->span, "this function");
    return emit_nothing(f, shape_of(f->lw, t->type));
}

/* ---- assert ---- */

/* One value each, which a message can show. */
static bool two_plain(const Tree *t) {
    for (uint32_t i = 0; i < 2; i++) {
        Type type = t->args[i]->type;
        bool plain = type->kind == TYPE_STR ||
                     (type->kind == TYPE_SCALAR && !scalar_is_complex(type->scalar));
        if (!plain) return false;
    }
    return true;
}

static bool is_comparison(const Tree *t) {
    if (t->kind != T_OP || t->lifted || t->nargs != 2) return false;
    return t->op >= AST_OP_EQ && t->op <= AST_OP_GE && two_plain(t);
}

static bool is_near(const Tree *t) {
    return t->kind == T_BUILTIN && t->builtin == ROW_NEAR && two_plain(t);
}

typedef struct Message {
    const Tree *tree;
    const char *prefix;
} Message;

static void message_side(Fn *f, bool holds, void *data) {
    const Message *message = data;
    if (holds) return;
    IrValue *text = irb_string(&f->b, message->prefix);
    text = concat_texts(f, text, lower_scalar(f, message->tree));
    irb_fail(&f->b, LOWER_ERROR_ASSERT, text);
}

void lower_assert(Fn *f, const Tree *t) {
    const Tree *cond = t->args[0];
    IrValue *sides[2], *holds;
    Vals args[4] = {{0}};
    bool near = is_near(cond), compared = near || is_comparison(cond);
    if (near) {
        lower_args(f, cond, args);
        holds = near_of(f, cond, args);
    } else if (compared) {
        Type types[] = {cond->args[0]->type, cond->args[1]->type};
        lower_args(f, cond, args);
        holds = scalar_op(f, (AstOp)cond->op, cond->type, types, args).at[0];
    } else {
        holds = lower_scalar(f, cond);
    }
    uint32_t n = compared ? 2 : 0;
    for (uint32_t i = 0; i < n; i++) sides[i] = args[i].at[0];
    size_checks(f, t);
    const char *text = emit_source_text(f, cond->span, t->nargs < 2);
    if (t->nargs > 1) {
        Message message = {t->args[1], "assertion failed: "};
        SlotSet none = {0};
        merge_if(f, holds, &none, message_side, &message);
        return;
    }
    text = module_text(
        f->lw, n ? "assertion failed: %s (left is {0}, right is {1})" : "assertion failed: %s",
        text ? text : "assert");
    irb_check(&f->b, holds, LOWER_ERROR_ASSERT, text, n, sides);
}
