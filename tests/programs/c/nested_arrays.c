/* Arrays in structs in arrays: elements are one, fields are not. */
#include <stdio.h>

#include "alias.h"

struct cell {
  int *content;
  int *owner;
};
struct grid {
  struct cell cells[2][3];
  int *last;
};

int main(void) {
  int contents[6], owner = 0, last = 0, sum = 0;
  struct grid grids[2];
  for (int g = 0; g < 2; g++) {
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 3; j++) {
        contents[3 * i + j] = 3 * i + j;
        grids[g].cells[i][j] = (struct cell){&contents[3 * i + j], &owner};
      }
    grids[g].last = &last;
  }
  struct cell *flat = &grids[1].cells[0][0];
  for (int i = 0; i < 3; i++) sum += *flat[i].content;
  struct cell(*row)[3] = &grids[1].cells[1];
  for (int j = 0; j < 3; j++) sum += *(*row)[j].content, ++*(*row)[j].owner;
  MAYALIAS(grids[0].cells[1][2].content, &contents[5]);
  NOALIAS(grids[0].cells[1][2].content, &owner);
  NOALIAS(grids[1].last, &owner);
  NOALIAS(&grids[0].last, &grids[0].cells[1][2].owner);
  MAYALIAS(grids[1].last, &last);
  printf("%d %d\n", sum, owner);
  return sum == 15 && owner == 3 ? 0 : 1;
}
