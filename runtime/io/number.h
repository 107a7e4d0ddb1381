/* number.h: numbers in text files, independent of the locale. */
#ifndef ADL_RUNTIME_IO_NUMBER_H
#define ADL_RUNTIME_IO_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The texts here go from BEGIN to END, hold no white space at the ends, and are followed by a byte
   that belongs to no number (a separator or zero).  False if they are not wholly a number. */
bool number_parse_f64(const char *begin, const char *end, double *out);
/* A value of any kind; a number that KIND cannot hold is none. */
bool number_parse(int32_t kind, const char *begin, const char *end, void *out);

#endif
