"""`penstock project gate`: questions that a re-index or another model must not answer worse."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli import completion, output
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSlug, tenant_session
from penstock.errors import InvalidArgument
from penstock.model.gate import Gate, GateEvaluation, GateMode
from penstock.model.queue_names import REINDEX
from penstock.model.rows import plain
from penstock.observe.formats import escape

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Slug = Annotated[
    str,
    typer.Argument(metavar="PROJECT", help="The project's slug.", autocompletion=completion.projects),
]
Questions = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        metavar="FILE",
        help='JSON lines: {"question": "…", "documents": ["path or name", …]}; - reads stdin. '
        "Default: keep those it has.",
    ),
]
Loss = Annotated[
    float | None,
    typer.Option("--allowed-loss", min=0, max=1, help="By how much nDCG@10 may fall; default: 0."),
]
Mode = Annotated[
    str | None,
    typer.Option("--mode", help="block: what is worse waits for a person (default). warn: it is only noted."),
]

LISTED = (
    "created_at",
    "state",
    "from_embedder",
    "to_embedder",
    "ndcg_before",
    "ndcg_after",
    "worse_count",
    "better_count",
    "decided_by",
)


@group.command("set")
def set_gate(
    slug: Slug,
    questions: Questions = None,
    allowed_loss: Loss = None,
    mode: Mode = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Give a project a gate, or change the one it has.

    A re-index or a switch to another model then goes live only if the questions are answered as well as
    before.
    """
    chosen = _mode(mode)
    if questions is None and allowed_loss is None and chosen is None:
        raise typer.BadParameter("nothing to set", param_hint="--questions, --allowed-loss, --mode")
    asked = None if questions is None else _read(questions)

    async def call() -> Gate:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="project gate set", target=slug)
            await session.declare()
            return await session.engine.gates.set(
                owner,
                slug,
                by=getpass.getuser(),
                questions=asked,
                mode=chosen,
                allowed_loss=allowed_loss,
            )

    _show(run(call()), as_json=as_json)


@group.command("show")
def show(slug: Slug = DEFAULT, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Show a project's gate: its settings, what waits at it, and the questions that got worse."""

    async def call() -> Gate:
        async with tenant_session() as session:
            return await session.engine.gates.show(await session.tenant(tenant), slug)

    _show(run(call()), as_json=as_json)


@group.command("history")
def history(slug: Slug = DEFAULT, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """List the evaluations of a project's gate, newest first."""

    async def call() -> list[GateEvaluation]:
        async with tenant_session() as session:
            return await session.engine.gates.evaluations(await session.tenant(tenant), slug)

    found = run(call())
    if as_json:
        output.document({"evaluations": [plain(each) for each in found]})
    else:
        rows = [[_exact(getattr(each, name)) for name in LISTED] for each in found]
        output.table(LISTED, rows, empty="No evaluations.")


@group.command("remove")
def remove(
    slug: Slug,
    yes: Yes = False,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Remove a project's gate with its questions; what waits at it goes live."""
    found = _found(slug, tenant)
    waits = "; what waits at it goes live" if found.waiting else ""
    action = f"remove the gate of {slug!r} with {output.count(found.questions, 'question')}{waits}"
    if dry_run:
        would(action, as_json=as_json, count=found.questions, project=slug)
        return
    confirm(action, yes=yes, as_json=as_json)

    async def call() -> Gate:
        async with tenant_session() as session:
            return await session.engine.gates.remove(
                await session.tenant(tenant, change="project gate remove", target=slug), slug
            )

    gone = run(call())
    output.document(plain(gone)) if as_json else output.write(f"Removed the gate of {slug!r}.")


@group.command("accept")
def accept(
    slug: Slug,
    yes: Yes = False,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Let what waits at a project's gate go live although its questions are answered worse."""
    _decide("accept", slug, tenant, yes=yes, dry_run=dry_run, as_json=as_json)


@group.command("cancel")
def cancel(
    slug: Slug,
    yes: Yes = False,
    dry_run: DryRun = False,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Stop what waits at a project's gate and remove what it prepared; the project stays as it is."""
    _decide("cancel", slug, tenant, yes=yes, dry_run=dry_run, as_json=as_json)


def _decide(verb: str, slug: str, tenant: str, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    found = _found(slug, tenant)
    what = "go live with" if verb == "accept" else "discard"
    action = f"{what} what is prepared for the project {slug!r} ({_figures(found.evaluation)})"
    if found.waiting is not None:  # otherwise the call says that nothing waits
        if dry_run:
            would(action, as_json=as_json, project=slug, waiting=str(found.waiting))
            return
        confirm(action, yes=yes, as_json=as_json)

    async def call() -> GateEvaluation:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change=f"project gate {verb}", target=slug)
            if verb == "accept" and not await session.served(REINDEX):
                warn("No worker is running: it goes live when one is started (penstock worker).")
            decide = session.engine.gates.accept if verb == "accept" else session.engine.gates.cancel
            return await decide(owner, slug, getpass.getuser())

    done = run(call())
    if as_json:
        output.document(plain(done))
    elif verb == "accept":
        output.write(f"Accepted: {slug} goes live within seconds; see penstock reindex status {done.run_id}")
    else:
        output.write(f"Cancelled: {slug} stays with {done.from_embedder}; what was prepared is removed.")


def _found(slug: str, tenant: str) -> Gate:
    async def call() -> Gate:
        async with tenant_session() as session:
            return await session.engine.gates.show(await session.tenant(tenant), slug)

    return run(call())


def _mode(name: str | None) -> GateMode | None:
    match name:
        case None | "block" | "warn":
            return name
        case _:
            raise InvalidArgument(
                f"{name!r} is not a mode of a gate", "mode", "Use --mode block or --mode warn"
            )


def _read(file: Path) -> list[tuple[str, tuple[str, ...]]]:
    from penstock.search.evaluation import question_lines, read_questions

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise typer.BadParameter(f"cannot read {file}: {reason}", param_hint="--questions") from None
    return [(each.text, each.documents) for each in read_questions(question_lines(text))]


def _figures(found: GateEvaluation | None) -> str:
    if found is None or found.ndcg_before is None or found.ndcg_after is None:
        return "its questions were not asked yet"
    return f"nDCG@10 {found.ndcg_after:.4f}, now {found.ndcg_before:.4f}; {found.worse_count} got worse"


def _exact(value: object) -> object:
    """A figure such as an nDCG with its decimals, which other figures in a table do without."""
    return f"{value:.4f}" if isinstance(value, float) else value


def facts_of(gate: Gate) -> dict[str, Any]:
    """The gate in one line each, without its evaluation."""
    told = plain(gate, without=("evaluation",))
    return {name: _exact(value) for name, value in told.items() if value is not None}


def _show(gate: Gate, *, as_json: bool) -> None:
    if as_json:
        output.document(plain(gate))
        return
    output.facts(facts_of(gate))
    if (newest := gate.evaluation) is None:
        return
    output.write(f"\nLast evaluation: {newest.state}, {_figures(newest)}")
    if newest.decided_by is not None:
        output.write(f"{newest.state} by {newest.decided_by}")
    for each in newest.worse[:10]:
        output.write(f"  {each.before:.2f} -> {each.after:.2f}  {escape(each.question)}")
    for name in newest.unknown_documents[:10]:
        output.write(
            f"no document of the project is known as {escape(name)}: its questions count as not answered"
        )
