/* calls.h: declares, for the runtime itself, every function that calls.def lists. */
#ifndef ADL_RUNTIME_CORE_CALLS_H
#define ADL_RUNTIME_CORE_CALLS_H

#include "adl/adl.h"
#include "layout.h"

#define X(token, type, class) typedef type token;
ADL_CALL_TYPES(X)
#undef X

#define ADL_CALL(name, result, parameters, attributes) ADL_PUBLIC result name parameters;
#include "calls.def"

#endif
