/* Literals, and which expressions are made of them only, so that their type is their context's. */
#include "types/internal.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

/* The scalar type that a suffix names, or -1; LEN becomes the length without it. */
static int literal_suffix(const char *text, size_t *len) {
    bool hex = *len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    bool exponent = hex && (memchr(text, 'p', *len) || memchr(text, 'P', *len));
    for (int i = 0; i < SCALAR_COUNT; i++) {
        const char *name = scalar_name((Scalar)i);
        size_t n = strlen(name);
        if (i == SCALAR_BOOL || n >= *len || memcmp(text + *len - n, name, n)) continue;
        if (hex && !exponent && name[0] != 'i' && name[0] != 'u') continue;
        if (i == SCALAR_F16 && *len > 4 && !memcmp(text + *len - 4, "bf16", 4)) continue;
        *len -= n;
        return i;
    }
    return -1;
}

static bool is_number_name(FnChecker *f, const AstNode *node) {
    if (node->kind != AST_Name) return false;
    const char *text = ((const AstName *)node)->name.sym->text;
    if (strcmp(text, "inf") && strcmp(text, "nan") && strcmp(text, "pi")) return false;
    Sym name = ((const AstName *)node)->name.sym;
    for (uint32_t i = 0; i < f->scope.len; i++)
        if (f->scope.at[i].name == name) return false;
    return modules_lookup(&f->c->modules, f->module, name).kind == ITEM_NONE;
}

static bool has_suffix(const AstNode *node) {
    const AstText *text =
        node->kind == AST_Int ? &((const AstInt *)node)->text : &((const AstFloat *)node)->text;
    size_t len = text->len;
    return literal_suffix(text->at, &len) >= 0;
}

static bool list_flexible(FnChecker *f, const AstList *list) {
    for (uint32_t i = 0; i < list->len; i++)
        if (!is_flexible(f, list->at[i])) return false;
    return true;
}

bool is_zeros_call(FnChecker *f, const AstCall *call) {
    if (call->callee->kind != AST_Name) return false;
    Sym name = ((const AstName *)call->callee)->name.sym;
    for (uint32_t i = 0; i < f->scope.len; i++)
        if (f->scope.at[i].name == name) return false;
    NameLookup found = modules_lookup(&f->c->modules, f->module, name);
    return found.builtin == BUILTIN_ZEROS || found.builtin == BUILTIN_ONES;
}

/* A call of a generic function whose result's type follows from literals or from nothing. */
static bool call_flexible(FnChecker *f, const AstCall *call) {
    if (call->callee->kind != AST_Name) return false;
    Sym name = ((const AstName *)call->callee)->name.sym;
    for (uint32_t i = 0; i < f->scope.len; i++)
        if (f->scope.at[i].name == name) return false;
    if (is_zeros_call(f, call)) return true;
    NameLookup found = modules_lookup(&f->c->modules, f->module, name);
    const FnDecl *decl = found.kind == ITEM_FN ? found.item->fn : NULL;
    if (!decl && found.math < 0) return false;
    Signature *sig = decl ? signature_of(f->c, decl) : NULL;
    if (sig && found.math < 0 &&
        (!sig->ret || !sig->generics->len || !type_is_generic(sig->ret->type, sig->generics)))
        return false;
    for (uint32_t i = 0; i < call->args.len; i++) {
        const AstNode *node = call->args.at[i];
        const AstArg *arg = node->kind == AST_Arg ? (const AstArg *)node : NULL; /* else a head */
        bool named = arg && arg->name.sym;
        bool matters =
            !sig || found.math >= 0 || named || i >= sig->nparams || sig->params[i].generic;
        if (sig && i < sig->nparams && sig->params[i].is_fn) return false;
        if (matters && !is_flexible(f, arg ? arg->value : node)) return false;
    }
    return true;
}

bool is_flexible(FnChecker *f, const AstNode *node) {
    if (!node) return true;
    switch ((AstKind)node->kind) {
    case AST_Int:
    case AST_Float: return !has_suffix(node);
    case AST_Imag: return true;
    case AST_Name: return is_number_name(f, node);
    case AST_Unary:
        return ((const AstUnary *)node)->op == AST_OP_NEG &&
               is_flexible(f, ((const AstUnary *)node)->arg);
    case AST_Binary: {
        const AstBinary *b = (const AstBinary *)node;
        if (b->op == AST_OP_POW) return is_flexible(f, b->left) && is_flexible(f, b->right);
        bool arithmetic = b->op == AST_OP_ADD || b->op == AST_OP_SUB || b->op == AST_OP_MUL ||
                          b->op == AST_OP_DIV || b->op == AST_OP_MOD;
        return arithmetic && is_flexible(f, b->left) && is_flexible(f, b->right);
    }
    case AST_Array: return list_flexible(f, &((const AstArray *)node)->parts);
    case AST_Tuple: return list_flexible(f, &((const AstTuple *)node)->parts);
    case AST_If:
        return ((const AstIf *)node)->other && is_flexible(f, ((const AstIf *)node)->then) &&
               is_flexible(f, ((const AstIf *)node)->other);
    case AST_Block:
        return ((const AstBlock *)node)->value && is_flexible(f, ((const AstBlock *)node)->value);
    case AST_Comp: return is_flexible(f, ((const AstComp *)node)->body);
    case AST_Call: return call_flexible(f, (const AstCall *)node);
    default: return false;
    }
}

/* ---- values ---- */

static bool holds_unsigned(Scalar s, uint64_t value, bool negative) {
    switch (s) {
    case SCALAR_I8: return value <= 127u + negative;
    case SCALAR_I16: return value <= 32767u + negative;
    case SCALAR_I32: return value <= 2147483647u + (uint64_t)negative;
    case SCALAR_I64: return value <= (uint64_t)INT64_MAX + negative;
    case SCALAR_U8: return value <= 255 && (!negative || !value);
    case SCALAR_U16: return value <= 65535 && (!negative || !value);
    case SCALAR_U32: return value <= UINT32_MAX && (!negative || !value);
    case SCALAR_U64: return !negative || !value;
    case SCALAR_F32:
    case SCALAR_C64: return value <= (UINT64_C(1) << 53) && (double)(float)value == (double)value;
    default: return value <= (UINT64_C(1) << 53) || (value & 2047) == 0;
    }
}

static Tree *make_float(FnChecker *f, double real, Type type, Span span) {
    Tree *tree = make(f, T_FLOAT, type, span);
    tree->real = type->scalar == SCALAR_F32 ? (double)(float)real : real;
    return tree;
}

static Tree *make_complex(FnChecker *f, double re, double im, Scalar scalar, Span span) {
    Type part = type_scalar(f->c->types, scalar == SCALAR_C64 ? SCALAR_F32 : SCALAR_F64);
    Tree *parts[2] = {make_float(f, re, part, span), make_float(f, im, part, span)};
    return make_args(f, T_TUPLE, type_scalar(f->c->types, scalar), span, 2, parts);
}

/* The numeric scalar type of the context, or -1. */
static int context_scalar(Type expected) {
    if (!expected) return -1;
    Type elem = elem_of(expected);
    return is_numeric(elem) ? (int)elem->scalar : -1;
}

static Tree *literal_int(FnChecker *f, AstInt *node, int want, bool negative) {
    Span span = node->node.span;
    size_t len = node->text.len;
    int suffix = literal_suffix(node->text.at, &len);
    Scalar scalar = suffix >= 0 ? (Scalar)suffix : want >= 0 ? (Scalar)want : SCALAR_I64;
    uint64_t value;
    Type type = type_scalar(f->c->types, scalar);
    if (!num_parse_u64(node->text.at, len, &value) || !holds_unsigned(scalar, value, negative)) {
        diag_report(f->c->diags, DIAG_LITERAL_RANGE, span, "%s%.*s does not fit %s",
                    negative ? "-" : "", (int)len, node->text.at, scalar_name(scalar));
        return tree_poison(f, span);
    }
    double real = negative ? -(double)value : (double)value;
    if (scalar_is_complex(scalar)) return make_complex(f, real, 0.0, scalar, span);
    if (scalar_is_float(scalar)) return make_float(f, real, type, span);
    return make_int(f, (int64_t)(negative ? 0 - value : value), type, span);
}

static double parse_real(AstText text, size_t len, bool single) {
    float x = 0;
    double y = 0;
    if (single && num_parse_float(text.at, len, &x)) return (double)x;
    num_parse_double(text.at, len, &y);
    return y;
}

static Tree *literal_float(FnChecker *f, AstFloat *node, int want, bool negative) {
    size_t len = node->text.len;
    int suffix = literal_suffix(node->text.at, &len);
    Scalar scalar = suffix >= 0 ? (Scalar)suffix : want >= 0 ? (Scalar)want : SCALAR_F64;
    if (scalar_is_int(scalar)) scalar = SCALAR_F64;
    bool single = scalar == SCALAR_F32 || scalar == SCALAR_C64;
    double real = parse_real(node->text, len, single);
    if (isinf(real)) {
        diag_report(f->c->diags, DIAG_LITERAL_RANGE, node->node.span, "%.*s does not fit %s",
                    (int)len, node->text.at, scalar_name(scalar));
        return tree_poison(f, node->node.span);
    }
    if (negative) real = -real;
    if (scalar_is_complex(scalar)) return make_complex(f, real, 0.0, scalar, node->node.span);
    return make_float(f, real, type_scalar(f->c->types, scalar), node->node.span);
}

static Tree *literal_name(FnChecker *f, AstName *node, int want, bool negative) {
    const char *text = node->name.sym->text;
    double real = text[0] == 'i' ? INFINITY : text[0] == 'n' ? NAN : 3.14159265358979323846;
    if (negative) real = -real;
    Scalar scalar = want >= 0 && !scalar_is_int((Scalar)want) ? (Scalar)want : SCALAR_F64;
    if (scalar_is_complex(scalar)) return make_complex(f, real, 0.0, scalar, node->node.span);
    return make_float(f, real, type_scalar(f->c->types, scalar), node->node.span);
}

Tree *check_literal(FnChecker *f, AstNode *node, Type expected, bool negative) {
    int want = context_scalar(expected);
    if (node->kind == AST_Int) return literal_int(f, (AstInt *)node, want, negative);
    if (node->kind == AST_Float) return literal_float(f, (AstFloat *)node, want, negative);
    if (node->kind == AST_Name) return literal_name(f, (AstName *)node, want, negative);
    AstImag *imag = AST_AS(Imag, node);
    bool single = want == SCALAR_C64 || want == SCALAR_F32;
    double im = parse_real(imag->text, imag->text.len, single);
    return make_complex(f, 0.0, negative ? -im : im, single ? SCALAR_C64 : SCALAR_C128, node->span);
}

/* ---- strings ---- */

/* What the runtime's forms take, but nothing that hides a type: no integer as %f, no bool as %d. */
static bool form_fits(Type type, char conversion) {
    Type elem = elem_of(type);
    if (is_integer(elem)) return strchr("diuxXob", conversion) != NULL;
    if (is_floating(elem) || is_complex(elem)) return strchr("eEfFgGaA", conversion) != NULL;
    if (is_bool(elem) || elem->kind == TYPE_STR) return conversion == 's';
    return false;
}

/* Digits at *P up to END: a width or precision that the runtime takes? */
static bool form_number(const char **p, const char *end) {
    int number = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
        if (number < 100000) number = number * 10 + (**p - '0');
    return number <= 9999;
}

static void check_form(FnChecker *f, const AstStrPart *part, Type type) {
    const char *p = part->form.at, *end = p + part->form.len;
    while (p < end && strchr("-+ #0", *p)) p++;
    bool sizes = form_number(&p, end);
    if (p < end && *p == '.') {
        p++;
        sizes = form_number(&p, end) && sizes;
    }
    Type elem = elem_of(type);
    bool known = elem->kind == TYPE_SCALAR || elem->kind == TYPE_STR;
    if (sizes && known && (p == end || (p + 1 == end && form_fits(type, *p)))) return;
    diag_report(f->c->diags, DIAG_FORM, part->node.span, "`%.*s` is no form for a value of type %s",
                (int)part->form.len, part->form.at, tt(f, type));
    if (sizes)
        diag_help(f->c->diags, (Span){0},
                  "integers take d, x, o, b; floats f, e, g, a; strings and bools s");
    else diag_help(f->c->diags, (Span){0}, "a width or precision is at most 9999");
}

static Tree *str_part(FnChecker *f, AstStrPart *part) {
    Tree *value = check_value(f, part->value, NULL);
    if (value->type->has_fns || value->type->kind == TYPE_TAPE) {
        diag_report(f->c->diags, DIAG_PRINTABLE, value->span, "a value of type %s cannot be shown",
                    tt(f, value->type));
        return tree_poison(f, value->span);
    }
    if (part->form.len && !is_poison(value->type)) check_form(f, part, value->type);
    return value;
}

Tree *check_str(FnChecker *f, AstStr *node) {
    VEC(Tree *) args = {0};
    VEC(const char *) forms = {0};
    bool values = false;
    for (uint32_t i = 0; i < node->pieces.len; i++) {
        AstNode *piece = node->pieces.at[i];
        const char *form = NULL;
        Tree *arg;
        if (piece->kind == AST_StrText) {
            arg = make(f, T_STR, ty_str(f), piece->span);
            arg->text = ((AstStrText *)piece)->text;
        } else {
            AstStrPart *part = AST_AS(StrPart, piece);
            arg = str_part(f, part);
            if (part->form.len) form = arena_strndup(f->c->arena, part->form.at, part->form.len);
            values = true;
        }
        vec_push(&args, arg);
        vec_push(&forms, form);
    }
    Tree *tree;
    if (!values && args.len <= 1) {
        tree = make(f, T_STR, ty_str(f), node->node.span);
        if (args.len) tree->text = args.at[0]->text;
        else tree->text = (AstText){"", 0};
    } else {
        tree = make_args(f, T_INTERPOLATE, ty_str(f), node->node.span, args.len, args.at);
        tree->forms = ARENA_ARRAY(f->c->arena, const char *, args.len);
        for (uint32_t i = 0; i < args.len; i++) tree->forms[i] = forms.at[i];
    }
    vec_free(&args);
    vec_free(&forms);
    return tree;
}
