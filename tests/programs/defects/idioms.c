/* Shapes of faults that were found in released programs, of every family; main calls `idioms`. */
#include <errno.h>
#include <stdint.h>
#include <syslog.h>
#include "shared.h"

struct image { uint32_t width, height; unsigned char depth; unsigned char *pixels; };
struct buffer { char *data; size_t used, size; };
struct session { char *user; struct buffer *out; int state; };
struct header { uint16_t kind; uint16_t channels; int32_t length; };

/* A header line without a colon. */
int bad_476_header(char *line) { char *value = strchr(line, ':') + 1; char *end = strchr(value, '\r'); *end = 0; return *value; } /* BAD 476 */
int good_476_header(char *line) {
  char *value = strchr(line, ':');
  if (!value) return 0;
  char *end = strchr(++value, '\r');
  if (end) *end = 0;
  return *value;
}
/* The error path cleans up what was never made. */
int bad_476_cleanup(int k) {
  struct session *s = NULL;
  int result = -1;
  if (k < 3) goto out;
  s = calloc(1, sizeof *s);
  if (!s) goto out;
  s->state = result = k;
out:
  free(s->user); /* BAD 476 */
  free(s);
  return result;
}
int good_476_cleanup(int k) {
  struct session *s = NULL;
  int result = -1;
  if (k < 3) goto out;
  s = calloc(1, sizeof *s);
  if (!s) goto out;
  s->state = result = k;
out:
  if (s) free(s->user);
  free(s);
  return result;
}
/* A buffer that grows: the status of growing is not looked at. */
static int grow_buffer(struct buffer *b, size_t n) {
  char *more = realloc(b->data, n);
  b->data = more;
  b->size = more ? n : 0;
  return more ? 0 : -1;
}
int bad_476_grow(int k) { struct buffer b = {0}; grow_buffer(&b, 16); b.data[0] = (char)k; free(b.data); return k; } /* BAD 476 */
int good_476_grow(int k) {
  struct buffer b = {0};
  if (grow_buffer(&b, 16) < 0) return 0;
  b.data[0] = (char)k;
  free(b.data);
  return k;
}
/* A lookup of an option whose entry has no value. */
static const struct { const char *name, *value; } options[] = {{"user", "root"}, {"host", NULL}, {"port", "80"}};
static const char *option(const char *name) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (!strcmp(options[i].name, name)) return options[i].value;
  return NULL;
}
int bad_476_option(const char *name) { return (int)strlen(option(name)); } /* BAD 476 */
int good_476_option(const char *name) { const char *v = option(name); return v ? (int)strlen(v) : 0; }
/* An object is made by stages, and a later stage takes the first for granted. */
static struct session *open_session(const char *user) {
  struct session *s = malloc(sizeof *s);
  if (!s) return NULL;
  s->user = strdup(user);
  s->out = NULL;
  s->state = 0;
  return s;
}
int bad_476_stage(const char *user) {
  struct session *s = open_session(user);
  if (!s) return 0;
  s->out->used = 0; /* BAD 476 */
  free(s);
  return 1;
}
int good_476_stage(const char *user) {
  struct session *s = open_session(user);
  if (!s) return 0;
  s->out = calloc(1, sizeof *s->out);
  if (s->out) s->out->used = 0;
  free(s->out);
  free(s);
  return 1;
}

/* width * height of an image's header. */
static int read_image(struct image *i) { return fread(i, 1, 9, stdin) == 9; }
void bad_190_image(void) { struct image i; if (!read_image(&i)) return; i.pixels = malloc(i.width * i.height * 3); free(i.pixels); } /* BAD 190 */
void good_190_image(void) {
  struct image i;
  if (!read_image(&i)) return;
  if (i.width > 4096 || i.height > 4096) return;
  i.pixels = malloc((size_t)i.width * i.height * 3);
  free(i.pixels);
}
/* A length that may be negative, or so great that one more is 0. */
void bad_190_plus_one(const char *given) {
  uint32_t n = (uint32_t)strtoul(given, 0, 10);
  char *copy = malloc(n + 1); /* BAD 190 */
  if (copy) copy[0] = 0;
  free(copy);
}
void good_190_plus_one(const char *given) {
  uint32_t n = (uint32_t)strtoul(given, 0, 10);
  if (n >= 1 << 20) return;
  char *copy = malloc(n + 1);
  if (copy) copy[0] = 0;
  free(copy);
}
void bad_190_packet(void) {
  struct header h;
  char body[256], packet[256] = {0};
  if (read(0, &h, sizeof h) != sizeof h) return;
  if (h.length > 256) return;
  memcpy(body, packet, h.length); /* BAD 190 */
  puts(body);
}
void good_190_packet(void) {
  struct header h;
  char body[256], packet[256] = {0};
  if (read(0, &h, sizeof h) != sizeof h) return;
  if (h.length < 0 || h.length > 256) return;
  memcpy(body, packet, h.length);
  puts(body);
}
/* An array made by a function of the program's own. */
static void *make_array(size_t n, size_t size) { return malloc(n * size); } /* BAD 190 */
static void *make_array_checked(size_t n, size_t size) {
  if (size && n > 65536 / size) return NULL;
  return malloc(n * size);
}
void bad_190_array(const char *given) { free(make_array(strtoul(given, 0, 10), sizeof(struct image))); }
void good_190_array(const char *given) { free(make_array_checked(strtoul(given, 0, 10), sizeof(struct image))); }

/* An average over what was read; nothing may have been. */
int bad_369_average(FILE *f) {
  char line[64];
  int sum = 0, n = 0;
  while (fgets(line, sizeof line, f)) sum += atoi(line), n++;
  return sum / n; /* BAD 369 */
}
int good_369_average(FILE *f) {
  char line[64];
  int sum = 0, n = 0;
  while (fgets(line, sizeof line, f)) sum += atoi(line), n++;
  return n > 0 ? sum / n : 0;
}
/* A block size of a file's header. */
int bad_369_header(void) { struct header h; if (read(0, &h, sizeof h) != sizeof h) return 0; return h.length / h.channels; } /* BAD 369 */
int good_369_header(void) {
  struct header h;
  if (read(0, &h, sizeof h) != sizeof h) return 0;
  if (h.channels == 0) return 0;
  return h.length / h.channels;
}

/* A status that says the result was not set, and is not looked at. */
static int parse_number(const char *text, int *to) {
  char *end;
  long n = strtol(text, &end, 10);
  if (end == text) return -1;
  *to = (int)n;
  return 0;
}
int bad_457_status(const char *text) { int n; parse_number(text, &n); return n * 2; } /* BAD 457 */
int good_457_status(const char *text) { int n; if (parse_number(text, &n) < 0) return 0; return n * 2; }
/* A flag is set by one case alone. */
int bad_457_flag(int argc, char **argv) {
  int verbose, c;
  while ((c = getopt(argc, argv, "v")) != -1)
    if (c == 'v') verbose = 1;
  return verbose ? 1 : 0; /* BAD 457 */
}
int good_457_flag(int argc, char **argv) {
  int verbose = 0, c;
  while ((c = getopt(argc, argv, "v")) != -1)
    if (c == 'v') verbose = 1;
  return verbose ? 1 : 0;
}

/* A name of a file from the network in a command. */
void bad_78_name(void) {
  char name[64], command[128];
  if (scanf("%63s", name) != 1) return;
  snprintf(command, sizeof command, "gzip -d %s", name);
  FILE *p = popen(command, "r"); /* BAD 78 */
  if (p) pclose(p);
}
void good_78_name(void) {
  char name[64], command[128];
  if (scanf("%63s", name) != 1) return;
  snprintf(command, sizeof command, "gzip -d %s", "archive.gz");
  FILE *p = popen(command, "r");
  if (p) pclose(p);
}
/* A log that takes the message as the format. */
static void note(const char *message) { syslog(LOG_INFO, message); } /* BAD 134 */
static void note_safely(const char *message) { syslog(LOG_INFO, "%s", message); }
void bad_134_log(char **argv) { note(argv[0]); }
void good_134_log(char **argv) { note_safely(argv[0]); }

/* Tests that come too late, or ask what cannot be. */
int bad_561_sign(const char *s) {
  size_t n = strlen(s);
  if (n < 0)
    return -1; /* BAD 561 */
  return (int)n;
}
int good_561_sign(const char *s) {
  long n = atol(s);
  if (n < 0)
    return -1;
  return (int)n;
}
int bad_561_mask(int k) {
  switch (k & 3) {
  case 0: return 1;
  case 3: return 2;
  case 4: return 3; /* BAD 561 */
  default: return 4;
  }
}
int good_561_mask(int k) {
  switch (k & 7) {
  case 0: return 1;
  case 3: return 2;
  case 4: return 3;
  default: return 4;
  }
}
int bad_561_errno(int k) {
  unsigned char state = (unsigned char)k;
  if (state > 255)
    k = 0; /* BAD 561 */
  return k + state;
}
int good_561_errno(int k) {
  unsigned char state = (unsigned char)k;
  if (state > 200)
    k = 0;
  return k + state;
}

/* A key is cleared where nobody reads it any more; a result is overwritten. */
int bad_563_key(int k) {
  char key[16];
  for (int i = 0; i < 16; i++) key[i] = (char)(k + i);
  int sum = key[0] + key[15];
  memset(key, 0, sizeof key); /* BAD 563 */
  return sum;
}
int good_563_key(int k) {
  char key[16];
  memset(key, 0, sizeof key);
  for (int i = 0; i < 8; i++) key[i] = (char)(k + i);
  return key[0] + key[15];
}
int bad_563_status(FILE *f) {
  int status = fflush(f); /* BAD 563 */
  status = ferror(f);
  return status;
}
int good_563_status(FILE *f) {
  int status = fflush(f);
  if (!status) status = ferror(f);
  return status;
}
int bad_563_field(int k) {
  struct header h;
  h.kind = 1; /* BAD 563 */
  h.length = k;
  h.kind = (uint16_t)k;
  return other_sum(&h.kind, &h.length);
}
int good_563_field(int k) {
  struct header h;
  h.kind = 1;
  h.length = k;
  return other_sum(&h.kind, &h.length);
}
int bad_563_counter(int k) {
  int n = 0;
  for (int i = 0; i < k; i++) n += i; /* BAD 563 */
  k = n; /* BAD 563 */
  return 7;
}
int good_563_counter(int k) {
  int n = 0;
  for (int i = 0; i < k; i++) n += i;
  return n;
}

int idioms(int k, char **argv) {
  char line[80] = "", *given = argv[0];
  if (!fgets(line, sizeof line, stdin)) return 0;
  bad_190_image(), good_190_image(), bad_190_plus_one(given), good_190_plus_one(given), bad_190_packet(), good_190_packet();
  bad_190_array(given), good_190_array(given), bad_78_name(), good_78_name(), bad_134_log(argv), good_134_log(argv);
  return bad_476_header(line) + good_476_header(line) + bad_476_cleanup(k) + good_476_cleanup(k) + bad_476_grow(k)
    + good_476_grow(k) + bad_476_option(given) + good_476_option(given) + bad_476_stage(given) + good_476_stage(given)
    + bad_369_average(stdin) + good_369_average(stdin) + bad_369_header() + good_369_header()
    + bad_457_status(given) + good_457_status(given) + bad_457_flag(k, argv) + good_457_flag(k, argv)
    + bad_561_sign(given) + good_561_sign(given) + bad_561_mask(k) + good_561_mask(k) + bad_561_errno(k) + good_561_errno(k)
    + bad_563_key(k) + good_563_key(k) + bad_563_status(stdout) + good_563_status(stdout) + bad_563_field(k) + good_563_field(k)
    + bad_563_counter(k) + good_563_counter(k);
}
