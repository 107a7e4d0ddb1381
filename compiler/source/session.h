/* A session: all that one run of the compiler owns.  Any number may exist, one after the other or
   side by side.  Parts take the narrowest member that they need, never the whole; only the driver
   and the tools hold a Session. */
#ifndef ADL_SOURCE_SESSION_H
#define ADL_SOURCE_SESSION_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/options.h"
#include "source/diag.h"
#include "source/source.h"

typedef struct Session {
    Arena *arena;
    Interner *interner;
    Sources sources;
    Diags *diags;
    Options options;
} Session;

Session *session_new(void);
void session_free(Session *session);

#endif
