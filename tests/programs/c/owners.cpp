// Ownership: unique_ptr, moves, deleters, placement new, arrays of objects.
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include "alias.h"

struct Node {
  int value;
  std::unique_ptr<Node> next;
  static int alive;
  explicit Node(int v) : value(v) { ++alive; }
  ~Node() { --alive; }
};
int Node::alive = 0;

struct Closer {
  int *closed;
  void operator()(int *p) const {
    ++*closed;
    delete p;
  }
};

int main() {
  int sum = 0, closed = 0;
  {
    auto list = std::make_unique<Node>(1);
    auto second = std::make_unique<Node>(2);
    Node *seen = second.get();
    list->next = std::move(second);
    MAYALIAS(list->next.get(), seen);
    NOALIAS(seen, &sum);
    for (Node *n = list.get(); n; n = n->next.get()) sum = 10 * sum + n->value;
    std::unique_ptr<int, Closer> handle(new int(3), Closer{&closed});
    sum = 10 * sum + *handle;
    alignas(Node) unsigned char room[sizeof(Node)];
    Node *placed = new (room) Node(4);
    MAYALIAS(placed, room);
    sum = 10 * sum + placed->value;
    placed->~Node();
    Node *several = static_cast<Node *>(::operator new(2 * sizeof(Node)));
    for (int i = 0; i < 2; i++) new (&several[i]) Node(5 + i);
    sum = 10 * sum + several[1].value;
    for (int i = 0; i < 2; i++) several[i].~Node();
    ::operator delete(several);
    int *numbers = new int[3]{7, 8, 9};
    sum = 10 * sum + numbers[2];
    delete[] numbers;
  }
  std::printf("%d %d %d\n", sum, closed, Node::alive);
  return sum == 123469 && closed == 1 && Node::alive == 0 ? 0 : 1;
}
