"""Every compiled function is what its Python source says."""

import ast
import gc
import linecache
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from compiled_code import compiled_functions, modules
from compiled_inputs import INPUTS
from numba import njit
from numba.core import event

import calibstat
from calibstat import compiled
from calibstat.compiled import IN_ARRAYS, JIT_OPTIONS, Kernel, jit, short_calls

FUNCTIONS = compiled_functions()
FILL_SO_MANY = [FUNCTIONS["bounds.isotonic_interval._pool"].py_func]  # entries as they return; others are room


def numbers(found):
    """What a function returned, as a list of arrays."""
    return [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,))]


def check_compiled(compiled, plain, make, bits=False):
    """Whether what they return and fill in is the same: of the numbers of a float all bits, or all but rounding."""
    fast_input, slow_input = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in make()] for _ in range(2))
    with np.errstate(all="ignore"):  # words of 64 bits are meant to wrap around
        fast, slow = compiled(*fast_input), plain(*slow_input)
    upto = slice(fast if getattr(compiled, "py_func", None) in FILL_SO_MANY else None)
    for a, b in zip([*numbers(fast), *fast_input], [*numbers(slow), *slow_input], strict=True):
        a, b = (each if np.ndim(each) == 0 else each[upto] for each in (np.asarray(a), np.asarray(b)))
        if a.dtype.kind == "f" and not bits:
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-16)
        else:
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def of(name):
    """The compiled function that an input of this name is for."""
    return name.partition(":")[0]


@contextmanager
def without_compiled_code():
    """What a function calls is plain Python as well, wherever it is from."""
    with pytest.MonkeyPatch.context() as patch:
        for module in modules():
            for called, other in list(vars(module).items()):
                if isinstance(other, Kernel):
                    patch.setattr(module, called, other.py_func)
        yield


def lines_not_entered(function, makers):
    """The lines of a Python function that none of these inputs enters."""
    code, entered = function.__code__, set()

    def line(frame, event, argument):
        entered.add(frame.f_lineno)
        return line

    def call(frame, event, argument):
        return line if frame.f_code is code else None

    before = sys.gettrace()
    with np.errstate(over="ignore"):
        for make in makers:
            arguments = make()
            sys.settrace(call)
            try:
                function(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments])
            finally:
                sys.settrace(before)
    return sorted({n for *_, n in code.co_lines() if n is not None and n > code.co_firstlineno} - entered)


def test_every_compiled_function_has_an_input():
    assert set(FUNCTIONS) == {of(name) for name in INPUTS}
    assert set(IN_ARRAYS) <= {f"calibstat.{name}" for name in FUNCTIONS}


def test_inputs_enter_every_line():
    left_out = {}
    with without_compiled_code():
        for name, function in FUNCTIONS.items():
            makers = [make for other, make in INPUTS.items() if of(other) == name]
            if lines := lines_not_entered(function.py_func, makers):
                left_out[name] = lines
    assert left_out == {}


def test_a_line_that_no_input_enters_is_found():
    name = "monitoring.evidence._log_sum"
    (line,) = lines_not_entered(FUNCTIONS[name].py_func, [INPUTS[name]])
    assert linecache.getline(FUNCTIONS[name].py_func.__code__.co_filename, line).strip() == "return highest"


@pytest.mark.parametrize("name", INPUTS)
def test_compiled_function_equals_python(name):
    def plain(*arguments):
        with without_compiled_code():
            return FUNCTIONS[of(name)].py_func(*arguments)

    check_compiled(FUNCTIONS[of(name)].compiled, plain, INPUTS[name])


@pytest.mark.parametrize("name", [name for name in INPUTS if f"calibstat.{of(name)}" in IN_ARRAYS])
def test_function_of_arrays_equals_the_compiled_one(name):
    """What is called in its place without Numba: the same numbers, where it fills them in too, and the same draws."""
    check_compiled(FUNCTIONS[of(name)].compiled, IN_ARRAYS[f"calibstat.{of(name)}"], INPUTS[name])


@pytest.mark.parametrize("name", [name for name in INPUTS if FUNCTIONS[of(name)].first is not None])
def test_first_calls_give_the_same_bits(name):
    kernel, make = FUNCTIONS[of(name)], INPUTS[name]
    check_compiled(kernel.compiled, kernel.first, make, bits=True)


def test_a_last_bit_that_differs_is_found():
    kernel, name = FUNCTIONS["data.cell_sums._add_up"], "data.cell_sums._add_up"
    with pytest.raises(AssertionError):
        check_compiled(kernel.compiled, lambda *a: kernel.first(*a) * (1 + 2e-16), INPUTS[name], bits=True)


def test_a_wrong_compiled_function_is_found():
    name = "measures.components.local_components._deviance"
    function = FUNCTIONS[name]
    with pytest.raises(AssertionError):
        check_compiled(function, lambda *a: function.py_func(*a) * (1 + 1e-9), INPUTS[name])
    function = FUNCTIONS["measures.bins._row_sums"]
    with pytest.raises(AssertionError):  # the result alone would not show it: what was filled in is compared too
        check_compiled(function, lambda *a: False, INPUTS["measures.bins._row_sums"])


def slow_to_compile(source):
    """Lines of compiled functions that assign an array to a slice, or search: each costs the first call a second."""
    found = []
    for function in ast.walk(ast.parse(source)):
        compiled = isinstance(function, ast.FunctionDef) and "jit" in [ast.unparse(d) for d in function.decorator_list]
        for node in ast.walk(function) if compiled else ():
            searches = isinstance(node, ast.Attribute) and node.attr == "searchsorted"
            targets = node.targets if isinstance(node, ast.Assign) else []
            sliced = any(isinstance(t, ast.Subscript) and isinstance(t.slice, ast.Slice) for t in targets)
            if searches or (sliced and not isinstance(node.value, ast.Constant)):
                found.append(ast.unparse(node))
    return found


def test_no_compiled_function_is_needlessly_slow_to_compile():
    assert (
        len(slow_to_compile("@jit\ndef f(a, b):\n    a[:2] = b\n    a[:] = 0.0\n    return np.searchsorted(a, 1)")) == 2
    )
    for path in Path(calibstat.__file__).parent.rglob("*.py"):
        assert slow_to_compile(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize("before", [True, False])
def test_garbage_is_collected_again_after_compilation(before):
    """Not while a kernel is compiled; afterwards as before."""
    seen = []

    class Looks(event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            seen.append(gc.isenabled())

    def twice(x):
        return 2 * x

    try:
        (gc.enable if before else gc.disable)()
        with event.install_listener("numba:compile", Looks()):
            assert njit(**JIT_OPTIONS)(twice)(3) == 6
        assert gc.isenabled() == before
    finally:
        gc.enable()
    assert seen[0] is False
    assert len(seen) == 2


def test_first_call_without_a_cache():
    """No folder for compiled code: one warning, and the same numbers. Permissions would not stop root."""
    code = """
        import warnings
        from numba.core.caching import CacheImpl
        CacheImpl._locator_classes = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import calibstat as cs
            from calibstat import compiled
            compiled.FIRST_SECONDS = 0.0
            found = cs.estimate([0, 1, 1], [0.2, 0.6, 0.9], n_bins=5)
        assert [w.category for w in caught] == [RuntimeWarning], caught
        assert "NUMBA_CACHE_DIR" in str(caught[0].message)
        print(found)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert float(found.stdout) == pytest.approx(0.7 / 3)  # (0.2 + 0.4 + 0.1) / 3


@pytest.mark.parametrize(("can_write", "left"), [(False, []), (True, ["~"])])
def test_without_a_home_nothing_is_left_in_the_folder_of_the_user(tmp_path, can_write, left):
    """Numba alone makes a folder "~" there, as it does where it is told that it could write beside the sources."""
    code = f"""
        import os
        import warnings
        from numba.core.caching import CacheImpl
        CacheImpl._locator_classes = [each for each in CacheImpl._locator_classes if "UserWide" in each.__name__]
        os.path.expanduser = lambda path: path
        os.access = lambda path, mode: {can_write}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            from calibstat.resampling.streams import mix
            mix.compiled
        assert [w.category for w in caught] == [RuntimeWarning] * (not {can_write}), caught
    """
    folders = {"HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"}
    environment = {name: value for name, value in os.environ.items() if name not in folders}
    environment["PYTHONPATH"] = str(Path(calibstat.__file__).parents[1])
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, env=environment, check=True)
    assert [path.name for path in tmp_path.iterdir()] == left


def _two_arrays(n: int) -> tuple[float, np.ndarray, np.ndarray]:
    total = 0.0
    for i in range(n):
        total += np.sin(i)
    return total, np.array([total]), np.zeros((2, 2))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
def test_an_interrupt_within_a_kernel_is_one():
    """The twin: of Numba alone it is a SystemError, which nobody who waits for an interrupt catches."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for kernel, error in ((jit(_two_arrays), KeyboardInterrupt), (njit(cache=True)(_two_arrays), SystemError)):
            kernel(10)
            found = []
            for _ in range(3):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.002)
                    for _ in range(1000):
                        kernel(200_000)
                except (KeyboardInterrupt, SystemError) as raised:
                    found.append(type(raised))
            assert len(found) == 3
            assert error in found
            assert error is SystemError or set(found) == {error}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("steps", [1, 3, 50, 1000, np.array([1, 60, 1, 1, 200, 1, 30, 30, 30, 1])])
def test_calls_of_a_kernel_are_short_and_leave_nothing_out(steps, monkeypatch):
    monkeypatch.setattr(compiled, "LONGEST_CALL", 50)
    of = np.broadcast_to(steps, 10)
    calls = short_calls(10, steps)
    assert [i for first, last in calls for i in range(first, last)] == list(range(10))
    assert all(of[first:last].sum() <= 50 + of[first:last].max() for first, last in calls)
    assert short_calls(0, 1) == [(0, 0)]
