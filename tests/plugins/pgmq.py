"""pgmq in a test's database: the SQL of its newest release, and the shapes of the two that Supabase ships."""

from __future__ import annotations

import importlib.resources
from typing import Final, Literal

from penstock.db import Connection
from penstock.db.pgmq import prepare_queue
from tests.plugins.database import Database

Version = Literal["1.4.4", "1.5.1", "1.13.0"]
VERSIONS: Final[tuple[Version, ...]] = ("1.4.4", "1.5.1", "1.13.0")

# What the releases of Supabase answer, written for these tests: the same calls and columns, no more. 1.4.4
# has no headers; 1.5.1 has them at the end; 1.13 has another column in the middle.
STAND_IN = """
create schema pgmq;
create table pgmq.meta (queue_name varchar unique not null, created_at timestamptz not null default now());
create type pgmq.message_record as (
  msg_id bigint, read_ct integer, enqueued_at timestamptz, vt timestamptz, message jsonb{headers_type});

create function pgmq."create"(queue_name text) returns void language plpgsql as $$
begin
  execute format(
    'create table pgmq.%I (
       msg_id bigint primary key generated always as identity, read_ct int not null default 0,
       enqueued_at timestamptz not null default now(), vt timestamptz not null, message jsonb{headers_type})',
    lower('q_' || queue_name));
  execute format(
    'create table pgmq.%I (msg_id bigint primary key, read_ct int not null default 0,
       enqueued_at timestamptz not null default now(), archived_at timestamptz not null default now(),
       vt timestamptz not null, message jsonb{headers_type})', lower('a_' || queue_name));
  insert into pgmq.meta (queue_name) values (queue_name);
end $$;

create function pgmq.send(queue_name text, msg jsonb, delay integer default 0)
returns setof bigint language plpgsql as $$
begin
  return query execute format(
    'insert into pgmq.%I (vt, message) values (clock_timestamp() + $2, $1) returning msg_id',
    lower('q_' || queue_name)) using msg, make_interval(secs => delay);
end $$;

create function pgmq.send_batch(queue_name text, msgs jsonb[]) returns setof bigint
language plpgsql as $$
begin
  return query execute format(
    'insert into pgmq.%I (vt, message) select clock_timestamp(), m from unnest($1) m returning msg_id',
    lower('q_' || queue_name)) using msgs;
end $$;

create function pgmq.read(queue_name text, vt integer, qty integer)
returns setof pgmq.message_record language plpgsql as $$
begin
  return query execute format(
    'with next as (select msg_id from pgmq.%1$I where vt <= clock_timestamp() order by msg_id limit $1
       for update skip locked)
     update pgmq.%1$I m set vt = clock_timestamp() + $2, read_ct = read_ct + 1 from next
     where m.msg_id = next.msg_id
     returning m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message{headers_column}',
    lower('q_' || queue_name))
  using qty, make_interval(secs => vt);
end $$;

create function pgmq.archive(queue_name text, msg_ids bigint[]) returns setof bigint
language plpgsql as $$
begin
  return query execute format(
    'with gone as (delete from pgmq.%I m where m.msg_id = any ($1)
       returning m.msg_id, m.vt, m.read_ct, m.enqueued_at, m.message)
     insert into pgmq.%I (msg_id, vt, read_ct, enqueued_at, message)
     select msg_id, vt, read_ct, enqueued_at, message from gone returning msg_id',
    lower('q_' || queue_name), lower('a_' || queue_name)) using msg_ids;
end $$;

create function pgmq.archive(queue_name text, msg_id bigint) returns boolean language sql as $$
  select exists (select pgmq.archive(queue_name, array[msg_id]))
$$;

create function pgmq.delete(queue_name text, msg_id bigint) returns boolean language plpgsql as $$
declare
  v_id bigint;
begin
  execute format('delete from pgmq.%I q where q.msg_id = $1 returning 1', lower('q_' || queue_name))
  into v_id using msg_id;
  return v_id is not null;
end $$;
"""
SEND_WITH_HEADERS = """
create function pgmq.send(queue_name text, msg jsonb, headers jsonb) returns setof bigint
language plpgsql as $$
begin
  return query execute format(
    'insert into pgmq.%I (vt, message, headers) values (clock_timestamp(), $1, $2) returning msg_id',
    lower('q_' || queue_name)) using msg, headers;
end $$;
"""


async def install(admin: Connection, version: Version = "1.13.0") -> None:
    if version == "1.13.0":
        await admin.execute((importlib.resources.files("pgmq") / "sql/pgmq.sql").read_text(encoding="utf-8"))
        return
    with_headers = version == "1.5.1"
    text = STAND_IN.replace("{headers_type}", ", headers jsonb" if with_headers else "")
    text = text.replace("{headers_column}", ", m.headers" if with_headers else "")
    await admin.execute(text + (SEND_WITH_HEADERS if with_headers else ""))


async def add_queue(
    database: Database,
    *,
    queue: str = "orders",
    inlet: str | None = "orders",
    version: Version = "1.13.0",
    wrappers: bool = False,
    config: str = '{"queue": "orders", "task_type": "job"}',
    tenant: str | None = None,
) -> None:
    """pgmq with one queue, and an inlet that reads it unless told otherwise."""
    async with database.connect("admin") as admin:
        await install(admin, version)
        await admin.execute("select pgmq.create($1)", queue)
        await prepare_queue(admin, queue, wrappers=wrappers)
    if inlet is not None:
        async with database.connect("operator") as operator:
            await operator.execute(
                "select queues.put_inlet($1, 'pgmq', 'pgmq:' || $2, $3, $4)", inlet, queue, config, tenant
            )


async def send(admin: Connection, *messages: str, queue: str = "orders") -> list[int]:
    rows = await admin.fetch("select * from pgmq.send_batch($1, $2::jsonb[])", queue, list(messages))
    return [row[0] for row in rows]
