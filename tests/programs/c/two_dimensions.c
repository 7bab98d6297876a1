/* A matrix as an array of arrays, as rows on the heap, and walked by one pointer. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

int main(void) {
  int fixed[3][4], **rows = malloc(3 * sizeof *rows), sum = 0;
  if (!rows) return 1;
  for (int i = 0; i < 3; i++) {
    rows[i] = calloc(4, sizeof **rows);
    if (!rows[i]) return 1;
    for (int j = 0; j < 4; j++) fixed[i][j] = i * j, rows[i][j] = i + j;
  }
  int(*line)[4] = fixed + 1;
  for (int *p = line[0]; p < line[0] + 4; p++) sum += *p;
  for (int **row = rows; row != rows + 3; row++)
    for (int *p = *row, *end = p + 4; p != end; p++) sum += *p;
  MAYALIAS(rows[1], rows[2]);
  NOALIAS(rows, rows[0]);
  NOALIAS(rows[0], fixed[0]);
  for (int i = 2; i >= 0; i--) free(rows[i]);
  free(rows);
  printf("%d\n", sum);
  return sum == 36 ? 0 : 1;
}
