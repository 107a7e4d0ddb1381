/* Another library's way of seeing things: a node with a value, a state, and a callback that takes the
   cotangent of the value to those of the inputs.  The callback is the generated reverse pass. */
#include "layer.h"

#include <adl/adl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Node {
    const void *state;
    int (*pull)(const void *state, const double *cotangent, double *inputs[]);
} Node;

enum { M = 3, N = 2 };

static int pull_layer(const void *state, const double *cotangent, double *inputs[])
{
    return layer_reverse(M, N, cotangent, state, inputs[0], inputs[1]);
}

int main(void)
{
    const double W[M * N] = {0.5, -1.0, 0.25, 2.0, -0.75, 0.1}, x[N] = {1.5, -0.5};
    double y[M], dW[M * N], dx[N], *inputs[2] = {dW, dx};
    adl_tape *tape = NULL;
    if (layer_forward(M, N, W, x, &tape, y)) {
        fprintf(stderr, "%s\n", adl_last_error_message());
        return 1;
    }
    Node node = {tape, pull_layer};
    const double cotangent[M] = {1.0, 0.0, 0.0};
    if (node.pull(node.state, cotangent, inputs)) return 1;
    printf("y = %.6f %.6f %.6f   dx = %.6f %.6f\n", y[0], y[1], y[2], dx[0], dx[1]);
    /* The softmax sums to 1, so a cotangent of ones gives nothing. */
    const double ones[M] = {1.0, 1.0, 1.0};
    if (node.pull(node.state, ones, inputs)) return 1;
    double worst = fmax(fabs(dx[0]), fabs(dx[1]));
    adl_tape_free(&tape);
    int refused = layer_reverse(M, N, cotangent, NULL, dW, dx);
    printf("without a tape: %s\n", refused ? adl_last_error_message() : "accepted");
    return worst < 1e-15 && refused ? 0 : 1;
}
