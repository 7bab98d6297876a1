"""The small integers of the IR: what each code in a column stands for.

Opcodes, predicates and orderings keep LLVM's names, so that a reader who knows LLVM knows these.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag, unique


@unique
class TypeKind(IntEnum):
    """The shape of a type; `bits` and `elements` of its row complete it."""

    VOID = 0
    INT = 1  # bits = width
    FLOAT = 2  # bits = width; name = LLVM's word ("float", "x86_fp80", …)
    POINTER = 3  # bits = address space
    ARRAY = 4  # bits = count; elements = [element]
    VECTOR = 5  # bits = count; elements = [element]
    STRUCT = 6  # elements = fields; name, if it has one
    FUNCTION = 7  # elements = [result, parameters …]
    LABEL = 8
    METADATA = 9
    TOKEN = 10
    OTHER = 11  # a target's own type; name = its text


class TypeFlag(IntFlag):
    """Properties of a type."""

    PACKED = 1
    VARARG = 2
    OPAQUE = 4  # a named struct without a body
    SCALABLE = 8


@unique
class ValueKind(IntEnum):
    """The five segments of the value numbering, in their order."""

    GLOBAL = 0
    CONSTANT = 1
    ARGUMENT = 2
    BLOCK = 3
    INSTRUCTION = 4


@unique
class ConstantKind(IntEnum):
    """What a constant is; `payload` and `operands` of its row complete it."""

    INT = 0  # payload = value, or with WIDE the symbol of its decimal text
    FLOAT = 1  # payload = bits of the float64, or with WIDE the symbol of LLVM's hex text
    NULL = 2
    UNDEF = 3
    POISON = 4
    ZERO = 5  # zeroinitializer
    NONE = 6  # the token `none`
    STRING = 7  # payload = symbol of its bytes
    AGGREGATE = 8  # operands = elements
    SPLAT = 9  # operands = [element]
    EXPRESSION = 10  # opcode, flags, about, operands as in an instruction
    BLOCK_ADDRESS = 11  # operands = [function, block]
    ASSEMBLY = 12  # payload = symbol of the text, about = symbol of the constraints
    METADATA = 13  # payload = symbol of its text
    WRAPPED = 14  # operands = [global …]; payload = symbol of the wrapper's word
    UNKNOWN = 15  # payload = symbol of its text; operands = the values named in it


@unique
class GlobalKind(IntEnum):
    """What a global name stands for."""

    VARIABLE = 0
    FUNCTION = 1
    ALIAS = 2
    IFUNC = 3


@unique
class Linkage(IntEnum):
    """Who may see and replace a global."""

    EXTERNAL = 0
    INTERNAL = 1
    PRIVATE = 2
    AVAILABLE_EXTERNALLY = 3
    LINKONCE = 4
    LINKONCE_ODR = 5
    WEAK = 6
    WEAK_ODR = 7
    COMMON = 8
    APPENDING = 9
    EXTERN_WEAK = 10


# Instead of these a linker may take another definition, with other contents or another body.
REPLACEABLE = frozenset({Linkage.WEAK, Linkage.LINKONCE, Linkage.COMMON, Linkage.EXTERN_WEAK})


class GlobalFlag(IntFlag):
    """Properties of a global variable, function or alias."""

    DECLARATION = 1
    CONSTANT = 2
    THREAD_LOCAL = 4
    ADDRESS_TAKEN = 8  # used other than as the callee of a call, or as a memory operand
    UNNAMED_ADDRESS = 16
    DSO_LOCAL = 32
    HIDDEN = 64
    EXTERNALLY_INITIALIZED = 128
    NORETURN = 256
    RETURNS_TWICE = 512
    NOUNWIND = 1024
    READ_NONE = 2048  # touches no memory
    READ_ONLY = 4096  # writes no memory
    ALLOCATOR = 8192  # declared with allockind or allocsize
    TYPE_TESTS = 16384  # every virtual call in it tests the class of the table that it reads


class ArgumentFlag(IntFlag):
    """Promises about an argument."""

    NOALIAS = 1
    NONNULL = 2
    NOCAPTURE = 4
    READ_ONLY = 8
    WRITE_ONLY = 16
    READ_NONE = 32
    RETURNED = 64
    SIGN_EXTENDED = 128
    ZERO_EXTENDED = 256
    NOUNDEF = 512


@unique
class Passing(IntEnum):
    """How a struct travels behind a pointer argument."""

    DIRECT = 0
    BYVAL = 1
    SRET = 2
    BYREF = 3
    INALLOCA = 4
    PREALLOCATED = 5
    ELEMENT = 6  # elementtype(T): the pointee an intrinsic or assembly works on


@unique
class Opcode(IntEnum):
    """What an instruction does. Operand order is given where it is not LLVM's printed one."""

    RET = 0
    BR = 1  # [target] or [condition, then, else]
    SWITCH = 2  # [value, default, case, target, case, target, …]
    INDIRECTBR = 3  # [address, targets …]
    INVOKE = 4  # [callee, arguments …, normal, unwind]
    CALLBR = 5  # [callee, arguments …, fallthrough, targets …]
    RESUME = 6
    UNREACHABLE = 7
    CLEANUPRET = 8  # [pad] or [pad, unwind]
    CATCHRET = 9  # [pad, target]
    CATCHSWITCH = 10  # [parent, handlers …] and, with UNWINDS, the unwind block last
    FNEG = 11
    ADD = 12
    SUB = 13
    MUL = 14
    UDIV = 15
    SDIV = 16
    UREM = 17
    SREM = 18
    SHL = 19
    LSHR = 20
    ASHR = 21
    AND = 22
    OR = 23
    XOR = 24
    FADD = 25
    FSUB = 26
    FMUL = 27
    FDIV = 28
    FREM = 29
    ALLOCA = 30  # [count]; about = allocated type
    LOAD = 31  # [pointer]
    STORE = 32  # [value, pointer]
    FENCE = 33
    CMPXCHG = 34  # [pointer, expected, new]; sub = ordering on failure
    ATOMICRMW = 35  # [pointer, value]; sub = operation
    GETELEMENTPTR = 36  # [base, indices …]; about = source element type
    TRUNC = 37
    ZEXT = 38
    SEXT = 39
    FPTRUNC = 40
    FPEXT = 41
    FPTOUI = 42
    FPTOSI = 43
    UITOFP = 44
    SITOFP = 45
    PTRTOINT = 46
    PTRTOADDR = 47
    INTTOPTR = 48
    BITCAST = 49
    ADDRSPACECAST = 50
    ICMP = 51  # sub = predicate
    FCMP = 52  # sub = predicate
    PHI = 53  # [value, block, value, block, …]
    SELECT = 54
    CALL = 55  # [callee, arguments …]; about = function type
    VA_ARG = 56  # [list]
    LANDINGPAD = 57  # clauses; one of array type is a filter, any other a catch
    EXTRACTVALUE = 58  # [aggregate, indices …], indices as i32 constants
    INSERTVALUE = 59  # [aggregate, value, indices …]
    EXTRACTELEMENT = 60
    INSERTELEMENT = 61
    SHUFFLEVECTOR = 62  # [left, right, mask]
    FREEZE = 63
    CLEANUPPAD = 64  # [parent, arguments …]
    CATCHPAD = 65  # [catchswitch, arguments …]
    OPAQUE = 66  # not understood; operands = every value named in it


TERMINATORS = frozenset(range(Opcode.RET, Opcode.CATCHSWITCH + 1))
BINARY = frozenset(range(Opcode.ADD, Opcode.FREM + 1))
CASTS = frozenset(range(Opcode.TRUNC, Opcode.ADDRSPACECAST + 1))
CALLS = frozenset((Opcode.CALL, Opcode.INVOKE, Opcode.CALLBR))
WITHOUT_RESULT = {Opcode.STORE, Opcode.FENCE} | (
    TERMINATORS - {Opcode.INVOKE, Opcode.CALLBR, Opcode.CATCHSWITCH}
)
ADDRESS_OPERAND = {Opcode.LOAD: 0, Opcode.STORE: 1, Opcode.CMPXCHG: 0, Opcode.ATOMICRMW: 0}


class Flag(IntFlag):
    """Modifiers of an instruction or constant expression."""

    NUW = 1 << 0
    NSW = 1 << 1
    EXACT = 1 << 2
    DISJOINT = 1 << 3
    NNEG = 1 << 4
    SAMESIGN = 1 << 5
    INBOUNDS = 1 << 6
    NUSW = 1 << 7
    VOLATILE = 1 << 8
    ATOMIC = 1 << 9
    TAIL = 1 << 10
    MUSTTAIL = 1 << 11
    NOTAIL = 1 << 12
    CLEANUP = 1 << 13  # a landingpad that also cleans up
    UNWINDS = 1 << 14  # a catchswitch whose last operand is its unwind block
    WEAK = 1 << 15  # a cmpxchg that may fail spuriously
    NNAN = 1 << 16
    NINF = 1 << 17
    NSZ = 1 << 18
    ARCP = 1 << 19
    CONTRACT = 1 << 20
    AFN = 1 << 21
    REASSOC = 1 << 22
    SCOPED = 1 << 23  # an atomic with a synchronisation scope of its own
    # bits 24 to 26: an Ordering
    NORETURN = 1 << 27
    RETURNS_TWICE = 1 << 28
    SIDE_EFFECT = 1 << 29  # inline assembly
    WIDE = 1 << 30  # a constant that does not fit its payload


ORDERING_SHIFT = 24
ORDERING_MASK = 7 << ORDERING_SHIFT


@unique
class Ordering(IntEnum):
    """How an atomic access is ordered with others."""

    NONE = 0
    UNORDERED = 1
    MONOTONIC = 2
    ACQUIRE = 3
    RELEASE = 4
    ACQ_REL = 5
    SEQ_CST = 6


@unique
class Predicate(IntEnum):
    """What an icmp or fcmp asks; `UGT` to `ULE` are words of both: unsigned, or unordered."""

    FALSE = 0
    OEQ = 1
    OGT = 2
    OGE = 3
    OLT = 4
    OLE = 5
    ONE = 6
    ORD = 7
    UNO = 8
    UEQ = 9
    UGT = 10
    UGE = 11
    ULT = 12
    ULE = 13
    UNE = 14
    TRUE = 15
    EQ = 16
    NE = 17
    SGT = 18
    SGE = 19
    SLT = 20
    SLE = 21


REAL_PREDICATES = frozenset(range(Predicate.FALSE, Predicate.TRUE + 1))
INTEGER_PREDICATES = frozenset(
    (*range(Predicate.UGT, Predicate.ULE + 1), *range(Predicate.EQ, Predicate.SLE + 1))
)


@unique
class AtomicOperation(IntEnum):
    """What an atomicrmw does to memory."""

    XCHG = 0
    ADD = 1
    SUB = 2
    AND = 3
    NAND = 4
    OR = 5
    XOR = 6
    MAX = 7
    MIN = 8
    UMAX = 9
    UMIN = 10
    FADD = 11
    FSUB = 12
    FMAX = 13
    FMIN = 14
    UINC_WRAP = 15
    UDEC_WRAP = 16
    USUB_COND = 17
    USUB_SAT = 18
    FMAXIMUM = 19
    FMINIMUM = 20


@unique
class Binding(IntEnum):
    """How a source variable is tied to a value."""

    DECLARE = 0  # the value is the variable's address
    VALUE = 1  # the value is the variable, from here on
    ASSIGN = 2  # both are known
