"""One program with a specimen of everything the IR can hold, well formed throughout."""

from __future__ import annotations

from kleene.ir import Builder, Program
from kleene.ir.builder import Argument, Block, Bundle, Function, Member, SourceType
from kleene.ir.codes import (
    ORDERING_SHIFT,
    ArgumentFlag,
    AtomicOperation,
    Binding,
    ConstantKind,
    Flag,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Ordering,
    Passing,
    Predicate,
)

INT_ARITHMETIC = [op for op in Opcode if Opcode.ADD <= op <= Opcode.XOR]
FLOAT_ARITHMETIC = [op for op in Opcode if Opcode.FADD <= op <= Opcode.FREM]
FAST = [Flag.NNAN, Flag.NINF, Flag.NSZ, Flag.ARCP, Flag.CONTRACT, Flag.AFN, Flag.REASSOC]


def ordered(ordering: Ordering, flags: int = 0) -> int:
    return int(flags) | ordering << ORDERING_SHIFT


class Museum:
    """Builds the program room by room; every room is a function."""

    def __init__(self) -> None:
        self.b = b = Builder("museum")
        t = b.types
        self.i1, self.i8, self.i32, self.i64 = (t.integer(n) for n in (1, 8, 32, 64))
        self.ptr, self.double, self.void = t.pointer(), t.real("double"), t.void
        self.pair = t.struct([self.i32, self.i1])
        self.point = t.fill(t.named("struct.point"), [self.i32, self.i64])
        self.node = t.named("struct.node with spaces")
        t.fill(self.node, [self.ptr, t.array(3, self.point)], packed=True)
        self.opaque = t.named("opaque")
        self.vector = t.vector(4, self.i32)
        self.callee = b.function("callee", [("", self.i32)], self.i32)
        self.printf = b.function("printf", [("", self.ptr)], self.i32, vararg=True)
        self.raise_ = b.function("raise", [], self.void, flags=GlobalFlag.NORETURN)
        self.personality = b.function("__gxx_personality_v0", [], self.i32, vararg=True)
        self.globals()
        self.arithmetic()
        self.casts()
        self.memory()
        self.aggregates()
        self.control()
        self.calls()
        self.exceptions()
        self.windows()
        self.opaque_room()
        self.source()
        self.names()
        b.notices.append(("instruction 'frobnicate' is not known", 3))

    def room(self, name: str, parameters=(), result: int | None = None) -> tuple[Function, Block]:
        function = self.b.function(name, parameters, self.void if result is None else result)
        return function, function.block("entry")

    def globals(self) -> None:
        b, t = self.b, self.b.types
        one, two = b.integer(self.i32, 1), b.integer(self.i32, -2)
        for linkage in Linkage:
            b.variable(f"linked_{linkage.name.lower()}", self.i32, one, linkage=linkage)
        for flag in GlobalFlag:
            if flag not in (GlobalFlag.DECLARATION, GlobalFlag.ADDRESS_TAKEN):
                b.variable(f"flagged_{flag.name.lower()}", self.i32, two, flags=flag)
        b.variable("declared", self.opaque)
        b.variable("aligned", self.i32, one, align=64)
        table = b.variable("table", self.i32, one, constant=True)
        table.address_points += [(16, '!"_ZTS4Base"'), (24, "!7")]
        b.variable("far", self.i32, one, space=3)
        text = b.string(bytes(range(256)))
        b.variable("text", text.type, text, constant=True)
        b.variable("empty", t.struct([]), b.constant(ConstantKind.ZERO, t.struct([])))
        point = b.aggregate(self.point, one, b.integer(self.i64, 7))
        points = b.aggregate(t.array(3, self.point), point, point, point)
        node = b.variable("node", self.node, b.aggregate(self.node, self.callee, points))
        b.variable("zero", self.node, b.constant(ConstantKind.ZERO, self.node))
        inside = b.expression(
            Opcode.GETELEMENTPTR,
            self.ptr,
            node,
            b.integer(self.i64, 0),
            one,
            about=self.node,
            flags=Flag.INBOUNDS | Flag.NUW,
        )
        b.variable("inside", self.ptr, inside)
        b.variable("number", self.i64, b.expression(Opcode.PTRTOINT, self.i64, node))
        wrapped = b.constant(
            ConstantKind.WRAPPED, self.ptr, self.callee, payload=b.symbols["dso_local_equivalent"]
        )
        b.variable("wrapped", self.ptr, wrapped)
        unknown = b.constant(
            ConstantKind.UNKNOWN, self.ptr, node, payload=b.symbols["ptrauth (ptr @node, i32 1)"]
        )
        b.variable("unknown", self.ptr, unknown)
        self.numbers()
        alias = b.alias("alias", self.node, node)
        alias.linkage, alias.source_name = Linkage.INTERNAL, "alias in the source"
        b.alias("resolver", self.callee.content, self.callee, GlobalKind.IFUNC)
        b.variable("", self.i32, one)
        b.variable(b'quoted "name"\\\xff', self.i32, one)
        b.variable("7", self.i32, one)

    def numbers(self) -> None:
        b, t = self.b, self.b.types
        wide = t.integer(200)
        for place, value in enumerate((1 << 190, -(1 << 63), (1 << 63) - 1, -(1 << 63) - 1)):
            b.variable(f"wide{place}", wide, b.integer(wide, value))
        for place, value in enumerate((0.1, -0.0, 1e300, float("inf"), float("nan"), 1e22)):
            b.variable(f"real{place}", self.double, b.real(self.double, value))
        for word, text in (
            ("half", "0xH3C00"),
            ("bfloat", "0xR3F80"),
            ("x86_fp80", "0xK3FFF8000000000000000"),
            ("fp128", "0xL00000000000000003FFF000000000000"),
            ("ppc_fp128", "0xM3FF00000000000000000000000000000"),
        ):
            type_id = t.real(word)
            value = b.constant(
                ConstantKind.FLOAT, type_id, payload=b.symbols[text], flags=Flag.WIDE
            )
            b.variable(word, type_id, value)
        b.variable("float", t.real("float"), b.real(t.real("float"), 0.5))
        lanes = b.constant(ConstantKind.SPLAT, self.vector, b.integer(self.i32, 9))
        b.variable("lanes", self.vector, lanes)
        three = [b.integer(self.i32, n) for n in (1, 2, 3)]
        vector = t.vector(3, self.i32)
        b.variable("three", vector, b.aggregate(vector, *three))
        for kind, type_id in (
            (ConstantKind.NULL, self.ptr),
            (ConstantKind.UNDEF, self.point),
            (ConstantKind.POISON, self.vector),
        ):
            b.variable(kind.name.lower(), type_id, b.constant(kind, type_id))
        far = t.pointer(3)
        b.variable("far_null", far, b.null(far))
        b.variable("bits", self.i1, b.integer(self.i1, 1))

    def arithmetic(self) -> None:
        parameters = [("x", self.i32), ("y", self.i32), ("a", self.double), ("v", self.vector)]
        function, block = self.room("arithmetic", parameters)
        x, y, a, v = function.arguments
        five = self.b.integer(self.i32, 5)
        for opcode in INT_ARITHMETIC:
            block.add(opcode, x, five)
        for flag in (Flag.NUW, Flag.NSW, Flag.EXACT, Flag.DISJOINT):
            block.add(Opcode.ADD, x, y, flags=flag)
        for opcode in FLOAT_ARITHMETIC:
            block.add(opcode, a, self.b.real(self.double, 2.5))
        for flag in FAST:
            block.add(Opcode.FADD, a, a, flags=flag)
        block.add(Opcode.FNEG, a)
        block.add(Opcode.FREEZE, x)
        for predicate in Predicate:
            is_int = predicate >= Predicate.EQ
            operands = (x, five) if is_int else (a, a)
            block.add(Opcode.ICMP if is_int else Opcode.FCMP, *operands, sub=predicate)
        bit = block.add(Opcode.ICMP, x, y, sub=Predicate.EQ, flags=Flag.SAMESIGN)
        block.add(Opcode.SELECT, bit, x, five)
        lanes = block.add(Opcode.ICMP, v, v, sub=Predicate.NE)
        block.add(Opcode.SELECT, lanes, v, self.b.constant(ConstantKind.UNDEF, self.vector))
        block.add(Opcode.EXTRACTELEMENT, v, x, type=self.i32)
        block.add(Opcode.INSERTELEMENT, v, x, y)
        mask = self.b.aggregate(
            self.b.types.vector(2, self.i32), five, self.b.constant(ConstantKind.POISON, self.i32)
        )
        block.add(Opcode.SHUFFLEVECTOR, v, v, mask, type=mask.type)
        block.add(Opcode.RET)

    def casts(self) -> None:
        far = self.b.types.pointer(1)
        single = self.b.types.real("float")
        parameters = [("x", self.i32), ("a", self.double), ("p", self.ptr), ("v", self.vector)]
        function, block = self.room("casts", parameters)
        x, a, p, v = function.arguments
        for opcode, operand, type_id in (
            (Opcode.TRUNC, x, self.i8),
            (Opcode.ZEXT, x, self.i64),
            (Opcode.SEXT, x, self.i64),
            (Opcode.FPTRUNC, a, single),
            (Opcode.FPEXT, a, self.b.types.real("fp128")),
            (Opcode.FPTOUI, a, self.i32),
            (Opcode.FPTOSI, a, self.i32),
            (Opcode.UITOFP, x, self.double),
            (Opcode.SITOFP, x, self.double),
            (Opcode.PTRTOINT, p, self.i64),
            (Opcode.PTRTOADDR, p, self.i64),
            (Opcode.INTTOPTR, x, self.ptr),
            (Opcode.BITCAST, v, self.b.types.integer(128)),
            (Opcode.ADDRSPACECAST, p, far),
        ):
            block.add(opcode, operand, type=type_id)
        block.add(Opcode.ZEXT, x, type=self.i64, flags=Flag.NNEG)
        block.add(Opcode.RET)

    def memory(self) -> None:
        function, block = self.room("memory", [("p", self.ptr), ("n", self.i32)])
        p, n = function.arguments
        one = self.b.integer(self.i32, 1)
        slot = block.add(Opcode.ALLOCA, one, about=self.point, align=8, name="slot")
        block.add(Opcode.ALLOCA, n, about=self.i8)
        for flags in (0, Flag.VOLATILE, ordered(Ordering.ACQUIRE, Flag.ATOMIC | Flag.SCOPED)):
            block.add(Opcode.LOAD, p, type=self.i32, align=4, flags=flags)
        block.add(Opcode.STORE, n, slot, align=4)
        block.add(Opcode.STORE, self.b.null(), p)
        for ordering in Ordering:
            if ordering:
                block.add(Opcode.FENCE, flags=ordered(ordering))
                flags = ordered(ordering, Flag.ATOMIC)
                block.add(Opcode.STORE, n, p, flags=flags, align=4)
        for operation in AtomicOperation:
            is_float = operation.name.startswith("F")
            value = self.b.real(self.double, 1.0) if is_float else n
            flags = ordered(Ordering.SEQ_CST)
            block.add(Opcode.ATOMICRMW, p, value, sub=operation, flags=flags, align=8)
        for failing in (Ordering.MONOTONIC, Ordering.SEQ_CST):
            flags = ordered(Ordering.SEQ_CST, Flag.WEAK | Flag.VOLATILE)
            block.add(Opcode.CMPXCHG, p, n, one, type=self.pair, sub=failing, flags=flags)
        zero = self.b.integer(self.i64, 0)
        for flags in (0, Flag.INBOUNDS, Flag.NUSW, Flag.NUW):
            block.add(Opcode.GETELEMENTPTR, p, zero, one, about=self.point, flags=flags)
        block.add(Opcode.VA_ARG, p, type=self.double)
        block.add(Opcode.RET)

    def aggregates(self) -> None:
        function, block = self.room("aggregates", [("s", self.node)], self.node)
        (s,) = function.arguments
        zero, two = self.b.integer(self.i32, 0), self.b.integer(self.i32, 2)
        one = self.b.integer(self.i32, 1)
        value = block.add(Opcode.EXTRACTVALUE, s, one, two, zero, type=self.i32)
        new = block.add(Opcode.INSERTVALUE, s, value, one, zero, zero)
        poison = self.b.constant(ConstantKind.POISON, self.node)
        block.add(Opcode.INSERTVALUE, poison, self.callee, zero)
        block.add(Opcode.RET, new)

    def control(self) -> None:
        function, entry = self.room("control", [("x", self.i32), ("c", self.i1)], self.i32)
        x, c = function.arguments
        loop, body, left, right, out, dead = (
            function.block(name) for name in ("loop", "", "left", "right", "out", "dead")
        )
        zero, one = self.b.integer(self.i32, 0), self.b.integer(self.i32, 1)
        entry.add(Opcode.BR, loop)
        phi = loop.add(Opcode.PHI, type=self.i32, name="i")
        loop.add(Opcode.BR, c, body, out)
        next_ = body.add(Opcode.ADD, phi, one)
        minus = self.b.integer(self.i32, -1)
        body.add(Opcode.SWITCH, next_, loop, one, left, zero, right, minus, left)
        phi.incoming(zero, entry).incoming(next_, body)
        left.add(Opcode.PHI, type=self.i32).incoming(x, body).incoming(one, body)
        address = self.b.constant(ConstantKind.BLOCK_ADDRESS, self.ptr, function, right)
        left.add(Opcode.INDIRECTBR, address, right, out)
        right.add(Opcode.BR, out)
        result = out.add(Opcode.PHI, type=self.i32)
        result.incoming(phi, loop).incoming(next_, left).incoming(zero, right)
        out.add(Opcode.RET, result)
        dead.add(Opcode.UNREACHABLE)

    def calls(self) -> None:
        function, block = self.room("calls", [("f", self.ptr), ("x", self.i32)], self.i32)
        f, x = function.arguments
        about = self.b.types.function(self.i32, [self.i32])
        for flags in (0, Flag.TAIL, Flag.NOTAIL, Flag.NORETURN, Flag.RETURNS_TWICE):
            block.add(Opcode.CALL, self.callee, x, flags=flags)
        indirect = block.add(Opcode.CALL, f, x, about=about)
        indirect.bundles += [Bundle("deopt", (x, f)), Bundle("empty bundle")]
        block.add(Opcode.CALL, self.printf, f, x, self.b.real(self.double, 1.5))
        passing = self.b.types.function(self.void, [self.ptr, self.ptr])
        for way in list(Passing)[1:]:
            call = block.add(Opcode.CALL, f, f, f, about=passing)
            call.passed[1] = (way, self.point)
        code = self.b.assembly('nop # "x"', "=r,r", flags=Flag.SIDE_EFFECT)
        block.add(Opcode.CALL, code, x, about=about)
        takes_metadata = self.b.types.function(self.void, [self.b.types.metadata])
        metadata = self.b.constant(
            ConstantKind.METADATA, self.b.types.metadata, payload=self.b.symbols['!"rsp"']
        )
        block.add(Opcode.CALL, f, metadata, about=takes_metadata)
        result = block.add(Opcode.CALL, self.callee, x, flags=Flag.MUSTTAIL)
        block.add(Opcode.RET, result)
        self.jumping_assembly()

    def jumping_assembly(self) -> None:
        function, entry = self.room("jumping", [("x", self.i32)])
        (x,) = function.arguments
        on, aside = function.block("on"), function.block("aside")
        about = self.b.types.function(self.void, [self.i32])
        code = self.b.assembly("jmp ${1:l}", "r,!i", flags=Flag.SIDE_EFFECT)
        entry.add(Opcode.CALLBR, code, x, on, aside, about=about)
        on.add(Opcode.RET)
        aside.add(Opcode.RET)

    def exceptions(self) -> None:
        function, entry = self.room("exceptions", [("x", self.i32)], self.i32)
        (x,) = function.arguments
        function.personality = self.personality
        fine, pad = function.block("fine"), function.block("pad")
        value = entry.add(Opcode.INVOKE, self.callee, x, fine, pad)
        fine.add(Opcode.RET, value)
        caught = self.b.types.struct([self.ptr, self.i32])
        filtered = self.b.aggregate(self.b.types.array(1, self.ptr), self.callee)
        landing = pad.add(
            Opcode.LANDINGPAD, self.b.null(), self.callee, filtered, type=caught, flags=Flag.CLEANUP
        )
        pad.add(Opcode.RESUME, landing)

    def windows(self) -> None:
        token, null = self.b.types.token, self.b.null()
        function, entry = self.room("windows")
        function.personality = self.personality
        out, switch, handler, cleanup = (
            function.block(name) for name in ("out", "switch", "handler", "cleanup")
        )
        entry.add(Opcode.INVOKE, self.raise_, out, switch)
        none = self.b.constant(ConstantKind.NONE, token)
        chosen = switch.add(
            Opcode.CATCHSWITCH, none, handler, cleanup, type=token, flags=Flag.UNWINDS
        )
        caught = handler.add(Opcode.CATCHPAD, chosen, null, type=token)
        handler.add(Opcode.CATCHRET, caught, out)
        cleaned = cleanup.add(Opcode.CLEANUPPAD, none, null, type=token)
        cleanup.add(Opcode.CLEANUPRET, cleaned)
        out.add(Opcode.RET)

    def opaque_room(self) -> None:
        function, block = self.room("opaque", [("x", self.i32)])
        (x,) = function.arguments
        made = block.add(Opcode.OPAQUE, x, block, self.callee, type=self.i64, about=self.point)
        block.add(Opcode.OPAQUE, made, type=self.void)
        block.add(Opcode.OPAQUE, type=self.b.types.other('target("spirv.Image", i32, 1)'))
        block.add(Opcode.OPAQUE, type=self.b.types.vector(2, self.i8, scalable=True))
        block.add(Opcode.RET)

    def source(self) -> None:
        b = self.b
        flags = [
            Argument(self.ptr, f"p_{flag.name.lower()}", flag) for flag in ArgumentFlag if flag.name
        ]
        ways = [
            Argument(self.ptr, f"p_{way.name.lower()}", ArgumentFlag.NOALIAS, way, self.point)
            for way in list(Passing)[1:]
        ]
        function = b.function("_Z6sourcei", [("x", self.i32), *flags, *ways], self.i32)
        function.source_name, function.span = "source", b.span("dir/a.c", 3, 5)
        function.align = 16
        x = function.arguments[0]
        block = function.block()
        call = b.span("dir/a.c", 9, 2, scope="source")
        inlined = b.span("b c.h", 4, 1, scope="operator+", inlined_at=call)
        deeper = b.span("dir/a.c", 5, 0, scope="", inlined_at=inlined)
        self.b.source_types += [
            SourceType("pair", 24, [Member("left", 0, 4), Member("", 8, 16, 1)]),
            SourceType("", 16, [Member("", 0, 8, 2)], element_bytes=8),
            SourceType('a "name"', 8, [Member("up", 0, 8), Member(b"\xff", 0, 4)]),
        ]
        self.b.types.describe(self.node, 2)
        variable = function.variable("x", argument=1, span=call, source_type=0, is_pointer=True)
        local, shadow = function.variable("sum", span=inlined), function.variable("sum")
        nameless = function.variable("")
        slot = block.add(Opcode.ALLOCA, b.integer(self.i32, 1), about=self.i32, span=call)
        block.bind(variable, x)
        block.bind(local, slot, Binding.DECLARE)
        total = block.add(Opcode.ADD, x, x, span=inlined)
        block.bind(local, total, Binding.ASSIGN)
        block.bind(shadow, total, exact=False)
        block.bind(shadow, slot, Binding.DECLARE, exact=False)
        made_up = block.add(Opcode.ADD, total, x, name=".013")
        block.bind(local, made_up)
        block.add(Opcode.SUB, made_up, x, name=".013")
        block.bind(nameless, b.integer(self.i32, 4))
        block.bind(nameless, None)
        block.add(Opcode.RET, total, span=deeper)

    def names(self) -> None:
        function = self.b.function(
            "names", [("x", self.i32), ("", self.i32), ("x", self.i32)], self.i32
        )
        first, second = function.block("x"), function.block("x")
        a, b, c = function.arguments
        first.add(Opcode.BR, second)
        d = second.add(Opcode.ADD, a, b, name="x")
        e = second.add(Opcode.ADD, c, d, name="with space")
        second.add(Opcode.RET, second.add(Opcode.ADD, d, e, name="9"))


def museum() -> Program:
    """Return the program."""
    return Museum().b.finish()
