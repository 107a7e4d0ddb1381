/* Whole files in and out.  Nothing here reports: the caller turns a FileError into a diagnostic
   or a message. */
#ifndef ADL_BASE_FILE_H
#define ADL_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum FileErrorKind {
    FILE_OK,
    FILE_UNREADABLE, /* missing, no permission, a read error: see errnum */
    FILE_IS_DIRECTORY,
    FILE_TOO_LARGE, /* more than FILE_MAX_BYTES */
    FILE_UNWRITABLE /* see errnum */
} FileErrorKind;

typedef struct FileError {
    FileErrorKind kind;
    int errnum; /* of errno, 0 if none */
} FileError;

#define FILE_MAX_BYTES ((size_t)1 << 31)

/* All of PATH ("-" is standard input) in malloc'ed memory with a zero byte behind it. */
bool file_read_all(const char *path, char **text, size_t *len, FileError *error);
/* Writes a temporary beside PATH and renames it, so that PATH is either as before or whole.
   An existing file keeps its permissions; a PATH that is no regular file (a terminal, /dev/null)
   is written directly, and "-" is standard output.  MODE is as for open, 0666 as a rule. */
bool file_write_atomic(const char *path, const char *bytes, size_t len, int mode, FileError *error);
/* A phrase for messages, such as "No such file or directory". */
const char *file_error_text(const FileError *error);

bool file_exists(const char *path);
/* The part of PATH behind the last '/'. */
const char *path_base(const char *path);

#endif
