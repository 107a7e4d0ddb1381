/* Entries of scans.  The trips are cut into tiles, of which each is one block's.  In the first
   phase a block combines the elements of its tiles; in the second one block makes of that what is
   carried into each tile; in the third each trip's own number follows, and the loop's body runs
   with that. In a tile warps combine in steps of 1, 2, 4, ...; what the warps before one have is
   combined in their order. */
#include "opt/scan.h"
#include "codegen/ptx/entry.h"

enum { TILE = DEVICE_SCAN_TILE, WARP = 32, WARPS = TILE / WARP };
_Static_assert(TILE == 1 << 8 && WARP == 1 << 5, "the shifts below");

typedef struct ScanEntry {
    Entry *x;
    Scan scan;
    IrScalar scalar;
    LLVMValueRef count, tiles, thread, lane, warp; /* i64s */
    LLVMValueRef first;                            /* what is carried into the first trip */
    LLVMValueRef totals; /* of tiles; later what is carried into each, and behind the last */
    LLVMValueRef shared; /* a number for each warp, and one more */
    unsigned arrays;     /* the parameter behind the number's */
} ScanEntry;

static LLVMValueRef combine(const ScanEntry *s, LLVMValueRef a, LLVMValueRef b) {
    return emit_combine(&s->x->g->e, s->scan.kind, s->scalar, a, b);
}

static LLVMValueRef is_equal(Emit *e, LLVMValueRef a, int64_t b) {
    return LLVMBuildICmp(e->b, LLVMIntEQ, a, gen_int(e, b), "");
}

static LLVMValueRef is_less(Emit *e, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(e->b, LLVMIntSLT, a, b, "");
}

/* ---- memory ---- */

static LLVMValueRef load(const ScanEntry *s, LLVMValueRef from, LLVMValueRef i) {
    return ptx_load(s->x->g, s->scalar, ptx_element(s->x->g, s->scalar, from, i));
}

static void store(const ScanEntry *s, LLVMValueRef to, LLVMValueRef i, LLVMValueRef value) {
    ptx_store(s->x->g, s->scalar, value, ptx_element(s->x->g, s->scalar, to, i));
}

/* ---- a tile ---- */

/* What an invocation has of a tile: all up to its own element, and all before that, which the first
   one does not have. */
typedef struct Prefix {
    LLVMValueRef with, without;
} Prefix;

/* Each invocation has a VALUE; those behind the last element have any. */
static Prefix scan_tile(const ScanEntry *s, LLVMValueRef value) {
    Ptx *g = s->x->g;
    Emit *e = &g->e;
    LLVMValueRef v = value;
    for (int d = 1; d < WARP; d *= 2) {
        LLVMValueRef more = combine(s, ptx_shuffle(e, emit_int32(e, -1), v, -d, WARP), v);
        v = LLVMBuildSelect(e->b, is_less(e, s->lane, gen_int(e, d)), v, more, "");
    }
    LLVMValueRef left = ptx_shuffle(e, emit_int32(e, -1), v, -1, WARP);
    ptx_barrier(g); /* what was there has been read */
    Side last = side_open(g, is_equal(e, s->lane, WARP - 1));
    store(s, s->shared, s->warp, v);
    side_close(g, &last);
    ptx_barrier(g);
    LLVMValueRef before = load(s, s->shared, gen_int(e, 0));
    for (int w = 1; w + 1 < WARPS; w++) {
        LLVMValueRef more = combine(s, before, load(s, s->shared, gen_int(e, w)));
        before = LLVMBuildSelect(e->b, is_less(e, gen_int(e, w), s->warp), more, before, "");
    }
    LLVMValueRef first_warp = is_equal(e, s->warp, 0), first_lane = is_equal(e, s->lane, 0);
    LLVMValueRef all = combine(s, before, left);
    all = LLVMBuildSelect(e->b, first_warp, left, all, "");
    return (Prefix){LLVMBuildSelect(e->b, first_warp, v, combine(s, before, v), ""),
                    LLVMBuildSelect(e->b, first_lane, before, all, "")};
}

/* What comes into the invocation's trip, if CARRIED comes into the tile. */
static LLVMValueRef carried_in(const ScanEntry *s, LLVMValueRef carried, const Prefix *p) {
    Emit *e = &s->x->g->e;
    LLVMValueRef first = is_equal(e, s->thread, 0);
    return LLVMBuildSelect(e->b, first, carried, combine(s, carried, p->without), "");
}

/* ---- trips ---- */

static bool is_element(const IrInst *inst, const void *data) {
    const Scan *scan = data;
    return inst->nresults && bitset_has(&scan->needed, inst->results[0]->id);
}

static bool is_not_step(const IrInst *inst, const void *data) {
    const Scan *scan = data;
    return inst != scan->step;
}

/* The body's trip is I; the arrays carried are as they came. */
static void enter_trip(const ScanEntry *s, LLVMValueRef i) {
    const Entry *x = s->x;
    const IrInst *loop = s->scan.loop;
    IrValue **params = loop->regions[0]->params;
    unsigned at = s->arrays;
    x->vals[params[0]->id].at = i;
    for (uint32_t r = 0; r < loop->nresults; r++) {
        IrType type = loop->results[r]->type;
        LLVMValueRef open[IR_MAX_RANK];
        if (type->kind != IR_T_ARRAY) continue;
        LLVMValueRef memory = LLVMGetParam(x->g->entry, at++);
        for (uint32_t k = 0, n = 0; k < type->rank; k++)
            if (type->dims[k] < 0) open[n++] = LLVMGetParam(x->g->entry, at++);
        x->vals[params[1 + r]->id] = ptx_array(x->g, memory, type, open, false);
    }
}

static LLVMValueRef element_of(const ScanEntry *s, LLVMValueRef i) {
    Ptx *g = s->x->g;
    Scope scope;
    enter_trip(s, i);
    ptx_scope_open(g, &scope);
    ptx_some(g, s->scan.loop->regions[0], s->x->vals, is_element, &s->scan);
    LLVMValueRef value = s->x->vals[s->scan.element->id].at;
    if (!*g->error) ptx_scope_close(g);
    return value;
}

static void run_trip(const ScanEntry *s, LLVMValueRef i, LLVMValueRef before, LLVMValueRef after) {
    Ptx *g = s->x->g;
    Scope scope;
    enter_trip(s, i);
    s->x->vals[s->scan.loop->regions[0]->params[1 + s->scan.carry]->id].at = before;
    s->x->vals[s->scan.step->results[0]->id].at = after;
    ptx_scope_open(g, &scope);
    ptx_some(g, s->scan.loop->regions[0], s->x->vals, is_not_step, &s->scan);
    if (!*g->error) ptx_scope_close(g);
}

/* ---- phases ---- */

/* The first phase, or the third one, on all tiles. */
static void on_tiles(const ScanEntry *s, bool third) {
    Ptx *g = s->x->g;
    Emit *e = &g->e;
    Axis tile =
        steps_open(g, ptx_special(g, "ctaid", 'x'), ptx_special(g, "nctaid", 'x'), s->tiles);
    LLVMValueRef begin = LLVMBuildShl(e->b, tile.i, gen_int(e, 8), "");
    LLVMValueRef i = emit_size_add(e, begin, s->thread), valid = is_less(e, i, s->count);
    Side in = side_open(g, valid);
    LLVMValueRef element = element_of(s, i);
    if (*g->error) return;
    element = side_give(g, &in, element, emit_zero(e, s->scalar));
    ptx_meet(g, 1, &element, false);
    Prefix p = scan_tile(s, element);
    if (third) {
        LLVMValueRef carried = load(s, s->totals, tile.i);
        Side own = side_open(g, valid);
        run_trip(s, i, carried_in(s, carried, &p), combine(s, carried, p.with));
        if (*g->error) return;
        side_close(g, &own);
        ptx_meet(g, 0, NULL, false);
    } else {
        LLVMValueRef next = emit_size_add(e, i, gen_int(e, 1));
        LLVMValueRef is_last = LLVMBuildOr(e->b, is_equal(e, s->thread, TILE - 1),
                                           LLVMBuildICmp(e->b, LLVMIntEQ, next, s->count, ""), "");
        Side last = side_open(g, LLVMBuildAnd(e->b, is_last, valid, ""));
        store(s, s->totals, tile.i, p.with);
        side_close(g, &last);
    }
    axis_close(g, &tile);
}

/* The second phase, in one block: tiles are its elements, as many as a tile has at a time. */
static void on_totals(const ScanEntry *s) {
    Ptx *g = s->x->g;
    Emit *e = &g->e;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMValueRef first = s->first, most = gen_int(e, TILE), place = gen_int(e, WARPS);
    Axis some = steps_open(g, gen_int(e, 0), most, s->tiles);
    LLVMBasicBlockRef body = LLVMGetInsertBlock(e->b);
    LLVMPositionBuilder(e->b, some.head, LLVMGetFirstInstruction(some.head));
    LLVMValueRef carried = LLVMBuildPhi(e->b, LLVMTypeOf(first), "");
    LLVMPositionBuilderAtEnd(e->b, body);
    LLVMValueRef i = emit_size_add(e, some.i, s->thread), valid = is_less(e, i, s->tiles);
    Side in = side_open(g, valid);
    LLVMValueRef total = side_give(g, &in, load(s, s->totals, i), emit_zero(e, s->scalar));
    Prefix p = scan_tile(s, total);
    Side own = side_open(g, valid);
    store(s, s->totals, i, carried_in(s, carried, &p));
    LLVMValueRef next = emit_size_add(e, i, gen_int(e, 1));
    LLVMValueRef is_last = LLVMBuildOr(e->b, is_equal(e, s->thread, TILE - 1),
                                       LLVMBuildICmp(e->b, LLVMIntEQ, next, s->tiles, ""), "");
    Side last = side_open(g, is_last);
    store(s, s->shared, place, combine(s, carried, p.with));
    side_close(g, &last);
    side_close(g, &own);
    ptx_barrier(g);
    LLVMValueRef on = load(s, s->shared, place);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    axis_close(g, &some);
    LLVMAddIncoming(carried, &first, &before, 1);
    LLVMAddIncoming(carried, &on, &latch, 1);
    Side one = side_open(g, is_equal(e, s->thread, 0));
    store(s, s->totals, s->tiles, carried);
    side_close(g, &one);
}

static LLVMValueRef shared_memory(const ScanEntry *s) {
    Emit *e = &s->x->g->e;
    return ptx_shared(s->x->g, LLVMArrayType2(emit_memory_type(e, s->scalar), WARPS + 1));
}

void entry_scan(Entry *x) {
    Ptx *g = x->g;
    Emit *e = &g->e;
    ScanEntry s = {.x = x, .count = x->extents[0], .tiles = x->extents[2]};
    if (!scan_find(x->kernel->inst, &s.scan)) return;
    s.scalar = s.scan.step->results[0]->type->scalar;
    s.totals = LLVMGetParam(g->entry, x->next);
    s.first = emit_from_memory(e, s.scalar, LLVMGetParam(g->entry, x->next + 1));
    s.arrays = x->next + 2;
    s.thread = ptx_special(g, "tid", 'x');
    s.lane = LLVMBuildAnd(e->b, s.thread, gen_int(e, WARP - 1), "");
    s.warp = LLVMBuildLShr(e->b, s.thread, gen_int(e, 5), "");
    s.shared = shared_memory(&s);
    LLVMBasicBlockRef phases[3], done = ptx_block(g, "");
    for (int p = 0; p < 3; p++) phases[p] = ptx_block(g, "phase");
    LLVMValueRef chosen = LLVMBuildSwitch(e->b, x->extents[1], phases[2], 2);
    for (int p = 0; p < 2; p++) LLVMAddCase(chosen, gen_int(e, p), phases[p]);
    for (int p = 0; p < 3 && !*g->error; p++) {
        LLVMPositionBuilderAtEnd(e->b, phases[p]);
        if (p == 1) on_totals(&s);
        else on_tiles(&s, p == 2);
        if (!*g->error) LLVMBuildBr(e->b, done);
    }
    scan_free(&s.scan);
    if (!*g->error) LLVMPositionBuilderAtEnd(e->b, done);
}
