// Globals and their initialisers; linkage, threads, weak symbols, aliases, static locals.
int zero;
int one = 1;
extern int elsewhere;
static int hidden = 7;
const int constant = 42;
char text[8] = "hi\n\"\\";
const char *string = "hello, \xc3\xa9";
int numbers[5] = { 1, [3] = 4 };
double reals[3] = { 0.5, -0.0, 1e100 };
long double extended = 1.25L;
struct pair { char c; int *where; struct pair *self; };
struct pair pairs[2] = { { 'a', &numbers[2], pairs }, { 'b', &hidden, pairs + 1 } };
unsigned long address = (unsigned long)&one;
_Thread_local int per_thread = 3;
__attribute__((weak)) int weak_value = 9;
__attribute__((weak)) int weak_function(void) { return weak_value; }
int original(int x) { return x + hidden; }
int renamed(int x) __attribute__((alias("original")));
__attribute__((section("special"), aligned(64))) int placed = 1;

int counter(void) {
  static int calls = 10;
  static const char label[] = "calls";
  return calls++ + label[0] + per_thread + elsewhere;
}

int *escape(void) { return &hidden; }
