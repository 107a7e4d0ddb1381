/* The articulated hand, points on vertices. */
#define COMPLICATED 0
#include "hand_both.h"
