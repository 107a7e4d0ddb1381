/* Calls in comments of IR cases, shared by the programs that run them:

     ; @f(2.0, [1, 2]) = 3.0, [4, 5]
     ; @g() fails 1: index 7 is out of range 0..5 for x
     ; @h() prints: hello */
#ifndef ADL_TESTS_UNIT_IRCALLS_H
#define ADL_TESTS_UNIT_IRCALLS_H

#include "ir/interp.h"

/* Calls VISIT for each case file of tests/cases/FOLDER: its name and text, which VISIT may change. */
void ir_case_files(const char *folder, void (*visit)(const char *name, char *text, void *data),
                   void *data);
/* Parsed and verified; a failing test otherwise. */
IrModule *ir_case_module(const char *text, const char *what);
/* Runs all calls of TEXT (which is taken apart) on MODULE and compares. */
void ir_case_calls(IrModule *module, char *text, const char *what);

#endif
