/* Makes a program that shows a fault smaller. */
#ifndef ADL_TESTS_FUZZ_RANDOM_SHRINK_H
#define ADL_TESTS_FUZZ_RANDOM_SHRINK_H

#include "tests/fuzz/random/tree.h"

/* Does the program as it stands still show the fault? */
typedef bool (*ShrinkTest)(void *data, const RandomProgram *program);

/* At most ATTEMPTS tests. */
void shrink(Arena *arena, RandomProgram *program, uint32_t attempts, ShrinkTest test, void *data);

#endif
