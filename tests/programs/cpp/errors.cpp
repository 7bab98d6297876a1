// Exceptions: a hierarchy, rethrowing, cleanup on the way, nested handlers, exception_ptr.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Problem : std::exception {
  std::string words;
  int *where;
  Problem(std::string w, int *p) : words(std::move(w)), where(p) {}
  const char *what() const noexcept override { return words.c_str(); }
  virtual int code() const { return 1; }
};

struct ParseProblem : Problem {
  int line;
  ParseProblem(const std::string &w, int *p, int l) : Problem("parse: " + w, p), line(l) {}
  int code() const override { return 10 + line; }
};

struct IoProblem : Problem {
  using Problem::Problem;
  int code() const override { return 20; }
};

static int n_open, place;

struct File {
  std::string name;
  explicit File(std::string n) : name(std::move(n)) { ++n_open; }
  File(const File &) = delete;
  ~File() { --n_open; }
};

struct Reader {
  virtual ~Reader() = default;
  virtual int read(File &file, int n) = 0;
};

struct Careful : Reader {
  int read(File &file, int n) override {
    if (n < 0) throw IoProblem("cannot read " + file.name, &place);
    return n;
  }
};

struct Strict : Reader {
  int read(File &file, int n) override {
    if (n % 2) throw ParseProblem(file.name, &place, n);
    if (n > 100) throw std::out_of_range("too large");
    return n / 2;
  }
};

static int use(Reader &reader, int n) {
  File file("data");
  auto copy = std::make_unique<File>("copy");
  return reader.read(*copy, n) + reader.read(file, n);
}

static int guarded(Reader &reader, int n) {
  try {
    return use(reader, n);
  } catch (const ParseProblem &p) {
    *p.where += 1;
    return -p.code();
  } catch (Problem &p) {
    *p.where += 100;
    return -p.code() - static_cast<int>(p.words.size());
  } catch (const std::exception &e) {
    return -1000 - static_cast<int>(std::string(e.what()).size());
  }
}

static int twice_guarded(Reader &reader, int n) {
  try {
    try {
      return use(reader, n);
    } catch (Problem &p) {
      p.words += "!";
      throw;
    }
  } catch (std::exception &e) {
    auto *problem = dynamic_cast<Problem *>(&e);
    return problem ? problem->code() : 0;
  }
}

static std::exception_ptr caught(Reader &reader, int n) {
  try {
    use(reader, n);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

static int thrown_pointer(int *p) {
  try {
    if (*p) throw p;
    throw "text";
  } catch (int *q) {
    return *q;
  } catch (const char *text) {
    return text[0];
  }
}

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  Careful careful;
  Strict strict;
  std::vector<Reader *> readers{&careful, &strict};
  expect(guarded(careful, 4) == 8, "no problem");
  expect(guarded(strict, 4) == 4, "no problem either");
  expect(guarded(strict, 3) == -13, "parse");
  expect(place == 1, "the place was told");
  expect(guarded(careful, -1) < -20, "io");
  expect(place == 101, "the other place");
  expect(guarded(strict, 200) == -1009, "the library's own");
  expect(twice_guarded(strict, 5) == 15, "rethrown");
  expect(n_open == 0, "all are closed");
  int sum = 0;
  for (Reader *reader : readers) {
    std::exception_ptr error = caught(*reader, -7);
    try {
      if (error) std::rethrow_exception(error);
    } catch (Problem &p) {
      sum += p.code();
    }
  }
  expect(sum == 20 + 3, "kept and thrown again");
  int n = 6, zero = 0;
  expect(thrown_pointer(&n) == 6 && thrown_pointer(&zero) == 't', "pointers");
  std::printf("%d %d %d\n", place, sum, n_open);
  return 0;
}
