// Virtual calls, templates and exceptions in one small program.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

struct Animal {
  virtual ~Animal() = default;
  virtual const char *speak() const = 0;
  virtual int legs() const { return 4; }
};

struct Dog : Animal {
  const char *speak() const override { return "woof"; }
};

struct Bird : Animal {
  const char *speak() const override { return "tweet"; }
  int legs() const override { return 2; }
};

struct Fish : Animal {
  const char *speak() const override { throw std::logic_error("fish do not speak"); }
  int legs() const override { return 0; }
};

template <typename Value, typename Each, typename Measure>
Value total(const Each &each, Measure measure) {
  Value sum{};
  for (const auto &one : each) sum += measure(*one);
  return sum;
}

int main() {
  std::vector<std::unique_ptr<Animal>> animals;
  animals.push_back(std::make_unique<Dog>());
  animals.push_back(std::make_unique<Bird>());
  animals.push_back(std::make_unique<Fish>());
  for (const auto &animal : animals) {
    try {
      std::puts(animal->speak());
    } catch (const std::logic_error &error) {
      std::printf("(%s)\n", error.what());
    }
  }
  std::printf("%d legs\n", total<int>(animals, [](const Animal &animal) { return animal.legs(); }));
}
