/* shape.h: messages about what a file holds and what was wanted. */
#ifndef ADL_RUNTIME_IO_SHAPE_H
#define ADL_RUNTIME_IO_SHAPE_H

#include "io/file.h"

/* "[3, 2]", the index of element AT in row-major order. */
void shape_index_text(int32_t rank, const int64_t *dims, int64_t at, char *text, size_t size);
/* "has 2 dimensions, [3, 4], but 1 is wanted". */
int32_t shape_fail_rank(const FileJob *job, int32_t rank, const int64_t *dims, int32_t wanted);
/* "element [3] is 2.5, which i64 cannot hold". */
int32_t shape_fail_value(const FileJob *job, const char *index, int32_t kind, const void *value,
                         int32_t wanted);

#endif
