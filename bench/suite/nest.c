/* A loop nest that nest.awk writes, beside one loop of as many trips in C.  Sizes: n trips of each
   loop, depth. */
#include "suite.h"

#include "nest.h"
#include "nest_gradient.h"

SHARED struct {
    int64_t n, trips;
    double x;
} nest_data;
#define P nest_data

REFERENCE double c_nest(double x, int64_t trips) {
    double s = 0.5;
    for (int64_t t = 0; t < trips; t++) s += 0.001 * (x - s * s);
    return s;
}

REFERENCE double c_gradient(double x, int64_t trips) {
    double *tape = take(trips), s = 0.5, ds = 1.0, dx = 0.0;
    for (int64_t t = 0; t < trips; t++) tape[t] = s, s += 0.001 * (x - s * s);
    for (int64_t t = trips - 1; t >= 0; t--) {
        dx += 0.001 * ds;
        ds *= 1.0 - 0.002 * tape[t];
    }
    give(tape);
    return dx;
}

static void make(const int64_t *size) {
    P.n = size[0], P.trips = 1, P.x = 2.5;
    for (int64_t i = 0; i < size[1]; i++) P.trips *= P.n;
}

static int adl_primal(double *out) {
    return nest(P.x, P.n, out);
}
static int adl_gradient(double *out) {
    return nest_gradient(P.x, P.n, out);
}
static void c_primal(double *out) {
    *out = c_nest(P.x, P.trips);
}
static void c_grad(double *out) {
    *out = c_gradient(P.x, P.trips);
}

const Program PROGRAM = {make,
                         NULL,
                         {{"primal", NULL, suite_one, adl_primal, c_primal, NULL},
                          {"gradient", NULL, suite_one, adl_gradient, c_grad, NULL}}};
