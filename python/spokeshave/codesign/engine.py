# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs points: on a Dask cluster, by Dask in this process, or without Dask on threads.

Each point is a process of the tool wherever it runs, so threads are enough here.
"""

import concurrent.futures
from collections.abc import Callable, Iterator
from typing import Any

from spokeshave.codesign.timing import Point, time_point


class EngineError(RuntimeError):
    """The cluster cannot be used; the message says why."""


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        return None
    return distributed


def _on_client(client: Any, points: list[Point]) -> Iterator[tuple[int, dict]]:
    distributed = _dask()
    # Not pure: the tool on a worker may have changed since an equal point ran.
    futures = {client.submit(time_point, p, pure=False): i for i, p in enumerate(points)}
    for future in distributed.as_completed(futures):
        error = future.exception()
        number = futures[future]
        if error is None:
            yield number, future.result()
        else:  # a worker that died, or has no Spokeshave
            point = points[number]
            row = {"program": point.program.name, "settings": point.settings, "chip": point.chip}
            yield number, row | {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


def _on_cluster(points: list[Point], address: str) -> Iterator[tuple[int, dict]]:
    distributed = _dask()
    if distributed is None:
        raise EngineError("--scheduler needs Dask: pip install 'spokeshave[codesign]'")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise EngineError(f"no scheduler at '{address}': {error}") from error
    with client:
        yield from _on_client(client, points)


def _locally(points: list[Point], jobs: int) -> Iterator[tuple[int, dict]]:
    distributed = _dask()
    if distributed is not None:
        with distributed.Client(
            processes=False, n_workers=1, threads_per_worker=jobs, dashboard_address=None
        ) as client:
            yield from _on_client(client, points)
        return
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(time_point, p): i for i, p in enumerate(points)}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()


def describe(address: str | None, jobs: int) -> str:
    """Where points will run, for the first line of a sweep."""
    if address:
        return f"on the Dask cluster at {address}"
    if _dask() is None:
        return f"{jobs} at a time here, without Dask (pip install 'spokeshave[codesign]')"
    return f"{jobs} at a time here, by Dask"


def run(
    points: list[Point],
    jobs: int,
    address: str | None = None,
    progress: Callable[[int, dict], None] = lambda done, row: None,
) -> list[dict[str, Any]]:
    """Rows in the order of the points; `progress` hears of each as it ends."""
    rows: list[dict[str, Any]] = [{} for _ in points]
    found = _on_cluster(points, address) if address else _locally(points, jobs)
    for done, (number, row) in enumerate(found, 1):
        rows[number] = row
        progress(done, row)
    return rows
