"""How many bytes there are from a pointer of unknown origin to the end of its object: variables.

Nothing is known of a room where its pointer comes from. Behind an access at the offset o of n bytes
it is o + n or more, or the run had ended there: so of an unknown object only the first access, and
those that go further, may fail. Behind a call that frees something it is anything again.
"""

from __future__ import annotations

from kleene.analyses.invariants.expressions import Form, Kind
from kleene.analyses.invariants.flat import Base, FlatFunction
from kleene.analyses.invariants.operations import AnyValue, Operation
from kleene.analyses.invariants.storage import MayFree

MOST_ROOM = 1 << 40
_ROOM = -(1 << 56)


def room_of(flat: FlatFunction, root: Base) -> Base:
    """Return the variable for the bytes from where a pointer points to the end of its object."""
    key = room_variable(root)
    flat.kinds[key] = Kind(64, False)
    return key


def room_variable(root: Base) -> Base:
    """Return what the variable for the room of a pointer is, whether somebody uses it or not."""
    return Base(root.context, _ROOM - root.value)


def is_compared(end: Form) -> bool:
    """Return whether octagons can hold that a room is at least so large.

    Others would cost much (8 times as long, for a product of matrices) and prove little.
    """
    return not end.terms or (len(end.terms) == 1 and abs(end.terms[0][1]) == 1)


def pointer_of_room(key: object) -> Base | None:
    """Return the pointer whose room a variable is; None if it is no room."""
    if not isinstance(key, Base) or not 0 <= _ROOM - key.value < 1 << 40:
        return None
    return Base(key.context, _ROOM - key.value)


def follow_rooms(flat: FlatFunction, least: int) -> None:
    """Let a room be anything where its pointer is another one, or where something is freed.

    Args:
        flat: gets the operations.
        least: how large a room is at least, of which nothing is known.
    """
    rooms = {pointer: key for key in flat.kinds if (pointer := pointer_of_room(key)) is not None}
    if not rooms:
        return
    anything = [AnyValue(key, (least, MOST_ROOM)) for key in rooms.values()]
    for block in flat.blocks:
        operations: list[Operation] = []
        origins: list[tuple[int, int]] = []
        for operation, origin in zip(block.operations, block.origins, strict=True):
            made = [operation]
            if isinstance(operation, MayFree):
                made += anything
            elif operation.sets in rooms:
                made.append(AnyValue(rooms[operation.sets], (least, MOST_ROOM)))
            operations += made
            origins += [origin] * len(made)
        block.operations, block.origins = operations, origins
        for edge in block.edges:
            edge.assignments += [(rooms[key], None) for key, _ in edge.assignments if key in rooms]
    entry = flat.blocks[0]
    entry.operations[:0] = anything
    entry.origins[:0] = [(0, -1)] * len(anything)
