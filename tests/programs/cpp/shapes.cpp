// Shapes owned by a map of unique_ptr, with virtual calls, virtual inheritance and dynamic_cast.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct Named {
  std::string name;
  explicit Named(std::string n) : name(std::move(n)) {}
  virtual ~Named() = default;
  virtual int weight() const { return 1; }
};

struct Shape : virtual Named {
  Shape() : Named("shape") {}
  virtual int area() const = 0;
  virtual void grow(int by) = 0;
};

struct Coloured : virtual Named {
  int colour = 0;
  Coloured() : Named("coloured") {}
  virtual int paint(int c) {
    int old = colour;
    colour = c;
    return old;
  }
  int weight() const override { return 2; }
};

struct Square : Shape {
  int side;
  explicit Square(int s) : Named("square"), side(s) {}
  int area() const override { return side * side; }
  void grow(int by) override { side += by; }
};

struct Box : Shape {
  int width, height;
  Box(int w, int h) : Named("box"), width(w), height(h) {}
  int area() const override { return width * height; }
  void grow(int by) override { width += by, height += by; }
};

struct Tile : Square, Coloured {
  explicit Tile(int s) : Named("tile"), Square(s) {}
  int area() const override { return Square::area() + paint_cost(); }
  int paint_cost() const { return colour ? 1 : 0; }
  int paint(int c) override { return Coloured::paint(c) + 10; }
  int weight() const override { return 3; }
};

class Scene {
 public:
  template <class T, class... A>
  T *add(const std::string &key, A &&...arguments) {
    auto made = std::make_unique<T>(std::forward<A>(arguments)...);
    T *raw = made.get();
    shapes_[key] = std::move(made);
    return raw;
  }
  Shape *find(const std::string &key) const {
    auto found = shapes_.find(key);
    return found == shapes_.end() ? nullptr : found->second.get();
  }
  int total() const {
    int sum = 0;
    for (const auto &entry : shapes_) sum += entry.second->area();
    return sum;
  }
  void grow(int by) {
    for (auto &[key, shape] : shapes_) shape->grow(by);
  }
  int weight() const {
    int sum = 0;
    for (auto it = shapes_.begin(); it != shapes_.end(); ++it) {
      const Named *named = it->second.get();
      sum += named->weight();
    }
    return sum;
  }
  std::unique_ptr<Shape> remove(const std::string &key) {
    auto found = shapes_.find(key);
    if (found == shapes_.end()) return nullptr;
    std::unique_ptr<Shape> out = std::move(found->second);
    shapes_.erase(found);
    return out;
  }
  std::size_t size() const { return shapes_.size(); }

 private:
  std::map<std::string, std::unique_ptr<Shape>> shapes_;
};

static int painted(Shape *shape, int colour) {
  if (auto *coloured = dynamic_cast<Coloured *>(shape)) return coloured->paint(colour);
  return -1;
}

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  Scene scene;
  Square *square = scene.add<Square>("a", 3);
  scene.add<Box>("b", 2, 5);
  Tile *tile = scene.add<Tile>("c", 2);
  expect(scene.total() == 9 + 10 + 4, "total");
  expect(painted(scene.find("c"), 7) == 10, "paint a tile");
  expect(painted(scene.find("b"), 7) == -1, "paint a box");
  expect(tile->area() == 5, "a painted tile");
  scene.grow(1);
  expect(square->side == 4, "grown");
  expect(scene.weight() == 1 + 1 + 3, "weight");
  std::unique_ptr<Shape> box = scene.remove("b");
  expect(box && box->area() == 18, "removed");
  expect(scene.size() == 2 && !scene.find("b"), "gone");
  Named *as_named = tile;
  expect(as_named->weight() == 3, "through the virtual base");
  Coloured *as_coloured = tile;
  expect(as_coloured->paint(1) == 17, "through the second base");
  std::vector<std::unique_ptr<Shape>> rest;
  rest.push_back(std::move(box));
  rest.push_back(std::make_unique<Tile>(9));
  int sum = 0;
  for (const auto &shape : rest) sum += shape->area();
  expect(sum == 18 + 81, "the rest");
  std::printf("%d %zu\n", sum, rest.size());
  return 0;
}
