"""Where does each move take each place of each shape?

Landings are computed on addresses. An exact place is one address; a place in the others of an array
is the addresses of elements 1, 2, …; so it stands for many. A move by c and multiples of t takes
address x to every x + c + j·t in the allocation, with what ISO C says of arrays (6.5.6):

- A variable index stays in its array. Its array is the outermost one around x + c whose element
  size divides t, and which is not smaller than t; else around x (`a[i - 1]`). For negative c both
  are taken. Where there is none, every multiple counts. So it does where a compiler has put the
  index before the constant that leads to the array: `s->b[i]` as s + i·t + b.
- A positive constant that is a multiple of the element size and smaller than the array, from the
  others, stays in the others: steps of so many elements. Every other constant is added to every
  address: pointers to members go back to their struct. So is one *in bytes*, of which no type
  says that it counts elements: a walk over bytes, once a compiler unrolls it, takes eight at once.
- Bytes of an object may be walked over, whatever it contains (6.3.2.3). So an array of bytes that
  such a walk can come to from the beginning of a larger object, by steps of one byte, keeps nothing
  in. Elsewhere a walk has come through the inside of a place, and its blur leads everywhere.
- A pointer past an array is kept as one to its others (to its first element, if that is the only
  one), from where it may come back. Past the allocation there is a place of its own, the end;
  an index leads from there into arrays that end there.
- An address within a place gives that place and the blur; a move from the blur leads everywhere.
  Addresses before or behind the allocation are dropped.

Cost: a few elements at both ends of an array stand for all of it, since the others move alike.
Equal blocks of rows are kept once.
"""

from kleene.analyses.points_to.landings.frame import UNBOUNDED, Frame, find_places, search_all
from kleene.analyses.points_to.landings.tables import land_all

__all__ = ["UNBOUNDED", "Frame", "find_places", "land_all", "search_all"]
