/* Each function stands alone: what is known of floating-point numbers. */
#include <assert.h>
#include <math.h>
extern double unknown(void);
extern float unknown_float(void);
int table[10];
static const float weights[4] = {0.5f, 1.25f, 3.0f, 2.0f};
double global = 2.5;

int index_of_a_number(double d) {
  if (d >= 0.0 && d < 10.0) return table[(int)d];  // expect: safe conversion, safe bounds
  return (int)d;                                   // expect: may fail conversion
}

int behind_a_test_that_nan_passes(double d) {
  if (d < 0.0 || d >= 10.0) return 0;
  return table[(int)d];  // expect: may fail conversion, safe bounds
}

int never_fits(void) {
  double d = 1e10;
  return (int)(d * global * 0.0 + d);  // expect: fails always conversion
}

int is_too_large(double d) {
  if (d > 1e10) return (int)d;  // expect: fails always conversion
  return 0;
}

unsigned char ends_of_a_conversion(double d) {
  if (d > -1.0 && d < 256.0) return (unsigned char)d;   // expect: safe conversion
  if (d >= -1.0 && d <= 256.0) return (unsigned char)d;  // expect: fails always conversion
  return 0;
}

void add_up(void) {
  double x = 0.0;
  while (x < 100.0) x += 0.5;
  assert(x >= 100.0);  // expect: safe assert
  assert(x <= 100.5);  // expect: safe assert
  assert(x < 100.4);   // expect: may fail assert
}

void tenths(void) {
  double x = 0.1 + global * 0.0;
  double sum = x + 0.2;
  if (sum < 1.0) {
    assert(sum != 0.3);   // expect: may fail assert
    assert(sum <= 1.0);   // expect: safe assert
  }
}

void rounding(void) {
  volatile double third = 1.0;
  double x = third;
  if (x == 1.0) {
    double y = x / 3.0;
    assert(y > 0.333333 && y < 0.333334);  // expect: safe assert
    assert(y == 1.0 / 3.0);                // expect: may fail assert
  }
}

void integers(int i, unsigned u, long l) {
  double d = i;
  assert(d >= -2147483648.0 && d <= 2147483647.0);  // expect: safe assert
  int back = (int)d;                                // expect: safe conversion
  double e = u;
  assert(e >= 0.0 && e <= 4294967295.0);  // expect: safe assert
  unsigned same = (unsigned)e;            // expect: safe conversion
  int half = (int)e;                      // expect: may fail conversion
  float f = (float)l;
  long far = (long)f;  // expect: may fail conversion
  table[0] = back + (same & 1) + half + (far & 1);
}

int scaled(int i) {
  float q = (float)(i & 255) / 256.0f;
  assert(q >= 0.0f && q < 1.0f);  // expect: safe assert
  return table[(int)(q * 11.0f)];  // expect: safe conversion, may fail bounds
}

int scaled_safely(int i) {
  float q = (float)(i & 255) / 256.0f;
  return table[(int)(q * 8.0f)];  // expect: safe conversion, safe bounds
}

void not_a_number(double x, double y) {
  if (!isnan(x)) assert(x == x);  // expect: safe assert
  if (x != x) assert(!(x < y) && !(x >= y));  // expect: safe assert
  if (x < y) assert(x == x && y == y);  // expect: safe assert
  if (!(x < y)) assert(x >= y);  // expect: may fail assert
}

void may_be_no_number(double x) {
  assert(x == x);  // expect: may fail assert
  assert(x <= x);  // expect: safe assert
}

void clamped(double x) {
  if (x < 0.0) x = 0.0;
  if (x > 9.0) x = 9.0;
  assert(!(x > 9.0) && !(x < 0.0));  // expect: safe assert
  table[(int)x] = 1;                 // expect: may fail conversion, safe bounds
}

void infinite(double x) {
  double big = 1e308;
  if (x >= big) {
    double y = x * 10.0;
    assert(y > 1.7e308);   // expect: safe assert
    double z = y - y;
    assert(z == 0.0);      // expect: may fail assert
  }
  if (isfinite(x)) assert(x - 1.0 <= x);      // expect: may fail assert
  if (isinf(x)) assert(x > 1e308 || x < -1e308);  // expect: safe assert
}

void zeros(double x) {
  if (x == 0.0) {
    double y = 1.0 / x;
    if (global > 0.0) assert(y > 1.0);  // expect: may fail assert
    assert(y > 1.0 || y < -1.0);   // expect: may fail assert
  }
}

void functions(double x) {
  if (!isfinite(x)) return;
  assert(sin(x) <= 1.0);                // expect: safe assert
  assert(exp(x) >= 0.0);                // expect: safe assert
  assert(sqrt(fabs(x)) >= 0.0);         // expect: safe assert
  assert(sqrt(x) >= 0.0);               // expect: may fail assert
  if (fabs(x) < 2.0) {
    assert(x > -2.0 && x < 2.0);        // expect: safe assert
    table[(int)floor(x) + 2] = 1;       // expect: safe conversion, safe bounds
    table[(int)ceil(x + 2.0)] = 1;      // expect: safe conversion, safe bounds
    table[(int)(cos(x) * 4.0) + 4] = 1;  // expect: safe conversion, safe bounds
  }
  double c = fmin(fmax(x, 0.0), 9.0);
  table[(int)c] = 2;  // expect: safe conversion, safe bounds
  double r = fmod(x, 8.0);
  if (r >= 0.0) table[(int)r] = 3;  // expect: safe conversion, safe bounds
}

double kept = 1.0;
void memory(int at, float given) {
  kept = kept > 100.0 ? 0.5 : kept * 2.0;
  double a[4];
  for (int i = 0; i < 4; i++) a[i] = i * 0.25;
  double x = a[at & 3];
  assert(x <= 0.75);                              // expect: safe assert
  assert(weights[at & 3] <= 3.0f);                // expect: safe assert
  assert(weights[at & 3] < 3.0f);                 // expect: may fail assert
  struct { float f; int i; } pair = {0.0f, 1};
  if (given > 1.0f) pair.f = 2.0f;
  assert(pair.f <= 2.0f);  // expect: safe assert
}

void bits_of_another_type(double x, long given) {
  union { double d; long l; float f[2]; } u;
  u.d = x;
  assert(u.l != 0);      // expect: may fail assert
  u.l = given;
  assert(u.d == 1.0);    // expect: may fail assert
}

void formats(double x, float y) {
  if (x >= 0.1 && x <= 0.2) {
    float f = (float)x;
    assert(f >= 0.09f && f <= 0.21f);  // expect: safe assert
    assert(f >= 0.1);                  // expect: may fail assert
    double back = f;
    assert(back <= 0.21);  // expect: safe assert
  }
  if (y <= 1e30f && y >= 0) {
    float z = y * 1e20f;
    assert(z >= 0.0f);     // expect: safe assert
    assert(z <= 1e38f);    // expect: may fail assert
  }
  long double wide = x;
  if (wide >= 1.0L && wide <= 2.0L) {
    wide = wide * 3.0L;
    assert(wide <= 6.0L && wide >= 3.0L);  // expect: safe assert
    assert((int)wide <= 6);                // expect: safe conversion, safe assert
  }
}

static double chosen(double x, int up) { return up ? x + 1.0 : x - 1.0; }
void called(int up) {
  double x = chosen(4.0, up);
  assert(x >= 3.0 && x <= 5.0);  // expect: safe assert
}
