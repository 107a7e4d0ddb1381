#include "tests/fuzz/random/exec.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ad/ad.h"
#include "codegen/codegen.h"
#include "ir/verify.h"
#include "lower/lower.h"
#include "opt/device.h"
#include "opt/opt.h"
#include "runtime/core/calls.h"
#include "tests/unit/entry.h"
#include "types/check.h"

const char *const mode_names[MODE_COUNT] = {"interpreter", "interpreter after all passes",
                                            "-O0",         "all passes and -O0",
                                            "-O3",         "products fused",
                                            "on a device"};
const char *const entry_names[RUN_COUNT] = {"run_value",  "run_jvp",     "run_grad",
                                            "run_split",  "run_batch",   "run_lanes",
                                            "run_second", "run_reverse", "run_shadow"};

/* ---- the code generator ---- */

static const CodegenApi *api;

bool exec_open(void) {
    char path[512], *error = NULL;
    const char *given = getenv("ADL_CODEGEN"), *build = getenv("ADL_BUILD_DIR");
    snprintf(path, sizeof path, "%s/.libs/libdslc-llvm.so", build ? build : ".");
    if (!api) api = codegen_open(given ? given : path, &error);
    free(error);
    return api != NULL;
}

/* The simulator of a device, which the runtime then finds under the name of the driver's library.
 */
static void open_device(void) {
    static const char *const libraries[] = {"libcuda.so.1", "libcublas.so.13"};
    const char *build = getenv("ADL_BUILD_DIR");
    char path[512];
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/tests/ptxsim/.libs/%s", build ? build : ".", libraries[k]);
        if (!dlopen(path, RTLD_NOW)) fault("no device", "%s", dlerror());
    }
    setenv("ADL_DEVICE", "gpu", 1);
}

/* ---- arguments ---- */

static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The K-th number of the argument with this name: between 0.2 and 1.7, of either sign. */
static double number_of(const char *name, uint64_t seed, uint64_t k) {
    uint64_t state = seed * 977 + k + 1;
    for (const char *at = name; *at; at++) state = mix(state * 31 + (unsigned char)*at);
    double size = 0.2 + 1.5 * (double)(state >> 11) / 9007199254740992.0;
    return state & 1 ? -size : size;
}

typedef struct Form {
    const char *name;
    int rank, dims[3];
    bool integer;
} Form;

/* The same, or, if NUDGED, one of its neighbours. */
static double near_number_of(const char *name, const Setting *s, uint64_t k) {
    double v = number_of(name, s->seed, k);
    return s->nudged ? v * (1.0 + (k & 1 ? 0x1p-52 : -0x1p-52)) : v;
}

/* Scalars as arrays of rank 0. */
static IrDatum argument(const Form *form, const Setting *s) {
    int64_t dims[3], count = 1;
    for (int k = 0; k < form->rank; k++) count *= dims[k] = form->dims[k];
    if (!form->rank) return ir_datum_float(near_number_of(form->name, s, 0));
    IrDatum datum = ir_datum_array(form->integer ? IR_I64 : IR_F64, (uint32_t)form->rank, dims);
    for (int64_t i = 0; i < count; i++) {
        double v = near_number_of(form->name, s, (uint64_t)i);
        ir_array_set(datum.as.array, i,
                     form->integer ? ir_datum_int((int64_t)(v * v * 4)) : ir_datum_float(v));
    }
    return datum;
}

static uint32_t result_forms(const char *name, const Setting *s, int lanes, Form *out) {
    uint32_t n = 0;
    if (s->result != 1) {
        out[n] = (Form){.name = name};
        if (lanes) {
            out[n].rank = 1;
            out[n].dims[0] = lanes;
        }
        n++;
    }
    if (s->result == 0) return n;
    out[n] = (Form){.name = name, .rank = lanes ? 2 : 1};
    out[n].dims[0] = lanes ? lanes : s->n;
    out[n].dims[1] = s->n;
    return n + 1;
}

static uint32_t entry_forms(Entry entry, const Setting *s, Form *out) {
    bool pairs = entry == RUN_JVP || entry == RUN_SECOND || entry == RUN_REVERSE;
    int w = s->width;
    uint32_t n = 0;
    out[n++] = (Form){"x", 1, {s->n}, false};
    if (pairs) out[n++] = (Form){"dx", 1, {s->n}, false};
    if (entry == RUN_LANES) out[n++] = (Form){"dx", 2, {w, s->n}, false};
    out[n++] = (Form){"y", 0, {0}, false};
    if (pairs) out[n++] = (Form){"dy", 0, {0}, false};
    if (entry == RUN_LANES) out[n++] = (Form){"dy", 1, {w}, false};
    out[n++] = (Form){"A", 2, {s->n, s->m}, false};
    if (pairs) out[n++] = (Form){"dA", 2, {s->n, s->m}, false};
    if (entry == RUN_LANES) out[n++] = (Form){"dA", 3, {w, s->n, s->m}, false};
    out[n++] = (Form){"k", 1, {s->m}, true};
    if (entry == RUN_GRAD || entry == RUN_SPLIT || entry == RUN_SECOND || entry == RUN_REVERSE ||
        entry == RUN_SHADOW)
        n += result_forms("s", s, 0, out + n);
    if (entry == RUN_SPLIT) n += result_forms("t", s, 0, out + n);
    if (entry == RUN_BATCH) n += result_forms("s", s, w, out + n);
    return n;
}

/* Lane 0 of a batch of seeds is s, lane 1 is t. */
static void set_lanes(const Setting *s, IrDatum datum) {
    int64_t per = datum.as.array->count / s->width;
    for (int64_t lane = 0; lane < 2; lane++)
        for (int64_t i = 0; i < per; i++) {
            double v = number_of(lane ? "t" : "s", s->seed, (uint64_t)i);
            ir_array_set(datum.as.array, lane * per + i, ir_datum_float(v));
        }
}

static uint32_t make_arguments(Entry entry, const Setting *s, IrDatum *out) {
    Form forms[MAX_RESULTS];
    uint32_t n = entry_forms(entry, s, forms);
    for (uint32_t k = 0; k < n; k++) {
        out[k] = argument(&forms[k], s);
        if (entry == RUN_BATCH && !strcmp(forms[k].name, "s")) set_lanes(s, out[k]);
    }
    return n;
}

double *exec_argument(const char *name, const Setting *s, uint32_t *n) {
    *n = (uint32_t)(strcmp(name, "dx") == 0 ? s->n : strcmp(name, "dA") == 0 ? s->n * s->m : 1);
    double *out = calloc(*n + 1, sizeof *out);
    for (uint32_t k = 0; k < *n; k++) out[k] = number_of(name, s->seed, k);
    return out;
}

double *exec_seed(const char *name, const Setting *s) {
    double *out = calloc((size_t)s->n + 1, sizeof *out);
    for (int k = 0; k < s->n; k++) out[k] = number_of(name, s->seed, (uint64_t)k);
    return out;
}

/* ---- interpreted calls ---- */

/* A program whose value takes more steps is left out; of a derivative it is a fault. */
enum { VALUE_STEPS = 5000000, OTHER_STEPS = 500000000 };

bool exec_too_long(const Outcome *value) {
    return value->ran && value->status == IR_ERROR_LIMIT;
}

static char *copy_text(const char *text) {
    size_t len = strlen(text);
    char *copy = malloc(len + 1);
    memcpy(copy, text, len + 1);
    return copy;
}

static void interpret(IrModule *module, IrFunc *func, const IrDatum *args, uint64_t steps,
                      Outcome *out) {
    IrInterp *interp = ir_interp_new(module);
    ir_interp_set_limits(interp, steps, 200);
    out->ran = true;
    out->n = func->nresults;
    if (!ir_interp_call(interp, func, args, out->results)) {
        IrInterpError error = ir_interp_error(interp);
        out->status = error.kind;
        out->message = copy_text(error.message);
        out->n = 0;
    }
    ir_interp_free(interp);
}

/* ---- compiled calls ---- */

static EntryFn find_entry(CodegenCode *code, Mode mode, const char *name) {
    char symbol[64], *error = NULL;
    EntryFn entry;
    snprintf(symbol, sizeof symbol, "adl__entry_%s", name);
    void *address = api->find(code, symbol, &error);
    if (!address) fault("no entry", "%s: %s", mode_names[mode], error ? error : symbol);
    memcpy(&entry, &address, sizeof entry);
    return entry;
}

static void call_code(CodegenCode *code, Mode mode, const IrFunc *func, const IrDatum *args,
                      Outcome *out) {
    EntrySlot slots[2 * MAX_RESULTS];
    void *places[2 * MAX_RESULTS];
    IrDatum before[MAX_RESULTS];
    AdlContext context;
    uint32_t n = func->nparams;
    EntryFn entry = find_entry(code, mode, func->name);
    memset(slots, 0, sizeof slots);
    for (uint32_t i = 0; i < n + func->nresults; i++) places[i] = &slots[i];
    for (uint32_t i = 0; i < n; i++) {
        before[i] = entry_copy(args[i]);
        entry_slot_from(func->params[i], args[i], &slots[i]);
    }
    adl__context_begin(&context);
    out->ran = true;
    out->status = entry(&context, places);
    out->n = out->status ? 0 : func->nresults;
    for (uint32_t i = 0; i < out->n; i++)
        out->results[i] = entry_slot_to(func->results[i], &slots[n + i]);
    for (uint32_t i = 0; i < n; i++) {
        if (!ir_datum_equal(before[i], args[i]))
            fault("argument changed", "%s: argument %u of %s is changed", mode_names[mode], i,
                  func->name);
        ir_datum_drop(&before[i]);
    }
    for (uint32_t i = 0; i < out->n; i++)
        if (func->results[i]->kind != IR_T_SCALAR) adl__release(&context, slots[n + i].array.block);
    if (!out->status && (context.live || context.tapes))
        fault("block left", "%s: %s leaves a block behind", mode_names[mode], func->name);
    adl__context_end(&context, out->status);
    if (out->status) out->message = copy_text(adl_last_error_message());
}

/* ---- the pipeline ---- */

typedef struct Passes {
    Mode mode;
} Passes;

static void after_pass(void *data, const char *pass, IrModule *module) {
    const Passes *passes = data;
    const char *message = ir_verify(module);
    if (message) {
        char kind[80];
        snprintf(kind, sizeof kind, "verifier after %s", pass);
        fault(kind, "%s: after '%s': %s", mode_names[passes->mode], pass, message);
    }
}

static void check_diags(Diags *diags, const char *stage) {
    StrBuf text = {0};
    char kind[80];
    if (!diags_errors(diags)) return;
    diags_render(diags, &text);
    const char *code = text.text ? strstr(text.text, "error[") : NULL;
    snprintf(kind, sizeof kind, "%s %.5s", stage, code ? code + 6 : "");
    fault(kind, "%s", text.text ? text.text : "");
}

typedef struct Checked {
    Arena *arena;
    Interner *interner;
    Sources sources;
    Diags *diags;
    Checker *checker;
    const Program *program;
} Checked;

static void check_text(Checked *c, const char *text) {
    char stdlib[512];
    const char *dir = getenv("ADL_SOURCE_DIR");
    c->arena = arena_new();
    c->interner = interner_new();
    sources_init(&c->sources, c->arena);
    c->diags = diags_new(c->arena, &c->sources);
    snprintf(stdlib, sizeof stdlib, "%s/stdlib", dir ? dir : ".");
    CheckOptions options = {.stdlib_dir = arena_strndup(c->arena, stdlib, strlen(stdlib))};
    c->checker = checker_new(c->arena, c->interner, &c->sources, c->diags, &options);
    const SourceFile *file = sources_add(&c->sources, "random.adl", text, strlen(text));
    c->program = check_program(c->checker, file, 1u << ROOT_EXPORT);
    check_diags(c->diags, "check");
}

static void checked_free(Checked *c) {
    checker_free(c->checker);
    diags_free(c->diags);
    sources_free(&c->sources);
    interner_free(c->interner);
    arena_free(c->arena);
}

static IrModule *make_module(const Checked *c, Mode mode) {
    static const int levels[MODE_COUNT] = {0, 2, 0, 3, 3, 3, 3};
    Passes passes = {mode};
    OptHooks hooks = {after_pass, &passes};
    IrModule *module = lower_program(c->program, &c->sources, c->diags, NULL);
    check_diags(c->diags, "lower");
    after_pass(&passes, "lower", module);
    module->fused = mode == MODE_FUSED;
    module->launches = mode == MODE_DEVICE ? 1 : 0;
    if (mode != MODE_PLAIN) opt_before_ad(module, levels[mode], &hooks);
    ad_run(module, c->diags);
    check_diags(c->diags, "differentiate");
    after_pass(&passes, "differentiate", module);
    if (mode != MODE_PLAIN) opt_after_ad(module, levels[mode], &hooks);
    if (mode == MODE_DEVICE) device_prepare(module);
    return module;
}

static void note_rounding(const IrRegion *region, bool *rounds) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        bool exact_math =
            inst->imm == IR_MATH_SQRT || (inst->imm >= IR_MATH_FLOOR && inst->imm <= IR_MATH_RINT);
        *rounds |= (inst->op == IR_MATH && !exact_math) || inst->op == IR_CONTRACT ||
                   (inst->op == IR_LOOP && inst->flags & IR_LOOP_SCAN);
        for (uint32_t k = 0; k < inst->nregions; k++) note_rounding(inst->regions[k], rounds);
    }
}

/* Does a device round as the CPU does?  Not in functions, products of matrices and scans; sums over
   blocks, and additions in an order of their own, do not occur with so few elements, or are ruled
   out (deterministic). */
static bool rounds_otherwise(const IrModule *module) {
    bool rounds = false;
    for (uint32_t i = 0; i < module->funcs.len; i++)
        if (module->funcs.at[i]->body) note_rounding(module->funcs.at[i]->body, &rounds);
    return rounds;
}

static CodegenCode *compile(const IrModule *module, Mode mode, bool exact) {
    size_t n;
    bool device = mode == MODE_DEVICE;
    const char *cuda = getenv("CUDA_DIR");
    char libdevice[512];
    snprintf(libdevice, sizeof libdevice, "%s/nvvm/libdevice/libdevice.10.bc", cuda ? cuda : "");
    char *error = NULL;
    CodegenOptions options = {.opt_level = mode == MODE_O3 ? 3 : 0,
                              .cpu = "native",
                              .entries = true,
                              .verify = true,
                              .scalar_math = exact,
                              .whole = device,
                              .deterministic = exact,
                              .device = "sm_75",
                              .libdevice = cuda && *cuda ? libdevice : NULL,
                              .pic = true};
    const CodegenSymbol *symbols = entry_symbols(&n);
    CodegenCode *code = api->load(module, &options, symbols, n, &error);
    if (!code) fault("code generation", "%s: %s", mode_names[mode], error ? error : "");
    return code;
}

static void run_mode(const Checked *c, const Setting *setting, unsigned entries, Mode mode,
                     bool exact, Outcome out[RUN_COUNT]) {
    IrDatum args[MAX_RESULTS];
    IrModule *module = make_module(c, mode);
    bool rounds = mode == MODE_DEVICE && rounds_otherwise(module);
    if (mode == MODE_DEVICE) open_device();
    CodegenCode *code = mode >= MODE_O0 ? compile(module, mode, exact) : NULL;
    for (Entry e = 0; e < RUN_COUNT; e++) {
        if (!(entries & 1u << e)) continue;
        IrFunc *func = ir_find_func(module, entry_names[e]);
        uint32_t n = make_arguments(e, setting, args);
        if (!func || func->nparams != n || func->nresults > MAX_RESULTS)
            fault("no entry", "%s: %s", mode_names[mode], entry_names[e]);
        if (code) call_code(code, mode, func, args, &out[e]);
        else interpret(module, func, args, e == RUN_VALUE ? VALUE_STEPS : OTHER_STEPS, &out[e]);
        out[e].rounds = rounds;
        for (uint32_t i = 0; i < n; i++) ir_datum_drop(&args[i]);
        if (exec_too_long(&out[RUN_VALUE])) break;
    }
    if (code) api->unload(code);
    ir_module_free(module);
}

unsigned exec_optimised(uint64_t seed) {
    return 1u << seed % RUN_COUNT;
}

/* TEXT without the entry points that are not in the set ENTRIES. */
static void add_entries(StrBuf *out, const char *text, unsigned entries) {
    static const char mark[] = "\nexport fn ";
    for (const char *end; *text; text = end) {
        end = strstr(text + 1, mark);
        if (!end) end = text + strlen(text);
        bool wanted = strncmp(text, mark, strlen(mark)) != 0;
        for (Entry e = 0; e < RUN_COUNT && !wanted; e++) {
            size_t len = strlen(entry_names[e]);
            const char *name = text + strlen(mark);
            wanted = entries & 1u << e && !strncmp(name, entry_names[e], len) && name[len] == '(';
        }
        if (wanted) strbuf_add_n(out, text, (size_t)(end - text));
    }
}

void exec_run(const char *text, const Setting *setting, uint32_t modes, bool exact,
              Outcome out[MODE_COUNT][RUN_COUNT]) {
    for (Mode mode = 0; mode < MODE_COUNT; mode++) {
        Checked checked;
        StrBuf kept = {0};
        unsigned entries = setting->entries;
        if (mode == MODE_O3) entries &= exec_optimised(setting->seed);
        if (!(modes & 1u << mode) || (mode >= MODE_O0 && !api) || !entries) continue;
        add_entries(&kept, text, entries);
        check_text(&checked, kept.text);
        run_mode(&checked, setting, entries, mode, exact, out[mode]);
        checked_free(&checked);
        strbuf_free(&kept);
        if (exec_too_long(&out[MODE_PLAIN][RUN_VALUE])) return;
    }
}

static void outcome_free(Outcome *out) {
    for (uint32_t k = 0; k < out->n; k++) ir_datum_drop(&out->results[k]);
    free(out->message);
    *out = (Outcome){0};
}

void exec_free(Outcome out[MODE_COUNT][RUN_COUNT]) {
    for (int m = 0; m < MODE_COUNT; m++)
        for (int e = 0; e < RUN_COUNT; e++) outcome_free(&out[m][e]);
}

static void move(IrDatum *datum, const char *name, const Setting *s, double step) {
    if (datum->kind == IR_D_FLOAT) {
        datum->as.f += step * number_of(name, s->seed, 0);
        return;
    }
    for (int64_t i = 0; i < datum->as.array->count; i++) {
        double v = ir_array_get(datum->as.array, i).as.f;
        ir_array_set(datum->as.array, i,
                     ir_datum_float(v + step * number_of(name, s->seed, (uint64_t)i)));
    }
}

void exec_value_at(const char *text, const Setting *setting, const double *steps, uint32_t n,
                   Outcome *out) {
    Checked checked;
    IrDatum args[MAX_RESULTS];
    check_text(&checked, text);
    IrModule *module = make_module(&checked, MODE_PLAIN);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t count = make_arguments(RUN_VALUE, setting, args);
        move(&args[0], "dx", setting, steps[k]);
        move(&args[1], "dy", setting, steps[k]);
        move(&args[2], "dA", setting, steps[k]);
        interpret(module, ir_find_func(module, entry_names[RUN_VALUE]), args, VALUE_STEPS, &out[k]);
        for (uint32_t i = 0; i < count; i++) ir_datum_drop(&args[i]);
    }
    ir_module_free(module);
    checked_free(&checked);
}
