// The same header in C++, beside another one: tapes, a batch, a seed.
#include "forms.h"
#include "other.h"
#include "forms.h"

#include <adl/adl.h>
#include <cstdio>

int main()
{
    const double x[] = {1.0, -2.0, 3.0};
    double y[3], shadow[3], dx[] = {0.0, 0.0, 0.0}, cube = 0.0;
    adl_tape *tape = nullptr;
    bool good = square_forward(3, x, &tape, y, shadow) == ADL_OK;
    for (double &seed : shadow) seed += 1.0;
    good = good && square_reverse(3, dx, shadow, tape) == ADL_OK && dx[1] == -4.0;
    good = good && other_pull(1.0, tape, &cube) == ADL_ERROR_TAPE;
    good = good && adl_tape_free(&tape) == ADL_OK && tape == nullptr;
    good = good && other_push(2.0, &tape) == ADL_OK && other_pull(1.0, tape, &cube) == ADL_OK;
    good = good && cube == 12.0 && adl_tape_free(&tape) == ADL_OK;
    // One module's tape in the other's reverse pass: y = (2 x)^2, x = 3.
    const double w[] = {2.0}, three[] = {3.0}, one[] = {1.0};
    double dw[1], value[1];
    good = good && layer_forward(1, 1, w, three, &tape, value) == ADL_OK && value[0] == 36.0;
    good = good && other_reverse(1, 1, one, tape, dw, dx) == ADL_OK && dw[0] == 36.0;
    good = good && dx[0] == 24.0 && adl_tape_free(&tape) == ADL_OK;
    good = good && other_forward(1, 1, w, three, &tape) == ADL_OK;
    good = good && layer_reverse(1, 1, one, tape, dw, dx) == ADL_OK && dw[0] == 36.0;
    good = good && layer_reverse_of_x(1, 1, one, tape, dx) == ADL_ERROR_TAPE;
    good = good && adl_tape_free(&tape) == ADL_OK;
    std::printf("1..1\n%s 1 - two headers and a C++ program\n", good ? "ok" : "not ok");
    return good ? 0 : 1;
}
