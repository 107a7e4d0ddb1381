/* file.h: whole files in, and whole files out or not at all. */
#ifndef ADL_RUNTIME_IO_FILE_H
#define ADL_RUNTIME_IO_FILE_H

#include <stdio.h>

#include "core/calls.h"

/* Where a file operation stands, for its messages. */
typedef struct FileJob {
    AdlContext *context;
    const AdlSite *site;
    const char *path; /* zero-terminated; owned by the job */
    size_t path_bytes;
} FileJob;

/* Starts a job on LEN bytes at PATH; 0, or an error for a path that cannot be one. */
int32_t file_job_begin(FileJob *job, AdlContext *context, const AdlSite *site, const char *path,
                       int64_t len);
void file_job_end(FileJob *job);
/* Notes "PATH: message" with CODE. */
int32_t file_fail(const FileJob *job, int32_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Begins a job with all bytes of the file, followed by a zero byte, as a block of the context. */
int32_t file_load_begin(FileJob *job, AdlContext *context, const AdlSite *site, const char *path,
                        int64_t len, char **bytes, int64_t *count);
void file_load_end(FileJob *job, char *bytes);

/* A file that appears under its path only when it is complete. */
typedef struct FileOut {
    const FileJob *job;
    FILE *stream;
    char *temporary; /* NULL: written in place, since the path is a device or pipe */
    char *target;    /* the path with links followed */
    size_t temporary_bytes, target_bytes;
} FileOut;

int32_t file_out_begin(FileOut *out, const FileJob *job);
void file_out_write(FileOut *out, const void *bytes, size_t count);
/* Puts the file in its place, or takes it away if any write failed or STATUS is not 0. */
int32_t file_out_end(FileOut *out, int32_t status);

#endif
