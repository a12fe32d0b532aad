"""The task `mill.close_gate`: closes a gate and has that announced, in one transaction."""

from __future__ import annotations

from pydantic import BaseModel

from penstock import Context, Penstock

app = Penstock()


class CloseGate(BaseModel):
    gate: str


@app.task("mill.close_gate", queue="mill")
async def close_gate(payload: CloseGate, ctx: Context) -> None:
    async with ctx.transaction() as connection:
        line = f"The {payload.gate} gate is closed."
        refused = await connection.fetchval(
            "select validation_failure_message from mill.kickoff_announce($1)", line
        )
        if refused is not None:
            raise ValueError(refused)
