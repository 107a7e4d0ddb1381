/* Response files: @FILE on the command line stands for the words of FILE. */
#ifndef ADL_DRIVER_RESPONSE_H
#define ADL_DRIVER_RESPONSE_H

#include "base/arena.h"
#include "base/options.h"
#include "source/diag.h"

/* Replaces each word @FILE of WORDS by the words of FILE, up to the first word that is a file
   where COMMAND gives the rest to the program.  Mistakes are reported. */
void response_expand(Arena *arena, Diags *diags, TextList *words, CommandKind command);

#endif
