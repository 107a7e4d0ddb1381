/* test_programs.c: the command line of programs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static const AdlParam params[] = {
    {"X", "The data,\none row each.", NULL, "[n, d]", ADL_KIND_F64, 2, 0, 0},
    {"steps", "How many steps.", "500", NULL, ADL_KIND_I64, 0, ADL_PARAM_DEFAULT, 0},
    {"learning_rate", NULL, "0.5", NULL, ADL_KIND_F64, 0, ADL_PARAM_DEFAULT, 0},
    {"quiet", "Say nothing.", NULL, NULL, ADL_KIND_BOOL, 0, 0, 0},
    {"name", NULL, NULL, NULL, ADL_KIND_STR, 0, ADL_PARAM_DEFAULT, 0},
    {"k", NULL, NULL, NULL, ADL_KIND_U8, 0, ADL_PARAM_DEFAULT, 0},
};

static AdlParamValue seen[6];
static int64_t seen_args;
static int runs;
static double first_of_x;
static char name[64];

static int32_t run(AdlContext *context, AdlParamValue *values, int32_t *status) {
    runs++;
    memcpy(seen, values, sizeof seen);
    if (values[0].data) first_of_x = *(double *)values[0].data;
    if (values[4].given) memcpy(name, values[4].scalar.str.ptr, (size_t)values[4].scalar.str.len);
    seen_args = adl__args_count(context);
    if (seen_args > 0) {
        AdlStr word;
        ck_assert_int_eq(adl__args_get(context, NULL, 0, &word), 0);
        ck_assert_int_eq(adl__str_equal(word.ptr, word.len, S("word")), 1);
        AdlSite site = {"p.adl", "main", 3, 1, 0, 0};
        return adl__args_get(context, &site, seen_args, &word);
    }
    adl__print(context, S("printed"));
    *status = values[1].given ? (int32_t)values[1].scalar.i : 0;
    return 0;
}

static char table[256];
static char *output;

/* Runs the program with the words, kept apart by spaces; its output and messages are in `output`.
 */
static int32_t command(int32_t flags, const char *line) {
    AdlMain program = {"Fits a model.", params, run, 6, flags};
    char words[512], *argv[32] = {(char *)(uintptr_t) "fit"};
    int argc = 1;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "@") == 0 ? table : word;
    fflush(stdout);
    fflush(stderr);
    const char *capture = scratch("out");
    int out = dup(1), err = dup(2);
    ck_assert_ptr_nonnull(freopen(capture, "w", stdout));
    dup2(1, 2);
    runs = 0;
    memset(name, 0, sizeof name);
    int32_t status = adl__main_run(&program, argc, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    size_t count;
    free(output);
    output = read_file(capture, &count);
    unlink(capture);
    return status;
}

static void setup(void) {
    snprintf(table, sizeof table, "%s", scratch("x.csv"));
    write_file(table, "7,8\n9,10\n", 9);
}

static void teardown(void) {
    free(output);
    output = NULL;
    unlink(table);
}

static void usage_error(const char *line, const char *message) {
    char expected[1024];
    snprintf(expected, sizeof expected, "fit: %s\nTry 'fit --help'.\n", message);
    ck_assert_int_eq(command(0, line), 2);
    ck_assert_str_eq(output, expected);
    ck_assert_int_eq(runs, 0);
}

START_TEST(values_arrive) {
    ck_assert_int_eq(command(0, "--X @"), 0);
    ck_assert_str_eq(output, "printed\n");
    ck_assert_int_eq(seen[0].dims[1], 2);
    ck_assert_double_eq(first_of_x, 7);
    ck_assert_int_eq(seen[1].given, 0);
    ck_assert_int_eq(seen[3].scalar.i, 0);
    ck_assert_int_eq(command(0, "--X @ --steps=3 --learning-rate -1e-3 --quiet --name a,b --k 255"),
                     3);
    ck_assert_double_eq(seen[2].scalar.f, -1e-3);
    ck_assert_int_eq(seen[3].scalar.i, 1);
    ck_assert_str_eq(name, "a,b");
    ck_assert_int_eq(seen[5].scalar.i, 255);
    ck_assert_int_eq(command(0, "--X @ --learning_rate 2 --quiet --no-quiet --name x --name yz"),
                     0);
    ck_assert_double_eq(seen[2].scalar.f, 2);
    ck_assert_int_eq(seen[3].scalar.i, 0);
    ck_assert_str_eq(name, "yz");
    ck_assert_int_eq(command(0, "--quiet=true --X @ --X @ --name="), 0);
    ck_assert_int_eq(seen[3].scalar.i, 1);
    ck_assert_int_eq(seen[4].scalar.str.len, 0);
}
END_TEST

START_TEST(mistakes_are_explained) {
    usage_error("", "missing: --X");
    usage_error("--X @ --stpes 3", "unknown option --stpes; did you mean --steps?");
    usage_error("--zzzzzzzz", "unknown option --zzzzzzzz");
    usage_error("--X @ -s 3", "unknown option -s; options begin with --");
    usage_error("--X @ --steps", "--steps needs a value");
    usage_error("--X @ --steps --quiet", "--steps needs a value");
    usage_error("--X @ --steps 2.5", "--steps: \"2.5\" is no value that i64 can hold");
    usage_error("--X @ --k 256", "--k: \"256\" is no value that u8 can hold");
    usage_error("--X @ --quiet=maybe", "--quiet: \"maybe\" is no value that bool can hold");
    usage_error("--no-steps", "unknown option --no-steps; did you mean --steps?");
    usage_error("--X nothing.npy", "--X: cannot read nothing.npy: No such file or directory");
    usage_error("--X 3", "--X: 3: the name must end in .npy, .csv, .tsv or .txt");
    usage_error("--X @ more", "unexpected argument \"more\"; options are written --name value");
}
END_TEST

START_TEST(words_are_for_args) {
    ck_assert_int_eq(command(ADL_MAIN_ARGS, "word --X @ -3 -- --steps"), 1);
    ck_assert_int_eq(seen_args, 3);
    ck_assert_str_eq(output, "p.adl:3: index 3 is out of range 0..3 for args\n");
}
END_TEST

START_TEST(help_shows_all) {
    ck_assert_int_eq(command(0, "--help"), 0);
    ck_assert_int_eq(runs, 0);
    ck_assert_str_eq(output, "Usage: fit [OPTION]...\n"
                             "\n"
                             "Fits a model.\n"
                             "\n"
                             "Options:\n"
                             "  --X FILE                The data,\n"
                             "                          one row each. ([n, d]f64, required)\n"
                             "  --steps i64             How many steps. (default: 500)\n"
                             "  --learning_rate f64     (default: 0.5)\n"
                             "  --quiet, --no-quiet     Say nothing.\n"
                             "  --name TEXT             \n"
                             "  --k u8                  \n"
                             "  --help                  show this and end\n"
                             "\n"
                             "A FILE holds numbers and ends in .npy, .csv, .tsv or .txt.\n");
    ck_assert_int_eq(command(0, "--X nothing.npy -h"), 2);
    ck_assert_int_eq(command(0, "-h --nonsense"), 0);
}
END_TEST

TCase *tests_of_programs(void) {
    TCase *tests = tcase_create("programs");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, values_arrive);
    tcase_add_test(tests, mistakes_are_explained);
    tcase_add_test(tests, words_are_for_args);
    tcase_add_test(tests, help_shows_all);
    return tests;
}
