/* form.h: values as text, by a printf form without '%' ("5d", ".6f", "8") or in the default form.
 */
#ifndef ADL_RUNTIME_CORE_FORM_H
#define ADL_RUNTIME_CORE_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

typedef struct Form {
    char flags[8];
    int width;     /* 0: none */
    int precision; /* -1: none */
    char letter;   /* 0: none, the default of the value's kind */
} Form;

/* Parses LEN bytes at PTR; false if they are no form. */
bool form_parse(const char *ptr, int64_t len, Form *form);
/* Whether FORM can show values of KIND. */
bool form_fits(const Form *form, int32_t kind);
/* Adds the value of KIND at VALUE. */
void form_value(Text *text, const Form *form, int32_t kind, const void *value);
/* Adds an array: nested brackets, columns aligned from rank 2 on, ends elided when it has more than
   1000 elements. */
void form_array(Text *text, const Form *form, int32_t kind, int32_t rank, const int64_t *dims,
                const void *data);

#endif
