// Inline assembly, computed goto, setjmp, and jumps out of assembly.
typedef long buffer[32];
int _setjmp(buffer) __attribute__((returns_twice));
_Noreturn void longjmp(buffer, int);
static buffer place;

unsigned cycles(unsigned x) {
  unsigned low;
  __asm__ volatile("bsr %1, %0" : "=r"(low) : "r"(x) : "cc", "memory");
  return low;
}

int interpret(const unsigned char *code) {
  static void *const targets[] = { &&stop, &&increment, &&twice };
  int accumulator = 0;
  goto *targets[*code++];
increment:
  accumulator++;
  goto *targets[*code++];
twice:
  accumulator *= 2;
  goto *targets[*code++];
stop:
  return accumulator;
}

int guarded(int n) {
  volatile int kept = n;
  if (_setjmp(place))
    return -kept;
  if (n > 3)
    longjmp(place, 1);
  return kept;
}

int jumps(int n) {
  __asm__ goto("test %0, %0\n\tjz %l1" : : "r"(n) : "cc" : zero);
  return n;
zero:
  return -1;
}
