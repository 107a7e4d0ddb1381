/* test_functions.c: scalar functions against values computed with 40 digits. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "support.h"

typedef struct Sample {
    double x, y;
} Sample;

static const Sample digamma_samples[] = {
    {1.0, -0.57721566490153286061},
    {0.5, -1.9635100260214234794},
    {2.0, 0.42278433509846713939},
    {1.4616321449683622, -9.2412655217294275168e-17},
    {1.4616321449683625, 1.2245374622004069031e-16},
    {1.46, -0.0015805619870834521062},
    {0.001, -1000.5755719318102797},
    {-0.5, 0.036489973978576520559},
    {-14.5, 2.7082352425903654326},
    {-3.9999, -9998.4935754561890713},
    {-1.25, 3.7141391202135278304},
    {5.5, 1.6110931485817511237},
    {9.999, 2.2516474172057353142},
    {10.0, 2.2517525890667211076},
    {123.456, 4.8118293238289854123},
    {10000000000.0, 23.02585092989045684},
    {1e-08, -100000000.57721564636},
    {-100.3, 6.895643124860435035},
};
static const Sample trigamma_samples[] = {
    {1.0, 1.6449340668482264365},
    {0.5, 4.9348022005446793094},
    {2.0, 0.64493406684822643647},
    {0.001, 1000001.6425331958273},
    {-0.5, 8.9348022005446793094},
    {-1.25, 19.181879647671606498},
    {-14.5, 9.8029623875060826482},
    {11.9, 0.087663201190004183574},
    {12.0, 0.08690187287176839075},
    {50.5, 0.019999333426637159775},
    {100000000.0, 1.0000000050000000167e-8},
};
static const Sample erfinv_samples[] = {
    {0.0, 0.0},
    {0.1, 0.088855990494257691974},
    {-0.5, -0.47693627620446987338},
    {0.9, 1.1630871536766741628},
    {0.999999, 3.4589107372754987775},
    {-0.9999999999, -4.5728249585449249378},
    {1e-300, 8.8622692545275803586e-301},
    {0.85, 1.0179024648320275882},
    {0.86, 1.0435418436397588376},
};
static const Sample erfcinv_samples[] = {
    {1.0, 0.0},
    {0.5, 0.47693627620446987338},
    {0.001, 2.3267537655135246664},
    {1.9, -1.1630871536766737823},
    {1e-20, 6.6015806223551425656},
    {1e-300, 26.209469960516123886},
    {1.25, -0.22531205501217810473},
};
static const Sample ndtr_samples[] = {
    {0.0, 0.5},
    {1.0, 0.84134474606854294859},
    {-1.0, 0.15865525393145705141},
    {-5.0, 2.8665157187919391167e-7},
    {-10.3, 3.5230650789264125919e-25},
    {-30.7, 2.8458302208738191641e-207},
    {-37.5, 4.6053530095819548438e-308},
    {8.0, 0.9999999999999993779},
};
static const Sample log_ndtr_samples[] = {
    {0.0, -0.69314718055994530942},      {3.0, -0.0013508099647481937988},
    {-3.0, -6.6077262215103495433},      {-19.9, -201.91716770733259757},
    {-20.1, -205.92711840194824576},     {-40.0, -804.60844201375378817},
    {-100000.0, -5000000012.4318639983}, {10.0, -7.6198530241605260704e-24},
};
static const Sample ndtri_samples[] = {
    {0.5, 0.0},
    {0.975, 1.9599639845400538556},
    {0.001, -3.0902323061678135354},
    {1e-10, -6.3613409024040561991},
    {1e-300, -37.047096299361199237},
    {0.075, -1.4395314709384559349},
    {0.925, 1.4395314709384562291},
    {0.3, -0.52440051270804081597},
};

static void compare(const char *name, double (*f)(double), const Sample *samples, size_t count,
                    double tolerance) {
    for (size_t i = 0; i < count; i++) {
        double y = f(samples[i].x);
        ck_assert_msg(fabs(y - samples[i].y) <= tolerance * fabs(samples[i].y),
                      "%s(%.17g) = %.17g, not %.17g", name, samples[i].x, y, samples[i].y);
    }
}

#define COMPARE(name, tolerance)                                                                   \
    compare(#name, adl__##name##_f64, name##_samples, sizeof name##_samples / sizeof(Sample),      \
            (tolerance))

START_TEST(gamma_functions) {
    COMPARE(digamma, 1e-14);
    COMPARE(trigamma, 4e-15);
    ck_assert_double_eq(adl__digamma_f64(-14.5), 2.7082352425903654);
    ck_assert_double_eq(adl__digamma_f64(1), -0.57721566490153286);
    ck_assert(isnan(adl__digamma_f64(-3)));
    ck_assert_double_eq(adl__digamma_f64(0.0), -INFINITY);
    ck_assert_double_eq(adl__digamma_f64(-0.0), INFINITY);
    ck_assert_double_eq(adl__digamma_f64(INFINITY), INFINITY);
    ck_assert(isnan(adl__digamma_f64(NAN)));
    ck_assert(isnan(adl__digamma_f64(-INFINITY)));
    ck_assert_double_eq(adl__trigamma_f64(-2), INFINITY);
    ck_assert_double_eq(adl__trigamma_f64(INFINITY), 0);
    ck_assert_float_eq(adl__digamma_f32(1), -0.5772157f);
    ck_assert_double_eq(adl__lgamma_f64(-0.5), 1.2655121234846454);
    ck_assert_double_eq(adl__lgamma_f64(-1), INFINITY);
}
END_TEST

START_TEST(normal_functions) {
    COMPARE(erfinv, 1e-15);
    COMPARE(erfcinv, 1e-15);
    COMPARE(ndtr, 2e-15);
    COMPARE(log_ndtr, 2e-15);
    COMPARE(ndtri, 2e-15);
    ck_assert_double_eq(adl__erfinv_f64(1), INFINITY);
    ck_assert_double_eq(adl__erfinv_f64(-1), -INFINITY);
    ck_assert(isnan(adl__erfinv_f64(1.5)));
    ck_assert_double_eq(adl__ndtri_f64(0), -INFINITY);
    ck_assert_double_eq(adl__ndtri_f64(1), INFINITY);
    ck_assert(isnan(adl__ndtri_f64(-0.1)));
    ck_assert_double_eq(adl__erfcinv_f64(0), INFINITY);
    ck_assert_double_eq(adl__erfcinv_f64(2), -INFINITY);
    ck_assert_double_eq(adl__log_ndtr_f64(-INFINITY), -INFINITY);
    ck_assert_double_eq(adl__ndtr_f64(-INFINITY), 0);
    ck_assert_double_eq(adl__ndtr_f64(INFINITY), 1);
}
END_TEST

START_TEST(integer_powers) {
    ck_assert_double_eq(adl__pown_f64(3, 2), 9);
    ck_assert_double_eq(adl__pown_f64(-3, 3), -27);
    ck_assert_double_eq(adl__pown_f64(0, 0), 1);
    ck_assert_double_eq(adl__pown_f64(NAN, 0), 1);
    ck_assert_double_eq(adl__pown_f64(0, -1), INFINITY);
    ck_assert_double_eq(adl__pown_f64(-0.0, -1), -INFINITY);
    ck_assert_double_eq(adl__pown_f64(-0.0, -2), INFINITY);
    ck_assert_double_eq(adl__pown_f64(4, -2), 0.0625);
    ck_assert_double_eq(adl__pown_f64(2, -1074), DBL_TRUE_MIN);
    ck_assert_double_eq(adl__pown_f64(2, -1075), 0);
    ck_assert_double_eq(adl__pown_f64(0.5, -1023), ldexp(1, 1023));
    ck_assert_double_eq(adl__pown_f64(1, INT64_MIN), 1);
    ck_assert_double_eq(adl__pown_f64(-1, INT64_MAX), -1);
    ck_assert_double_eq(adl__pown_f64(2, INT64_MIN), 0);
    ck_assert_double_eq(adl__pown_f64(INFINITY, -3), 0);
    ck_assert_float_eq(adl__pown_f32(3, 4), 81);
    ck_assert_float_eq(adl__pown_f32(2, -149), FLT_TRUE_MIN);
}
END_TEST

START_TEST(floored_remainders) {
    ck_assert_double_eq(adl__mod_f64(5.5, 2), 1.5);
    ck_assert_double_eq(adl__mod_f64(-5.5, 2), 0.5);
    ck_assert_double_eq(adl__mod_f64(5.5, -2), -0.5);
    ck_assert_double_eq(adl__mod_f64(-4, 2), 0);
    ck_assert(signbit(adl__mod_f64(4, -2)));
    ck_assert(isnan(adl__mod_f64(1, 0)));
    ck_assert_float_eq(adl__mod_f32(-1, 3), 2);
}
END_TEST

START_TEST(storage_types_round_to_nearest_even) {
    /* Every half goes there and back. */
    for (unsigned h = 0; h < 65536; h++) {
        float f = adl__f16_to_f32((uint16_t)h), b = adl__bf16_to_f32((uint16_t)h);
        ck_assert(isnan(f) ? (h & 0x7fff) > 0x7c00 : adl__f16_from_f32(f) == h);
        ck_assert(isnan(b) ? (h & 0x7fff) > 0x7f80 : adl__bf16_from_f32(b) == h);
    }
    ck_assert_uint_eq(adl__f16_from_f32(1.0f), 0x3c00);
    ck_assert_uint_eq(adl__f16_from_f32(-2.0f), 0xc000);
    ck_assert_uint_eq(adl__f16_from_f32(65504.0f), 0x7bff);
    ck_assert_uint_eq(adl__f16_from_f32(65519.9f), 0x7bff);
    ck_assert_uint_eq(adl__f16_from_f32(65520.0f), 0x7c00);
    ck_assert_uint_eq(adl__f16_from_f64(1.0 + 0x1p-11), 0x3c00);
    ck_assert_uint_eq(adl__f16_from_f64(1.0 + 0x3p-11), 0x3c02);
    ck_assert_uint_eq(adl__f16_from_f64(1.0 + 0x1p-11 + 0x1p-50), 0x3c01); /* rounded once */
    ck_assert_uint_eq(adl__f16_from_f64(0x1p-25), 0);
    ck_assert_uint_eq(adl__f16_from_f64(0x1.8p-25), 1);
    ck_assert_uint_eq(adl__f16_from_f64(-1e-300), 0x8000);
    ck_assert_uint_eq(adl__f16_from_f64(1e300), 0x7c00);
    ck_assert_uint_eq(adl__bf16_from_f64(1.0 + 0x1p-8), 0x3f80);
    ck_assert(isnan(adl__f16_to_f32(adl__f16_from_f32(NAN))));
}
END_TEST

TCase *tests_of_functions(void) {
    TCase *tests = tcase_create("functions");
    tcase_add_test(tests, gamma_functions);
    tcase_add_test(tests, normal_functions);
    tcase_add_test(tests, integer_powers);
    tcase_add_test(tests, floored_remainders);
    tcase_add_test(tests, storage_types_round_to_nearest_even);
    return tests;
}
