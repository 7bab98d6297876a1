/* What the files of the second set share: see README.md. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
struct item { int id, weight; char *label; struct item *next; };
struct queue { struct item *head, *tail; unsigned n; };
struct job { const char *program, *title; int (*start)(struct job *); };
struct record { uint32_t count, size; unsigned char kind; };
struct log { FILE *file; int level; };
struct grid { unsigned width, height, cell; };
typedef int (*match)(const struct item *, const void *);
/* other file */
char *region(size_t n);
char *checked_region(size_t n);
struct item *first_match(struct item *from, match wanted, const void *with);
int open_log(struct log *log, const char *name);
int launch(struct job *job);
int launch_known(struct job *job);
void *rows_of(const struct record *r);
void *checked_rows_of(const struct record *r);
int share(int total, long parts);
int checked_share(int total, long parts);
void complain(const char *format, ...);
void fail(const char *why) __attribute__((noreturn));
int scan_number(const char *text, int *to);
int scan_or_zero(const char *text, int *to);
/* C++ */
int bad_476_method(int key);
int good_476_method(int key);
int bad_369_method(const char *text);
int good_369_method(const char *text);
void bad_78_string(const char *name);
void good_78_string(const char *name);
int bad_457_member(int k);
int good_457_member(int k);
/* the others */
int styles(int argc, char **argv);
#ifdef __cplusplus
}
#endif
