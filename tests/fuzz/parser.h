/* The entry of the parser's fuzzer, under the name that libFuzzer calls. */
#ifndef ADL_TESTS_FUZZ_PARSER_H
#define ADL_TESTS_FUZZ_PARSER_H

#include <stddef.h>
#include <stdint.h>

/* Ends the process if a promise is broken; always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
