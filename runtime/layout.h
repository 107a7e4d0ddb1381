/* layout.h: the structures that generated code and the runtime share.

   This file and calls.def are the whole contract between the two.  Structures have fixed sizes and
   offsets (asserted at the end), so that a code generator can describe them by byte offsets.

   Arrays.  In generated code an array is a data pointer and its dimensions, row-major and
   contiguous.  The data is 64-byte aligned and stands behind an AdlBlock, its header, which counts
   the names of the block.  A context counts only the blocks that it owns; for it the others are
   borrowed, outlive it, and are never written in place:
   - constants carry a header with refs ADL_REFS_STATIC, arrays on the stack one with
   ADL_REFS_STACK, and owner NULL in both; such headers are never written;
   - blocks of a tape that a C caller holds have owner NULL;
   - memory of a C caller has no header at all.  The exported wrapper lists such pointers in
     context->foreign; adl__retain, adl__release, adl__unique and adl__tape_keep look there first.

   Status.  Generated functions take an AdlContext first and return an int32_t, 0 or an error code.
   After an error nothing needs to be released: adl__context_end frees all that the context owns. */
#ifndef ADL_RUNTIME_LAYOUT_H
#define ADL_RUNTIME_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define ADL_MAX_RANK 8
#define ADL_ALIGNMENT 64
#define ADL_REFS_STATIC (-1)
#define ADL_REFS_STACK (-2)
#define ADL_NO_PLACE (-1)
/* A function that calls itself looks at its beginning whether its frame is less than so far below
   context->stack; else it calls adl__stack_check. */
#define ADL_STACK_NEAR (1 << 20)

/* Element kinds: X(NAME, name in the language, bytes).  The numbers are part of the contract. */
#define ADL_KINDS(X)                                                                               \
    X(BOOL, "bool", 1)                                                                             \
    X(I8, "i8", 1)                                                                                 \
    X(I16, "i16", 2)                                                                               \
    X(I32, "i32", 4)                                                                               \
    X(I64, "i64", 8)                                                                               \
    X(U8, "u8", 1)                                                                                 \
    X(U16, "u16", 2)                                                                               \
    X(U32, "u32", 4)                                                                               \
    X(U64, "u64", 8)                                                                               \
    X(F16, "f16", 2)                                                                               \
    X(BF16, "bf16", 2)                                                                             \
    X(F32, "f32", 4)                                                                               \
    X(F64, "f64", 8)                                                                               \
    X(C64, "c64", 8)                                                                               \
    X(C128, "c128", 16)                                                                            \
    X(STR, "str", 16)

typedef enum AdlKind {
#define X(name, text, bytes) ADL_KIND_##name,
    ADL_KINDS(X)
#undef X
        ADL_KIND_COUNT
} AdlKind;

typedef struct AdlContext AdlContext;
typedef struct AdlBlock AdlBlock;
typedef struct AdlChunk AdlChunk;
typedef struct adl_tape AdlTape;

/* The header of an array's memory; the data follows at once. */
struct AdlBlock {
    int64_t refs;   /* atomic: names in the owner's context; or ADL_REFS_STATIC, ADL_REFS_STACK */
    int64_t bytes;  /* asked for */
    AdlBlock *prev; /* in the owner's list */
    AdlBlock *next;
    AdlContext *owner; /* NULL once a tape that left its context holds the block */
    int64_t capacity;  /* of the memory, header included */
    int64_t holds;     /* atomic: tapes that hold the block */
    int32_t spare; /* names in refs that are not ours: 1 for memory that a C caller lets us write */
    int32_t device; /* 0: never on a device; else ADL_DEVICE_... in the low bits, see runtime/gpu */
};

/* Where the elements of a block are valid: STALE, on the host alone. */
enum { ADL_DEVICE_STALE = 0, ADL_DEVICE_BOTH = 1, ADL_DEVICE_ONLY = 2, ADL_DEVICE_VALID = 3 };

/* What an exported function makes on its stack.  It begins with all bytes zero
   (adl__context_begin); adl__context_end is needed if there was an error or live, tapes, recent,
   cache, message is not NULL. */
struct AdlContext {
    int32_t error;              /* 0, or the code of the first error */
    int32_t lock;               /* spin lock over the lists below */
    const void *const *foreign; /* pointers without a header: memory of a C caller */
    int64_t foreign_count;
    AdlBlock *live;         /* blocks not yet released */
    AdlTape *tapes;         /* tapes not yet freed or given to the caller */
    struct AdlFree *recent; /* a few released areas, for reuse */
    int64_t recent_count;
    struct AdlCache *cache; /* more of them, by size */
    char *message;          /* of the error, zero-terminated, or NULL */
    int64_t message_bytes;
    int64_t live_bytes;                   /* in blocks that are alive */
    int64_t peak_bytes;                   /* the most that was */
    const struct AdlArguments *arguments; /* of the program, or NULL */
    int64_t library_place; /* bytes of MESSAGE that name a place in the library, else 0; or
                              ADL_NO_PLACE: it names none yet */
    int64_t parallel;      /* not 0 while several threads run a loop for this context */
    int64_t stack; /* 0, or an address on some thread's stack with room for ADL_STACK_NEAR bytes
                      below; atomic */
};

/* Where in the source an operation stands; a constant. */
typedef struct AdlSite {
    const char *file;     /* as shown in messages */
    const char *function; /* may be NULL */
    int32_t line;         /* 0: unknown */
    int32_t column;
    int32_t library; /* 1: of the standard library, so that a caller's place says more */
    int32_t spare;
} AdlSite;

/* A text: not zero-terminated, may hold zero bytes.  Its bytes are the data of a block. */
typedef struct AdlStr {
    const char *ptr;
    int64_t len;
} AdlStr;

/* An argument of a message. */
typedef enum AdlArgTag {
    ADL_ARG_I64,
    ADL_ARG_U64,
    ADL_ARG_F64,
    ADL_ARG_BOOL,
    ADL_ARG_STR
} AdlArgTag;

typedef struct AdlArg {
    int64_t tag; /* AdlArgTag */
    union {
        int64_t i;     /* I64, U64, BOOL */
        double f;      /* F64 */
        const char *s; /* STR; zero-terminated if len is -1 */
    } value;
    int64_t len; /* of STR */
} AdlArg;

/* Tapes.  A tape is a stack of bytes in chunks; an entry never crosses a chunk's end.  Entry sizes
   are multiples of 8, entries are aligned to 8.

   Writing n bytes:    p = tape->cur;
                       if (tape->end - p >= n) tape->cur = p + n;
                       else if (!(p = adl__tape_push_slow(ctx, tape, n))) fail;
   After the last entry: adl__tape_seal(tape).  From then on a tape is read only.
   Reading backwards:  AdlCursor c; adl__tape_last(tape, &c);
                       if (c.cur == c.begin) adl__tape_back(&c);
                       c.cur -= n;  the entry is at c.cur
   Reading forwards:   adl__tape_first(tape, &c);
                       if (c.cur == c.end) adl__tape_next(&c);
                       the entry is at c.cur;  c.cur += n
   The reader asks for the sizes that the writer pushed, in order, so that "cur == begin" is the
   only check it needs; entries of 0 bytes are not pushed.  Cursors are plain values: copying one is
   a second reader.  A cursor that adl__tape_mark filled can be given to adl__tape_rewind. */
struct AdlChunk {
    AdlChunk *prev;
    AdlChunk *next;
    char *used;       /* end of the entries; valid for chunks that are left or sealed */
    char *end;        /* end of the memory */
    int64_t spare[4]; /* the entries follow at once */
};

/* What an entry holds that can be added: for each value three bytes, its kind, its lanes and one
   more than its rank, and a 0 behind the last; the address of these is the entry's last word. */
typedef enum AdlTapeKind { ADL_TAPE_F64 = 1, ADL_TAPE_F32, ADL_TAPE_TAPE } AdlTapeKind;
/* Words of a tape that is pushed on another: itself, cur, end, chunk. */
#define ADL_TAPE_WORDS 4

typedef struct AdlCursor {
    char *cur;
    char *begin; /* of the entries of this chunk */
    char *end;   /* of the entries of this chunk */
    AdlChunk *chunk;
    int64_t kept;     /* used by marks */
    int64_t children; /* used by marks */
} AdlCursor;

struct adl_tape {
    char *cur; /* where the next entry goes */
    char *end;
    AdlChunk *chunk; /* the one that cur is in */
    AdlChunk *first;
    int64_t memory;       /* bytes of this structure as allocated */
    int64_t refs;         /* atomic: names in the owner's context */
    int64_t holds;        /* atomic: tapes that hold it, and the caller it was given to */
    int64_t type;         /* which function, activities and options it is of */
    AdlContext *owner;    /* NULL once it was given to the caller */
    AdlTape *prev, *next; /* in the owner's list */
    int32_t lock;         /* spin lock over what follows */
    int32_t spare;
    void **kept; /* blocks that the tape holds */
    int64_t kept_count, kept_capacity;
    AdlTape **children; /* tapes that the tape holds */
    int64_t children_count, children_capacity;
};

/* Body of a parallel loop, for the indices begin <= i < end. */
typedef int32_t (*AdlBody)(AdlContext *context, void *env, int64_t begin, int64_t end);

/* Programs.  A parameter of main, and what the command line gave for it. */
typedef enum AdlParamFlag {
    ADL_PARAM_DEFAULT = 1 /* has a default: may be left out, then `given` is 0 */
} AdlParamFlag;

typedef struct AdlParam {
    const char *name;
    const char *doc;          /* its /// comment, or NULL */
    const char *default_text; /* as written, for --help, or NULL */
    const char *shape;        /* as written, "[n, d]", for --help, or NULL */
    int32_t kind;             /* AdlKind of the value or the elements */
    int32_t rank;             /* 0: a scalar */
    int32_t flags;            /* AdlParamFlag */
    int32_t spare;
} AdlParam;

typedef struct AdlParamValue {
    union {
        int64_t i;     /* integers: sign- or zero-extended; bool: 0 or 1 */
        double f;      /* f64 */
        float f32;     /* f32 */
        uint16_t half; /* f16, bf16 */
        float c64[2];
        double c128[2];
        AdlStr str;
    } scalar;   /* offset 0: the value in its own kind */
    void *data; /* arrays: a block with one reference, owned by the context */
    int64_t dims[ADL_MAX_RANK];
    int64_t given;
} AdlParamValue;

typedef enum AdlMainFlag {
    ADL_MAIN_ARGS = 1 /* the program reads `args`: words that are no options are allowed */
} AdlMainFlag;

/* RUN gets the values in the order of the parameters, those not given to be filled in by their
   defaults, and sets *STATUS, which is 0 before, to main's result. */
typedef struct AdlMain {
    const char *doc; /* main's /// comment, or NULL */
    const AdlParam *params;
    int32_t (*run)(AdlContext *context, AdlParamValue *values, int32_t *status);
    int32_t count;
    int32_t flags; /* AdlMainFlag */
} AdlMain;

/* Device code of a module.  The parameters of an entry are the address of a word that a failed
   check sets to its number, three i64s, and the launch's arguments.  The three are of a parallel
   loop the extents along x, y, z; of what the program launches the first block along these, since a
   grid need not have them all. */
typedef enum AdlGpuKind { ADL_GPU_PTX, ADL_GPU_CUBIN } AdlGpuKind;

typedef struct AdlGpuImage {
    int32_t kind; /* AdlGpuKind */
    int32_t sm;   /* 75 for sm_75 */
    int64_t size;
    const void *data; /* PTX: zero-terminated */
} AdlGpuImage;

/* Can a kernel fail; and for want of memory, too? */
typedef enum AdlGpuChecks { ADL_GPU_CHECKS = 1, ADL_GPU_TAKES_HEAP = 2 } AdlGpuChecks;

typedef struct AdlGpuModule {
    const AdlGpuImage *images;
    const char *const *names; /* of entries, by kernel */
    const uint8_t *checks;    /* by kernel: an AdlGpuChecks */
    const AdlSite *sites;     /* of checks, by their number less one */
    int64_t image_count, kernel_count, site_count;
    void *loaded; /* the runtime's; NULL at first */
} AdlGpuModule;

/* An argument of a launch: the bits of a scalar, or memory that is read, written (all of it), or
   both. */
typedef enum AdlGpuArgKind {
    ADL_GPU_SCALAR = 0,
    ADL_GPU_READ = 1,
    ADL_GPU_WRITE = 2,
    ADL_GPU_UPDATE = 3,
    ADL_GPU_PART = 7, /* parts of it are written, without having been read */
    ADL_GPU_SUM = 10  /* zeros that are added to */
} AdlGpuArgKind;

typedef struct AdlGpuArg {
    int64_t kind;
    int64_t word;  /* of a scalar; the address of elements */
    void *block;   /* of the elements, or NULL */
    int64_t bytes; /* of the elements */
} AdlGpuArg;

/* What is said of a product: which factors stand transposed, and the type if both factors and the
   result are of that.  BLAS has no others. */
typedef enum AdlGpuProduct {
    ADL_GPU_PRODUCT_TA = 1,
    ADL_GPU_PRODUCT_TB = 2,
    ADL_GPU_PRODUCT_F64 = 4,
    ADL_GPU_PRODUCT_F32 = 8
} AdlGpuProduct;

/* What a launch returns beside 0 and error codes: run the loop on the CPU. */
#define ADL_GPU_ELSEWHERE (-1)

/* The types in calls.def: X(token, C type, class).  The class is all that a code generator needs:
   an integer of that width, a float, or a pointer. */
typedef enum AdlClass {
    ADL_CLASS_VOID,
    ADL_CLASS_I16,
    ADL_CLASS_I32,
    ADL_CLASS_I64,
    ADL_CLASS_F32,
    ADL_CLASS_F64,
    ADL_CLASS_PTR
} AdlClass;

#define ADL_CALL_TYPES(X)                                                                          \
    X(T_VOID, void, ADL_CLASS_VOID)                                                                \
    X(T_HALF, uint16_t, ADL_CLASS_I16)                                                             \
    X(T_I32, int32_t, ADL_CLASS_I32)                                                               \
    X(T_I64, int64_t, ADL_CLASS_I64)                                                               \
    X(T_F32, float, ADL_CLASS_F32)                                                                 \
    X(T_F64, double, ADL_CLASS_F64)                                                                \
    X(T_CTX, AdlContext *, ADL_CLASS_PTR)                                                          \
    X(T_SITE, const AdlSite *, ADL_CLASS_PTR)                                                      \
    X(T_TEXT, const char *, ADL_CLASS_PTR)                                                         \
    X(T_DATA, void *, ADL_CLASS_PTR)                                                               \
    X(T_CDATA, const void *, ADL_CLASS_PTR)                                                        \
    X(T_PDATA, void **, ADL_CLASS_PTR)                                                             \
    X(T_DIMS, const int64_t *, ADL_CLASS_PTR)                                                      \
    X(T_PI64, int64_t *, ADL_CLASS_PTR)                                                            \
    X(T_PSTR, AdlStr *, ADL_CLASS_PTR)                                                             \
    X(T_ARGS, const AdlArg *, ADL_CLASS_PTR)                                                       \
    X(T_TAPE, AdlTape *, ADL_CLASS_PTR)                                                            \
    X(T_CTAPE, const AdlTape *, ADL_CLASS_PTR)                                                     \
    X(T_CURSOR, AdlCursor *, ADL_CLASS_PTR)                                                        \
    X(T_CCURSOR, const AdlCursor *, ADL_CLASS_PTR)                                                 \
    X(T_BODY, AdlBody, ADL_CLASS_PTR)                                                              \
    X(T_MAIN, const AdlMain *, ADL_CLASS_PTR)                                                      \
    X(T_ARGV, char **, ADL_CLASS_PTR)                                                              \
    X(T_CF64, const double *, ADL_CLASS_PTR)                                                       \
    X(T_PF64, double *, ADL_CLASS_PTR)                                                             \
    X(T_CF32, const float *, ADL_CLASS_PTR)                                                        \
    X(T_PF32, float *, ADL_CLASS_PTR)                                                              \
    X(T_GPU, AdlGpuModule *, ADL_CLASS_PTR)                                                        \
    X(T_GPU_ARGS, AdlGpuArg *, ADL_CLASS_PTR)

/* Attributes in calls.def, for the optimiser.  No call unwinds. */
typedef enum AdlCallAttr {
    ADL_PLAIN = 0,
    ADL_PURE = 1,   /* touches no memory */
    ADL_READS = 2,  /* reads memory, writes none */
    ADL_FRESH = 4,  /* the result is new memory, or NULL */
    ADL_COLD = 8,   /* hardly ever called */
    ADL_STATUS = 16 /* the result is 0 or an error code, and the context holds the message */
} AdlCallAttr;

#define ADL_LAYOUT_ASSERT(condition) _Static_assert(condition, "layout changed: " #condition)
ADL_LAYOUT_ASSERT(sizeof(AdlBlock) == 64);
ADL_LAYOUT_ASSERT(sizeof(AdlContext) == 128);
ADL_LAYOUT_ASSERT(sizeof(AdlSite) == 32);
ADL_LAYOUT_ASSERT(sizeof(AdlStr) == 16);
ADL_LAYOUT_ASSERT(sizeof(AdlArg) == 24);
ADL_LAYOUT_ASSERT(sizeof(AdlChunk) == 64);
ADL_LAYOUT_ASSERT(sizeof(AdlCursor) == 48);
ADL_LAYOUT_ASSERT(offsetof(AdlTape, cur) == 0 && offsetof(AdlTape, end) == 8);
ADL_LAYOUT_ASSERT(offsetof(AdlParamValue, data) == 16);
ADL_LAYOUT_ASSERT(offsetof(AdlParamValue, dims) == 24);
ADL_LAYOUT_ASSERT(offsetof(AdlParamValue, given) == 88 && sizeof(AdlParamValue) == 96);
ADL_LAYOUT_ASSERT(sizeof(AdlParam) == 48);
ADL_LAYOUT_ASSERT(sizeof(AdlMain) == 32);
ADL_LAYOUT_ASSERT(sizeof(AdlGpuImage) == 24);
ADL_LAYOUT_ASSERT(sizeof(AdlGpuModule) == 64);
ADL_LAYOUT_ASSERT(sizeof(AdlGpuArg) == 32);

#endif
