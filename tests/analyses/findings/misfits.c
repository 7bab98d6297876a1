/* Calls that pass other arguments than what they call takes. */
#include <stdio.h>

typedef int unary(int);
typedef int binary(int, int);

int elsewhere(int one, int two);
double half(int whole);
void quiet(int);
int wide(long);
int last(void *);

static int one(int x) { return x; }
static int two(int x, int y) { return x + y; }
static int address(int *p) { return *p; }
static int real(double x) { return (int)x; }
static void no_result(int x) { (void)x; }

static int apply(void *code, int x) { return ((unary *)code)(x); } // expect: points-to/call-arity
static int applied(void *code, int x) { return ((unary *)code)(x); } /* one fits */

int main(int argc, char **argv) {
  int sum = apply(two, argc);
  sum += applied(argc > 1 ? (void *)one : (void *)two, 1);
  unary *volatile keep = (unary *)address;
  sum += keep(argc); // expect: points-to/call-type
  unary *volatile other = (unary *)real;
  sum += other(argc); // expect: points-to/call-type
  unary *volatile result = (unary *)no_result;
  sum += result(argc); // expect: points-to/call-type
  result(argc); /* what it does not return is not used */
  sum += elsewhere(argc, 2); // expect: points-to/call-arity
  sum += (int)half(argc); // expect: points-to/call-type
  quiet(argc); /* it returns an integer that nobody takes */
  sum += wide(argc); // expect: points-to/call-type
  sum += last(argv);
  return printf("%d %s\n", sum, argv[0]);
}
