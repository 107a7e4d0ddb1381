/* The environment: what variables and sizes are at the place where IR is being made. */
#include "lower/internal.h"

static uint64_t local_key(const Local *local) {
    return (uint64_t)(uintptr_t)local;
}

/* Pointers are even. */
static uint64_t size_key(uint32_t id) {
    return ((uint64_t)id << 1) | 1;
}

static uint32_t find(const Fn *f, uint64_t key) {
    return (uint32_t)(uintptr_t)map_get(&f->index, key);
}

static uint32_t add(Fn *f, const Shape *shape) {
    if (!f->slots.len) vec_push(&f->slots, ((Slot){0}));
    vec_push(&f->slots, ((Slot){.shape = shape}));
    return f->slots.len - 1;
}

uint32_t env_slot(Fn *f, const Local *local) {
    return find(f, local_key(local));
}

uint32_t env_new_slot(Fn *f, const Shape *shape) {
    return add(f, shape);
}

void env_set(Fn *f, uint32_t slot, Vals value) {
    CHECK_INTERNAL(slot && slot < f->slots.len);
    vec_push(&f->trail, ((Trail){slot, f->slots.at[slot].value}));
    f->slots.at[slot].value = value;
}

Vals env_get(const Fn *f, uint32_t slot) {
    return f->slots.at[slot].value;
}

void env_bind(Fn *f, const Local *local, Vals value) {
    uint32_t slot = env_slot(f, local);
    if (!slot) {
        slot = add(f, shape_of(f->lw, local->type));
        map_set(&f->index, local_key(local), (void *)(uintptr_t)slot);
    }
    CHECK_INTERNAL(value.n == f->slots.at[slot].shape->n);
    if (!value.at) value = vals_new(f->lw, 0);
    env_set(f, slot, value);
}

uint32_t env_mark(const Fn *f) {
    return f->trail.len;
}

void env_rollback(Fn *f, uint32_t mark) {
    while (f->trail.len > mark) {
        Trail last = vec_pop(&f->trail);
        f->slots.at[last.slot].value = last.old;
    }
}

void env_forget_sizes(Fn *f, uint32_t mark) {
    for (uint32_t i = f->trail.len; i-- > mark;) {
        Slot *slot = &f->slots.at[f->trail.at[i].slot];
        if (!slot->shape) env_set(f, f->trail.at[i].slot, f->trail.at[i].old);
    }
}

IrValue *env_size(const Fn *f, uint32_t id) {
    uint32_t slot = find(f, size_key(id));
    return slot && f->slots.at[slot].value.at ? f->slots.at[slot].value.at[0] : NULL;
}

void env_bind_size(Fn *f, uint32_t id, IrValue *value) {
    uint32_t slot = find(f, size_key(id));
    if (!slot) {
        slot = add(f, NULL);
        map_set(&f->index, size_key(id), (void *)(uintptr_t)slot);
    }
    env_set(f, slot, vals_one(f->lw, value));
}

void env_note_size(Fn *f, const Local *local, Vals value) {
    Size size = local->size;
    if (!size || size->kind != SIZE_VAR || value.n != 1 || env_size(f, size->id)) return;
    env_bind_size(f, size->id, emit_to_i64(f, value.at[0]));
}
