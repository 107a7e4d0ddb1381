/* launch.c: modules with device code, and launches. */
#include <string.h>

#include "core/allocator.h"
#include "core/error.h"
#include "core/memory.h"
#include "gpu/blas.h"

enum { MOST_ARGS = 120, BLOCK_SIZE = 256, MOST_BLOCKS = 65535, LOG_BYTES = 2048 };

/* What an element costs the CPU for each time that the length of runs doubles, in quarters of a
   nanosecond. */
enum { SORT_STEP = 20 };

/* What was loaded of a module; stays until the process ends, also if the code that launches it goes.
 */
typedef struct Loaded {
    struct Loaded *next;
    CuModule module;
    CuFunction functions[]; /* by kernel, NULL until needed */
} Loaded;

/* ---- modules ---- */

/* A cubin runs on devices of its major version whose minor is not lower; PTX on what is not older.
 */
static bool fits(const AdlGpuImage *image) {
    int major = image->sm / 10, minor = image->sm % 10;
    if (image->kind == ADL_GPU_CUBIN) return major == gpu.major && minor <= gpu.minor;
    return image->sm <= 10 * gpu.major + gpu.minor;
}

/* The best image of KIND, or NULL. */
static const AdlGpuImage *choose_image(const AdlGpuModule *module, int32_t kind) {
    const AdlGpuImage *best = NULL;
    for (int64_t i = 0; i < module->image_count; i++) {
        const AdlGpuImage *image = &module->images[i];
        if (image->kind == kind && fits(image) && (!best || image->sm > best->sm)) best = image;
    }
    return best;
}

/* LOG gets the driver's own words, if any. */
static CuResult load_image(const AdlGpuImage *image, CuModule *module, char *log) {
    int options[] = {CU_ERROR_LOG, CU_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
    *log = 0;
    return gpu.module_load(module, image->data, 2, options, values);
}

/* Machine code that the driver does not take gives way to PTX. */
static int32_t load(AdlContext *context, const AdlSite *site, AdlGpuModule *module) {
    if (module->loaded) return ADL_OK;
    char log[LOG_BYTES] = "";
    CuModule made = NULL;
    const AdlGpuImage *code = choose_image(module, ADL_GPU_CUBIN),
                      *ptx = choose_image(module, ADL_GPU_PTX);
    if (!code && !ptx)
        return error_note(context, ADL_ERROR_DEVICE, site,
                          "there is no code for %s (sm_%d%d) in this program", gpu.name, gpu.major,
                          gpu.minor);
    CuResult result = code ? load_image(code, &made, log) : -1;
    if (result && ptx) result = load_image(ptx, &made, log);
    if (result)
        return gpu_fail(context, site, result, "cuModuleLoadDataEx of %lld bytes%s%s",
                        (long long)(ptx ? ptx : code)->size, *log ? ": " : "", log);
    size_t bytes = sizeof(Loaded) + (size_t)module->kernel_count * sizeof(CuFunction);
    Loaded *loaded = allocator_take(bytes);
    if (!loaded) return error_memory(context, site, (int64_t)bytes);
    memset(loaded, 0, bytes);
    loaded->module = made;
    loaded->next = gpu.loaded;
    gpu.loaded = loaded;
    module->loaded = loaded;
    return ADL_OK;
}

static int32_t find(AdlContext *context, const AdlSite *site, AdlGpuModule *module, int32_t kernel,
                    CuFunction *function) {
    int32_t status = load(context, site, module);
    if (status) return status;
    Loaded *loaded = module->loaded;
    if (!loaded->functions[kernel]) {
        const char *name = module->names[kernel];
        CuResult result = gpu.module_function(&loaded->functions[kernel], loaded->module, name);
        if (result) return gpu_fail(context, site, result, "cuModuleGetFunction of %s", name);
    }
    *function = loaded->functions[kernel];
    return ADL_OK;
}

/* ---- arguments ---- */

static bool is_memory(const AdlGpuArg *arg) {
    return arg->kind != ADL_GPU_SCALAR;
}
static bool is_read(const AdlGpuArg *arg) {
    return arg->kind & ADL_GPU_READ;
}
static bool is_written(const AdlGpuArg *arg) {
    return arg->kind & ADL_GPU_WRITE;
}

/* Does a launch save time, moving what it has to move?  Data that stays on the host for one
   launch's sake makes the next ones dearer, too: what was not saved is summed up until it pays the
   way.  On the CPU it has so many THREADS. */
static bool pays(const AdlContext *context, double work, double threads, const AdlGpuArg *args,
                 int32_t count) {
    double to_device = 0, to_host = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!is_memory(&args[i])) continue;
        const AdlBlock *block = gpu_block(context, args[i].block);
        if (!block) to_device += (double)args[i].bytes;
        else if (is_read(&args[i]) && !gpu_valid(block)) to_device += (double)block->bytes;
        else if (is_read(&args[i]) && gpu_valid(block) == ADL_DEVICE_ONLY)
            to_host += (double)block->bytes;
    }
    double there = 10000 + work / 800, here = work / 4 / threads + to_host / 10;
    double way = to_device / 10;
    if (here <= there) return false;
    if (there + way > here + gpu.regret) {
        gpu.regret += here - there;
        return false;
    }
    if (way > 0) gpu.regret = 0;
    return true;
}

/* What is to be in ARG's memory, at AT, before the launch, where no block brought it along. */
static int32_t fill(AdlContext *context, const AdlSite *site, const AdlGpuArg *arg, CuAddress at) {
    const char *what = is_read(arg) ? "cuMemcpyHtoD" : "cuMemsetD8";
    CuResult result = 0;
    if (arg->bytes == 0) return ADL_OK;
    if (is_read(arg)) result = gpu_to_device(at, (const void *)(uintptr_t)arg->word, arg->bytes);
    if (arg->kind == ADL_GPU_SUM) result = gpu.fill(at, 0, (size_t)arg->bytes, gpu.stream);
    return result ? gpu_fail(context, site, result, "%s of %lld bytes", what, (long long)arg->bytes)
                  : ADL_OK;
}

/* The device's address of ARG's memory.  TEMPORARY is memory of its own, if it has no block, or
   APART from what the block has. */
static int32_t place(AdlContext *context, const AdlSite *site, const AdlGpuArg *arg, bool apart,
                     CuAddress *at, GpuFree *temporary) {
    const char *host = (const char *)(uintptr_t)arg->word;
    AdlBlock *block = gpu_block(context, arg->block);
    int32_t status;
    if (block && !apart) {
        status = gpu_reside(context, site, block, is_read(arg), at);
        *at += (CuAddress)(host - (const char *)(block + 1));
        return status || is_read(arg) ? status : fill(context, site, arg, *at);
    }
    status = gpu_take(context, site, arg->bytes, at, &temporary->bytes);
    if (status) return status;
    temporary->at = *at;
    return fill(context, site, arg, *at);
}

/* Behind the launch: what was written is where it was written. */
static int32_t settle(AdlContext *context, const AdlSite *site, const AdlGpuArg *arg,
                      GpuFree *temporary) {
    AdlBlock *block = gpu_block(context, arg->block);
    if (!is_written(arg)) return ADL_OK;
    if (block) {
        GpuRecord *record = &gpu.records[block->device >> 2];
        GpuFree old = {record->at, record->bytes};
        if (temporary->bytes && arg->kind != ADL_GPU_UPDATE) {
            record->at = temporary->at;
            record->bytes = temporary->bytes;
            *temporary = old;
        }
        gpu_set_valid(block, ADL_DEVICE_ONLY);
        record->singles = 0;
        return ADL_OK;
    }
    if (arg->bytes == 0) return ADL_OK;
    CuResult result = gpu_to_host((void *)(uintptr_t)arg->word, temporary->at, arg->bytes);
    return result ? gpu_fail(context, site, result, "cuMemcpyDtoH of %lld bytes",
                             (long long)arg->bytes)
                  : ADL_OK;
}

/* ---- launches ---- */

typedef struct Launch {
    AdlContext *context;
    const AdlSite *site;
    AdlGpuModule *module;
    int32_t kernel, count;
    bool fits; /* no check fails this time, as the caller knows */
    int64_t extents[3];
    int64_t sizes[3]; /* of blocks, for what the program launches; 0: as it suits a loop */
    AdlGpuArg *args;
    const GpuProduct *product; /* NULL: none */
    int phases;                /* of a scan */
    int64_t spare;             /* bytes that a sort needs beside its result */
    bool serial;               /* on the CPU it has one thread */
    CuAddress at[MOST_ARGS];
    GpuFree temporaries[MOST_ARGS];
} Launch;

static unsigned at_most(int64_t needed, int64_t most) {
    return (unsigned)(needed < most ? needed : most);
}

/* For a loop, whose invocations go on in strides of the grid. */
static unsigned blocks(const Launch *l, int d, unsigned size) {
    int64_t needed = (l->extents[d] - 1) / size + 1;
    return at_most(at_most(needed, MOST_BLOCKS), gpu.grid[d]);
}

/* What an entry gets, with WORDS behind the address of the word for checks. */
static void gather(Launch *l, int64_t *words, void **params) {
    params[0] = &gpu.failed;
    for (int d = 0; d < 3; d++) params[1 + d] = &words[d];
    for (int32_t i = 0; i < l->count; i++)
        params[4 + i] = is_memory(&l->args[i]) ? (void *)&l->at[i] : (void *)&l->args[i].word;
}

static int32_t not_launched(const Launch *l, CuResult result) {
    return gpu_fail(l->context, l->site, result, "cuLaunchKernel of %lld x %lld x %lld",
                    (long long)l->extents[2], (long long)l->extents[1], (long long)l->extents[0]);
}

static int32_t start_loop(Launch *l, CuFunction function) {
    void *params[MOST_ARGS + 4];
    gather(l, l->extents, params);
    unsigned x = 32;
    while (x < BLOCK_SIZE && x < l->extents[0]) x *= 2;
    unsigned y = l->extents[1] > 1 ? BLOCK_SIZE / x : 1;
    CuResult result = gpu.launch(function, blocks(l, 0, x), blocks(l, 1, y), blocks(l, 2, 1), x, y,
                                 1, 0, gpu.stream, params, NULL);
    return result ? not_launched(l, result) : ADL_OK;
}

/* The phases of a scan: one block has the second. */
static int32_t start_scan(Launch *l, CuFunction function) {
    void *params[MOST_ARGS + 4];
    int64_t words[3] = {l->extents[0], 0, (l->extents[0] - 1) / BLOCK_SIZE + 1};
    gather(l, words, params);
    for (int phase = 0; phase < l->phases; phase++) {
        unsigned grid = phase == 1 ? 1 : blocks(l, 0, BLOCK_SIZE);
        words[1] = phase;
        CuResult result =
            gpu.launch(function, grid, 1, 1, BLOCK_SIZE, 1, 1, 0, gpu.stream, params, NULL);
        if (result) return not_launched(l, result);
    }
    return ADL_OK;
}

/* Sorted tiles, each in one block's hands, then merges of two runs each until one is left.  They go
   to and fro between the result and the spare memory, so that the last one goes to the result. */
static int32_t start_sort(Launch *l, CuFunction function) {
    void *params[MOST_ARGS + 5];
    int64_t words[3] = {l->extents[0], 0, 0}, taken, merges = 0;
    CuAddress spare;
    CuResult result = 0;
    int32_t status = gpu_take(l->context, l->site, l->spare, &spare, &taken);
    if (status) return status;
    gather(l, words, params);
    params[4 + l->count] = &spare;
    for (int64_t run = BLOCK_SIZE; run < l->extents[0]; run *= 2) merges++;
    for (int64_t m = 0; m <= merges && !result; m++) {
        words[1] = m ? (int64_t)BLOCK_SIZE << (m - 1) : 0;
        words[2] = (merges - m) % 2;
        result = gpu.launch(function, blocks(l, 0, BLOCK_SIZE), 1, 1, BLOCK_SIZE, 1, 1, 0,
                            gpu.stream, params, NULL);
    }
    gpu_give(spare, taken);
    return result ? not_launched(l, result) : ADL_OK;
}

/* One grid after the other, of as many blocks as a grid can have. */
static int32_t start_blocks(Launch *l, CuFunction function) {
    void *params[MOST_ARGS + 4];
    int64_t first[3] = {0}, count[3];
    unsigned grid[3];
    gather(l, first, params);
    for (int d = 0; d < 3; d++) count[d] = (l->extents[d] - 1) / l->sizes[d] + 1;
    for (;;) {
        for (int d = 0; d < 3; d++) grid[d] = at_most(count[d] - first[d], gpu.grid[d]);
        CuResult result =
            gpu.launch(function, grid[0], grid[1], grid[2], (unsigned)l->sizes[0],
                       (unsigned)l->sizes[1], (unsigned)l->sizes[2], 0, gpu.stream, params, NULL);
        if (result) return not_launched(l, result);
        int d = 0;
        while (d < 3 && (first[d] += grid[d]) == count[d]) first[d++] = 0;
        if (d == 3) return ADL_OK;
    }
}

/* Is ARG, all of which is written, in memory that is read? */
static bool is_over(const Launch *l, const AdlGpuArg *arg) {
    const AdlBlock *block = gpu_block(l->context, arg->block);
    if (arg->kind != ADL_GPU_WRITE || !block || block->bytes != arg->bytes) return false;
    for (int32_t k = 0; k < l->count; k++)
        if (is_read(&l->args[k]) && l->args[k].block == arg->block) return true;
    return false;
}

/* Is anything added to, so that it cannot be done again? */
static bool changes(const Launch *l) {
    for (int32_t i = 0; i < l->count; i++)
        if (l->args[i].kind == ADL_GPU_UPDATE) return true;
    return false;
}

/* Can a loop fail for want of memory?  Then the CPU has to be able to do all of it. */
static bool takes_heap(const Launch *l) {
    return l->module->checks[l->kernel] & ADL_GPU_TAKES_HEAP && !l->sizes[0];
}

/* What is added to, where the device has it: copies it to the argument's temporary memory, or BACK
   from there.  What has no block is a copy. */
static int32_t save(Launch *l, bool back) {
    for (int32_t i = 0; i < l->count; i++) {
        const AdlGpuArg *arg = &l->args[i];
        GpuFree *saved = &l->temporaries[i];
        int32_t status = ADL_OK;
        if (arg->kind != ADL_GPU_UPDATE || !gpu_block(l->context, arg->block) || !arg->bytes)
            continue;
        if (!back) status = gpu_take(l->context, l->site, arg->bytes, &saved->at, &saved->bytes);
        if (status) return status;
        CuResult result = gpu.on_device(back ? l->at[i] : saved->at, back ? saved->at : l->at[i],
                                        (size_t)arg->bytes, gpu.stream);
        if (result)
            return gpu_fail(l->context, l->site, result, "cuMemcpyDtoD of %lld bytes",
                            (long long)arg->bytes);
    }
    return ADL_OK;
}

/* Whether a check failed.  Then the loop on the CPU, which is run instead, tells more, unless it
   would find its operands changed: then it is told where the check stands. */
static int32_t look_for_failure(Launch *l) {
    int32_t failed = 0, zero = 0;
    CuResult result = gpu_to_host(&failed, gpu.failed, sizeof failed);
    if (!result && failed) result = gpu_to_device(gpu.failed, &zero, sizeof zero);
    if (result) return gpu_fail(l->context, l->site, result, "a launch");
    if (!failed) return ADL_OK;
    if (takes_heap(l)) {
        int32_t status = save(l, true);
        return status ? status : ADL_GPU_ELSEWHERE;
    }
    if (!changes(l)) return ADL_GPU_ELSEWHERE;
    bool known = failed > 0 && failed <= l->module->site_count;
    return error_note(l->context, ADL_ERROR_DEVICE, known ? &l->module->sites[failed - 1] : l->site,
                      "a check failed on the device (ADL_DEVICE=cpu tells more)");
}

/* Through cuBLAS, if it is a product and that is there. */
static int32_t multiply(Launch *l) {
    CuAddress memory[3] = {0, 0, 0};
    int n = 0;
    if (!l->product) return ADL_GPU_ELSEWHERE;
    for (int32_t i = 0; i < l->count; i++)
        if (is_memory(&l->args[i]) && n < 3) memory[n++] = l->at[i];
    /* A square has one factor. */
    CuAddress b = n == 2 ? memory[0] : memory[1];
    return blas_product(l->context, l->site, l->product, memory[0], b, memory[n - 1]);
}

static int32_t work(Launch *l) {
    CuFunction function = NULL;
    int32_t status = multiply(l);
    if (status != ADL_GPU_ELSEWHERE) return status;
    status = find(l->context, l->site, l->module, l->kernel, &function);
    if (status) return status;
    if (l->phases) return start_scan(l, function);
    if (l->spare) return start_sort(l, function);
    return l->sizes[0] ? start_blocks(l, function) : start_loop(l, function);
}

static int32_t run(Launch *l) {
    bool checks = l->module->checks[l->kernel] && !l->fits;
    int32_t status = ADL_OK;
    for (int32_t i = 0; i < l->count && !status; i++)
        if (is_memory(&l->args[i]))
            status = place(l->context, l->site, &l->args[i], checks && is_over(l, &l->args[i]),
                           &l->at[i], &l->temporaries[i]);
    if (!status && takes_heap(l)) status = save(l, false);
    if (!status) status = work(l);
    if (!status && checks) status = look_for_failure(l);
    for (int32_t i = 0; i < l->count && !status; i++)
        if (is_memory(&l->args[i]))
            status = settle(l->context, l->site, &l->args[i], &l->temporaries[i]);
    for (int32_t i = 0; i < l->count; i++)
        if (l->temporaries[i].bytes) gpu_give(l->temporaries[i].at, l->temporaries[i].bytes);
    return status;
}

/* COST: of one invocation of a loop.  What the program launches runs there whether it pays or not.
 */
static int32_t launch(Launch *l, double cost) {
    CuContext before;
    int32_t status = gpu_open(l->context, l->site);
    if (status) return status;
    if (gpu.state != GPU_READY || l->context->parallel || l->count > MOST_ARGS)
        return ADL_GPU_ELSEWHERE;
    for (int k = 0; k < 3; k++) {
        if (l->extents[k] <= 0) return ADL_GPU_ELSEWHERE;
        cost *= (double)l->extents[k];
    }
    status = gpu_enter(l->context, l->site, &before);
    bool always = gpu.insists || l->sizes[0];
    double threads = l->serial ? 1 : (double)adl_get_num_threads();
    if (!status)
        status = always || pays(l->context, cost, threads, l->args, l->count) ? run(l)
                                                                              : ADL_GPU_ELSEWHERE;
    gpu_leave(before);
    return status;
}

int32_t adl__gpu_launch(AdlContext *context, const AdlSite *site, AdlGpuModule *module,
                        int32_t kernel, int64_t x, int64_t y, int64_t z, int64_t work,
                        int32_t count, AdlGpuArg *args) {
    Launch l = {.context = context,
                .site = site,
                .module = module,
                .kernel = kernel,
                .count = count,
                .extents = {x, y, z},
                .args = args};
    return launch(&l, (double)work);
}

int32_t adl__gpu_product(AdlContext *context, const AdlSite *site, AdlGpuModule *module,
                         int32_t kernel, int32_t how, int64_t m, int64_t n, int64_t k,
                         int32_t count, AdlGpuArg *args) {
    GpuProduct product = {how, m, n, k};
    Launch l = {.context = context,
                .site = site,
                .module = module,
                .kernel = kernel,
                .count = count,
                .extents = {n, m, 1},
                .args = args,
                .product = &product};
    return launch(&l, (double)k);
}

int32_t adl__gpu_scan(AdlContext *context, const AdlSite *site, AdlGpuModule *module,
                      int32_t kernel, int64_t trips, int32_t arrays, int64_t work, int32_t count,
                      AdlGpuArg *args) {
    Launch l = {.context = context,
                .site = site,
                .module = module,
                .kernel = kernel,
                .count = count,
                .extents = {trips, 1, 1},
                .args = args,
                .phases = arrays ? 3 : 2,
                .serial = true};
    return launch(&l, (double)work);
}

int32_t adl__gpu_sort(AdlContext *context, const AdlSite *site, AdlGpuModule *module,
                      int32_t kernel, int64_t n, int64_t spare, int32_t count, AdlGpuArg *args) {
    Launch l = {.context = context,
                .site = site,
                .module = module,
                .kernel = kernel,
                .count = count,
                .extents = {n, 1, 1},
                .args = args,
                .spare = spare,
                .serial = true};
    double levels = 1;
    for (int64_t run = 1; run < n; run *= 2) levels++;
    return launch(&l, SORT_STEP * levels);
}

int32_t adl__gpu_run(AdlContext *context, const AdlSite *site, AdlGpuModule *module, int32_t kernel,
                     const int64_t *geometry, int32_t checks, int32_t count, AdlGpuArg *args) {
    Launch l = {.context = context,
                .site = site,
                .module = module,
                .kernel = kernel,
                .count = count,
                .fits = !checks,
                .args = args};
    for (int d = 0; d < 3; d++) {
        l.extents[d] = geometry[d];
        l.sizes[d] = geometry[3 + d];
    }
    return launch(&l, 0);
}
