/* Links inside of structs, and the way back to the struct around them (container_of). */
#include <stddef.h>
#include <stdio.h>

#include "alias.h"

struct link {
  struct link *next;
};
struct task {
  int id;
  struct link ready;
  int *result;
  struct link all;
};
#define CONTAINER(link, member) ((struct task *)((char *)(link)-offsetof(struct task, member)))

static struct link *ready, *all;
static int results[3];

int main(void) {
  struct task tasks[3];
  for (int i = 0; i < 3; i++) {
    tasks[i].id = i + 1;
    tasks[i].result = &results[i];
    tasks[i].ready.next = ready;
    ready = &tasks[i].ready;
    tasks[i].all.next = all;
    all = &tasks[i].all;
  }
  NOALIAS(ready, all);
  for (struct link *l = ready; l; l = l->next) *CONTAINER(l, ready)->result += 10;
  for (struct link *l = all; l; l = l->next) {
    struct task *task = CONTAINER(l, all);
    MAYALIAS(task, &tasks[1]);
    NOALIAS(task->result, task);
    *task->result += task->id;
  }
  printf("%d %d %d\n", results[0], results[1], results[2]);
  return results[0] == 11 && results[2] == 13 ? 0 : 1;
}
