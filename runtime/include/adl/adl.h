/* adl.h: what a C or C++ program needs beside the header that dslc wrote for it.

   Every function that dslc exports returns ADL_OK (0) or one of the codes below; the message of
   the last error of the calling thread is adl_last_error_message().  Nothing here or in compiled
   code ends the process, prints, or touches signals.  Functions may be called from any thread;
   adl_set_allocator and adl_set_num_threads are to be called before the first other call. */
#ifndef ADL_ADL_H
#define ADL_ADL_H

#include <stddef.h>
#include <stdint.h>

#define ADL_VERSION_MAJOR 0
#define ADL_VERSION_MINOR 1
#define ADL_VERSION_PATCH 0
#define ADL_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) || !defined(__GNUC__)
#define ADL_PUBLIC
#else
#define ADL_PUBLIC __attribute__((visibility("default")))
#endif

/* What an exported function returns.  The numbers are part of the binary interface. */
typedef enum adl_error {
    ADL_OK = 0,
    ADL_ERROR_INDEX = 1,     /* an index out of range */
    ADL_ERROR_SIZE = 2,      /* two sizes that had to agree, a negative or overflowing size */
    ADL_ERROR_ASSERT = 3,    /* an assert of the program failed */
    ADL_ERROR_DOMAIN = 4,    /* integer division by zero, shift count, conversion out of range */
    ADL_ERROR_MEMORY = 5,    /* out of memory */
    ADL_ERROR_IO = 6,        /* a file that cannot be read or written */
    ADL_ERROR_FORMAT = 7,    /* a file whose contents are not what they should be */
    ADL_ERROR_ARGUMENT = 8,  /* NULL, overlapping or otherwise impossible arguments */
    ADL_ERROR_TAPE = 9,      /* NULL, or a tape of another function */
    ADL_ERROR_EMPTY = 10,    /* a reduction of nothing that has no value */
    ADL_ERROR_OVERFLOW = 11, /* signed overflow, where it is checked */
    ADL_ERROR_DEVICE = 12,   /* an accelerator failed, or there is none */
    ADL_ERROR_DEPTH = 13     /* recursion that is deeper than the stack */
} adl_error;

/* A short English text for CODE, never NULL; static. */
ADL_PUBLIC const char *adl_strerror(int code);

/* The message of the last error of the calling thread, such as
   "model.adl:12: index 7 is out of range 0..5 for x"; "" if there was none.  It is valid until the
   next failing call of the same thread; a text longer than 4095 bytes is cut. */
ADL_PUBLIC const char *adl_last_error_message(void);

/* The version of the library that is linked, as "major.minor.patch". */
ADL_PUBLIC const char *adl_version(void);

/* Where all memory comes from.  ALLOCATE returns BYTES bytes at a multiple of ALIGNMENT (a power of
   two, at least 64), or NULL; DEALLOCATE gets what ALLOCATE returned, with the same BYTES. */
typedef struct adl_allocator {
    void *(*allocate)(void *state, size_t alignment, size_t bytes);
    void (*deallocate)(void *state, void *memory, size_t bytes);
    void *state;
} adl_allocator;

/* Takes a copy of *ALLOCATOR; NULL brings back the C library's.  Memory must go back where it came
   from, so no tape may be alive across a change.  Returns ADL_OK, or ADL_ERROR_ARGUMENT if a
   function is missing. */
ADL_PUBLIC int adl_set_allocator(const adl_allocator *allocator);

/* How many threads parallel loops use; 0, the start value, leaves it to OpenMP.  Results never
   depend on it.  Returns ADL_OK, or ADL_ERROR_ARGUMENT if COUNT is negative. */
ADL_PUBLIC int adl_set_num_threads(int count);

/* How many threads the next parallel loop may use; at least 1. */
ADL_PUBLIC int adl_get_num_threads(void);

/* For functions that were compiled with --target=ptx: from now on they run on the device of
   CONTEXT, a CUcontext of NVIDIA's driver, in the order of STREAM, a CUstream of it (NULL: its
   default stream). Without this they use the primary context of the first device.  Returns ADL_OK
   also if ADL_DEVICE is cpu, which stays so; ADL_ERROR_ARGUMENT if CONTEXT is NULL;
   ADL_ERROR_DEVICE if the driver refuses it, or if a function has run in another context before. */
ADL_PUBLIC int adl_gpu_use(void *context, void *stream);

/* What the forward pass of a split leaves for its reverse pass.  Nothing writes to it, so several
   threads may run the reverse pass on one tape at once. */
typedef struct adl_tape adl_tape;

/* Frees *TAPE and sets it to NULL.  TAPE or *TAPE being NULL is refused with ADL_ERROR_TAPE. */
ADL_PUBLIC int adl_tape_free(adl_tape **tape);

/* The bytes that TAPE keeps alive, arrays included; 0 for NULL. */
ADL_PUBLIC size_t adl_tape_bytes(const adl_tape *tape);

#ifdef __cplusplus
}
#endif

#endif
