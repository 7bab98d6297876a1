/* Comments silence findings, and are reported where they silence nothing. */
void (*never)(void);

// kleene: ignore[points-to/unreachable-function] for the debugger
void dump(void) {}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    never(); // kleene: ignore[points-to/null-call] the loader sets it
  if (argc > 2)
    never(); // expect: points-to/null-call
  argc++; // kleene: ignore[points-to/null-call] expect: suppressions/unused
  argc++; // kleene: ignore[points-to/nil-call] expect: suppressions/unknown-rule
  argc++; // kleene: ignore[cfa/unbound] a rule of an analysis that does not run here
  return argc;
}
