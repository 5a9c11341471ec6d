"""The page docs/conformance.md: what passes, and what does not have to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import onnx

from tests.conformance.exclusions import EXCLUSIONS
from tests.conformance.suites import SUITES, Outcome

VERSION = "1.23.2"
"""Of ONNX, as the page was written with; each has more tests than the one before."""

_TEXT = """# Conformance

ONNX comes with tests of its own: `onnx.backend.test`. `make conformance` runs all of them through
the whole pipeline: a model is imported, optimised at level 2, lowered, written as an `.om` file,
read back, and executed in its planned memory, with each buffer overwritten after its last use.
ONNX's runner compares the outputs, at ONNX's tolerances. Nothing is downloaded.

With onnx {version}:

{table}

`node` has one operator each, also as the functions that ONNX defines it by; `pytorch-converted` and
`pytorch-operator` are exports of old operator sets; `real` are nine networks, from AlexNet to
DenseNet, with constant weights.

An excluded test is not skipped. It runs, and it must be refused with an error that has a code; a
wrong value fails, and so does an exclusion whose test passes or does not exist.

{exclusions}

## As a backend

The tests reach the compiler through ONNX's backend interface, and so can you:

```python
import onnx

from ge_dialect.tools.backend import GEBackend

model = GEBackend.prepare(onnx.load("model.onnx"), "CPU", level=2, streams=2)
outputs = model.run([ids, mask])
```

`prepare` takes the fields of `CompileOptions` as keywords. A model with dynamic inputs is compiled
for the shapes that arrive, once for each. `run_model` and `run_node` work as ONNX says.
"""


def is_reproducible() -> bool:
    """Whether this machine gives the figures of the page."""
    return onnx.__version__ == VERSION


def table(outcomes: Sequence[Outcome]) -> str:
    """Returns the table of suites; those without tests are left out."""
    rows = ["| suite | tests | passed | excluded | failed |", "| --- | --: | --: | --: | --: |"]
    for suite in SUITES.values():
        counts = Counter(outcome.status for outcome in outcomes if outcome.suite == suite)
        if total := counts.total():
            cells = (total, counts["passed"], counts["excluded"], counts["failed"])
            rows.append(f"| {suite} | {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def exclusions() -> str:
    """Returns the table of exclusions."""
    rows = [f"| `{exclusion.pattern}` | {exclusion.reason} |" for exclusion in EXCLUSIONS]
    return "\n".join(["| excluded | why |", "| --- | --- |", *rows])


def page(outcomes: Sequence[Outcome]) -> str:
    """Returns the whole page, for the outcomes of all tests."""
    return _TEXT.format(version=VERSION, table=table(outcomes), exclusions=exclusions())
