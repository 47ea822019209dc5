"""The admission of a job to a store: reuse, caps, and its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.jobs.model import Submission
from plait.jobs.store.records import Creation
from plait.jobs.store.rows import options_json

if TYPE_CHECKING:
    from plait.jobs.store.database import Database
    from plait.jobs.store.records import Caps, NewJob
    from plait.jobs.store.session import Session
    from plait.jobs.store.statements import Statements

__all__ = ["admit"]


def admit(database: Database, session: Session, job: NewJob, caps: Caps) -> Creation:
    """Find the job that the same submit made before, or check the caps and store it (``batch-runner.md``, rule 1)."""
    sql = database.statements
    database.lock_submits(session)
    reusable = session.row(
        sql.find_reusable,
        {"caller": job.caller.name, "idem_key": job.idem_key, "fresh_from": caps.fresh_from},
    )
    if reusable is not None:
        job_id, finished_at = reusable
        live = database.sums.read(session).live
        return Creation(Submission(job_id, reused=True), finished_at is None, live)
    _check_caps(sql, session, job, caps)
    _insert(sql, session, job)
    live = database.sums.add(session, live=1, nbytes=0).live
    return Creation(Submission(job.id, reused=False), is_live=True, live=live)


def _check_caps(sql: Statements, session: Session, job: NewJob, caps: Caps) -> None:
    caps.check_targets(len(job.targets))
    of_caller = session.rows(sql.count_live_of_caller, {"caller": job.caller.name})[0][0]
    total = session.rows(sql.count_live, {})[0][0]
    caps.check_live_jobs(of_caller=of_caller, total=total)


def _insert(sql: Statements, session: Session, job: NewJob) -> None:
    row = session.rows(
        sql.insert_job,
        {
            "id": job.id,
            "caller": job.caller.name,
            "workspace": job.caller.workspace,
            "caller_class": job.caller_class,
            "idem_key": job.idem_key,
            "targets_total": len(job.targets),
            "now": job.now,
        },
    )[0]
    session.run_many(
        sql.insert_target,
        [
            {"seq": row[0], "idx": idx, "url": target.url, "options": options_json(target.options)}
            for idx, target in enumerate(job.targets)
        ],
    )
