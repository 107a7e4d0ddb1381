#include "emit/header.h"

#include <ctype.h>
#include <string.h>

#include "base/fatal.h"
#include "base/map.h"
#include "ir/export.h"

enum { LINE_WIDTH = 96 };

/* ---- types ---- */

static const char *c_scalar(IrScalar scalar) {
    switch (scalar) {
    case IR_BOOL: return "bool";
    case IR_I8: return "int8_t";
    case IR_I16: return "int16_t";
    case IR_I32: return "int32_t";
    case IR_I64: return "int64_t";
    case IR_U8: return "uint8_t";
    case IR_U16:
    case IR_F16:
    case IR_BF16: return "uint16_t";
    case IR_U32: return "uint32_t";
    case IR_U64: return "uint64_t";
    case IR_F32: return "float";
    case IR_F64: return "double";
    case IR_C64:
    case IR_C128:
    case IR_SCALAR_COUNT: break;
    }
    UNREACHABLE("scalar type %d in a header", (int)scalar);
}

static const char *c_complex(IrScalar part) {
    return part == IR_F32 ? "adl_c64" : "adl_c128";
}

/* Of the numbers that LEAF points to, or is. */
static const char *c_number(const IrCParam *leaf) {
    return leaf->pairs ? c_complex(leaf->type->scalar) : c_scalar(leaf->type->scalar);
}

static void declare_leaf(StrBuf *out, const IrCParam *param) {
    IrType type = param->type;
    const char *name = param->name;
    bool written = param->kind == IR_C_MUT || param->kind == IR_C_OUT;
    if (param->kind == IR_C_SIZE) {
        strbuf_printf(out, "int64_t %s", name);
    } else if (type->kind == IR_T_TAPE) {
        strbuf_printf(out, written ? "adl_tape **%s" : "const adl_tape *%s", name);
    } else if (param->kind == IR_C_STR || type->kind == IR_T_STR) {
        strbuf_printf(out, "const char *%s", name);
    } else if (type->kind == IR_T_ARRAY) {
        strbuf_printf(out, "%s%s %s[]", written ? "" : "const ", c_number(param), name);
    } else {
        strbuf_printf(out, "%s %s%s", c_scalar(type->scalar), written ? "*" : "", name);
    }
}

/* The leaf of a view that has its elements. */
static const IrCParam *array_of(const IrExport *export, const IrCArg *arg) {
    return &export->params[arg->first + arg->count - 1];
}

static void add_view_name(StrBuf *out, const IrCParam *leaf) {
    const char *number = leaf->pairs ? c_complex(leaf->type->scalar) + strlen("adl_")
                                     : ir_scalar_name(leaf->type->scalar);
    strbuf_printf(out, "adl_view_%s_%u", number, leaf->rank - (leaf->pairs ? 1 : 0));
}

static void declare_arg(StrBuf *out, const IrExport *export, const IrCArg *arg,
                        const char *prefix) {
    const IrCParam *first = &export->params[arg->first];
    switch (arg->kind) {
    case IR_ARG_LEAF: declare_leaf(out, first); break;
    case IR_ARG_COMPLEX:
        strbuf_printf(out, "%s %s%s", c_complex(first->type->scalar), arg->written ? "*" : "",
                      arg->name);
        break;
    case IR_ARG_STRUCT:
        strbuf_printf(out, "%s%s%s *%s", arg->written ? "" : "const ", prefix, arg->type->name,
                      arg->name);
        break;
    case IR_ARG_VIEW:
        strbuf_add(out, arg->written ? "" : "const ");
        add_view_name(out, array_of(export, arg));
        strbuf_printf(out, " *%s", arg->name);
        break;
    }
}

/* Adds PART to a list that began at column INDENT, on a new line if this one would be too long. */
static void add_wrapped(StrBuf *out, size_t *line_start, uint32_t indent, const char *part,
                        bool first) {
    size_t len = strlen(part);
    if (!first) strbuf_char(out, ',');
    if (!first && out->len - *line_start + len + 2 > LINE_WIDTH) {
        strbuf_char(out, '\n');
        *line_start = out->len;
        for (uint32_t i = 0; i < indent; i++) strbuf_char(out, ' ');
    } else if (!first) {
        strbuf_char(out, ' ');
    }
    strbuf_add_n(out, part, len);
}

static void declare(StrBuf *out, const IrExport *export, const char *prefix) {
    size_t line_start = out->len;
    strbuf_printf(out, "int %s%s(", prefix, export->name);
    uint32_t indent = (uint32_t)(out->len - line_start);
    for (uint32_t i = 0; i < export->nargs; i++) {
        StrBuf part = {0};
        declare_arg(&part, export, &export->args[i], prefix);
        add_wrapped(out, &line_start, indent, part.text, i == 0);
        strbuf_free(&part);
    }
    strbuf_add(out, export->nargs ? ");\n" : "void);\n");
}

/* ---- comments ---- */

/* TEXT in lines of a comment; the first begins where OUT stands.  What would end it is taken apart.
 */
static void add_comment(StrBuf *out, size_t *line_start, const char *text) {
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (out->len - *line_start + word + 1 > LINE_WIDTH) {
            strbuf_add(out, "\n  ");
            *line_start = out->len - 2;
        }
        strbuf_char(out, ' ');
        for (size_t i = 0; i < word; i++) {
            strbuf_char(out, text[i]);
            if (text[i] == '*' && text[i + 1] == '/') strbuf_char(out, ' ');
        }
        text += word;
        bool line = false;
        for (; *text == ' ' || *text == '\n'; text++) line = line || *text == '\n';
        if (line && *text) {
            strbuf_add(out, "\n  ");
            *line_start = out->len - 2;
        }
    }
}

static void describe_shape(StrBuf *out, const IrCParam *param, const IrExport *export) {
    uint32_t rank = param->rank - (param->pairs ? 1 : 0);
    if (!rank) return;
    strbuf_add(out, " (");
    for (uint32_t k = 0; k < rank; k++) {
        const IrCDim *dim = &param->dims[k];
        if (k) strbuf_add(out, ", ");
        if (dim->text) strbuf_add(out, dim->text);
        else if (dim->constant >= 0) strbuf_printf(out, "%lld", (long long)dim->constant);
        else if (dim->place >= 0) strbuf_add(out, export->params[dim->place].name);
        else strbuf_char(out, '_');
    }
    strbuf_char(out, ')');
}

static const char *default_role(IrCKind kind) {
    switch (kind) {
    case IR_C_SIZE: return "a size";
    case IR_C_SCALAR:
    case IR_C_ARRAY:
    case IR_C_STR: return "read";
    case IR_C_MUT: return "read and overwritten";
    case IR_C_OUT: return "overwritten";
    }
    UNREACHABLE("kind %d", (int)kind);
}

/* "d: columns of X", from the first array that has this size. */
static void describe_size(StrBuf *out, const IrExport *export, uint32_t place) {
    static const char *const names[] = {"length", "rows", "columns"};
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < export->nparams; i++) {
            const IrCParam *param = &export->params[i];
            if (pass != (param->offset >= 0)) continue; /* what is an argument itself comes first */
            uint32_t rank = param->rank - (param->pairs ? 1 : 0);
            for (uint32_t k = 0; k < rank; k++) {
                if (param->dims[k].place != (int32_t)place) continue;
                if (rank == 1) strbuf_printf(out, ": %s of %s", names[0], param->name);
                else if (rank == 2) strbuf_printf(out, ": %s of %s", names[1 + k], param->name);
                else strbuf_printf(out, ": dimension %u of %s", k, param->name);
                return;
            }
        }
    strbuf_add(out, ": a size");
}

/* Is it a result?  Its arrays are written, and what it says of them read. */
static bool is_result(const IrExport *export, const IrCArg *arg) {
    for (uint32_t i = arg->first; i < arg->first + arg->count; i++)
        if (export->params[i].kind == IR_C_OUT) return true;
    return false;
}

static void describe_arg(StrBuf *out, const IrExport *export, const IrCArg *arg,
                         const char *prefix) {
    const IrCParam *param = &export->params[arg->first];
    if (arg->kind == IR_ARG_VIEW) param = array_of(export, arg);
    strbuf_add(out, arg->name);
    if (arg->kind == IR_ARG_STRUCT) {
        strbuf_printf(out, " (%s%s): %s%s", prefix, arg->type->name, arg->role,
                      is_result(export, arg) ? "; its sizes and pointers are read" : "");
    } else if (param->kind == IR_C_SIZE && arg->kind == IR_ARG_LEAF) {
        describe_size(out, export, arg->first);
    } else {
        describe_shape(out, param, export);
        const char *role = arg->role ? arg->role : param->role;
        strbuf_printf(out, ": %s", role ? role : default_role(param->kind));
    }
    strbuf_char(out, '.');
}

static void describe(StrBuf *out, const IrModule *module, const IrExport *export,
                     const char *prefix) {
    StrBuf text = {0};
    size_t line_start = out->len;
    const SourceFile *file =
        export->pos && module->sources ? sources_file(module->sources, export->pos) : NULL;
    strbuf_add(out, "/*");
    strbuf_printf(&text, "%s%s", prefix, export->name);
    if (export->doc) strbuf_printf(&text, ": %s", export->doc);
    while (isspace((unsigned char)text.text[text.len - 1]) || text.text[text.len - 1] == '.')
        text.text[--text.len] = '\0';
    if (file) {
        uint32_t line, column;
        source_line_col(file, export->pos, &line, &column);
        strbuf_printf(&text, " (%s:%u)", file->display, line);
    }
    strbuf_add(&text, ".");
    add_comment(out, &line_start, text.text);
    for (uint32_t i = 0; i < export->nargs; i++) {
        strbuf_clear(&text);
        describe_arg(&text, export, &export->args[i], prefix);
        strbuf_add(out, "\n  ");
        line_start = out->len - 2;
        add_comment(out, &line_start, text.text);
    }
    strbuf_add(out, " */\n");
    strbuf_free(&text);
}

/* ---- types that headers share ---- */

typedef struct Types {
    StrBuf *out;
    const char *prefix;
    VEC(const IrCStruct *) structs; /* that are there */
    VEC(const IrCParam *) views;    /* arrays that have the views that are there */
    bool complex[2];                /* of f32, f64 */
} Types;

/* Defines a type under a guard that tells apart what is called the same. */
static void add_guarded(StrBuf *out, const char *name, const StrBuf *comment, const StrBuf *text) {
    StrBuf guard = {0};
    strbuf_printf(&guard, "ADL_TYPE_%s_%08x", name,
                  (unsigned)(hash_bytes(text->text, text->len) & 0xffffffffu));
    strbuf_char(out, '\n');
    if (comment->len) strbuf_add_n(out, comment->text, comment->len);
    strbuf_printf(out, "#ifndef %s\n#define %s\n", guard.text, guard.text);
    strbuf_add_n(out, text->text, text->len);
    strbuf_add(out, "#endif\n");
    strbuf_free(&guard);
}

static void define_complex(Types *t, IrScalar part) {
    bool *there = &t->complex[part == IR_F64];
    StrBuf text = {0}, comment = {0};
    if (*there) return;
    *there = true;
    const char *name = c_complex(part);
    strbuf_printf(&text, "typedef struct %s {\n    %s re, im;\n} %s;\n", name, c_scalar(part),
                  name);
    add_guarded(t->out, name, &comment, &text);
    strbuf_free(&text);
}

static void define_struct(Types *t, const IrCStruct *type);

static void declare_field(StrBuf *out, const IrCField *field, const char *prefix) {
    const char *name = field->name;
    switch (field->kind) {
    case IR_CF_SIZE: strbuf_printf(out, "    int64_t %s;", name); break;
    case IR_CF_SCALAR: strbuf_printf(out, "    %s %s;", c_scalar(field->scalar), name); break;
    case IR_CF_COMPLEX: strbuf_printf(out, "    %s %s;", c_complex(field->scalar), name); break;
    case IR_CF_ARRAY: strbuf_printf(out, "    %s *%s;", c_scalar(field->scalar), name); break;
    case IR_CF_COMPLEX_ARRAY:
        strbuf_printf(out, "    %s *%s;", c_complex(field->scalar), name);
        break;
    case IR_CF_STR: strbuf_printf(out, "    const char *%s;", name); break;
    case IR_CF_STRUCT: strbuf_printf(out, "    %s%s %s;", prefix, field->type->name, name); break;
    }
}

static void define_inner(Types *t, const IrCField *field) {
    if (field->kind == IR_CF_STRUCT) define_struct(t, field->type);
    if (field->kind == IR_CF_COMPLEX || field->kind == IR_CF_COMPLEX_ARRAY)
        define_complex(t, field->scalar);
}

/* "W ([n, m]f64): the weights" */
static void describe_field(StrBuf *out, const IrCField *field) {
    strbuf_add(out, field->name);
    if (field->shape) strbuf_printf(out, " (%s)", field->shape);
    if (field->doc) strbuf_printf(out, ": %s", field->doc);
    while (isspace((unsigned char)out->text[out->len - 1]) || out->text[out->len - 1] == '.')
        out->text[--out->len] = '\0';
    strbuf_char(out, '.');
}

static void define_struct(Types *t, const IrCStruct *type) {
    for (uint32_t i = 0; i < t->structs.len; i++)
        if (t->structs.at[i] == type) return;
    vec_push(&t->structs, type);
    for (uint32_t i = 0; i < type->nfields; i++) define_inner(t, &type->fields[i]);
    StrBuf text = {0}, comment = {0}, name = {0}, line = {0};
    size_t line_start = 0;
    strbuf_printf(&name, "%s%s", t->prefix, type->name);
    strbuf_add(&comment, "/*");
    strbuf_printf(&line, "%s%s%s", name.text, type->doc ? ": " : "", type->doc ? type->doc : "");
    while (isspace((unsigned char)line.text[line.len - 1]) || line.text[line.len - 1] == '.')
        line.text[--line.len] = '\0';
    strbuf_char(&line, '.');
    add_comment(&comment, &line_start, line.text);
    strbuf_printf(&text, "typedef struct %s {\n", name.text);
    for (uint32_t i = 0; i < type->nfields; i++) {
        const IrCField *field = &type->fields[i];
        declare_field(&text, field, t->prefix);
        strbuf_char(&text, '\n');
        if (!field->shape && !field->doc) continue;
        strbuf_clear(&line);
        describe_field(&line, field);
        strbuf_add(&comment, "\n  ");
        line_start = comment.len - 2;
        add_comment(&comment, &line_start, line.text);
    }
    if (!type->nfields) strbuf_add(&text, "    char none;\n");
    strbuf_printf(&text, "} %s;\n", name.text);
    strbuf_add(&comment, " */\n");
    add_guarded(t->out, name.text, &comment, &text);
    strbuf_free(&text);
    strbuf_free(&comment);
    strbuf_free(&name);
    strbuf_free(&line);
}

static void define_view(Types *t, const IrCParam *leaf) {
    for (uint32_t i = 0; i < t->views.len; i++) {
        const IrCParam *other = t->views.at[i];
        if (other->type->scalar == leaf->type->scalar && other->rank == leaf->rank &&
            other->pairs == leaf->pairs)
            return;
    }
    vec_push(&t->views, leaf);
    StrBuf text = {0}, comment = {0}, name = {0};
    uint32_t rank = leaf->rank - (leaf->pairs ? 1 : 0);
    add_view_name(&name, leaf);
    strbuf_add(&comment, "/* A view of an array; strides are in bytes. */\n");
    strbuf_printf(&text, "typedef struct %s {\n    %s *data;\n", name.text, c_number(leaf));
    strbuf_printf(&text, "    int64_t shape[%u], strides[%u];\n} %s;\n", rank, rank, name.text);
    add_guarded(t->out, name.text, &comment, &text);
    strbuf_free(&text);
    strbuf_free(&comment);
    strbuf_free(&name);
}

static void define_types(StrBuf *out, const IrModule *module, const char *prefix) {
    Types t = {.out = out, .prefix = prefix};
    for (uint32_t i = 0; i < module->exports.len; i++) {
        const IrExport *export = module->exports.at[i];
        for (uint32_t k = 0; export->kind == IR_EXPORT_C && k < export->nargs; k++) {
            const IrCArg *arg = &export->args[k];
            const IrCParam *first = &export->params[arg->first];
            if (arg->kind == IR_ARG_VIEW) first = array_of(export, arg);
            if (arg->kind == IR_ARG_STRUCT) define_struct(&t, arg->type);
            else if (arg->kind == IR_ARG_COMPLEX || first->pairs)
                define_complex(&t, first->type->scalar);
            if (arg->kind == IR_ARG_VIEW) define_view(&t, first);
        }
    }
    vec_free(&t.structs);
    vec_free(&t.views);
}

/* ---- the file ---- */

/* From the last part of a path.  C reserves names that begin with `_` and a capital; a name without
   a letter (standard input) gives ADL. */
static void add_guard(StrBuf *out, const char *name) {
    const char *slash = strrchr(name, '/');
    if (slash) name = slash + 1;
    while (*name && !isalnum((unsigned char)*name)) name++;
    strbuf_add(out, !*name ? "ADL" : isdigit((unsigned char)*name) ? "H" : "");
    for (; *name; name++)
        strbuf_char(out, isalnum((unsigned char)*name) ? (char)toupper((unsigned char)*name) : '_');
    strbuf_add(out, "_INCLUDED");
}

static bool uses_tapes(const IrModule *module) {
    for (uint32_t i = 0; i < module->exports.len; i++) {
        const IrExport *export = module->exports.at[i];
        for (uint32_t k = 0; export->kind == IR_EXPORT_C && k < export->nparams; k++)
            if (export->params[k].type && export->params[k].type->kind == IR_T_TAPE) return true;
    }
    return false;
}

void emit_header(StrBuf *out, const IrModule *module, const char *name, const char *prefix) {
    StrBuf guard = {0};
    if (!prefix) prefix = "";
    add_guard(&guard, name);
    strbuf_printf(
        out,
        "/* Made by dslc.  Each function returns 0 or an error code; adl_strerror and\n"
        "   adl_last_error_message of <adl/adl.h> say what it means.  Arrays are contiguous and"
        "\n   row-major; memory that is written must not overlap any other argument.  Of a struct "
        "the\n"
        "   caller sets sizes and pointers, also where its arrays are results. */\n"
        "#ifndef %s\n#define %s\n\n#include <stdbool.h>\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
        guard.text, guard.text);
    if (uses_tapes(module)) strbuf_add(out, "\ntypedef struct adl_tape adl_tape;\n");
    define_types(out, module, prefix);
    for (uint32_t i = 0; i < module->exports.len; i++) {
        const IrExport *export = module->exports.at[i];
        if (export->kind != IR_EXPORT_C) continue;
        strbuf_char(out, '\n');
        describe(out, module, export, prefix);
        declare(out, export, prefix);
    }
    strbuf_add(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    strbuf_free(&guard);
}
