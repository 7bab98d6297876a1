/* Cells of a matrix in one array: i * n + j. */
#include "held_out.h"

int main(void) {
  int cells[8 * 12], rows = between(1, 8), columns = between(1, PICK(12, 13));
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) cells[i * columns + j] = i + j;
  return cells[0];
}
