/* Code generation, seen from outside: no LLVM here.  What is behind it is a shared object that is
   opened when it is needed (codegen_open), so that commands without code start fast.

   Symbols that a module gives, beside its C exports (with the prefix) and their hidden helpers:
     main             with `program`: runs IR_EXPORT_MAIN through adl__main_run
     adl__program     in the process: AdlMain, what adl__main_run needs
     adl__test_K      in the process: int32_t (AdlContext *): the K-th export, if it is a test; 0 or
                      an error code
     adl__bench_K     the same for a bench
     adl__entry_NAME  with `entries`: int32_t (AdlContext *, void **), for each function NAME that
   is a root: its arguments by address, then places for its results.  Scalars stand there as in C,
   all else as a CodegenArray. */
#ifndef ADL_CODEGEN_CODEGEN_H
#define ADL_CODEGEN_CODEGEN_H

#include "base/strbuf.h"
#include "ir/ir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODEGEN_SANITIZE_ADDRESS = 1, CODEGEN_SANITIZE_THREAD };

/* Left out by linkers, but for -r. */
#define CODEGEN_CARRIED ".adl"

typedef struct CodegenOptions {
    int opt_level;        /* 0 to 3 */
    bool debug;           /* -g */
    const char *cpu;      /* NULL: what every machine of the target has; "native": this machine */
    const char *features; /* "+avx2,-fma", added to the CPU's; may be NULL */
    bool pic;
    bool fast_math;
    bool deterministic; /* no float additions on a device whose order is left open */
    bool scalar_math;    /* no vector versions of exp, sin, ... */
    bool threads;        /* outer parallel regions use them */
    bool check_overlap;  /* --check: exports compare the memory they are given */
    int sanitize;        /* 0: no; CODEGEN_SANITIZE_...: accesses are reported to that sanitizer */
    bool program;        /* make a `main` */
    bool in_process;     /* set by `load`: adl__program, tests and benches can be found */
    bool entries;        /* make adl__entry_NAME */
    bool verify;         /* have LLVM check what was made */
    bool weak_main;      /* `main` gives way to another */
    const char *prefix;  /* of exported names; may be NULL */
    const char *carried; /* bytes that an object carries in the section CODEGEN_CARRIED, or NULL */
    size_t carried_len;
    const char *device; /* of PTX: "sm_75" */
    bool whole;         /* parallel loops get device code beside the CPU's; not for CODEGEN_PTX */
    /* With `whole`: makes code of PTX for DEVICE, false after it has reported; called for each of
       DEVICES. */
    bool (*assemble)(void *data, const char *device, const StrBuf *ptx, StrBuf *out);
    void *assemble_data;
    const char *const *devices;
    uint32_t ndevices;
    /* Tells what became of a loop; may be NULL. */
    void (*remark)(void *data, Pos pos, const char *text);
    void *remark_data;
    const char *libdevice; /* and the file of libdevice, or NULL */
    const char *producer;  /* for debug information: "dslc 0.1.0" */
} CodegenOptions;

typedef enum CodegenKind {
    CODEGEN_OBJECT, /* the bytes of an object file */
    CODEGEN_ASSEMBLY,
    CODEGEN_LLVM,     /* LLVM IR, optimised */
    CODEGEN_LLVM_RAW, /* as generated */
    CODEGEN_PTX       /* the exports as entries; the module was lowered for a device */
} CodegenKind;

/* An array at a uniform entry.  Arguments stay the caller's; BLOCK is what the runtime counts, or
   NULL for memory that must not be written.  A result's reference goes to the caller.  A text:
   dims[0] is its length; a tape: four words. */
typedef struct CodegenArray {
    void *data, *block;
    int64_t dims[IR_MAX_RANK];
} CodegenArray;

typedef struct CodegenSymbol {
    const char *name;
    void *address;
} CodegenSymbol;

typedef struct CodegenCode CodegenCode; /* code in this process */

/* Functions that fail return false or NULL and put a text to be freed into *ERROR. */
typedef struct CodegenApi {
    uint32_t size;       /* of this structure: guards against a mismatched shared object */
    const char *version; /* "LLVM 19.1.7" */
    bool (*emit)(const IrModule *module, const CodegenOptions *options, CodegenKind kind,
                 StrBuf *out, char **error);
    /* The runtime's functions are found through SYMBOLS first, then in the process. */
    CodegenCode *(*load)(const IrModule *module, const CodegenOptions *options,
                         const CodegenSymbol *symbols, size_t nsymbols, char **error);
    void *(*find)(CodegenCode *code, const char *name, char **error);
    void (*unload)(CodegenCode *code);
} CodegenApi;

/* What the shared object exports. */
const CodegenApi *adl_codegen_api(void);

/* Opens the shared object PATH, once for the life of the process.  NULL: see *ERROR. */
const CodegenApi *codegen_open(const char *path, char **error);

#endif
