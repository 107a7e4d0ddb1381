/* Minimum cut by Dinic's algorithm: layers by breadth-first search, then blocking flows. */
#include "ad/internal.h"

#include "base/vec.h"

typedef struct Edge {
    uint32_t to, next; /* next edge of the same node, plus one */
    int64_t left;
} Edge;

struct Cut {
    uint32_t nodes;
    VEC(Edge) edges;      /* each with its reverse: 2k and 2k + 1 */
    uint32_t *first, *at; /* edge of a node, plus one */
    uint32_t *level, *queue;
    bool *reaches; /* the sink, in what is left */
};

Cut *cut_new(Arena *arena, uint32_t nodes) {
    Cut *cut = ARENA_NEW(arena, Cut);
    cut->nodes = nodes;
    cut->first = ARENA_ARRAY(arena, uint32_t, nodes);
    cut->at = ARENA_ARRAY(arena, uint32_t, nodes);
    cut->level = ARENA_ARRAY(arena, uint32_t, nodes);
    cut->queue = ARENA_ARRAY(arena, uint32_t, nodes);
    cut->reaches = ARENA_ARRAY(arena, bool, nodes);
    return cut;
}

static void half_edge(Cut *cut, uint32_t from, uint32_t to, int64_t capacity) {
    Edge edge = {to, cut->first[from], capacity};
    vec_push(&cut->edges, edge);
    cut->first[from] = cut->edges.len;
}

void cut_edge(Cut *cut, uint32_t from, uint32_t to, int64_t capacity) {
    half_edge(cut, from, to, capacity);
    half_edge(cut, to, from, 0);
}

static bool make_levels(Cut *cut, uint32_t source, uint32_t sink) {
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < cut->nodes; i++) {
        cut->level[i] = 0;
        cut->at[i] = cut->first[i];
    }
    cut->level[source] = 1;
    cut->queue[tail++] = source;
    while (head < tail) {
        uint32_t node = cut->queue[head++];
        for (uint32_t e = cut->first[node]; e; e = cut->edges.at[e - 1].next) {
            const Edge *edge = &cut->edges.at[e - 1];
            if (edge->left <= 0 || cut->level[edge->to]) continue;
            cut->level[edge->to] = cut->level[node] + 1;
            cut->queue[tail++] = edge->to;
        }
    }
    return cut->level[sink] != 0;
}

/* One augmenting path along the levels, found without recursion; what it carries. */
static int64_t augment(Cut *cut, uint32_t source, uint32_t sink, uint32_t *path) {
    uint32_t depth = 0, node = source;
    for (;;) {
        if (node == sink) {
            int64_t flow = CUT_INFINITE;
            for (uint32_t i = 0; i < depth; i++)
                if (cut->edges.at[path[i]].left < flow) flow = cut->edges.at[path[i]].left;
            for (uint32_t i = 0; i < depth; i++) {
                cut->edges.at[path[i]].left -= flow;
                cut->edges.at[path[i] ^ 1].left += flow;
            }
            return flow;
        }
        uint32_t e = cut->at[node];
        if (!e) {
            if (node == source) return 0;
            node = cut->edges.at[path[--depth] ^ 1].to;
            cut->at[node] = cut->edges.at[cut->at[node] - 1].next;
            continue;
        }
        const Edge *edge = &cut->edges.at[e - 1];
        if (edge->left > 0 && cut->level[edge->to] == cut->level[node] + 1) {
            path[depth++] = e - 1;
            node = edge->to;
        } else {
            cut->at[node] = edge->next;
        }
    }
}

static void mark_reaching(Cut *cut, uint32_t sink) {
    uint32_t head = 0, tail = 0;
    cut->reaches[sink] = true;
    cut->queue[tail++] = sink;
    while (head < tail) {
        uint32_t node = cut->queue[head++];
        for (uint32_t e = cut->first[node]; e; e = cut->edges.at[e - 1].next) {
            uint32_t from = cut->edges.at[e - 1].to;
            if (cut->edges.at[(e - 1) ^ 1].left <= 0 || cut->reaches[from]) continue;
            cut->reaches[from] = true;
            cut->queue[tail++] = from;
        }
    }
}

int64_t cut_solve(Cut *cut, uint32_t source, uint32_t sink) {
    int64_t total = 0, flow;
    uint32_t *path = cut->queue; /* free between two searches, and long enough */
    while (total < CUT_INFINITE && make_levels(cut, source, sink))
        while (total < CUT_INFINITE && (flow = augment(cut, source, sink, path)) > 0) total += flow;
    mark_reaching(cut, sink);
    return total;
}

bool cut_sink_side(const Cut *cut, uint32_t node) {
    return cut->reaches[node];
}

void cut_free(Cut *cut) {
    vec_free(&cut->edges);
}
