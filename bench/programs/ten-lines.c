#include <math.h>
#include <stdio.h>

int main(void) {
    double x[3] = {1.0, 2.0, 3.0}, y[3] = {2.0, 4.0, 6.1}, d[2] = {0.0, 0.0};
    for (int i = 0; i < 3; i++) {
        double r = 2.0 * (x[i] - y[i]) / 3.0;
        d[0] += r;
        d[1] += r * x[i];
    }
    printf("[%g, %g]\n", d[0], d[1]);
    return 0;
}
