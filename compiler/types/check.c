/* The checker as a whole: modules, items, bodies, then what the roots reach. */
#include "types/analyse.h"
#include "types/internal.h"

#include <string.h>

Checker *checker_new(Arena *arena, Interner *interner, Sources *sources, Diags *diags,
                     const CheckOptions *options) {
    Checker *c = ARENA_NEW(arena, Checker);
    c->arena = arena;
    c->interner = interner;
    c->sources = sources;
    c->diags = diags;
    if (options) c->options = *options;
    c->types = type_table_new(arena, interner);
    modules_init(&c->modules, arena, interner, sources, diags);
    c->modules.include_dirs = c->options.include_dirs;
    c->modules.ninclude_dirs = c->options.ninclude_dirs;
    c->modules.stdlib_dir = c->options.stdlib_dir;
    c->modules.given = c->options.given;
    c->modules.ngiven = c->options.ngiven;
    return c;
}

void checker_free(Checker *c) {
    for (uint32_t i = 0; i < c->all.len; i++) {
        InstanceInfo *info = info_of(c, c->all.at[i]);
        map_free(&info->generics);
        map_free(&info->sizes);
        map_free(&info->bindable);
        map_free(&info->fn_only);
    }
    vec_free(&c->all);
    vec_free(&c->queue);
    vec_free(&c->canonical);
    vec_free(&c->holomorphic);
    map_free(&c->instances);
    map_free(&c->infos);
    map_free(&c->fn_values);
    map_free(&c->lambdas);
    map_free(&c->struct_types);
    map_free(&c->constants);
    map_free(&c->signatures);
    map_free(&c->integers);
    map_free(&c->made_arrays);
    map_free(&c->naturals);
    if (c->program) {
        vec_free(&c->program->roots);
        vec_free(&c->program->instances);
    }
    modules_free(&c->modules);
    type_table_free(c->types);
}

void check_queue(Checker *c) {
    while (c->queue_head < c->queue.len) check_body(c, c->queue.at[c->queue_head++]);
}

/* ---- what the roots reach, callees first ---- */

static void reach_tree(const Tree *tree, void *data) {
    Reach *r = data;
    if (tree->instance) reach_instance(r, tree->instance);
    if (tree->instance32) reach_instance(r, tree->instance32);
    tree_children(tree, reach_tree, data);
}

void reach_instance(Reach *r, Instance *inst) {
    if (!inst || !bitset_add(&r->seen, inst->id)) return;
    if (inst->body) reach_tree(inst->body, r);
    reach_instance(r, inst->rule);
    reach_instance(r, inst->rule_augmented);
    reach_instance(r, inst->rule_reverse);
    if (inst->deriv) reach_instance(r, inst->deriv->base_instance);
    vec_push(&r->found, inst);
}

static void collect_instances(Checker *c) {
    Reach r = {0};
    Program *program = c->program;
    for (uint32_t i = 0; i < program->roots.len; i++) {
        const Root *root = &program->roots.at[i];
        reach_instance(&r, root->instance);
        uint32_t n = root->defaults ? root->instance->nparams : 0;
        for (uint32_t k = 0; k < n; k++) reach_instance(&r, root->defaults[k]);
    }
    for (uint32_t w = 0; w < 2; w++)
        for (uint32_t row = 0; row < MATH_ROWS; row++)
            reach_instance(&r, program->math_rules[w][row]);
    for (uint32_t i = 0; i < r.found.len; i++) vec_push(&program->instances, r.found.at[i]);
    vec_free(&r.found);
    bitset_free(&r.seen);
}

Program *check_program(Checker *c, const SourceFile *file, uint32_t which) {
    c->program = ARENA_NEW(c->arena, Program);
    c->program->types = c->types;
    for (uint32_t w = 0; w < 2; w++)
        c->program->math_rules[w] = ARENA_ARRAY(c->arena, Instance *, MATH_ROWS);
    c->main = modules_load(&c->modules, file);
    c->program->modules = &c->modules;
    c->program->main = c->main;
    check_items(c, which);
    check_queue(c);
    if (!diags_errors(c->diags)) check_effects(c);
    if (!diags_errors(c->diags)) check_holomorphic(c);
    if (!diags_errors(c->diags)) check_borrows(c);
    if (!diags_errors(c->diags)) {
        module_warn_unused(&c->modules, c->main);
        collect_instances(c);
        if (c->options.open) check_open(c);
    }
    return c->program;
}
