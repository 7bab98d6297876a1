"""Programs out of their text form.

Every statement is one line. A first look finds the globals, so that any line may name any of them;
locals, blocks and types may be named before the line that defines them.
"""

from __future__ import annotations

import re

from kleene.base.errors import SourceError, Span
from kleene.ir.builder import Argument, Block, Builder, Function, Global, Member, SourceType
from kleene.ir.builder.types import symbol_bytes
from kleene.ir.codes import GlobalFlag, GlobalKind, Linkage, Passing
from kleene.ir.names import default_source_name
from kleene.ir.program import Program
from kleene.ir.text.instructions import BodyParser
from kleene.ir.text.lexer import Line, symbol_of
from kleene.ir.text.operands import Operands
from kleene.ir.text.places import Places
from kleene.ir.text.words import ARGUMENT_FLAGS, GLOBAL_FLAGS, LINKAGES, PASSINGS

_GLOBAL_LINE = re.compile(r"\s*(?:(?:define|declare)\b|@)")
_CLAUSES = ("align", "space", "section", "type", "source", "!")  # after a global
_KINDS = {
    "global": GlobalKind.VARIABLE,
    "constant": GlobalKind.VARIABLE,
    "alias": GlobalKind.ALIAS,
    "ifunc": GlobalKind.IFUNC,
}
_CLAUSES = ("align", "space", "section", "source", "described", "!")  # behind an initialiser
_DESCRIBED = "the number of a described type"


def parse(text: str, file: str = "<text>") -> Program:
    """Return the program that `text` describes; `ir/syntax` at the place where it does not."""
    parser = _Parser(file, text)
    parser.run()
    return parser.builder.finish(derive=False)


class _Parser:
    def __init__(self, file: str, text: str) -> None:
        self._file, self._lines = file, text.split("\n")
        self.builder = Builder(triple="", data_layout="")
        self._operands = Operands(self.builder)
        self._operands.block_of = self._block_of
        self._places = Places(self.builder)
        self._bodies: dict[int, BodyParser] = {}  # by the function's identity
        self._defined_types: set[int] = set()
        self._no_local = self._operands.local

    def run(self) -> None:
        for number, raw in enumerate(self._lines, 1):
            if _GLOBAL_LINE.match(raw):
                self._announce(Line(self._file, number, raw))
        body: BodyParser | None = None
        for number, raw in enumerate(self._lines, 1):
            line = Line(self._file, number, raw)
            if line.kind == "end":
                continue
            if body is None:
                body = self._top(line)
            elif line.accept("}"):
                line.end()
                body, self._operands.local = None, self._no_local
            else:
                body.line(line)
        if body is not None:
            self._fail(len(self._lines), "'}' is missing: the last function does not end")
        self._check_names()

    def _fail(self, number: int, message: str) -> None:
        raise SourceError(Span(self._file, number, 1), "ir/syntax", message)

    def _announce(self, line: Line) -> None:
        """Make the global of this line known, still empty."""
        is_function = line.text in ("define", "declare")
        if is_function:
            line.advance()
        if line.text in self._operands.globals:
            line.fail(f"{line.seen()} is defined twice")
        name, types = line.name("@", "a global"), self.builder.types
        pointer, symbol = types.pointer(), symbol_of(name)
        if is_function:
            kind = GlobalKind.FUNCTION
            function = Function(pointer, symbol, kind, types.void, types=types)
            self._bodies[id(function)] = BodyParser(self._operands, self._places, function)
            self._operands.globals[name] = function
        else:
            self._operands.globals[name] = Global(pointer, symbol, GlobalKind.VARIABLE, types.void)
        self.builder.globals.append(self._operands.globals[name])

    def _top(self, line: Line) -> BodyParser | None:
        """Read a line outside functions; return the body that it opens, if any."""
        if line.kind == "name" and line.text[0] == "@":
            self._variable(line)
        elif line.text in ("define", "declare"):
            return self._function(line)
        elif line.accept("type"):
            self._type(line)
        elif line.accept("described"):
            self._source_type(line)
        elif line.accept("notice"):
            count = line.integer("a count")
            self.builder.notices.append((line.string("a notice"), count))
        else:
            self._head(line)
        line.end()
        return None

    def _head(self, line: Line) -> None:
        for word, attribute in (
            ("program", "name"),
            ("triple", "triple"),
            ("layout", "data_layout"),
        ):
            if line.accept(word):
                text = line.string(f"the {word}").decode("utf-8", "replace")
                setattr(self.builder, attribute, text)
                return
        line.fail(f"{line.seen()} begins no part of a program")

    def _type(self, line: Line) -> None:
        types = self.builder.types
        name = symbol_of(line.name("$", "a type"))
        if not name:
            line.fail("a type without a name")
        struct = types.named(name)
        if struct in self._defined_types:
            line.fail("this type is defined twice")
        self._defined_types.add(struct)
        line.expect("=")
        if not line.accept("opaque"):
            fields, packed = self._operands.fields(line)
            types.fill(struct, fields, packed=packed)
        if line.accept("described"):
            types.describe(struct, line.integer(_DESCRIBED))

    def _source_type(self, line: Line) -> None:
        known = self.builder.source_types
        if line.text != str(len(known)):
            line.fail(f"{len(known)} is missing, the number of the next described type")
        line.advance()
        line.expect("=")
        new = SourceType(line.string("a name"), line.integer("a size in bytes"), [])
        if line.accept("each"):
            new.element_bytes = line.integer("a size in bytes")
        line.expect("{")
        new.members = line.items("}", self._member)
        known.append(new)

    def _member(self, line: Line) -> Member:
        member = Member(line.string("a name"), line.integer("a byte"), line.integer("a size"))
        if line.accept("described"):
            member.source_type = line.integer(_DESCRIBED)
        return member

    def _variable(self, line: Line) -> None:
        item = self._operands.globals[line.advance()]
        line.expect("=")
        self._words(line, item)
        if line.text not in _KINDS:
            line.fail(f"one of {', '.join(_KINDS)} is missing, here stands {line.seen()}")
        item.kind = _KINDS[line.text]
        if line.advance() == "constant":
            item.flags |= GlobalFlag.CONSTANT
        item.content = self._operands.type(line)
        if line.kind != "end" and line.text not in _CLAUSES:
            item.initializer = self._operands.constant(line, item.content)
        self._tail(line, item)

    def _function(self, line: Line) -> BodyParser | None:
        is_defined = line.advance() == "define"
        function = self._operands.globals[line.name("@", "a function")]
        assert isinstance(function, Function), "announced as such"
        body = self._bodies[id(function)]
        line.expect("(")
        function.arguments, vararg = line.parameters(lambda line: self._argument(line, body))
        line.expect("->")
        result = self._operands.type(line)
        parameters = [argument.type for argument in function.arguments]
        function.content = self.builder.types.function(result, parameters, vararg=vararg)
        self._words(line, function)
        self._tail(line, function)
        if not is_defined:
            line.end()
            return None
        line.expect("{")
        line.end()
        self._operands.local = body.local
        return body

    def _argument(self, line: Line, body: BodyParser) -> Argument:
        name = line.name("%", "an argument")
        line.expect(":")
        argument = Argument(self._operands.type(line), symbol_of(name))
        while line.kind == "word" and line.text in ARGUMENT_FLAGS:
            argument.flags |= ARGUMENT_FLAGS[line.advance()]
        if line.kind == "word" and line.text in PASSINGS:
            argument.passing = Passing(PASSINGS[line.advance()])
            line.expect("(")
            argument.passed_type = self._operands.type(line)
            line.expect(")")
        body.add_argument(name, argument)
        return argument

    def _words(self, line: Line, item: Global) -> None:
        """Read linkage and properties; `constant` before a variable's type is its keyword."""
        while line.kind == "word":
            is_keyword = line.text in _KINDS and not isinstance(item, Function)
            if line.text in LINKAGES:
                item.linkage = Linkage(LINKAGES[line.advance()])
            elif line.text in GLOBAL_FLAGS and not is_keyword:
                item.flags |= GLOBAL_FLAGS[line.advance()]
            else:
                break

    def _tail(self, line: Line, item: Global) -> None:
        """Read the clauses after a global, and its place."""
        has_source = False
        while line.kind == "word":
            if line.accept("align"):
                item.align = line.integer("an alignment in bytes")
            elif line.accept("space"):
                item.space = line.integer("an address space")
                item.type = self.builder.types.pointer(item.space)
            elif line.accept("section"):
                item.section = line.string("a name")
            elif line.accept("type"):
                byte = line.integer("a number of bytes")
                item.address_points.append((byte, line.string("a type")))
            elif line.accept("source"):
                item.source_name, has_source = line.string("a name"), True
            elif line.accept("described"):
                item.source_type = line.integer(_DESCRIBED)
            elif isinstance(item, Function) and line.accept("personality"):
                item.personality = self._operands.operand(line)
            else:
                break
        if not has_source:
            item.source_name = default_source_name(symbol_bytes(item.name), line.text == "!")
        if line.accept("!"):
            scope = item.source_name if isinstance(item, Function) else ""
            item.span = self._places.read(line, "", scope)

    def _block_of(self, line: Line, function: Function) -> Block:
        return self._bodies[id(function)].block(line)

    def _check_names(self) -> None:
        """Check that all names are defined; give calls of functions the type of these."""
        for body in self._bodies.values():
            for name, span in body.undefined().items():
                raise SourceError(span, "ir/syntax", f"'{name}' is defined nowhere in its function")
            for call, callee, span in body.calls_of_globals:
                if not isinstance(callee, Function):
                    message = "'as' and the function's type are missing: the callee is no function"
                    raise SourceError(span, "ir/syntax", message)
                call.about = callee.content
