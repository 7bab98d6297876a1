/* The upper triangle is exchanged with the lower one. */
#include "held_out.h"

enum { N = 9 };
int main(void) {
  int m[N][N];
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) m[i][j] = i * N + j;
  int exchanged = 0;
  for (int i = 0; i < N; i++)
    for (int j = i + 1; j < N PICK(, + 1); j++) { int t = m[i][j]; m[i][j] = m[j][i]; m[j][i] = t; exchanged++; }
  assert(exchanged <= N * N);
  return 0;
}
