// Templates and an iterator of our own: pointers wrapped in objects passed by value.
#include <cstdio>
#include <initializer_list>

#include "alias.h"

template <class T>
class Chain {
  struct Link {
    T value;
    Link *next;
  };
  Link *head_ = nullptr;

 public:
  class Iterator {
    Link *at_;

   public:
    explicit Iterator(Link *at) : at_(at) {}
    T &operator*() const { return at_->value; }
    Iterator &operator++() { return at_ = at_->next, *this; }
    bool operator!=(const Iterator &other) const { return at_ != other.at_; }
  };
  void push(T value) { head_ = new Link{value, head_}; }
  Iterator begin() const { return Iterator(head_); }
  Iterator end() const { return Iterator(nullptr); }
  ~Chain() {
    while (head_) {
      Link *next = head_->next;
      delete head_;
      head_ = next;
    }
  }
};

int main() {
  int a = 1, b = 2, c = 3, sum = 0;
  Chain<int *> pointers;
  Chain<int> numbers;
  for (int *p : {&a, &b, &c}) pointers.push(p);
  for (int *p : pointers) numbers.push(*p);
  for (int n : numbers) sum = 10 * sum + n;
  int *&first = *pointers.begin();
  MAYALIAS(first, &c);
  NOALIAS(first, &sum);
  NOALIAS(&first, &*numbers.begin());
  std::printf("%d\n", sum);
  return sum == 123 && first == &c ? 0 : 1;
}
