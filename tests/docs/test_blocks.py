"""The runner of documented examples finds, runs and refuses what it should."""

from __future__ import annotations

from pathlib import Path

from tests.docs.blocks import Block, Step, blocks_of, check_python, matches, renewed, run, steps_of

PAGE = """# Title

```console
$ echo one
one
$ echo two \\
    three
two three
```

```sh
not run
```

```python
>>> x = 1

```

```python
>>> x + 1
3

```
"""


def test_blocks_are_found_with_their_lines() -> None:
    assert [(block.language, block.line) for block in blocks_of(PAGE)] == [
        ("console", 4),
        ("python", 16),
        ("python", 21),
    ]


def test_a_session_is_split_into_steps() -> None:
    assert steps_of(blocks_of(PAGE)[0].text) == [
        Step("echo one", "one\n"),
        Step("echo two \\\n    three", "two three\n"),
    ]


def test_a_step_gives_both_streams_and_the_exit_code(tmp_path: Path) -> None:
    assert run(Step("echo out; echo err >&2; exit 3", ""), tmp_path) == (3, "out\nerr")


def test_output_is_compared() -> None:
    assert matches("one ... three\n", "one two three")
    assert matches("first\n...\nlast\n", "first\nmore\nand more\nlast")
    assert matches("first\n...\nlast\n", "first\nlast")
    assert not matches("first\n...\nlast\n", "first\nnot the last")
    assert not matches("one ... three\n", "one\ntwo three")
    assert not matches("one\n", "two")
    assert not matches("", "something")


def test_python_blocks_share_names_and_wrong_answers_are_reported() -> None:
    _, first, second = blocks_of(PAGE)
    names: dict[str, object] = {}
    assert check_python(first, names, "page.md") == []
    (said,) = check_python(second, names, "page.md")
    assert 'File "page.md", line 21' in said
    assert "Expected:\n    3\nGot:\n    2" in said


def test_an_exception_in_a_block_is_reported() -> None:
    assert check_python(Block("python", ">>> 1 / 0\n", 1), {}, "page.md")


def test_a_page_is_renewed() -> None:
    again = renewed(PAGE, {Step("echo one", "one\n"): "ONE"})
    assert "$ echo one\nONE\n$ echo two" in again
