/* Pointers at odd addresses: packed structs, and records in a buffer of bytes. */
#include <stdio.h>
#include <string.h>

#include "alias.h"

struct __attribute__((packed)) record {
  char tag;
  int *number;
  short length;
  const char *text;
};

static int *number_of(const struct record *r) { return r->number; }

int main(void) {
  int one = 1, two = 2, three = 3;
  struct record records[2] = {{'a', &one, 3, "one"}, {'b', &two, 3, "two"}}, copy = records[1];
  char buffer[1 + sizeof(int *)], tag;
  int *from_buffer, *last = &three;
  buffer[0] = 'c';
  memcpy(buffer + 1, &last, sizeof last);
  memcpy(&tag, buffer, 1);
  memcpy(&from_buffer, buffer + 1, sizeof from_buffer);
  MAYALIAS(from_buffer, &three);
  MAYALIAS(number_of(&records[0]), &one);
  MAYALIAS(copy.number, &two);
  int sum = *number_of(&records[0]) + *copy.number + *from_buffer;
  printf("%d %s %c\n", sum, copy.text, tag);
  return sum == 6 && tag == 'c' ? 0 : 1;
}
