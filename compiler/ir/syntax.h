/* The text form of instructions: one pattern for each operation, which the printer writes and the
   parser reads.  Letters stand for parts, everything else for itself:

   A  one operand                         R  the operands left, with commas
   E  [the operands left]                 V  [all that are left but one]
   S  [a third of those behind x]         H  [half of those behind x, without the last]
   I  [imm operands]: sets imm            N  inner [...] and ranks [...] of BUILD, if any
   J  init R, if operands are left        K  the constant, by the result's type
   M  a scalar function: imm              Q  the kind of a reduction: flags
   X  exit, scan: flags of LOOP           C  ta, tb: flags of CONTRACT
   T  text, as a string, or none          G  flags, a number
   D  imm, a number                       P  (ints)
   F  a function

   Attributes that an operation's pattern does not hold are written behind it where they are not
   zero: flags, imm, fimm, ints, text. */
#ifndef ADL_IR_SYNTAX_H
#define ADL_IR_SYNTAX_H

#include "ir/internal.h"

enum { IR_USES_FLAGS = 1, IR_USES_IMM = 2, IR_USES_INTS = 4, IR_USES_TEXT = 8, IR_USES_FIMM = 16 };

const char *ir_syntax(IrOp op);
/* Which attributes the pattern holds: IR_USES_... */
uint32_t ir_syntax_uses(IrOp op);

#endif
