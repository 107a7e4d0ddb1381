/* normal.c: the normal distribution function, its logarithm and its inverse, and the inverses of
   erf and erfc.

   The inverse is Wichura's algorithm AS 241 (PPND16), about 1e-16 relative; it gets the distance
   from the centre and from the nearer end separately, so that nothing is lost in either. */
#include <math.h>

#include "core/calls.h"

#define SQRT_HALF 0.70710678118654752440
#define SQRT_HALF_LOW (-4.8336466567264567e-17) /* what SQRT_HALF lacks */

/* c[7] x^7 + … + c[0]. */
static double polynomial7(const double c[8], double x) {
    double y = c[7];
    for (int i = 6; i >= 0; i--) y = y * x + c[i];
    return y;
}

/* The quantile of 0.5 + Q, where TAIL is the smaller of 0.5 + Q and 0.5 - Q. */
static double quantile(double q, double tail) {
    static const double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                               1.9715909503065514427e+3, 1.3731693765509461125e+4,
                               4.5921953931549871457e+4, 6.7265770927008700853e+4,
                               3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[] = {1.0,
                               4.2313330701600911252e+1,
                               6.8718700749205790830e+2,
                               5.3941960214247511077e+3,
                               2.1213794301586595867e+4,
                               3.9307895800092710610e+4,
                               2.8729085735721942674e+4,
                               5.2264952788528545610e+3};
    static const double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                               5.76949722146069140550e0,  3.64784832476320460504e0,
                               1.27045825245236838258e0,  2.41780725177450611770e-1,
                               2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[] = {1.0,
                               2.05319162663775882187e0,
                               1.67638483018380384940e0,
                               6.89767334985100004550e-1,
                               1.48103976427480074590e-1,
                               1.51986665636164571966e-2,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
    static const double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                               1.78482653991729133580e0,  2.96560571828504891230e-1,
                               2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[] = {1.0,
                               5.99832206555887937690e-1,
                               1.36929880922735805310e-1,
                               1.48753612908506148525e-2,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial7(a, r) / polynomial7(b, r);
    }
    if (!(tail >= 0)) return NAN;
    if (tail == 0) return copysign(INFINITY, q);
    double r = sqrt(-log(tail));
    double x = r <= 5 ? polynomial7(c, r - 1.6) / polynomial7(d, r - 1.6)
                      : polynomial7(e, r - 5) / polynomial7(f, r - 5);
    return copysign(x, q);
}

double adl__ndtri_f64(double p) {
    return quantile(p - 0.5, p < 0.5 ? p : 1 - p);
}

double adl__erfinv_f64(double x) {
    return SQRT_HALF * quantile(x / 2, (1 - fabs(x)) / 2);
}

double adl__erfcinv_f64(double x) {
    return SQRT_HALF * quantile((1 - x) / 2, (x < 1 ? x : 2 - x) / 2);
}

double adl__ndtr_f64(double x) {
    double z = -x * SQRT_HALF;
    double value = erfc(z);
    /* What rounding took from z, which counts in the far tail: erfc'(z) = -2/sqrt(pi) exp(-z^2). */
    if (z > 1 && z < 30)
        value -=
            1.12837916709551257390 * exp(-z * z) * (fma(-x, SQRT_HALF, -z) - x * SQRT_HALF_LOW);
    return 0.5 * value;
}

double adl__log_ndtr_f64(double x) {
    if (x > 0) return log1p(-adl__ndtr_f64(-x));
    if (x > -20) return log(adl__ndtr_f64(x));
    double s = 1 / (x * x), term = 1, sum = 0;
    for (int k = 1; k <= 19; k += 2) {
        term *= -k * s;
        sum += term;
    }
    return -0.5 * x * x - log(-x) - 0.91893853320467274178 + log1p(sum);
}

float adl__ndtri_f32(float p) {
    return (float)adl__ndtri_f64((double)p);
}

float adl__erfinv_f32(float x) {
    return (float)adl__erfinv_f64((double)x);
}

float adl__erfcinv_f32(float x) {
    return (float)adl__erfcinv_f64((double)x);
}

float adl__ndtr_f32(float x) {
    return (float)adl__ndtr_f64((double)x);
}

float adl__log_ndtr_f32(float x) {
    return (float)adl__log_ndtr_f64((double)x);
}
