/* CWE 78, 134, 190: what comes from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
#include <sys/socket.h>

void bad_78_argument(const char *name) {
  char command[256];
  snprintf(command, sizeof command, "cat %s", name);
  system(command); /* BAD 78 */
}
void good_78_argument(int choice) {
  char command[256];
  snprintf(command, sizeof command, "cat %s", choice ? "a.txt" : "b.txt");
  system(command);
}
void bad_78_line(FILE *in) {
  char line[80], command[128] = "grep ";
  if (!fgets(line, sizeof line, in)) return;
  strncat(command, line, sizeof command - strlen(command) - 1);
  FILE *out = popen(command, "r"); /* BAD 78 */
  if (out) pclose(out);
}
void good_78_line(FILE *in) {
  char line[80], command[128] = "grep ";
  if (!fgets(line, sizeof line, in)) return;
  strncat(command, line[0] == 'x' ? "x" : "y", sizeof command - strlen(command) - 1);
  FILE *out = popen(command, "r");
  if (out) pclose(out);
}
void bad_134_argument(const char *text) {
  char buffer[128];
  snprintf(buffer, sizeof buffer, text); /* BAD 134 */
  puts(buffer);
}
void good_134_argument(const char *text) {
  char buffer[128];
  snprintf(buffer, sizeof buffer, "%s", text);
  puts(buffer);
}
static void report(const char *message) { syslog(LOG_ERR, message); } /* BAD 134 */
static void report_text(const char *message) { syslog(LOG_ERR, "%s", message); }
void bad_134_packet(int from) {
  char packet[64];
  ssize_t n = recv(from, packet, sizeof packet - 1, 0);
  if (n <= 0) return;
  packet[n] = 0;
  report(packet);
}
void good_134_packet(int from) {
  char packet[64];
  ssize_t n = recv(from, packet, sizeof packet - 1, 0);
  if (n <= 0) return;
  packet[n] = 0;
  report_text(packet);
}
char **bad_190_responses(int from) {
  unsigned n = 0;
  if (read(from, &n, sizeof n) != sizeof n) return NULL;
  return malloc(n * (unsigned)sizeof(char *)); /* BAD 190 */
}
char **good_190_responses(int from) {
  unsigned n = 0;
  if (read(from, &n, sizeof n) != sizeof n || n > 1000) return NULL;
  return malloc(n * (unsigned)sizeof(char *));
}
struct header { int width, height; };
char *bad_190_image(FILE *in) {
  struct header h;
  if (fread(&h, sizeof h, 1, in) != 1) return NULL;
  return malloc(h.width * h.height); /* BAD 190 */
}
char *good_190_image(FILE *in) {
  struct header h;
  if (fread(&h, sizeof h, 1, in) != 1) return NULL;
  if (h.width < 0 || h.width > 4096 || h.height < 0 || h.height > 4096) return NULL;
  return malloc(h.width * h.height);
}
int *bad_190_table(const char *text) {
  int n = atoi(text);
  return malloc((n + 1) * 4); /* BAD 190 */
}
int *good_190_table(const char *text) {
  int n = atoi(text);
  return n >= 0 && n < 100 ? malloc((n + 1) * 4) : NULL;
}
