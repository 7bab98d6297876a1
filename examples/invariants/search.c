/* Where is `wanted` in a sorted table? Every access stays inside of it. */
#include <assert.h>

extern int next_value(void);

static int table[100];

static int search(int wanted) {
  int low = 0;
  int high = 99;
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (table[middle] == wanted) {
      return middle;
    }
    if (table[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return -1;
}

int main(void) {
  for (int i = 0; i < 100; i++) {
    table[i] = next_value();
  }
  int place = search(next_value());
  assert(place >= -1 && place < 100);
  return place;
}
