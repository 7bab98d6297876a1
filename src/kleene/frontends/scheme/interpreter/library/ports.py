"""Ports, and what the world outside says: files, clocks, the environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kleene.base.errors import SourceError
from kleene.frontends.scheme.expander.quoting import value_of
from kleene.frontends.scheme.interpreter.library.numbers import index
from kleene.frontends.scheme.interpreter.library.registry import machine, plain
from kleene.frontends.scheme.interpreter.library.text import char, text
from kleene.frontends.scheme.interpreter.library.vectors import octets
from kleene.frontends.scheme.interpreter.objects import InputPort, OutputPort, failure
from kleene.frontends.scheme.interpreter.show import text_of
from kleene.frontends.scheme.reader import read_first
from kleene.ir.scheme.sources import Sources
from kleene.ir.scheme.values import EOF, Char, String, list_of


def _to(m: Any, port: Any, is_binary: bool = False) -> OutputPort:
    """Return the port to write to: the one given, else the current one."""
    chosen = m.current("current-output-port") if port is None else port
    if type(chosen) is not OutputPort or chosen.is_binary != is_binary or not chosen.is_open:
        raise TypeError("not an open output port of this kind")
    return chosen


def _from(m: Any, port: Any, kind: type) -> InputPort:
    """Return the port to read from: the one given, else the current one."""
    chosen = m.current("current-input-port") if port is None else port
    if type(chosen) is not InputPort or type(chosen.data) is not kind or not chosen.is_open:
        raise TypeError("not an open input port of this kind")
    return chosen


def _writer(name: str, *, is_written: bool, with_labels: str) -> None:
    @machine(name)
    def write(m: Any, value: Any, port: Any = None) -> None:
        shown = text_of(value, is_written=is_written, with_labels=with_labels)
        _to(m, port).parts.append(shown)


_writer("display", is_written=False, with_labels="cycles")
_writer("write", is_written=True, with_labels="cycles")
_writer("write-shared", is_written=True, with_labels="all")
_writer("write-simple", is_written=True, with_labels="none")
machine("newline")(lambda m, port=None: _to(m, port).parts.append("\n"))
machine("write-char")(lambda m, x, port=None: _to(m, port).parts.append(str(char(x))))
machine("write-u8")(lambda m, x, port=None: _to(m, port, True).parts.append(bytes([x])))
machine("flush-output-port")(lambda m, port=None: None)


@machine("write-string")
def _write_string(m: Any, value: Any, port: Any = None, start: Any = 0, end: Any = None) -> None:
    _to(m, port).parts.append(text(value)[start:end])


@machine("write-bytevector")
def _write_bytes(m: Any, value: Any, port: Any = None, start: Any = 0, end: Any = None) -> None:
    _to(m, port, True).parts.append(bytes(octets(value)[start:end]))


def _taken(port: InputPort, n: int, is_peek: bool = False) -> Any:
    """Return the next n items of a port, or the end of file if none is left."""
    items = port.data[port.position : port.position + n]
    if not is_peek:
        port.position += len(items)
    return items if items or n == 0 else EOF


def _reader(name: str, kind: type, is_peek: bool) -> None:
    @machine(name)
    def read(m: Any, port: Any = None) -> Any:
        item = _taken(_from(m, port, kind), 1, is_peek)
        if item is EOF:
            return EOF
        return Char(item) if kind is str else item[0]


_reader("read-char", str, False)
_reader("peek-char", str, True)
_reader("read-u8", bytes, False)
_reader("peek-u8", bytes, True)
machine("char-ready?")(lambda m, port=None: bool(_from(m, port, str)))
machine("u8-ready?")(lambda m, port=None: bool(_from(m, port, bytes)))


@machine("read-line")
def _read_line(m: Any, port: Any = None) -> Any:
    source = _from(m, port, str)
    end = source.data.find("\n", source.position)
    line = _taken(source, (len(source.data) if end < 0 else end + 1) - source.position or 1)
    return EOF if line is EOF else String(line.removesuffix("\n"))


def _several(name: str, kind: type, made: Callable[[Any], Any]) -> None:
    @machine(name)
    def read(m: Any, n: Any, port: Any = None) -> Any:
        taken = _taken(_from(m, port, kind), index(n))
        return taken if taken is EOF else made(taken)


_several("read-string", str, String)
_several("read-bytevector", bytes, bytearray)


@machine("read-bytevector!")
def _read_into(m: Any, to: Any, port: Any = None, start: Any = 0, end: Any = None) -> Any:
    stop = len(octets(to)) if end is None else end
    taken = _taken(_from(m, port, bytes), stop - start)
    if taken is EOF:
        return EOF
    to[start : start + len(taken)] = taken
    return len(taken)


@machine("read")
def _read(m: Any, port: Any = None) -> Any:
    source = _from(m, port, str)
    sources = Sources()
    rest = sources.add("<port>", source.data[source.position :].encode())
    try:
        datum, n_bytes = read_first(sources, rest)
        source.position += len(rest.text[:n_bytes].decode())
        return EOF if datum is None else value_of(datum, sources)
    except SourceError as error:
        raise failure(f"read: {error.message}", kind="read") from None


plain("open-input-string")(lambda x: InputPort(text(x)))
plain("open-input-bytevector")(lambda x: InputPort(bytes(octets(x))))
plain("open-output-string")(lambda: OutputPort())
plain("open-output-bytevector")(lambda: OutputPort(is_binary=True))
plain("get-output-string")(lambda port: String("".join(port.parts)))
plain("get-output-bytevector")(lambda port: bytearray(b"".join(port.parts)))
plain("eof-object")(lambda: EOF)
plain("eof-object?")(lambda x: x is EOF)
plain("port?")(lambda x: type(x) in (InputPort, OutputPort))
plain("input-port?")(lambda x: type(x) is InputPort)
plain("output-port?")(lambda x: type(x) is OutputPort)
plain("textual-port?")(lambda x: _is_port(x) and not _is_binary(x))
plain("binary-port?")(lambda x: _is_port(x) and _is_binary(x))
plain("input-port-open?")(lambda x: _open_flag(x, InputPort))
plain("output-port-open?")(lambda x: _open_flag(x, OutputPort))


def _is_port(x: Any) -> bool:
    return type(x) in (InputPort, OutputPort)


def _is_binary(x: Any) -> bool:
    return type(x.data) is bytes if type(x) is InputPort else bool(x.is_binary)


def _open_flag(x: Any, kind: type[InputPort] | type[OutputPort]) -> bool:
    if type(x) is not kind:
        raise TypeError("not a port of this kind")
    return bool(x.is_open)


@plain("close-port", "close-input-port", "close-output-port")
def _close(port: Any) -> None:
    if not _is_port(port):
        raise TypeError("not a port")
    if type(port) is OutputPort and port.is_open and port.path is not None:
        joined = b"".join(port.parts) if port.is_binary else "".join(port.parts).encode()
        Path(port.path).write_bytes(joined)
    port.is_open = False


def _with_file(name: Any, what: str, do: Callable[[Path], Any]) -> Any:
    try:
        return do(Path(text(name)))
    except OSError as error:
        raise failure(f"a file cannot be {what}: {error.strerror}", name, kind="file") from None


def _bytes_in(name: Any) -> Any:
    return _with_file(name, "read", Path.read_bytes)


plain("open-input-file")(lambda name: InputPort(_bytes_in(name).decode()))
plain("open-binary-input-file")(lambda name: InputPort(_bytes_in(name)))
plain("open-output-file")(lambda name: OutputPort(path=text(name)))
plain("open-binary-output-file")(lambda name: OutputPort(is_binary=True, path=text(name)))
plain("file-exists?")(lambda name: Path(text(name)).exists())
plain("delete-file")(lambda name: _with_file(name, "deleted", Path.unlink))
plain("current-second")(lambda: time.time())
plain("current-jiffy")(lambda: time.perf_counter_ns())
plain("jiffies-per-second")(lambda: 1_000_000_000)
plain("command-line")(lambda: list_of([String("program")]))
plain("get-environment-variables")(lambda: list_of([]))


@plain("get-environment-variable")
def _variable(name: Any) -> Any:
    value = os.environ.get(text(name))
    return False if value is None else String(value)
