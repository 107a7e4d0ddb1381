#define _GNU_SOURCE /* realpath */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/strbuf.h"

static bool fail(FileError *error, FileErrorKind kind, int errnum) {
    *error = (FileError){kind, errnum};
    return false;
}

/* Reads FD to its end.  SIZE is a guess; pipes and files that grow are read all the same. */
static bool read_fd(int fd, size_t size, char **text, size_t *len, FileError *error) {
    size_t cap = size + 1, n = 0;
    char *bytes = memory_alloc(cap + 1);
    for (;;) {
        ssize_t got = read(fd, bytes + n, cap - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            int errnum = errno;
            free(bytes);
            return fail(error, FILE_UNREADABLE, errnum);
        }
        if (got == 0) break;
        n += (size_t)got;
        if (n > FILE_MAX_BYTES) {
            free(bytes);
            return fail(error, FILE_TOO_LARGE, 0);
        }
        if (n == cap) {
            bytes = memory_resize(bytes, n, cap * 2 + 1);
            cap *= 2;
        }
    }
    bytes[n] = '\0';
    *text = bytes;
    *len = n;
    *error = (FileError){FILE_OK, 0};
    return true;
}

bool file_read_all(const char *path, char **text, size_t *len, FileError *error) {
    *text = NULL;
    *len = 0;
    if (strcmp(path, "-") == 0) return read_fd(STDIN_FILENO, 65535, text, len, error);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(error, FILE_UNREADABLE, errno);
    struct stat info;
    bool ok;
    if (fstat(fd, &info) != 0) ok = fail(error, FILE_UNREADABLE, errno);
    else if (S_ISDIR(info.st_mode)) ok = fail(error, FILE_IS_DIRECTORY, 0);
    else if (info.st_size > 0 && (size_t)info.st_size > FILE_MAX_BYTES)
        ok = fail(error, FILE_TOO_LARGE, 0);
    else ok = read_fd(fd, info.st_size > 0 ? (size_t)info.st_size : 4095, text, len, error);
    close(fd);
    return ok;
}

static bool write_fd(int fd, const char *bytes, size_t len, FileError *error) {
    while (len) {
        ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail(error, FILE_UNWRITABLE, errno);
        bytes += put;
        len -= (size_t)put;
    }
    *error = (FileError){FILE_OK, 0};
    return true;
}

static bool write_directly(const char *path, const char *bytes, size_t len, FileError *error) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return fail(error, FILE_UNWRITABLE, errno);
    bool ok = write_fd(fd, bytes, len, error);
    if (close(fd) != 0 && ok) return fail(error, FILE_UNWRITABLE, errno);
    return ok;
}

/* Opens a new file beside PATH; its name is put into NAME.  The name is unique by process and
   number; O_EXCL keeps an existing file. */
static int open_beside(const char *path, int mode, StrBuf *name) {
    for (unsigned i = 0; i < 100; i++) {
        strbuf_clear(name);
        strbuf_printf(name, "%s.tmp%ld.%u", path, (long)getpid(), i);
        int fd = open(name->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static bool write_beside(const char *path, const char *bytes, size_t len, int mode,
                         const struct stat *old, FileError *error) {
    StrBuf name = {0};
    int fd = open_beside(path, mode, &name);
    if (fd < 0) {
        fail(error, FILE_UNWRITABLE, errno);
        strbuf_free(&name);
        return false;
    }
    bool ok = write_fd(fd, bytes, len, error);
    if (ok && old) (void)!fchmod(fd, (old->st_mode & 07777) | ((mode_t)mode & 0111));
    if (close(fd) != 0 && ok) ok = fail(error, FILE_UNWRITABLE, errno);
    if (ok && rename(name.text, path) != 0) ok = fail(error, FILE_UNWRITABLE, errno);
    if (!ok) unlink(name.text);
    strbuf_free(&name);
    return ok;
}

bool file_write_atomic(const char *path, const char *bytes, size_t len, int mode,
                       FileError *error) {
    if (strcmp(path, "-") == 0) return write_fd(STDOUT_FILENO, bytes, len, error);
    struct stat info;
    if (stat(path, &info) != 0) return write_beside(path, bytes, len, mode, NULL, error);
    if (S_ISDIR(info.st_mode)) return fail(error, FILE_IS_DIRECTORY, 0);
    if (!S_ISREG(info.st_mode)) return write_directly(path, bytes, len, error);
    /* A symbolic link stays one: its target is replaced. */
    char *real = realpath(path, NULL);
    bool ok = write_beside(real ? real : path, bytes, len, mode, &info, error);
    free(real);
    return ok;
}

const char *file_error_text(const FileError *error) {
    switch (error->kind) {
    case FILE_OK: return "no error";
    case FILE_IS_DIRECTORY: return "is a directory";
    case FILE_TOO_LARGE: return "larger than 2 GiB";
    case FILE_UNREADABLE:
    case FILE_UNWRITABLE: break;
    }
    return error->errnum ? strerror(error->errnum) : "input/output error";
}

bool file_exists(const char *path) {
    return access(path, F_OK) == 0;
}

const char *path_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
