/* A PTX module as the simulator keeps it: what the text says, decoded and checked, nothing that
   belongs to a run.  parse.c makes it, run.c and its helpers read it.

   Covered are the instructions that LLVM and libdevice use (opcodes.def).  Whatever else a text
   holds is an error with its line: nothing is skipped because it is not known. */
#ifndef ADL_PTXSIM_PTX_H
#define ADL_PTXSIM_PTX_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types: name, kind (p predicate, b bits, u unsigned, s signed, f float), bits. */
#define PTX_TYPES(X)                                                                               \
    X(pred, 'p', 1)                                                                                \
    X(b8, 'b', 8)                                                                                  \
    X(b16, 'b', 16) X(b32, 'b', 32) X(b64, 'b', 64) X(u8, 'u', 8) X(u16, 'u', 16) X(u32, 'u', 32)  \
        X(u64, 'u', 64) X(s8, 's', 8) X(s16, 's', 16) X(s32, 's', 32) X(s64, 's', 64)              \
            X(f16, 'f', 16) X(f32, 'f', 32) X(f64, 'f', 64)

typedef enum PtxType {
    TYPE_NONE,
#define X(name, kind, bits) TYPE_##name,
    PTX_TYPES(X)
#undef X
} PtxType;

char ptx_type_kind(PtxType type);
unsigned ptx_type_bits(PtxType type);

typedef enum PtxOp {
#define OP(name, operands, mods, types) OP_##name,
#include "tests/ptxsim/opcodes.def"
#undef OP
    OP_COUNT
} PtxOp;

/* Classes of what follows the name of an instruction after a point. */
enum {
    M_ROUND = 1 << 0,  /* rn rz rm rp */
    M_IROUND = 1 << 1, /* rni rzi rmi rpi: to an integer */
    M_FTZ = 1 << 2,    /* subnormal numbers are zero */
    M_SAT = 1 << 3,
    M_CC = 1 << 4,     /* leaves a carry */
    M_PART = 1 << 5,   /* lo hi wide */
    M_APPROX = 1 << 6, /* approx, full */
    M_SPACE = 1 << 7,  /* global shared local param const */
    M_VEC = 1 << 8,    /* v2 v4 */
    M_CMP = 1 << 9,    /* eq ne lt ... num nan */
    M_BOOL = 1 << 10,  /* and or xor */
    M_NC = 1 << 11,
    M_ORDER = 1 << 12, /* volatile weak relaxed acquire release acq_rel sc */
    M_SCOPE = 1 << 13, /* cta gpu sys cluster */
    M_ATOM = 1 << 14,  /* add min max and or xor exch cas inc dec */
    M_UNI = 1 << 15,
    M_SHIFT = 1 << 16, /* l r */
    M_CLAMP = 1 << 17, /* wrap clamp */
    M_SHFL = 1 << 18,  /* up down bfly idx */
    M_SYNC = 1 << 19,  /* sync, aligned, cta, warp, all */
    M_TO = 1 << 20,
    M_NAN = 1 << 21,   /* NaN */
    M_TESTP = 1 << 22, /* finite infinite number notanumber normal subnormal */
    M_SHIFTAMT = 1 << 23,
    M_IDX = 1 << 24,
};

typedef enum PtxSpace {
    SPACE_generic,
    SPACE_global,
    SPACE_shared,
    SPACE_local,
    SPACE_param,
    SPACE_const
} PtxSpace;
typedef enum PtxRound { ROUND_NONE, ROUND_rn, ROUND_rz, ROUND_rm, ROUND_rp } PtxRound;
typedef enum PtxPart { PART_NONE, PART_lo, PART_hi, PART_wide } PtxPart;
typedef enum PtxCmp {
    CMP_NONE,
    CMP_eq,
    CMP_ne,
    CMP_lt,
    CMP_le,
    CMP_gt,
    CMP_ge,
    CMP_lo,
    CMP_ls,
    CMP_hi,
    CMP_hs,
    CMP_equ,
    CMP_neu,
    CMP_ltu,
    CMP_leu,
    CMP_gtu,
    CMP_geu,
    CMP_num,
    CMP_nan
} PtxCmp;
typedef enum PtxBool { BOOL_NONE, BOOL_and, BOOL_or, BOOL_xor } PtxBool;
typedef enum PtxAtom {
    ATOM_NONE,
    ATOM_add,
    ATOM_min,
    ATOM_max,
    ATOM_and,
    ATOM_or,
    ATOM_xor,
    ATOM_exch,
    ATOM_cas,
    ATOM_inc,
    ATOM_dec
} PtxAtom;
typedef enum PtxShfl { SHFL_NONE, SHFL_up, SHFL_down, SHFL_bfly, SHFL_idx } PtxShfl;
typedef enum PtxOrder { ORDER_NONE, ORDER_plain, ORDER_strong } PtxOrder;
typedef enum PtxTestp {
    TESTP_NONE,
    TESTP_finite,
    TESTP_infinite,
    TESTP_number,
    TESTP_notanumber,
    TESTP_normal,
    TESTP_subnormal
} PtxTestp;

/* Special registers. */
#define PTX_SPECIALS(X)                                                                            \
    X(tid_x, "%tid.x")                                                                             \
    X(tid_y, "%tid.y") X(tid_z, "%tid.z") X(ntid_x, "%ntid.x") X(ntid_y, "%ntid.y")                \
        X(ntid_z, "%ntid.z") X(ctaid_x, "%ctaid.x") X(ctaid_y, "%ctaid.y") X(ctaid_z, "%ctaid.z")  \
            X(nctaid_x, "%nctaid.x") X(nctaid_y, "%nctaid.y") X(nctaid_z, "%nctaid.z")             \
                X(laneid, "%laneid")

typedef enum PtxSpecial {
#define X(name, text) SPECIAL_##name,
    PTX_SPECIALS(X)
#undef X
        SPECIAL_COUNT
} PtxSpecial;

typedef enum OperandKind {
    OPERAND_NONE,    /* "_", or no operand there */
    OPERAND_REG,     /* index: the register; negate: a predicate after "!" */
    OPERAND_IMM,     /* bits */
    OPERAND_SPECIAL, /* index: a PtxSpecial */
    OPERAND_SYMBOL,  /* the address of symbol, plus bits */
    OPERAND_MEMORY,  /* [base + bits], base a register (index), a symbol or nothing */
    OPERAND_LABEL,   /* index: an instruction */
    OPERAND_VECTOR,  /* parts at PtxFunc.parts[index], count of them */
    OPERAND_FUNC,    /* func */
} OperandKind;

typedef struct PtxSymbol PtxSymbol;
typedef struct PtxFunc PtxFunc;

typedef struct PtxOperand {
    OperandKind kind;
    bool negate;
    bool based; /* OPERAND_MEMORY: index is a register */
    uint32_t index;
    uint32_t count;
    uint64_t bits;
    const PtxSymbol *symbol;
    PtxFunc *func;
} PtxOperand;

enum { PTX_OPERANDS = 5, PTX_NO_GUARD = -1 };

typedef struct PtxInst {
    PtxOp op;
    uint32_t line;
    PtxType type;   /* the first one written: of the result, for cvt */
    PtxType source; /* cvt: the second one; shfl and the like: NONE */
    int32_t guard;  /* a predicate register, or PTX_NO_GUARD */
    bool guard_not;
    bool ftz, sat, cc, approx, noncoherent, to, propagate_nan, right, clamp, shiftamt, warp;
    PtxRound round, iround;
    PtxPart part;
    PtxSpace space;
    PtxCmp cmp;
    PtxBool combine;
    PtxAtom atom;
    PtxShfl shfl;
    PtxOrder order;
    PtxTestp testp;
    unsigned vec;   /* 1, 2 or 4 */
    unsigned given; /* classes that were written */
    PtxOperand operand[PTX_OPERANDS];
    PtxOperand second; /* the q of "p|q" */
} PtxInst;

/* A name for memory.  global, const: address is the host's; shared: the offset in the block's
   memory; local, param: the offset in the frame. */
struct PtxSymbol {
    const char *name;
    PtxSpace space;
    PtxType type;
    uint64_t size, align;
    uint64_t address;
    const PtxFunc *named; /* shared: by this function last */
};

struct PtxFunc {
    const char *name;
    bool entry, defined;
    uint32_t line;
    PtxSymbol **params; /* formal ones, in order */
    uint32_t param_count;
    PtxSymbol **results;
    uint32_t result_count;
    PtxType *regs; /* their types */
    uint32_t reg_count;
    uint64_t local_size, param_size; /* of a frame; params hold what calls pass, too */
    uint64_t shared_size;            /* of the shared variables that it names */
    PtxInst *insts;
    uint32_t inst_count;
    PtxOperand *parts;
    uint32_t part_count;
    uint32_t max_threads[3], required_threads[3]; /* 0: not said */
    PtxFunc *next;
};

typedef struct PtxGlobal {
    PtxSymbol *symbol;
    uint8_t *bytes; /* owned by the memory of the device once loaded */
    bool initialized;
    struct PtxGlobal *next;
} PtxGlobal;

typedef struct PtxModule {
    PtxFunc *funcs;
    PtxGlobal *globals;
    uint64_t shared_size;
    unsigned target; /* 75 for sm_75 */
    void *storage;   /* all that the module owns */
} PtxModule;

/* Where a failure goes: its text, then a jump. */
typedef struct PtxFailure {
    jmp_buf jump;
    char text[512];
} PtxFailure;

_Noreturn void ptx_fail(PtxFailure *failure, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads TEXT.  NULL: failure->text says why, and where.  Globals have memory from ALLOCATE, which
   the caller owns. */
typedef uint8_t *PtxAllocate(void *user, uint64_t size, bool initialized);
PtxModule *ptx_parse(const char *text, PtxFailure *failure, PtxAllocate *allocate, void *user);
void ptx_free(PtxModule *module);

/* Sets what MNEMONIC, "add.rn.f64", says.  Fails for a name, a suffix or a type that the table does
   not have. */
void ptx_decode(PtxInst *inst, const char *mnemonic, size_t len, PtxFailure *failure);
const char *ptx_op_name(PtxOp op);
/* How many operands OP takes; the second number of call and the like is checked by the parser. */
unsigned ptx_op_operands(PtxOp op);

#endif
