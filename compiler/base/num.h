/* Checked size arithmetic and number parsing. */
#ifndef ADL_BASE_NUM_H
#define ADL_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool size_mul(size_t a, size_t b, size_t *result); /* false on overflow */
bool size_add(size_t a, size_t b, size_t *result);
/* Number literals of ADL (underscores allowed, 0x, hexadecimal floats); independent of locale. */
bool num_parse_u64(const char *text, size_t len, uint64_t *value);
bool num_parse_double(const char *text, size_t len, double *value);
bool num_parse_float(const char *text, size_t len, float *value); /* rounded once */

/* Code points before OFFSET in a UTF-8 text that is known to be valid. */
size_t utf8_count(const char *text, size_t len);
/* Offset of the first byte that is not valid UTF-8, or LEN. */
size_t utf8_check(const char *text, size_t len);

#endif
