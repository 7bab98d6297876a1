/* CWE 78, 134, 190: data from outside as commands, formats and sizes. */
#include "shared.h"

static char line[200];
static struct { char text[64]; int n; } request;
static void run(const char *c) { system(c); } /* BAD 78 */
static void run_safe(const char *c) { system(c); }
static void build(char *to, size_t n, const char *from) { snprintf(to, n, "ls %s", from); }
static void build_safe(char *to, size_t n, const char *from) { snprintf(to, n, "ls %s", from); }

void bad_78_getenv(void) { char *c = getenv("CMD"); if (c) system(c); } /* BAD 78 */
void good_78_getenv(void) { char *c = getenv("CMD"); if (c) puts(c); system("ls"); }
void bad_78_argument(char **argv) { run(argv[1]); }
void good_78_argument(char **argv) { puts(argv[1]); run_safe("date"); }
void bad_78_copied(char **argv) { char b[99]; strcpy(b, "ls "); strcat(b, argv[1]); system(b); } /* BAD 78 */
void good_78_copied(char **argv) { char b[99]; strcpy(b, "ls "); strcat(b, "-l"); system(b); puts(argv[1]); }
void bad_78_built(char **argv) { char b[99]; build(b, sizeof b, argv[1]); system(b); } /* BAD 78 */
void good_78_built(char **argv) { char b[99]; build_safe(b, sizeof b, "/"); system(b); puts(argv[1]); }
void bad_78_global(void) { if (fgets(line, sizeof line, stdin)) system(line); } /* BAD 78 */
void good_78_global(void) { if (fgets(line, sizeof line, stdin)) puts(line); system("date"); }
void bad_78_heap(void) { char *b = malloc(99); if (!b) return; if (read(0, b, 98) > 0) popen(b, "r"); } /* BAD 78 */
void good_78_heap(void) { char *b = malloc(99); if (!b) return; strcpy(b, "ls"); popen(b, "r"); }
void bad_78_exec(void) { char *c = getenv("EDITOR"); if (c) execlp(c, c, (char *)0); } /* BAD 78 */
void good_78_exec(void) { execlp("vi", "vi", (char *)0); }
void bad_78_callback(struct handler *h) { char *c = getenv("HOOK"); if (c) h->use(c); }
void good_78_callback(struct handler *h) { h->use("date"); }
void bad_78_file(void) { char *c = other_input(); if (c) system(c); } /* BAD 78 */
void good_78_file(void) { system(other_constant()); }
void bad_78_other_file(void) { char *c = getenv("X"); if (c) other_run(c); }
void bad_78_field(void) { struct item i; if (read(0, request.text, 60) > 0) system(request.text); i.count = 0; (void)i; } /* BAD 78 */

void bad_134_argument(char **argv) { printf(argv[1]); } /* BAD 134 */
void good_134_argument(char **argv) { printf("%s", argv[1]); }
void bad_134_read(void) { char b[99]; long n = read(0, b, 98); if (n > 0) { b[n] = 0; printf(b); } } /* BAD 134 */
void good_134_read(void) { char b[99]; long n = read(0, b, 98); if (n > 0) { b[n] = 0; printf("%s", b); } }
void bad_134_getenv(FILE *f) { char *s = getenv("FMT"); if (s) fprintf(f, s); } /* BAD 134 */
void good_134_getenv(FILE *f) { char *s = getenv("FMT"); if (s) fputs(s, f); }
void bad_134_snprintf(char **argv) { char b[99]; snprintf(b, sizeof b, argv[1]); puts(b); } /* BAD 134 */
void good_134_snprintf(char **argv) { char b[99]; snprintf(b, sizeof b, "%s", argv[1]); puts(b); }
void bad_134_file(void) { char *s = getenv("FMT"); if (s) other_print(s); }

void *bad_190_malloc(const char *s) { int n = atoi(s); return malloc(n * sizeof(struct item)); } /* BAD 190 */
void *good_190_malloc(const char *s) { int n = atoi(s); if (n < 0 || n > 1000) return 0; return malloc(n * sizeof(struct item)); }
void bad_190_memcpy(char *to, const char *from, const char *s) { memcpy(to, from, strtoul(s, 0, 10)); } /* BAD 190 */
void good_190_memcpy(char *to, const char *from, const char *s) { unsigned long n = strtoul(s, 0, 10); if (n > 64) n = 64; memcpy(to, from, n); }
void bad_190_signed(char *to, const char *from, const char *s) { int n = atoi(s); if (n < 64) memcpy(to, from, n); } /* BAD 190 */
void good_190_signed(char *to, const char *from, const char *s) { int n = atoi(s); if (n > 0 && n < 64) memcpy(to, from, n); }
void bad_190_field(void) { char b[64]; if (read(0, &request, sizeof request) > 0) memcpy(b, request.text, request.n); puts(b); } /* BAD 190 */
void good_190_field(void) { char b[64]; if (read(0, &request, sizeof request) > 0) { int n = request.n; if (n < 0 || n > 63) n = 63; memcpy(b, request.text, n); } puts(b); }
