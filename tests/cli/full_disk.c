// A library to preload: from the n-th change of a regular file on, the disk is full.
// FULL_AFTER is n; FULL_COUNT names a file to which each process adds how many changes it made.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long n_changes, full_after = -1;

__attribute__((constructor)) static void start(void) {
  const char *n = getenv("FULL_AFTER");
  if (n) full_after = atol(n);
}

static int is_full(void) { return full_after >= 0 && n_changes++ >= full_after; }

static int is_file(int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

__attribute__((destructor)) static void end(void) {
  const char *name = getenv("FULL_COUNT");
  FILE *file = name && full_after >= 0 ? (full_after = -1, fopen(name, "a")) : NULL;
  if (file) fprintf(file, "%ld\n", n_changes), fclose(file);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FULL return errno = ENOSPC, -1

ssize_t write(int fd, const void *data, size_t size) {
  if (is_file(fd) && is_full()) FULL;
  return NEXT(write)(fd, data, size);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (is_file(fd) && is_full()) FULL;
  return NEXT(writev)(fd, parts, count);
}
int mkdir(const char *path, mode_t mode) {
  if (is_full()) FULL;
  return NEXT(mkdir)(path, mode);
}
int rename(const char *from, const char *to) {
  if (is_full()) FULL;
  return NEXT(rename)(from, to);
}
static int opened(__typeof__(&open) next, const char *path, int flags, mode_t mode) {
  if ((flags & O_CREAT) && access(path, F_OK) != 0 && is_full()) FULL;
  return next(path, flags, mode);
}
int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return opened(NEXT(open), path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return opened((__typeof__(&open))dlsym(RTLD_NEXT, "open64"), path, flags, mode);
}
