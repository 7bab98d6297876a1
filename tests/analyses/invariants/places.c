// Storage of the C library that its functions return: errno, character tables, texts, dates.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

_Static_assert(sizeof(struct tm) <= 56, "localtime");
_Static_assert(sizeof(struct stat) <= 144, "stat");
_Static_assert(sizeof(struct timeval) <= 16 && sizeof(struct timespec) <= 16, "gettimeofday");
_Static_assert(sizeof(time_t) <= 8, "time");

int letters(unsigned char c) {
  return isalpha(c) != 0;                     // expect: safe null, safe bounds
}

int any_letters(int c) {
  if (c < -1 || c > 255) return 0;
  return isspace(c) != 0;                     // expect: safe null, safe bounds
}

int too_far(int c) {
  return isdigit(c) + isspace(c) != 0;        // expect: may fail bounds, safe bounds
}

int errors(const char *name) {
  int slots[2] = {0, 0}, n = 0;
  errno = 0;                                  // expect: safe null, safe bounds
  FILE *file = fopen(name, "r");
  if (!file && errno == 0) n = 2;             // expect: safe null, safe bounds
  if (file) fclose(file);
  if (errno) n = 2;                           // expect: safe bounds
  return slots[n];                            // expect: may fail bounds
}

int later(time_t a, time_t b) {
  int slots[2] = {0, 0};
  struct tm *first = gmtime(&a);
  if (!first) return 0;
  int year = first->tm_year;                  // expect: safe null, safe bounds
  gmtime(&b);
  int n = first->tm_year != year ? 2 : 0;     // expect: safe bounds, safe null
  return slots[n];                            // expect: may fail bounds
}

int null_dates(time_t a) {
  struct tm *date = gmtime(&a);
  return date->tm_year;                       // expect: may fail null
}

int texts(int code) {
  char *text = strerror(code);
  int n = text[0];                            // expect: safe null, safe bounds
  strerror(code + 1);
  return n == text[0];                        // expect: safe null, safe bounds
}

long files(const char *name) {
  struct stat about;
  if (!name || stat(name, &about)) return -1;  // expect: safe bounds, safe null
  return (long)about.st_size;
}

long moments(void) {
  struct timeval now;
  gettimeofday(&now, NULL);                   // expect: safe bounds
  return time(NULL);                          // expect: safe bounds
}
