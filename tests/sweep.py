"""Analyses every Python file below some folders and says what broke: the whole of it by command, a little of it in CI.

    python tests/sweep.py PATH... [--strict] [--jobs N] [--seconds S] [--memory MIB] [--sample N]
                          [--log FILE] [--slowest N] [--causes] [--all]

Each file that the plugin would evaluate goes the whole way: evaluated, fed, counted, checked for every code, printed
as a table and as JSON; the others are parsed and passed over, as by the plugin, unless `--all` is given. The work is
done in processes of their own, so that one that dies, hangs or takes too much is a line of the result and not its end.
Files that mention a framework come first, one of each PATH in turn. `--log` keeps the outcome of each as a line of
JSON: what has one in the file already is not analysed again, so that a sweep that was ended goes on.
The exit status is 1 if any file crashed, hung, raised an internal error (`--strict` lets them out; without it they are
still found among the causes), or took more memory than allowed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

RUNAWAY = 8
"""Times the memory that is allowed a process may ask for, address space included."""

INTERNAL = "an internal error of flake8-cnnmem"
"""How `unknown.internal_error` begins."""


@dataclass
class Outcome:
    """What became of one file: its time, the most memory meanwhile, what the process holds after it, its models, and
    what went wrong."""

    path: str
    seconds: float = 0.0
    mib: float = 0.0
    held: float = 0.0
    status: Counter[str] = field(default_factory=Counter)
    causes: list[str] = field(default_factory=list)
    kind: str = ""
    """"" or "internal error", "crash", "hang", "too much memory"."""
    detail: str = ""


def analyse_file(path: str, every: bool = True, seconds: float = 0) -> Outcome:
    """The whole way of one file, in this process. Raises nothing; after so many seconds of processor time the process
    ends by a signal."""
    outcome = Outcome(path)
    forget_peak()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    began = time.process_time()
    try:
        walk_through(path, outcome, every)
    except Exception as error:
        import traceback

        outcome.kind = "internal error"
        outcome.detail = "".join(traceback.format_exception(error)[-6:])
    signal.setitimer(signal.ITIMER_PROF, 0)
    outcome.seconds = time.process_time() - began
    outcome.mib, outcome.held = memory_of("VmHWM"), memory_of("VmRSS")
    return outcome


def walk_through(path: str, outcome: Outcome, every: bool) -> None:
    from flake8_cnnmem import checks
    from flake8_cnnmem.analysis import analyse
    from flake8_cnnmem.reporting import as_json, table
    from flake8_cnnmem.settings.options import OPTIONS, Settings
    from flake8_cnnmem.source import SourceError, load

    [limit] = [option for option in OPTIONS if option.name == "gpu-limit"]
    settings = Settings.of({"gpu_limit": limit.parse("T4")})
    try:
        source = load(path)
        source.tree  # noqa: B018  what does not parse ends here, as in the command
    except SourceError as error:
        outcome.status["refused"] += 1
        outcome.causes.append(error.reason)
        return
    if not (every or source.may_hold_models()):
        outcome.status["passed over"] += 1
        return
    report = analyse(source, settings)
    found = checks.run(report, settings, {check.code for check in checks.every()})
    table.render(report.reports, settings)
    as_json.render(report.reports)
    outcome.status.update(model.status for model in report.reports)
    outcome.status["findings"] += len(found)
    outcome.causes += [cause.reason for model in report.reports for cause in model.causes[:1]]
    outcome.causes += [report.failure.reason] if report.failure is not None else []
    ours = [cause.reason for model in report.reports for cause in model.causes if cause.reason.startswith(INTERNAL)]
    if report.failure is not None and report.failure.reason.startswith(INTERNAL):
        ours.append(report.failure.reason)
    if ours:
        outcome.kind, outcome.detail = "internal error", ours[0]


def forget_peak() -> None:
    """Let the kernel count the peak of this process anew, where it can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def memory_of(what: str) -> float:
    """MiB of this process: the most that it has held since `forget_peak` (VmHWM), or what it holds (VmRSS). Where that
    is unknown: the most since its start."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024
    except (OSError, StopIteration):
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (1024 * 1024 if sys.platform == "darwin" else 1024)


def work(every: bool, seconds: float, memory: float) -> None:
    """A worker: paths on stdin, one Outcome a line on what was stdout. Whatever else prints goes to stderr."""
    import resource

    # What asks for far more than it may have is stopped before the machine suffers from it.
    resource.setrlimit(resource.RLIMIT_AS, (int(memory * RUNAWAY) * 2**20,) * 2)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        print(json.dumps(vars(analyse_file(json.loads(line), every, seconds))), file=answers, flush=True)


class Worker:
    """A process that analyses one file after another, and is replaced when it dies or hangs."""

    def __init__(self, strict: bool, every: bool, seconds: float, memory: float) -> None:
        self.seconds = seconds
        self.arguments = ["--worker", f"--seconds={seconds}", f"--memory={memory}", *(["--all"] if every else [])]
        self.environment = {key: value for key, value in os.environ.items() if key != "CNNMEM_STRICT"}
        if strict:
            self.environment["CNNMEM_STRICT"] = "1"
        self.process: subprocess.Popen[str] | None = None

    def analyse(self, path: str) -> Outcome:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__, *self.arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment,
            )  # fmt: skip
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        began = time.monotonic()
        # The worker ends itself when its processor time is up; it may wait for the processor, but not for ever.
        late = threading.Timer(self.seconds * 20, process.kill)
        late.start()
        try:
            process.stdin.write(json.dumps(path) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        finally:
            late.cancel()
        if answer:
            return told(answer)
        self.end()
        took = time.monotonic() - began
        kind = "hang" if process.returncode in (-signal.SIGPROF, -signal.SIGKILL) else "crash"
        return Outcome(path, took, kind=kind, detail=f"the process ended with {process.returncode}")

    def end(self) -> None:
        if self.process is not None:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.process = None


def told(line: str) -> Outcome:
    """An outcome that was written as JSON."""
    read = json.loads(line)
    return Outcome(**{**read, "status": Counter(read["status"])})


def python_files(path: str) -> Iterator[str]:
    """Every `.py` file, those of virtual environments and hidden folders included."""
    if os.path.isfile(path):
        yield path
    for here, folders, files in os.walk(path):
        folders.sort()
        yield from (os.path.join(here, name) for name in sorted(files) if name.endswith(".py"))


def in_turn(paths: Sequence[str]) -> list[str]:
    """The files of all folders, one of each folder in turn, those that mention a framework before the others."""
    from flake8_cnnmem.source import SourceError, mentions_framework, read

    rounds = itertools.zip_longest(*(python_files(path) for path in paths))
    every = list(dict.fromkeys(file for files in rounds for file in files if file is not None))
    last: list[str] = []
    first: list[str] = []
    for file in every:
        try:
            mentions = mentions_framework(read(file))
        except SourceError:
            mentions = False
        (first if mentions else last).append(file)
    return first + last


def sweep(
    paths: Sequence[str], jobs: int, strict: bool, every: bool, seconds: float, memory: float, log: TextIO
) -> list[Outcome]:
    """Analyse the files with `jobs` processes; the outcomes in the order of the files, and in the log as they come."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for at in range(len(paths)):
        waiting.put(at)
    outcomes: dict[int, Outcome] = {}

    def drain() -> None:
        worker = Worker(strict, every, seconds, memory)
        while True:
            try:
                at = waiting.get_nowait()
            except queue.Empty:
                break
            outcome = worker.analyse(paths[at])
            if not outcome.kind and outcome.mib > memory:
                outcome.kind, outcome.detail = "too much memory", f"{outcome.mib:.0f} MiB"
                # What a process has held it keeps: the next file is not to be blamed for it.
                worker.end()
            outcomes[at] = outcome
            print(json.dumps(vars(outcome)), file=log, flush=True)
            if outcome.kind:
                print(f"{outcome.kind}: {outcome.path}\n{outcome.detail}", flush=True)
            elif len(outcomes) % 500 == 0:
                print(f"... {len(outcomes)} of {len(paths)} files", flush=True)
        worker.end()

    threads = [threading.Thread(target=drain) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [outcomes[at] for at in range(len(paths))]


def summary(outcomes: Sequence[Outcome], slowest: int, causes: bool) -> str:
    """What a reader wants to know of a sweep, as text."""
    total: Counter[str] = Counter()
    for outcome in outcomes:
        total.update(outcome.status)
    seconds = sum(outcome.seconds for outcome in outcomes)
    most = max((outcome.mib for outcome in outcomes), default=0)
    held = max((outcome.held for outcome in outcomes), default=0)
    models = ", ".join(f"{total[word]} {word}" for word in ("exact", "lower-bound", "unresolved"))
    lines = [
        (
            f"{len(outcomes)} files in {seconds:.0f} s of work; models: {models}; {total['findings']} findings; "
            f"{total['passed over']} files passed over, {total['refused']} refused (no Python, or too large)"
        ),
        f"most memory: {most:.0f} MiB; most held after a file: {held:.0f} MiB",
        "slowest:",
    ]
    by_time = sorted(outcomes, key=lambda outcome: -outcome.seconds)
    lines += [f"  {each.seconds:6.2f} s {each.mib:5.0f} MiB  {each.path}" for each in by_time[:slowest]]
    if causes:
        counted = Counter(cause for outcome in outcomes for cause in outcome.causes)
        lines += ["causes:", *(f"  {times:5d}  {cause:.160}" for cause, times in counted.most_common(60))]
    broken = Counter(outcome.kind for outcome in outcomes if outcome.kind)
    words = ("crash", "hang", "internal error", "too much memory")
    lines.append("broken: " + ", ".join(f"{broken[word]} {word}" for word in words))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Analyse every Python file below some folders; say what broke.")
    parser.add_argument("paths", nargs="*", metavar="PATH")
    parser.add_argument("--strict", action="store_true", help="internal errors are let out, with a traceback")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=60.0, help="of processor time; what takes longer hangs")
    parser.add_argument("--memory", type=float, default=600.0, help="MiB that a process may hold")
    parser.add_argument("--log", default=os.devnull, metavar="FILE", help="outcomes as JSON; what is in it is done")
    parser.add_argument("--sample", type=int, help="so many of the files, drawn by chance (always the same)")
    parser.add_argument("--slowest", type=int, default=10, help="how many of the slowest files are named")
    parser.add_argument("--causes", action="store_true", help="count why models were not estimated")
    parser.add_argument("--all", action="store_true", help="evaluate files that import no framework as well")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        work(options.all, options.seconds, options.memory)
        return 0
    paths = in_turn(options.paths)
    if options.sample is not None and options.sample < len(paths):
        paths = [paths[at] for at in sorted(random.Random(0).sample(range(len(paths)), options.sample))]
    with open(options.log, "a+", encoding="utf-8") as log:
        log.seek(0)
        outcomes = [told(line) for line in log]
        done = {outcome.path for outcome in outcomes}
        left = [path for path in paths if path not in done]
        outcomes += sweep(left, options.jobs, options.strict, options.all, options.seconds, options.memory, log)
    print(summary(outcomes, options.slowest, options.causes))
    return 1 if not outcomes or any(outcome.kind for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
