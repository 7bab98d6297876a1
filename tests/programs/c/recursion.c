/* A recursive parser: nodes refer to the frames and nodes of their callers. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct expression {
  char operator;
  int value;
  struct expression *left, *right;
};
static struct expression *sum(const char **at);

static struct expression *node(char operator, struct expression *left, struct expression *right) {
  struct expression *made = calloc(1, sizeof *made);
  if (!made) exit(1);
  made->operator= operator;
  made->left = left;
  made->right = right;
  return made;
}
static struct expression *atom(const char **at) {
  if (*(*at) == '(') {
    ++*at;
    struct expression *inside = sum(at);
    ++*at;
    return inside;
  }
  struct expression *number = node('n', NULL, NULL);
  while (isdigit((unsigned char)**at)) number->value = 10 * number->value + *(*at)++ - '0';
  return number;
}
static struct expression *sum(const char **at) {
  struct expression *left = atom(at);
  while (**at == '+' || **at == '-') {
    char operator= *(*at)++;
    left = node(operator, left, atom(at));
  }
  return left;
}
static int value(struct expression *e) {
  int result = e->value;
  if (e->operator!= 'n') {
    int left = value(e->left), right = value(e->right);
    result = e->operator== '+' ? left + right : left - right;
  }
  free(e);
  return result;
}

int main(void) {
  const char *text = "12+(3-(4+1))-2", *at = text;
  struct expression *e = sum(&at);
  MAYALIAS(e->left, e->right);
  NOALIAS(e->left, text);
  MAYALIAS(at, text + 3);
  int result = value(e);
  printf("%d\n", result);
  return result == 8 ? 0 : 1;
}
