/* What a program tells `kleene invariants`, and asks of it. A compiled program does nothing here.
 *
 *   kleene_assume(e)   runs on which `e` is 0 here do not exist
 *   kleene_check(e)    is `e` other than 0 here on every run?
 */
#ifndef KLEENE_H
#define KLEENE_H

#if defined(__cplusplus)
#define KLEENE_INLINE extern "C" inline
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define KLEENE_INLINE static inline
#elif defined(__GNUC__)
#define KLEENE_INLINE static __inline__
#else
#define KLEENE_INLINE static
#endif

KLEENE_INLINE void kleene_assume(int holds) { (void)holds; }
KLEENE_INLINE void kleene_check(int holds) { (void)holds; }

/* The condition may be of any type that `if` takes: a pointer, a wide integer, a float. */
#define kleene_assume(e) kleene_assume((e) ? 1 : 0)
#define kleene_check(e) kleene_check((e) ? 1 : 0)

#endif
