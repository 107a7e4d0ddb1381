/* test_tapes.c: tapes are written once and read any number of times. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* What generated code does inline. */
static void *push(AdlContext *context, AdlTape *tape, int64_t bytes) {
    char *entry = tape->cur;
    if (tape->end - entry >= bytes) {
        tape->cur = entry + bytes;
        return entry;
    }
    return adl__tape_push_slow(context, tape, bytes);
}

static void *pop(AdlCursor *cursor, int64_t bytes) {
    if (cursor->cur == cursor->begin) adl__tape_back(cursor);
    return cursor->cur -= bytes;
}

static int64_t entry_bytes(int64_t i) {
    return 8 * (1 + i * i % 97);
}

START_TEST(what_is_pushed_comes_back_in_reverse) {
    AdlContext context;
    failing_install(0);
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 42);
    int64_t total = 0;
    for (int64_t i = 0; i < 5000; i++) {
        int64_t *entry = push(&context, tape, entry_bytes(i));
        ck_assert_ptr_nonnull(entry);
        memset(entry, (int)i, (size_t)entry_bytes(i));
        *entry = i;
        total += entry_bytes(i);
    }
    adl__tape_seal(tape);
    ck_assert_int_eq(adl__tape_bytes(tape), total);
    for (int round = 0; round < 2; round++) {
        AdlCursor cursor;
        adl__tape_last(tape, &cursor);
        for (int64_t i = 4999; i >= 0; i--)
            ck_assert_int_eq(*(int64_t *)pop(&cursor, entry_bytes(i)), i);
        adl__tape_first(tape, &cursor);
        for (int64_t i = 0; i < 5000; i++) {
            if (cursor.cur == cursor.end) adl__tape_next(&cursor);
            ck_assert_int_eq(*(int64_t *)(void *)cursor.cur, i);
            cursor.cur += entry_bytes(i);
        }
    }
    adl__tape_release(&context, tape);
    ck_assert_ptr_null(context.tapes);
    adl__context_end(&context, 0);
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

START_TEST(a_rewound_tape_is_written_again) {
    AdlContext context;
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 0);
    AdlCursor empty, mark;
    adl__tape_mark(tape, &empty);
    *(int64_t *)adl__tape_push(&context, tape, 5) = 11;
    adl__tape_mark(tape, &mark);
    int64_t chunks = 0;
    for (int round = 0; round < 3; round++) {
        for (int64_t i = 0; i < 3000; i++)
            *(int64_t *)adl__tape_push(&context, tape, 8) = round * 10000 + i;
        adl__tape_seal(tape);
        AdlCursor cursor;
        adl__tape_last(tape, &cursor);
        for (int64_t i = 2999; i >= 0; i--)
            ck_assert_int_eq(*(int64_t *)pop(&cursor, 8), round * 10000 + i);
        ck_assert_int_eq(*(int64_t *)pop(&cursor, 8), 11);
        int64_t count = 0;
        for (AdlChunk *chunk = tape->first; chunk; chunk = chunk->next) count++;
        ck_assert(round == 0 || count == chunks);
        chunks = count;
        adl__tape_rewind(&context, tape, &mark);
        ck_assert_int_eq(adl__tape_bytes(tape), 8);
    }
    adl__tape_rewind(&context, tape, &empty);
    ck_assert_int_eq(adl__tape_bytes(tape), 0);
    ck_assert_ptr_nonnull(adl__tape_push(&context, tape, 100000)); /* larger than any chunk */
    ck_assert_int_eq(adl__tape_bytes(tape), 100000);
    adl__context_end(&context, 0);
}
END_TEST

START_TEST(empty_and_impossible_entries) {
    AdlContext context;
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 0);
    ck_assert_ptr_nonnull(adl__tape_push(&context, tape, 0));
    ck_assert_int_eq(adl__tape_bytes(tape), 0);
    AdlCursor cursor;
    adl__tape_last(tape, &cursor);
    ck_assert_ptr_eq(cursor.cur, cursor.begin);
    adl__tape_back(&cursor);
    ck_assert_ptr_null(adl__tape_push(&context, tape, INT64_MAX));
    ck_failed(&context, ADL_ERROR_MEMORY, "out of memory: 9223372036854775807 bytes");
}
END_TEST

START_TEST(a_tape_keeps_arrays) {
    AdlContext context;
    failing_install(0);
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 0);
    int64_t *data = adl__alloc(&context, 80);
    data[0] = 3;
    ck_assert_ptr_eq(adl__tape_keep(&context, tape, data, 80), data);
    ck_assert_int_eq(adl__unique(&context, data), 0);
    adl__release(&context, data);
    ck_assert_int_eq(data[0], 3);
    ck_assert_int_eq(adl__tape_bytes(tape), 80);
    adl__tape_release(&context, tape);
    ck_assert_ptr_null(context.live);
    adl__context_end(&context, 0);
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

START_TEST(a_tape_copies_memory_of_the_caller) {
    AdlContext context;
    double *mine = malloc(16);
    mine[0] = 4, mine[1] = 5;
    adl__context_begin(&context);
    const void *foreign[] = {mine};
    context.foreign = foreign;
    context.foreign_count = 1;
    AdlTape *tape = adl__tape_new(&context, 0);
    double *kept = adl__tape_keep(&context, tape, mine, 16);
    ck_assert_ptr_ne(kept, mine);
    mine[1] = 0;
    ck_assert_double_eq(kept[1], 5);
    adl__tape_release(&context, tape);
    ck_assert_ptr_null(context.live);
    adl__context_end(&context, 0);
    free(mine);
}
END_TEST

/* A tape with an array that has another name too, a child with an entry, and an inner tape. */
static AdlTape *make_exported(void) {
    AdlContext context;
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 7), *inner = adl__tape_new(&context, 8);
    double *data = adl__alloc(&context, 8);
    data[0] = 2.5;
    *(void **)adl__tape_push(&context, tape, 8) = adl__tape_keep(&context, tape, data, 8);
    ck_assert_ptr_nonnull(adl__tape_keep(&context, inner, data, 8));
    AdlTape *child = adl__tape_child(&context, tape);
    *(int64_t *)adl__tape_push(&context, child, 8) = 77;
    *(void **)adl__tape_push(&context, tape, 8) = child;
    ck_assert_int_eq(adl__tape_keep_tape(&context, tape, inner), 0);
    adl__retain(&context, data); /* never released: the context's end is enough */
    adl__alloc(&context, 100);
    adl__tape_export(&context, tape, 0);
    ck_assert_int_eq(adl__context_end(&context, 0), 0);
    return tape;
}

/* What ends before the tape may, and a small part of a block, are not held. */
START_TEST(a_tape_holds_blocks) {
    AdlContext context;
    failing_install(0);
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 1);
    double *data = adl__alloc(&context, 1000), caller[4];
    const void *foreign[] = {caller};
    struct {
        AdlBlock block;
        double data[4];
    } fixed = {.block = {.refs = ADL_REFS_STATIC}}, stack = {.block = {.refs = ADL_REFS_STACK}},
      written = {.block = {.refs = 1, .spare = 1, .owner = &context}};
    context.foreign = foreign;
    context.foreign_count = 1;
    ck_assert_int_eq(adl__tape_hold(&context, tape, NULL, 1000), 0);
    ck_assert_int_eq(adl__tape_hold(&context, tape, caller, 32), 0);
    ck_assert_int_eq(adl__tape_hold(&context, tape, stack.data, 32), 0);
    ck_assert_int_eq(adl__tape_hold(&context, tape, written.data, 32), 0);
    ck_assert_int_eq(adl__tape_hold(&context, tape, data, 499), 0);
    ck_assert_uint_eq(adl_tape_bytes(tape), 0);
    ck_assert_int_eq(adl__tape_hold(&context, tape, fixed.data, 32), 1);
    ck_assert_uint_eq(adl_tape_bytes(tape), 0);
    ck_assert(adl__unique(&context, data));
    ck_assert_int_eq(adl__tape_hold(&context, tape, data, 500), 1);
    ck_assert_uint_eq(adl_tape_bytes(tape), 1000);
    ck_assert(!adl__unique(&context, data));
    adl__release(&context, data);
    data[124] = 2.5;
    adl__tape_export(&context, tape, 0);
    ck_assert_int_eq(adl__context_end(&context, 0), 0);
    ck_assert(data[124] == 2.5);
    ck_assert_int_eq(adl_tape_free(&tape), ADL_OK);
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

START_TEST(a_tape_outlives_its_context) {
    failing_install(0);
    AdlTape *tape = make_exported();
    for (int round = 0; round < 2; round++) {
        AdlContext context;
        adl__context_begin(&context);
        ck_assert_int_eq(adl__tape_check(&context, NULL, tape, 7, "f"), 0);
        AdlCursor cursor;
        adl__tape_last(tape, &cursor);
        AdlTape *child = *(AdlTape **)pop(&cursor, 8);
        double *data = *(double **)pop(&cursor, 8);
        adl__tape_last(child, &cursor);
        ck_assert_int_eq(*(int64_t *)pop(&cursor, 8), 77);
        ck_assert_double_eq(data[0], 2.5);
        adl__retain(&context, data);
        ck_assert_int_eq(adl__unique(&context, data), 0);
        adl__tape_retain(&context, tape);
        adl__fail_text(&context, ADL_ERROR_ASSERT, NULL, "stop"); /* nothing released */
        adl__context_end(&context, ADL_ERROR_ASSERT);
    }
    ck_assert_uint_eq(adl_tape_bytes(tape), 8 + 8 + 8 + 8 + 8);
    ck_assert_int_eq(adl_tape_free(&tape), ADL_OK);
    ck_assert_ptr_null(tape);
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

/* Reads the tape of make_exported many times, keeping it in tapes of its own. */
static void *read_often(void *env) {
    AdlTape *tape = env;
    for (int round = 0; round < 200; round++) {
        AdlContext context;
        adl__context_begin(&context);
        AdlTape *own = adl__tape_new(&context, 1);
        AdlCursor cursor;
        adl__tape_first(tape, &cursor);
        double *kept = *(double **)(void *)cursor.cur;
        bool ok = adl__tape_keep(&context, own, kept, 8) == kept && *kept == 2.5 &&
                  adl__tape_keep_tape(&context, own, tape) == 0;
        if (round % 2) {
            adl__tape_export(&context, own, 0);
            adl__context_end(&context, 0);
            ok = ok && adl_tape_free(&own) == 0;
        } else
            adl__context_end(&context, 0);
        if (!ok) return NULL;
    }
    return tape;
}

START_TEST(several_threads_read_one_tape) {
    AdlTape *tape = make_exported();
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_often, tape), 0);
    for (int i = 0; i < 3; i++) {
        void *result;
        ck_assert_int_eq(pthread_join(threads[i], &result), 0);
        ck_assert_ptr_eq(result, tape);
    }
    ck_assert_int_eq(adl_tape_free(&tape), 0);
}
END_TEST

/* Allocates, frees and writes child tapes in a context that others use too. */
static void *share_context(void *env) {
    AdlTape *tape = env;
    AdlContext *context = tape->owner;
    for (int i = 0; i < 500; i++) {
        char *data = adl__alloc(context, 100 * (i % 7));
        AdlTape *child = adl__tape_child(context, tape);
        if (!data || !child || !adl__tape_keep(context, tape, data, 1)) return NULL;
        *(int64_t *)adl__tape_push(context, child, 8) = i;
        adl__retain(context, data);
        adl__release(context, data);
        adl__release(context, data);
    }
    return tape;
}

START_TEST(several_threads_share_one_context) {
    AdlContext context;
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 1);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, share_context, tape), 0);
    for (int i = 0; i < 3; i++) {
        void *result;
        ck_assert_int_eq(pthread_join(threads[i], &result), 0);
        ck_assert_ptr_eq(result, tape);
    }
    ck_assert_int_eq(tape->children_count, 1500);
    adl__tape_release(&context, tape);
    ck_assert_ptr_null(context.live);
    ck_assert_ptr_null(context.tapes);
    adl__context_end(&context, 0);
}
END_TEST

START_TEST(a_tape_may_hold_one_of_the_caller) {
    failing_install(0);
    AdlTape *inner = make_exported();
    for (int fails = 0; fails < 2; fails++) {
        AdlContext context;
        adl__context_begin(&context);
        AdlTape *outer = adl__tape_new(&context, 9);
        ck_assert_int_eq(adl__tape_keep_tape(&context, outer, inner), 0);
        AdlCursor cursor;
        adl__tape_first(inner, &cursor);
        void *data = *(void **)(void *)cursor.cur;
        ck_assert_ptr_eq(adl__tape_keep(&context, outer, data, 8), data);
        if (fails) {
            adl__context_end(&context, ADL_ERROR_ASSERT);
            continue;
        }
        adl__tape_export(&context, outer, 0);
        adl__context_end(&context, 0);
        ck_assert_int_eq(adl_tape_free(&outer), ADL_OK);
    }
    AdlContext context;
    adl__context_begin(&context);
    AdlTape *outer = adl__tape_new(&context, 9);
    ck_assert_int_eq(adl__tape_keep_tape(&context, outer, inner), 0);
    adl__tape_export(&context, outer, 0);
    adl__context_end(&context, 0);
    ck_assert_int_eq(adl_tape_free(&inner), ADL_OK);
    ck_assert_uint_eq(adl_tape_bytes(outer), 40);
    ck_assert_int_eq(adl_tape_free(&outer), ADL_OK);
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

START_TEST(deep_nests_of_tapes_are_freed) {
    failing_install(0);
    AdlContext context;
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 0);
    for (int i = 0; i < 200000; i++) {
        AdlTape *outer = adl__tape_new(&context, 0);
        ck_assert_int_eq(adl__tape_keep_tape(&context, outer, tape), 0);
        adl__tape_release(&context, tape);
        tape = outer;
    }
    adl__tape_export(&context, tape, 0);
    adl__context_end(&context, 0);
    ck_assert_int_eq(adl_tape_free(&tape), 0);
    ck_assert_int_eq(failing_remove(), 0);
}
END_TEST

START_TEST(wrong_tapes_are_refused) {
    AdlContext context;
    adl_tape *none = NULL;
    ck_assert_int_eq(adl_tape_free(NULL), ADL_ERROR_TAPE);
    ck_assert_int_eq(adl_tape_free(&none), ADL_ERROR_TAPE);
    ck_assert_uint_eq(adl_tape_bytes(NULL), 0);
    adl__context_begin(&context);
    adl__tape_check(&context, NULL, NULL, 7, "nll");
    ck_failed(&context, ADL_ERROR_TAPE, "the tape of nll is NULL");
    adl__context_begin(&context);
    AdlTape *tape = adl__tape_new(&context, 1);
    adl__tape_check(&context, NULL, tape, 7, "nll");
    ck_failed(&context, ADL_ERROR_TAPE,
              "the tape is not one of nll, or of other activities or options");
}
END_TEST

START_TEST(every_allocation_may_fail) {
    for (int n = 1; n < 30; n++) {
        failing_install(n);
        AdlContext context;
        adl__context_begin(&context);
        AdlTape *tape = adl__tape_new(&context, 0);
        for (int i = 0; tape && i < 20; i++) {
            void *data = adl__alloc(&context, 500);
            if (!data || !adl__tape_keep(&context, tape, data, 500) ||
                !adl__tape_child(&context, tape) || !adl__tape_push(&context, tape, 4000))
                break;
            adl__release(&context, data);
        }
        adl__context_end(&context, context.error);
        ck_assert_int_eq(failing_remove(), 0);
    }
}
END_TEST

TCase *tests_of_tapes(void) {
    TCase *tests = tcase_create("tapes");
    tcase_add_test(tests, what_is_pushed_comes_back_in_reverse);
    tcase_add_test(tests, a_rewound_tape_is_written_again);
    tcase_add_test(tests, empty_and_impossible_entries);
    tcase_add_test(tests, a_tape_keeps_arrays);
    tcase_add_test(tests, a_tape_copies_memory_of_the_caller);
    tcase_add_test(tests, a_tape_holds_blocks);
    tcase_add_test(tests, a_tape_outlives_its_context);
    tcase_add_test(tests, several_threads_read_one_tape);
    tcase_add_test(tests, several_threads_share_one_context);
    tcase_add_test(tests, a_tape_may_hold_one_of_the_caller);
    tcase_add_test(tests, deep_nests_of_tapes_are_freed);
    tcase_add_test(tests, wrong_tapes_are_refused);
    tcase_add_test(tests, every_allocation_may_fail);
    return tests;
}
