/* How a random program is run. */
#ifndef ADL_TESTS_FUZZ_RANDOM_SETTING_H
#define ADL_TESTS_FUZZ_RANDOM_SETTING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Setting {
    uint64_t seed; /* of the arguments, too */
    int n, m;      /* sizes of its arguments */
    int result;    /* 0: f64; 1: [n]f64; 2: both */
    int width;     /* of batches */
    unsigned entries; /* the entry points that it has, as bits */
    bool single;   /* has f32 */
    bool ordered;  /* no sum is so long that compiled code adds in another order */
    bool smooth;   /* finite differences make sense */
    bool nudged;   /* its arguments are changed in their last bits */
    bool derived;  /* there are derivatives within, which passes may round otherwise */
} Setting;

/* The first line of a program. */
#define SETTING_FORMAT                                                                             \
    "// seed %llu n %d m %d result %d width %d entries %u single %d ordered %d smooth %d " \
    "derived %d"

typedef enum Entry {
    RUN_VALUE,
    RUN_JVP,
    RUN_GRAD,
    RUN_SPLIT,
    RUN_BATCH,
    RUN_LANES,
    RUN_SECOND,
    RUN_REVERSE,
    RUN_SHADOW,
    RUN_COUNT
} Entry;

#endif
