"""Control: application, continuations, handlers, parameters, promises, evaluation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kleene.base.errors import SourceError
from kleene.frontends.scheme.expander.libraries import FEATURES, import_set
from kleene.frontends.scheme.interpreter.code import RETURN, State
from kleene.frontends.scheme.interpreter.library.registry import control, machine, plain
from kleene.frontends.scheme.interpreter.library.text import text
from kleene.frontends.scheme.interpreter.machine import EXIT, Halt, Machine, Then, Winder
from kleene.frontends.scheme.interpreter.objects import (
    Condition,
    Continuation,
    Environment,
    ErrorObject,
    Parameter,
    Promise,
    Values,
    failure,
)
from kleene.ir.scheme.values import String, items_of, list_of


@control("apply")
def _apply(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    try:
        spread = [*arguments[1:-1], *items_of(arguments[-1])]
    except TypeError:
        raise failure("apply: the last argument is no list", arguments[-1]) from None
    return m.apply(arguments[0], spread, k, site)


control("values")(
    lambda m, given, k, _: (RETURN, given[0] if len(given) == 1 else Values(given), k)
)


@control("call-with-values")
def _call_with_values(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    producer, consumer = arguments

    def consume(value: Any, m: Machine, k: Any) -> State:
        items = value.items if type(value) is Values else [value]
        return m.apply(consumer, items, k, site)

    return m.apply(producer, [], Then(consume, k), site)


@control("call/cc", "call-with-current-continuation")
def _call_cc(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    return m.apply(arguments[0], [Continuation(k, m.dynamic)], k, site)


@control("dynamic-wind")
def _dynamic_wind(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    before, thunk, after = arguments
    outer = m.dynamic.winder

    def entered(_: Any, m: Machine, k: Any) -> State:
        depth = outer.depth + 1 if outer else 1
        m.dynamic = replace(m.dynamic, winder=Winder(before, after, site, outer, depth))
        return m.apply(thunk, [], Then(done, k), site)

    def done(value: Any, m: Machine, k: Any) -> State:
        m.dynamic = replace(m.dynamic, winder=outer)
        return m.apply(after, [], Then(lambda _, m, k: (RETURN, value, k), k), site)

    return m.apply(before, [], Then(entered, k), site)


def _within(m: Machine, thunk: Any, k: Any, site: int, **changes: Any) -> State:
    """Call a thunk with parts of the dynamic state changed, which are as before behind it."""
    outer = {name: getattr(m.dynamic, name) for name in changes}
    m.dynamic = replace(m.dynamic, **changes)

    def done(value: Any, m: Machine, k: Any) -> State:
        m.dynamic = replace(m.dynamic, **outer)
        return RETURN, value, k

    return m.apply(thunk, [], Then(done, k), site)


@control("with-exception-handler")
def _with_handler(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    handler, thunk = arguments
    return _within(m, thunk, k, site, handlers=((handler, site), *m.dynamic.handlers))


control("raise")(lambda m, given, k, _: m.raise_(given[0], k, is_continuable=False))
control("raise-continuable")(lambda m, given, k, _: m.raise_(given[0], k, is_continuable=True))


@control("error")
def _error(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    message, irritants = arguments[0], arguments[1:]
    if type(message) is not String:  # R6RS and others give the procedure's name first
        message, irritants = String("error"), arguments
    return m.raise_(ErrorObject(message.text, irritants), k, is_continuable=False)


@plain("assert")
def _assert(value: Any, *_: Any) -> None:
    if value is False:
        raise failure("an assertion is false")


plain("error-object?")(lambda x: type(x) is ErrorObject)
plain("error-object-message")(lambda x: String(x.message))
plain("error-object-irritants")(lambda x: list_of(x.irritants))
plain("file-error?")(lambda x: type(x) is ErrorObject and x.kind == "file")
plain("read-error?")(lambda x: type(x) is ErrorObject and x.kind == "read")
plain("features")(lambda: list_of(FEATURES))


@control("make-parameter")
def _make_parameter(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    if len(arguments) == 1:
        return RETURN, Parameter(arguments[0]), k
    value, converter = arguments

    def made(value: Any, m: Machine, k: Any) -> State:
        return RETURN, Parameter(value, converter), k

    return m.apply(converter, [value], Then(made, k), site)


@control("%parameterize")
def _parameterize(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    thunk, pairs = arguments[0], list(zip(arguments[1::2], arguments[2::2], strict=True))
    return _convert(m, pairs, {}, thunk, k, site)


def _convert(m: Machine, pairs: list[Any], done: Any, thunk: Any, k: Any, site: int) -> State:
    """Convert the value of one parameter after the other, then call the thunk."""
    if not pairs:
        return _within(m, thunk, k, site, parameters={**m.dynamic.parameters, **done})
    (parameter, value), rest = pairs[0], pairs[1:]
    if type(parameter) is not Parameter:
        raise failure("parameterize: not a parameter", parameter)

    def converted(value: Any, m: Machine, k: Any) -> State:
        return _convert(m, rest, {**done, parameter: value}, thunk, k, site)

    if parameter.converter is None:
        return converted(value, m, k)
    return m.apply(parameter.converter, [value], Then(converted, k), site)


@control("force")
def _force(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    promise = arguments[0]
    if type(promise) is not Promise:
        return RETURN, promise, k
    state = promise.state
    if state.is_done:
        return RETURN, state.content, k

    def made(value: Any, m: Machine, k: Any) -> State:
        now = promise.state
        if now.is_done:  # the procedure forced its own promise
            return RETURN, now.content, k
        if state.is_chain and type(value) is Promise:
            other = value.state
            now.is_done, now.content, now.is_chain = other.is_done, other.content, other.is_chain
            value.state = now
            return _force(m, [promise], k, site)
        now.is_done, now.content = True, value
        return RETURN, value, k

    return m.apply(state.content, [], Then(made, k), site)


@control("exit", "emergency-exit")
def _exit(m: Machine, arguments: list[Any], k: Any, site: int) -> State:
    def leave(_: Any, m: Machine, k: Any) -> State:
        raise Halt(EXIT)

    return m.travel(None, Then(leave, None))


machine("interaction-environment", "scheme-report-environment", "null-environment")(
    lambda m, *_: Environment(m.program.top)
)


@machine("environment")
def _environment(m: Any, *sets: Any) -> Environment:
    top = m.program.new_top()
    for each in sets:
        try:
            top.imports.update(import_set(m.program.expander, m.datum_of(each)))
        except SourceError as error:
            raise failure(f"environment: {error.message}") from None
    return Environment(top)


@control("eval")
def _eval(m: Any, arguments: list[Any], k: Any, site: int) -> State:
    place = arguments[1] if len(arguments) == 2 else Environment(m.program.top)
    if type(place) is not Environment:
        raise failure("eval: not an environment", place)
    try:
        return m.enter_more([m.datum_of(arguments[0])], place.top, k)  # type: ignore[no-any-return]
    except SourceError as error:
        raise Condition(ErrorObject(f"eval: {error.message}", [])) from None


@control("load")
def _load(m: Any, arguments: list[Any], k: Any, site: int) -> State:
    try:
        return m.enter_file(text(arguments[0]), k)  # type: ignore[no-any-return]
    except SourceError as error:
        raise failure(f"load: {error.message}", kind="file") from None
