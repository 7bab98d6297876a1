/* A singly linked list built, reversed and freed. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct node {
  int value;
  struct node *next;
};

static struct node *push(struct node *head, int value) {
  struct node *made = malloc(sizeof *made);
  if (!made) exit(1);
  made->value = value;
  made->next = head;
  return made;
}

static struct node *reversed(struct node *head) {
  struct node *done = NULL;
  while (head) {
    struct node *next = head->next;
    head->next = done;
    done = head;
    head = next;
  }
  return done;
}

int main(void) {
  struct node *list = NULL;
  int sum = 0, counter = 0;
  for (int i = 1; i <= 5; i++) list = push(list, i);
  list = reversed(list);
  MAYALIAS(list, list->next);
  NOALIAS(&list->value, &list->next);
  NOALIAS(list, &counter);
  for (struct node *n = list; n; n = n->next) sum = 10 * sum + n->value;
  while (list) {
    struct node *next = list->next;
    free(list);
    list = next;
    counter++;
  }
  printf("%d %d\n", sum, counter);
  return sum == 12345 && counter == 5 ? 0 : 1;
}
