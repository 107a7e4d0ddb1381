/* table.c: numbers in text files: tables with separators, and plain lists of numbers.

   A table's separator is the first of ';', tab, ',' that its first line holds outside quotes, else
   white space.  Lines that are empty or begin with '#' do not count, nor does a first line without
   any number: a header. */
#include <stdbool.h>
#include <string.h>

#include "core/error.h"
#include "core/form.h"
#include "core/kinds.h"
#include "core/text.h"
#include "io/file.h"
#include "io/number.h"
#include "io/shape.h"

typedef struct Table {
    const FileJob *job;
    const char *p, *end;
    int64_t line;   /* from 1 */
    char separator; /* ' ' is any white space; 0 before it is known */
    int32_t kind;
    int64_t rows, columns; /* columns: -1 before the first row */
    char *data;            /* a block of the elements so far */
    int64_t count, capacity;
} Table;

typedef struct Field {
    const char *begin, *end;
    int64_t column; /* of the table, from 1 */
} Field;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static const char *line_end(const Table *table) {
    const char *stop = memchr(table->p, '\n', (size_t)(table->end - table->p));
    return stop ? stop : table->end;
}

static char find_separator(const char *p, const char *end) {
    char found = ' ';
    bool quoted = false;
    for (; p < end; p++) {
        if (*p == '"') quoted = !quoted;
        if (quoted) continue;
        if (*p == ';') return ';';
        if (*p == '\t') found = '\t';
        if (*p == ',' && found == ' ') found = ',';
    }
    return found;
}

/* The field at *P in a line up to END; *P goes behind its separator, or to NULL after the last. */
static Field next_field(const Table *table, const char **p, const char *end, int64_t column) {
    Field field = {*p, end, column};
    bool quoted = false;
    const char *q = *p;
    for (; q < end; q++) {
        if (*q == '"') quoted = !quoted;
        if (!quoted && (table->separator == ' ' ? is_blank(*q) : *q == table->separator)) break;
    }
    field.end = q;
    if (table->separator == ' ')
        while (q < end && is_blank(*q)) q++;
    else if (q < end) q++;
    else q = NULL;
    *p = q && (table->separator != ' ' || q < end) ? q : NULL;
    while (field.begin < field.end && is_blank(*field.begin)) field.begin++;
    while (field.end > field.begin && is_blank(field.end[-1])) field.end--;
    if (field.end - field.begin >= 2 && *field.begin == '"' && field.end[-1] == '"') {
        field.begin++;
        field.end--;
        while (field.begin < field.end && is_blank(*field.begin)) field.begin++;
        while (field.end > field.begin && is_blank(field.end[-1])) field.end--;
    }
    return field;
}

static bool is_header(const Table *table, const char *p, const char *end) {
    char value[16];
    for (int64_t column = 1; p; column++) {
        Field field = next_field(table, &p, end, column);
        if (number_parse(ADL_KIND_C128, field.begin, field.end, value) ||
            number_parse(ADL_KIND_BOOL, field.begin, field.end, value))
            return false;
    }
    return true;
}

static bool reserve(Table *table) {
    if (table->count < table->capacity) return true;
    int64_t dims[] = {table->capacity ? table->capacity * 2 : 256};
    char *grown = adl__alloc_array(table->job->context, kind_bytes(table->kind), 1, dims);
    if (!grown) return false;
    if (table->count > 0)
        memcpy(grown, table->data, (size_t)(table->count * kind_bytes(table->kind)));
    adl__release(table->job->context, table->data);
    table->data = grown;
    table->capacity = dims[0];
    return true;
}

static int32_t fail_field(const Table *table, const Field *field) {
    double ignored[2];
    int len = (int)(field->end - field->begin < 40 ? field->end - field->begin : 40);
    if (len == 0)
        return file_fail(table->job, ADL_ERROR_FORMAT,
                         "line %lld, column %lld: a number is missing", (long long)table->line,
                         (long long)field->column);
    if (number_parse(ADL_KIND_C128, field->begin, field->end, ignored))
        return file_fail(table->job, ADL_ERROR_FORMAT,
                         "line %lld, column %lld: %.*s is no value that %s can hold",
                         (long long)table->line, (long long)field->column, len, field->begin,
                         kind_name(table->kind));
    return file_fail(table->job, ADL_ERROR_FORMAT,
                     "line %lld, column %lld: \"%.*s\" is not a number", (long long)table->line,
                     (long long)field->column, len, field->begin);
}

static int32_t read_row(Table *table, const char *p, const char *end) {
    int64_t column = 0;
    while (p) {
        Field field = next_field(table, &p, end, ++column);
        if (!reserve(table)) return table->job->context->error;
        char *to = table->data + table->count * kind_bytes(table->kind);
        if (!number_parse(table->kind, field.begin, field.end, to))
            return fail_field(table, &field);
        table->count++;
    }
    if (table->columns >= 0 && table->columns != column)
        return file_fail(table->job, ADL_ERROR_FORMAT,
                         "line %lld, column %lld: %lld column%s, but the lines before have %lld",
                         (long long)table->line,
                         (long long)(column < table->columns ? column : table->columns) + 1,
                         (long long)column, column == 1 ? "" : "s", (long long)table->columns);
    table->columns = column;
    table->rows++;
    return ADL_OK;
}

static int32_t read_rows(Table *table) {
    bool first = true;
    for (; table->p < table->end; table->line++) {
        const char *p = table->p, *end = line_end(table);
        table->p = end < table->end ? end + 1 : end;
        while (end > p && (end[-1] == '\r' || end[-1] == ' ')) end--;
        const char *text = p;
        while (text < end && is_blank(*text)) text++;
        if (text == end || *text == '#') continue;
        if (!table->separator) table->separator = find_separator(p, end);
        if (table->separator == ' ') p = text;
        bool header = first && is_header(table, p, end);
        first = false;
        if (header) continue;
        int32_t status = read_row(table, p, end);
        if (status != 0) return status;
    }
    return ADL_OK;
}

/* The rows as an array of RANK; a vector is one column or one row. */
static int32_t give_shape(const Table *table, int32_t rank, int64_t *dims) {
    int64_t columns = table->columns < 0 ? 0 : table->columns;
    if (rank == 2) {
        dims[0] = table->rows;
        dims[1] = columns;
        return ADL_OK;
    }
    dims[0] = table->count;
    if (rank == 1 && (table->rows <= 1 || columns <= 1)) return ADL_OK;
    return shape_fail_rank(table->job, 2, (int64_t[]){table->rows, columns}, rank);
}

/* Starts TABLE on the bytes of a file, past a byte order mark. */
static void begin(Table *table, const FileJob *job, int32_t kind, const char *bytes, int64_t size) {
    *table = (Table){
        .job = job, .p = bytes, .end = bytes + size, .line = 1, .kind = kind, .columns = -1};
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) table->p += 3;
}

/* Hands out the elements of TABLE, or frees them if STATUS is not 0. */
static int32_t finish(Table *table, int32_t status, void **data) {
    AdlContext *context = table->job->context;
    if (status == 0 && !table->data) {
        table->data = adl__alloc(context, 0);
        if (!table->data) status = context->error;
    }
    if (status != 0) adl__release(context, table->data);
    else *data = table->data;
    return status;
}

int32_t adl__load_csv(AdlContext *context, const AdlSite *site, const char *path, int64_t path_len,
                      int32_t kind, int32_t rank, void **data, int64_t *dims) {
    FileJob job;
    char *bytes;
    int64_t size;
    int32_t status = file_load_begin(&job, context, site, path, path_len, &bytes, &size);
    if (status != 0) return status;
    Table table;
    begin(&table, &job, kind, bytes, size);
    status = read_rows(&table);
    if (status == 0) status = give_shape(&table, rank, dims);
    status = finish(&table, status, data);
    file_load_end(&job, bytes);
    return status;
}

/* -- plain lists -- */

static bool separates(char c) {
    return is_blank(c) || c == '\n' || c == ',' || c == ';' || c == ':';
}

static int32_t read_words(Table *table, bool words) {
    const char *line_begin = table->p;
    const double not_a_number = __builtin_nan("");
    while (table->p < table->end) {
        if (*table->p == '\n') {
            table->line++;
            line_begin = table->p + 1;
        }
        if (separates(*table->p)) {
            table->p++;
            continue;
        }
        Field field = {table->p, table->p, table->p - line_begin + 1};
        while (field.end < table->end && !separates(*field.end)) field.end++;
        table->p = field.end;
        if (!reserve(table)) return table->job->context->error;
        char *to = table->data + table->count * (int64_t)sizeof(double);
        if (!number_parse_f64(field.begin, field.end, (double *)(void *)to)) {
            if (!words) return fail_field(table, &field);
            memcpy(to, &not_a_number, sizeof not_a_number);
        }
        table->count++;
    }
    return ADL_OK;
}

int32_t adl__load_text(AdlContext *context, const AdlSite *site, const char *path, int64_t path_len,
                       int32_t words, void **data, int64_t *dims) {
    FileJob job;
    char *bytes;
    int64_t size;
    int32_t status = file_load_begin(&job, context, site, path, path_len, &bytes, &size);
    if (status != 0) return status;
    Table table;
    begin(&table, &job, ADL_KIND_F64, bytes, size);
    status = finish(&table, read_words(&table, words != 0), data);
    dims[0] = table.count;
    file_load_end(&job, bytes);
    return status;
}

/* -- out -- */

static int32_t write_rows(const FileJob *job, FileOut *out, int32_t kind, int32_t rank,
                          const int64_t *dims, const void *data, char separator) {
    Form plain = {.precision = -1};
    int64_t columns = rank == 2 ? dims[1] : 1;
    for (int64_t i = 0; i < (rank > 0 ? dims[0] : 1); i++) {
        Text row = {0};
        for (int64_t j = 0; j < columns; j++) {
            if (j > 0) text_add_n(&row, &separator, 1);
            form_value(&row, &plain, kind,
                       (const char *)data + (i * columns + j) * kind_bytes(kind));
        }
        text_add(&row, "\n");
        bool failed = row.failed;
        if (!failed) file_out_write(out, row.ptr, row.len);
        text_free(&row);
        if (failed) return error_memory(job->context, job->site, columns * 24);
    }
    return ADL_OK;
}

static int32_t save_table(AdlContext *context, const AdlSite *site, const char *path,
                          int64_t path_len, int32_t kind, int32_t rank, const int64_t *dims,
                          const void *data, char separator) {
    FileJob job;
    FileOut out;
    int32_t status = file_job_begin(&job, context, site, path, path_len);
    if (status != 0) return status;
    if (rank > 2 || kind == ADL_KIND_STR)
        status = file_fail(&job, ADL_ERROR_ARGUMENT,
                           "a table has at most 2 dimensions, the array has %d", (int)rank);
    else status = file_out_begin(&out, &job);
    if (status == 0)
        status = file_out_end(&out, write_rows(&job, &out, kind, rank, dims, data, separator));
    file_job_end(&job);
    return status;
}

int32_t adl__save_csv(AdlContext *context, const AdlSite *site, const char *path, int64_t path_len,
                      int32_t kind, int32_t rank, const int64_t *dims, const void *data) {
    return save_table(context, site, path, path_len, kind, rank, dims, data, ',');
}

/* -- by the ending of the path -- */

typedef enum Ending { ENDING_NPY, ENDING_CSV, ENDING_TSV, ENDING_TXT, ENDING_OTHER } Ending;

static Ending ending_of(const char *path, int64_t len) {
    static const char endings[][5] = {".npy", ".csv", ".tsv", ".txt"};
    for (int i = 0; i < ENDING_OTHER; i++)
        if (len > 4 && memcmp(path + len - 4, endings[i], 4) == 0) return (Ending)i;
    return ENDING_OTHER;
}

static int32_t fail_ending(AdlContext *context, const AdlSite *site, const char *path,
                           int64_t len) {
    return error_note(context, ADL_ERROR_IO, site,
                      "%.*s: the name must end in .npy, .csv, .tsv or .txt",
                      (int)(len < 1000 ? len : 1000), path);
}

int32_t adl__load(AdlContext *context, const AdlSite *site, const char *path, int64_t path_len,
                  int32_t kind, int32_t rank, void **data, int64_t *dims) {
    switch (ending_of(path, path_len)) {
    case ENDING_NPY: return adl__load_npy(context, site, path, path_len, kind, rank, data, dims);
    case ENDING_CSV:
    case ENDING_TSV:
    case ENDING_TXT: return adl__load_csv(context, site, path, path_len, kind, rank, data, dims);
    case ENDING_OTHER: break;
    }
    return fail_ending(context, site, path, path_len);
}

int32_t adl__save(AdlContext *context, const AdlSite *site, const char *path, int64_t path_len,
                  int32_t kind, int32_t rank, const int64_t *dims, const void *data) {
    switch (ending_of(path, path_len)) {
    case ENDING_NPY: return adl__save_npy(context, site, path, path_len, kind, rank, dims, data);
    case ENDING_CSV: return save_table(context, site, path, path_len, kind, rank, dims, data, ',');
    case ENDING_TSV: return save_table(context, site, path, path_len, kind, rank, dims, data, '\t');
    case ENDING_TXT: return save_table(context, site, path, path_len, kind, rank, dims, data, ' ');
    case ENDING_OTHER: break;
    }
    return fail_ending(context, site, path, path_len);
}
