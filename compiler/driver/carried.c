/* The form: lines of words, and texts of a length given before them.

     adl 1
     options LEVEL FAST CHECKS THREADS SANITIZE DEBUG CPU
     module NAME LEN PATH        a text of LEN bytes and a newline follow; the first is the object's
     request SYMBOL PART MODULE TEXT
     end */
#include "driver/carried.h"

#include <stdlib.h>
#include <string.h>

static const char heading[] = "adl 1";

/* ---- writing ---- */

/* "src/nn/layers.adl" is "src.nn.layers". */
static void add_own_name(StrBuf *out, const char *path) {
    size_t len = strlen(path);
    while (*path == '.' || *path == '/') path++, len--;
    if (len > 4 && !strcmp(path + len - 4, ".adl")) len -= 4;
    for (size_t i = 0; i < len; i++)
        strbuf_char(out, path[i] == '/' ? '.' : path[i] == ' ' || path[i] == '\n' ? '_' : path[i]);
    if (!len) strbuf_char(out, '_');
}

static void add_module(StrBuf *out, const Module *m, bool own) {
    strbuf_add(out, "module ");
    if (own) add_own_name(out, m->file->path);
    else strbuf_add(out, m->name->text);
    strbuf_printf(out, " %u ", m->file->len);
    for (const char *p = m->file->path; *p; p++) strbuf_char(out, *p == '\n' ? '_' : *p);
    strbuf_char(out, '\n');
    strbuf_add_n(out, m->file->text, m->file->len);
    strbuf_char(out, '\n');
}

void carried_write(StrBuf *out, const Unit *unit) {
    const Options *o = &unit->session->options;
    const Program *program = unit->program;
    strbuf_printf(out, "%s\noptions %d %d %d %d %d %d %s\n", heading, o->opt_level, o->fast_math,
                  o->checks, o->threads, o->sanitize, o->debug_info, o->cpu ? o->cpu : "-");
    add_module(out, program->main, true);
    for (uint32_t i = 0; i < program->modules->all.len; i++) {
        const Module *m = program->modules->all.at[i];
        if (m != program->main && !m->is_std) add_module(out, m, false);
    }
    for (uint32_t i = 0; i < unit->module->requests.len; i++) {
        const IrRequest *request = &unit->module->requests.at[i];
        strbuf_printf(out, "request %s %s %s %s\n", request->symbol,
                      request->forward   ? "forward"
                      : request->reverse ? "reverse"
                                         : "-",
                      request->module, request->text);
    }
    strbuf_add(out, "end\n");
}

/* ---- reading ---- */

typedef struct Reader {
    Arena *arena;
    const char *at, *end;
} Reader;

/* Up to STOP, which is skipped; NULL: it does not come. */
static char *take(Reader *r, char stop) {
    const char *found = memchr(r->at, stop, (size_t)(r->end - r->at));
    if (!found) return NULL;
    char *text = arena_strndup(r->arena, r->at, (size_t)(found - r->at));
    r->at = found + 1;
    return text;
}

static bool read_options(Reader *r, Options *o) {
    char cpu[128];
    const char *line = take(r, '\n');
    if (!line || sscanf(line, "%d %d %d %d %d %d %127s", &o->opt_level, &o->fast_math, &o->checks,
                        &o->threads, &o->sanitize, &o->debug_info, cpu) != 7)
        return false;
    o->cpu = strcmp(cpu, "-") ? arena_strndup(r->arena, cpu, strlen(cpu)) : NULL;
    return true;
}

static bool read_module(Reader *r, Carried *c) {
    GivenModule module = {.name = take(r, ' ')};
    const char *len = module.name ? take(r, ' ') : NULL;
    module.path = len ? take(r, '\n') : NULL;
    if (!module.path) return false;
    module.len = strtoul(len, NULL, 10);
    if (module.len >= (size_t)(r->end - r->at)) return false;
    module.text = arena_strndup(r->arena, r->at, module.len);
    r->at += module.len + 1;
    vec_push(&c->modules, module);
    return true;
}

static bool read_request(Reader *r, Carried *c) {
    IrRequest request = {.symbol = take(r, ' ')};
    const char *part = request.symbol ? take(r, ' ') : NULL;
    request.module = part ? take(r, ' ') : NULL;
    request.text = request.module ? take(r, '\n') : NULL;
    if (!request.text) return false;
    request.forward = !strcmp(part, "forward");
    request.reverse = !strcmp(part, "reverse");
    vec_push(&c->requests, request);
    return true;
}

static bool read_one(Reader *r, Carried *c) {
    const char *line = take(r, '\n');
    if (!line || strcmp(line, heading) != 0) return false;
    for (;;) {
        if (r->end - r->at >= 4 && !memcmp(r->at, "end\n", 4)) {
            r->at += 4;
            return c->modules.len > 0;
        }
        const char *word = take(r, ' ');
        if (!word) return false;
        bool good = !strcmp(word, "options")   ? read_options(r, &c->options)
                    : !strcmp(word, "module")  ? read_module(r, c)
                    : !strcmp(word, "request") ? read_request(r, c)
                                               : false;
        if (!good) return false;
    }
}

bool carried_read(CarriedList *list, Arena *arena, const char *bytes, size_t len) {
    Reader r = {arena, bytes, bytes + len};
    while (r.at < r.end) {
        Carried one = {0};
        bool good = read_one(&r, &one);
        vec_push(list, one);
        if (!good) return false;
    }
    return true;
}

void carried_free(CarriedList *list) {
    for (uint32_t i = 0; i < list->len; i++) {
        vec_free(&list->at[i].modules);
        vec_free(&list->at[i].requests);
    }
    vec_free(list);
}

static bool ends_with_path(const char *text, const char *end) {
    size_t len = strlen(text), n = strlen(end);
    if (len < n || strcmp(text + len - n, end) != 0) return false;
    return len == n || text[len - n - 1] == '.';
}

bool carried_is_named(const GivenModule *module, const char *name) {
    return ends_with_path(module->name, name) || ends_with_path(name, module->name);
}
