/* Calls, recursion, mutual recursion; one function that never comes back. */
void probe(int id, long value);

static int clamp(int x) { return x < -5 ? -5 : x > 5 ? 5 : x; }

static int factorial(int n) {
  probe(1, n); /* expect: 0..6 */
  return n <= 0 ? 1 : n * factorial(n - 1);
}

static int is_odd(unsigned n);
static int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }

static int forever(int n) {
  for (;;)
    n = clamp(n + 1);
}

static int twice(int x) { return 2 * x; }

int main(int count, char **words) {
  (void)words;
  int c = clamp(count * 1000);
  probe(2, c); /* expect: -5..5 */
  probe(3, factorial(6));
  int even = is_even(9);
  probe(4, even); /* expect: 0..1 */
  probe(5, twice(3)); /* expect: 6..8 */
  probe(5, twice(4)); /* expect: 6..8 */
  if (count > 1000) {
    forever(1);
    probe(6, 1); /* expect: none */
  }
  return 0;
}
