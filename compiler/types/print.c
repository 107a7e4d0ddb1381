/* Types as they are written in messages. */
#include "names/decl.h"
#include "types/table.h"
#include "types/tree.h"

static void print_dims(StrBuf *out, Type type, uint32_t n) {
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i) strbuf_add(out, ", ");
        size_print(out, type->dims[i]);
    }
    strbuf_char(out, ']');
}

static void print_parts(StrBuf *out, Type type) {
    strbuf_char(out, '(');
    for (uint32_t i = 0; i < type->nparts; i++) {
        const TypePart *part = &type->parts[i];
        if (i) strbuf_add(out, ", ");
        if (part->name) strbuf_printf(out, "%s: ", part->name->text);
        if (part->act) strbuf_printf(out, "%s ", act_name((ActKind)(part->act - 1)));
        if (part->mut) strbuf_add(out, "mut ");
        type_print(out, part->type);
    }
    strbuf_char(out, ')');
}

static void print_fnval(StrBuf *out, const FnValue *fn) {
    if (fn->kind == FN_LAMBDA) strbuf_add(out, "lambda");
    else if (fn->kind == FN_OPAQUE && fn->opaque) type_print(out, fn->opaque);
    else strbuf_printf(out, "function `%s`", fn->name ? fn->name : "?");
}

void type_print(StrBuf *out, Type type) {
    switch (type->kind) {
    case TYPE_POISON: strbuf_char(out, '?'); break;
    case TYPE_UNIT: strbuf_add(out, "()"); break;
    case TYPE_SCALAR: strbuf_add(out, scalar_name(type->scalar)); break;
    case TYPE_STR: strbuf_add(out, "str"); break;
    case TYPE_ARRAY:
        print_dims(out, type, type->rank);
        type_print(out, type->elem);
        break;
    case TYPE_TUPLE: print_parts(out, type); break;
    case TYPE_STRUCT:
        strbuf_add(out, type->decl->name->text);
        if (type->decl->nsizes) print_dims(out, type, type->decl->nsizes);
        break;
    case TYPE_FN:
        strbuf_add(out, "fn");
        print_parts(out, type);
        if (!type->elem || type->elem->kind == TYPE_UNIT) break;
        strbuf_add(out, " -> ");
        if (type->result_act) strbuf_printf(out, "%s ", act_name((ActKind)(type->result_act - 1)));
        type_print(out, type->elem);
        break;
    case TYPE_FNVAL: print_fnval(out, type->fn); break;
    case TYPE_TAPE: strbuf_add(out, "Tape"); break;
    }
}

const char *type_text(TypeTable *t, Type type) {
    StrBuf out = {0};
    type_print(&out, type);
    const char *text = arena_strndup(t->arena, out.text, out.len);
    strbuf_free(&out);
    return text;
}
