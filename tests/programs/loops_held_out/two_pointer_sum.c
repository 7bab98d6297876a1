/* Looks for two elements of a sorted array with a given sum. */
#include "held_out.h"

int main(void) {
  int a[40], n = between(1, 40), target = any();
  for (int i = 0; i < n; i++) a[i] = between(-1000, 1000);
  int low = 0, high = n - 1, steps = 0;
  while (low < high) {
    int sum = a[low] + a[high];
    if (sum == target) break;
    if (sum < target) low++; else high--;
    steps++;
  }
  assert(steps <= n - PICK(1, 2));
  return 0;
}
