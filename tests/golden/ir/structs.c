// Structs, nested fields, arrays, unions, bit-fields, structs by value.
struct point { int x, y; };
struct shape { char tag; struct point corners[4]; struct { double area; } measured; struct shape *next; };
union word { int number; float real; unsigned char bytes[4]; };
struct packed { char a; int b; } __attribute__((packed));
struct bits { unsigned low : 3; int high : 13; };
struct big { long values[8]; };

int field(struct shape *s, int i) {
  s->measured.area = 1.5;
  s->next->corners[i].y = s->corners[2].x;
  return s->corners[i].y;
}

int array(int matrix[][3], int i) { return matrix[i][2] + matrix[1][i]; }

unsigned char reinterpret(float f) {
  union word w;
  w.real = f;
  return w.bytes[0] + w.number;
}

int packed_field(struct packed *p) { return p->b; }

int bit_field(struct bits *b, int n) {
  b->high = n;
  return b->low + b->high;
}

struct point mirror(struct point p) {
  struct point q = { p.y, p.x };
  return q;
}

struct big enlarge(struct big b) {
  b.values[3]++;
  return b;
}

int by_value(void) {
  struct point p = mirror((struct point){ 1, 2 });
  struct big b = enlarge((struct big){ { 0 } });
  return p.x + (int)b.values[3];
}

void copy(struct big *to, const struct big *from) { *to = *from; }
