/* Interned strings.  Equal texts of one interner are the same pointer. */
#ifndef ADL_BASE_INTERN_H
#define ADL_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* An interned text: zero-terminated, length and hash beside it.  Compare by pointer. */
typedef struct SymText {
    uint32_t len, hash;
    char text[];
} SymText;
typedef const SymText *Sym;

typedef struct Interner Interner;
Interner *interner_new(void);
void interner_free(Interner *interner);
Sym intern(Interner *interner, const char *text);
Sym intern_n(Interner *interner, const char *text, size_t len);

#endif
