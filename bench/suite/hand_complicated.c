/* The articulated hand, points in triangles. */
#define COMPLICATED 1
#include "hand_both.h"
