/* Forms products that are added: see ir/muladd.c. */
#include "opt/opt.h"

void opt_muladd(OptContext *c) {
    c->changed = ir_form_muladds(c->func);
}
