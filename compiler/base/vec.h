/* Vec: a growing array of T.  VEC(int) v = {0}; vec_push(&v, 3); v.at[0]; v.len; vec_free(&v);
   The elements live in malloc'ed memory that the owner frees with vec_free. */
#ifndef ADL_BASE_VEC_H
#define ADL_BASE_VEC_H

#include <stddef.h>
#include <stdint.h>

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        uint32_t len, cap;                                                                         \
    }

/* Makes room for one more element of SIZE bytes; returns the (moved) elements. */
void *vec_grow(void *at, uint32_t *cap, size_t size);
void vec_free_(void *at);

#define vec_push(v, x)                                                                             \
    ((v)->len == (v)->cap ? (void)((v)->at = vec_grow((v)->at, &(v)->cap, sizeof *(v)->at))        \
                          : (void)0,                                                               \
     (void)((v)->at[(v)->len++] = (x)))
#define vec_pop(v) ((v)->at[--(v)->len])
#define vec_last(v) ((v)->at[(v)->len - 1])
#define vec_free(v) (vec_free_((v)->at), (v)->at = NULL, (v)->len = (v)->cap = 0)

#endif
