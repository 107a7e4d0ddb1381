#include "driver/paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "driver/dirs.h"

/* A folder for each kind of part. */
typedef struct Place {
    const char *stdlib, *backend, *library, *include;
} Place;

/* TARGET as seen from FROM, both absolute: "../lib/adl" for /usr/lib/adl and /usr/bin. */
static char *relative(Arena *arena, const char *from, const char *target) {
    size_t common = 0;
    for (size_t i = 0; from[i] == target[i] || !from[i] || !target[i]; i++) {
        if ((!from[i] || from[i] == '/') && (!target[i] || target[i] == '/')) common = i;
        if (!from[i] || !target[i]) break;
    }
    char *path = arena_strndup(arena, "", 0);
    for (const char *at = from + common; *at; at++)
        if (*at == '/' && at[1]) path = arena_printf(arena, "%s../", path);
    const char *rest = target + common;
    return arena_printf(arena, "%s%s", path, *rest == '/' ? rest + 1 : rest);
}

static Place build_place(Arena *arena, const char *dir) {
    return (Place){.stdlib = ADL_SOURCE_DIR "/stdlib",
                   .backend = arena_printf(arena, "%s/.libs", dir),
                   .library = arena_printf(arena, "%s/.libs", dir),
                   .include = ADL_SOURCE_DIR "/runtime/include"};
}

/* The installed tree whose executables are in BINDIR. */
static Place installed_place(Arena *arena, const char *bindir) {
    const char *dirs[] = {ADL_PKGDATADIR "/stdlib", ADL_PKGLIBDIR, ADL_LIBDIR, ADL_INCLUDEDIR};
    for (int i = 0; i < 4; i++)
        dirs[i] = arena_printf(arena, "%s/%s", bindir, relative(arena, ADL_BINDIR, dirs[i]));
    return (Place){dirs[0], dirs[1], dirs[2], dirs[3]};
}

/* What DIR is: a build tree (made by the configure script) or a folder of executables. */
static Place place_of(Arena *arena, const char *dir) {
    if (file_exists(arena_printf(arena, "%s/libdslc.la", dir))) return build_place(arena, dir);
    return installed_place(arena, dir);
}

/* FOLDER/NAME if it exists and nothing was found before. */
static void take(const char **found, Arena *arena, const char *folder, const char *name,
                 const char *suffix) {
    if (*found) return;
    if (file_exists(arena_printf(arena, "%s/%s", folder, name)))
        *found = arena_printf(arena, "%s%s", folder, suffix);
}

static void look_in(Paths *paths, Arena *arena, const Place *place) {
    take(&paths->stdlib, arena, place->stdlib, "prelude.adl", "");
    take(&paths->backend, arena, place->backend, "libdslc-llvm.so", "/libdslc-llvm.so");
    take(&paths->runtime, arena, place->library, "libadl.so", "/libadl.so");
    take(&paths->library, arena, place->library, "libadl.so", "");
    take(&paths->library, arena, place->library, "libadl.a", "");
    take(&paths->include, arena, place->include, "adl/adl.h", "");
}

void paths_find(Paths *paths, Arena *arena, const char *home, const char *executable) {
    Place places[4];
    int count = 0;
    *paths = (Paths){0};
    if (home && *home) {
        places[count++] = place_of(arena, home);
        places[count++] = place_of(arena, arena_printf(arena, "%s/bin", home));
    }
    if (executable) {
        const char *slash = strrchr(executable, '/');
        size_t len = slash ? (size_t)(slash - executable) : 0;
        places[count++] = place_of(arena, arena_strndup(arena, executable, len));
    }
    places[count++] = (Place){ADL_PKGDATADIR "/stdlib", ADL_PKGLIBDIR, ADL_LIBDIR, ADL_INCLUDEDIR};
    for (int i = 0; i < count; i++) look_in(paths, arena, &places[i]);
    if (*ADL_CUDA_DIR && file_exists(ADL_CUDA_DIR)) paths->cuda = ADL_CUDA_DIR;
    if (*ADL_PTXAS && file_exists(ADL_PTXAS)) paths->ptxas = ADL_PTXAS;
}

void paths_find_own(Paths *paths, Arena *arena) {
    char *executable = realpath("/proc/self/exe", NULL);
    paths_find(paths, arena, getenv("ADL_HOME"), executable);
    free(executable);
}
