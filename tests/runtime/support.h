/* support.h: what the runtime's tests share. */
#ifndef ADL_TESTS_RUNTIME_SUPPORT_H
#define ADL_TESTS_RUNTIME_SUPPORT_H

#include <check.h>
#include <stddef.h>
#include <stdio.h>

#include "core/calls.h"

/* One function for each part, each in test_PART.c. */
TCase *tests_of_memory(void);
TCase *tests_of_errors(void);
TCase *tests_of_tapes(void);
TCase *tests_of_texts(void);
TCase *tests_of_sorting(void);
TCase *tests_of_loops(void);
TCase *tests_of_products(void);
TCase *tests_of_functions(void);
TCase *tests_of_npy(void);
TCase *tests_of_tables(void);
TCase *tests_of_programs(void);

/* An allocator that counts what is alive and fails at the N-th call from now (0: never). */
void failing_install(int n);
/* Back to the C library's; the bytes that were not given back. */
long failing_remove(void);

/* A path in the test's own temporary directory, valid until the next call but three. */
const char *scratch(const char *name);
void write_file(const char *path, const void *bytes, size_t count);
/* The whole file, zero-terminated, in memory to be freed; NULL if there is none. */
char *read_file(const char *path, size_t *count);

/* CONTEXT has failed with CODE and message TEXT; ends it. */
#define ck_failed(context, code, text)                                                             \
    do {                                                                                           \
        ck_assert_int_eq((context)->error, (code));                                                \
        ck_assert_int_eq(adl__context_end((context), (code)), (code));                             \
        ck_assert_str_eq(adl_last_error_message(), (text));                                        \
    } while (0)

#define S(literal) (literal), (int64_t)(sizeof(literal) - 1)

#endif
