#include "driver/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "driver/elf.h"

static const Span nowhere = {0, 0};
static const char prefix[] = "adl_deferred__";

typedef struct Resolver {
    Resolution *to;
    Session *session;
    Map undefined, defined; /* interned symbols */
} Resolver;

static Sym symbol(Resolver *r, const char *name) {
    return intern(r->session->interner, name);
}

static bool read_object(Resolver *r, const char *path) {
    ObjectFile object;
    bool good = true;
    if (object_read(&object, r->session->arena, path, CODEGEN_CARRIED, prefix)) {
        for (uint32_t i = 0; i < object.undefined.len; i++)
            map_setp(&r->undefined, symbol(r, object.undefined.at[i]), r);
        for (uint32_t i = 0; i < object.defined.len; i++)
            map_setp(&r->defined, symbol(r, object.defined.at[i]), r);
        if (object.section)
            good = carried_read(&r->to->carried, r->session->arena, object.section,
                                object.section_len);
    }
    object_free(&object);
    if (!good)
        diag_report(r->session->diags, DIAG_OPEN_REQUEST, nowhere,
                    "'%s' carries what this version of the compiler does not understand", path);
    return good;
}

static const Carried *provider(Resolver *r, const char *module) {
    for (uint32_t i = 0; i < r->to->carried.len; i++) {
        const Carried *c = &r->to->carried.at[i];
        if (c->modules.len && carried_is_named(&c->modules.at[0], module)) return c;
    }
    return NULL;
}

/* Open still, and not asked for before: it is met now. */
static bool is_open(Resolver *r, const IrRequest *request) {
    Sym name = symbol(r, request->symbol);
    if (!map_hasp(&r->undefined, name) || map_hasp(&r->defined, name)) return false;
    map_setp(&r->defined, name, r);
    return true;
}

static void add_request(StrBuf *source, const IrRequest *request) {
    const char *name = request->symbol;
    if (request->forward)
        strbuf_printf(source, "const (%s, adl_reverse_%s) = %s;\n", name, name, request->text);
    else if (request->reverse)
        strbuf_printf(source, "const (adl_forward_%s, %s) = %s;\n", name, name, request->text);
    else strbuf_printf(source, "const %s = %s;\n", name, request->text);
}

/* What ASKS wants of the module NAME, which PROVIDES gives. */
static void add_group(Resolver *r, const Carried *asks, const char *name, const Carried *provides) {
    StrBuf source = {0};
    Arena *arena = r->session->arena;
    uint32_t count = 0, n = provides->modules.len;
    strbuf_printf(&source, "use %s as m;\n", name);
    for (uint32_t i = 0; i < asks->requests.len; i++) {
        const IrRequest *request = &asks->requests.at[i];
        if (strcmp(request->module, name) != 0 || !is_open(r, request)) continue;
        add_request(&source, request);
        count++;
    }
    GivenModule *given = ARENA_ARRAY(arena, GivenModule, n);
    memcpy(given, provides->modules.at, n * sizeof *given);
    given[0].name = name;
    if (count)
        vec_push(&r->to->groups, ((OpenGroup){arena_strndup(arena, source.text, source.len), given,
                                              n, &asks->options}));
    strbuf_free(&source);
}

bool resolve_objects(Resolution *resolution, Session *session, const TextList *paths) {
    Resolver r = {.to = resolution, .session = session};
    bool good = true;
    for (uint32_t i = 0; good && i < paths->len; i++) good = read_object(&r, paths->at[i]);
    for (uint32_t i = 0; good && i < resolution->carried.len; i++) {
        const Carried *asks = &resolution->carried.at[i];
        for (uint32_t k = 0; k < asks->requests.len; k++) {
            const Carried *provides = provider(&r, asks->requests.at[k].module);
            if (provides) add_group(&r, asks, asks->requests.at[k].module, provides);
        }
    }
    map_free(&r.undefined);
    map_free(&r.defined);
    return good;
}

void resolution_free(Resolution *resolution) {
    carried_free(&resolution->carried);
    vec_free(&resolution->groups);
}
