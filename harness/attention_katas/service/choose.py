"""Which judge service a command gets: the one place that decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attention_katas.errors import KataError
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.service.judge_service import ClassService, JudgeService

if TYPE_CHECKING:
    from attention_katas.service.cluster import Keys
    from attention_katas.service.settings import Settings


def open_service(
    catalog: Catalog,
    katas: Sequence[Kata] = (),
    device: str = "auto",
    *,
    cold: bool = False,
    spawn: bool = False,
    strict: bool = False,
    weak: bool = False,
    patient: bool = True,
    meanwhile: Callable[[], object] = lambda: None,
) -> JudgeService:
    """The service for one learner: by the daemon where one may be used, else in this process.

    katas: those that will be judged; all when there are none.
    cold: without the daemon. spawn: as on systems that cannot fork.
    strict, weak: see Judge.
    patient, meanwhile: see Daemon.
    """
    from attention_katas.service.local import Local

    local = Local(catalog, katas, device, spawn=spawn, strict=strict, weak=weak)
    if cold or spawn or strict:
        return local
    from attention_katas.service.daemon import client, control

    where = control.address_for(catalog, device)
    if where is None:
        return local
    return client.Daemon(where, local, device, patient=patient, meanwhile=meanwhile)


def open_class_service(
    settings: Settings,
    scheduler: str = "",
    keys: Keys | None = None,
    report: Callable[[str, str], None] = lambda message, next_step: None,
) -> ClassService:
    """The service for a class: processes of this machine, or a cluster.

    scheduler: address of the cluster; "local" for one of this machine, "" for none.
    report: hears of trouble that may pass, and of the next step.
    """
    if not scheduler:
        from attention_katas.service.pool import Pool

        if keys is not None and any((keys.ca, keys.cert, keys.key)):
            raise KataError("--tls-... is for a cluster", "--scheduler tls://HOST:8786")
        return Pool(settings)
    from attention_katas.service import cluster

    if scheduler != cluster.LOCAL:
        cluster.checked(scheduler)
    return cluster.Cluster(scheduler, keys or cluster.Keys(), settings, report)
