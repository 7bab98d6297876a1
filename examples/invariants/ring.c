/* Sums and maxima of eight numbers. */
#include <kleene.h>

static int ring[8];

int sum_of_first(int n) {
  int sum = 0;
  for (int i = 0; i <= n; i++) {
    sum += ring[i];
  }
  return sum;
}

int largest_of_window(int first, int n) {
  kleene_assume(first >= 0 && n >= 0 && n <= 8 && first <= 8 - n);
  int largest = -1;
  for (int i = first; i < first + n; i++) {
    if (ring[i] > largest) {
      largest = ring[i];
    }
  }
  return largest;
}
