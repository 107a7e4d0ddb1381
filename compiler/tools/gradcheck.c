/* For a function f with its derivatives, at a few points x: for directions v, in each active part
   alone and in all, the forward derivative J v is compared with (f(x + h v) - f(x - h v)) / 2h,
   extrapolated from two widths; and for a cotangent w the reverse derivative J' w with the forward
   one, by <w, J v> = <J' w, v>. */
#include "tools/gradcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/export.h"
#include "tools/inputs.h"

enum { POINTS = 3 };

typedef int32_t (*Entry)(AdlContext *context, void **table);

/* A function of the runtime or of the code. */
typedef struct Calls {
    void (*begin)(AdlContext *context);
    int32_t (*end)(AdlContext *context, int32_t status);
    const char *(*message)(void);
    int32_t (*read)(AdlContext *context, const AdlMain *main, int32_t argc, const char *const *argv,
                    void *values);
} Calls;

/* How well a derivative can be told from differences. */
typedef struct Precision {
    double width;     /* h */
    double noise;     /* of a difference, for each unit of the function's value */
    double tolerance; /* of the derivative, relative */
    double dot;       /* of the identity, relative */
} Precision;
static const Precision of_f64 = {1e-3, 2e-11, 1e-6, 1e-10};
static const Precision of_f32 = {4e-2, 3e-5, 1e-2, 1e-3};

typedef VEC(Value) Values;

typedef struct Check {
    const Calls *calls;
    const IrExport *export;
    Entry func, jvp, grad;
    const Precision *precision;
    Inputs inputs;
    const uint8_t *in_active, *out_active;
    double forward, reverse; /* the worst differences, each as a multiple of what is tolerated */
    double forward_error, reverse_error;
    const char *forward_at, *reverse_at; /* the names of parameters */
    double derivative, difference;       /* where FORWARD was found */
    const char *failure;                 /* a call failed */
} Check;

/* ---- calls ---- */

static void copy_result(Check *c, const void *slot, IrType type, Value *value) {
    Arena *arena = c->inputs.arena;
    *value = (Value){.type = type, .count = 1};
    if (type->kind == IR_T_SCALAR) {
        value->data = arena_alloc(arena, 8);
        memcpy(value->data, slot, 8);
        return;
    }
    if (type->kind != IR_T_ARRAY) return;
    const CodegenArray *array = slot;
    for (uint32_t k = 0; k < type->rank; k++) {
        value->dims[k] = array->dims[k];
        value->count *= array->dims[k];
    }
    size_t bytes = (size_t)value->count * ir_scalar_bytes(type->scalar);
    value->data = arena_alloc(arena, bytes + 1);
    if (bytes) memcpy(value->data, array->data, bytes);
}

/* Calls ENTRY to FUNC; its results are copied out.  False: c->failure. */
static bool call(Check *c, Entry entry, const IrFunc *func, const Values *args, Value *results) {
    Arena *arena = c->inputs.arena;
    AdlContext context;
    void **table = ARENA_ARRAY(arena, void *, func->nparams + func->nresults + 1);
    CodegenArray *arrays = ARENA_ARRAY(arena, CodegenArray, func->nparams + func->nresults + 1);
    for (uint32_t i = 0; i < func->nparams; i++) {
        const Value *value = &args->at[i];
        table[i] = value->type->kind == IR_T_SCALAR ? value->data : (void *)&arrays[i];
        arrays[i].data = value->data;
        memcpy(arrays[i].dims, value->dims, sizeof value->dims);
    }
    for (uint32_t i = func->nparams; i < func->nparams + func->nresults; i++) table[i] = &arrays[i];
    c->calls->begin(&context);
    int32_t status = entry(&context, table);
    for (uint32_t i = 0; !status && i < func->nresults; i++)
        copy_result(c, table[func->nparams + i], func->results[i], &results[i]);
    status = c->calls->end(&context, status);
    if (status) c->failure = arena_printf(arena, "%s", c->calls->message());
    return status == 0;
}

/* The values of FUNC's active results at x + STEP * v. */
static bool value_at(Check *c, const Value *v, double step, Value *results) {
    const IrFunc *func = c->export->func;
    Values args = {0};
    for (uint32_t i = 0, at = 0; i < func->nparams; i++) {
        Value value = c->inputs.values[i];
        if (c->in_active[i]) {
            const Value *x = &c->inputs.values[i];
            value = value_like(c->inputs.arena, x);
            for (int64_t k = 0; k < x->count; k++)
                value_set(&value, k, value_get(x, k) + step * value_get(&v[at], k));
            at++;
        }
        vec_push(&args, value);
    }
    bool good = call(c, c->func, func, &args, results);
    vec_free(&args);
    return good;
}

/* ---- directions ---- */

static void random_fill(Check *c, const Value *value, const Value *scale) {
    for (int64_t k = 0; k < value->count; k++) {
        double size = scale ? fabs(value_get(scale, k)) : 1.0;
        double sign = inputs_uniform(&c->inputs, -1, 1) < 0 ? -1 : 1;
        value_set(value, k, sign * inputs_uniform(&c->inputs, 0.25, 1) * (size > 0 ? size : 1));
    }
}

/* A direction in active part ONLY, or in all of them (-1). */
static Value *direction(Check *c, int64_t only) {
    const IrFunc *func = c->export->func;
    Value *v = ARENA_ARRAY(c->inputs.arena, Value, func->nparams + 1);
    int64_t at = 0;
    for (uint32_t i = 0; i < func->nparams; i++) {
        if (!c->in_active[i]) continue;
        v[at] = value_like(c->inputs.arena, &c->inputs.values[i]);
        if (only < 0 || only == at) random_fill(c, &v[at], &c->inputs.values[i]);
        at++;
    }
    return v;
}

/* ---- comparisons ---- */

static double worse(double error, double than) {
    return isnan(error) ? INFINITY : error > than ? error : than;
}

static double largest(const Value *value) {
    double most = 0;
    for (int64_t k = 0; k < value->count; k++) most = worse(fabs(value_get(value, k)), most);
    return most;
}

static void compare_forward(Check *c, const Value *value, double derivative, double difference,
                            const char *name) {
    const Precision *p = c->precision;
    double size = worse(fabs(derivative), fabs(difference)), error = fabs(derivative - difference);
    double scale = size + largest(value) * p->noise / p->tolerance;
    /* The same infinity, or no number on both sides, is no difference. */
    if (derivative == difference || (isnan(derivative) && isnan(difference))) error = 0;
    double relative = error == 0 ? 0 : worse(error / scale, 0);
    c->forward_error = worse(relative, c->forward_error);
    if (relative <= p->tolerance || relative / p->tolerance <= c->forward) return;
    c->forward = relative / p->tolerance;
    c->forward_at = name;
    c->derivative = derivative;
    c->difference = difference;
}

/* The differences at four points against the tangents of the active results. */
static bool compare_differences(Check *c, const Value *v, const Value *tangents, const char *name) {
    static const double steps[] = {1, -1, 0.5, -0.5};
    const IrFunc *func = c->export->func;
    double h = c->precision->width;
    Value *y[4];
    for (int s = 0; s < 4; s++) {
        y[s] = ARENA_ARRAY(c->inputs.arena, Value, func->nresults + 1);
        if (!value_at(c, v, steps[s] * h, y[s])) return false;
    }
    for (uint32_t i = 0, at = 0; i < func->nresults; i++) {
        if (!c->out_active[i]) continue;
        const Value *tangent = &tangents[at++];
        for (int64_t k = 0; k < tangent->count; k++) {
            double wide = (value_get(&y[0][i], k) - value_get(&y[1][i], k)) / (2 * h);
            double narrow = (value_get(&y[2][i], k) - value_get(&y[3][i], k)) / h;
            compare_forward(c, &y[0][i], value_get(tangent, k), (4 * narrow - wide) / 3, name);
        }
    }
    return true;
}

/* <a, b>; the size of its terms is added to *SIZE. */
static double dot(const Value *a, const Value *b, uint32_t n, double *size) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        for (int64_t k = 0; k < a[i].count; k++) {
            double term = value_get(&a[i], k) * value_get(&b[i], k);
            sum += term;
            *size += fabs(term);
        }
    return sum;
}

static uint32_t count_active(const uint8_t *active, uint32_t n) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += active[i] != 0;
    return count;
}

static void compare_reverse(Check *c, const Value *v, const Value *tangents, const Value *seeds,
                            const Value *cotangents, const char *name) {
    const IrFunc *func = c->export->func;
    double size = 0;
    double forward = dot(seeds, tangents, count_active(c->out_active, func->nresults), &size);
    double reverse = dot(cotangents, v, count_active(c->in_active, func->nparams), &size);
    double error = fabs(forward - reverse);
    if (forward == reverse || (isnan(forward) && isnan(reverse))) error = 0;
    double relative = error == 0 ? 0 : worse(error / size, 0);
    c->reverse_error = worse(relative, c->reverse_error);
    if (relative <= c->precision->dot || relative / c->precision->dot <= c->reverse) return;
    c->reverse = relative / c->precision->dot;
    c->reverse_at = name;
}

/* ---- one function ---- */

/* Cotangents for the active results, and what the reverse derivative makes of them. */
static bool run_reverse(Check *c, Value *seeds, Value *cotangents) {
    const IrFunc *func = c->export->func, *grad = c->export->grad;
    Value *results = ARENA_ARRAY(c->inputs.arena, Value, grad->nresults + 1);
    Values args = {0};
    if (!value_at(c, direction(c, -1), 0, results)) return false;
    for (uint32_t i = 0; i < func->nparams; i++) vec_push(&args, c->inputs.values[i]);
    for (uint32_t i = 0, at = 0; i < func->nresults; i++) {
        if (!c->out_active[i]) continue;
        seeds[at] = value_like(c->inputs.arena, &results[i]);
        random_fill(c, &seeds[at], NULL);
        vec_push(&args, seeds[at++]);
    }
    bool good = call(c, c->grad, grad, &args, results);
    vec_free(&args);
    for (uint32_t i = func->nresults; good && i < grad->nresults; i++)
        cotangents[i - func->nresults] = results[i];
    return good;
}

static bool check_direction(Check *c, int64_t only, const char *name, const Value *seeds,
                            const Value *cotangents) {
    const IrFunc *func = c->export->func, *jvp = c->export->jvp;
    Value *v = direction(c, only);
    Value *results = ARENA_ARRAY(c->inputs.arena, Value, jvp->nresults + 1);
    Values args = {0};
    for (uint32_t i = 0; i < func->nparams; i++) vec_push(&args, c->inputs.values[i]);
    for (uint32_t i = 0; i < count_active(c->in_active, func->nparams); i++) vec_push(&args, v[i]);
    bool good = call(c, c->jvp, jvp, &args, results);
    vec_free(&args);
    const Value *tangents = results + func->nresults;
    if (!good || !compare_differences(c, v, tangents, name)) return false;
    compare_reverse(c, v, tangents, seeds, cotangents, name);
    return true;
}

static bool check_point(Check *c) {
    const IrFunc *func = c->export->func;
    Value *seeds = ARENA_ARRAY(c->inputs.arena, Value, func->nresults + 1);
    Value *cotangents = ARENA_ARRAY(c->inputs.arena, Value, func->nparams + 1);
    int64_t at = 0;
    if (!inputs_make(&c->inputs, &c->failure) || !run_reverse(c, seeds, cotangents)) return false;
    for (uint32_t i = 0; i < func->nparams; i++)
        if (c->in_active[i] && !check_direction(c, at++, c->inputs.names[i], seeds, cotangents))
            return false;
    /* What is wrong in one part should be told of that part. */
    bool done = at < 2 || c->forward > 0 || c->reverse > 0;
    return done || check_direction(c, -1, "all parameters", seeds, cotangents);
}

static bool has_f32(const IrFunc *func) {
    bool found = false;
    for (uint32_t i = 0; i < func->nparams; i++)
        found |= ir_is_float(func->params[i]) && func->params[i]->scalar == IR_F32;
    for (uint32_t i = 0; i < func->nresults; i++)
        found |= ir_is_float(func->results[i]) && func->results[i]->scalar == IR_F32;
    return found;
}

static void report(const Check *c, const char *name, FILE *out, GradcheckCounts *counts) {
    bool good = !c->failure && c->forward == 0 && c->reverse == 0;
    if (good) counts->passed++;
    else counts->failed++;
    fprintf(out, "%s - %s: ", good ? "ok" : "not ok", name);
    if (c->failure) {
        fprintf(out, "it fails\n    %s\n", c->failure);
        return;
    }
    fprintf(out, "%.1e from differences, %.1e between forward and reverse\n", c->forward_error,
            c->reverse_error);
    if (c->forward > 0)
        fprintf(out, "    along %s the derivative is %.9g, but differences say %.9g\n",
                c->forward_at, c->derivative, c->difference);
    if (c->reverse > 0)
        fprintf(out, "    along %s the forward and the reverse derivative do not agree\n",
                c->reverse_at);
}

static bool find_entry(const CodegenApi *api, CodegenCode *code, const IrFunc *func, Entry *entry,
                       char **error) {
    StrBuf name = {0};
    strbuf_printf(&name, "adl__entry_%s", func->name);
    void *address = api->find(code, name.text, error);
    strbuf_free(&name);
    if (address) memcpy(entry, &address, sizeof *entry);
    return address != NULL;
}

/* ---- all of them ---- */

typedef struct All {
    const CodegenApi *api;
    CodegenCode *code;
    Calls calls;
    Given given;
    unsigned seed;
    FILE *out;
    GradcheckCounts *counts;
} All;

static bool check_function(const All *all, const Root *root, const IrExport *export, char **error) {
    Check c = {.calls = &all->calls,
               .export = export,
               .in_active = export->jvp->deriv.in_active,
               .out_active = export->jvp->deriv.out_active,
               .precision = has_f32(export->func) ? &of_f32 : &of_f64};
    if (!find_entry(all->api, all->code, export->func, &c.func, error) ||
        !find_entry(all->api, all->code, export->jvp, &c.jvp, error) ||
        !find_entry(all->api, all->code, export->grad, &c.grad, error))
        return false;
    Arena *arena = arena_new();
    c.inputs = (Inputs){.arena = arena,
                        .inst = root->instance,
                        .func = export->func,
                        .given = &all->given,
                        .random = all->seed};
    for (int i = 0; i < POINTS && check_point(&c); i++) continue;
    report(&c, root->name, all->out, all->counts);
    map_free(&c.inputs.sizes);
    arena_free(arena);
    return true;
}

static const IrExport *next_export(const IrModule *module, uint32_t *at) {
    while (module->exports.at[*at]->kind != IR_EXPORT_CHECK) ++*at;
    return module->exports.at[(*at)++];
}

static void list_given(Given *given, Arena *arena, const Program *program, const IrModule *module) {
    for (uint32_t k = 0, at = 0; k < program->roots.len; k++) {
        const Root *root = &program->roots.at[k];
        if (root->kind == ROOT_CHECK && !root->skipped)
            given_add(given, arena, root->instance, next_export(module, &at)->func);
    }
    given->values = ARENA_ARRAY(arena, AdlParamValue, given->count + 1);
}

static bool check_all(const All *all, const Program *program, const IrModule *module,
                      char **error) {
    for (uint32_t k = 0, at = 0; k < program->roots.len; k++) {
        const Root *root = &program->roots.at[k];
        if (root->kind != ROOT_CHECK) continue;
        if (root->skipped) {
            fprintf(all->out, "skipped - %s: %s\n", root->name, root->skipped);
            all->counts->skipped++;
        } else if (!check_function(all, root, next_export(module, &at), error)) {
            return false;
        }
        fflush(all->out);
    }
    return true;
}

int gradcheck_run(const ScriptRuntime *runtime, const CodegenApi *api, CodegenCode *code,
                  const Program *program, const IrModule *module, unsigned seed, int argc,
                  const char *const *argv, FILE *out, GradcheckCounts *counts, char **error) {
    All all = {.api = api, .code = code, .seed = seed, .out = out, .counts = counts};
    if (!script_runtime_function(runtime, "adl__context_begin", &all.calls.begin, error) ||
        !script_runtime_function(runtime, "adl__context_end", &all.calls.end, error) ||
        !script_runtime_function(runtime, "adl_last_error_message", &all.calls.message, error) ||
        !script_runtime_function(runtime, "adl__main_read", &all.calls.read, error))
        return -1;
    Arena *arena = arena_new();
    AdlContext context; /* holds what the command line gave */
    list_given(&all.given, arena, program, module);
    AdlMain table = {.doc = "Inputs of the functions that are checked; what is left out is random.",
                     .params = all.given.params,
                     .count = (int32_t)all.given.count};
    all.calls.begin(&context);
    int status = all.calls.read(&context, &table, argc, argv, all.given.values);
    if (status == 0 && !check_all(&all, program, module, error)) status = -1;
    else if (status == -1) status = 0; /* --help was shown */
    all.calls.end(&context, 0);
    arena_free(arena);
    return status;
}
