/* The options of the derivative operators. */
#include "types/deriv.h"

#include <string.h>

/* Names of parameters. */
static bool take_names(FnChecker *f, const AstOption *option, const Sym **out, uint32_t *n) {
    Sym *names = ARENA_ARRAY(f->c->arena, Sym, option->args.len);
    for (uint32_t k = 0; k < option->args.len; k++) {
        AstNode *arg = option->args.at[k];
        if (arg->kind == AST_Arg) arg = AST_AS(Arg, arg)->value;
        if (arg->kind != AST_Name) {
            diag_report(f->c->diags, DIAG_DERIV_OPTION, arg->span, "%s takes names of parameters",
                        option->name.sym->text);
            return false;
        }
        names[k] = AST_AS(Name, arg)->name.sym;
    }
    *out = names;
    *n = option->args.len;
    return true;
}

static bool take_batch(FnChecker *f, const AstOption *option, DerivRequest *request) {
    AstNode *arg = option->args.at[0];
    if (arg->kind == AST_Arg) arg = AST_AS(Arg, arg)->value;
    AstActivity word = {.kind = ACT_BATCH, .width = arg};
    return deriv_word_width(f, &word, &request->spec.width);
}

void deriv_checkpoint(FnChecker *f, AstNode *node, int64_t *policy) {
    static const struct {
        const char *name;
        int64_t policy;
    } words[] = {{"sqrt", CHECKPOINT_SQRT}, {"all", CHECKPOINT_ALL}, {"none", CHECKPOINT_NONE}};
    if (node->kind == AST_Arg) node = AST_AS(Arg, node)->value;
    for (size_t k = 0; node->kind == AST_Name && k < sizeof words / sizeof *words; k++)
        if (!strcmp(AST_AS(Name, node)->name.sym->text, words[k].name)) {
            *policy = words[k].policy;
            return;
        }
    bool known = const_eval(f->c, f->module ? f->module : f->c->main, node, policy);
    if (known && *policy >= 1 && *policy <= CHECKPOINT_MOST) return;
    diag_report(f->c->diags, DIAG_CHECKPOINT, node->span,
                known ? "%lld states cannot be kept: it is at least 1 and at most %d"
                      : "a checkpoint clause takes a constant, `sqrt`, `all` or `none`",
                (long long)(known ? *policy : 0), CHECKPOINT_MOST);
    *policy = 0;
}

static bool take_checkpoint(FnChecker *f, const AstOption *option, DerivRequest *request) {
    deriv_checkpoint(f, option->args.at[0], &request->spec.checkpoint);
    return request->spec.checkpoint != 0;
}

/* The options; IN: which operators have it. */
enum { OF_GRAD = 1, OF_JVP = 2, OF_SPLIT = 4 };
typedef struct OptionRow {
    const char *name;
    int in;
    int args; /* 0, 1, or -1: one or more */
} OptionRow;
static const OptionRow option_rows[] = {
    {"primal", OF_GRAD | OF_JVP | OF_SPLIT, 0},
    {"seed", OF_GRAD, 0},
    {"wrt", OF_GRAD | OF_JVP | OF_SPLIT, -1},
    {"batch", OF_GRAD | OF_JVP | OF_SPLIT, 1},
    {"strong_zero", OF_GRAD | OF_JVP | OF_SPLIT, 0},
    {"holomorphic", OF_GRAD, 0},
    {"unmodified", OF_SPLIT, -1},
    {"checkpoint", OF_GRAD | OF_SPLIT, 1},
};
enum { OPTION_ROWS = sizeof option_rows / sizeof *option_rows };

static const OptionRow *find_option(FnChecker *f, const AstOption *option, int operator) {
    const char *names[OPTION_ROWS];
    size_t n = 0;
    for (size_t k = 0; k < OPTION_ROWS; k++) {
        if (!(option_rows[k].in & operator)) continue;
        if (!strcmp(option_rows[k].name, option->name.sym->text)) return &option_rows[k];
        names[n++] = option_rows[k].name;
    }
    diag_report(f->c->diags, DIAG_DERIV_OPTION, option->node.span, "there is no option `%s` here",
                option->name.sym->text);
    const char *close = diag_closest(option->name.sym->text, names, n);
    if (close) diag_help(f->c->diags, (Span){0, 0}, "did you mean `%s`?", close);
    return NULL;
}

static bool parse_option(FnChecker *f, AstOption *option, int operator, DerivRequest * request) {
    const OptionRow *row = find_option(f, option, operator);
    if (!row) return false;
    bool right = row->args < 0 ? option->args.len > 0 : option->args.len == (uint32_t)row->args;
    if (!right) {
        diag_report(f->c->diags, DIAG_DERIV_OPTION, option->node.span,
                    row->args == 0 ? "`%s` takes no argument" : "`%s` needs an argument",
                    row->name);
        return false;
    }
    if (!strcmp(row->name, "primal")) request->spec.primal = true;
    else if (!strcmp(row->name, "seed")) request->spec.seed = true;
    else if (!strcmp(row->name, "strong_zero")) request->spec.strong_zero = true;
    else if (!strcmp(row->name, "holomorphic")) request->spec.holomorphic = true;
    else if (!strcmp(row->name, "wrt")) return take_names(f, option, &request->wrt, &request->nwrt);
    else if (!strcmp(row->name, "unmodified"))
        return take_names(f, option, &request->unmodified, &request->nunmodified);
    else if (!strcmp(row->name, "batch")) return take_batch(f, option, request);
    else if (!strcmp(row->name, "checkpoint")) return take_checkpoint(f, option, request);
    return true;
}

DerivRequest *deriv_parse_request(FnChecker *f, AstDeriv *node) {
    static const int operators[] = {OF_GRAD, OF_JVP, OF_SPLIT};
    static const DerivPart parts[] = {DERIV_PART_GRAD, DERIV_PART_JVP, DERIV_PART_FORWARD};
    DerivRequest *request = ARENA_NEW(f->c->arena, DerivRequest);
    request->span = node->node.span;
    request->spec.part = parts[node->op];
    request->spec.deferred = node->deferred || f->defers;
    for (uint32_t k = 0; k < node->options.len; k++)
        if (!parse_option(f, AST_AS(Option, node->options.at[k]), operators[node->op], request))
            return NULL;
    return request;
}
