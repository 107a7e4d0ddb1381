/* npy.c: NumPy's array files, versions 1.0, 2.0 and 3.0.

   The header is a Python dictionary; a small reader takes just what such headers hold.  Nothing is
   allocated by what a header claims: the data must be there first. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/error.h"
#include "core/kinds.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/convert.h"
#include "io/file.h"
#include "io/shape.h"

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { MAX_FILE_RANK = 32 };

typedef struct Header {
    int32_t kind;
    bool swapped; /* the other byte order */
    bool fortran;
    int32_t rank;
    int64_t dims[MAX_FILE_RANK];
    const char *data;
    int64_t data_bytes; /* in the file */
} Header;

/* -- the header's dictionary -- */

typedef struct Reader {
    const FileJob *job;
    const char *p, *end;
    bool has_descr, has_fortran, has_shape;
} Reader;

static int32_t bad_header(const FileJob *job, const char *what) {
    return file_fail(job, ADL_ERROR_FORMAT, "not a sound .npy header: %s", what);
}

static void skip_blank(Reader *reader) {
    while (reader->p < reader->end && strchr(" \t\r\n", *reader->p) && *reader->p) reader->p++;
}

static bool take(Reader *reader, char c) {
    skip_blank(reader);
    if (reader->p == reader->end || *reader->p != c) return false;
    reader->p++;
    return true;
}

/* A quoted string without escapes. */
static bool take_string(Reader *reader, const char **text, int64_t *len) {
    skip_blank(reader);
    if (reader->p == reader->end || (*reader->p != '\'' && *reader->p != '"')) return false;
    const char *begin = reader->p + 1;
    const char *stop = memchr(begin, *reader->p, (size_t)(reader->end - begin));
    if (!stop) return false;
    *text = begin;
    *len = stop - begin;
    reader->p = stop + 1;
    return true;
}

static bool take_word(Reader *reader, const char *word) {
    size_t len = strlen(word);
    skip_blank(reader);
    if ((size_t)(reader->end - reader->p) < len || memcmp(reader->p, word, len) != 0) return false;
    reader->p += len;
    return true;
}

static bool take_size(Reader *reader, int64_t *size) {
    skip_blank(reader);
    const char *begin = reader->p;
    *size = 0;
    for (; reader->p < reader->end && isdigit((unsigned char)*reader->p); reader->p++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, *reader->p - '0', size))
            return false;
    if (reader->p == begin) return false;
    (void)take(reader, 'L'); /* Python 2 wrote long integers so */
    return true;
}

static int32_t read_shape(Reader *reader, Header *header) {
    header->rank = 0;
    if (!take(reader, '(')) return bad_header(reader->job, "the shape is not a tuple");
    while (!take(reader, ')')) {
        if (header->rank == MAX_FILE_RANK)
            return bad_header(reader->job, "more than 32 dimensions");
        if (!take_size(reader, &header->dims[header->rank++]))
            return bad_header(reader->job, "a dimension is not a size");
        if (!take(reader, ',') && !(reader->p < reader->end && *reader->p == ')'))
            return bad_header(reader->job, "the shape is not a tuple");
    }
    return ADL_OK;
}

static int32_t kind_of_letter(char letter, int bytes) {
    static const struct {
        char letter;
        int bytes;
        int32_t kind;
    } kinds[] = {{'b', 1, ADL_KIND_BOOL}, {'?', 1, ADL_KIND_BOOL}, {'i', 1, ADL_KIND_I8},
                 {'i', 2, ADL_KIND_I16},  {'i', 4, ADL_KIND_I32},  {'i', 8, ADL_KIND_I64},
                 {'u', 1, ADL_KIND_U8},   {'u', 2, ADL_KIND_U16},  {'u', 4, ADL_KIND_U32},
                 {'u', 8, ADL_KIND_U64},  {'f', 2, ADL_KIND_F16},  {'f', 4, ADL_KIND_F32},
                 {'f', 8, ADL_KIND_F64},  {'c', 8, ADL_KIND_C64},  {'c', 16, ADL_KIND_C128}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].letter == letter && kinds[i].bytes == bytes) return kinds[i].kind;
    return -1;
}

static bool machine_is_big(void) {
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 0;
}

static int32_t read_descr(Reader *reader, Header *header) {
    const char *text;
    int64_t len;
    if (!take_string(reader, &text, &len))
        return file_fail(reader->job, ADL_ERROR_FORMAT, "the elements are records, not numbers");
    const char *p = text, *end = text + len;
    char order = '|';
    if (p < end && strchr("<>|=", *p) && *p) order = *p++;
    char letter = p < end ? *p++ : '\0';
    int bytes = letter == '?' && p == end ? 1 : 0;
    for (; p < end && isdigit((unsigned char)*p) && bytes < 1000; p++)
        bytes = bytes * 10 + *p - '0';
    header->kind = p == end ? kind_of_letter(letter, bytes) : -1;
    header->swapped = order != '|' && order != '=' && (order == '>') != machine_is_big();
    if (header->kind >= 0) return ADL_OK;
    return file_fail(reader->job, ADL_ERROR_FORMAT, "elements of type '%.*s' are not supported",
                     (int)(len < 40 ? len : 40), text);
}

static int32_t read_entry(Reader *reader, Header *header) {
    const char *key;
    int64_t len;
    if (!take_string(reader, &key, &len) || !take(reader, ':'))
        return bad_header(reader->job, "no dictionary");
    if (len == 5 && memcmp(key, "descr", 5) == 0) {
        reader->has_descr = true;
        return read_descr(reader, header);
    }
    if (len == 5 && memcmp(key, "shape", 5) == 0) {
        reader->has_shape = true;
        return read_shape(reader, header);
    }
    if (len == 13 && memcmp(key, "fortran_order", 13) == 0) {
        reader->has_fortran = true;
        header->fortran = take_word(reader, "True");
        return header->fortran || take_word(reader, "False")
                   ? ADL_OK
                   : bad_header(reader->job, "fortran_order is neither True nor False");
    }
    return bad_header(reader->job, "an unknown key");
}

static int32_t read_dictionary(const FileJob *job, const char *text, int64_t len, Header *header) {
    Reader reader = {.job = job, .p = text, .end = text + len};
    if (!take(&reader, '{')) return bad_header(job, "no dictionary");
    while (!take(&reader, '}')) {
        int32_t status = read_entry(&reader, header);
        if (status != 0) return status;
        if (!take(&reader, ',') && !(reader.p < reader.end && *reader.p == '}'))
            return bad_header(job, "no dictionary");
    }
    if (!reader.has_descr || !reader.has_fortran || !reader.has_shape)
        return bad_header(job, "descr, fortran_order or shape is missing");
    return ADL_OK;
}

static int32_t read_header(const FileJob *job, const char *bytes, int64_t count, Header *header) {
    const uint8_t *raw = (const uint8_t *)bytes;
    if (count < 6 || memcmp(bytes, magic, 6) != 0)
        return file_fail(job, ADL_ERROR_FORMAT, "not an .npy file");
    if (count < 8) return file_fail(job, ADL_ERROR_FORMAT, "the header is cut off");
    if (raw[6] < 1 || raw[6] > 3)
        return file_fail(job, ADL_ERROR_FORMAT, "version %d.%d of .npy is not supported", raw[6],
                         raw[7]);
    int64_t start = raw[6] == 1 ? 10 : 12, len = 0;
    if (count < start) return file_fail(job, ADL_ERROR_FORMAT, "the header is cut off");
    for (int64_t i = start - 1; i >= 8; i--) len = len << 8 | raw[i];
    if (len > count - start) return file_fail(job, ADL_ERROR_FORMAT, "the header is cut off");
    header->data = bytes + start + len;
    header->data_bytes = count - start - len;
    return read_dictionary(job, bytes + start, len, header);
}

/* -- the data -- */

static void swap_bytes(const char *from, int64_t bytes, bool pair, char *to) {
    int64_t half = pair ? bytes / 2 : bytes;
    if (bytes > 16) return; /* no kind is larger */
    for (int64_t part = 0; part < bytes; part += half)
        for (int64_t i = 0; i < half; i++) to[part + i] = from[part + half - 1 - i];
}

/* Converts element FROM_AT of the file to element TO_AT of DATA. */
static bool copy_element(const Header *header, int64_t from_at, int32_t kind, char *data,
                         int64_t to_at) {
    int64_t bytes = kind_bytes(header->kind);
    char element[16];
    if (header->swapped)
        swap_bytes(header->data + from_at * bytes, bytes, kind_is_complex(header->kind), element);
    else memcpy(element, header->data + from_at * bytes, (size_t)bytes);
    if (header->kind == ADL_KIND_BOOL) element[0] = element[0] != 0;
    return convert_value(header->kind, element, kind, data + to_at * kind_bytes(kind));
}

static int32_t fail_element(const FileJob *job, const Header *header, int64_t from_at,
                            int64_t to_at, int32_t kind) {
    char element[16], text[128];
    int64_t bytes = kind_bytes(header->kind);
    if (header->swapped)
        swap_bytes(header->data + from_at * bytes, bytes, kind_is_complex(header->kind), element);
    else memcpy(element, header->data + from_at * bytes, (size_t)bytes);
    shape_index_text(header->rank, header->dims, to_at, text, sizeof text);
    return shape_fail_value(job, text, header->kind, element, kind);
}

/* The place in Fortran order of element AT of row-major order. */
static int64_t fortran_place(const Header *header, int64_t at) {
    int64_t place = 0, stride = 1, index[MAX_FILE_RANK];
    for (int32_t i = header->rank - 1; i >= 0; i--) {
        index[i] = at % header->dims[i];
        at /= header->dims[i];
    }
    for (int32_t i = 0; i < header->rank; i++) {
        place += index[i] * stride;
        stride *= header->dims[i];
    }
    return place;
}

static int32_t copy_data(const FileJob *job, const Header *header, int64_t count, int32_t kind,
                         char *data) {
    bool plain = kind == header->kind && !header->swapped && kind != ADL_KIND_BOOL;
    bool fortran = header->fortran && header->rank > 1;
    if (plain && !fortran) {
        if (count > 0) memcpy(data, header->data, (size_t)(count * kind_bytes(kind)));
        return ADL_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t from = fortran ? fortran_place(header, i) : i;
        if (!copy_element(header, from, kind, data, i))
            return fail_element(job, header, from, i, kind);
    }
    return ADL_OK;
}

static int32_t load_bytes(const FileJob *job, const char *bytes, int64_t size, int32_t kind,
                          int32_t rank, void **data, int64_t *dims) {
    Header header = {0};
    int32_t status = read_header(job, bytes, size, &header);
    if (status != 0) return status;
    if (header.rank != rank) return shape_fail_rank(job, header.rank, header.dims, rank);
    int64_t need = memory_array_bytes(kind_bytes(header.kind), rank, header.dims);
    if (need < 0 || need > header.data_bytes)
        return file_fail(job, ADL_ERROR_FORMAT, "the data is cut off: %lld bytes of %s%lld",
                         (long long)header.data_bytes, need < 0 ? "more than " : "",
                         need < 0 ? (long long)INT64_MAX : (long long)need);
    char *result = adl__alloc_array(job->context, kind_bytes(kind), rank, header.dims);
    if (!result) return job->context->error;
    status = copy_data(job, &header, need / kind_bytes(header.kind), kind, result);
    if (status != 0) {
        adl__release(job->context, result);
        return status;
    }
    memcpy(dims, header.dims, (size_t)rank * sizeof *dims);
    *data = result;
    return ADL_OK;
}

int32_t adl__load_npy(AdlContext *context, const AdlSite *site, const char *path, int64_t path_len,
                      int32_t kind, int32_t rank, void **data, int64_t *dims) {
    FileJob job;
    char *bytes;
    int64_t size;
    int32_t status = file_load_begin(&job, context, site, path, path_len, &bytes, &size);
    if (status != 0) return status;
    status = load_bytes(&job, bytes, size, kind, rank, data, dims);
    file_load_end(&job, bytes);
    return status;
}

/* -- out -- */

static void add_header(Text *text, int32_t kind, int32_t rank, const int64_t *dims) {
    static const char *const letters[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4",
                                          "u8", "f2", "f4", "f4", "f8", "c8", "c16"};
    char order = kind_bytes(kind) == 1 ? '|' : machine_is_big() ? '>' : '<';
    text_printf(text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, letters[kind]);
    for (int32_t i = 0; i < rank; i++)
        text_printf(text, "%lld%s", (long long)dims[i], i + 1 < rank ? ", " : rank == 1 ? "," : "");
    text_add(text, "), }");
    /* The data starts at a multiple of 64. */
    text_fill(text, ' ', 63 - (10 + text->len) % 64);
    text_add(text, "\n");
}

static int32_t write_data(FileOut *out, int32_t kind, int64_t bytes, const void *data) {
    if (kind != ADL_KIND_BF16) {
        file_out_write(out, data, (size_t)bytes);
        return ADL_OK;
    }
    for (int64_t i = 0; i < bytes / 2; i++) { /* NumPy has no bf16 */
        uint16_t half;
        memcpy(&half, (const char *)data + 2 * i, sizeof half);
        float value = adl__bf16_to_f32(half);
        file_out_write(out, &value, sizeof value);
    }
    return ADL_OK;
}

static int32_t save_job(const FileJob *job, int32_t kind, int32_t rank, const int64_t *dims,
                        const void *data) {
    int64_t bytes = memory_array_bytes(kind_bytes(kind), rank, dims);
    if (bytes < 0 || kind < 0 || kind > ADL_KIND_C128)
        return file_fail(job, ADL_ERROR_ARGUMENT, "an array of %s cannot be saved",
                         kind_name(kind));
    Text text = {0};
    FileOut out;
    add_header(&text, kind, rank, dims);
    if (text.failed) {
        text_free(&text);
        return error_memory(job->context, job->site, 128);
    }
    int32_t status = file_out_begin(&out, job);
    if (status == 0) {
        uint8_t start[10] = {
            0, 0, 0, 0, 0, 0, 1, 0, (uint8_t)(text.len & 255), (uint8_t)(text.len >> 8)};
        memcpy(start, magic, sizeof magic);
        file_out_write(&out, start, sizeof start);
        file_out_write(&out, text.ptr, text.len);
        status = file_out_end(&out, write_data(&out, kind, bytes, data));
    }
    text_free(&text);
    return status;
}

int32_t adl__save_npy(AdlContext *context, const AdlSite *site, const char *path, int64_t path_len,
                      int32_t kind, int32_t rank, const int64_t *dims, const void *data) {
    FileJob job;
    int32_t status = file_job_begin(&job, context, site, path, path_len);
    if (status != 0) return status;
    status = save_job(&job, kind, rank, dims, data);
    file_job_end(&job);
    return status;
}
