/* A trie whose nodes have an array of children and a value. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct trie {
  struct trie *children[26];
  int *value;
};
static struct trie *fresh(void) {
  struct trie *made = calloc(1, sizeof *made);
  if (!made) exit(1);
  return made;
}
static int **place(struct trie *t, const char *word) {
  for (; *word; word++) {
    struct trie **child = &t->children[*word - 'a'];
    if (!*child) *child = fresh();
    t = *child;
  }
  return &t->value;
}
static void drop(struct trie *t) {
  for (int i = 0; i < 26; i++)
    if (t->children[i]) drop(t->children[i]);
  free(t);
}

int main(void) {
  struct trie *root = fresh();
  int counts[3] = {0};
  const char *words[] = {"ape", "apt", "bee"};
  for (int i = 0; i < 3; i++) *place(root, words[i]) = &counts[i];
  ++**place(root, "apt");
  int *seen = *place(root, "apt");
  MAYALIAS(seen, &counts[1]);
  NOALIAS(seen, root);
  EXPECTEDFAIL_NOALIAS(root->children[1], seen); /* nothing tells what calloc returns: its array has no end */
  printf("%d %d %d\n", counts[0], counts[1], counts[2]);
  drop(root);
  return counts[1] == 1 ? 0 : 1;
}
