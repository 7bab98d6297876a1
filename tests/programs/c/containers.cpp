// The library's containers, of pointers.
#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "alias.h"

struct Item {
  int weight;
  Item *parent;
};

int main() {
  Item items[4] = {{4, nullptr}, {1, &items[0]}, {3, &items[1]}, {2, &items[0]}}, apart = {9, nullptr};
  std::vector<Item *> order;
  for (Item &item : items) order.push_back(&item);
  std::sort(order.begin(), order.end(), [](Item *a, Item *b) { return a->weight < b->weight; });
  std::map<int, Item *> by_weight;
  for (Item *item : order) by_weight[item->weight] = item;
  Item *lightest = order.front(), *three = by_weight.at(3);
  MAYALIAS(lightest, &items[1]);
  MAYALIAS(three, &items[2]);
  NOALIAS(three, &apart);
  int path = 0;
  for (Item *i = three; i; i = i->parent) path = 10 * path + i->weight;
  order.erase(order.begin());
  std::vector<Item *> copy = order;
  std::printf("%d %zu\n", path, copy.size());
  return path == 314 && copy.back() == &items[0] && by_weight.size() == 4 ? 0 : 1;
}
