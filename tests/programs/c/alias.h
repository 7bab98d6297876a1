/* What may be said of two pointers, as calls that do nothing when the program runs.
 *
 * NOALIAS and MAYALIAS state the truth, and an analysis that is flow-insensitive, field-sensitive
 * and context-insensitive finds it. EXPECTEDFAIL_NOALIAS: the truth is that they never alias, and
 * such an analysis cannot see it. */
#ifndef ALIAS_H
#define ALIAS_H
#ifdef __cplusplus
extern "C" {
#endif
#define STATEMENT(name) \
  __attribute__((weak, noinline)) void name(const void *p, const void *q) { (void)p, (void)q; }
STATEMENT(MAYALIAS)
STATEMENT(NOALIAS)
STATEMENT(MUSTALIAS)
STATEMENT(PARTIALALIAS)
STATEMENT(EXPECTEDFAIL_MAYALIAS)
STATEMENT(EXPECTEDFAIL_NOALIAS)
#undef STATEMENT
#ifdef __cplusplus
}
#endif
#endif
