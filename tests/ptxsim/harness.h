/* What the tests of the simulator share: a device that is ready, texts that are loaded, buffers. */
#ifndef ADL_PTXSIM_HARNESS_H
#define ADL_PTXSIM_HARNESS_H

#include "tests/ptxsim/cuda.h"

#include <stdint.h>

/* A context on the device; at the end of a test it goes with all that it holds. */
void device_start(void);
void device_stop(void);

/* Fails the test if TEXT does not load. */
CUmodule device_load(const char *text);
CUfunction device_kernel(CUmodule module, const char *name);

/* What `dslc OPTIONS FILE` prints, to be freed, of a FILE in tests/ptxsim; *STATUS is how it ends.
   And the module that it gives, which is also assembled. */
char *device_text(const char *options, const char *file, int *status);
CUmodule device_compile(const char *options, const char *file);

/* Memory on the device with the bytes of FROM, or that nobody wrote if FROM is NULL. */
CUdeviceptr device_copy(const void *from, size_t bytes);
void device_read(void *to, CUdeviceptr from, size_t bytes);

/* Launches on a grid and blocks of one dimension and waits. */
CUresult device_run(CUfunction kernel, unsigned blocks, unsigned threads, void **args);

/* Where PTXAS names an assembler: fails the test if that refuses TEXT for ARCH, "sm_75". */
void assemble(const char *text, const char *arch);

#endif
