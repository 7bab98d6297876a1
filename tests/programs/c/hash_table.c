/* A hash table of void pointers, with callbacks to hash, compare and release. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alias.h"

struct slot {
  void *key, *value;
  struct slot *next;
};
struct map {
  struct slot *slots[8];
  unsigned (*hash)(const void *);
  int (*equal)(const void *, const void *);
  void (*release)(void *);
};

static unsigned hash_text(const void *key) {
  unsigned h = 5381;
  for (const char *c = key; *c; c++) h = 33 * h + (unsigned char)*c;
  return h;
}
static int equal_text(const void *a, const void *b) { return !strcmp(a, b); }

static void **at(struct map *map, void *key) {
  struct slot **place = &map->slots[map->hash(key) % 8];
  for (; *place; place = &(*place)->next)
    if (map->equal((*place)->key, key)) return &(*place)->value;
  *place = calloc(1, sizeof **place);
  if (!*place) exit(1);
  (*place)->key = key;
  return &(*place)->value;
}
static void clear(struct map *map) {
  for (int i = 0; i < 8; i++)
    while (map->slots[i]) {
      struct slot *slot = map->slots[i];
      map->slots[i] = slot->next;
      map->release(slot->value);
      free(slot);
    }
}

int main(void) {
  struct map map = {{NULL}, hash_text, equal_text, free};
  char one[] = "one", two[] = "two";
  *at(&map, one) = strdup("first");
  *at(&map, two) = strdup("second");
  char *found = *at(&map, one);
  NOALIAS(found, one);
  NOALIAS((void *)map.hash, (void *)map.equal);
  int n = printf("%s %s\n", found, (char *)*at(&map, two));
  clear(&map);
  return n == 13 ? 0 : 1;
}
