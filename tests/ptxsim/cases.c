/* Runs the entries of a PTX text that are called case_..., each for a few invocations, one case per
   line of TAP on standard output.

     cases NUMBER FILE.ptx

   Such an entry takes its extent, a size and an array of so many i32s, in which each invocation
   that comes to its end sets its own to one.  NUMBER is that of the first case. */
#include "tests/ptxsim/cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVOCATIONS = 3 };

static void need(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS) return;
    fprintf(stderr, "cases: %s gives %d: %s\n", what, (int)result, ptxsim_message());
    exit(2);
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 20, len = 0, got;
    char *text = malloc(room + 1);
    if (!file || !text) abort();
    while ((got = fread(text + len, 1, room - len, file)) > 0) {
        len += got;
        if (len == room) text = realloc(text, (room *= 2) + 1);
        if (!text) abort();
    }
    fclose(file);
    text[len] = 0;
    return text;
}

static CUmodule load(const char *text) {
    CUcontext context;
    CUmodule module;
    need(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    need(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    need(cuModuleLoadData(&module, text), "cuModuleLoadData");
    return module;
}

/* NULL, or what went wrong; after that nothing else works in the context. */
static const char *run(CUmodule module, const char *name) {
    CUfunction kernel;
    CUdeviceptr memory;
    int32_t done[INVOCATIONS] = {0};
    int64_t n = INVOCATIONS, nothing = 0;
    need(cuModuleGetFunction(&kernel, module, name), name);
    need(cuMemAlloc_v2(&memory, sizeof done), "cuMemAlloc");
    need(cuMemcpyHtoD_v2(memory, done, sizeof done), "cuMemcpyHtoD");
    void *args[] = {&n, &n, &nothing, &memory};
    CUresult state = cuLaunchKernel(kernel, 1, 1, 1, INVOCATIONS + 1, 1, 1, 0, NULL, args, NULL);
    if (!state) state = cuMemcpyDtoH_v2(done, memory, sizeof done);
    if (state) return ptxsim_message();
    for (int i = 0; i < INVOCATIONS; i++)
        if (done[i] != 1) return "an invocation did not come to its end";
    return NULL;
}

int main(int argc, char **argv) {
    static const char mark[] = ".entry case_";
    if (argc != 3) return 2;
    char *text = read_text(argv[2]);
    int number = atoi(argv[1]);
    need(cuInit(0), "cuInit");
    CUmodule module = load(text);
    for (char *at = text; (at = strstr(at, mark)); at++) {
        char name[64];
        size_t len = strcspn(at + strlen(".entry "), "(");
        if (len >= sizeof name) return 2;
        memcpy(name, at + strlen(".entry "), len);
        name[len] = 0;
        const char *wrong = run(module, name);
        printf("%sok %d - %s\n", wrong ? "not " : "", number++, name);
        if (!wrong) continue;
        printf("# %s\n", wrong);
        need(cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
        module = load(text);
    }
    free(text);
    return 0;
}
