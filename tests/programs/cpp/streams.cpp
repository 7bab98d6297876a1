// iostream: a stream buffer of one's own, manipulators, string streams, operator<< and >>.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

class Upper : public std::streambuf {
 public:
  explicit Upper(std::streambuf *under) : under_(under) {}
  int n_written() const { return n_written_; }

 protected:
  int overflow(int c) override {
    if (c == traits_type::eof()) return c;
    ++n_written_;
    return under_->sputc(static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c));
  }
  int sync() override { return under_->pubsync(); }

 private:
  std::streambuf *under_;
  int n_written_ = 0;
};

struct Point {
  int x = 0, y = 0;
};
static std::ostream &operator<<(std::ostream &out, const Point &p) {
  return out << '(' << p.x << ", " << p.y << ')';
}
static std::istream &operator>>(std::istream &in, Point &p) {
  char c;
  return in >> c >> p.x >> c >> p.y >> c;
}

static std::ostream &bang(std::ostream &out) { return out << '!'; }

struct Sink {
  virtual ~Sink() = default;
  virtual std::ostream &stream() = 0;
};
struct Text : Sink {
  std::ostringstream out;
  std::ostream &stream() override { return out; }
};
struct Loud : Sink {
  std::ostringstream under;
  Upper upper{under.rdbuf()};
  std::ostream out{&upper};
  std::ostream &stream() override { return out; }
};

static void write_all(Sink &sink, const std::map<std::string, Point> &points) {
  std::ostream &out = sink.stream();
  for (const auto &[name, point] : points) out << name << '=' << point << bang << ' ';
  out << std::setw(5) << std::setfill('.') << std::hex << 255 << std::dec << std::flush;
}

static std::vector<Point> read_all(std::istream &in) {
  return {std::istream_iterator<Point>(in), std::istream_iterator<Point>()};
}

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::cout << "wrong: " << what << std::endl;
    std::exit(1);
  }
}

int main() {
  std::map<std::string, Point> points{{"a", {1, 2}}, {"b", {3, 4}}};
  Text text;
  auto loud = std::make_unique<Loud>();
  std::vector<Sink *> sinks{&text, loud.get()};
  for (Sink *sink : sinks) write_all(*sink, points);
  expect(text.out.str() == "a=(1, 2)! b=(3, 4)! ...ff", "plain");
  expect(loud->under.str() == "A=(1, 2)! B=(3, 4)! ...FF", "loud");
  expect(loud->upper.n_written() == 25, "counted");

  std::istringstream in("(1, 2) (5, 6) (7, 8) rest");
  std::vector<Point> found = read_all(in);
  expect(found.size() == 3 && found[2].y == 8, "read");
  expect(in.fail(), "stopped");
  in.clear();

  std::streambuf *before = std::cerr.rdbuf(text.out.rdbuf());
  std::cerr << " err" << 1;
  std::cerr.rdbuf(before);
  expect(text.out.str().substr(25) == " err1", "redirected");

  std::stringstream both;
  both << 12 << ' ' << 3.5 << " word\nsecond line";
  int n;
  double d;
  std::string word, line;
  both >> n >> d >> word;
  std::getline(both >> std::ws, line);
  expect(n == 12 && word == "word" && line == "second line", "mixed");
  std::ostream *chosen = n > 3 ? static_cast<std::ostream *>(&both) : &std::cout;
  both.clear();
  *chosen << found.front();
  expect(both.str().find("(1, 2)") != std::string::npos, "chosen");
  std::cout << found.size() << ' ' << word << std::endl;
  return 0;
}
