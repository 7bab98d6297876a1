/* The inner loop of quick-sort. */
#include "held_out.h"

int main(void) {
  int a[50], n = between(1, 50);
  for (int i = 0; i < n; i++) a[i] = any();
  int pivot = a[n - 1], store = 0;
  for (int i = 0; i < n PICK(- 1, ); i++)
    if (a[i] PICK(<, <=) pivot) { int t = a[i]; a[i] = a[store]; a[store] = t; store++; }
  assert(store <= n - 1);
  int t = a[store]; a[store] = a[n - 1]; a[n - 1] = t;
  return 0;
}
