/* What C passes for a value of a type: its arguments, the structs among them, and the leaves in
   them.

   A struct that stands by itself is a C struct: its sizes, then its fields; one in a field is in it
   whole.  A tuple is its parts, and so is a struct in an array: an array for each component. */
#include "lower/c-interface.h"

#include <string.h>

enum { POINTER_BYTES = 8 };

static const char *keep(Lower *lw, const char *text) {
    return text ? arena_strndup(lw->module->arena, text, strlen(text)) : NULL;
}

/* The name of part K of what is called NAME. */
static const char *part_name(Lower *lw, const char *name, const TypePart *part, uint32_t k) {
    return part->name ? module_text(lw, "%s_%s", name, part->name->text)
                      : module_text(lw, "%s_%u", name, k);
}

static bool has_parts(Type type) {
    return type->kind == TYPE_TUPLE || type->kind == TYPE_STRUCT;
}

/* ---- structs ---- */

typedef struct Layout {
    Lower *lw;
    VEC(IrCField) fields;
    uint32_t size, align;
    const char *written; /* the field's type in the source */
} Layout;

static void add_field(Layout *l, IrCField field, uint32_t size, uint32_t align) {
    if (align > l->align) l->align = align;
    field.offset = (l->size + align - 1) / align * align;
    l->size = field.offset + size;
    vec_push(&l->fields, field);
}

static void add_fields(Layout *l, Type type, const char *name, bool in_array) {
    Type element = type_element(type);
    bool array = in_array || type->kind == TYPE_ARRAY;
    if (element->kind == TYPE_STRUCT && !array) {
        const IrCStruct *inner = c_struct(l->lw, element);
        add_field(l, (IrCField){.kind = IR_CF_STRUCT, .name = name, .type = inner}, inner->size,
                  inner->align);
    } else if (has_parts(element)) {
        for (uint32_t k = 0; k < element->nparts; k++)
            add_fields(l, element->parts[k].type, part_name(l->lw, name, &element->parts[k], k),
                       array);
    } else {
        const Shape *shape = shape_of(l->lw, element);
        bool complex = type_is_complex(element);
        for (uint32_t i = 0; i < shape->n; i += complex ? 2 : 1) {
            IrCField field = {.name = name, .scalar = shape->leaf[i].scalar};
            uint32_t bytes = (uint32_t)ir_scalar_bytes(field.scalar);
            bool text = shape->leaf[i].kind == IR_T_STR;
            field.kind = text      ? IR_CF_STR
                         : array   ? complex ? IR_CF_COMPLEX_ARRAY : IR_CF_ARRAY
                         : complex ? IR_CF_COMPLEX
                                   : IR_CF_SCALAR;
            if (array) field.shape = l->written;
            if (text || array) add_field(l, field, POINTER_BYTES, POINTER_BYTES);
            else add_field(l, field, complex ? 2 * bytes : bytes, bytes);
        }
    }
}

static const char *source_text(Lower *lw, Span span) {
    const SourceFile *file = span.begin ? sources_file(lw->sources, span.begin) : NULL;
    if (!file || span.end < span.begin || span.end - file->base > file->len) return NULL;
    return arena_strndup(lw->module->arena, file->text + (span.begin - file->base),
                         span.end - span.begin);
}

static bool is_taken(Lower *lw, const char *name) {
    for (uint32_t i = 0; i < lw->c_structs.len; i++)
        if (strcmp(((const IrCStruct *)lw->c_structs.values[i])->name, name) == 0) return true;
    return false;
}

const IrCStruct *c_struct(Lower *lw, Type type) {
    const StructDecl *decl = type->decl;
    IrCStruct *made = map_getp(&lw->c_structs, decl);
    if (made) return made;
    Layout l = {.lw = lw, .align = 1};
    for (uint32_t k = 0; k < decl->nsizes; k++) {
        const char *name = keep(lw, decl->sizes[k]->text);
        for (uint32_t i = 0; i < type->nparts; i++)
            if (type->parts[i].name == decl->sizes[k]) name = module_text(lw, "size_%s", name);
        add_field(&l, (IrCField){.kind = IR_CF_SIZE, .name = name, .scalar = IR_I64}, 8, 8);
    }
    for (uint32_t i = 0; i < type->nparts; i++) {
        const AstFieldDecl *field = AST_AS(FieldDecl, decl->ast->fields.at[i]);
        uint32_t first = l.fields.len;
        l.written = source_text(lw, field->type->span);
        add_fields(&l, type->parts[i].type, keep(lw, type->parts[i].name->text), false);
        if (first < l.fields.len)
            l.fields.at[first].doc =
                field->doc.len ? arena_strndup(lw->module->arena, field->doc.at, field->doc.len)
                               : NULL;
    }
    made = ARENA_NEW(lw->module->arena, IrCStruct);
    made->name = keep(lw, decl->name->text);
    for (uint32_t i = 2; is_taken(lw, made->name); i++)
        made->name = module_text(lw, "%s%u", decl->name->text, i);
    made->doc = decl->ast->doc.len
                    ? arena_strndup(lw->module->arena, decl->ast->doc.at, decl->ast->doc.len)
                    : NULL;
    made->nfields = l.fields.len;
    made->fields = ARENA_ARRAY(lw->module->arena, IrCField, l.fields.len);
    if (l.fields.len) memcpy(made->fields, l.fields.at, l.fields.len * sizeof *l.fields.at);
    made->align = l.align;
    made->size = (l.size + l.align - 1) / l.align * l.align;
    vec_free(&l.fields);
    map_setp(&lw->c_structs, decl, made);
    return made;
}

/* ---- values ---- */

typedef struct Walk {
    Lower *lw;
    const CVisitor *visit;
    void *data;
    bool views;
    uint32_t leaf; /* the next one of the value's shape */
} Walk;

/* A part of an argument; LEAF counts it in the value's shape. */
static void give(Walk *w, const char *name, bool pairs, bool view, int32_t offset) {
    w->visit->leaf(w->data, (CLeaf){name, w->leaf, offset, pairs, view});
    w->leaf += pairs ? 2 : 1;
}

static void walk_fields(Walk *w, Type type, const IrCStruct *in, const char *name, int32_t offset);

/* The fields of IN from *K on that stand for one field of the source, of TYPE. */
static void walk_field(Walk *w, Type type, const IrCStruct *in, uint32_t *k, const char *name,
                       int32_t offset, bool in_array) {
    Type element = type_element(type);
    bool array = in_array || type->kind == TYPE_ARRAY;
    if (has_parts(element) && (element->kind == TYPE_TUPLE || array)) {
        for (uint32_t i = 0; i < element->nparts; i++)
            walk_field(w, element->parts[i].type, in, k, name, offset, array);
        return;
    }
    if (element->kind == TYPE_UNIT) return;
    const IrCField *field = &in->fields[(*k)++];
    const char *own = module_text(w->lw, "%s.%s", name, field->name);
    int32_t at = offset + (int32_t)field->offset;
    if (element->kind == TYPE_STRUCT) {
        walk_fields(w, element, field->type, own, at);
    } else if (field->kind == IR_CF_COMPLEX) {
        give(w, module_text(w->lw, "%s.re", own), false, false, at);
        give(w, module_text(w->lw, "%s.im", own), false, false,
             at + (int32_t)ir_scalar_bytes(field->scalar));
    } else {
        give(w, own, field->kind == IR_CF_COMPLEX_ARRAY, false, at);
    }
}

static void walk_fields(Walk *w, Type type, const IrCStruct *in, const char *name, int32_t offset) {
    uint32_t k = 0;
    for (; k < type->nsizes; k++)
        w->visit->size(w->data, module_text(w->lw, "%s.%s", name, in->fields[k].name),
                       type->dims[k], offset + (int32_t)in->fields[k].offset);
    for (uint32_t i = 0; i < type->nparts; i++)
        walk_field(w, type->parts[i].type, in, &k, name, offset, false);
}

static void walk_view(Walk *w, const char *name, const Leaf *leaf, bool pairs) {
    w->visit->arg(w->data, (CArg){IR_ARG_VIEW, name, NULL});
    for (uint32_t k = 0; k < leaf->rank; k++)
        w->visit->size(w->data, module_text(w->lw, "%s.shape[%u]", name, k), leaf->dims[k],
                       (int32_t)(ir_view_shape() + 8 * k));
    give(w, name, pairs, true, 0);
}

static void walk_value(Walk *w, Type type, const Shape *shape, const char *name, bool in_array) {
    Type element = type_element(type);
    bool array = in_array || type->kind == TYPE_ARRAY;
    if (element->kind == TYPE_STRUCT && !array) {
        const IrCStruct *own = c_struct(w->lw, element);
        w->visit->arg(w->data, (CArg){IR_ARG_STRUCT, name, own});
        walk_fields(w, element, own, name, 0);
    } else if (has_parts(element)) {
        for (uint32_t k = 0; k < element->nparts; k++)
            walk_value(w, element->parts[k].type, shape,
                       part_name(w->lw, name, &element->parts[k], k), array);
    } else if (type_is_complex(element) && !array) {
        w->visit->arg(w->data, (CArg){IR_ARG_COMPLEX, name, NULL});
        int32_t half = (int32_t)ir_scalar_bytes(shape->leaf[w->leaf].scalar);
        give(w, module_text(w->lw, "%s.re", name), false, false, 0);
        give(w, module_text(w->lw, "%s.im", name), false, false, half);
    } else {
        bool pairs = type_is_complex(element);
        for (uint32_t n = shape_count(w->lw, element); n; n -= pairs ? 2 : 1) {
            if (w->views && array) {
                walk_view(w, name, &shape->leaf[w->leaf], pairs);
                continue;
            }
            w->visit->arg(w->data, (CArg){IR_ARG_LEAF, name, NULL});
            give(w, name, pairs, false, -1);
        }
    }
}

/* For a device: each leaf is an argument. */
static void walk_leaves(Walk *w, Type type, const char *name) {
    Type element = type_element(type);
    if (has_parts(element)) {
        for (uint32_t k = 0; k < element->nparts; k++)
            walk_leaves(w, element->parts[k].type, part_name(w->lw, name, &element->parts[k], k));
        return;
    }
    bool complex = type_is_complex(type);
    for (uint32_t i = 0, n = shape_count(w->lw, element); i < n; i++) {
        const char *own = complex ? module_text(w->lw, i % 2 ? "%s_im" : "%s_re", name) : name;
        w->visit->arg(w->data, (CArg){IR_ARG_LEAF, own, NULL});
        give(w, own, false, false, -1);
    }
}

void c_walk(Lower *lw, Type type, const char *name, bool views, const CVisitor *visit, void *data) {
    Walk w = {lw, visit, data, views, 0};
    if (lw->options->device) walk_leaves(&w, type, keep(lw, name));
    else walk_value(&w, type, shape_of(lw, type), keep(lw, name), false);
}
