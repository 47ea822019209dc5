"""One engine under measurement: a process that reads requests as JSON lines and answers each with one."""

from __future__ import annotations

import gc
import json
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

if not TYPE_CHECKING:

    def override(method: Any) -> Any:
        """Mark nothing: the peers' environments do not have typing_extensions."""
        return method

else:
    from typing_extensions import override

UNLIMITED_STEPS = 10**12
SHARE_SECONDS = 1.0


class Unsupported(Exception):
    """The engine cannot do this; the text says why."""


def host(x: int) -> int:
    """The host's function that scripts may call."""
    return x + 1


class Engine(ABC):
    """An engine with at most one script loaded."""

    @abstractmethod
    def load(self, source: str) -> None:
        """Compile and run a script whose functions are called later."""

    @abstractmethod
    def call(self, name: str, argument: int) -> Any:
        """Call a function of the loaded script."""

    @abstractmethod
    def handle(self, count: int) -> Any:
        """Call ``handle`` of the loaded script with 0, 1 … in a loop of the host; the last result."""

    @abstractmethod
    def once(self, source: str) -> Any:
        """Parse, compile and run a script; its ``result``."""

    @abstractmethod
    def compiled(self, source: str) -> Callable[[], Any]:
        """Parse and compile a script; what runs it afresh and returns its ``result``."""

    def plain(self, value: Any) -> Any:
        """A script's value as Python's own."""
        return value

    def steps(self) -> int:
        """Steps used since the script was loaded."""
        raise Unsupported("counts no steps")


class CPython(Engine):
    """The same source as plain Python."""

    @override
    def load(self, source: str) -> None:
        self._globals: dict[str, Any] = {"host": host}
        exec(compile(source, "workload.star", "exec"), self._globals)

    @override
    def call(self, name: str, argument: int) -> Any:
        return self._globals[name](argument)

    @override
    def handle(self, count: int) -> Any:
        function, result = self._globals["handle"], None
        for i in range(count):
            result = function(i)
        return result

    @override
    def once(self, source: str) -> Any:
        return self.compiled(source)()

    @override
    def compiled(self, source: str) -> Callable[[], Any]:
        code = compile(source, "workload.star", "exec")

        def run() -> Any:
            names: dict[str, Any] = {"host": host}
            exec(code, names)
            return names["result"]

        return run


class Plait(Engine):
    """Plait, counting steps."""

    def __init__(self) -> None:
        self._starlark: Any = import_module("plait.starlark")
        self._predeclared = {"host": self._starlark.builtin(host)}

    @override
    def load(self, source: str) -> None:
        program = self._starlark.compile(source, filename="workload.star", predeclared=set(self._predeclared))
        self._module = program.run(self._thread(), predeclared=self._predeclared)
        self._running = self._thread()

    def _thread(self) -> Any:
        return self._starlark.Thread(max_steps=UNLIMITED_STEPS)

    @override
    def call(self, name: str, argument: int) -> Any:
        return self._starlark.call(self._running, self._module[name], args=(argument,))

    @override
    def handle(self, count: int) -> Any:
        call, thread, function, result = self._starlark.call, self._running, self._module["handle"], None
        for i in range(count):
            result = call(thread, function, args=(i,))
        return result

    @override
    def once(self, source: str) -> Any:
        return self.compiled(source)()

    @override
    def compiled(self, source: str) -> Callable[[], Any]:
        program = self._starlark.compile(source, filename="workload.star", predeclared=set(self._predeclared))
        return lambda: program.run(self._thread(), predeclared=self._predeclared)["result"]

    @override
    def plain(self, value: Any) -> Any:
        return self._starlark.to_python(value)

    @override
    def steps(self) -> int:
        return int(self._running.steps)


class StarlarkPyo3(Engine):
    """starlark-rust behind its Python binding."""

    def __init__(self) -> None:
        self._starlark: Any = import_module("starlark")
        self._dialect = self._starlark.Dialect.extended()
        self._names = self._starlark.Globals.standard()

    def _parsed(self, source: str) -> Any:
        return self._starlark.parse("workload.star", source, self._dialect)

    def _run(self, parsed: Any) -> Any:
        module = self._starlark.Module()
        module.add_callable("host", host)
        self._starlark.eval(module, parsed, self._names)
        return module

    @override
    def load(self, source: str) -> None:
        self._module = self._run(self._parsed(source)).freeze()

    @override
    def call(self, name: str, argument: int) -> Any:
        return self._module.call(name, argument)

    @override
    def handle(self, count: int) -> Any:
        call, result = self._module.call, None
        for i in range(count):
            result = call("handle", i)
        return result

    @override
    def once(self, source: str) -> Any:
        return self._run(self._parsed(source))["result"]

    @override
    def compiled(self, source: str) -> Callable[[], Any]:
        parsed = self._parsed(source)
        return lambda: self._run(parsed)["result"]


class StarlarkGo(Engine):
    """starlark-go behind its Python binding, which has neither a compiled module nor a handle of a function."""

    def __init__(self) -> None:
        self._binding: Any = import_module("starlark_go")

    def _fresh(self) -> Any:
        return self._binding.Starlark(globals={"host": host})

    @override
    def load(self, source: str) -> None:
        self._engine = self._fresh()
        self._engine.exec(source)

    @override
    def call(self, name: str, argument: int) -> Any:
        return self._engine.eval(f"{name}({argument})")

    @override
    def handle(self, count: int) -> Any:
        evaluate, result = self._engine.eval, None
        for i in range(count):
            result = evaluate(f"handle({i})")
        return result

    @override
    def once(self, source: str) -> Any:
        engine = self._fresh()
        engine.exec(source)
        return engine.get("result")

    @override
    def compiled(self, source: str) -> Callable[[], Any]:
        raise Unsupported("has no compiled module to run again")


class StarlarkPure(Engine):
    """The tree walker in pure Python."""

    def __init__(self) -> None:
        self._starlark: Any = import_module("starlark")
        self._evaluator: Any = import_module("starlark.eval.evaluator")
        self._current: Any = import_module("starlark.eval.builtins")
        self._predeclared = {"host": self._starlark.BuiltinFunction(name="host", impl=host)}

    @override
    def load(self, source: str) -> None:
        self._module = self._run(self._parsed(source))

    def _parsed(self, source: str) -> Any:
        return self._starlark.compile(source, filename="workload.star", mode="file")

    def _run(self, program: Any) -> Any:
        return program.exec(predeclared=self._predeclared, max_steps=UNLIMITED_STEPS)

    @override
    def call(self, name: str, argument: int) -> Any:
        module = self._module
        with ExitStack() as stack:
            stack.enter_context(self._current.with_mutability(module.mutability))
            stack.enter_context(self._current.with_thread(module.thread))
            return self._evaluator.call(module.globals[name], [argument], {}, module.thread)

    @override
    def handle(self, count: int) -> Any:
        result = None
        for i in range(count):
            result = self.call("handle", i)
        return result

    @override
    def once(self, source: str) -> Any:
        return self._run(self._parsed(source)).globals["result"]

    @override
    def compiled(self, source: str) -> Callable[[], Any]:
        program = self._parsed(source)
        return lambda: self._run(program).globals["result"]

    @override
    def plain(self, value: Any) -> Any:
        return self._starlark.from_value(value)


ENGINES: dict[str, type[Engine]] = {
    "cpython": CPython,
    "plait": Plait,
    "starlark-pyo3": StarlarkPyo3,
    "starlark-go": StarlarkGo,
    "starlark": StarlarkPure,
}


class Measurement:
    """One workload on one engine.

    Args:
        engine: The engine.
        source: The script.
        mode: ``cold``, ``rerun``, ``handle``, or the name of a function that takes the number of units.
    """

    def __init__(self, engine: Engine, source: str, mode: str) -> None:
        self._engine, self._source, self._mode = engine, source, mode
        self._rerun: Callable[[], Any] | None = None
        self._serial = 0
        if mode == "rerun":
            self._rerun = engine.compiled(source)
        elif mode != "cold":
            engine.load(source)

    def run(self, count: int) -> tuple[float, Any]:
        """Do ``count`` units; CPU seconds and the result of the last."""
        sources = [f"{self._source}\n# {self._serial + i}\n" for i in range(count)] if self._mode == "cold" else []
        self._serial += len(sources)
        gc.collect()
        started = time.process_time()
        result = self._units(count, sources)
        return time.process_time() - started, result

    def _units(self, count: int, sources: list[str]) -> Any:
        engine, result = self._engine, None
        if self._mode == "handle":
            return engine.handle(count)
        if self._mode == "cold":
            for source in sources:
                result = engine.once(source)
            return result
        if self._rerun is not None:
            for _ in range(count):
                result = self._rerun()
            return result
        return engine.call(self._mode, count)


class Clock:
    """The CPU time of a thread that counts while others run, that of the whole process, and the longest wait."""

    def __init__(self) -> None:
        self.cpu = self.whole_cpu = self.longest_wait = self._started = 0.0

    def start(self) -> None:
        """Everybody starts now, whether or not this thread gets its turn."""
        self._started, self.whole_cpu = time.perf_counter(), -time.process_time()

    def count(self, ended: threading.Event) -> None:
        """Count until the event is set."""
        cpu, before = time.thread_time(), self._started
        while not ended.is_set():
            now = time.perf_counter()
            self.longest_wait = max(self.longest_wait, now - before)
            before = now
        self.longest_wait = max(self.longest_wait, time.perf_counter() - before)
        self.cpu = time.thread_time() - cpu
        self.whole_cpu += time.process_time()


class Driver:
    """Answers requests for one engine.

    Args:
        kind: Its class.
    """

    def __init__(self, kind: type[Engine]) -> None:
        self._kind = kind
        self._engine = kind()
        self._measurement: Measurement | None = None
        self._count = 0

    def load(self, source: str, mode: str, count: int, budget: float) -> dict[str, Any]:
        """Load a workload, and take fewer units than ``count`` if that many need more CPU seconds than ``budget``."""
        self._measurement = Measurement(self._engine, source, mode)
        sample = max(1, count // 100)
        seconds, result = self._measurement.run(sample)
        enough = count if seconds * count <= budget * sample else max(1, int(budget * sample / seconds))
        self._count = min(count, enough)
        return {"result": json.dumps(self._engine.plain(result), sort_keys=True), "count": self._count}

    def measure(self) -> dict[str, Any]:
        """Measure the loaded workload: CPU seconds for each unit."""
        assert self._measurement is not None
        seconds, _result = self._measurement.run(self._count)
        return {"seconds": seconds / self._count}

    def steps(self, source: str, count: int) -> dict[str, Any]:
        """Steps that ``run(count)`` takes."""
        self._engine.load(source)
        before = self._engine.steps()
        self._engine.call("run", count)
        return {"steps": self._engine.steps() - before}

    def side_by_side(self, source: str, count: int, threads: int) -> dict[str, Any]:
        """CPU and wall seconds of ``run(count)`` in several threads, each with its own script."""
        started: list[tuple[float, float]] = []
        ready = threading.Barrier(threads, lambda: started.append((time.process_time(), time.perf_counter())))

        def work() -> None:
            engine = self._kind()
            engine.load(source)
            ready.wait()
            engine.call("run", count)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        [(cpu, wall)] = started
        return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}

    def share(self, source: str) -> dict[str, Any]:
        """The part of the process's CPU time that a counting thread gets while two threads are in scripts."""
        self._engine.load(source)
        sample = 20_000
        started = time.process_time()
        self._engine.call("run", sample)
        count = max(1, int(sample * SHARE_SECONDS / max(time.process_time() - started, 1e-6)))
        ended, clock = threading.Event(), Clock()
        ready = threading.Barrier(3, clock.start)

        def script() -> None:
            engine = self._kind()
            engine.load(source)
            ready.wait()
            try:
                engine.call("run", count)
            finally:
                ended.set()

        def counting() -> None:
            ready.wait()
            clock.count(ended)

        workers = [threading.Thread(target=target) for target in (counting, script, script)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return {"share": clock.cpu / clock.whole_cpu, "longest_wait": clock.longest_wait}


def answer(driver: Driver, request: dict[str, Any]) -> dict[str, Any]:
    """Do one request; what went wrong is an answer too."""
    name = request.pop("do")
    try:
        return dict(getattr(driver, name)(**request))
    except BaseException as error:  # noqa: BLE001 - a binding's panic is no Exception, and the table goes on
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}


def main() -> None:
    """Serve until the input ends."""
    try:
        driver = Driver(ENGINES[sys.argv[1]])
    except (ImportError, AttributeError) as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return
    print(json.dumps({"ready": sys.version}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(driver, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
