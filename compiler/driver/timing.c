#define _GNU_SOURCE
#include "driver/timing.h"

#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void timing_begin(Timing *timing) {
    timing->last = now();
}

void timing_note(Timing *timing, const char *stage) {
    double end = now(), seconds = end - timing->last;
    timing->last = end;
    for (uint32_t i = 0; i < timing->rows.len; i++) {
        if (strcmp(timing->rows.at[i].stage, stage) != 0) continue;
        timing->rows.at[i].seconds += seconds;
        return;
    }
    vec_push(&timing->rows, ((TimingRow){stage, seconds}));
}

void timing_print(const Timing *timing, FILE *out) {
    double sum = 0;
    for (uint32_t i = 0; i < timing->rows.len; i++) sum += timing->rows.at[i].seconds;
    for (uint32_t i = 0; i < timing->rows.len; i++) {
        const TimingRow *row = &timing->rows.at[i];
        fprintf(out, "%10.3f ms  %5.1f %%  %s\n", 1e3 * row->seconds,
                sum > 0 ? 100 * row->seconds / sum : 0.0, row->stage);
    }
    fprintf(out, "%10.3f ms  100.0 %%  all\n", 1e3 * sum);
}

void timing_free(Timing *timing) {
    vec_free(&timing->rows);
}
