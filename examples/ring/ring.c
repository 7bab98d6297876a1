/* A ring of bytes, with tests that are not needed. */
#include <stdio.h>

static unsigned char data[16];
static unsigned head, count;
static int verbose;

static int put(int byte) {
  if (count == sizeof data) return 0;
  data[(head + count) & 15] = (unsigned char)byte;
  count++;
  return 1;
}

static int level(int percent) {
  if (percent < 0) percent = 0;
  if (percent > 100) percent = 100;
  int bars = percent / 10;
  if (bars > 10) return -1;
  return bars;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc && i <= 8; i++)
    if (!put(argv[i][0]) && verbose) puts("full");
  return level(argc * 3);
}
