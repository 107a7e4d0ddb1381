/* Numbers other than f64: f32, complex, integers of other widths. */
#include "tests/fuzz/random/gen.h"

Node *gen_f32(Gen *g, int depth) {
    static const char *const forms[] = {
        "($ + $)", "($ - $)", "($) * ($)", "max($, $)", "($) / (1.0f32 + square($))", "pick($, $)"};
    const Var *var = gen_find(g, g->f32, false);
    g->setting.smooth = false;
    if (depth <= 0 || g->budget <= 0 || gen_chance(g, 25)) {
        if (var) return EXPR(g->f32, 0, NULL, "%s", var->name);
        return EXPR(g->f32, 1, KIDS(gen_f64(g, 0)), "f32($)");
    }
    if (gen_chance(g, 15)) {
        const Type *type = gen_array_type(g, T_F32, 1, (Dim[]){gen_some_dim(g)});
        return EXPR(g->f32, 1, KIDS(gen_array(g, type, depth - 1)), "sum($)");
    }
    Node *a = gen_f32(g, depth - 1);
    if (gen_chance(g, 30)) return EXPR(g->f32, 1, &a, gen_chance(g, 50) ? "sin($)" : "tanh($)");
    Node *b = gen_f32(g, depth - 1);
    return EXPR(g->f32, 2, KIDS(a, b), "%s", forms[gen_random(g, 6)]);
}

/* ---- complex numbers ---- */

static Node *complex_leaf(Gen *g) {
    const Var *var = gen_find(g, g->c128, false);
    Node *element = gen_chance(g, 40) ? gen_element_of(g, T_C128, false, 0) : NULL;
    if (element) return element;
    if (var && gen_chance(g, 70)) return EXPR(g->c128, 0, NULL, "%s", var->name);
    return EXPR(g->c128, 2, KIDS(gen_f64(g, 0), gen_f64(g, 0)), "complex($, $)");
}

Node *gen_complex(Gen *g, int depth) {
    static const char *const one[] = {"conj($)", "-($)", "($) * 0.5i", "($) ** 2",
                                      "exp(($) * 0.1i)"};
    static const char *const two[] = {"($ + $)", "($ - $)", "($) * ($)", "($) / (2.0 + abs2($))"};
    Node *a, *b, *c;
    if (depth <= 0 || g->budget <= 0) return complex_leaf(g);
    switch (gen_random(g, 9)) {
    case 0:
    case 1: a = gen_complex(g, depth - 1); return EXPR(g->c128, 1, &a, "%s", one[gen_random(g, 5)]);
    case 2:
    case 3:
        a = gen_complex(g, depth - 1);
        b = gen_complex(g, depth - 1);
        return EXPR(g->c128, 2, KIDS(a, b), "%s", two[gen_random(g, 4)]);
    case 4:
        a = gen_f64(g, depth - 1);
        b = gen_f64(g, depth - 1);
        return EXPR(g->c128, 2, KIDS(a, b), "complex($, $)");
    case 5:
        a = gen_f64(g, depth - 1);
        b = gen_complex(g, depth - 1);
        return EXPR(g->c128, 2, KIDS(a, b), "sin($) * ($)");
    case 6:
        c = gen_bool(g, depth - 1);
        a = gen_complex(g, depth - 1);
        b = gen_complex(g, depth - 1);
        return EXPR(g->c128, 3, KIDS(c, a, b),
                    gen_chance(g, 50) ? "select($, $, $)" : "(if $ { $ } else { $ })");
    case 7:
        a = gen_array(g, gen_array_type(g, T_C128, 1, (Dim[]){gen_some_dim(g)}), depth - 1);
        return EXPR(g->c128, 1, &a, "sum($)");
    default: return complex_leaf(g);
    }
}

Node *gen_from_complex(Gen *g, int depth) {
    static const char *const forms[] = {"re($)", "im($)", "sin(abs2($))", "abs($)"};
    Node *a = gen_complex(g, depth - 1);
    return EXPR(g->f64, 1, &a, "%s", forms[gen_random(g, 4)]);
}

/* ---- integers ---- */

Node *gen_from_narrow(Gen *g, int depth) {
    static const char *const forms[] = {"i64(u8($) + 200u8)",
                                        "i64(i32($) * 5i32)",
                                        "i64(i8($) - 100i8)",
                                        "i64(u16($) / 3u16)",
                                        "i64(u32($) - 7u32)",
                                        "band($, 7)",
                                        "shr($, 1)",
                                        "shl(band($, 3), 2)",
                                        "bxor($, 5)",
                                        "bnot($)",
                                        "($) / 3",
                                        "rem($, 3)",
                                        "i64(u64($) % 11u64)",
                                        "abs($)",
                                        "min($, 4)"};
    Node *a = gen_i64(g, depth - 1);
    return EXPR(g->i64, 1, &a, "%s", forms[gen_random(g, sizeof forms / sizeof *forms)]);
}
