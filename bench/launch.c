/* Times a command from its start to its end.

       launch [-n TIMES] [-b SECONDS] [-l SECONDS] [-e FILE] COMMAND [ARGUMENT...]

   Runs it at most TIMES times (default 20) and no more once SECONDS of -b have passed (default 10),
   but once at least.  A run that computes for more than -l seconds (default 120), or lasts five
   times as long, is killed.  Its output goes to /dev/null, but standard error of the last run to
   FILE, if one is given.

   Prints one line: median, least and greatest time in milliseconds, median of the processor's time,
   the number of runs, the greatest memory in MiB; or nothing, with status 1, if a run failed, 2 if
   it was killed for its time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES_MAX = 1000 };

/* Seconds of a run: by the clock and of the processor. */
typedef struct Times {
    double clock, processor;
} Times;

typedef struct Request {
    long times;
    double budget;
    unsigned limit;
    const char *errors;
    char **command;
} Request;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void redirect(int from, const char *path, int flags) {
    int to = open(path, flags, 0666);
    if (to < 0) _exit(126);
    dup2(to, from);
    close(to);
}

static _Noreturn void become(const Request *request) {
    redirect(0, "/dev/null", O_RDONLY);
    redirect(1, "/dev/null", O_WRONLY);
    redirect(2, request->errors ? request->errors : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC);
    struct rlimit limit = {request->limit, request->limit + 1};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(5 * request->limit); /* outlives exec, as the limit does */
    execvp(request->command[0], request->command);
    _exit(127);
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* One run; the status of launch. */
static int run(const Request *request, Times *times, long *kib) {
    int status;
    struct rusage usage;
    double start = now();
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) become(request);
    if (wait4(child, &status, 0, &usage) != child) return 1;
    times->clock = now() - start;
    times->processor = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    if (usage.ru_maxrss > *kib) *kib = usage.ru_maxrss;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU))
        return 2;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

static Request parse(int argc, char **argv) {
    Request request = {20, 10, 120, NULL, NULL};
    int option;
    while ((option = getopt(argc, argv, "+n:b:l:e:")) != -1) {
        if (option == 'n') request.times = atol(optarg);
        if (option == 'b') request.budget = atof(optarg);
        if (option == 'l') request.limit = (unsigned)atol(optarg);
        if (option == 'e') request.errors = optarg;
        if (option == '?') exit(2);
    }
    if (request.times < 1) request.times = 1;
    if (request.times > TIMES_MAX) request.times = TIMES_MAX;
    request.command = argv + optind;
    if (optind == argc) {
        fprintf(stderr, "launch: no command\n");
        exit(2);
    }
    return request;
}

static void sort(double *x, int count) {
    qsort(x, (size_t)count, sizeof *x, compare);
}

int main(int argc, char **argv) {
    Request request = parse(argc, argv);
    double clock[TIMES_MAX], processor[TIMES_MAX], begin = now();
    long kib = 0;
    int count = 0;
    while (count < request.times && (count == 0 || now() - begin < request.budget)) {
        Times times;
        int status = run(&request, &times, &kib);
        if (status) return status;
        clock[count] = times.clock;
        processor[count++] = times.processor;
    }
    sort(clock, count);
    sort(processor, count);
    double middle = 0.5 * (clock[(count - 1) / 2] + clock[count / 2]);
    printf("%.3f\t%.3f\t%.3f\t%.3f\t%d\t%.1f\n", 1e3 * middle, 1e3 * clock[0],
           1e3 * clock[count - 1], 1e3 * processor[0], count, (double)kib / 1024);
    return 0;
}
