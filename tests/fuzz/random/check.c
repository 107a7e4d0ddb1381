#include "tests/fuzz/random/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "tests/fuzz/random/exec.h"

enum { MAX_NUMBERS = 2048 };

typedef struct Numbers {
    uint32_t n;
    double at[MAX_NUMBERS];
} Numbers;

typedef struct Checking {
    const Setting *setting;
    bool exact;
    Outcome (*out)[RUN_COUNT];
    const char *text;
    double *spread; /* see spread_of; negative: not asked yet */
} Checking;

/* ---- numbers of results ---- */

static void add_datum(Numbers *numbers, IrDatum datum) {
    if (datum.kind == IR_D_FLOAT) {
        numbers->at[numbers->n++] = datum.as.f;
        return;
    }
    for (int64_t i = 0; i < datum.as.array->count && numbers->n < MAX_NUMBERS; i++)
        numbers->at[numbers->n++] = ir_array_get(datum.as.array, i).as.f;
}

static Numbers results(const Outcome *out, uint32_t first, uint32_t count) {
    Numbers numbers = {.n = 0};
    for (uint32_t k = first; k < first + count && k < out->n; k++)
        add_datum(&numbers, out->results[k]);
    return numbers;
}

/* Lane LANE of results that have all lanes. */
static Numbers lane_of(const Setting *s, const Outcome *out, uint32_t first, uint32_t count,
                       uint32_t lane) {
    Numbers numbers = {.n = 0};
    for (uint32_t k = first; k < first + count && k < out->n; k++) {
        Numbers all = {.n = 0};
        add_datum(&all, out->results[k]);
        uint32_t per = all.n / (uint32_t)s->width;
        for (uint32_t i = 0; i < per; i++) numbers.at[numbers.n++] = all.at[lane * per + i];
    }
    return numbers;
}

static uint32_t result_count(const Checking *c) {
    return c->setting->result == 2 ? 2 : 1;
}

/* ---- comparison ---- */

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void show(StrBuf *text, const Numbers *numbers) {
    for (uint32_t k = 0; k < numbers->n && k < 40; k++) {
        strbuf_add(text, k ? ", " : "");
        strbuf_double(text, numbers->at[k]);
    }
}

static void differ(const char *kind, const char *what, const Numbers *want, const Numbers *got) {
    StrBuf text = {0};
    show(&text, want);
    strbuf_add(&text, "\ngot ");
    show(&text, got);
    fault(kind, "%s: expected %s", what, text.text);
}

static void expect_same(const char *kind, const char *what, const Numbers *want,
                        const Numbers *got) {
    bool same = want->n == got->n;
    for (uint32_t k = 0; same && k < want->n; k++) same = same_bits(want->at[k], got->at[k]);
    if (!same) differ(kind, what, want, got);
}

static double size_of(const Numbers *numbers) {
    double size = 1;
    for (uint32_t k = 0; k < numbers->n; k++)
        if (!(fabs(numbers->at[k]) <= size)) size = fabs(numbers->at[k]);
    return size;
}

/* How far results move, relative to their size, when arguments change in their last bits. */
static double spread_of(const Checking *c) {
    static Outcome moved[MODE_COUNT][RUN_COUNT];
    if (*c->spread >= 0) return *c->spread;
    Setting nudged = *c->setting;
    nudged.nudged = true;
    memset(moved, 0, sizeof moved);
    exec_run(c->text, &nudged, 1u << MODE_PLAIN, c->exact, moved);
    *c->spread = 0;
    for (Entry e = 0; e < RUN_COUNT; e++) {
        const Outcome *here = &c->out[MODE_PLAIN][e], *there = &moved[MODE_PLAIN][e];
        if (!here->ran || !there->ran || here->status || there->status) continue;
        Numbers a = results(here, 0, MAX_RESULTS), b = results(there, 0, MAX_RESULTS);
        double size = size_of(&a);
        for (uint32_t k = 0; k < a.n && k < b.n; k++)
            if (fabs(a.at[k] - b.at[k]) > *c->spread * size)
                *c->spread = fabs(a.at[k] - b.at[k]) / size;
    }
    exec_free(moved);
    return *c->spread;
}

/* Rounding is amplified by what is badly conditioned (a loop that makes a number a million times as
   large, and its cosine): there more may differ, but not so much that a fault could hide. */
static bool is_rounding(const Checking *c, double difference, double tolerance, double size) {
    if (difference <= tolerance * size) return true;
    if (!(difference <= 1e-6 * size)) return false;
    return difference <= (tolerance + 64 * spread_of(c)) * size;
}

static void expect_near(const Checking *c, const char *kind, const char *what, const Numbers *want,
                        const Numbers *got, double tolerance) {
    double size = size_of(want);
    bool near = want->n == got->n;
    if (near && size > 1e9) return; /* too large to say */
    for (uint32_t k = 0; near && k < want->n; k++) {
        double a = want->at[k], b = got->at[k];
        near = same_bits(a, b) || is_rounding(c, fabs(a - b), tolerance, size);
    }
    if (!near) differ(kind, what, want, got);
}

static bool all_finite(const Numbers *numbers) {
    for (uint32_t k = 0; k < numbers->n; k++)
        if (!isfinite(numbers->at[k])) return false;
    return true;
}

static double tolerance_of(const Checking *c, Entry entry) {
    if (c->setting->single) return 2e-4;
    return entry >= RUN_SECOND ? 1e-8 : 1e-10;
}

/* ---- across modes ---- */

/* Vector versions of functions, sums in another order, products that are added without rounding and
   derivatives within may differ from the interpreter's in the last bits. */
static double loose_tolerance(const Checking *c) {
    return c->setting->single ? 1e-5 : 1e-9;
}

static void levels(const Checking *c, Entry e) {
    const Outcome *want = &c->out[MODE_O0][e];
    for (int m = MODE_PASSED; m < MODE_COUNT; m++) {
        const Outcome *got = &c->out[m][e];
        char kind[96];
        if (!want->ran || !got->ran || e >= RUN_SECOND || m >= MODE_FUSED) continue;
        snprintf(kind, sizeof kind, "%s against -O0", mode_names[m]);
        Numbers a = results(want, 0, result_count(c)), b = results(got, 0, result_count(c));
        if (c->setting->derived) expect_near(c, kind, entry_names[e], &a, &b, loose_tolerance(c));
        else expect_same(kind, entry_names[e], &a, &b);
    }
}

static void across(const Checking *c, Entry e) {
    const Outcome *want = &c->out[MODE_PLAIN][e];
    char kind[96], what[160];
    for (int m = 1; m < MODE_COUNT; m++) {
        const Outcome *got = &c->out[m][e];
        if (!want->ran || !got->ran) continue;
        snprintf(kind, sizeof kind, "%s, %s", entry_names[e], mode_names[m]);
        snprintf(what, sizeof what, "%s: %s against the interpreter", entry_names[e],
                 mode_names[m]);
        if (want->status != got->status)
            fault(kind, "%s: status %d (%s), expected %d (%s)", what, got->status,
                  got->message ? got->message : "", want->status,
                  want->message ? want->message : "");
        uint32_t primal = e < RUN_SECOND ? result_count(c) : 0;
        Numbers a = results(want, 0, primal), b = results(got, 0, primal);
        bool vectors = m >= MODE_O0 && !c->exact;
        bool loose = vectors || m >= MODE_FUSED || c->setting->derived ||
                     (m >= MODE_O0 && !c->setting->ordered);
        if (loose) expect_near(c, kind, what, &a, &b, loose_tolerance(c));
        else expect_same(kind, what, &a, &b);
        a = results(want, primal, MAX_RESULTS);
        b = results(got, primal, MAX_RESULTS);
        double t = tolerance_of(c, e);
        expect_near(c, kind, what, &a, &b, vectors ? 100 * t : t);
    }
}

/* Loops on a device give what they give on the CPU. */
static void device(const Checking *c, Entry e) {
    const Outcome *want = &c->out[MODE_PASSED][e], *got = &c->out[MODE_DEVICE][e];
    if (!want->ran || !got->ran || want->status || got->status) return;
    Numbers a = results(want, 0, MAX_RESULTS), b = results(got, 0, MAX_RESULTS);
    if (!c->exact || got->rounds) {
        expect_near(c, "device against CPU", entry_names[e], &a, &b, 100 * tolerance_of(c, e));
    } else {
        expect_same("device against CPU, exactly", entry_names[e], &a, &b);
    }
}

/* ---- in one mode ---- */

static bool good(const Outcome *out) {
    return out->ran && out->status == 0;
}

static void primal_with_derivative(const Checking *c, int m) {
    const Outcome *value = &c->out[m][RUN_VALUE];
    char kind[96], what[160];
    if (!good(value)) return;
    Numbers want = results(value, 0, result_count(c));
    for (Entry e = RUN_JVP; e <= RUN_LANES; e++) {
        const Outcome *out = &c->out[m][e];
        if (!good(out)) continue;
        snprintf(kind, sizeof kind, "primal of %s, %s", entry_names[e], mode_names[m]);
        snprintf(what, sizeof what, "%s: the primal result of %s", mode_names[m], entry_names[e]);
        Numbers got = results(out, 0, result_count(c));
        /* Which loops a device has decides who computes a function. */
        if (m == MODE_DEVICE && out->rounds)
            expect_near(c, kind, what, &want, &got, loose_tolerance(c));
        else expect_same(kind, what, &want, &got);
    }
}

static double dot(const Numbers *a, const Numbers *b, double *size) {
    double sum = 0;
    for (uint32_t k = 0; k < a->n && k < b->n; k++) {
        sum += a->at[k] * b->at[k];
        *size += fabs(a->at[k] * b->at[k]);
    }
    return sum;
}

static void add_argument(const Checking *c, const char *name, Numbers *numbers) {
    uint32_t n;
    double *values = exec_argument(name, c->setting, &n);
    for (uint32_t k = 0; k < n; k++) numbers->at[numbers->n++] = values[k];
    free(values);
}

static Numbers directions(const Checking *c) {
    Numbers numbers = {.n = 0};
    add_argument(c, "dx", &numbers);
    add_argument(c, "dy", &numbers);
    add_argument(c, "dA", &numbers);
    return numbers;
}

/* Both results have numbers of the same names. */
static Numbers seeds(const Checking *c, const char *name) {
    Numbers numbers = {.n = 0};
    Setting s = *c->setting;
    uint32_t n;
    if (s.result != 1) {
        double *one = exec_argument(name, &s, &n);
        numbers.at[numbers.n++] = one[0];
        free(one);
    }
    if (s.result == 0) return numbers;
    double *all = exec_seed(name, &s);
    for (int k = 0; k < s.n; k++) numbers.at[numbers.n++] = all[k];
    free(all);
    return numbers;
}

static void dot_identity(const Checking *c, int m) {
    const Outcome *jvp = &c->out[m][RUN_JVP], *grad = &c->out[m][RUN_GRAD];
    char kind[96];
    if (!good(jvp) || !good(grad)) return;
    uint32_t r = result_count(c);
    Numbers tangent = results(jvp, r, r), slopes = results(grad, r, 3);
    Numbers d = directions(c), s = seeds(c, "s");
    if (!all_finite(&tangent) && !all_finite(&slopes)) return;
    double size = 1, a = dot(&s, &tangent, &size), b = dot(&slopes, &d, &size);
    if (size > 1e9) return;
    snprintf(kind, sizeof kind, "forward against reverse, %s", mode_names[m]);
    if (!is_rounding(c, fabs(a - b), tolerance_of(c, RUN_GRAD), size)) {
        StrBuf text = {0};
        strbuf_add(&text, "tangent ");
        show(&text, &tangent);
        strbuf_add(&text, "\ngradient ");
        show(&text, &slopes);
        fault(kind, "%s: forward gives %.17g, reverse %.17g\n%s", mode_names[m], a, b, text.text);
    }
}

static void compare(const Checking *c, int m, const char *name, const Numbers *want,
                    const Numbers *got, double tolerance) {
    char kind[96], what[160];
    snprintf(kind, sizeof kind, "%s, %s", name, mode_names[m]);
    snprintf(what, sizeof what, "%s: %s", mode_names[m], name);
    expect_near(c, kind, what, want, got, tolerance);
}

static void requests(const Checking *c, int m) {
    const Outcome *jvp = &c->out[m][RUN_JVP], *grad = &c->out[m][RUN_GRAD];
    const Outcome *split = &c->out[m][RUN_SPLIT], *batch = &c->out[m][RUN_BATCH];
    const Outcome *lanes = &c->out[m][RUN_LANES], *second = &c->out[m][RUN_SECOND];
    const Outcome *reverse = &c->out[m][RUN_REVERSE], *shadow = &c->out[m][RUN_SHADOW];
    uint32_t r = result_count(c);
    double t = tolerance_of(c, RUN_GRAD);
    Numbers slopes = results(grad, r, 3), got;
    if (good(grad) && good(split)) {
        got = results(split, r, 3);
        compare(c, m, "split against grad", &slopes, &got, t);
    }
    if (good(grad) && good(batch)) {
        got = lane_of(c->setting, batch, r, 3, 0);
        compare(c, m, "lane 0 of a batch against grad", &slopes, &got, t);
    }
    if (good(split) && good(batch)) {
        Numbers pull = results(split, r + 3, 3);
        got = lane_of(c->setting, batch, r, 3, 1);
        compare(c, m, "lane 1 of a batch against the second pull", &pull, &got, t);
    }
    if (good(jvp) && good(lanes)) {
        Numbers tangent = results(jvp, r, r);
        got = lane_of(c->setting, lanes, r, r, 0);
        compare(c, m, "lane 0 of a forward batch against jvp", &tangent, &got, t);
    }
    if (good(grad) && good(reverse)) {
        got = (Numbers){.n = 0};
        for (uint32_t k = 1; k < 6; k += 2) add_datum(&got, reverse->results[k]);
        compare(c, m, "grad jvp, in the tangents, against grad", &slopes, &got, t);
    }
    if (good(second) && good(reverse)) {
        Numbers forward = results(second, 0, 3);
        got = (Numbers){.n = 0};
        for (uint32_t k = 0; k < 6; k += 2) add_datum(&got, reverse->results[k]);
        compare(c, m, "grad jvp against jvp grad", &forward, &got,
                100 * tolerance_of(c, RUN_SECOND));
    }
    if (good(shadow)) {
        uint32_t half = shadow->n / 2;
        Numbers want = results(shadow, half, half);
        got = results(shadow, 0, half);
        compare(c, m, "shadows by the law", &want, &got, t);
    }
}

static void statuses(const Checking *c, int m) {
    const Outcome *value = &c->out[m][RUN_VALUE];
    for (int e = 0; e < RUN_COUNT; e++) {
        const Outcome *out = &c->out[m][e];
        if (!out->ran) continue;
        if (out->status && (out->status < 0 || value->status == 0)) {
            char kind[96];
            snprintf(kind, sizeof kind, "error %d in %s, %s", out->status, entry_names[e],
                     mode_names[m]);
            fault(kind, "%s: %s fails: %s", mode_names[m], entry_names[e], out->message);
        }
    }
}

/* ---- finite differences ---- */

/* Only where two steps agree: jumps and kinks are left out. */
static void differences(const Checking *c, const char *text) {
    static const double steps[] = {2e-4, -2e-4, 1e-4, -1e-4};
    Outcome values[4] = {{0}};
    const Outcome *jvp = &c->out[MODE_PLAIN][RUN_JVP];
    if (!c->setting->smooth || c->setting->single || !good(jvp)) return;
    uint32_t r = result_count(c);
    exec_value_at(text, c->setting, steps, 4, values);
    Numbers tangent = results(jvp, r, r), at[4], wide = {.n = 0}, narrow = {.n = 0};
    bool usable = true;
    for (int k = 0; k < 4; k++) {
        usable &= good(&values[k]);
        at[k] = results(&values[k], 0, r);
        usable &= all_finite(&at[k]) && at[k].n == tangent.n;
    }
    for (uint32_t k = 0; usable && k < tangent.n; k++) {
        wide.at[wide.n++] = (at[0].at[k] - at[1].at[k]) / 4e-4;
        narrow.at[narrow.n++] = (at[2].at[k] - at[3].at[k]) / 2e-4;
        double change = fabs(wide.at[k] - narrow.at[k]);
        usable &= change <= 1e-5 * (1 + fabs(narrow.at[k]));
    }
    if (usable && size_of(&narrow) < 1e6)
        expect_near(c, "finite differences", "jvp against finite differences (expected)", &narrow,
                    &tangent, 3e-4);
    for (int k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < values[k].n; i++) ir_datum_drop(&values[k].results[i]);
        free(values[k].message);
    }
}

void check_program_text(const char *text, const Setting *setting, uint32_t modes, bool exact) {
    static Outcome out[MODE_COUNT][RUN_COUNT];
    memset(out, 0, sizeof out);
    double spread = -1;
    Checking c = {setting, exact, out, text, &spread};
    exec_run(text, setting, modes, exact, out);
    if (exec_too_long(&out[MODE_PLAIN][RUN_VALUE])) {
        exec_free(out);
        return;
    }
    for (int m = 0; m < MODE_COUNT; m++) statuses(&c, m);
    for (Entry e = 0; e < RUN_COUNT; e++) {
        across(&c, e);
        levels(&c, e);
        device(&c, e);
    }
    for (int m = 0; m < MODE_COUNT; m++) {
        primal_with_derivative(&c, m);
        dot_identity(&c, m);
        requests(&c, m);
    }
    differences(&c, text);
    exec_free(out);
}
