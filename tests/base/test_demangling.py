"""Symbols of C++ are written as people write them; the compiler's own demangler agrees."""

from __future__ import annotations

import pytest

from kleene.base.demangling import demangled, structor_part, without_parameters

NAMES = [
    ("_ZN3Dog5speakEv", "Dog::speak()", "Dog::speak"),
    ("_ZNK3Dog5speakEi", "Dog::speak(int) const", "Dog::speak"),
    ("__ZN3Dog5speakEv", "Dog::speak()", "Dog::speak"),
    ("_ZL6helperi.1", "helper(int)", "helper"),
    ("_ZTV3Dog", "vtable for Dog", "vtable for Dog"),
    ("_Z3maxIiET_S0_S0_", "int max<int>(int, int)", "max<int>"),
    ("_ZN5StackIiEixEm", "Stack<int>::operator[](unsigned long)", "Stack<int>::operator[]"),
    ("_ZN3FoocviEv", "Foo::operator int()", "Foo::operator int"),
    ("_ZN3FooclEi", "Foo::operator()(int)", "Foo::operator()"),
    ("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()", "(anonymous namespace)::f"),
    ("_ZZ4mainE7counter", "main::counter", "main::counter"),
    ("_Znwm", "operator new(unsigned long)", "operator new"),
    ("_ZNSt3__16vectorB8ne200100IiE4sizeEv", "std::vector<int>::size()", "std::vector<int>::size"),
    ("_Z4sortPFiPKvS0_E", "sort(int (*)(void const*, void const*))", "sort"),
]


@pytest.mark.parametrize(("symbol", "full", "short"), NAMES, ids=[name for name, _, _ in NAMES])
def test_symbols_of_cpp_are_demangled(symbol: str, full: str, short: str) -> None:
    if demangled("_Z1fv") is None:
        pytest.skip("no C++ runtime is found here: symbols stay as they are")
    assert demangled(symbol) == full
    assert without_parameters(full) == short


def test_other_symbols_are_none_of_cpp() -> None:
    for symbol in ("main", "_Zone", "", "helper.1", "\x01_edata"):
        assert demangled(symbol) is None


def test_constructors_have_parts() -> None:
    parts = {"_ZN3DogC1Ev": "", "_ZN3DogC2Ev": " [base]", "_ZN3DogD0Ev": " [deleting]"}
    assert {symbol: structor_part(symbol) for symbol in parts} == parts
