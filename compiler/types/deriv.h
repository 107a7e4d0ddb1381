/* Inside of the derivative operators: requests (what an operator asks of a function, before the
   function's types are known) and signatures (what the derivative then takes and gives). */
#ifndef ADL_TYPES_DERIV_H
#define ADL_TYPES_DERIV_H

#include "types/internal.h"

/* What FnValue.deriv points to: the specification as far as the operator says it. */
typedef struct DerivRequest {
    DerivSpec spec;         /* part, base, options; slots and base_instance: not yet */
    uint32_t nwords;        /* 0: activities as declared */
    const uint8_t *words;   /* ActKind + 1 of each parameter; 0: as declared */
    const uint32_t *widths; /* of the words; NULL: none */
    uint32_t nwrt;
    const Sym *wrt; /* names of the parameters that stay active; none: all */
    uint32_t nunmodified;
    const Sym *unmodified; /* names of the parameters that the caller keeps as they are */
    Span span;
} DerivRequest;

/* What is known of a function's parameters before its types are: enough to say which arguments
   its derivative takes. */
typedef struct DerivParam {
    Sym name;
    uint8_t declared; /* ActKind, defaults put in */
    uint8_t act;      /* of this request */
    bool written;     /* the declared word stands there */
    bool floats, mut, function, scalar;
    uint32_t width; /* that its word asks for; 0: none */
    Span span;      /* of its declaration; may be nowhere */
} DerivParam;

/* What an operator and its options ask for; NULL after reporting. */
DerivRequest *deriv_parse_request(FnChecker *f, AstDeriv *node);
/* The parameters of a function value, captures left out; false after reporting. */
bool deriv_params(FnChecker *f, const FnValue *base, Span span, uint32_t *n, DerivParam **params);
/* Does the instance of a function value depend on the types of its arguments? */
bool deriv_needs_types(Checker *c, const FnValue *fn);
/* Sets ACT of the parameters from a request: words, wrt, checks them all.  False after reporting.
 */
bool deriv_activities(FnChecker *f, const DerivRequest *request, uint32_t n, DerivParam *params,
                      Span span);
/* N of BatchDuplicated<N>, which must be a constant of at least 1; *WIDTH is 0 where there is no
   <N>. False after reporting. */
bool deriv_word_width(FnChecker *f, const AstActivity *word, uint32_t *width);
/* The width of a request: of its option and of the words, which must agree.  False after reporting.
 */
bool deriv_request_width(FnChecker *f, uint32_t option, uint32_t n, const DerivParam *params,
                         Span span, uint32_t *width);
/* One word for one parameter.  False after reporting. */
bool deriv_set_activity(FnChecker *f, DerivParam *param, ActKind act, DerivPart part, Span span);

/* R' of section 6: the type without its Const and float-free parts; NULL: nothing is left. */
Type deriv_strip(TypeTable *t, Type type, uint8_t act);
/* The derivative of BASE as an instance, made once for each request and activities. */
Instance *deriv_instance(Checker *c, const DerivRequest *request, Instance *base,
                         const uint8_t *act, Span span);
/* What the option `holomorphic` asks of types; the rest is looked at by check_holomorphic.  False
   after reporting. */
bool deriv_holomorphic(FnChecker *f, const DerivRequest *request, Instance *base,
                       const uint8_t *act, uint32_t n, Span span);
/* The slots of an argument list, without types: roles, of, names; filled into the arena. */
uint32_t deriv_slots(Checker *c, const DerivRequest *request, uint32_t n, const DerivParam *params,
                     DerivSlot **slots);

#endif
