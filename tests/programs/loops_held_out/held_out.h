/* What the held-out loops share: inputs, and the places where a false twin differs. */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#ifdef TWIN
#define PICK(right, wrong) wrong
#else
#define PICK(right, wrong) right
#endif

#ifdef RUN /* with a seed in the environment: inputs from a generator */
static unsigned long long input_state;
static int any(void) {
  if (!input_state) input_state = strtoull(getenv("SEED"), 0, 10) * 2862933555777941757ULL + 1;
  input_state = input_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)(input_state >> 32);
}
#else
extern int any(void); /* any number */
#endif

static int between(int low, int high) {
#ifdef RUN /* both ends often */
  unsigned choice = (unsigned)any() % 8, offset = (unsigned)any() % ((unsigned)(high - low) + 1);
  return choice == 0 ? low : choice == 1 ? high : (int)(low + offset);
#else
  int x = any();
  if (x < low || x > high) exit(0);
  return x;
#endif
}
