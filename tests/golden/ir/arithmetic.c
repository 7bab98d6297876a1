// Integers of every width and sign, floats, casts.
int mix(int a, unsigned b, long c, unsigned char d) {
  int sum = a + d;
  unsigned quotient = b / 3u;
  int remainder = a % 7;
  long shifted = (c << 2) >> 1;
  unsigned logical = b >> 4;
  return sum * remainder - (int)(quotient ^ logical) + (int)shifted + -a + ~a + !a;
}

double reals(double x, float y, int n, unsigned char u) {
  double product = x * y + n;
  return product / (x - 0.1) + u + (double)(int)product - -x;
}

_Bool compare(int a, unsigned b, double x, double y) {
  return a < 3 || b >= 4u || x == y || x < y;
}

__int128 wide(__int128 a) {
  return a + ((__int128)1 << 100);
}
