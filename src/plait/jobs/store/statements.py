"""Every statement of a store: written once with SQLAlchemy, compiled once per dialect, run on the driver's cursor."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Double,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.ext.compiler import compiles

from plait.jobs.states import (
    JOB_TRANSITIONS,
    REUSABLE_STATES,
    TARGET_TRANSITIONS,
    JobEvent,
    JobState,
    TargetEvent,
    TargetState,
)
from plait.jobs.store.schema import JOBS, TARGETS, USAGE

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect
    from sqlalchemy.sql.base import Executable
    from sqlalchemy.sql.compiler import SQLCompiler

__all__ = ["Parameters", "Statement", "Statements", "compile_statements"]


Parameters = Mapping[str, object]


class Statement(NamedTuple):
    """One statement as a driver takes it, and what makes its parameters from named ones."""

    name: str
    sql: str
    bind: Callable[[Parameters], Any]


class store_clock(ColumnElement[float]):  # noqa: N801 - reads as the SQL function that it is
    """Now, on the clock that turns and retries go by.

    On SQLite, which one process at a time works on, that is the process's monotonic clock, passed as a
    parameter; on PostgreSQL, which many machines share, the database's own.
    """

    type = Double()
    inherit_cache = True


@compiles(store_clock)
def _clock_of_the_process(_element: store_clock, compiler: SQLCompiler, **kwargs: Any) -> str:
    return compiler.process(bindparam("store_now", type_=Double()), **kwargs)


@compiles(store_clock, "postgresql")
def _clock_of_the_database(_element: store_clock, _compiler: SQLCompiler, **_kwargs: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


def _text(value: str) -> ColumnElement[str]:
    """A constant of ours written into the statement, so that the planner can match it with an index."""
    return literal_column(f"'{value}'")


def _param(name: str, column: ColumnElement[Any]) -> ColumnElement[Any]:
    return bindparam(name, type_=column.type)


_j = JOBS.c
_t = TARGETS.c
_u = USAGE.c
_live = _j.finished_at.is_(None)
_free = and_(_live, _j.turn_owner.is_(None), _j.retry_at.is_(None))
_this_turn = and_(
    _j.seq == _param("seq", _j.seq),
    _j.turn_owner == _param("owner", _j.turn_owner),
    _j.turn_epoch == _param("epoch", _j.turn_epoch),
)
_this_target = and_(_t.job_seq == _param("seq", _t.job_seq), _t.idx == _param("idx", _t.idx))
_turn_ended: Final[dict[str, Any]] = {"turn_owner": null(), "turn_until": null()}
_counted: Final[dict[str, Any]] = _turn_ended | {
    "busy_since": null(),
    "targets_done": _j.targets_done + literal_column("1"),
    "targets_failed": _j.targets_failed + bindparam("failed"),
    "nbytes": _j.nbytes + bindparam("nbytes"),
}
_of_another_runner_and_over = and_(
    _j.turn_until.is_not(None), _j.turn_until <= store_clock(), _j.turn_owner != bindparam("owner")
)


def _next_after(*conditions: ColumnElement[bool]) -> Any:
    """The first free job in submit order; another runner's row lock is passed over, not waited for."""
    return (
        select(_j.seq)
        .where(_free, *conditions)
        .order_by(_j.seq)
        .limit(literal_column("1"))
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )


def _ids_where(*conditions: ColumnElement[bool]) -> Any:
    return select(_j.seq).where(*conditions)


_next_job = func.coalesce(_next_after(_j.seq > bindparam("hand")), _next_after())
_turn = select(
    _j.seq,
    _j.id,
    (_j.turn_epoch + literal_column("1")).label("epoch"),
    _j.caller,
    _j.workspace,
    _j.targets_total,
    _j.targets_done,
    _j.targets_failed,
    _j.created_at,
    (store_clock() - _j.busy_since).label("busy_for"),
    _t.url,
    _t.options,
).select_from(JOBS.outerjoin(TARGETS, and_(_t.job_seq == _j.seq, _t.idx == _j.targets_done)))
_FETCHED_STATE: Final = TARGET_TRANSITIONS[TargetState.PENDING, TargetEvent.TAKE]
_being_fetched = and_(_t.status == _text(TargetState.PENDING), _t.idx == _j.targets_done, _j.turn_owner.is_not(None))
_status_seen = case((_being_fetched, _text(_FETCHED_STATE)), else_=_t.status)
_one_of_reusable = or_(*[_j.status == _text(state) for state in sorted(REUSABLE_STATES)])

_STATEMENTS: Final[dict[str, Executable]] = {
    # --- submit (batch-runner.md, rule 1)
    "find_reusable": select(_j.id, _j.finished_at)
    .where(
        _j.caller == bindparam("caller"),
        _j.idem_key == bindparam("idem_key"),
        _one_of_reusable,
        or_(_live, _j.lease >= bindparam("fresh_from")),
    )
    .order_by(_j.seq.desc())
    .limit(literal_column("1")),
    "count_live_of_caller": select(func.count()).where(_live, _j.caller == bindparam("caller")),
    "count_live": select(func.count()).select_from(JOBS).where(_live),
    "insert_job": insert(JOBS)
    .values(
        {name: bindparam(name) for name in ("id", "caller", "workspace", "caller_class", "idem_key", "targets_total")}
        | {"created_at": bindparam("now"), "lease": bindparam("now"), "status": _text(JobState.QUEUED)}
    )
    .returning(_j.seq),
    "insert_target": insert(TARGETS).values(
        job_seq=bindparam("seq"),
        idx=bindparam("idx"),
        url=bindparam("url"),
        options=bindparam("options"),
        status=_text(TargetState.PENDING),
    ),
    # --- a turn (rules 2 and 3)
    "release_due_retries": update(JOBS)
    .where(
        _j.seq.in_(_ids_where(_j.retry_at.is_not(None), _j.retry_at <= store_clock()).with_for_update(skip_locked=True))
    )
    .values(retry_at=null()),
    "release_lost_turns": update(JOBS)
    .where(_j.seq.in_(_ids_where(_of_another_runner_and_over).with_for_update(skip_locked=True)))
    .values(_turn_ended),
    "next_free": select(_j.seq).where(_free).limit(literal_column("1")),
    "next_job": select(_next_job),
    "read_next_turn": _turn.where(_j.seq == _next_job),
    "read_turn": _turn.where(_j.seq == bindparam("seq")),
    "take_job": update(JOBS)
    .where(_j.seq == bindparam("seq"))
    .values(
        status=_text(JOB_TRANSITIONS[JobState.QUEUED, JobEvent.TAKE]),
        turn_owner=bindparam("owner"),
        turn_epoch=bindparam("epoch"),
        turn_until=store_clock() + bindparam("lease_seconds", type_=Double()),
    ),
    "next_wake": select(func.min(_j.retry_at) - store_clock()).where(_j.retry_at.is_not(None), _live),
    "next_lost_turn": select(func.min(_j.turn_until) - store_clock()).where(
        _j.turn_until.is_not(None), _live, _j.turn_owner != bindparam("owner")
    ),
    # --- the end of a turn (rules 3 and 4)
    # Most outcomes are not a job's last. Their statement must not name the columns of the partial indices, or
    # SQLite takes the row out of each index and puts it back, which costs more than all the rest.
    "count_outcome": update(JOBS).where(_this_turn).values(_counted),
    "finish_job": update(JOBS)
    .where(_this_turn, _live)
    .values(
        _counted
        | {"status": bindparam("status"), "finished_at": bindparam("finished_at"), "lease": bindparam("finished_at")}
    ),
    "settle_target": update(TARGETS)
    .where(_this_target)
    .values(
        status=bindparam("target_status"),
        epoch=bindparam("epoch"),
        result=bindparam("result"),
        error=bindparam("error"),
        hint=bindparam("hint"),
    ),
    "settled_before": select(_j.status)
    .select_from(JOBS.join(TARGETS, _t.job_seq == _j.seq))
    .where(_this_target, _t.epoch == bindparam("epoch")),
    "return_job": update(JOBS).where(_this_turn).values(_turn_ended),
    "defer_job": update(JOBS)
    .where(_this_turn)
    .values(
        _turn_ended
        | {
            "retry_at": store_clock() + bindparam("delay", type_=Double()),
            "busy_since": func.coalesce(_j.busy_since, store_clock()),
        }
    ),
    "read_turns_of_owner": select(_j.seq, _j.turn_epoch).where(_j.turn_owner == bindparam("owner")),
    "renew_turns": update(JOBS)
    .where(_j.turn_until.is_not(None), _j.turn_owner == bindparam("owner"))
    .values(turn_until=store_clock() + bindparam("lease_seconds", type_=Double())),
    # --- cancel, touch, status (rules 5 and 6)
    "cancel_job": update(JOBS)
    .where(_j.id == bindparam("id"), _live)
    .values(
        status=_text(JOB_TRANSITIONS[JobState.RUNNING, JobEvent.CANCEL]),
        finished_at=bindparam("now"),
        lease=bindparam("now"),
        retry_at=null(),
    )
    .returning(_j.seq, _j.created_at),
    "touch_job": update(JOBS).where(_j.id == bindparam("id")).values(lease=bindparam("now")),
    "read_job": select(
        _j.seq, _j.id, _j.caller, _j.status, _j.error, _j.targets_total, _j.targets_done, _j.created_at
    ).where(_j.id == bindparam("id")),
    "read_targets": select(_t.idx, _t.url, _status_seen, _t.result, _t.error, _t.hint)
    .select_from(JOBS.join(TARGETS, _t.job_seq == _j.seq))
    .where(_j.seq == bindparam("seq"), _t.idx >= bindparam("first"), _t.idx < bindparam("end"))
    .order_by(_t.idx),
    # --- sums, sweep and eviction
    "add_usage": update(USAGE)
    .where(_u.shard == bindparam("shard"))
    .values(live=_u.live + bindparam("live"), nbytes=_u.nbytes + bindparam("nbytes")),
    "read_usage": select(func.sum(_u.live), func.sum(_u.nbytes)),
    "count_usage": select(func.count().filter(_live), func.sum(_j.nbytes)).select_from(JOBS),
    "sweep_jobs": delete(JOBS)
    .where(
        _j.seq.in_(
            _ids_where(
                _j.finished_at.is_not(None), _j.lease < bindparam("fresh_from"), _j.turn_owner.is_(None)
            ).with_for_update(skip_locked=True)
        )
    )
    .returning(_j.nbytes),
    "oldest_finished": select(_j.seq, _j.nbytes)
    .where(_j.finished_at.is_not(None), _j.turn_owner.is_(None), _j.seq != bindparam("keep"))
    .order_by(_j.lease, _j.seq)
    .limit(literal_column("64"))
    .with_for_update(skip_locked=True),
    "delete_job": delete(JOBS).where(_j.seq == bindparam("seq")),
    # --- a runner starts on a store of its own
    "end_turns_of_dead_runner": update(JOBS).where(_j.turn_owner.is_not(None)).values(_turn_ended),
    "interrupt_jobs": update(JOBS)
    .where(_live)
    .values(
        status=_text(JOB_TRANSITIONS[JobState.RUNNING, JobEvent.INTERRUPT]),
        error=bindparam("reason"),
        finished_at=bindparam("now"),
        lease=bindparam("now"),
        retry_at=null(),
    )
    .returning(_j.id, _j.created_at),
}


class Statements:
    """Every statement of a store, by name, in one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        for name, statement in _STATEMENTS.items():
            compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]  # Executable lacks compile
            sql = _with_constants(compiled)
            setattr(self, name, _numbered(name, sql) if dialect.name == "sqlite" else Statement(name, sql, _as_named))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Statement: ...


def _with_constants(compiled: SQLCompiler) -> str:
    """The SQL with whole-number constants written in, such as the ``OFFSET 0`` that SQLAlchemy adds for SQLite."""
    sql = compiled.string
    for name, value in compiled.params.items():
        if value is not None:
            sql = sql.replace(compiled.bindtemplate % {"name": name}, str(int(value)))
    return sql


_NAMED: Final = re.compile(r":(\w+)")


def _numbered(name: str, sql: str) -> Statement:
    """A statement with its parameters by place: sqlite3 takes a tuple much faster than it looks names up."""
    names = _NAMED.findall(sql)
    return Statement(name, _NAMED.sub("?", sql), itemgetter(*names) if len(names) > 1 else _few(names))


def _few(names: list[str]) -> Callable[[Parameters], Any]:
    """What ``itemgetter`` does for many names, for one or none."""
    return lambda parameters: tuple(parameters[name] for name in names)


def _as_named(parameters: Parameters) -> Parameters:
    return parameters


_compiled: Final[dict[str, Statements]] = {}


def compile_statements(dialect: Dialect) -> Statements:
    """The statements in ``dialect``, compiled once for each kind of database."""
    if dialect.name not in _compiled:
        _compiled[dialect.name] = Statements(dialect)
    return _compiled[dialect.name]
