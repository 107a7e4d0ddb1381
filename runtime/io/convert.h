/* convert.h: the numbers of a file as the kind that a program wants. */
#ifndef ADL_RUNTIME_IO_CONVERT_H
#define ADL_RUNTIME_IO_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

/* Stores the value of kind FROM at VALUE as kind TO at OUT.  False if TO cannot hold it: an integer
   must come out exactly; a float may be rounded by a narrower float kind, but not to infinity; the
   imaginary part that a real kind drops must be 0; a bool takes 0 and 1. */
bool convert_value(int32_t from, const void *value, int32_t to, void *out);

#endif
