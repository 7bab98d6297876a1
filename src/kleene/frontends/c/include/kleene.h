/* What a program tells `kleene invariants`, and asks of it. A compiled program does nothing here.
 *
 *   kleene_assume(e)   runs on which `e` is 0 here do not exist
 *   kleene_check(e)    is `e` other than 0 here on every run?
 */
#ifndef KLEENE_H
#define KLEENE_H

static inline void kleene_assume(int holds) { (void)holds; }
static inline void kleene_check(int holds) { (void)holds; }

#endif
