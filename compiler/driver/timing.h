/* --time-passes: how long each stage took. */
#ifndef ADL_DRIVER_TIMING_H
#define ADL_DRIVER_TIMING_H

#include <stdio.h>

#include "base/vec.h"

typedef struct TimingRow {
    const char *stage;
    double seconds;
} TimingRow;

typedef struct Timing {
    VEC(TimingRow) rows;
    double last; /* when the last stage ended */
} Timing;

void timing_begin(Timing *timing);
/* The time since the last call belongs to STAGE (times of one name are added up). */
void timing_note(Timing *timing, const char *stage);
void timing_print(const Timing *timing, FILE *out);
void timing_free(Timing *timing);

#endif
