/* Pointers that walk: forwards, backwards, by strides, to the end, and between fields. */
#include <stdio.h>

#include "alias.h"

struct sample {
  int *where;
  double weight;
};

int main(void) {
  int data[6] = {1, 2, 3, 4, 5, 6}, before = 0, sum = 0;
  struct sample samples[3] = {{&data[0], 1}, {&data[2], 2}, {&data[4], 3}};
  struct sample *end = samples + 3;
  for (struct sample *s = end; s != samples;) sum = 10 * sum + *(--s)->where;
  int *middle = &data[3], *low = middle - 2, *odd = low + (middle - low);
  MAYALIAS(odd, &data[3]);
  NOALIAS(odd, &before);
  for (int *p = data; p < data + 6; p += 2) *p = 0;
  int **field = &samples[1].where;
  struct sample *back = (struct sample *)field;
  MAYALIAS(back, &samples[1]);
  NOALIAS(&back->weight, field);
  int *last = (int *)(&data + 1) - 1;
  MAYALIAS(last, &data[5]);
  printf("%d %d %d %d\n", sum, *odd, *back->where, *last);
  return sum == 531 && odd == &data[3] && *last == 6 ? 0 : 1;
}
