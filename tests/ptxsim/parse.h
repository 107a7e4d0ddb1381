/* What the two files of the parser share: parse.c has modules and declarations, body.c functions.
 */
#ifndef ADL_PTXSIM_PARSE_H
#define ADL_PTXSIM_PARSE_H

#include "tests/ptxsim/lex.h"

/* A name in a scope: a register, memory, a function or the place of an instruction. */
typedef enum NameKind { NAME_REG, NAME_SYMBOL, NAME_FUNC, NAME_LABEL, NAME_TARGETS } NameKind;

typedef struct PtxName {
    struct PtxName *next;
    NameKind kind;
    const char *text;
    size_t len;
    uint32_t index; /* register, instruction, first of the parts of a list of labels */
    uint32_t count; /* of such a list */
    PtxSymbol *symbol;
    PtxFunc *func;
    uint32_t depth; /* of braces */
} PtxName;

/* A label that was used before it was placed. */
typedef struct PtxFixup {
    struct PtxFixup *next;
    const char *text;
    uint32_t line;
    uint32_t inst, operand; /* operand PTX_OPERANDS and more: an index into the parts, plus that */
} PtxFixup;

typedef struct PtxParser {
    PtxLexer lex;
    PtxModule *module;
    PtxAllocate *allocate;
    void *user;
    PtxName *globals, *names; /* of the module; of the function, innermost first */
    uint32_t depth;
    PtxFunc *func; /* the one being read */
    uint32_t inst_room, part_room, reg_room;
    PtxFixup *fixups;
} PtxParser;

/* Memory that lives as long as the module, zeroed. */
void *ptx_new(PtxParser *p, size_t size);
void *ptx_grow(PtxParser *p, void *old, size_t count, uint32_t *room, size_t item);
const char *ptx_name_copy(PtxParser *p, const char *text, size_t len);

bool ptx_at(const PtxParser *p, const char *text);
bool ptx_accept(PtxParser *p, const char *text);
void ptx_expect(PtxParser *p, const char *text);
const char *ptx_take_name(PtxParser *p);
uint64_t ptx_take_number(PtxParser *p);
_Noreturn void ptx_unexpected(PtxParser *p);

PtxName *ptx_find(PtxParser *p, const char *text, size_t len);
PtxName *ptx_declare(PtxParser *p, NameKind kind, const char *text);

/* A declaration of memory behind its space: ".align 8 .b8 name[16]". */
PtxSymbol *ptx_parse_variable(PtxParser *p, PtxSpace space);
/* Room for SYMBOL at the end of SIZE bytes. */
void ptx_place(PtxSymbol *symbol, uint64_t *size);
/* The braces and what is in them. */
void ptx_parse_body(PtxParser *p);

#endif
