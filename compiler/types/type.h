/* Types and sizes.  Both are hash-consed in a TypeTable: equal ones are the same pointer. */
#ifndef ADL_TYPES_TYPE_H
#define ADL_TYPES_TYPE_H

#include "ast/ast.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum Scalar {
#define SCALAR(name, text, cls, bytes) SCALAR_##name,
#include "lang/scalars.def"
#undef SCALAR
    SCALAR_COUNT
} Scalar;

/* ---- sizes: polynomials over size variables in a normal form, so that equal ones are one ---- */
typedef enum SizeKind {
    SIZE_CONST, /* value */
    SIZE_VAR,   /* a name bound by a parameter, a let, or a fresh one */
    SIZE_SUM,   /* terms[0] + terms[1] + ..., each times its coefficient */
    SIZE_PROD,  /* terms[0] * terms[1] * ... */
    SIZE_DIV,   /* terms[0] / terms[1], rounding down */
    SIZE_MOD,
    SIZE_LEAST,
    SIZE_GREATEST, /* minimum, maximum of terms[0], terms[1] */
    SIZE_ANY,      /* `_`: not named, fits all; only in declared types */
} SizeKind;

typedef const struct SizeInfo {
    SizeKind kind;
    int64_t value; /* of CONST */
    uint32_t id;   /* unique; grows in the order of creation */
    Sym name;      /* of VAR, for messages; may be NULL: "a size known at run time" */
    uint32_t nterms;
    const struct SizeInfo **terms; /* of SUM: products, variables, or the constant 1, by id */
    const int64_t *coefs;          /* of SUM */
} * Size;

/* ---- types ---- */
typedef enum TypeKind {
    TYPE_POISON, /* after an error: fits everything, says nothing */
    TYPE_UNIT,   /* no value: a call of a function without result, `()` */
    TYPE_SCALAR,
    TYPE_STR,
    TYPE_ARRAY,  /* elem is never an array */
    TYPE_TUPLE,  /* parts with or without names; names do not matter for conversion */
    TYPE_STRUCT, /* decl + sizes */
    TYPE_FN,     /* as declared: fn(T) -> U; only in declarations */
    TYPE_FNVAL,  /* a function known to the compiler: each is a type of its own, see tree.h */
    TYPE_TAPE,
} TypeKind;

typedef const struct TypeInfo *Type;

typedef struct TypePart {
    Sym name; /* NULL: none */
    Type type;
    uint8_t act; /* ActKind + 1; 0: not written */
    bool mut;    /* in parameters of TYPE_FN */
} TypePart;

struct TypeInfo {
    TypeKind kind;
    Scalar scalar;      /* of SCALAR */
    Type elem;          /* of ARRAY; result of FN (NULL: none) */
    uint8_t result_act; /* of FN */
    uint32_t rank;      /* of ARRAY */
    Size *dims;         /* of ARRAY: rank of them; of STRUCT: nsizes of them */
    uint32_t nparts;    /* of TUPLE, STRUCT (fields with sizes put in), FN (parameters) */
    TypePart *parts;
    const struct StructDecl *decl;
    uint32_t nsizes;
    const struct FnValue *fn;       /* of FNVAL */
    const struct Instance *tape_of; /* of TAPE: the derivative instance; NULL: any */
    bool has_floats;                /* holds f16..f64, complex, at any depth */
    bool has_fns;
    uint32_t weight; /* number of scalars and other leaves it is built of, up to a million */
    uint32_t id;
};

typedef struct TypeTable TypeTable;
TypeTable *type_table_new(Arena *arena, Interner *interner);
void type_table_free(TypeTable *table);

Type type_poison(TypeTable *t);
Type type_unit(TypeTable *t);
Type type_scalar(TypeTable *t, Scalar scalar);
Type type_str(TypeTable *t);
/* Arrays of arrays become one array with the sizes of both. */
Type type_array(TypeTable *t, Type elem, uint32_t rank, const Size *dims);
Type type_tuple(TypeTable *t, uint32_t n, const TypePart *parts);
Type type_fn(TypeTable *t, uint32_t n, const TypePart *params, Type result, uint8_t result_act);
/* The fields with DIMS put in are PARTS; their names are the fields'. */
Type type_struct(TypeTable *t, const struct StructDecl *decl, uint32_t nsizes, const Size *dims,
                 uint32_t nparts, const TypePart *parts);
Type type_fnval(TypeTable *t, const struct FnValue *fn);
Type type_tape(TypeTable *t, const struct Instance *of);
/* T with size variables replaced; MAP: SIZE_VAR's id -> Size. */
Type type_subst(TypeTable *t, Type type, const Map *map);
/* T with every size replaced by `_`: equal for types that differ in sizes only. */
Type type_erase(TypeTable *t, Type type);
/* The array without its first N dimensions; an element if none is left. */
Type type_drop_dims(TypeTable *t, Type array, uint32_t n);
/* T for each index of a space: type_array, but T itself if RANK is 0. */
Type type_add_dims(TypeTable *t, Type type, uint32_t rank, const Size *dims);
/* T with DIM of each of its sizes. */
Type type_map_sizes(TypeTable *t, Type type, Size (*dim)(TypeTable *t, Size size, void *data),
                    void *data);
/* As written in messages: "[n, 3]f64", "(x: f64, ok: bool)". */
void type_print(StrBuf *out, Type type);
const char *type_text(TypeTable *t, Type type); /* in the arena */

Size size_const(TypeTable *t, int64_t value);
Size size_var(TypeTable *t, Sym name); /* a new variable each time */
Size size_any(TypeTable *t);
Size size_plus(TypeTable *t, Size a, Size b);
Size size_minus(TypeTable *t, Size a, Size b);
Size size_times(TypeTable *t, Size a, Size b);
Size size_binary(TypeTable *t, SizeKind kind, Size a, Size b); /* DIV MOD LEAST GREATEST */
Size size_subst(TypeTable *t, Size size, const Map *map);
typedef enum SizeRel { SIZE_EQUAL, SIZE_DIFFERENT, SIZE_UNKNOWN } SizeRel;
SizeRel size_compare(Size a, Size b); /* provably equal, provably different, neither */
void size_print(StrBuf *out, Size size);
const char *size_text(TypeTable *t, Size size);

/* The number of size variables and other sizes made so far: sizes made later have ids from here. */
uint32_t size_mark(const TypeTable *t);
/* Does a variable for which WANT says true occur in it? */
bool size_mentions(Size size, bool (*want)(Size var, void *data), void *data);
bool type_mentions(Type type, bool (*want)(Size var, void *data), void *data);

const char *scalar_name(Scalar scalar);
bool scalar_is_float(Scalar s), scalar_is_int(Scalar s), scalar_is_complex(Scalar s);

#endif
