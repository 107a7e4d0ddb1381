/* Heads and comprehensions. */
#include "types/internal.h"

#include <string.h>

bool head_iter(FnChecker *f, AstNode *iter, TreeHead *head, Type *elem) {
    *elem = ty_poison(f);
    if (iter->kind == AST_Range) {
        AstRange *range = (AstRange *)iter;
        head->lo = check_integer(f, range->lo, "the start of the range");
        head->hi = check_integer(f, range->hi, "the end of the range");
        head->step = range->step ? check_integer(f, range->step, "the step of the range") : NULL;
        if (is_poison(head->lo->type) || is_poison(head->hi->type) ||
            (head->step && is_poison(head->step->type)))
            return false;
        Type i64 = ty_i64(f);
        if (head->lo->type != i64) head->lo = make_cast(f, head->lo, SCALAR_I64, head->lo->span);
        if (head->hi->type != i64) head->hi = make_cast(f, head->hi, SCALAR_I64, head->hi->span);
        if (head->step && head->step->type != i64)
            head->step = make_cast(f, head->step, SCALAR_I64, head->step->span);
        if (head->step && head->step->kind == T_INT && head->step->value == 0) {
            diag_report(f->c->diags, DIAG_INDEX_RANGE, head->step->span, "a step of 0 never ends");
            return false;
        }
        head->count = head_count(f, head->lo, head->hi, head->step);
        *elem = i64;
        return true;
    }
    head->array = check_arg(f, iter, NULL);
    Type type = head->array->type;
    if (is_poison(type)) return false;
    if (!is_array(type)) {
        diag_report(f->c->diags, DIAG_HEAD_ARRAY, iter->span,
                    "a value of type %s cannot be iterated over", tt(f, type));
        if (is_integer(type))
            diag_help(f->c->diags, (Span){0}, "write the range: `0..%s`", ast_text(f, iter));
        return false;
    }
    head->count = type->dims[0];
    *elem = type_drop_dims(f->c->types, type, 1);
    return true;
}

/* ---- ranges left out ---- */

/* The type of a path (names, parts, elements), without a word if it is none or not known. */
static Type quiet_type(FnChecker *f, const AstNode *node, const Map *inner) {
    switch ((AstKind)node->kind) {
    case AST_Name: {
        Sym name = ((const AstName *)node)->name.sym;
        if (map_hasp(inner, name)) return NULL;
        for (uint32_t i = f->scope.len; i-- > 0;)
            if (f->scope.at[i].name == name) return f->scope.at[i].local->type;
        NameLookup found = modules_lookup(&f->c->modules, f->module, name);
        if (found.kind != ITEM_CONST || !found.item->cnst->ast || !found.item->cnst->ast->type)
            return NULL;
        Instance *inst = instance_of_const(f->c, found.item->cnst, node->span);
        return inst ? inst->result : NULL;
    }
    case AST_Field:
    case AST_Part: {
        bool field = node->kind == AST_Field;
        const AstNode *base =
            field ? ((const AstField *)node)->base : ((const AstPart *)node)->base;
        Type type = quiet_type(f, base, inner);
        if (!type || is_poison(type)) return NULL;
        int64_t part = field ? find_part(type, ((const AstField *)node)->name.sym)
                             : ((const AstPart *)node)->index;
        Type elem = elem_of(type);
        if ((elem->kind != TYPE_TUPLE && elem->kind != TYPE_STRUCT) || part < 0 ||
            part >= elem->nparts)
            return NULL;
        Type p = elem->parts[part].type;
        return is_array(type) ? type_array(f->c->types, p, type->rank, type->dims) : p;
    }
    case AST_Index: {
        const AstIndex *index = (const AstIndex *)node;
        Type type = quiet_type(f, index->base, inner);
        if (!type || !is_array(type) || index->subs.len > type->rank) return NULL;
        for (uint32_t i = 0; i < index->subs.len; i++)
            if (index->subs.at[i]->kind == AST_Range) return NULL;
        return type_drop_dims(f->c->types, type, index->subs.len);
    }
    default: return NULL;
    }
}

/* A subscript in which an index stands alone, and what its dimension is. */
typedef struct Use {
    AstIndex *at;
    uint32_t sub;
    Size size;
    uint32_t rank;
} Use;

typedef struct Uses {
    FnChecker *f;
    Sym index;
    const Map *inner;
    VEC(Use) found;
    AstIndex *beyond; /* x[i + 1] */
    uint32_t beyond_sub;
    bool alone; /* somewhere, even if its array is not known here */
} Uses;

static bool is_index(const AstNode *node, Sym index) {
    return node->kind == AST_Name && ((const AstName *)node)->name.sym == index;
}

static bool is_beyond(const AstNode *node, Sym index) {
    if (node->kind != AST_Binary || ((const AstBinary *)node)->op != AST_OP_ADD) return false;
    const AstBinary *b = (const AstBinary *)node;
    return (is_index(b->left, index) && b->right->kind == AST_Int) ||
           (is_index(b->right, index) && b->left->kind == AST_Int);
}

static void find_uses(AstNode *node, void *data) {
    Uses *uses = data;
    if (node->kind == AST_Index) {
        AstIndex *index = (AstIndex *)node;
        for (uint32_t i = 0; i < index->subs.len; i++) {
            if (is_beyond(index->subs.at[i], uses->index)) {
                uses->beyond = index;
                uses->beyond_sub = i;
            }
            if (!is_index(index->subs.at[i], uses->index)) continue;
            uses->alone = true;
            Type type = quiet_type(uses->f, index->base, uses->inner);
            if (!type || !is_array(type) || i >= type->rank || index->subs.len > type->rank)
                continue;
            if (type->dims[i]->kind == SIZE_ANY) continue;
            Use use = {index, i, type->dims[i], type->rank};
            vec_push(&uses->found, use);
        }
    }
    ast_children(node, find_uses, data);
}

static const char *use_text(FnChecker *f, const Use *use) {
    return dim_text(f, ast_text(f, use->at->base), use->rank, use->sub);
}

/* x[i + 1] beside x[i], where x[i] gives the range. */
static void warn_beyond(FnChecker *f, const Uses *uses) {
    if (!uses->beyond) return;
    const char *base = ast_text(f, uses->beyond->base);
    for (uint32_t i = 0; i < uses->found.len; i++) {
        const Use *use = &uses->found.at[i];
        if (use->sub != uses->beyond_sub || strcmp(base, ast_text(f, use->at->base))) continue;
        diag_report(f->c->diags, DIAG_RANGE_BEYOND, uses->beyond->node.span,
                    "the range of `%s` comes from `%s` and runs too far for this",
                    uses->index->text, ast_text(f, (AstNode *)use->at));
        diag_help(f->c->diags, (Span){0}, "write the range: `for %s in 0..%s - 1`",
                  uses->index->text, size_text(f->c->types, use->size));
        return;
    }
}

static bool infer_range(FnChecker *f, Heads *heads, AstComp *node, AstHead *ast, TreeHead *head,
                        const Map *inner) {
    if (ast->pattern->kind != AST_PatName) {
        diag_report(f->c->diags, DIAG_HEAD_RANGE, ast->node.span, "this pattern needs an array");
        return false;
    }
    Uses uses = {.f = f, .index = ((AstPatName *)ast->pattern)->name.sym, .inner = inner};
    find_uses(node->body, &uses);
    if (node->where) find_uses(node->where, &uses);
    bool ok = uses.found.len > 0;
    if (!ok) {
        diag_report(f->c->diags, DIAG_HEAD_RANGE, ast->node.span, "the range of `%s` is not known",
                    uses.index->text);
        diag_help(f->c->diags, (Span){0},
                  uses.alone ? "the array that it indexes is not known here: write the range, `for "
                               "%s in 0..n`"
                             : "it stands alone in no subscript: write the range, `for %s in 0..n`",
                  uses.index->text);
    }
    for (uint32_t i = 1; i < uses.found.len && ok; i++) {
        const Use *a = &uses.found.at[0], *b = &uses.found.at[i];
        SizeRel rel = size_compare(a->size, b->size);
        const char *at = use_text(f, a), *bt = use_text(f, b);
        if (rel == SIZE_DIFFERENT) {
            diag_report(f->c->diags, DIAG_HEAD_SIZES, ast->node.span,
                        "the range of `%s` is not known: %s is %s, but %s is %s", uses.index->text,
                        at, size_text(f->c->types, a->size), bt, size_text(f->c->types, b->size));
            ok = false;
        } else if (rel == SIZE_UNKNOWN && strcmp(at, bt)) {
            add_check(f, heads->node,
                      (TreeCheck){.a = a->size,
                                  .b = b->size,
                                  .a_text = at,
                                  .b_text = bt,
                                  .span = b->at->node.span,
                                  .message = arena_printf(f->c->arena,
                                                          "the range of `%s`: %s is {0}, but %s "
                                                          "is {1}",
                                                          uses.index->text, at, bt)});
        }
    }
    if (ok) {
        warn_beyond(f, &uses);
        head->count = uses.found.at[0].size;
        head->hi = make_size(f, head->count, ast->node.span);
    }
    vec_free(&uses.found);
    return ok;
}

/* ---- heads ---- */

static void add_names(AstNode *pattern, Map *names) {
    if (pattern->kind == AST_PatName) map_setp(names, ((AstPatName *)pattern)->name.sym, names);
    if (pattern->kind == AST_PatTuple) {
        AstPatTuple *tuple = (AstPatTuple *)pattern;
        for (uint32_t i = 0; i < tuple->parts.len; i++) add_names(tuple->parts.at[i], names);
    }
}

typedef struct Mention {
    const Map *names;
    Sym name;
    Span span;
} Mention;

static void find_mention(AstNode *node, void *data) {
    Mention *m = data;
    if (node->kind == AST_Name && map_hasp(m->names, ((AstName *)node)->name.sym)) {
        m->name = ((AstName *)node)->name.sym;
        m->span = node->span;
    }
    ast_children(node, find_mention, data);
}

/* Does a later range depend on an earlier index? */
static bool depends(FnChecker *f, AstHead *head, const Map *earlier, bool reduction, Heads *heads) {
    if (!head->iter) return false;
    Mention m = {.names = earlier};
    find_mention(head->iter, &m);
    if (m.name) heads->dependent = true;
    if (!m.name || reduction) return false;
    diag_report(f->c->diags, DIAG_HEAD_DEPENDENT, m.span,
                "this range depends on `%s`, so that the array would not be regular", m.name->text);
    diag_help(f->c->diags, (Span){0}, "that is for reductions: `sum(for i in 0..n, j in 0..i: …)`");
    return true;
}

bool heads_enter(FnChecker *f, AstComp *node, Heads *heads, bool reduction) {
    heads->n = node->heads.len;
    heads->heads = ARENA_ARRAY(f->c->arena, TreeHead, heads->n);
    heads->scope_mark = f->scope.len;
    heads->size_mark = size_mark(f->c->types);
    bool ok = true;
    Map inner = {0}, earlier = {0};
    for (uint32_t i = 0; i < heads->n; i++)
        add_names(AST_AS(Head, node->heads.at[i])->pattern, &inner);
    if (node->where && heads->n > 1 && !reduction) {
        diag_report(f->c->diags, DIAG_HEAD_WHERE, node->where->span,
                    "`where` with several indices makes no array");
        diag_help(f->c->diags, (Span){0}, "it is for one index, or for reductions");
        ok = false;
    }
    for (uint32_t i = 0; i < heads->n; i++) {
        AstHead *ast = AST_AS(Head, node->heads.at[i]);
        TreeHead *head = &heads->heads[i];
        head->span = ast->node.span;
        Type elem = ty_i64(f);
        bool fits = true;
        if (depends(f, ast, &earlier, reduction, heads)) {
            fits = false;
        } else if (ast->iter) {
            fits = head_iter(f, ast->iter, head, &elem);
        } else {
            fits = infer_range(f, heads, node, ast, head, &inner);
        }
        ok = ok && fits;
        uint32_t mark = f->scope.len;
        if (!reduction) f->parallel++;
        check_pattern(f, ast->pattern, elem, false, &head->pattern);
        if (!reduction) f->parallel--;
        for (uint32_t k = mark; k < f->scope.len; k++) f->scope.at[k].quiet = true;
        add_names(ast->pattern, &earlier);
    }
    map_free(&inner);
    map_free(&earlier);
    heads->save = parallel_enter(f, reduction ? "a reduction" : "a comprehension");
    if (node->where) heads->where = check_condition(f, node->where, "the condition");
    return ok;
}

void heads_leave(FnChecker *f, Heads *heads) {
    parallel_leave(f, heads->save);
    scope_leave(f, heads->scope_mark);
}

/* ---- comprehensions ---- */

Tree *finish_comp(FnChecker *f, Heads *heads, Tree *body, Span span) {
    Tree *tree = heads->node;
    TypeTable *t = f->c->types;
    Type type = body->type;
    if (is_poison(type)) return body;
    if (type->kind == TYPE_UNIT || type->kind == TYPE_TAPE || type->has_fns) {
        diag_report(f->c->diags, type->has_fns ? DIAG_FUNCTION_PLACE : DIAG_ELEMENT, body->span,
                    "a value of type %s cannot be an array element", tt(f, type));
        return tree_poison(f, span);
    }
    tree->nheads = heads->n;
    tree->heads = heads->heads;
    tree->where = heads->where;
    tree->body = body;
    type = type_leave(f, type, heads->size_mark);
    uint32_t rank = heads->where ? 1 : heads->n;
    Size *dims = ARENA_ARRAY(f->c->arena, Size, rank);
    for (uint32_t i = 0; i < rank; i++) {
        Size count = heads->where ? NULL : heads->heads[i].count;
        dims[i] = count ? count : size_var(t, NULL);
    }
    tree->type = type_array(t, type, rank, dims);
    return tree;
}

Tree *check_comp(FnChecker *f, AstComp *node, Type expected) {
    Span span = node->node.span;
    Heads heads = {.node = make(f, T_COMP, ty_poison(f), span)};
    bool ok = heads_enter(f, node, &heads, false);
    Type hint = expected;
    if (expected && is_array(expected))
        hint = type_drop_dims(f->c->types, expected, node->where ? 1 : node->heads.len);
    Tree *body = check_value(f, node->body, hint);
    Tree *result = ok ? finish_comp(f, &heads, body, span) : tree_poison(f, span);
    heads_leave(f, &heads);
    return result;
}
