/* Defaults of parameters: functions of the earlier parameters. */
#include "types/internal.h"

Instance *instance_of_default(Checker *c, const Instance *of, uint32_t i, Span span) {
    const void *key[3] = {of, (const void *)(uintptr_t)i, "default"};
    key[2] = c; /* no other key has the checker in it */
    InstanceInfo *info = instance_find(c, 3, key);
    if (info) return info->instance;
    const InstanceInfo *from = info_of(c, of);
    AstParam *p = AST_AS(Param, of->decl->ast->params.at[i]);
    Instance *inst = instance_new(
        c, INSTANCE_FN, arena_printf(c->arena, "default of %s", p->name.sym->text), p->value->span);
    info = info_of(c, inst);
    instance_add_key(c, info, 3, key);
    info->module = from->module;
    info->asked_at = span;
    info->body = p->value;
    info->declared = from->declared;
    for (uint32_t k = 0; k < from->generics.len; k++)
        map_set(&info->generics, from->generics.keys[k], from->generics.values[k]);
    inst->nparams = i;
    inst->params = ARENA_ARRAY(c->arena, Local *, i);
    inst->act = ARENA_ARRAY(c->arena, uint8_t, i);
    for (uint32_t k = 0; k < i; k++) {
        const Local *q = of->params[k];
        instance_set_param(c, inst, k, q->name, q->type, false, of->act[k], q->span);
        inst->params[k]->size = q->size;
    }
    instance_collect_sizes(inst, info);
    for (uint32_t k = 0; k < from->sizes.len; k++) {
        Size size = from->sizes.values[k];
        if (map_has(&info->bindable, size->id))
            map_set(&info->sizes, from->sizes.keys[k], (void *)size);
    }
    inst->result = info->declared_result = of->params[i]->type;
    inst->result_act = activity_default(inst->result, false);
    inst->small = true;
    instance_queue(c, inst);
    return inst;
}
