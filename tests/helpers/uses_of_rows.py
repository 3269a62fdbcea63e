"""Where code asks rows how they came about: by `cluster`, `fold` or `judged` of `Data` and `Models`."""

import ast
import re

from package_sources import nodes_of

# how rows came about, which designs ask alone, beside `Data` itself and what checks rows
OF_DESIGNS, MAY_ASK = {"cluster", "fold", "judged"}, ("data/", "inference/designs/")
ROWS = re.compile(r"\b(Data|Models|Samples)\b")  # no `BinaryView`, which is what a lens shows
SAME_ROWS = {"through", "asked_through", "some", "without_clusters", "first"}
OF_ROWS = {"values": 0, "items": 1, "repeats": 0}  # what is gone through, and where in it the rows are


class Asked(ast.NodeVisitor):
    """Uses of `.cluster`, `.fold` and `.judged` of rows in one function, with the functions within it.

    The checker knows rows by their types as they are written, and no others: parameters, fields of `self` and variables
    that are annotated as `Data`, `Models` or `Samples` (within a mapping too), what is assigned from a call of these
    classes, or from rows by `first`, `[...]`, `through` and their like, and what loops over `values()`, `items()` or
    `repeats` of rows hold.
    """

    def __init__(self, fields):
        self.names, self.fields, self.found = set(), fields, []

    def is_rows(self, node):
        """Whether an expression is rows."""
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, ast.Subscript):
            return self.is_rows(node.value)
        if isinstance(node, ast.Call):
            made = isinstance(node.func, ast.Name) and ROWS.fullmatch(node.func.id)
            return bool(made) or (isinstance(node.func, ast.Attribute) and self.is_rows(node.func))
        if isinstance(node, ast.Attribute):
            of_self = isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self.fields
            return of_self or (node.attr in SAME_ROWS and self.is_rows(node.value))
        return False

    def take(self, target, of):
        """Know the variables of a loop over rows."""
        of = of.func if isinstance(of, ast.Call) else of
        if isinstance(of, ast.Attribute) and of.attr in OF_ROWS and self.is_rows(of.value):
            places = target.elts if isinstance(target, ast.Tuple) else [target]
            self.names |= {each.id for each in places[-1:] if isinstance(each, ast.Name)}

    def visit_FunctionDef(self, node):
        for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            if each.annotation is not None and ROWS.search(ast.unparse(each.annotation)):
                self.names.add(each.arg)
        self.generic_visit(node)

    def visit_Assign(self, node):
        if self.is_rows(node.value):
            self.names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if ROWS.search(ast.unparse(node.annotation)) and isinstance(node.target, ast.Name):
            self.names.add(node.target.id)
        self.generic_visit(node)

    def visit_For(self, node):
        self.take(node.target, node.iter)
        self.generic_visit(node)

    def generic_visit(self, node):
        for each in getattr(node, "generators", ()):
            self.take(each.target, each.iter)
        super().generic_visit(node)

    def visit_Attribute(self, node):
        if node.attr in OF_DESIGNS and self.is_rows(node.value):
            self.found.append(node.lineno)
        self.generic_visit(node)


def asking_rows(files):
    """Places outside of designs where code asks how rows came about."""
    found = set()
    for file, source in files.items():
        if file.startswith(MAY_ASK) or not any(f".{name}" in source for name in OF_DESIGNS):
            continue
        nodes = nodes_of(source)
        annotated = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body
                     if isinstance(part, ast.AnnAssign) and ROWS.search(ast.unparse(part.annotation))]  # fmt: skip
        fields = {part.target.id for part in annotated}
        outer = [node for part in nodes if isinstance(part, ast.Module | ast.ClassDef) for node in part.body]
        for function in outer:
            if isinstance(function, ast.FunctionDef):
                asked = Asked(fields)
                asked.visit(function)
                found |= {f"{file}: {function.name}" for _ in asked.found}
    return found
