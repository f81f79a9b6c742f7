"""The options of `jc2r run` for what a model does, and the beginning of that."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_ls.cli.common_options import add_attempts, add_model_group, add_spending
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_libraries import add_crate_source
from jarvis_ls.cli.jc2r_verify import add_settings
from jarvis_ls.core.errors import JarvisError, UsageError, missing_package


def add_whole(run: argparse.ArgumentParser) -> None:
    """Add the options that only count without `--baseline`."""
    group = run.add_argument_group("with a model")
    add_model_group(group)
    add_attempts(group, "--max-retries", "-m")
    add_spending(group)
    group.add_argument(
        "--interface",
        type=Path,
        metavar="FOLDER",
        help="folder of Rust files with interfaces to follow",
    )
    add_crate_source(run)
    add_settings(run)


def run_whole(options: argparse.Namespace) -> ExitStatus:
    """Run the command; what it needs is loaded only then."""
    if options.only or options.verify:
        raise UsageError("--only and --verify need --baseline.")
    try:
        from jarvis_ls.cli import whole_way
    except ModuleNotFoundError as error:
        missing_package(error)
        raise JarvisError(
            "A run with a model needs more packages: pip install 'jarvis-ls[agent,migrate]'."
        ) from None
    return whole_way.run_whole_way(options)
