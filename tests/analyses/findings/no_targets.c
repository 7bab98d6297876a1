/* Calls of data, and functions that nothing calls. */
typedef int action(void);

static int number;
static char buffer[16];
static int three(void) { return 3; }

union mixed {
  void *data;
  action *code;
};

static int unused(void) { return 1; } // expect: points-to/unreachable-function
int (*table[])(void) = {unused};
int visible(void) { return 2; } // expect: points-to/unreachable-function
static int also(void) { return visible(); } // expect: points-to/unreachable-function
__attribute__((used)) static int (*keeps[])(void) = {also};

__attribute__((constructor)) static void early(void) { number = 4; }
__attribute__((used)) static int kept(void) { return 5; }

int main(int argc, char **argv) {
  (void)argv;
  union mixed u;
  u.data = argc > 1 ? (void *)&number : (void *)buffer;
  int sum = u.code(); // expect: points-to/no-target
  union mixed v = {.code = three};
  if (argc > 2)
    v.data = buffer;
  sum += v.code(); /* may be data, may be three: nothing is said */
  return sum + sizeof table + sizeof keeps;
}
