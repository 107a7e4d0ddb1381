/* What must hold of a random program. */
#ifndef ADL_TESTS_FUZZ_RANDOM_CHECK_H
#define ADL_TESTS_FUZZ_RANDOM_CHECK_H

#include "tests/fuzz/random/setting.h"

/* Runs and compares; calls `fault` if something does not hold.  MODES is a set of bits of
   Mode.  With EXACT the values of all modes are the same to the last bit. */
void check_program_text(const char *text, const Setting *setting, uint32_t modes, bool exact);

#endif
