/* What was decided about a derivative, told: what is kept on tapes and why, what is computed again,
   where cotangents are added up from parallel iterations. */
#include "ad/plan.h"

#include <inttypes.h>
#include <string.h>

typedef struct Remarks {
    Ad *ad;
    Mixed *mixed;
    const Plan *plan;
    const IrFunc *base;
    StrBuf *out; /* of `explain`; NULL: to the diagnostics */
} Remarks;

static void tell(Remarks *r, DiagCode code, Pos pos, const char *text) {
    if (r->out) strbuf_printf(r->out, "  %s\n", text);
    else diag_report(r->ad->diags, code, (Span){pos, pos}, "%s", text);
}

/* ---- parts of sentences ---- */

/* Of the function's own file; 0: elsewhere. */
static uint32_t line_of(const Remarks *r, Pos pos) {
    const Sources *sources = r->ad->module->sources;
    uint32_t line = 0, col;
    const SourceFile *file = pos ? sources_file(sources, pos) : NULL;
    if (!file || file != sources_file(sources, r->base->pos)) return 0;
    source_line_col(file, pos, &line, &col);
    return line;
}

static Pos place_of(const Remarks *r, const IrValue *value) {
    const IrInst *inst = value->def ? value->def : value->region->owner;
    return inst && inst->pos ? inst->pos : r->base->pos;
}

static void add_line(const Remarks *r, StrBuf *out, const char *before, Pos pos) {
    uint32_t line = line_of(r, pos);
    if (line) strbuf_printf(out, "%s line %u", before, line);
    else strbuf_printf(out, "%s a function that is called", before);
}

static void add_name(StrBuf *out, const IrValue *value) {
    const IrInst *def = value->def;
    const IrValue *array = def && def->op == IR_DIM ? def->operands[0] : NULL;
    if (array && array->name && array->type->rank == 1)
        strbuf_printf(out, "the length of `%s`", array->name);
    else if (array && array->name)
        strbuf_printf(out, "size %" PRId64 " of `%s`", def->imm, array->name);
    else if (value->name) strbuf_printf(out, "`%s`", value->name);
    else strbuf_add(out, "a value");
}

/* A size by the name of what has it. */
static void add_size(StrBuf *out, const IrValue *array, uint32_t k) {
    const IrValue *size = ir_known_dim(array, k);
    const IrInst *def = size ? size->def : NULL;
    const IrValue *of = def && def->op == IR_DIM ? def->operands[0] : array;
    uint32_t which = of == array ? k : (uint32_t)def->imm;
    int64_t known;
    if (array->type->dims[k] >= 0) strbuf_printf(out, "%" PRId64, array->type->dims[k]);
    else if (size && ir_const_int(size, &known)) strbuf_printf(out, "%" PRId64, known);
    else if (size && size->name && of == array) strbuf_add(out, size->name);
    else if (of->type->rank == 1) strbuf_printf(out, "len(%s)", of->name ? of->name : "it");
    else strbuf_printf(out, "size %u of %s", which, of->name ? of->name : "it");
}

/* Each word of an entry has 8 bytes; an array is there with its sizes.  -1: a size is not known. */
static int64_t known_bytes(IrType type) {
    int64_t bytes = type->kind == IR_T_ARRAY ? ir_scalar_bytes(type->scalar) : 8;
    if (type->kind != IR_T_ARRAY) return bytes;
    for (uint32_t k = 0; k < type->rank; k++) {
        if (type->dims[k] < 0) return -1;
        bytes *= type->dims[k];
    }
    return (bytes + 7) / 8 * 8 + 8 * (int64_t)type->rank + 8;
}

static void add_bytes(StrBuf *out, const IrValue *value) {
    IrType type = value->type;
    int64_t known = known_bytes(type);
    uint32_t rank = type->rank;
    if (known >= 0) {
        strbuf_printf(out, "%" PRId64 " bytes", known);
        return;
    }
    known = ir_scalar_bytes(type->scalar);
    for (uint32_t k = 0; k < rank; k++)
        if (type->dims[k] >= 0) known *= type->dims[k];
    strbuf_printf(out, "%" PRId64, known);
    for (uint32_t k = 0; k < rank; k++) {
        if (type->dims[k] >= 0) continue;
        strbuf_add(out, " * ");
        add_size(out, value, k);
    }
    strbuf_printf(out, " + %u bytes", 8 * rank + 8);
}

/* How often a scope is entered. */
static void add_often(const Remarks *r, StrBuf *out, const Scope *scope) {
    const IrInst *owner = scope->region->owner;
    if (!owner) return;
    if (owner->op == IR_LOOP) add_line(r, out, " each trip of the loop of", owner->pos);
    else if (owner->op == IR_IF) add_line(r, out, " if the branch is taken of", owner->pos);
    else add_line(r, out, " each iteration of", owner->pos);
}

/* ---- why ---- */

typedef struct Need {
    const IrValue *value;
    bool found;
} Need;

static void look_for(IrValue *value, void *data) {
    Need *need = data;
    if (value == need->value) need->found = true;
}

/* Is VALUE wanted again, and read from what its map gave by index? */
static bool is_by_index(const Remarks *r, const IrValue *value) {
    return bitset_has(&r->plan->again, value->id) && ad_kept(r->mixed, value);
}

static bool is_again(const Remarks *r, const IrInst *inst) {
    for (uint32_t i = 0; i < inst->nresults; i++) {
        const IrValue *value = inst->results[i];
        if (bitset_has(&r->plan->again, value->id) && !is_by_index(r, value)) return true;
    }
    return false;
}

/* The last instruction in REGION that needs VALUE in the reverse sweep. */
static const IrInst *find_need(const Remarks *r, const IrRegion *region, const IrValue *value) {
    for (IrInst *inst = region->last; inst; inst = inst->prev) {
        Need need = {value, false};
        for (uint32_t k = inst->nregions; k-- > 0;) {
            const IrInst *inner = find_need(r, inst->regions[k], value);
            if (inner) return inner;
        }
        if (inst->op == IR_YIELD) continue;
        if (has_linear(r->mixed, inst)) ad_linear_needs(r->mixed, inst, look_for, &need);
        if (is_again(r, inst)) ad_nonlinear_inputs(r->mixed, inst, look_for, &need);
        if (need.found) return inst;
    }
    return NULL;
}

static void add_cause(StrBuf *out, const IrValue *value) {
    const IrInst *owner = value->def ? value->def : value->region->owner;
    if (!owner || owner->op == IR_DIM) strbuf_add(out, "the reverse pass does not get it");
    else if (!value->def) strbuf_add(out, "the loop overwrites it");
    else if (owner->op == IR_LOOP) strbuf_add(out, "its loop would have to run again");
    else if (owner->op == IR_CALL) strbuf_add(out, "its call would have to run again");
    else strbuf_add(out, "computing it again would cost more");
}

static void tell_kept(Remarks *r, const Scope *scope, const IrValue *value) {
    StrBuf text = {0};
    const IrInst *need = find_need(r, r->mixed->func->body, value);
    add_name(&text, value);
    strbuf_add(&text, " (");
    ir_print_type(&text, value->type);
    strbuf_add(&text, ", ");
    add_bytes(&text, value);
    add_often(r, &text, scope);
    strbuf_printf(&text, ") is kept for the reverse of `%s`: ", r->base->name);
    if (need && line_of(r, need->pos))
        strbuf_printf(&text, "line %u needs it, and ", line_of(r, need->pos));
    add_cause(&text, value);
    tell(r, DIAG_REMARK_KEPT, place_of(r, value), text.text);
    strbuf_free(&text);
}

static void tell_by_index(Remarks *r, const Scope *scope) {
    for (const IrInst *inst = scope->region->first; inst; inst = inst->next)
        for (uint32_t i = 0; i < inst->nresults; i++)
            if (is_by_index(r, inst->results[i])) tell_kept(r, scope, inst->results[i]);
}

/* ---- computed again ---- */

enum { NAMED = 4 };

static void tell_again(Remarks *r, const Scope *scope) {
    StrBuf text = {0};
    const IrInst *owner = scope->region->owner;
    uint32_t n = 0, lines[NAMED] = {0}, nlines = 0;
    for (const IrInst *inst = scope->region->first; inst; inst = inst->next) {
        if (!is_again(r, inst) || inst->op == IR_CONST) continue;
        uint32_t line = line_of(r, inst->pos);
        bool seen = line == 0;
        for (uint32_t i = 0; i < nlines; i++) seen |= lines[i] == line;
        if (!seen && nlines < NAMED) lines[nlines++] = line;
        n++;
    }
    if (!n) return;
    strbuf_printf(&text, "%u value%s", n, n == 1 ? "" : "s");
    for (uint32_t i = 0; i < nlines; i++)
        strbuf_printf(&text, "%s %u", i ? "," : nlines == 1 ? " of line" : " of lines", lines[i]);
    strbuf_printf(&text, " %s computed again in the reverse of `%s`", n == 1 ? "is" : "are",
                  r->base->name);
    add_often(r, &text, scope);
    tell(r, DIAG_REMARK_AGAIN, owner ? owner->pos : r->base->pos, text.text);
    strbuf_free(&text);
}

static void tell_states(Remarks *r, const Scope *scope) {
    StrBuf text = {0};
    const IrInst *loop = scope->region->owner;
    int64_t policy = scope->checkpoint;
    uint32_t n = 0;
    if (policy == IR_KEEP_SQRT) strbuf_add(&text, "as many states as the root of the trips");
    else if (policy == IR_KEEP_NONE || policy == 1) strbuf_add(&text, "the first state");
    else strbuf_printf(&text, "%" PRId64 " states", policy);
    add_line(r, &text, " of the loop of", loop->pos);
    strbuf_add(&text, " (8 bytes");
    for (uint32_t i = 0; i < loop->nresults; i++) {
        const IrValue *state = scope->region->params[1 + i];
        if (is_linear(r->mixed, state)) continue;
        strbuf_add(&text, n++ ? ", " : " and ");
        add_name(&text, state);
        strbuf_add(&text, ": ");
        add_bytes(&text, state);
    }
    bool one = policy == IR_KEEP_NONE || policy == 1;
    strbuf_printf(&text, ") %s kept for the reverse of `%s`, which runs the loop again",
                  one ? "is" : "are", r->base->name);
    tell(r, DIAG_REMARK_KEPT, loop->pos, text.text);
    strbuf_free(&text);
}

/* ---- additions from parallel iterations ---- */

typedef struct Scatter {
    Remarks *r;
    const IrInst *inst;
} Scatter;

/* Does INST take each element of X in the iteration of the same place, and nothing else of it? */
static bool is_own_element(const IrInst *inst, const IrRegion *body, const IrValue *x) {
    bool own = inst->op == IR_INDEX && inst->noperands == 1 + body->nparams;
    for (uint32_t i = 0; own && i < body->nparams; i++)
        own = inst->operands[1 + i] == body->params[i];
    return own && inst->operands[0] == x;
}

static bool only_own_elements(const IrRegion *region, const IrRegion *body, const IrValue *x) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        bool uses = false;
        for (uint32_t i = 0; i < inst->noperands; i++) uses |= inst->operands[i] == x;
        if (uses && !is_own_element(inst, body, x)) return false;
        for (uint32_t k = 0; k < inst->nregions; k++)
            if (!only_own_elements(inst->regions[k], body, x)) return false;
    }
    return true;
}

static void tell_scatter(IrValue *linear, void *data) {
    const Scatter *scatter = data;
    Remarks *r = scatter->r;
    StrBuf text = {0};
    const IrRegion *body = scatter->inst->regions[0];
    if (linear->type->kind != IR_T_ARRAY || is_zero(r->mixed, linear)) return;
    if (only_own_elements(body, body, linear)) return;
    const IrValue *primal = map_getp(&r->mixed->partners, linear);
    add_line(r, &text, "the iterations of", scatter->inst->pos);
    strbuf_add(&text, " add into the cotangent of ");
    if (primal && primal->name) add_name(&text, primal);
    else strbuf_add(&text, "an array");
    strbuf_printf(&text, " in the reverse of `%s`", r->base->name);
    tell(r, DIAG_REMARK_ADDS, scatter->inst->pos, text.text);
    strbuf_free(&text);
}

static void tell_scatters(Remarks *r, const IrRegion *region) {
    for (const IrInst *inst = region->first; inst; inst = inst->next) {
        Scatter scatter = {r, inst};
        if (!has_linear(r->mixed, inst)) continue;
        if (inst->op == IR_BUILD || inst->op == IR_REDUCE)
            ad_linear_captures(r->mixed, inst, tell_scatter, &scatter);
        else
            for (uint32_t k = 0; k < inst->nregions; k++) tell_scatters(r, inst->regions[k]);
    }
}

/* ---- a derivative ---- */

/* Instances are called f, f.2, ... */
static bool is_wanted(const char *name, const char *wanted) {
    size_t n = strlen(wanted);
    return strncmp(name, wanted, n) == 0 && (name[n] == 0 || name[n] == '.');
}

static void add_activities(StrBuf *out, const AdRequest *request) {
    const IrFunc *base = request->base;
    for (uint32_t i = 0; i < base->nparams; i++)
        strbuf_printf(out, "%s%s%s", i ? ", " : "", request->in_active[i] ? "" : "Const ",
                      base->param_names[i] ? base->param_names[i] : "_");
}

static void add_header(StrBuf *out, const AdRequest *request) {
    static const char *const modes[] = {"jvp", "grad", "split"};
    strbuf_printf(out, "%s of %s(", modes[request->mode], request->base->name);
    add_activities(out, request);
    strbuf_add(out, ")\n");
}

/* The bytes of all that is saved in a scope: what is known as one number, then the rest. */
static void add_scope_bytes(StrBuf *out, const Scope *scope) {
    int64_t known = 0;
    uint32_t n = 0;
    for (uint32_t k = 0; k < scope->saved.len; k++) {
        int64_t bytes = known_bytes(scope->saved.at[k]->type);
        if (bytes >= 0) known += bytes;
    }
    if (known) strbuf_printf(out, "%" PRId64 " bytes", known), n++;
    for (uint32_t k = 0; k < scope->saved.len; k++) {
        if (known_bytes(scope->saved.at[k]->type) >= 0) continue;
        strbuf_add(out, n++ ? " + " : "");
        add_bytes(out, scope->saved.at[k]);
    }
}

/* The tape as a sum over the scopes that leave something there. */
static void add_formula(Remarks *r, StrBuf *out) {
    uint32_t n = 0;
    strbuf_add(out, "  tape: ");
    for (uint32_t i = 0; i < r->plan->all.len; i++) {
        const Scope *scope = r->plan->all.at[i];
        if (scope->saved.len) {
            strbuf_add(out, n++ ? ", and " : "");
            add_scope_bytes(out, scope);
            add_often(r, out, scope);
        }
        if (scope->checkpoint)
            add_line(r, out, n++ ? ", and the states of the loop of" : "the states of the loop of",
                     scope->region->owner->pos);
    }
    strbuf_add(out, n ? "\n" : "nothing\n");
}

void ad_remark(Ad *ad, const AdRequest *request, Mixed *mixed, const Plan *plan) {
    IrModule *module = ad->module;
    Remarks r = {ad, mixed, plan, request->base, module->explain ? &module->explanation : NULL};
    if (ad->failed || (!module->remarks && !module->explain)) return;
    if (request->base->flags & IR_FUNC_LIBRARY) return;
    if (module->explain && !is_wanted(request->base->name, module->explain)) return;
    if (r.out) add_header(r.out, request);
    if (!plan && r.out) strbuf_add(r.out, "  nothing is kept\n");
    if (!plan) return;
    for (uint32_t i = 0; i < plan->all.len; i++) {
        const Scope *scope = plan->all.at[i];
        for (uint32_t k = 0; k < scope->saved.len; k++) tell_kept(&r, scope, scope->saved.at[k]);
        tell_by_index(&r, scope);
        if (scope->checkpoint) tell_states(&r, scope);
        tell_again(&r, scope);
    }
    tell_scatters(&r, mixed->func->body);
    if (r.out) add_formula(&r, r.out);
}
