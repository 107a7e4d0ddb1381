#include "driver/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

typedef struct Elf {
    const char *bytes;
    size_t len;
    const Elf64_Shdr *sections;
    uint32_t count;
    const Elf64_Shdr *names;
} Elf;

static bool fits(const Elf *elf, uint64_t offset, uint64_t size) {
    return offset <= elf->len && size <= elf->len - offset;
}

static bool open_elf(Elf *elf) {
    const Elf64_Ehdr *header = (const void *)elf->bytes;
    if (elf->len < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    uint64_t count = header->e_shnum, names = header->e_shstrndx;
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8) return false;
    if (!fits(elf, header->e_shoff, sizeof(Elf64_Shdr))) return false;
    elf->sections = (const void *)(elf->bytes + header->e_shoff);
    if (!count) count = elf->sections[0].sh_size; /* where there are many */
    if (names == SHN_XINDEX) names = elf->sections[0].sh_link;
    if (count > elf->len || !fits(elf, header->e_shoff, count * sizeof(Elf64_Shdr))) return false;
    elf->count = (uint32_t)count;
    if (names >= count) return false;
    elf->names = &elf->sections[names];
    return fits(elf, elf->names->sh_offset, elf->names->sh_size);
}

/* A name in a table of strings, or "". */
static const char *name_at(const Elf *elf, const Elf64_Shdr *table, uint64_t at) {
    const char *begin = elf->bytes + table->sh_offset;
    if (at >= table->sh_size || !memchr(begin + at, 0, table->sh_size - at)) return "";
    return begin + at;
}

static void read_symbols(const Elf *elf, const Elf64_Shdr *table, const char *prefix, Arena *arena,
                         ObjectFile *object) {
    if (table->sh_link >= elf->count || table->sh_offset % 8) return;
    const Elf64_Shdr *names = &elf->sections[table->sh_link];
    const Elf64_Sym *symbols = (const void *)(elf->bytes + table->sh_offset);
    if (!fits(elf, names->sh_offset, names->sh_size)) return;
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        const char *name = name_at(elf, names, symbols[i].st_name);
        if (ELF64_ST_BIND(symbols[i].st_info) == STB_LOCAL) continue;
        if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
        name = arena_strndup(arena, name, strlen(name));
        if (symbols[i].st_shndx == SHN_UNDEF) vec_push(&object->undefined, name);
        else vec_push(&object->defined, name);
    }
}

bool object_read(ObjectFile *object, Arena *arena, const char *path, const char *section,
                 const char *prefix) {
    char *bytes;
    FileError error;
    Elf elf = {0};
    *object = (ObjectFile){0};
    if (!file_read_all(path, &bytes, &elf.len, &error)) return false;
    elf.bytes = bytes;
    bool good = open_elf(&elf);
    for (uint32_t i = 1; good && i < elf.count; i++) {
        const Elf64_Shdr *s = &elf.sections[i];
        if (s->sh_type == SHT_NOBITS || !fits(&elf, s->sh_offset, s->sh_size)) continue;
        if (s->sh_type == SHT_SYMTAB) read_symbols(&elf, s, prefix, arena, object);
        if (strcmp(name_at(&elf, elf.names, s->sh_name), section) != 0) continue;
        object->section = arena_strndup(arena, elf.bytes + s->sh_offset, s->sh_size);
        object->section_len = s->sh_size;
    }
    free(bytes);
    return good;
}

void object_free(ObjectFile *object) {
    vec_free(&object->defined);
    vec_free(&object->undefined);
}
