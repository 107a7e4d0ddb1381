#include "tests/ptxsim/harness.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void need(CUresult result, const char *what) {
    ck_assert_msg(result == CUDA_SUCCESS, "%s gives %d: %s", what, (int)result, ptxsim_message());
}

void device_start(void) {
    CUdevice device;
    CUcontext context;
    need(cuInit(0), "cuInit");
    need(cuDeviceGet(&device, 0), "cuDeviceGet");
    need(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    need(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

void device_stop(void) {
    need(cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
}

CUmodule device_load(const char *text) {
    CUmodule module = NULL;
    need(cuModuleLoadData(&module, text), "cuModuleLoadData");
    return module;
}

CUfunction device_kernel(CUmodule module, const char *name) {
    CUfunction function = NULL;
    need(cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
    return function;
}

CUdeviceptr device_copy(const void *from, size_t bytes) {
    CUdeviceptr address = 0;
    need(cuMemAlloc_v2(&address, bytes), "cuMemAlloc");
    if (from) need(cuMemcpyHtoD_v2(address, from, bytes), "cuMemcpyHtoD");
    return address;
}

void device_read(void *to, CUdeviceptr from, size_t bytes) {
    need(cuMemcpyDtoH_v2(to, from, bytes), "cuMemcpyDtoH");
}

CUresult device_run(CUfunction kernel, unsigned blocks, unsigned threads, void **args) {
    CUresult result = cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, args, NULL);
    return result ? result : cuCtxSynchronize();
}

void assemble(const char *text, const char *arch) {
    const char *ptxas = getenv("PTXAS");
    if (!ptxas || !*ptxas) return;
    char name[] = "/tmp/ptxsim-XXXXXX", command[4096];
    int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    FILE *out = fdopen(file, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
    snprintf(command, sizeof command, "'%s' -arch=%s '%s' -o /dev/null >&2", ptxas, arch, name);
    int status = system(command);
    if (status == 0) unlink(name);
    ck_assert_msg(status == 0, "%s refuses %s", ptxas, name);
}

char *device_text(const char *options, const char *file, int *status) {
    const char *dslc = getenv("DSLC"), *sources = getenv("ADL_SOURCE_DIR");
    char command[4096];
    ck_assert_ptr_nonnull(dslc);
    snprintf(command, sizeof command, "'%s' %s '%s/tests/ptxsim/%s' -o - 2>&1", dslc, options,
             sources ? sources : ".", file);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t room = 1 << 20, len;
    char *text = calloc(1, room);
    ck_assert_ptr_nonnull(text);
    len = fread(text, 1, room - 1, pipe);
    ck_assert_uint_lt(len, room - 1);
    *status = WEXITSTATUS(pclose(pipe));
    return text;
}

CUmodule device_compile(const char *options, const char *file) {
    int status;
    char *text = device_text(options, file, &status);
    ck_assert_msg(status == 0, "%s", text);
    assemble(text, "sm_75");
    CUmodule module = device_load(text);
    free(text);
    return module;
}
