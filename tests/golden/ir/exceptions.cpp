// Exceptions: throw, catch by type and all, cleanups, rethrow, noexcept.
void may_throw(int);
void log(int) noexcept;

struct Guard {
  int id;
  ~Guard() { log(id); }
};

int caught(int n) {
  Guard guard{n};
  try {
    may_throw(n);
    if (n > 3)
      throw n;
  } catch (int value) {
    return value;
  } catch (...) {
    log(2);
    throw;
  }
  return 0;
}

void quiet(int n) noexcept { may_throw(n); }
