/* Machine integers: they wrap around, are cut and extended, shifted and masked. */
void probe(int id, long value);

int main(void) {
  unsigned char byte = 250;
  for (int i = 0; i < 10; i++) {
    byte += 3;
    probe(1, byte); /* expect: 0..255 */
    signed char narrow = (signed char)byte;
    probe(2, narrow); /* expect: -128..127 */
    unsigned mask = (unsigned)i * 2654435761u;
    probe(3, mask & 15); /* expect: 0..15 */
    probe(4, mask >> 28); /* expect: 0..15 */
    probe(5, -i); /* expect: -9..0 */
    probe(6, i % 4); /* expect: 0..3 */
    probe(7, (long)i << 3); /* expect: 0..72 */
    probe(8, (100 - i) / 7); /* expect: 13..14 */
    probe(9, mask);
    probe(10, (int)mask);
  }
  unsigned wrapped = 3;
  for (int i = 0; i < 5; i++)
    wrapped -= 1;
  probe(11, wrapped);
  return 0;
}
