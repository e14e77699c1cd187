"""`kata grade scheduler` and `kata grade worker`: grading past one machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_FILE = click.Path(path_type=Path)


def tls_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--tls-ca`, `--tls-cert` and `--tls-key`."""
    for name, what in (
        ("key", "The key of that certificate."),
        ("cert", "A certificate that the authority signed."),
        ("ca", "The certificate of the cluster's authority (or Dask's configuration says all)."),
    ):
        function = click.option(f"--tls-{name}", type=_FILE, metavar="FILE", help=what)(function)
    return function


@click.command()
@click.argument("address")
@tls_options
def scheduler(
    address: str, tls_ca: Path | None, tls_cert: Path | None, tls_key: Path | None
) -> None:
    """Hand out work at ADDRESS, such as tls://0.0.0.0:8786, until stopped."""
    from attention_katas.service import cluster

    cluster.serve(address, cluster.Keys(tls_ca, tls_cert, tls_key))


@click.command()
@click.argument("address")
@click.option("--workers", type=click.IntRange(1), help="Of this machine; one for each core.")
@click.option(
    "--patience",
    type=click.FloatRange(1),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the scheduler.",
)
@tls_options
def worker(
    address: str,
    workers: int | None,
    patience: float,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Judge for the scheduler at ADDRESS until it goes.

    Tries first whether this machine judges with all sandbox restrictions.
    """
    from attention_katas.service import cluster, machine

    keys = cluster.Keys(tls_ca, tls_cert, tls_key)
    cluster.work(address, keys, workers or len(machine.cores()), patience)
