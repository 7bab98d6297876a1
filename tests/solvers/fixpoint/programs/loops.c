/* Loops with bounds that intervals find, nested ones included. */
void probe(int id, long value);

static void nested(int rows, int columns) {
  for (int i = 0; i < rows; i++) {
    probe(1, i); /* expect: 0..7 */
    for (int j = i; j < columns; j++) {
      probe(2, j); /* expect: 0..4 */
      probe(3, i); /* expect: 0..7 */ /* i <= j is beyond intervals */
    }
    probe(4, i); /* expect: 0..7 */
  }
}

int main(void) {
  int i, sum = 0;
  for (i = 0; i < 10; i++) {
    probe(5, i); /* expect: 0..9 */
    sum += i & 3;
  }
  probe(6, i);   /* expect: 10..10 */
  probe(7, sum); /* expect: 0..2147483647 */
  for (unsigned u = 100; u > 0; u /= 2)
    probe(8, u); /* thresholds would help: 0 is no bound that narrowing finds */
  for (i = 20; i != 0; i -= 4)
    probe(9, i);
  nested(8, 5);
  if (i > 100)
    probe(10, i); /* expect: none */
  return 0;
}
