/* Modules and functions of the IR's text.  Two rounds: the first makes the functions from their
   signatures, so that the second, which reads the rest, can refer to any of them. */
#include "ir/parse.h"

#include "ir/build.h"

#include <string.h>

/* Where an item of the module begins: a function at its "(", a rule at its name. */
typedef struct Item {
    IrFunc *func; /* NULL: a rule of a scalar function */
    const char *at;
    uint32_t line;
} Item;
typedef VEC(Item) Items;

/* ---- first round ---- */

typedef struct Params {
    VEC(IrType) types;
    VEC(const char *) names;
    VEC(IrType) results;
} Params;

/* "(%x.0: f64, i64) -> (f64)" */
static void parse_signature(IrParser *p, Params *params) {
    ir_expect_punct(p, '(');
    while (!p->message && !ir_at_punct(p, ')')) {
        const char *name = NULL;
        if (p->token == TOKEN_VALUE) {
            name = ir_value_hint(p);
            ir_next(p);
            ir_expect_punct(p, ':');
        }
        vec_push(&params->names, name);
        vec_push(&params->types, ir_parse_type(p));
        if (!ir_take_punct(p, ',')) break;
    }
    ir_expect_punct(p, ')');
    if (p->token != TOKEN_ARROW) ir_parse_error(p, "expected '->'");
    ir_next(p);
    ir_expect_punct(p, '(');
    while (!p->message && !ir_at_punct(p, ')')) {
        vec_push(&params->results, ir_parse_type(p));
        if (!ir_take_punct(p, ',')) break;
    }
    ir_expect_punct(p, ')');
}

static bool at_item(const IrParser *p) {
    return p->token == TOKEN_END || ir_at_word(p, "func") || ir_at_word(p, "math_rule") ||
           ir_at_word(p, "unchecked");
}

/* To the next item of the module. */
static void skip_rest(IrParser *p) {
    uint32_t depth = 0;
    while (p->token != TOKEN_END && (depth > 0 || !at_item(p))) {
        if (ir_at_punct(p, '{')) depth++;
        if (ir_at_punct(p, '}') && depth > 0) depth--;
        ir_next(p);
    }
}

static void scan_func(IrParser *p, Items *items) {
    Params params = {0};
    if (p->token != TOKEN_FUNC) ir_parse_error(p, "expected a function's name");
    const char *name = arena_strndup(p->module->arena, p->text, p->len);
    if (!p->message && ir_find_func(p->module, name))
        ir_parse_error(p, "there are two functions @%s", name);
    Item item = {NULL, p->at, p->line};
    ir_next(p);
    parse_signature(p, &params);
    if (!p->message) {
        item.func = ir_func_alloc(p->module, name, params.types.len, params.types.at,
                                  params.names.at, params.results.len, params.results.at);
        vec_push(items, item);
    }
    vec_free(&params.types);
    vec_free(&params.names);
    vec_free(&params.results);
    skip_rest(p);
}

static void scan(IrParser *p, Items *items) {
    ir_next(p);
    while (p->token != TOKEN_END) {
        if (ir_take_word(p, "unchecked")) {
            p->module->unchecked = true;
        } else if (ir_take_word(p, "func")) {
            scan_func(p, items);
        } else if (ir_at_word(p, "math_rule")) {
            vec_push(items, ((Item){NULL, p->at, p->line}));
            ir_next(p);
            skip_rest(p);
        } else {
            ir_parse_error(p, "expected 'func'");
        }
    }
}

/* ---- second round ---- */

static uint8_t *parse_active(IrParser *p, uint32_t n) {
    uint8_t *active = ARENA_ARRAY(p->module->arena, uint8_t, n);
    ir_expect_punct(p, '(');
    for (uint32_t i = 0; i < n && !p->message; i++) {
        if (i) ir_expect_punct(p, ',');
        active[i] = ir_parse_int(p) != 0;
    }
    ir_expect_punct(p, ')');
    return active;
}

/* Behind "=". */
static void parse_deriv(IrParser *p, IrFunc *func) {
    static const char *const modes[] = {"jvp", "grad", "forward", "reverse"};
    IrDeriv deriv = {0};
    for (int i = 0; i < 4; i++)
        if (deriv.mode == IR_DERIV_NONE && ir_take_word(p, modes[i]))
            deriv.mode = (IrDerivMode)(IR_DERIV_JVP + i);
    if (deriv.mode == IR_DERIV_NONE) ir_parse_error(p, "expected a kind of derivative");
    ir_expect_word(p, "of");
    deriv.base = ir_parse_func_ref(p);
    if (p->message) return;
    ir_expect_word(p, "active");
    deriv.in_active = parse_active(p, deriv.base->nparams);
    if (p->token != TOKEN_ARROW) ir_parse_error(p, "expected '->'");
    ir_next(p);
    deriv.out_active = parse_active(p, deriv.base->nresults);
    if (ir_take_word(p, "options")) deriv.options = (uint32_t)ir_parse_int(p);
    func->deriv = deriv;
    if (p->message) return;
    if (!ir_deriv_fits(func))
        ir_parse_error(p, "@%s is not what the derivative of @%s takes and gives", func->name,
                       deriv.base->name);
    ir_deriv_enter(func);
}

static void parse_rule(IrParser *p, IrFunc *func) {
    func->rule = ir_parse_func_ref(p);
    func->rule_active = parse_active(p, func->nparams);
    if (ir_take_word(p, "reverse_rule")) func->reverse_rule = ir_parse_func_ref(p);
    if (ir_take_word(p, "augmented")) func->augmented = ir_parse_func_ref(p);
}

static void parse_attributes(IrParser *p, IrFunc *func) {
    if (ir_take_punct(p, '=')) parse_deriv(p, func);
    if (ir_take_word(p, "extern")) func->flags |= IR_FUNC_EXTERN;
    if (ir_take_word(p, "open")) func->flags |= IR_FUNC_OPEN;
    if (ir_take_word(p, "root")) func->flags |= IR_FUNC_ROOT;
    if (ir_take_word(p, "inline")) func->flags |= IR_FUNC_INLINE;
    if (ir_take_word(p, "library")) func->flags |= IR_FUNC_LIBRARY;
    if (ir_take_word(p, "pure")) func->flags |= IR_FUNC_PURE_EXTERN;
    if (ir_take_word(p, "symbol")) func->symbol = ir_parse_string(p);
    if (ir_take_word(p, "rule")) parse_rule(p, func);
}

/* The parameters again, as values of the body. */
static void parse_params(IrParser *p, IrFunc *func) {
    ir_expect_punct(p, '(');
    for (uint32_t i = 0; i < func->nparams && !p->message; i++) {
        if (i) ir_expect_punct(p, ',');
        ir_define(p, ir_region_param(func->body, func->params[i], func->param_names[i]));
        ir_expect_punct(p, ':');
        ir_parse_type(p);
    }
}

static void jump(IrParser *p, const char *at, uint32_t line) {
    p->at = at;
    p->line = line;
    ir_next(p);
}

static void number_values(IrParser *p, IrFunc *func) {
    func->nvalues = p->next_id;
    for (uint32_t i = 0; i < p->unnumbered.len; i++) p->unnumbered.at[i]->id = func->nvalues++;
}

static void parse_body(IrParser *p, const Item *item) {
    const char *at = p->at;
    uint32_t line = p->line;
    p->func = item->func;
    p->next_id = p->unnumbered.len = 0;
    map_clear(&p->values);
    bitset_clear(&p->ids);
    item->func->body = ir_region_new(item->func, NULL);
    jump(p, item->at, item->line);
    parse_params(p, item->func);
    if (p->message) return;
    jump(p, at, line);
    ir_parse_region(p, item->func->body);
    number_values(p, item->func);
}

static void parse_func(IrParser *p, const Item *item) {
    Params params = {0};
    parse_signature(p, &params);
    vec_free(&params.types);
    vec_free(&params.names);
    vec_free(&params.results);
    parse_attributes(p, item->func);
    if (ir_at_punct(p, '{')) parse_body(p, item);
    if (!p->message && !at_item(p))
        ir_parse_error(p, item->func->body ? "expected 'func'" : "expected '{'");
}

static void parse_math_rule(IrParser *p) {
    for (int fn = 0; fn < IR_MATH_COUNT; fn++) {
        if (!ir_take_word(p, ir_math_name((IrMath)fn))) continue;
        int width = ir_take_word(p, "f32") ? 0 : 1;
        if (width) ir_expect_word(p, "f64");
        p->module->math_rules[fn][width] = ir_parse_func_ref(p);
        return;
    }
    ir_parse_error(p, "expected a scalar function");
}

bool ir_parse(IrModule *module, const char *text, size_t len, const char **message) {
    IrParser p = {.module = module, .at = text, .end = text + len, .line = 1};
    Items items = {0};
    p.names = interner_new();
    scan(&p, &items);
    for (uint32_t i = 0; i < items.len && !p.message; i++) {
        jump(&p, items.at[i].at, items.at[i].line);
        if (items.at[i].func) parse_func(&p, &items.at[i]);
        else parse_math_rule(&p);
    }
    vec_free(&items);
    vec_free(&p.unnumbered);
    map_free(&p.values);
    bitset_free(&p.ids);
    interner_free(p.names);
    if (message) *message = p.message;
    return !p.message;
}
