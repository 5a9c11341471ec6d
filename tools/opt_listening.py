"""What `ge-opt` collects while passes run, and prints at the end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from ge_dialect.tools.fusion_arguments import check_fusions, is_asked, needs_remarks


@contextmanager
def listening(args: argparse.Namespace) -> Generator[None]:
    """Collects what was asked for, and prints it to stderr at the end, also after an error.

    Raises:
        GEError: A fusion that was required is missing (GE0440, GE0441).
    """
    from ge_dialect import remarks
    from ge_dialect.passes import statistics

    asked = needs_remarks(args)
    with ExitStack() as stack:
        found = stack.enter_context(remarks.collect()) if args.remarks or asked else None
        counts = stack.enter_context(statistics.collect()) if args.stats or asked else None
        try:
            yield
        finally:
            for remark in found.remarks if found is not None else ():
                if args.remarks in ("all", remark.kind) or is_asked(remark, args.why_not):
                    sys.stderr.write(f"{remark}\n")
            for (pass_name, what), times in sorted((counts or {}).items() if args.stats else ()):
                sys.stderr.write(f"{times:8d} {pass_name}: {what}\n")
        if found is not None and counts is not None and asked:
            line = check_fusions(args, counts, found.remarks)
            sys.stderr.write(f"{line}\n" if line is not None else "")
