/* Names of output files, and writing them. */
#ifndef ADL_DRIVER_OUTPUT_H
#define ADL_DRIVER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "source/session.h"

/* The output for the file SOURCE: what -o says, else SOURCE's own name with SUFFIX in the place of
   ".adl", in the working directory, as cc does. */
const char *output_name(const Session *session, const char *source, const char *suffix);
/* Writes all of BYTES or nothing ("-" is standard output); false after reporting. */
bool output_write(Session *session, const char *path, const char *bytes, size_t len);
/* A fresh name beside PATH, to be written by another program and then given to output_publish. */
const char *output_beside(const Session *session, const char *path);
/* Renames TEMPORARY to PATH; false after reporting and removing it. */
bool output_publish(Session *session, const char *temporary, const char *path);

/* -MMD: a make rule that TARGET (or what -MT says) depends on every file that was read, those in
   STDLIB (may be NULL) excepted.  Goes to what -MF says, else to TARGET with the suffix ".d". */
bool output_depfile(Session *session, const char *target, const char *stdlib);

#endif
