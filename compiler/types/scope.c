/* Names of a body: variables, their scopes, patterns, and what an unknown name might have been. */
#include "types/internal.h"

#include <string.h>

Binding *scope_find(FnChecker *f, Sym name) {
    for (uint32_t i = f->scope.len; i-- > 0;)
        if (f->scope.at[i].name == name) {
            f->scope.at[i].used = true;
            return &f->scope.at[i];
        }
    return NULL;
}

Local *new_local(FnChecker *f, Sym name, Type type, Span span) {
    Local *local = ARENA_NEW(f->c->arena, Local);
    *local =
        (Local){.name = name, .type = type, .span = span, .owner = f->inst, .id = f->locals.len};
    vec_push(&f->locals, local);
    return local;
}

Binding *bind_local(FnChecker *f, Local *local) {
    Binding binding = {.name = local->name, .local = local, .parallel = f->parallel};
    vec_push(&f->scope, binding);
    return &vec_last(&f->scope);
}

void scope_leave(FnChecker *f, uint32_t mark) {
    while (f->scope.len > mark) {
        Binding b = vec_pop(&f->scope);
        bool dull = b.used || b.quiet || b.captured || !b.name || b.name->text[0] == '_' ||
                    is_poison(b.local->type) || b.local->is_size;
        if (dull || f->module != f->c->main || diags_errors(f->c->diags) > f->errors) continue;
        diag_report(f->c->diags, DIAG_UNUSED_VARIABLE, b.local->span, "`%s` is never used",
                    b.name->text);
        diag_help(f->c->diags, (Span){0}, "write `_` for what is not wanted");
    }
}

void local_set_size(FnChecker *f, Local *local, Size size) {
    if (local->var || local->mut || !is_scalar_of(local->type, SCALAR_I64)) return;
    local->size = size ? size : size_var(f->c->types, local->name);
}

static bool pattern_name(FnChecker *f, AstPatName *node, Type type, bool var, TreePattern *out) {
    if (var && type->has_fns) {
        diag_report(f->c->diags, DIAG_FUNCTION_PLACE, node->node.span,
                    "a `var` cannot hold a function: which one it is must be known when this is "
                    "compiled");
        diag_help(f->c->diags, (Span){0}, "write `let`");
    }
    Local *local = new_local(f, node->name.sym, type, node->name.span);
    local->var = var;
    out->local = local;
    local_set_size(f, local, NULL);
    bind_local(f, local);
    return true;
}

bool check_pattern(FnChecker *f, AstNode *pattern, Type type, bool var, TreePattern *out) {
    *out = (TreePattern){0};
    if (pattern->kind == AST_PatSkip) return true;
    if (pattern->kind == AST_PatName) return pattern_name(f, (AstPatName *)pattern, type, var, out);
    AstPatTuple *tuple = AST_AS(PatTuple, pattern);
    Type elem = elem_of(type);
    bool tuple_like = elem->kind == TYPE_TUPLE || elem->kind == TYPE_STRUCT;
    bool fits = tuple_like && elem->nparts == tuple->parts.len;
    if (!fits && !is_poison(type)) {
        if (tuple_like)
            diag_report(f->c->diags, DIAG_PATTERN, pattern->span,
                        "the pattern has %u parts, the value %u: %s", tuple->parts.len,
                        elem->nparts, tt(f, type));
        else
            diag_report(f->c->diags, DIAG_PATTERN, pattern->span,
                        "a value of type %s cannot be taken apart", tt(f, type));
    }
    out->nparts = tuple->parts.len;
    out->parts = ARENA_ARRAY(f->c->arena, TreePattern, out->nparts);
    for (uint32_t i = 0; i < out->nparts; i++) {
        Type part = fits ? elem->parts[i].type : ty_poison(f);
        if (fits && is_array(type)) part = type_array(f->c->types, part, type->rank, type->dims);
        uint32_t mark = f->scope.len;
        check_pattern(f, tuple->parts.at[i], part, var, &out->parts[i]);
        for (; mark < f->scope.len; mark++) f->scope.at[mark].quiet = true;
    }
    return fits;
}

/* ---- unknown names ---- */

typedef struct Later {
    Sym name;
    Span span;
} Later;

static void find_later(AstNode *node, void *data) {
    Later *later = data;
    if (node->kind == AST_PatName && ((AstPatName *)node)->name.sym == later->name &&
        !later->span.begin)
        later->span = node->span;
    ast_children(node, find_later, data);
}

void report_unknown(FnChecker *f, Sym name, Span span) {
    Later later = {.name = name};
    if (f->whole) find_later(f->whole, &later);
    if (later.span.begin > span.begin) {
        diag_report(f->c->diags, DIAG_USED_BEFORE, span, "`%s` is used before it is defined",
                    name->text);
        diag_note(f->c->diags, later.span, "it is defined here");
        return;
    }
    diag_report(f->c->diags, DIAG_UNKNOWN_NAME, span, "nothing is called `%s` here", name->text);
    if (!diags_last_kept(f->c->diags)) return;
    VEC(Sym) names = {0};
    for (uint32_t i = 0; i < f->scope.len; i++)
        if (f->scope.at[i].name) vec_push(&names, f->scope.at[i].name);
    const char *closest = modules_closest(&f->c->modules, f->module, name, names.at, names.len);
    if (closest) diag_help(f->c->diags, (Span){0}, "did you mean `%s`?", closest);
    else if (later.span.begin)
        diag_note(f->c->diags, later.span, "this `%s` is known in its own block only", name->text);
    vec_free(&names);
}

/* ---- parallel bodies ---- */

ParallelSave parallel_enter(FnChecker *f, const char *what) {
    ParallelSave save = {f->loops, f->parallel_what};
    f->loops = 0;
    f->parallel++;
    f->parallel_what = what;
    return save;
}

void parallel_leave(FnChecker *f, ParallelSave save) {
    f->loops = save.loops;
    f->parallel--;
    f->parallel_what = save.what;
}
