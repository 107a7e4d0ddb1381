/* One tape, pulled by eight threads at once: each must get what one thread gets. */
#include "swing.h"

#include <adl/adl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, PULLS = 50 };

typedef struct Job {
    const adl_tape *tape;
    double seed[2], ds[2], dk;
    int error;
} Job;

static void *pull(void *data)
{
    Job *job = data;
    for (int i = 0; i < PULLS && !job->error; i++)
        job->error = swing_reverse(job->seed, job->tape, job->ds, &job->dk);
    return NULL;
}

int main(void)
{
    const double s[2] = {0.5, 0.0};
    adl_tape *tape = NULL;
    if (swing_forward(s, 9.81, 200, &tape)) {
        fprintf(stderr, "%s\n", adl_last_error_message());
        return 1;
    }
    Job alone = {tape, {1.0, 0.25}, {0.0, 0.0}, 0.0, 0}, jobs[THREADS];
    pthread_t threads[THREADS];
    pull(&alone);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (Job){tape, {1.0, 0.25}, {0.0, 0.0}, 0.0, 0};
        if (pthread_create(&threads[i], NULL, pull, &jobs[i])) return 1;
    }
    int same = alone.error == 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        same = same && jobs[i].error == 0 && !memcmp(jobs[i].ds, alone.ds, sizeof alone.ds) &&
               jobs[i].dk == alone.dk;
    }
    printf("%d threads, %d pulls each, one tape of %lld bytes: %s\n", THREADS, PULLS,
           (long long)adl_tape_bytes(tape), same ? "all the same" : "different");
    adl_tape_free(&tape);
    return same ? 0 : 1;
}
