/* PTX modules: directives and declarations.  Functions are in body.c. */
#include "tests/ptxsim/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory of the module ---------------------------------------------------------------------
 */

typedef struct Chunk {
    struct Chunk *next;
    size_t pad;
} Chunk;

void *ptx_new(PtxParser *p, size_t size) {
    Chunk *chunk = calloc(1, sizeof *chunk + size);
    if (!chunk) abort();
    chunk->next = p->module->storage;
    p->module->storage = chunk;
    return chunk + 1;
}

void *ptx_grow(PtxParser *p, void *old, size_t count, uint32_t *room, size_t item) {
    if (count < *room) return old;
    *room = *room ? *room * 2 : 16;
    void *grown = ptx_new(p, *room * item);
    if (count) memcpy(grown, old, count * item);
    return grown;
}

const char *ptx_name_copy(PtxParser *p, const char *text, size_t len) {
    char *copy = ptx_new(p, len + 1);
    memcpy(copy, text, len);
    return copy;
}

void ptx_free(PtxModule *module) {
    if (!module) return;
    for (Chunk *c = module->storage, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(module);
}

/* ---- words ------------------------------------------------------------------------------------
 */

bool ptx_at(const PtxParser *p, const char *text) {
    return p->lex.token != TOKEN_STRING && strlen(text) == p->lex.len &&
           memcmp(text, p->lex.text, p->lex.len) == 0;
}

bool ptx_accept(PtxParser *p, const char *text) {
    if (!ptx_at(p, text)) return false;
    ptx_lex_next(&p->lex);
    return true;
}

_Noreturn void ptx_unexpected(PtxParser *p) {
    ptx_fail(p->lex.failure, p->lex.line, "unexpected '%.*s'", (int)p->lex.len, p->lex.text);
}

void ptx_expect(PtxParser *p, const char *text) {
    if (!ptx_accept(p, text))
        ptx_fail(p->lex.failure, p->lex.line, "expected '%s', not '%.*s'", text, (int)p->lex.len,
                 p->lex.text);
}

const char *ptx_take_name(PtxParser *p) {
    if (p->lex.token != TOKEN_WORD || p->lex.text[0] == '.') ptx_unexpected(p);
    const char *name = ptx_name_copy(p, p->lex.text, p->lex.len);
    ptx_lex_next(&p->lex);
    return name;
}

uint64_t ptx_take_number(PtxParser *p) {
    bool minus = ptx_accept(p, "-");
    if (p->lex.token != TOKEN_NUMBER) ptx_unexpected(p);
    uint64_t bits = p->lex.bits;
    ptx_lex_next(&p->lex);
    return minus ? -bits : bits;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static PtxName *find_in(PtxName *names, const char *text, size_t len) {
    for (PtxName *n = names; n; n = n->next)
        if (n->len == len && memcmp(n->text, text, len) == 0) return n;
    return NULL;
}

/* Registers, whose names begin with a %, are a function's own. */
PtxName *ptx_find(PtxParser *p, const char *text, size_t len) {
    PtxName *name = find_in(p->names, text, len);
    return name || *text == '%' ? name : find_in(p->globals, text, len);
}

PtxName *ptx_declare(PtxParser *p, NameKind kind, const char *text) {
    size_t len = strlen(text);
    const PtxName *old = ptx_find(p, text, len);
    if (old && old->depth == p->depth)
        ptx_fail(p->lex.failure, p->lex.line, "'%s' is declared twice", text);
    PtxName **list = p->depth ? &p->names : &p->globals;
    PtxName *name = ptx_new(p, sizeof *name);
    *name = (PtxName){.next = *list, .kind = kind, .text = text, .len = len, .depth = p->depth};
    return *list = name;
}

/* ---- variables --------------------------------------------------------------------------------
 */

static PtxType take_type(PtxParser *p) {
    static const char *const names[] = {"",
#define X(name, kind, bits) "." #name,
                                        PTX_TYPES(X)
#undef X
    };
    for (unsigned t = 1; t < sizeof names / sizeof *names; t++)
        if (ptx_accept(p, names[t])) return t;
    ptx_unexpected(p);
}

void ptx_place(PtxSymbol *symbol, uint64_t *size) {
    uint64_t at = (*size + symbol->align - 1) & ~(symbol->align - 1);
    symbol->address = at;
    *size = at + symbol->size;
}

PtxSymbol *ptx_parse_variable(PtxParser *p, PtxSpace space) {
    PtxSymbol *symbol = ptx_new(p, sizeof *symbol);
    symbol->space = space;
    if (ptx_accept(p, ".align")) symbol->align = ptx_take_number(p);
    symbol->type = take_type(p);
    uint64_t item = (ptx_type_bits(symbol->type) + 7) / 8;
    /* What a parameter of an entry points to: ".u64 .ptr .global .align 8 name". */
    while (ptx_accept(p, ".ptr") || ptx_accept(p, ".global") || ptx_accept(p, ".shared") ||
           ptx_accept(p, ".align"))
        if (p->lex.token == TOKEN_NUMBER) ptx_take_number(p);
    symbol->name = ptx_take_name(p);
    if (symbol->align == 0) symbol->align = item;
    if (symbol->align & (symbol->align - 1)) ptx_fail(p->lex.failure, p->lex.line, "bad .align");
    symbol->size = item;
    while (ptx_accept(p, "[")) {
        symbol->size *= ptx_take_number(p);
        ptx_expect(p, "]");
    }
    ptx_declare(p, NAME_SYMBOL, symbol->name)->symbol = symbol;
    return symbol;
}

/* One value of an initialiser: a number, or the address of a name. */
static uint64_t take_initial(PtxParser *p) {
    bool generic = ptx_accept(p, "generic");
    if (generic) ptx_expect(p, "(");
    if (p->lex.token != TOKEN_WORD) return ptx_take_number(p);
    const PtxName *name = ptx_find(p, p->lex.text, p->lex.len);
    if (!name || name->kind != NAME_SYMBOL || name->symbol->space == SPACE_shared)
        ptx_unexpected(p);
    ptx_lex_next(&p->lex);
    if (generic) ptx_expect(p, ")");
    return name->symbol->address + (ptx_accept(p, "+") ? ptx_take_number(p) : 0);
}

static void parse_global(PtxParser *p, PtxSpace space) {
    PtxSymbol *symbol = ptx_parse_variable(p, space);
    if (space == SPACE_shared) {
        ptx_place(symbol, &p->module->shared_size);
        ptx_expect(p, ";");
        return;
    }
    PtxGlobal *global = ptx_new(p, sizeof *global);
    global->symbol = symbol;
    global->bytes = p->allocate(p->user, symbol->size, true); /* zero, where nothing is said */
    if (!global->bytes) ptx_fail(p->lex.failure, p->lex.line, "no memory for '%s'", symbol->name);
    symbol->address = (uint64_t)(uintptr_t)global->bytes;
    if (ptx_accept(p, "=")) {
        uint64_t item = ptx_type_bits(symbol->type) / 8, at = 0;
        bool list = ptx_accept(p, "{");
        while (!ptx_at(p, "}") && !ptx_at(p, ";")) {
            if (at + item > symbol->size)
                ptx_fail(p->lex.failure, p->lex.line, "too many values for '%s'", symbol->name);
            uint64_t bits = take_initial(p);
            memcpy(global->bytes + at, &bits, item);
            at += item;
            if (!ptx_accept(p, ",")) break;
        }
        if (list) ptx_expect(p, "}");
    }
    ptx_expect(p, ";");
    global->next = p->module->globals;
    p->module->globals = global;
}

/* ---- functions --------------------------------------------------------------------------------
 */

static PtxSymbol **parse_formals(PtxParser *p, uint32_t *count) {
    PtxSymbol **list = NULL;
    uint32_t room = 0;
    while (!ptx_at(p, ")")) {
        list = ptx_grow(p, list, *count, &room, sizeof(PtxSymbol *));
        ptx_expect(p, ".param");
        list[*count] = ptx_parse_variable(p, SPACE_param);
        ptx_place(list[(*count)++], &p->func->param_size);
        if (!ptx_accept(p, ",")) break;
    }
    ptx_expect(p, ")");
    return list;
}

static void parse_limits(PtxParser *p) {
    for (;;) {
        bool most = ptx_at(p, ".maxntid"), exact = ptx_at(p, ".reqntid");
        if (!most && !exact && !ptx_at(p, ".minnctapersm") && !ptx_at(p, ".maxnreg") &&
            !ptx_at(p, ".noreturn") && !ptx_at(p, ".pragma"))
            return;
        bool pragma = ptx_at(p, ".pragma");
        ptx_lex_next(&p->lex);
        if (pragma) {
            ptx_lex_next(&p->lex);
            ptx_expect(p, ";");
        }
        uint32_t *limit = exact ? p->func->required_threads : p->func->max_threads;
        for (unsigned d = 0; p->lex.token == TOKEN_NUMBER; d++) {
            uint64_t number = ptx_take_number(p);
            if (most || exact) {
                if (d > 2) ptx_unexpected(p);
                limit[d] = (uint32_t)number;
                for (unsigned rest = d + 1; rest < 3; rest++) limit[rest] = 1;
            }
            if (!ptx_accept(p, ",")) break;
        }
    }
}

/* The function of that name, made at its first sight; it may be declared before it is defined. */
static PtxFunc *declare_func(PtxParser *p, const char *text) {
    PtxName *old = find_in(p->globals, text, strlen(text));
    if (old && (old->kind != NAME_FUNC || old->func->defined))
        ptx_fail(p->lex.failure, p->lex.line, "'%s' is declared twice", text);
    if (old) return old->func;
    PtxFunc *func = ptx_new(p, sizeof *func);
    func->next = p->module->funcs;
    p->module->funcs = func;
    p->depth = 0;
    ptx_declare(p, NAME_FUNC, text)->func = func;
    return func;
}

static void parse_func(PtxParser *p, bool entry) {
    PtxFunc header = {.entry = entry, .line = p->lex.line};
    p->func = &header;
    p->names = NULL;
    p->depth = 1;
    if (!entry && ptx_accept(p, "(")) header.results = parse_formals(p, &header.result_count);
    header.name = ptx_take_name(p);
    if (ptx_accept(p, "(")) header.params = parse_formals(p, &header.param_count);
    parse_limits(p);

    PtxFunc *func = declare_func(p, header.name);
    if (func->line && func->param_count != header.param_count)
        ptx_fail(p->lex.failure, p->lex.line, "'%s' has other parameters before", header.name);
    header.next = func->next;
    *func = header;
    p->func = func;
    p->depth = 1;
    if (!ptx_accept(p, ";")) {
        func->defined = true;
        ptx_parse_body(p);
    }
    p->depth = 0;
    p->func = NULL;
}

/* ---- modules ----------------------------------------------------------------------------------
 */

static void parse_target(PtxParser *p) {
    const char *name = ptx_take_name(p);
    if (strncmp(name, "sm_", 3) != 0) ptx_fail(p->lex.failure, p->lex.line, "no target '%s'", name);
    p->module->target = (unsigned)strtoul(name + 3, NULL, 10);
    while (ptx_accept(p, ",")) ptx_take_name(p);
}

static void parse_directive(PtxParser *p) {
    if (ptx_accept(p, ".version")) {
        if (p->lex.token != TOKEN_NUMBER) ptx_unexpected(p);
        ptx_lex_next(&p->lex);
    } else if (ptx_accept(p, ".target")) {
        parse_target(p);
    } else if (ptx_accept(p, ".address_size")) {
        if (ptx_take_number(p) != 64)
            ptx_fail(p->lex.failure, p->lex.line, "addresses have 64 bits");
    } else if (ptx_accept(p, ".visible") || ptx_accept(p, ".extern") || ptx_accept(p, ".weak") ||
               ptx_accept(p, ".common")) {
        return;
    } else if (ptx_accept(p, ".entry")) {
        parse_func(p, true);
    } else if (ptx_accept(p, ".func")) {
        parse_func(p, false);
    } else if (ptx_accept(p, ".global")) {
        parse_global(p, SPACE_global);
    } else if (ptx_accept(p, ".const")) {
        parse_global(p, SPACE_const);
    } else if (ptx_accept(p, ".shared")) {
        parse_global(p, SPACE_shared);
    } else if (ptx_at(p, ".file")) {
        ptx_lex_skip_line(&p->lex);
    } else if (ptx_accept(p, ".section")) {
        while (!ptx_accept(p, "}")) {
            if (p->lex.token == TOKEN_END) ptx_unexpected(p);
            ptx_lex_next(&p->lex);
        }
    } else {
        ptx_unexpected(p);
    }
}

PtxModule *ptx_parse(const char *text, PtxFailure *failure, PtxAllocate *allocate, void *user) {
    PtxModule *volatile module = calloc(1, sizeof *module);
    if (!module) abort();
    PtxParser parser = {.module = module, .allocate = allocate, .user = user};
    if (setjmp(failure->jump)) {
        ptx_free(module);
        return NULL;
    }
    ptx_lex_start(&parser.lex, text, failure);
    while (parser.lex.token != TOKEN_END) parse_directive(&parser);
    if (!module->target) ptx_fail(failure, 0, "there is no .target");
    return module;
}
