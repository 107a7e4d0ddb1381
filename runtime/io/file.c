/* file.c: reading whole files; writing beside the target, then renaming. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/allocator.h"
#include "core/error.h"
#include "core/text.h"

int32_t file_job_begin(FileJob *job, AdlContext *context, const AdlSite *site, const char *path,
                       int64_t len) {
    *job = (FileJob){.context = context, .site = site};
    if (len <= 0) return error_note(context, ADL_ERROR_IO, site, "the path of a file is empty");
    if (memchr(path, 0, (size_t)len))
        return error_note(context, ADL_ERROR_IO, site, "the path of a file holds a zero byte");
    char *copy = allocator_take((size_t)len + 1);
    if (!copy) return error_memory(context, site, len + 1);
    memcpy(copy, path, (size_t)len);
    copy[len] = '\0';
    job->path = copy;
    job->path_bytes = (size_t)len + 1;
    return ADL_OK;
}

void file_job_end(FileJob *job) {
    allocator_give((void *)(uintptr_t)job->path, job->path_bytes);
    job->path = NULL;
}

int32_t file_fail(const FileJob *job, int32_t code, const char *format, ...) {
    char small[512];
    va_list args;
    va_start(args, format);
    vsnprintf(small, sizeof small, format, args);
    va_end(args);
    return error_note(job->context, code, job->site, "%s: %s", job->path, small);
}

/* The text of an error number; strerror is not for several threads. */
static int32_t fail_errno(const FileJob *job, const char *what, int number) {
    char text[128] = "";
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale) {
        snprintf(text, sizeof text, "%s", strerror_l(number, c_locale));
        freelocale(c_locale);
    }
    return error_note(job->context, ADL_ERROR_IO, job->site, "cannot %s %s: %s", what, job->path,
                      text);
}

/* Moves *BYTES to a block of twice its size. */
static bool grow(AdlContext *context, char **bytes, int64_t count, int64_t *capacity) {
    if (*capacity > INT64_MAX / 8) return false;
    char *grown = adl__alloc(context, 2 * *capacity);
    if (!grown) return false;
    memcpy(grown, *bytes, (size_t)count);
    adl__release(context, *bytes);
    *bytes = grown;
    *capacity *= 2;
    return true;
}

static int32_t read_stream(const FileJob *job, FILE *stream, char **bytes, int64_t *count) {
    struct stat info;
    int64_t capacity = 4096;
    if (fstat(fileno(stream), &info) != 0) return fail_errno(job, "read", errno);
    if (S_ISDIR(info.st_mode)) return fail_errno(job, "read", EISDIR);
    if (S_ISREG(info.st_mode) && info.st_size >= 0 && info.st_size < INT64_MAX / 8)
        capacity = (int64_t)info.st_size + 2; /* one to see the end, one for the zero byte */
    *bytes = adl__alloc(job->context, capacity);
    if (!*bytes) return job->context->error;
    for (;;) {
        size_t got = fread(*bytes + *count, 1, (size_t)(capacity - *count - 1), stream);
        *count += (int64_t)got;
        if (*count < capacity - 1) break;
        if (!grow(job->context, bytes, *count, &capacity)) return job->context->error;
    }
    (*bytes)[*count] = '\0';
    return ferror(stream) ? fail_errno(job, "read", errno) : ADL_OK;
}

static int32_t read_all(const FileJob *job, char **bytes, int64_t *count) {
    *bytes = NULL;
    *count = 0;
    FILE *stream = fopen(job->path, "rbe");
    if (!stream) return fail_errno(job, "read", errno);
    int32_t status = read_stream(job, stream, bytes, count);
    fclose(stream);
    if (status != 0) {
        adl__release(job->context, *bytes);
        *bytes = NULL;
    }
    return status;
}

int32_t file_load_begin(FileJob *job, AdlContext *context, const AdlSite *site, const char *path,
                        int64_t len, char **bytes, int64_t *count) {
    int32_t status = file_job_begin(job, context, site, path, len);
    if (status != 0) return status;
    status = read_all(job, bytes, count);
    if (status != 0) file_job_end(job);
    return status;
}

void file_load_end(FileJob *job, char *bytes) {
    adl__release(job->context, bytes);
    file_job_end(job);
}

/* -- out -- */

/* A file of a new name beside TARGET; its name and a stream in OUT. */
static int32_t open_temporary(FileOut *out) {
    for (int i = 0; i < 1000; i++) {
        Text name = {0};
        text_printf(&name, "%s.%ld-%d.tmp", out->target, (long)getpid(), i);
        if (name.failed) return error_memory(out->job->context, out->job->site, 128);
        int fd = open(name.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST) {
            text_free(&name);
            continue;
        }
        if (fd < 0) {
            text_free(&name);
            return fail_errno(out->job, "write", errno);
        }
        out->temporary = name.ptr;
        out->temporary_bytes = name.cap;
        out->stream = fdopen(fd, "wb");
        if (out->stream) return ADL_OK;
        int number = errno;
        close(fd);
        return fail_errno(out->job, "write", number);
    }
    return fail_errno(out->job, "write", EEXIST);
}

static void forget_names(FileOut *out) {
    allocator_give(out->temporary, out->temporary_bytes);
    allocator_give(out->target, out->target_bytes);
    out->temporary = out->target = NULL;
}

/* The path with links followed, so that a link stays one. */
static bool find_target(FileOut *out) {
    Text target = {0};
    char *resolved = realpath(out->job->path, NULL);
    text_add(&target, resolved ? resolved : out->job->path);
    free(resolved);
    if (target.failed) return false;
    out->target = target.ptr;
    out->target_bytes = target.cap;
    return true;
}

int32_t file_out_begin(FileOut *out, const FileJob *job) {
    *out = (FileOut){.job = job};
    struct stat info;
    bool exists = stat(job->path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return fail_errno(job, "write", EISDIR);
    if (exists && !S_ISREG(info.st_mode)) {
        out->stream = fopen(job->path, "wbe");
        return out->stream ? ADL_OK : fail_errno(job, "write", errno);
    }
    if (!find_target(out)) return error_memory(job->context, job->site, (int64_t)job->path_bytes);
    int32_t status = open_temporary(out);
    if (status != 0) {
        if (out->temporary) unlink(out->temporary);
        forget_names(out);
        return status;
    }
    if (exists) (void)fchmod(fileno(out->stream), info.st_mode & 07777);
    return ADL_OK;
}

void file_out_write(FileOut *out, const void *bytes, size_t count) {
    if (count > 0) (void)!fwrite(bytes, 1, count, out->stream); /* ferror is asked at the end */
}

int32_t file_out_end(FileOut *out, int32_t status) {
    errno = 0;
    bool failed = fflush(out->stream) != 0 || ferror(out->stream);
    int number = errno;
    if (fclose(out->stream) != 0 && !failed) {
        failed = true;
        number = errno;
    }
    if (status == 0 && failed) status = fail_errno(out->job, "write", number ? number : EIO);
    if (status == 0 && out->temporary && rename(out->temporary, out->target) != 0)
        status = fail_errno(out->job, "write", errno);
    if (status != 0 && out->temporary) unlink(out->temporary);
    forget_names(out);
    return status;
}
