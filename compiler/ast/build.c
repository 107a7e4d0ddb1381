#include "ast/build.h"

#include <string.h>

#include "ast/fields.h"

/* ---- nodes -------------------------------------------------------------------------------- */

static AstNode *node_new(AstBuilder *b, AstKind kind, Span span) {
    AstNode *node = arena_alloc(b->session->arena, ast_size(kind));
    node->kind = (uint16_t)kind;
    node->id = b->session->next_id++;
    node->span = span;
    return node;
}

#define NEW(T, var, span) Ast##T *var = (Ast##T *)node_new(b, AST_##T, span)

typedef struct Below {
    const AstBuilder *b;
    uint16_t depth;
    bool poison;
} Below;

static void below_add(AstNode *child, void *data) {
    Below *below = data;
    uint16_t depth = below->b->depths.at[child->id - below->b->first_id];
    if (depth > below->depth) below->depth = depth;
    below->poison |= child->poison;
}

/* Every node ends here, when its children are known: notes how deep the tree is below it. */
static AstNode *done_(AstBuilder *b, AstNode *node) {
    Below below = {b, 0, false};
    ast_children(node, below_add, &below);
    node->poison |= below.poison;
    if (below.depth >= AST_MAX_DEPTH && !b->too_deep) {
        b->too_deep = true;
        diag_report(b->session->diags, DIAG_SYNTAX_DEPTH, node->span,
                    "this is nested too deeply; at most %d operators, calls or blocks may stand in "
                    "one another",
                    AST_MAX_DEPTH);
    }
    uint16_t depth = below.depth >= AST_MAX_DEPTH ? AST_MAX_DEPTH : (uint16_t)(below.depth + 1);
    while (b->depths.len <= node->id - b->first_id) vec_push(&b->depths, 1);
    b->depths.at[node->id - b->first_id] = depth;
    return node;
}

#define DONE(var) done_(b, &(var)->node)

static AstList list_of(const AstListBuilder *list) {
    return list ? list->list : (AstList){NULL, 0};
}

void parse_comments_free(ParseComments *comments) {
    vec_free(&comments->list);
    bitset_free(&comments->parens);
}

void build_init(AstBuilder *b, ParseSession *session, ParseComments *comments) {
    *b = (AstBuilder){.session = session, .comments = comments, .first_id = session->next_id};
}

void build_free(AstBuilder *b) {
    vec_free(&b->depths);
    vec_free(&b->docs);
}

AstListBuilder *build_list(AstBuilder *b, AstNode *first) {
    AstListBuilder *list = ARENA_NEW(b->session->arena, AstListBuilder);
    return first ? build_append(b, list, first) : list;
}

AstListBuilder *build_append(AstBuilder *b, AstListBuilder *list, AstNode *node) {
    if (!list) list = ARENA_NEW(b->session->arena, AstListBuilder);
    if (!node) return list;
    if (list->list.len == list->cap) {
        uint32_t cap = list->cap ? 2 * list->cap : 4;
        AstNode **at = ARENA_ARRAY(b->session->arena, AstNode *, cap);
        if (list->list.len) memcpy(at, list->list.at, list->list.len * sizeof *at);
        list->list.at = at;
        list->cap = cap;
    }
    list->list.at[list->list.len++] = node;
    return list;
}

/* ---- documentation ------------------------------------------------------------------------ */

void build_doc(AstBuilder *b, Pos next, AstText text, uint32_t first) {
    AstDoc doc = {next, first, b->comments ? b->comments->list.len - first : 0, text};
    vec_push(&b->docs, doc);
}

/* The documentation before the token at POS. */
static AstText doc_at(const AstBuilder *b, Pos pos) {
    uint32_t lo = 0, hi = b->docs.len;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (b->docs.at[mid].next < pos) lo = mid + 1;
        else hi = mid;
    }
    if (lo == b->docs.len || b->docs.at[lo].next != pos) return (AstText){NULL, 0};
    const AstDoc *doc = &b->docs.at[lo];
    for (uint32_t i = 0; i < doc->ncomments; i++)
        b->comments->list.at[doc->comment + i].documents = true;
    return doc->text;
}

/* ---- items -------------------------------------------------------------------------------- */

AstFile *build_file(AstBuilder *b, Span span) {
    NEW(File, file, span);
    file->items = list_of(b->items);
    return (AstFile *)DONE(file);
}

void build_item(AstBuilder *b, AstNode *item, Span span) {
    if (!item || item->poison || b->too_deep) return;
    item->span = span;
    AstText doc = doc_at(b, span.begin);
    switch ((AstKind)item->kind) {
    case AST_Fn: ((AstFn *)item)->doc = doc; break;
    case AST_ExportOp: ((AstExportOp *)item)->doc = doc; break;
    case AST_Const: ((AstConst *)item)->doc = doc; break;
    case AST_Extern: ((AstExtern *)item)->doc = doc; break;
    case AST_Struct: ((AstStruct *)item)->doc = doc; break;
    default: break;
    }
    b->items = build_append(b, b->items, item);
}

AstNode *build_fn(AstBuilder *b, Span s, AstIdent name, AstListBuilder *generics,
                  AstListBuilder *params, AstNode *ret, AstNode *body) {
    NEW(Fn, fn, s);
    fn->name = name;
    fn->generics = list_of(generics);
    fn->params = list_of(params);
    fn->ret = ret;
    fn->body = body;
    return DONE(fn);
}

AstNode *build_fn_marks(AstBuilder *b, AstNode *node, bool exported, bool kernel) {
    (void)b;
    AstFn *fn = AST_AS(Fn, node);
    fn->exported = exported;
    fn->kernel = kernel;
    return node;
}

AstNode *build_generic(AstBuilder *b, Span s, AstIdent name, AstIdent cls) {
    NEW(Generic, generic, s);
    generic->name = name;
    generic->cls = cls;
    return DONE(generic);
}

AstNode *build_ptype(AstBuilder *b, Span s, AstNode *act, bool mut, bool strided, AstNode *type) {
    NEW(Param, param, s);
    param->act = act;
    param->mut = mut;
    param->strided = strided;
    param->type = type;
    return DONE(param);
}

AstNode *build_param(AstBuilder *b, Span s, AstIdent name, AstNode *ptype, AstNode *value) {
    AstParam *param = AST_AS(Param, ptype);
    param->node.span = s;
    param->name = name;
    param->value = value;
    param->doc = doc_at(b, s.begin);
    return DONE(param);
}

AstNode *build_activity(AstBuilder *b, Span s, ActKind kind, AstNode *width) {
    NEW(Activity, act, s);
    act->kind = kind;
    act->width = width;
    return DONE(act);
}

AstNode *build_ret(AstBuilder *b, Span s, AstNode *act, AstNode *type) {
    NEW(Ret, ret, s);
    ret->act = act;
    ret->type = type;
    return DONE(ret);
}

AstNode *build_export(AstBuilder *b, Span s, AstIdent name, AstIdent name2, AstNode *value) {
    NEW(ExportOp, item, s);
    item->name = name;
    item->name2 = name2;
    item->value = value;
    return DONE(item);
}

AstNode *build_const(AstBuilder *b, Span s, AstIdent name, AstIdent name2, AstNode *type,
                     AstNode *value) {
    NEW(Const, item, s);
    item->name = name;
    item->name2 = name2;
    item->type = type;
    item->value = value;
    return DONE(item);
}

AstNode *build_extern(AstBuilder *b, Span s, AstText symbol, AstIdent name, AstListBuilder *params,
                      AstNode *ret) {
    NEW(Extern, item, s);
    item->name = name;
    item->symbol = symbol;
    item->params = list_of(params);
    item->ret = ret;
    return DONE(item);
}

AstNode *build_derivative(AstBuilder *b, Span s, AstNode *path, AstListBuilder *generics,
                          AstListBuilder *params, AstNode *ret, AstListBuilder *rules) {
    NEW(Derivative, item, s);
    item->path = path;
    item->generics = list_of(generics);
    item->params = list_of(params);
    item->ret = ret;
    item->rules = list_of(rules);
    return DONE(item);
}

AstNode *build_rule(AstBuilder *b, Span s, AstIdent name, AstListBuilder *params, AstNode *body) {
    NEW(Rule, rule, s);
    rule->name = name;
    rule->params = list_of(params);
    rule->body = body;
    return DONE(rule);
}

AstNode *build_struct(AstBuilder *b, Span s, AstIdent name, AstListBuilder *sizes,
                      AstListBuilder *fields) {
    NEW(Struct, item, s);
    item->name = name;
    item->sizes = list_of(sizes);
    item->fields = list_of(fields);
    return DONE(item);
}

AstNode *build_field_decl(AstBuilder *b, Span s, AstIdent name, AstNode *type) {
    NEW(FieldDecl, field, s);
    field->name = name;
    field->type = type;
    field->doc = doc_at(b, s.begin);
    return DONE(field);
}

AstNode *build_use(AstBuilder *b, Span s, AstNode *path, AstIdent alias, AstListBuilder *names) {
    NEW(Use, item, s);
    item->path = path;
    item->alias = alias;
    item->names = list_of(names);
    return DONE(item);
}

AstNode *build_test(AstBuilder *b, Span s, bool bench, AstText name, AstNode *body) {
    NEW(Test, item, s);
    item->bench = bench;
    item->name = name;
    item->body = body;
    return DONE(item);
}

/* ---- types and patterns ------------------------------------------------------------------- */

AstNode *build_type_name(AstBuilder *b, Span s, AstNode *path, AstListBuilder *dims) {
    NEW(TypeName, type, s);
    type->path = path;
    type->has_dims = dims != NULL;
    type->dims = list_of(dims);
    return DONE(type);
}

AstNode *build_type_array(AstBuilder *b, Span s, AstListBuilder *dims, AstNode *elem) {
    NEW(TypeArray, type, s);
    type->dims = list_of(dims);
    type->elem = elem;
    return DONE(type);
}

AstNode *build_type_tuple(AstBuilder *b, Span s, AstListBuilder *parts) {
    NEW(TypeTuple, type, s);
    type->parts = list_of(parts);
    return DONE(type);
}

AstNode *build_type_part(AstBuilder *b, Span s, AstIdent name, AstNode *act, AstNode *type) {
    NEW(TypePart, part, s);
    part->name = name;
    part->act = act;
    part->type = type;
    return DONE(part);
}

AstNode *build_type_fn(AstBuilder *b, Span s, AstListBuilder *params, AstNode *ret) {
    NEW(TypeFn, type, s);
    type->params = list_of(params);
    type->ret = ret;
    return DONE(type);
}

AstNode *build_dim_any(AstBuilder *b, Span s) {
    return done_(b, node_new(b, AST_DimAny, s));
}

AstNode *build_pat_name(AstBuilder *b, Span s, AstIdent name) {
    NEW(PatName, pattern, s);
    pattern->name = name;
    return DONE(pattern);
}

AstNode *build_pat_skip(AstBuilder *b, Span s) {
    return done_(b, node_new(b, AST_PatSkip, s));
}

AstNode *build_pat_tuple(AstBuilder *b, Span s, AstListBuilder *parts) {
    NEW(PatTuple, pattern, s);
    pattern->parts = list_of(parts);
    return DONE(pattern);
}

/* ---- statements --------------------------------------------------------------------------- */

AstNode *build_let(AstBuilder *b, Span s, bool var, AstNode *pattern, AstNode *ann,
                   AstNode *value) {
    NEW(Let, let, s);
    let->var = var;
    let->pattern = pattern;
    let->act = ann ? AST_AS(TypePart, ann)->act : NULL;
    let->type = ann ? AST_AS(TypePart, ann)->type : NULL;
    let->value = value;
    return DONE(let);
}

AstNode *build_shared(AstBuilder *b, Span s, AstIdent name, AstNode *type) {
    NEW(Shared, shared, s);
    shared->name = name;
    shared->type = type;
    return DONE(shared);
}

/* The part of PLACE that nothing can be assigned to, or NULL. */
static const AstNode *not_a_place(const AstNode *place) {
    for (;;) {
        switch ((AstKind)place->kind) {
        case AST_Name: return NULL;
        case AST_Index: place = ((const AstIndex *)place)->base; break;
        case AST_Field: place = ((const AstField *)place)->base; break;
        case AST_Part: place = ((const AstPart *)place)->base; break;
        default: return place;
        }
    }
}

/* A tuple of places may hold further tuples. */
static void check_place(AstBuilder *b, const AstNode *place) {
    if (place->kind == AST_Tuple) {
        const AstTuple *tuple = (const AstTuple *)place;
        for (uint32_t i = 0; i < tuple->parts.len; i++) check_place(b, tuple->parts.at[i]);
        if (tuple->parts.len) return;
    }
    const AstNode *bad = not_a_place(place);
    if (!bad) return;
    bool call = bad->kind == AST_Call;
    diag_report(b->session->diags, DIAG_SYNTAX_PLACE, bad->span,
                call ? "the result of a call cannot be assigned to" : "this cannot be assigned to");
    if (call && bad == place)
        diag_help(b->session->diags, (Span){0, 0},
                  "an element is written with brackets: x[i] = e;");
}

AstNode *build_assign(AstBuilder *b, Span s, AstNode *place, AstOp op, AstNode *value) {
    NEW(Assign, assign, s);
    assign->place = place;
    assign->op = op;
    assign->value = value;
    DONE(assign);
    if (!b->too_deep) check_place(b, place);
    return &assign->node;
}

AstNode *build_poison(AstNode *node) {
    node->poison = true;
    return node;
}

AstNode *build_broken(AstBuilder *b, Span s) {
    return build_poison(build_expr_stmt(b, s, build_tuple(b, s, NULL, NULL)));
}

AstNode *build_expr_stmt(AstBuilder *b, Span s, AstNode *value) {
    NEW(ExprStmt, stmt, s);
    stmt->value = value;
    return DONE(stmt);
}

AstNode *build_assert(AstBuilder *b, Span s, AstNode *cond, AstNode *message) {
    NEW(Assert, stmt, s);
    stmt->cond = cond;
    stmt->message = message;
    return DONE(stmt);
}

AstNode *build_return(AstBuilder *b, Span s, AstNode *value) {
    NEW(Return, stmt, s);
    stmt->value = value;
    return DONE(stmt);
}

AstNode *build_break(AstBuilder *b, Span s) {
    return done_(b, node_new(b, AST_Break, s));
}

AstNode *build_continue(AstBuilder *b, Span s) {
    return done_(b, node_new(b, AST_Continue, s));
}

AstNode *build_for(AstBuilder *b, Span s, AstNode *pattern, AstNode *iter, AstNode *checkpoint,
                   AstNode *body) {
    NEW(For, loop, s);
    loop->pattern = pattern;
    loop->iter = iter;
    loop->checkpoint = checkpoint;
    loop->body = body;
    return DONE(loop);
}

AstNode *build_while(AstBuilder *b, Span s, AstNode *cond, AstNode *checkpoint, AstNode *body) {
    NEW(While, loop, s);
    loop->cond = cond;
    loop->checkpoint = checkpoint;
    loop->body = body;
    return DONE(loop);
}

/* ---- expressions -------------------------------------------------------------------------- */

AstNode *build_name(AstBuilder *b, Span s, AstIdent name) {
    NEW(Name, expr, s);
    expr->name = name;
    return DONE(expr);
}

AstNode *build_int(AstBuilder *b, Span s, AstText text) {
    NEW(Int, expr, s);
    expr->text = text;
    return DONE(expr);
}

AstNode *build_float(AstBuilder *b, Span s, AstText text) {
    NEW(Float, expr, s);
    expr->text = text;
    return DONE(expr);
}

AstNode *build_imag(AstBuilder *b, Span s, AstText text) {
    NEW(Imag, expr, s);
    expr->text = text;
    return DONE(expr);
}

AstNode *build_bool(AstBuilder *b, Span s, bool value) {
    NEW(Bool, expr, s);
    expr->value = value;
    return DONE(expr);
}

AstNode *build_str(AstBuilder *b, Span s, AstText head, AstListBuilder *pieces, AstText tail) {
    NEW(Str, expr, s);
    AstNode *first = build_str_text(b, s, head), *last = build_str_text(b, s, tail);
    if (first) {
        AstListBuilder *all = build_list(b, first);
        for (uint32_t i = 0; pieces && i < pieces->list.len; i++)
            build_append(b, all, pieces->list.at[i]);
        pieces = all;
    }
    expr->pieces = list_of(build_append(b, pieces, last));
    return DONE(expr);
}

AstNode *build_str_text(AstBuilder *b, Span s, AstText text) {
    if (!text.len) return NULL;
    NEW(StrText, piece, s);
    piece->text = text;
    return DONE(piece);
}

AstNode *build_str_part(AstBuilder *b, Span s, AstNode *value, AstText form) {
    NEW(StrPart, piece, s);
    piece->value = value;
    piece->form = form;
    return DONE(piece);
}

AstNode *build_unary(AstBuilder *b, Span s, AstOp op, AstNode *arg) {
    NEW(Unary, expr, s);
    expr->op = op;
    expr->arg = arg;
    return DONE(expr);
}

AstNode *build_binary(AstBuilder *b, Span s, AstOp op, AstNode *left, AstNode *right) {
    NEW(Binary, expr, s);
    expr->op = op;
    expr->left = left;
    expr->right = right;
    return DONE(expr);
}

AstNode *build_if(AstBuilder *b, Span s, AstNode *cond, AstNode *then, AstNode *other) {
    NEW(If, expr, s);
    expr->cond = cond;
    expr->then = then;
    expr->other = other;
    return DONE(expr);
}

AstNode *build_block(AstBuilder *b, Span s, AstListBuilder *stmts, AstNode *value) {
    NEW(Block, block, s);
    block->stmts = list_of(stmts);
    block->value = value;
    if (!value && block->stmts.len) {
        AstNode *last = block->stmts.at[block->stmts.len - 1];
        AstNode *e = last->kind == AST_ExprStmt ? AST_AS(ExprStmt, last)->value : NULL;
        if (e && last->span.end == e->span.end && (e->kind == AST_If || e->kind == AST_Block)) {
            block->stmts.len--;
            block->value = e;
        }
    }
    return DONE(block);
}

AstNode *build_lambda(AstBuilder *b, Span s, AstListBuilder *params, AstNode *body) {
    NEW(Lambda, expr, s);
    expr->params = list_of(params);
    expr->body = body;
    return DONE(expr);
}

AstNode *build_lambda_param(AstBuilder *b, Span s, AstNode *pattern, AstNode *type) {
    NEW(LambdaParam, param, s);
    param->pattern = pattern;
    param->type = type;
    return DONE(param);
}

/* A bare activity word among ARGS, or one with arguments of its own; NULL if there is none. */
static const AstNode *activity_word(const AstList *args, bool bare) {
    for (uint32_t i = 0; i < args->len; i++) {
        const AstNode *value =
            args->at[i]->kind == AST_Arg ? ((const AstArg *)args->at[i])->value : NULL;
        bool is_bare = value && value->kind == AST_ActArg && !((const AstActArg *)value)->has_args;
        if (is_bare == bare) return args->at[i];
    }
    return NULL;
}

AstNode *build_call(AstBuilder *b, Span s, AstNode *callee, AstListBuilder *args) {
    NEW(Call, call, s);
    call->callee = callee;
    call->args = list_of(args);
    const AstNode *bare = activity_word(&call->args, true);
    const AstNode *other = bare ? activity_word(&call->args, false) : NULL;
    if (other) {
        diag_report(b->session->diags, DIAG_SYNTAX_ACTIVITY, bare->span,
                    "an activity word alone stands among arguments");
        diag_note(b->session->diags, other->span,
                  "this is an argument; write either a word for every parameter or, as in "
                  "Const(x), an argument for every parameter");
    }
    return DONE(call);
}

AstNode *build_arg(AstBuilder *b, Span s, AstIdent name, AstNode *value) {
    NEW(Arg, arg, s);
    arg->name = name;
    arg->value = value;
    return DONE(arg);
}

AstNode *build_act_arg(AstBuilder *b, Span s, AstNode *act, AstListBuilder *args) {
    NEW(ActArg, arg, s);
    arg->act = act;
    arg->has_args = args != NULL;
    arg->args = list_of(args);
    return DONE(arg);
}

AstNode *build_index(AstBuilder *b, Span s, AstNode *base, AstListBuilder *subs) {
    NEW(Index, expr, s);
    expr->base = base;
    expr->subs = list_of(subs);
    return DONE(expr);
}

AstNode *build_field(AstBuilder *b, Span s, AstNode *base, AstIdent name) {
    NEW(Field, expr, s);
    expr->base = base;
    expr->name = name;
    return DONE(expr);
}

AstNode *build_part(AstBuilder *b, Span s, AstNode *base, AstText index) {
    NEW(Part, expr, s);
    expr->base = base;
    for (uint32_t i = 0; i < index.len && expr->index < 1000000; i++)
        expr->index = 10 * expr->index + (index.at[i] - '0');
    return DONE(expr);
}

AstNode *build_range(AstBuilder *b, Span s, AstNode *lo, AstNode *hi, AstNode *step) {
    NEW(Range, range, s);
    range->lo = lo;
    range->hi = hi;
    range->step = step;
    return DONE(range);
}

AstNode *build_paren(AstBuilder *b, Span s, AstNode *value) {
    if (b->comments) bitset_add(&b->comments->parens, value->id);
    value->span = s;
    return value;
}

AstNode *build_tuple(AstBuilder *b, Span s, AstNode *first, AstListBuilder *rest) {
    NEW(Tuple, expr, s);
    if (first) {
        AstListBuilder *all = build_list(b, first);
        for (uint32_t i = 0; rest && i < rest->list.len; i++)
            build_append(b, all, rest->list.at[i]);
        expr->parts = all->list;
    }
    return DONE(expr);
}

AstNode *build_array(AstBuilder *b, Span s, AstListBuilder *parts) {
    NEW(Array, expr, s);
    expr->parts = list_of(parts);
    return DONE(expr);
}

AstNode *build_comp(AstBuilder *b, Span s, AstListBuilder *heads, AstNode *where) {
    NEW(Comp, expr, s);
    expr->heads = list_of(heads);
    expr->where = where;
    return DONE(expr);
}

AstNode *build_comp_body(AstBuilder *b, Span s, AstNode *comp, AstNode *body) {
    AstComp *expr = AST_AS(Comp, comp);
    expr->node.span = s;
    expr->body = body;
    return DONE(expr);
}

AstNode *build_widen(AstNode *node, Span s) {
    node->span = s;
    return node;
}

AstNode *build_head(AstBuilder *b, Span s, AstNode *pattern, AstNode *iter) {
    NEW(Head, head, s);
    head->pattern = pattern;
    head->iter = iter;
    return DONE(head);
}

AstNode *build_deriv_op(AstBuilder *b, Span s, DerivOp op, bool deferred) {
    NEW(Deriv, expr, s);
    expr->op = op;
    expr->deferred = deferred;
    return DONE(expr);
}

AstNode *build_deriv(AstBuilder *b, Span s, AstNode *op, AstListBuilder *options,
                     AstNode *operand) {
    AstDeriv *expr = AST_AS(Deriv, op);
    expr->node.span = s;
    expr->options = list_of(options);
    expr->operand = operand;
    return DONE(expr);
}

AstNode *build_option(AstBuilder *b, Span s, AstIdent name, AstListBuilder *args) {
    NEW(Option, option, s);
    option->name = name;
    option->has_args = args != NULL;
    option->args = list_of(args);
    return DONE(option);
}

AstNode *build_launch(AstBuilder *b, Span s, AstListBuilder *options, AstNode *operand,
                      AstListBuilder *ranges, AstListBuilder *args) {
    NEW(Launch, expr, s);
    expr->options = list_of(options);
    expr->operand = operand;
    expr->ranges = list_of(ranges);
    expr->args = list_of(args);
    return DONE(expr);
}

AstNode *build_type_apply(AstBuilder *b, Span s, AstNode *callee, AstListBuilder *types) {
    NEW(TypeApply, expr, s);
    expr->callee = callee;
    expr->types = list_of(types);
    return DONE(expr);
}
