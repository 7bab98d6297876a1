"""What a translation unit declares outside of functions: types, records, variables, constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from kleene.frontends.c.loops.ast import Node, children, place
from kleene.frontends.c.loops.constants import initial_values
from kleene.frontends.c.loops.types import Layout, Types
from kleene.ir.loops.tree import Symbol, Type

FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXConversionDecl"}


@dataclass
class Declarations:
    """What is declared outside of functions."""

    file: str
    types: Types = field(default_factory=Types)
    symbols: dict[str, Symbol] = field(default_factory=dict)  # by clang's id
    constants: dict[str, int] = field(default_factory=dict)  # of enumerations, by clang's id
    fields_apart: set[str] = field(default_factory=set)  # ids of fields with storage of their own
    offsets: dict[str, int] = field(default_factory=dict)  # in bytes, of fields by clang's id
    layouts: dict[str, Layout | None] = field(default_factory=dict)  # of records by clang's id
    functions: dict[str, set[str]] = field(default_factory=dict)  # by name: ids of what it means
    _first_ids: dict[str, str] = field(default_factory=dict)  # of declarations: the first one's

    def learn(self, node: Node) -> None:
        """Take note of a declaration."""
        kind = node.get("kind")
        if kind in ("TypedefDecl", "TypeAliasDecl"):
            shown = node["type"]
            text = shown.get("desugaredQualType", shown["qualType"])
            for one in children(node):  # `typedef struct { ... } name`: the record has no other
                if (meant := one.get("decl", {}).get("id")) in self.layouts:
                    self.types.define_record(text, self.layouts[meant])
            self.types.define(node["name"], text)
        elif kind == "VarDecl":
            is_static = node.get("storageClass") == "static"
            storage: OneOf["global", "static"] = "static" if is_static else "global"
            first = self._first(node)
            linkage = f"{self.file} {first}" if is_static else linkage_of(node)
            kind = self.types.parse(type_text(node))
            self.symbols[node["id"]] = Symbol(
                node["name"], kind, place(node), storage, True, linkage, self.initial(node, kind)
            )
        elif kind == "EnumDecl":
            self._enumeration(node)
        elif kind in ("RecordDecl", "CXXRecordDecl"):
            self._record(node)
        elif kind in FUNCTIONS:
            self.functions.setdefault(node.get("name", "?"), set()).add(self._first(node))

    def initial(self, node: Node, kind: Type) -> tuple[int | float, ...]:
        """Return the values of a constant variable, if they are known."""
        return initial_values(node, kind, type_text(node), self.constants)

    def _first(self, node: Node) -> str:
        """Return the id of the first declaration of what `node` declares."""
        own: str = node["id"]
        self._first_ids[own] = self._first_ids.get(node.get("previousDecl", ""), own)
        return self._first_ids[own]

    def _enumeration(self, node: Node) -> None:
        value = -1
        for one in children(node):
            if one.get("kind") != "EnumConstantDecl":
                continue
            inner = children(one)
            value = int(inner[0]["value"]) if inner and "value" in inner[0] else value + 1
            self.constants[one["id"]] = value

    def _record(self, node: Node) -> None:
        is_union = node.get("tagUsed") == "union"
        fields: list[Node] = []
        unnamed: str | None = None
        for one in children(node):
            if one.get("kind") in ("RecordDecl", "CXXRecordDecl"):
                self._record(one)
                unnamed = None if "name" in one else one["id"]
            elif one.get("kind") == "FieldDecl":
                fields.append(one)
                if unnamed is not None:  # it is the type of the field that follows
                    self.types.define_record(type_text(one), self.layouts.get(unnamed))
                    unnamed = None
                if not is_union and not one.get("isBitfield", False):
                    self.fields_apart.add(one["id"])
        if not node.get("completeDefinition"):
            return
        layout = None
        if _has_plain_layout(node, fields):
            layout = self.types.layout([type_text(one) for one in fields], is_union=is_union)
        if layout is not None:
            begins = zip(fields, layout.offsets, strict=True)
            self.offsets |= {one["id"]: offset for one, offset in begins}
        self.layouts[node["id"]] = layout
        if "name" in node:
            self.types.define_record(f"{node.get('tagUsed', 'struct')} {node['name']}", layout)


def _has_plain_layout(node: Node, fields: list[Node]) -> bool:
    """Return whether the fields alone, in their order, decide where each of them is.

    Bit-fields, attributes (packed, aligned), base classes and tables of virtual functions do too.
    """
    parts = [*children(node), *(inner for one in fields for inner in children(one))]
    return (
        not any(one.get("isBitfield", False) for one in fields)
        and not any(one.get("kind", "").endswith("Attr") for one in parts)
        and not node.get("bases")
        and node.get("definitionData", {}).get("isStandardLayout", "definitionData" not in node)
    )


def linkage_of(node: Node) -> str:
    """Return the name by which the linker knows a variable."""
    return str(node.get("mangledName") or node.get("name", "?"))


def type_text(node: Node) -> str:
    """Return the type of a declaration or an expression as clang writes it, without typedefs."""
    shown = node.get("type", {})
    text: str = shown.get("desugaredQualType", shown.get("qualType", "?"))
    return text
