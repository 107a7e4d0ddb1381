/* support.c: see support.h. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long alive;
static int calls_left;

static void *failing_allocate(void *state, size_t alignment, size_t bytes) {
    (void)state;
    if (calls_left > 0 && --calls_left == 0) return NULL;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes) != 0) return NULL;
    memset(memory, 0xa5, bytes < 65536 ? bytes : 65536);
    alive += (long)bytes;
    return memory;
}

static void failing_deallocate(void *state, void *memory, size_t bytes) {
    (void)state;
    alive -= (long)bytes;
    free(memory);
}

void failing_install(int n) {
    alive = 0;
    calls_left = n;
    adl_allocator allocator = {failing_allocate, failing_deallocate, NULL};
    ck_assert_int_eq(adl_set_allocator(&allocator), ADL_OK);
}

long failing_remove(void) {
    adl_set_allocator(NULL);
    return alive;
}

const char *scratch(const char *name) {
    static char paths[4][256];
    static int next;
    const char *base = getenv("TMPDIR");
    char *path = paths[next++ % 4];
    snprintf(path, 256, "%s/adl-runtime-%ld", base ? base : "/tmp", (long)getuid());
    mkdir(path, 0700);
    size_t len = strlen(path);
    snprintf(path + len, 256 - len, "/%ld-%s", (long)getpid(), name);
    return path;
}

void write_file(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, count, file), count);
    ck_assert_int_eq(fclose(file), 0);
}

char *read_file(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t cap = 1 << 16;
    char *bytes = malloc(cap);
    *count = fread(bytes, 1, cap - 1, file);
    bytes[*count] = '\0';
    fclose(file);
    return bytes;
}
