struct entry {
  const char *name;
  int *stock;
  struct entry *next;
};
void add(const char *name, int *stock);
struct entry *find(const char *name);
