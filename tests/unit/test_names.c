/* Modules and names: what hides what, where files are looked for, circles. */
#define _GNU_SOURCE
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "names/modules.h"
#include "source/load.h"
#include "source/session.h"

typedef struct Files {
    char folder[64];
    Session *session;
    ModuleSet set;
    Module *main;
    StrBuf text;
} Files;

static void put(Files *f, const char *name, const char *text) {
    char path[200];
    FileError error;
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    ck_assert(file_write_atomic(path, text, strlen(text), 0666, &error));
}

static void begin(Files *f) {
    *f = (Files){.session = session_new()};
    strcpy(f->folder, "/tmp/adl-names-XXXXXX");
    ck_assert(mkdtemp(f->folder) != NULL);
}

static void load(Files *f) {
    char path[200];
    Session *s = f->session;
    snprintf(path, sizeof path, "%s/main.adl", f->folder);
    modules_init(&f->set, s->arena, s->interner, &s->sources, s->diags);
    SourceFile *file = source_load(&s->sources, s->diags, path, (Span){0});
    f->main = modules_load(&f->set, file);
    strbuf_add(&f->text, "");
    diags_render(s->diags, &f->text);
}

static void end(Files *f) {
    static const char *const names[] = {"main.adl", "a.adl", "b.adl", "std/prelude.adl"};
    char path[200];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", f->folder, names[i]);
        unlink(path);
    }
    rmdir(f->folder);
    modules_free(&f->set);
    strbuf_free(&f->text);
    session_free(f->session);
}

static NameLookup look(Files *f, const char *name) {
    return modules_lookup(&f->set, f->main, intern(f->session->interner, name));
}

START_TEST(items_and_uses) {
    Files f;
    begin(&f);
    put(&f, "a.adl",
        "fn one() -> f64 { 1.0 }\nconst two = 2;\nstruct S { x: [n]f64, y: [n, m]f64 }\n");
    put(&f, "main.adl", "use a;\nuse a: one;\nuse a as c;\nfn own() { }\n");
    load(&f);
    ck_assert_str_eq(f.text.text, "");
    ck_assert_int_eq(look(&f, "own").kind, ITEM_FN);
    ck_assert_int_eq(look(&f, "one").kind, ITEM_FN);
    ck_assert_int_eq(look(&f, "two").kind, ITEM_NONE);
    NameLookup a = look(&f, "a");
    ck_assert_int_eq(a.kind, ITEM_MODULE);
    ck_assert_ptr_eq(a.item->module, look(&f, "c").item->module);
    const Item *s = module_item(a.item->module, intern(f.session->interner, "S"));
    ck_assert_int_eq(s->kind, ITEM_STRUCT);
    ck_assert_uint_eq(s->strct->nsizes, 2);
    ck_assert_str_eq(s->strct->sizes[1]->text, "m");
    ck_assert_int_ge(look(&f, "sqrt").math, 0);
    ck_assert_int_eq(look(&f, "zeros").kind, ITEM_BUILTIN);
    ck_assert_int_eq(look(&f, "__flatten").kind, ITEM_NONE);
    end(&f);
}
END_TEST

START_TEST(what_hides_what) {
    Files f;
    begin(&f);
    put(&f, "a.adl", "fn sum() { }\nfn x() { }\n");
    put(&f, "b.adl", "fn x() { }\nfn own() { }\n");
    put(&f, "main.adl", "use a: sum, x;\nuse b: x, own;\nfn own() { }\n");
    load(&f);
    ck_assert_str_eq(f.text.text, "");
    NameLookup sum = look(&f, "sum");
    ck_assert_int_eq(sum.kind, ITEM_FN);
    ck_assert(!sum.prelude);
    ck_assert_int_eq(look(&f, "x").kind, ITEM_AMBIGUOUS);
    ck_assert_ptr_eq(look(&f, "own").item->from, f.main);
    end(&f);
}
END_TEST

START_TEST(circles) {
    Files f;
    begin(&f);
    put(&f, "a.adl", "use b;\n");
    put(&f, "b.adl", "use a;\n");
    put(&f, "main.adl", "use a;\n");
    load(&f);
    ck_assert_msg(strstr(f.text.text, "a -> b -> a") != NULL, "%s", f.text.text);
    end(&f);
}
END_TEST

START_TEST(suggestions) {
    Files f;
    begin(&f);
    put(&f, "main.adl", "fn length() { }\n");
    load(&f);
    Sym local = intern(f.session->interner, "position");
    const char *found =
        modules_closest(&f.set, f.main, intern(f.session->interner, "lenght"), NULL, 0);
    ck_assert_str_eq(found, "length");
    found = modules_closest(&f.set, f.main, intern(f.session->interner, "positoin"), &local, 1);
    ck_assert_str_eq(found, "position");
    end(&f);
}
END_TEST

UNIT_MAIN("names", items_and_uses, what_hides_what, circles, suggestions)
