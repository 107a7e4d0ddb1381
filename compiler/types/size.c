/* Sizes: polynomials with integer coefficients over variables, divisions, minima and maxima, in a
   normal form.  A sum is a list of monomials by id; a monomial is the constant 1, an atom, or a
   product of atoms by id.  Whatever overflows becomes a fresh variable: nothing is known of it. */
#include "base/memory.h"
#include "types/table.h"

#include <stdlib.h>
#include <string.h>

typedef struct Term {
    Size of; /* a monomial */
    int64_t coef;
} Term;

typedef struct Poly {
    VEC(Term) terms;
    bool overflow;
} Poly;

static uint64_t hash_size(const struct SizeInfo *s) {
    uint64_t h = hash_mix((uint64_t)s->kind, (uint64_t)s->value);
    for (uint32_t i = 0; i < s->nterms; i++) {
        h = hash_mix(h, s->terms[i]->id);
        if (s->coefs) h = hash_mix(h, (uint64_t)s->coefs[i]);
    }
    return h;
}

static bool equal_size(Size a, Size b) {
    if (a->kind != b->kind || a->value != b->value || a->nterms != b->nterms) return false;
    for (uint32_t i = 0; i < a->nterms; i++) {
        if (a->terms[i] != b->terms[i]) return false;
        if (a->coefs && a->coefs[i] != b->coefs[i]) return false;
    }
    return true;
}

static Size size_intern(TypeTable *t, SizeKind kind, int64_t value, uint32_t n, Size *terms,
                        const int64_t *coefs) {
    struct SizeInfo key = {
        .kind = kind, .value = value, .nterms = n, .terms = terms, .coefs = coefs};
    uint64_t hash = hash_size(&key);
    SizeEntry *first = map_get(&t->sizes, hash);
    for (SizeEntry *e = first; e; e = e->next)
        if (equal_size(e->size, &key)) return e->size;
    struct SizeInfo *s = arena_alloc(t->arena, sizeof *s);
    Size *terms_copy = ARENA_ARRAY(t->arena, Size, n);
    int64_t *coefs_copy = coefs ? ARENA_ARRAY(t->arena, int64_t, n) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        terms_copy[i] = terms[i];
        if (coefs) coefs_copy[i] = coefs[i];
    }
    key.terms = terms_copy;
    key.coefs = coefs_copy;
    key.id = ++t->next_size;
    memcpy(s, &key, sizeof key);
    SizeEntry *e = ARENA_NEW(t->arena, SizeEntry);
    *e = (SizeEntry){first, s};
    map_set(&t->sizes, hash, e);
    return s;
}

Size size_const(TypeTable *t, int64_t value) {
    return size_intern(t, SIZE_CONST, value, 0, NULL, NULL);
}

Size size_any(TypeTable *t) {
    return size_intern(t, SIZE_ANY, 0, 0, NULL, NULL);
}

Size size_var(TypeTable *t, Sym name) {
    struct SizeInfo key = {.kind = SIZE_VAR, .id = ++t->next_size, .name = name};
    void *s = arena_alloc(t->arena, sizeof key);
    memcpy(s, &key, sizeof key);
    return s;
}

uint32_t size_mark(const TypeTable *t) {
    return t->next_size + 1;
}

/* ---- polynomials ---- */

static void poly_add(Poly *p, Size of, int64_t coef) {
    uint32_t i = 0;
    while (i < p->terms.len && p->terms.at[i].of->id < of->id) i++;
    if (i < p->terms.len && p->terms.at[i].of == of) {
        p->overflow |= __builtin_add_overflow(p->terms.at[i].coef, coef, &p->terms.at[i].coef);
        return;
    }
    Term term = {of, coef};
    vec_push(&p->terms, term);
    for (uint32_t k = p->terms.len - 1; k > i; k--) p->terms.at[k] = p->terms.at[k - 1];
    p->terms.at[i] = term;
}

static void poly_add_size(TypeTable *t, Poly *p, Size s, int64_t factor) {
    int64_t coef;
    if (s->kind == SIZE_CONST) {
        p->overflow |= __builtin_mul_overflow(s->value, factor, &coef);
        poly_add(p, size_const(t, 1), coef);
    } else if (s->kind == SIZE_SUM) {
        for (uint32_t i = 0; i < s->nterms; i++) {
            p->overflow |= __builtin_mul_overflow(s->coefs[i], factor, &coef);
            poly_add(p, s->terms[i], coef);
        }
    } else {
        poly_add(p, s, factor);
    }
}

/* The size of a polynomial, which it frees. */
static Size poly_done(TypeTable *t, Poly *p) {
    VEC(Size) of = {0};
    VEC(int64_t) coefs = {0};
    for (uint32_t i = 0; i < p->terms.len; i++) {
        if (!p->terms.at[i].coef) continue;
        vec_push(&of, p->terms.at[i].of);
        vec_push(&coefs, p->terms.at[i].coef);
    }
    Size result;
    if (p->overflow) result = size_var(t, NULL);
    else if (!of.len) result = size_const(t, 0);
    else if (of.len == 1 && of.at[0]->kind == SIZE_CONST) result = size_const(t, coefs.at[0]);
    else if (of.len == 1 && coefs.at[0] == 1) result = of.at[0];
    else result = size_intern(t, SIZE_SUM, 0, of.len, of.at, coefs.at);
    vec_free(&of);
    vec_free(&coefs);
    vec_free(&p->terms);
    return result;
}

Size size_plus(TypeTable *t, Size a, Size b) {
    Poly p = {0};
    poly_add_size(t, &p, a, 1);
    poly_add_size(t, &p, b, 1);
    return poly_done(t, &p);
}

Size size_minus(TypeTable *t, Size a, Size b) {
    Poly p = {0};
    poly_add_size(t, &p, a, 1);
    poly_add_size(t, &p, b, -1);
    return poly_done(t, &p);
}

/* The product of two monomials: their atoms, by id. */
static Size monomial_mul(TypeTable *t, Size a, Size b) {
    if (a->kind == SIZE_CONST) return b;
    if (b->kind == SIZE_CONST) return a;
    VEC(Size) atoms = {0};
    uint32_t na = a->kind == SIZE_PROD ? a->nterms : 1, nb = b->kind == SIZE_PROD ? b->nterms : 1;
    for (uint32_t i = 0, k = 0; i < na || k < nb;) {
        Size x = i == na ? NULL : a->kind == SIZE_PROD ? a->terms[i] : a;
        Size y = k == nb ? NULL : b->kind == SIZE_PROD ? b->terms[k] : b;
        if (!y || (x && x->id <= y->id)) {
            vec_push(&atoms, x);
            i++;
        } else {
            vec_push(&atoms, y);
            k++;
        }
    }
    Size result = size_intern(t, SIZE_PROD, 0, atoms.len, atoms.at, NULL);
    vec_free(&atoms);
    return result;
}

Size size_times(TypeTable *t, Size a, Size b) {
    Poly pa = {0}, pb = {0}, p = {0};
    poly_add_size(t, &pa, a, 1);
    poly_add_size(t, &pb, b, 1);
    p.overflow = pa.overflow || pb.overflow || pa.terms.len * pb.terms.len > 64;
    for (uint32_t i = 0; !p.overflow && i < pa.terms.len; i++)
        for (uint32_t k = 0; k < pb.terms.len; k++) {
            int64_t coef;
            p.overflow |= __builtin_mul_overflow(pa.terms.at[i].coef, pb.terms.at[k].coef, &coef);
            poly_add(&p, monomial_mul(t, pa.terms.at[i].of, pb.terms.at[k].of), coef);
        }
    vec_free(&pa.terms);
    vec_free(&pb.terms);
    return poly_done(t, &p);
}

static int64_t floor_div(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/* A / K where every coefficient is a multiple of K, else NULL. */
static Size exact_div(TypeTable *t, Size a, int64_t k) {
    Poly p = {0};
    poly_add_size(t, &p, a, 1);
    bool exact = !p.overflow;
    for (uint32_t i = 0; i < p.terms.len; i++) {
        exact = exact && p.terms.at[i].coef % k == 0;
        p.terms.at[i].coef /= k;
    }
    Size result = poly_done(t, &p);
    return exact ? result : NULL;
}

Size size_binary(TypeTable *t, SizeKind kind, Size a, Size b) {
    bool constant = a->kind == SIZE_CONST && b->kind == SIZE_CONST;
    bool divisor = b->kind == SIZE_CONST && b->value > 0;
    if (kind == SIZE_LEAST || kind == SIZE_GREATEST) {
        Size d = size_minus(t, a, b);
        if (d->kind == SIZE_CONST) return (d->value < 0) == (kind == SIZE_LEAST) ? a : b;
        if (a->id > b->id) {
            Size swap = a;
            a = b;
            b = swap;
        }
    } else if (divisor && (kind == SIZE_DIV || kind == SIZE_MOD)) {
        int64_t q = constant ? floor_div(a->value, b->value) : 0;
        if (constant) return size_const(t, kind == SIZE_DIV ? q : a->value - q * b->value);
        Size exact = exact_div(t, a, b->value);
        if (exact) return kind == SIZE_DIV ? exact : size_const(t, 0);
    }
    Size terms[2] = {a, b};
    return size_intern(t, kind, 0, 2, terms, NULL);
}

Size size_subst(TypeTable *t, Size s, const Map *map) {
    switch (s->kind) {
    case SIZE_CONST:
    case SIZE_ANY: return s;
    case SIZE_VAR: {
        Size found = map_get(map, s->id);
        return found ? found : s;
    }
    case SIZE_SUM: {
        Size sum = size_const(t, 0);
        for (uint32_t i = 0; i < s->nterms; i++)
            sum = size_plus(
                t, sum, size_times(t, size_const(t, s->coefs[i]), size_subst(t, s->terms[i], map)));
        return sum;
    }
    case SIZE_PROD: {
        Size product = size_const(t, 1);
        for (uint32_t i = 0; i < s->nterms; i++)
            product = size_times(t, product, size_subst(t, s->terms[i], map));
        return product;
    }
    case SIZE_DIV:
    case SIZE_MOD:
    case SIZE_LEAST:
    case SIZE_GREATEST:
        return size_binary(t, s->kind, size_subst(t, s->terms[0], map),
                           size_subst(t, s->terms[1], map));
    }
    return s;
}

bool size_mentions(Size s, bool (*want)(Size var, void *data), void *data) {
    if (s->kind == SIZE_VAR) return want(s, data);
    for (uint32_t i = 0; i < s->nterms; i++)
        if (size_mentions(s->terms[i], want, data)) return true;
    return false;
}

static int64_t constant_coef(Size s) {
    if (s->kind == SIZE_CONST) return s->value;
    for (uint32_t i = 0; s->kind == SIZE_SUM && i < s->nterms; i++)
        if (s->terms[i]->kind == SIZE_CONST) return s->coefs[i];
    return 0;
}

static uint32_t other_terms(Size s) {
    if (s->kind == SIZE_CONST) return 0;
    if (s->kind != SIZE_SUM) return 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nterms; i++) n += s->terms[i]->kind != SIZE_CONST;
    return n;
}

static int64_t coef_of(Size s, Size term) {
    if (s == term) return 1;
    for (uint32_t i = 0; s->kind == SIZE_SUM && i < s->nterms; i++)
        if (s->terms[i] == term) return s->coefs[i];
    return 0;
}

/* Equal up to the constant? */
static bool same_but_constant(Size a, Size b) {
    if (other_terms(a) != other_terms(b)) return false;
    if (a->kind == SIZE_CONST) return true;
    if (a->kind != SIZE_SUM) return coef_of(b, a) == 1;
    for (uint32_t i = 0; i < a->nterms; i++)
        if (a->terms[i]->kind != SIZE_CONST && coef_of(b, a->terms[i]) != a->coefs[i]) return false;
    return true;
}

SizeRel size_compare(Size a, Size b) {
    if (a == b || a->kind == SIZE_ANY || b->kind == SIZE_ANY) return SIZE_EQUAL;
    if (same_but_constant(a, b) && constant_coef(a) != constant_coef(b)) return SIZE_DIFFERENT;
    return SIZE_UNKNOWN;
}

/* ---- printing ---- */

static int size_level(Size s) { /* 0 sum, 1 product, 2 atom */
    if (s->kind == SIZE_SUM) return s->nterms == 1 ? 1 : 0;
    if (s->kind == SIZE_CONST) return s->value < 0 ? 0 : 2;
    return s->kind == SIZE_PROD || s->kind == SIZE_DIV || s->kind == SIZE_MOD ? 1 : 2;
}

static void print_at(StrBuf *out, Size s, int level) {
    bool paren = size_level(s) < level;
    if (paren) strbuf_char(out, '(');
    size_print(out, s);
    if (paren) strbuf_char(out, ')');
}

static void print_sum(StrBuf *out, Size s) {
    bool first = true;
    for (uint32_t pass = 0; pass < 4; pass++) /* what is added before what is taken away */
        for (uint32_t i = 0; i < s->nterms; i++) {
            bool one = s->terms[i]->kind == SIZE_CONST;
            int64_t coef = s->coefs[i];
            if (pass != (coef < 0 ? 2u : 0u) + one) continue;
            if (!first) strbuf_add(out, coef < 0 ? " - " : " + ");
            else if (coef < 0) strbuf_char(out, '-');
            uint64_t abs = coef < 0 ? -(uint64_t)coef : (uint64_t)coef;
            if (one || abs != 1) strbuf_printf(out, "%llu", (unsigned long long)abs);
            if (!one && abs != 1) strbuf_add(out, " * ");
            if (!one) print_at(out, s->terms[i], 1);
            first = false;
        }
}

void size_print(StrBuf *out, Size s) {
    switch (s->kind) {
    case SIZE_CONST: strbuf_printf(out, "%lld", (long long)s->value); break;
    case SIZE_VAR: strbuf_add(out, s->name ? s->name->text : "?"); break;
    case SIZE_ANY: strbuf_char(out, '_'); break;
    case SIZE_SUM: print_sum(out, s); break;
    case SIZE_PROD:
        for (uint32_t i = 0; i < s->nterms; i++) {
            if (i) strbuf_add(out, " * ");
            print_at(out, s->terms[i], 2);
        }
        break;
    case SIZE_DIV:
    case SIZE_MOD:
        print_at(out, s->terms[0], 1);
        strbuf_add(out, s->kind == SIZE_DIV ? " / " : " % ");
        print_at(out, s->terms[1], 2);
        break;
    case SIZE_LEAST:
    case SIZE_GREATEST:
        strbuf_add(out, s->kind == SIZE_LEAST ? "min(" : "max(");
        size_print(out, s->terms[0]);
        strbuf_add(out, ", ");
        size_print(out, s->terms[1]);
        strbuf_char(out, ')');
        break;
    }
}

const char *size_text(TypeTable *t, Size s) {
    StrBuf out = {0};
    size_print(&out, s);
    const char *text = arena_strndup(t->arena, out.text, out.len);
    strbuf_free(&out);
    return text;
}
