/* From the AST to the texts, breaks and groups of layout.h.

   Comments are not in the tree: before each node that has a place of its own, those that stand
   before it in the source are printed.  A break is forced where the author had one, which is asked
   of the source by positions. */
#include "ast/print.h"

#include <string.h>

#include "ast/layout.h"
#include "base/num.h"

typedef struct Printer {
    Layout layout;
    const SourceFile *source;      /* NULL: none */
    const ParseComments *comments; /* NULL: none */
    uint32_t next_comment;
    uint32_t unbroken; /* inside a string: no breaks at all */
    bool heads_only;   /* items without their bodies */
} Printer;

static void print_expr(Printer *p, const AstNode *node, int step);
static void print_type(Printer *p, const AstNode *node);
static void print_block(Printer *p, const AstNode *node);
static void print_stmt(Printer *p, const AstNode *node);

/* ---- texts -------------------------------------------------------------------------------- */

static void text(Printer *p, const char *s) {
    layout_text(&p->layout, s, strlen(s));
}

static void text_n(Printer *p, AstText s) {
    layout_text(&p->layout, s.at, s.len);
}

static void open(Printer *p, LayoutGroup group, int step) {
    if (!p->unbroken) layout_open(&p->layout, group, step);
}

static void close(Printer *p) {
    if (!p->unbroken) layout_close(&p->layout);
}

/* A string's text with escapes, without quotes. */
static void escaped(Printer *p, AstText s) {
    StrBuf out = {0};
    for (size_t i = 0; i < s.len;) {
        size_t valid = i + utf8_check(s.at + i, s.len - i);
        for (; i < valid; i++) {
            unsigned char c = (unsigned char)s.at[i];
            const char *from = "\n\t\r\\\"", *to = "ntr\\\"";
            const char *found = c ? strchr(from, c) : NULL;
            if (found) strbuf_printf(&out, "\\%c", to[found - from]);
            else if (c == '{' || c == '}') strbuf_printf(&out, "%c%c", c, c);
            else if (c == 0) strbuf_add(&out, "\\0");
            else if (c < 0x20 || c == 0x7F) strbuf_printf(&out, "\\x%02x", c);
            else strbuf_char(&out, (char)c);
        }
        if (i < s.len) strbuf_printf(&out, "\\x%02x", (unsigned char)s.at[i++]);
    }
    layout_text(&p->layout, out.text, out.len);
    strbuf_free(&out);
}

static void quoted(Printer *p, AstText s) {
    text(p, "\"");
    escaped(p, s);
    text(p, "\"");
}

/* ---- comments and breaks ------------------------------------------------------------------ */

static const char *source_at(const Printer *p, Pos pos) {
    return p->source->text + (pos - p->source->base);
}

/* New lines between POS and what stands before it. */
static int lines_before(const Printer *p, Pos pos) {
    if (!p->source || !pos) return 0;
    int lines = 0;
    const char *at = source_at(p, pos);
    for (; at > p->source->text && strchr(" \t\r\n\f", at[-1]); at--) lines += at[-1] == '\n';
    return lines;
}

static bool starts_file(const Printer *p, Pos pos) {
    const char *at = source_at(p, pos);
    while (at > p->source->text && strchr(" \t\r\n\f", at[-1])) at--;
    return at == p->source->text;
}

static bool several_lines(const Printer *p, Span span) {
    if (!p->source) return false;
    return memchr(source_at(p, span.begin), '\n', span.end - span.begin) != NULL;
}

static const ParseComment *comment_before(const Printer *p, Pos pos) {
    if (!p->comments || p->next_comment >= p->comments->list.len) return NULL;
    const ParseComment *comment = &p->comments->list.at[p->next_comment];
    return comment->span.begin < pos ? comment : NULL;
}

static bool is_line_comment(const Printer *p, const ParseComment *comment) {
    return source_at(p, comment->span.begin)[1] == '/';
}

static size_t comment_length(const Printer *p, const ParseComment *comment) {
    const char *at = source_at(p, comment->span.begin);
    size_t len = comment->span.end - comment->span.begin;
    while (len && strchr(" \t", at[len - 1])) len--;
    return len;
}

/* COLUMN: as for layout_comment.  Documentation of nothing becomes a comment, lest it document
   what stands behind it once it is printed. */
static void print_comment(Printer *p, const ParseComment *comment, int column) {
    const char *at = source_at(p, comment->span.begin);
    size_t len = comment_length(p, comment);
    bool stray = is_line_comment(p, comment) && !comment->documents && len > 2 && at[2] == '/' &&
                 (len == 3 || at[3] != '/');
    StrBuf text = {0};
    strbuf_add(&text, stray ? "//" : "");
    strbuf_add_n(&text, at + (stray ? 3 : 0), len - (stray ? 3 : 0));
    layout_comment(&p->layout, text.text, text.len, column);
    strbuf_free(&text);
}

static bool ends_line(const Printer *p, const ParseComment *comment) {
    const char *at = source_at(p, comment->span.end);
    while (*at && strchr(" \t\r", *at)) at++;
    return *at == '\n' || !*at;
}

/* Those before POS that stand behind something on its line, up to its end. */
static void trailing_comments(Printer *p, Pos pos) {
    for (const ParseComment *c; (c = comment_before(p, pos)); p->next_comment++) {
        if (c->documents || lines_before(p, c->span.begin) || starts_file(p, c->span.begin) ||
            !ends_line(p, c))
            return;
        uint32_t line, column;
        source_line_col(p->source, c->span.begin, &line, &column);
        print_comment(p, c, (int)column - 1);
    }
}

/* Those before POS that have lines of their own; true if there were any. */
static bool own_comments(Printer *p, Pos pos, bool blank) {
    bool any = false;
    for (const ParseComment *c; (c = comment_before(p, pos)); p->next_comment++) {
        int lines = lines_before(p, c->span.begin);
        bool alone = lines || any || c->documents || starts_file(p, c->span.begin);
        if (!alone || !ends_line(p, c)) break;
        bool empty = lines > 1 && blank;
        layout_break(&p->layout, LAYOUT_FORCED | (empty ? LAYOUT_BLANK : 0));
        print_comment(p, c, 0);
        any = true;
    }
    return any;
}

/* All other comments before POS, in the line. */
static void inner_comments(Printer *p, Pos pos) {
    for (const ParseComment *c; (c = comment_before(p, pos)); p->next_comment++) {
        if (is_line_comment(p, c)) {
            print_comment(p, c, 0);
        } else {
            layout_text(&p->layout, source_at(p, c->span.begin), comment_length(p, c));
            text(p, " ");
        }
    }
}

static void sym(Printer *p, AstIdent name) {
    if (!name.sym) return;
    inner_comments(p, name.span.begin);
    layout_text(&p->layout, name.sym->text, name.sym->len);
}

/* Documentation, where no comments are at hand that hold it. */
static void print_doc(Printer *p, AstText doc) {
    if (p->comments || p->heads_only || !doc.at) return;
    for (const char *line = doc.at, *end = doc.at + doc.len; line <= end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        StrBuf comment = {0};
        strbuf_add(&comment, stop > line ? "/// " : "///");
        strbuf_add_n(&comment, line, (size_t)(stop - line));
        layout_break(&p->layout, LAYOUT_FORCED);
        layout_comment(&p->layout, comment.text, comment.len, 0);
        strbuf_free(&comment);
        line = stop + 1;
    }
}

/* The most new lines before what stands at NEXT or a comment that is printed right before it. */
static int lines_above(Printer *p, Pos next) {
    int most = lines_before(p, next);
    uint32_t first = p->next_comment;
    for (const ParseComment *c; (c = comment_before(p, next)); p->next_comment++) {
        int lines = lines_before(p, c->span.begin);
        if (is_line_comment(p, c) && !lines) lines = 1;
        if (lines > most) most = lines;
    }
    p->next_comment = first;
    return most;
}

/* A possible break before what stands at NEXT. */
static void break_before(Printer *p, int flags, Pos next, bool forced) {
    if (p->unbroken) {
        inner_comments(p, next);
        if (flags & LAYOUT_SPACE) text(p, " ");
        return;
    }
    trailing_comments(p, next);
    bool blank = flags & LAYOUT_BLANK;
    if (own_comments(p, next, blank)) {
        forced = true;
        flags &= ~LAYOUT_AFTER_BLOCK;
    }
    flags &= ~LAYOUT_BLANK;
    if (blank && lines_above(p, next) > 1) flags |= LAYOUT_BLANK;
    if (forced) flags |= LAYOUT_FORCED;
    layout_break(&p->layout, flags);
    inner_comments(p, next);
}

static void break_at(Printer *p, int flags, Pos next) {
    break_before(p, flags, next, lines_above(p, next) > 0);
}

/* NODES between OPENING and CLOSING, as many on a line as fit. */
static void print_list(Printer *p, const char *opening, AstList nodes, const char *closing, Pos end,
                       void (*print)(Printer *p, const AstNode *node)) {
    text(p, opening);
    bool below = nodes.len && lines_above(p, nodes.at[0]->span.begin) > 0;
    if (below) open(p, LAYOUT_LINE, LAYOUT_INDENT);
    else open(p, LAYOUT_ALIGN, 0);
    for (uint32_t i = 0; i < nodes.len; i++) {
        if (i) text(p, ",");
        if (i || below) break_at(p, i ? LAYOUT_SPACE : 0, nodes.at[i]->span.begin);
        print(p, nodes.at[i]);
    }
    trailing_comments(p, end);
    own_comments(p, end, false);
    inner_comments(p, end);
    close(p);
    text(p, closing);
}

/* ---- expressions -------------------------------------------------------------------------- */

/* How tightly a form binds; an operand below what its place asks for gets parentheses. */
enum {
    BINDS_LAMBDA,
    BINDS_OR,
    BINDS_AND,
    BINDS_COMPARE,
    BINDS_ADD,
    BINDS_MUL,
    BINDS_UNARY,
    BINDS_POW,
    BINDS_POST
};

static int binary_level(AstOp op) {
    switch (op) {
    case AST_OP_OR: return BINDS_OR;
    case AST_OP_AND: return BINDS_AND;
    case AST_OP_EQ:
    case AST_OP_NE:
    case AST_OP_LT:
    case AST_OP_LE:
    case AST_OP_GT:
    case AST_OP_GE: return BINDS_COMPARE;
    case AST_OP_ADD:
    case AST_OP_SUB: return BINDS_ADD;
    case AST_OP_POW: return BINDS_POW;
    default: return BINDS_MUL;
    }
}

static int level_of(const AstNode *node) {
    switch ((AstKind)node->kind) {
    case AST_Lambda: return BINDS_LAMBDA;
    case AST_Unary: return BINDS_UNARY;
    case AST_Binary: return binary_level((AstOp)((const AstBinary *)node)->op);
    default: return BINDS_POST;
    }
}

static bool has_parens(const Printer *p, const AstNode *node) {
    return p->comments && bitset_has(&p->comments->parens, node->id);
}

static bool is_blocklike(const AstNode *node) {
    return node->kind == AST_If || node->kind == AST_Block;
}

static void print_bare(Printer *p, const AstNode *node, int step);

/* NODE, in parentheses if it is NEEDED or the author wrote them. */
static void print_operand(Printer *p, const AstNode *node, bool needed, int step) {
    inner_comments(p, node->span.begin);
    if (!needed && !has_parens(p, node)) {
        print_bare(p, node, step);
        return;
    }
    text(p, "(");
    open(p, LAYOUT_ALIGN, 0);
    print_bare(p, node, 0);
    inner_comments(p, node->span.end);
    close(p);
    text(p, ")");
}

static void print_expr(Printer *p, const AstNode *node, int step) {
    print_operand(p, node, false, step);
}

/* What is called, indexed, or has a field. */
static void print_base(Printer *p, const AstNode *node, bool call) {
    bool needed =
        level_of(node) < BINDS_POST || is_blocklike(node) || (node->kind == AST_Deriv && !call);
    print_operand(p, node, needed, 0);
}

static void print_path(Printer *p, const AstNode *node) {
    if (node->kind == AST_Field) {
        print_path(p, ((const AstField *)node)->base);
        text(p, ".");
        sym(p, ((const AstField *)node)->name);
    } else {
        print_expr(p, node, 0);
    }
}

static bool is_path(const AstNode *node) {
    while (node->kind == AST_Field) node = ((const AstField *)node)->base;
    return node->kind == AST_Name;
}

/* A chain of left-associative operators of one level is one group: a + b - c. */
static void print_binary(Printer *p, const AstNode *node, int step) {
    int binds = level_of(node);
    VEC(const AstBinary *) chain = {0};
    const AstNode *first = node;
    while (first->kind == AST_Binary && level_of(first) == binds) {
        if (first != node && (has_parens(p, first) || binds == BINDS_POW || binds == BINDS_COMPARE))
            break;
        vec_push(&chain, (const AstBinary *)first);
        first = ((const AstBinary *)first)->left;
    }
    open(p, LAYOUT_PARENT, step);
    bool associates = binds != BINDS_POW && binds != BINDS_COMPARE;
    print_operand(p, first, level_of(first) < binds + !associates || is_blocklike(first), 0);
    while (chain.len) {
        const AstBinary *binary = vec_pop(&chain);
        Span between = {binary->left->span.end, binary->right->span.begin};
        break_before(p, LAYOUT_SPACE, between.end, several_lines(p, between));
        text(p, ast_op_text((AstOp)binary->op));
        text(p, " ");
        const AstNode *right = binary->right;
        int level = level_of(right);
        bool needed = binds == BINDS_POW ? level < BINDS_UNARY : level <= binds;
        if (right->kind == AST_Unary) needed = false;
        print_operand(p, right, needed, 0);
    }
    close(p);
    vec_free(&chain);
}

static void print_pattern(Printer *p, const AstNode *node) {
    inner_comments(p, node->span.begin);
    if (node->kind == AST_PatName) sym(p, ((const AstPatName *)node)->name);
    else if (node->kind == AST_PatSkip) text(p, "_");
    else print_list(p, "(", AST_AS(PatTuple, node)->parts, ")", node->span.end, print_pattern);
}

static void print_range(Printer *p, const AstRange *range) {
    if (range->lo) print_expr(p, range->lo, 0);
    text(p, "..");
    if (range->hi) print_expr(p, range->hi, 0);
    if (range->step) {
        text(p, " by ");
        print_expr(p, range->step, 0);
    }
}

static void print_iter(Printer *p, const AstNode *node) {
    inner_comments(p, node->span.begin);
    if (node->kind == AST_Range) print_range(p, (const AstRange *)node);
    else print_expr(p, node, LAYOUT_INDENT);
}

static void print_activity(Printer *p, const AstNode *node) {
    const AstActivity *act = AST_AS(Activity, node);
    text(p, act_name((ActKind)act->kind));
    if (!act->width) return;
    text(p, "<");
    print_expr(p, act->width, 0);
    text(p, ">");
}

/* for heads: body */
static void print_comp(Printer *p, const AstComp *comp) {
    text(p, "for ");
    for (uint32_t i = 0; i < comp->heads.len; i++) {
        const AstHead *head = AST_AS(Head, comp->heads.at[i]);
        if (i) {
            text(p, ",");
            break_at(p, LAYOUT_SPACE, head->node.span.begin);
        }
        print_pattern(p, head->pattern);
        if (head->iter) {
            text(p, " in ");
            print_iter(p, head->iter);
        }
    }
    if (comp->where) {
        text(p, " where ");
        print_expr(p, comp->where, LAYOUT_INDENT);
    }
    text(p, ":");
    break_at(p, LAYOUT_SPACE, comp->body->span.begin);
    print_expr(p, comp->body, LAYOUT_INDENT);
}

static void print_arg(Printer *p, const AstNode *node) {
    inner_comments(p, node->span.begin);
    if (node->kind == AST_Comp) {
        open(p, LAYOUT_LINE, LAYOUT_INDENT);
        print_comp(p, (const AstComp *)node);
        close(p);
        return;
    }
    if (node->kind == AST_Range) {
        print_range(p, (const AstRange *)node);
        return;
    }
    if (node->kind != AST_Arg) {
        print_expr(p, node, LAYOUT_INDENT);
        return;
    }
    const AstArg *arg = (const AstArg *)node;
    if (arg->name.sym) {
        sym(p, arg->name);
        text(p, ": ");
    }
    if (arg->value->kind != AST_ActArg) {
        print_expr(p, arg->value, LAYOUT_INDENT);
        return;
    }
    const AstActArg *act = (const AstActArg *)arg->value;
    print_activity(p, act->act);
    if (act->has_args) print_list(p, "(", act->args, ")", act->node.span.end, print_arg);
}

/* Part of an array, tuple or index; [for ...] keeps its brackets. */
static void print_part(Printer *p, const AstNode *node) {
    if (node->kind == AST_Range) print_iter(p, node);
    else print_expr(p, node, LAYOUT_INDENT);
}

/* A single head as all arguments hugs the parentheses. */
static void print_args(Printer *p, AstList args, Pos end) {
    bool hugs =
        args.len == 1 && args.at[0]->kind == AST_Comp && !lines_above(p, args.at[0]->span.begin);
    if (!hugs) {
        print_list(p, "(", args, ")", end, print_arg);
        return;
    }
    text(p, "(");
    open(p, LAYOUT_LINE, LAYOUT_INDENT);
    print_comp(p, (const AstComp *)args.at[0]);
    inner_comments(p, end);
    close(p);
    text(p, ")");
}

static void print_option(Printer *p, const AstNode *node) {
    const AstOption *option = AST_AS(Option, node);
    sym(p, option->name);
    if (option->has_args) print_list(p, "(", option->args, ")", node->span.end, print_arg);
}

static void print_options(Printer *p, AstList options, Pos end) {
    if (options.len) print_list(p, "[", options, "]", end, print_option);
    text(p, " ");
}

/* What an operator is applied to. */
static void print_derived(Printer *p, const AstNode *node) {
    if (is_path(node) && !has_parens(p, node)) print_path(p, node);
    else print_operand(p, node, node->kind != AST_Deriv, 0);
}

static void print_deriv(Printer *p, const AstDeriv *deriv) {
    static const char *const words[] = {"grad", "jvp", "split"};
    if (deriv->deferred) text(p, "deferred ");
    text(p, words[deriv->op]);
    print_options(p, deriv->options, deriv->operand->span.begin);
    print_derived(p, deriv->operand);
}

static void print_launch(Printer *p, const AstLaunch *launch) {
    text(p, "launch");
    print_options(p, launch->options, launch->operand->span.begin);
    print_derived(p, launch->operand);
    text(p, "(");
    open(p, LAYOUT_ALIGN, 0);
    for (uint32_t i = 0; i < launch->ranges.len; i++) {
        if (i) text(p, ",");
        if (i) break_at(p, LAYOUT_SPACE, launch->ranges.at[i]->span.begin);
        print_iter(p, launch->ranges.at[i]);
    }
    text(p, ";");
    for (uint32_t i = 0; i < launch->args.len; i++) {
        if (i) text(p, ",");
        break_at(p, LAYOUT_SPACE, launch->args.at[i]->span.begin);
        print_arg(p, launch->args.at[i]);
    }
    inner_comments(p, launch->node.span.end);
    close(p);
    text(p, ")");
}

static void print_str(Printer *p, const AstStr *str) {
    text(p, "\"");
    p->unbroken++;
    for (uint32_t i = 0; i < str->pieces.len; i++) {
        if (str->pieces.at[i]->kind == AST_StrText) {
            escaped(p, ((const AstStrText *)str->pieces.at[i])->text);
            continue;
        }
        const AstStrPart *part = AST_AS(StrPart, str->pieces.at[i]);
        text(p, "{");
        print_operand(p, part->value, part->value->kind == AST_Lambda, 0);
        if (part->form.at) {
            text(p, ":");
            text_n(p, part->form);
        }
        text(p, "}");
    }
    p->unbroken--;
    text(p, "\"");
}

static void print_lambda_param(Printer *p, const AstNode *node) {
    const AstLambdaParam *param = AST_AS(LambdaParam, node);
    print_pattern(p, param->pattern);
    if (!param->type) return;
    text(p, ": ");
    print_type(p, param->type);
}

static void print_lambda(Printer *p, const AstLambda *lambda, int step) {
    p->unbroken++;
    print_list(p, "|", lambda->params, "| ", lambda->body->span.begin, print_lambda_param);
    p->unbroken--;
    print_expr(p, lambda->body, step);
}

static void print_if(Printer *p, const AstIf *node) {
    open(p, LAYOUT_LINE, 0);
    for (;;) {
        text(p, "if ");
        print_expr(p, node->cond, 2 * LAYOUT_INDENT);
        text(p, " ");
        print_block(p, node->then);
        if (!node->other) break;
        Span between = {node->then->span.end, node->other->span.begin};
        break_before(p, LAYOUT_SPACE | LAYOUT_AFTER_BLOCK, between.end, several_lines(p, between));
        text(p, "else ");
        if (node->other->kind != AST_If) {
            print_block(p, node->other);
            break;
        }
        node = (const AstIf *)node->other;
    }
    close(p);
}

static void print_bare(Printer *p, const AstNode *node, int step) {
    switch ((AstKind)node->kind) {
    case AST_Name: sym(p, ((const AstName *)node)->name); break;
    case AST_Int: text_n(p, ((const AstInt *)node)->text); break;
    case AST_Float: text_n(p, ((const AstFloat *)node)->text); break;
    case AST_Imag:
        text_n(p, ((const AstImag *)node)->text);
        text(p, "i");
        break;
    case AST_Bool: text(p, ((const AstBool *)node)->value ? "true" : "false"); break;
    case AST_Str: print_str(p, (const AstStr *)node); break;
    case AST_Unary: {
        const AstUnary *unary = (const AstUnary *)node;
        text(p, ast_op_text((AstOp)unary->op));
        print_operand(p, unary->arg, level_of(unary->arg) < BINDS_UNARY, step);
        break;
    }
    case AST_Binary: print_binary(p, node, step); break;
    case AST_If: print_if(p, (const AstIf *)node); break;
    case AST_Block:
        open(p, LAYOUT_LINE, 0);
        print_block(p, node);
        close(p);
        break;
    case AST_Lambda: print_lambda(p, (const AstLambda *)node, step); break;
    case AST_Call: {
        const AstCall *call = (const AstCall *)node;
        print_base(p, call->callee, true);
        print_args(p, call->args, node->span.end);
        break;
    }
    case AST_Index: {
        const AstIndex *index = (const AstIndex *)node;
        print_base(p, index->base, false);
        print_list(p, "[", index->subs, "]", node->span.end, print_part);
        break;
    }
    case AST_Field:
        print_base(p, ((const AstField *)node)->base, false);
        text(p, ".");
        sym(p, ((const AstField *)node)->name);
        break;
    case AST_Part: {
        char number[32];
        print_base(p, ((const AstPart *)node)->base, false);
        snprintf(number, sizeof number, ".%lld", (long long)((const AstPart *)node)->index);
        text(p, number);
        break;
    }
    case AST_Tuple:
        print_list(p, "(", ((const AstTuple *)node)->parts, ")", node->span.end, print_part);
        break;
    case AST_Array:
        print_list(p, "[", ((const AstArray *)node)->parts, "]", node->span.end, print_part);
        break;
    case AST_Comp:
        open(p, LAYOUT_LINE, LAYOUT_INDENT);
        text(p, "[");
        print_comp(p, (const AstComp *)node);
        inner_comments(p, node->span.end);
        text(p, "]");
        close(p);
        break;
    case AST_Deriv: print_deriv(p, (const AstDeriv *)node); break;
    case AST_Launch: print_launch(p, (const AstLaunch *)node); break;
    case AST_TypeApply: {
        const AstTypeApply *apply = (const AstTypeApply *)node;
        print_base(p, apply->callee, true);
        print_list(p, "<", apply->types, ">", node->span.end, print_type);
        break;
    }
    default: print_stmt(p, node); break;
    }
}

/* ---- types -------------------------------------------------------------------------------- */

static void print_dim(Printer *p, const AstNode *node) {
    if (node->kind == AST_DimAny) text(p, "_");
    else print_expr(p, node, LAYOUT_INDENT);
}

static void print_param(Printer *p, const AstNode *node) {
    const AstParam *param = AST_AS(Param, node);
    print_doc(p, param->doc);
    inner_comments(p, node->span.begin);
    if (param->name.sym) {
        sym(p, param->name);
        text(p, ": ");
    }
    if (param->act) {
        print_activity(p, param->act);
        text(p, " ");
    }
    if (param->mut) text(p, "mut ");
    if (param->strided) text(p, "strided ");
    print_type(p, param->type);
    if (!param->value) return;
    text(p, " = ");
    print_expr(p, param->value, LAYOUT_INDENT);
}

static void print_type_part(Printer *p, const AstNode *node) {
    const AstTypePart *part = AST_AS(TypePart, node);
    inner_comments(p, node->span.begin);
    if (part->name.sym) {
        sym(p, part->name);
        text(p, ": ");
    }
    if (part->act) {
        print_activity(p, part->act);
        text(p, " ");
    }
    print_type(p, part->type);
}

static void print_ret(Printer *p, const AstNode *node) {
    if (!node) return;
    const AstRet *ret = AST_AS(Ret, node);
    text(p, " -> ");
    if (ret->act) {
        print_activity(p, ret->act);
        text(p, " ");
    }
    print_type(p, ret->type);
}

static void print_type(Printer *p, const AstNode *node) {
    inner_comments(p, node->span.begin);
    switch ((AstKind)node->kind) {
    case AST_TypeName: {
        const AstTypeName *type = (const AstTypeName *)node;
        print_path(p, type->path);
        if (type->has_dims) print_list(p, "[", type->dims, "]", node->span.end, print_dim);
        break;
    }
    case AST_TypeArray: {
        const AstTypeArray *type = (const AstTypeArray *)node;
        print_list(p, "[", type->dims, "]", type->elem->span.begin, print_dim);
        print_type(p, type->elem);
        break;
    }
    case AST_TypeTuple:
        print_list(p, "(", ((const AstTypeTuple *)node)->parts, ")", node->span.end,
                   print_type_part);
        break;
    default: {
        const AstTypeFn *type = AST_AS(TypeFn, node);
        text(p, "fn");
        print_list(p, "(", type->params, ")", type->ret ? type->ret->span.begin : node->span.end,
                   print_param);
        print_ret(p, type->ret);
    }
    }
}

/* ---- statements --------------------------------------------------------------------------- */

/* Braces round NODES and VALUE; each on a line of its own unless all stood on one line. */
static void print_braces(Printer *p, Span span, AstList nodes, const AstNode *value,
                         void (*print)(Printer *p, const AstNode *node), const char *comma) {
    uint32_t count = nodes.len + (value ? 1 : 0);
    const AstNode *first = nodes.len ? nodes.at[0] : value;
    bool several = p->source ? several_lines(p, span) : count > 0 && !p->unbroken;
    text(p, "{");
    if (!count && !comment_before(p, span.end)) {
        text(p, " }");
        return;
    }
    open(p, LAYOUT_BLOCK, 0);
    for (uint32_t i = 0; i < count; i++) {
        const AstNode *node = i < nodes.len ? nodes.at[i] : value;
        bool forced = several && count && node == first;
        break_before(p, LAYOUT_SPACE | LAYOUT_BLANK, node->span.begin, forced);
        print(p, node);
        if (*comma && i + 1 < count) text(p, comma);
        else if (*comma) layout_text_if_broken(&p->layout, comma);
    }
    break_before(p, LAYOUT_SPACE | LAYOUT_DEDENT, span.end - (span.end > span.begin), false);
    close(p);
    text(p, "}");
}

/* A statement, or the value at the end of a block. */
static void print_line(Printer *p, const AstNode *node) {
    open(p, LAYOUT_LINE, is_blocklike(node) ? 0 : LAYOUT_INDENT);
    inner_comments(p, node->span.begin);
    print_stmt(p, node);
    close(p);
}

static void print_block(Printer *p, const AstNode *node) {
    const AstBlock *block = AST_AS(Block, node);
    inner_comments(p, node->span.begin);
    print_braces(p, node->span, block->stmts, block->value, print_line, "");
}

static void print_value(Printer *p, const AstNode *value) {
    text(p, " =");
    break_at(p, LAYOUT_SPACE | LAYOUT_IF_FITS, value->span.begin);
    print_expr(p, value, 0);
}

static void print_let(Printer *p, const AstLet *let) {
    text(p, let->var ? "var " : "let ");
    print_pattern(p, let->pattern);
    if (let->type) {
        text(p, ": ");
        if (let->act) {
            print_activity(p, let->act);
            text(p, " ");
        }
        print_type(p, let->type);
    }
    print_value(p, let->value);
}

static void print_assign(Printer *p, const AstAssign *assign) {
    print_expr(p, assign->place, 0);
    text(p, " ");
    text(p, ast_op_text((AstOp)assign->op));
    text(p, "=");
    break_at(p, LAYOUT_SPACE | LAYOUT_IF_FITS, assign->value->span.begin);
    print_expr(p, assign->value, 0);
}

static void print_checkpoint(Printer *p, const AstNode *node) {
    if (node) {
        text(p, " checkpoint(");
        print_expr(p, node, 0);
        text(p, ")");
    }
    text(p, " ");
}

/* A loop's blocks begin where the loop does. */
static void print_loop(Printer *p, const AstNode *node) {
    open(p, LAYOUT_PARENT, -LAYOUT_INDENT);
    if (node->kind == AST_For) {
        const AstFor *loop = (const AstFor *)node;
        text(p, "for ");
        print_pattern(p, loop->pattern);
        text(p, " in ");
        open(p, LAYOUT_PARENT, 2 * LAYOUT_INDENT);
        print_iter(p, loop->iter);
        close(p);
        print_checkpoint(p, loop->checkpoint);
        print_block(p, loop->body);
    } else {
        const AstWhile *loop = AST_AS(While, node);
        text(p, "while ");
        print_expr(p, loop->cond, 2 * LAYOUT_INDENT);
        print_checkpoint(p, loop->checkpoint);
        print_block(p, loop->body);
    }
    close(p);
}

/* An expression as a statement: an `if` with a ';' is one in parentheses. */
static void print_expr_stmt(Printer *p, const AstExprStmt *stmt) {
    bool ended = stmt->node.span.end != stmt->value->span.end;
    if (is_blocklike(stmt->value) && !ended) {
        print_bare(p, stmt->value, 0);
        return;
    }
    print_operand(p, stmt->value, is_blocklike(stmt->value), 0);
    text(p, ";");
}

static void print_assert(Printer *p, const AstAssert *stmt) {
    text(p, "assert ");
    print_expr(p, stmt->cond, 0);
    if (stmt->message) {
        text(p, ",");
        break_at(p, LAYOUT_SPACE, stmt->message->span.begin);
        print_expr(p, stmt->message, 0);
    }
}

static void print_stmt(Printer *p, const AstNode *node) {
    switch ((AstKind)node->kind) {
    case AST_Let: print_let(p, (const AstLet *)node); break;
    case AST_Shared:
        text(p, "shared ");
        sym(p, ((const AstShared *)node)->name);
        text(p, ": ");
        print_type(p, ((const AstShared *)node)->type);
        break;
    case AST_Assign: print_assign(p, (const AstAssign *)node); break;
    case AST_ExprStmt: print_expr_stmt(p, (const AstExprStmt *)node); return;
    case AST_Assert: print_assert(p, (const AstAssert *)node); break;
    case AST_Return:
        text(p, "return");
        if (((const AstReturn *)node)->value) {
            text(p, " ");
            print_expr(p, ((const AstReturn *)node)->value, 0);
        }
        break;
    case AST_Break: text(p, "break"); break;
    case AST_Continue: text(p, "continue"); break;
    case AST_For:
    case AST_While: print_loop(p, node); return;
    default: print_expr(p, node, 0); return; /* the value of a block */
    }
    text(p, ";");
}

/* ---- items -------------------------------------------------------------------------------- */

static void print_generic(Printer *p, const AstNode *node) {
    const AstGeneric *generic = AST_AS(Generic, node);
    sym(p, generic->name);
    if (!generic->cls.sym) return;
    text(p, ": ");
    sym(p, generic->cls);
}

static Pos last_end(AstList list) {
    return list.at[list.len - 1]->span.end;
}

static void print_signature(Printer *p, AstList generics, AstList params, const AstNode *ret,
                            Pos end) {
    if (generics.len) print_list(p, "<", generics, ">", last_end(generics), print_generic);
    print_list(p, "(", params, ")", ret ? ret->span.begin : end, print_param);
    print_ret(p, ret);
}

static void print_fn(Printer *p, const AstFn *fn) {
    if (fn->exported) text(p, "export ");
    if (fn->kernel) text(p, "kernel ");
    text(p, "fn ");
    sym(p, fn->name);
    print_signature(p, fn->generics, fn->params, fn->ret, fn->body->span.begin);
    if (p->heads_only) return;
    text(p, " ");
    print_block(p, fn->body);
}

static void print_field(Printer *p, const AstNode *node) {
    const AstFieldDecl *field = AST_AS(FieldDecl, node);
    print_doc(p, field->doc);
    sym(p, field->name);
    text(p, ": ");
    print_type(p, field->type);
}

static void print_name(Printer *p, const AstNode *node) {
    sym(p, AST_AS(Name, node)->name);
}

static void print_struct(Printer *p, const AstStruct *item) {
    text(p, "struct ");
    sym(p, item->name);
    if (item->sizes.len) print_list(p, "[", item->sizes, "]", last_end(item->sizes), print_name);
    if (p->heads_only) return;
    text(p, " ");
    print_braces(p, item->node.span, item->fields, NULL, print_field, ",");
}

static void print_rule(Printer *p, const AstNode *node) {
    const AstRule *rule = AST_AS(Rule, node);
    open(p, LAYOUT_LINE, 0);
    sym(p, rule->name);
    print_list(p, "(", rule->params, ")", rule->body->span.begin, print_pattern);
    text(p, " ");
    print_block(p, rule->body);
    close(p);
}

static void print_derivative(Printer *p, const AstDerivative *item) {
    text(p, "derivative ");
    print_path(p, item->path);
    Pos rules = item->rules.len ? item->rules.at[0]->span.begin : item->node.span.end;
    print_signature(p, item->generics, item->params, item->ret, rules);
    if (p->heads_only) return;
    text(p, " ");
    print_braces(p, item->node.span, item->rules, NULL, print_rule, "");
}

static void print_extern(Printer *p, const AstExtern *item) {
    text(p, "extern ");
    if (item->symbol.at) {
        quoted(p, item->symbol);
        text(p, " ");
    }
    text(p, "fn ");
    sym(p, item->name);
    print_signature(p, (AstList){NULL, 0}, item->params, item->ret, item->node.span.end);
    text(p, ";");
}

/* name or (name, name2) */
static void print_names(Printer *p, AstIdent name, AstIdent name2) {
    if (name2.sym) text(p, "(");
    sym(p, name);
    if (!name2.sym) return;
    text(p, ", ");
    sym(p, name2);
    text(p, ")");
}

static void print_use(Printer *p, const AstUse *item) {
    text(p, "use ");
    print_path(p, item->path);
    if (item->alias.sym) {
        text(p, " as ");
        sym(p, item->alias);
    }
    if (item->names.len) print_list(p, ": ", item->names, ";", item->node.span.end, print_name);
    else text(p, ";");
}

static AstText item_doc(const AstNode *node) {
    switch ((AstKind)node->kind) {
    case AST_Fn: return ((const AstFn *)node)->doc;
    case AST_ExportOp: return ((const AstExportOp *)node)->doc;
    case AST_Const: return ((const AstConst *)node)->doc;
    case AST_Extern: return ((const AstExtern *)node)->doc;
    case AST_Struct: return ((const AstStruct *)node)->doc;
    default: return (AstText){NULL, 0};
    }
}

static void print_item(Printer *p, const AstNode *node) {
    print_doc(p, item_doc(node));
    open(p, LAYOUT_LINE, node->kind == AST_Const || node->kind == AST_ExportOp ? LAYOUT_INDENT : 0);
    switch ((AstKind)node->kind) {
    case AST_Fn: print_fn(p, (const AstFn *)node); break;
    case AST_ExportOp:
        text(p, "export ");
        print_names(p, ((const AstExportOp *)node)->name, ((const AstExportOp *)node)->name2);
        print_value(p, ((const AstExportOp *)node)->value);
        text(p, ";");
        break;
    case AST_Const:
        text(p, "const ");
        print_names(p, ((const AstConst *)node)->name, ((const AstConst *)node)->name2);
        if (((const AstConst *)node)->type) {
            text(p, ": ");
            print_type(p, ((const AstConst *)node)->type);
        }
        print_value(p, ((const AstConst *)node)->value);
        text(p, ";");
        break;
    case AST_Extern: print_extern(p, (const AstExtern *)node); break;
    case AST_Derivative: print_derivative(p, (const AstDerivative *)node); break;
    case AST_Struct: print_struct(p, (const AstStruct *)node); break;
    case AST_Use: print_use(p, (const AstUse *)node); break;
    default: {
        const AstTest *test = AST_AS(Test, node);
        text(p, test->bench ? "bench " : "test ");
        quoted(p, test->name);
        if (p->heads_only) break;
        text(p, " ");
        print_block(p, test->body);
    }
    }
    close(p);
}

void ast_print(StrBuf *out, const AstFile *file, const SourceFile *source,
               const ParseComments *comments) {
    Printer p = {.source = comments ? source : NULL, .comments = source ? comments : NULL};
    layout_init(&p.layout, out);
    for (uint32_t i = 0; i < file->items.len; i++) {
        const AstNode *item = file->items.at[i];
        if (i && !p.source) layout_break(&p.layout, LAYOUT_FORCED | LAYOUT_BLANK);
        break_before(&p, LAYOUT_BLANK, item->span.begin, true);
        print_item(&p, item);
        Pos next =
            i + 1 < file->items.len ? file->items.at[i + 1]->span.begin : file->node.span.end + 1;
        trailing_comments(&p, next);
        layout_flush(&p.layout);
    }
    own_comments(&p, file->node.span.end + 1, file->items.len > 0);
    layout_flush(&p.layout);
    if (out->len) strbuf_char(out, '\n');
    layout_free(&p.layout);
}

void ast_print_node(StrBuf *out, const AstNode *node) {
    Printer p = {.heads_only = true};
    layout_init(&p.layout, out);
    layout_open(&p.layout, LAYOUT_LINE, LAYOUT_INDENT);
    switch ((AstKind)node->kind) {
#define NODE(kind, group)                                                                          \
    case AST_##kind:                                                                               \
        print_##group(&p, node);                                                                   \
        break;
#define print_ITEM print_item
#define print_TYPE print_type
#define print_PATTERN print_pattern
#define print_EXPR(p, node) print_expr(p, node, 0)
#define print_STMT print_stmt
#define print_PART(p, node) (void)0
#define F_NODE(name)
#define F_LIST(name)
#define F_IDENT(name)
#define F_INT(name)
#define F_TEXT(name)
#define END(kind)
#include "ast/node.def"
    case AST_KIND_COUNT: break;
    }
    layout_close(&p.layout);
    layout_flush(&p.layout);
    layout_free(&p.layout);
}
