#include "base/vec.h"

#include <stdlib.h>

#include "base/fatal.h"
#include "base/memory.h"
#include "base/num.h"

#ifdef ADL_STRESS
/* Under stress a vector moves at each push up to this length; beyond it the copies cost too much.
 */
enum { STRESSED = 4096 };
#endif

void *vec_grow(void *at, uint32_t *cap, size_t size) {
    uint32_t old = *cap;
    size_t bytes;
    if (old > UINT32_MAX / 2) fatal_memory();
    *cap = old ? old * 2 : 8;
#ifdef ADL_STRESS
    if (old < STRESSED) *cap = old + 1;
#endif
    if (!size_mul(*cap, size, &bytes)) fatal_memory();
    return memory_resize(at, old * size, bytes);
}

void vec_free_(void *at) {
    free(at);
}
