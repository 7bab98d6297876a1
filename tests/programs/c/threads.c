/* Threads: arguments and results as void pointers, work shared under a lock, thread-local data. */
#include <pthread.h>
#include <stdio.h>

#include "alias.h"

struct work {
  int *numbers;
  int n;
  long sum;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct work *largest;
static _Thread_local struct work *mine;

static void *run(void *given) {
  mine = given;
  for (int i = 0; i < mine->n; i++) mine->sum += mine->numbers[i];
  pthread_mutex_lock(&lock);
  if (!largest || mine->sum > largest->sum) largest = mine;
  pthread_mutex_unlock(&lock);
  return mine;
}

int main(void) {
  int low[] = {1, 2, 3}, high[] = {40, 50};
  struct work works[2] = {{low, 3, 0}, {high, 2, 0}};
  pthread_t threads[2];
  void *results[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, run, &works[i])) return 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], &results[i]);
  MAYALIAS(results[1], &works[1]);
  MAYALIAS(largest, &works[1]);
  NOALIAS(largest, &lock);
  printf("%ld\n", largest->sum);
  return largest == &works[1] && results[0] == &works[0] ? 0 : 1;
}
