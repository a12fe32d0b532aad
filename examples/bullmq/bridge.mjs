// Moves jobs of BullMQ 4, 5 or 6 into Penstock, each exactly once: receive a job, write it and a row of the ledger in one
// transaction of Postgres (queues.take_in), and only then tell BullMQ that it is done. README.md says how to run it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// The team's own packages: those of the folder the bridge is started in.
const load = createRequire(join(process.cwd(), "package.json"));
const { Queue, UnrecoverableError, Worker } = load("bullmq");
const pg = load("pg");

const MOST_MESSAGES = 100;
const MOST_BYTES = 8 << 20;
const LONGEST_WAIT_MS = 15_000;
const MOST_ATTEMPTS = 1_000; // of a task in Penstock
const FIRST_TIME = 1e9; // earlier is not in milliseconds: BullMQ reads "2026-11-19" as 2026
const LAST_TIME = Date.UTC(9999, 11, 31); // later is "never", or not in milliseconds

const log = (event, fields = {}) =>
  console.log(JSON.stringify({ time: new Date().toISOString(), event, ...fields }));

const config = readConfig(process.argv[2] ?? "bridge.json");
const pool = new pg.Pool({
  connectionString: config.database,
  max: Object.keys(config.queues).length + 1,
  application_name: "bullmq bridge",
  connectionTimeoutMillis: 10_000,
  query_timeout: 60_000,
  keepAlive: true,
});
pool.on("error", () => {}); // an idle connection that breaks is replaced by the next query
let stopping = false;

/** Collects the messages of one inlet and writes them in batches; a batch is repeated until Postgres has answered. */
class Batches {
  #inlet;
  #waiting = [];
  #running = false;

  constructor(inlet) {
    this.#inlet = inlet;
  }

  /** What became of the message: {outcome, task_id, reason}. */
  take(message) {
    return new Promise((resolve) => {
      this.#waiting.push({ text: JSON.stringify(message), resolve });
      if (!this.#running) {
        this.#running = true;
        setImmediate(() => this.#run());
      }
    });
  }

  async #run() {
    while (this.#waiting.length > 0) {
      await this.#write(this.#next());
    }
    this.#running = false;
  }

  #next() {
    let bytes = 0;
    let n = 0;
    while (n < Math.min(this.#waiting.length, MOST_MESSAGES) && (n === 0 || bytes < MOST_BYTES)) {
      bytes += this.#waiting[n++].text.length;
    }
    return this.#waiting.splice(0, n);
  }

  async #write(batch) {
    for (let wait = 100; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        const { rows } = await pool.query(
          'select "position", outcome, task_id, reason from queues.take_in($1, $2::jsonb)',
          [this.#inlet, `[${batch.map(({ text }) => text).join(",")}]`],
        );
        fault("committed");
        for (const row of rows) batch[row.position].resolve(row);
        return;
      } catch (error) {
        if (batch.length > 1 && isAboutData(error)) {
          for (const one of batch) await this.#write([one]);
          return;
        }
        if (isUnreadable(error)) return await this.#refuse(batch[0], error.message);
        log("write_failed", { inlet: this.#inlet, jobs: batch.length, retry_ms: wait, error: String(error.message) });
        await sleep(wait);
        if (batch.length > 1 && isTooSlow(error)) {
          const half = batch.length >> 1;
          await this.#write(batch.slice(0, half));
          await this.#write(batch.slice(half));
          return;
        }
      }
    }
  }

  /** Postgres cannot even read it, for example a string with the character NUL: counted without its content. */
  async #refuse(one, reason) {
    const { key } = JSON.parse(one.text);
    one.text = JSON.stringify({ key: String(key).replaceAll("\0", ""), refused: `Postgres cannot store it: ${reason}` });
    await this.#write([one]);
  }
}

/** The message for queues.take_in, or the reason why this job has no task. */
async function messageOf(job, queue, settings) {
  const key = `${queue}:${job.id}:${job.timestamp}`;
  const refused = await reasonAgainst(job, queue, settings);
  if (refused) return { key, refused };
  const { data, opts } = job;
  const message = {
    key,
    sent_at: asTime(job.timestamp),
    task_type: settings.jobs[job.name],
    priority: level(opts.priority, settings.levels),
  };
  if (opts.attempts > 0) message.max_attempts = Math.min(opts.attempts, MOST_ATTEMPTS);
  if (settings.tenant) message.tenant = data[settings.tenant];
  if (settings.queue) message.queue = settings.queue;
  // Of jobs with an id of the producer's one at a time, and the newest counts. Ids belong to their queue: two queues may lead
  // to one task type.
  if (isChosen(job.id)) Object.assign(message, { unique_key: `${queue}:${job.id}`, on_duplicate: "replace" });
  // As text: what Postgres cannot store is then refused alone.
  message.payload = JSON.stringify({ ...metadata(job, queue, settings), ...data });
  return message;
}

function metadata({ id, name, timestamp, opts, parentKey }, queue, { metadata }) {
  if (!metadata) return {};
  const { attempts, backoff, priority } = opts;
  return { [metadata]: { queue, id, name, added_at: asTime(timestamp), attempts, backoff, priority, parent: parentKey } };
}

/** A number is BullMQ's own; any other id was chosen by the producer, who may use it again. */
function isChosen(id) {
  return !/^\d+$/.test(id);
}

/** Milliseconds as Postgres reads a time, or nothing if they are none, for example nanoseconds. */
function asTime(milliseconds) {
  return milliseconds >= FIRST_TIME && milliseconds <= LAST_TIME ? new Date(milliseconds).toISOString() : undefined;
}

async function reasonAgainst(job, queue, settings) {
  if (job.opts.repeat || job.repeatJobKey) {
    return `job "${job.name}" comes from a scheduler of BullMQ: declare a schedule in Penstock (@app.task, app.schedule) and remove the scheduler from the queue`;
  }
  if (Number.isNaN(job.timestamp) || (isChosen(job.id) && job.timestamp < FIRST_TIME)) {
    return `job "${job.name}" has no timestamp in milliseconds, which tells it from an earlier job with the same id: add it again with one`;
  }
  if (!settings.jobs[job.name]) {
    return `queue "${queue}" has no task type for jobs named "${job.name}": add it to "jobs" in the bridge's configuration, restart the bridge and retry the job`;
  }
  if (typeof job.data !== "object" || job.data === null || Array.isArray(job.data)) {
    return `the data of job "${job.name}" is not an object: a task's payload has to be one`;
  }
  if (settings.tenant && typeof job.data[settings.tenant] !== "string") {
    return `the data of job "${job.name}" has no "${settings.tenant}", which names the tenant`;
  }
  if (await hasChildren(job, queue)) {
    return `job "${job.name}" is the parent of a flow: its children were moved as tasks and may still run; enqueue its work from the last of them`;
  }
  return null;
}

/** Asks until Redis answers, which it does not while it loads or is busy: a job that fails by that uses up an attempt. */
async function hasChildren(job, queue) {
  for (let wait = 100; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      const counts = Object.values(await job.getDependenciesCount());
      // BullMQ 4 swallows the error of a command.
      if (counts.includes(undefined)) throw new Error("Redis did not count the children");
      return counts.some((count) => count > 0);
    } catch (error) {
      log("read_failed", { queue, job: job.id, retry_ms: wait, error: error.message });
      await sleep(wait);
    }
  }
}

/** BullMQ does jobs without a priority first, then 1, 2 and so on; Penstock has the levels 0 to 9. */
function level(priority, levels) {
  return levels.filter((from) => from <= (priority ?? 0)).length;
}

/** Postgres cannot even read the message. */
function isUnreadable(error) {
  return /^(22|54)/.test(error.code ?? "");
}

/** One message may be to blame, such as one that a trigger of the team's own rejects; alone, queues.take_in refuses it. */
function isAboutData(error) {
  return /^(?!08|25|28|40|42|53|55|57|58|F0|HV|PS|XX)[0-9A-Z]{5}$/.test(error.code ?? "");
}

/** A smaller batch may be done in time: the driver's query_timeout, which has no SQLSTATE, or the server's statement_timeout. */
function isTooSlow({ code, message }) {
  return code === "57014" || (!code && /read timeout/i.test(message));
}

/** For tests: PENSTOCK_FAULT=inlet.committed@3 ends this process as kill -9 does, the third time; @0.01 once in a hundred. */
const faults = new Map((process.env.PENSTOCK_FAULT ?? "").split(",").map((each) => each.split("@")));
const reached = {};
function fault(point) {
  const when = Number(faults.get(`inlet.${point}`) ?? 0);
  reached[point] = (reached[point] ?? 0) + 1;
  if (when < 1 ? Math.random() < when : reached[point] === when) process.kill(process.pid, "SIGKILL");
}

/** Declares the inlet. Its source names the queue for the ledger, so that no two queues share one. */
async function declare(queue, settings) {
  const types = [...new Set(Object.values(settings.jobs))];
  for (let wait = 100; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      await pool.query("select queues.put_inlet($1, 'bullmq', $2, _tenant => $3, _task_types => $4)", [
        settings.inlet,
        settings.source,
        settings.fixed_tenant,
        types,
      ]);
      return;
    } catch (error) {
      // A wrong login, name or tenant does not become right by waiting; a server that is away may come back.
      if (/^(28|3D|42|PS)/.test(error.code ?? "")) fail(`queue "${queue}": ${error.message}. ${error.hint ?? ""}`);
      log("write_failed", { inlet: settings.inlet, retry_ms: wait, error: String(error.message) });
      await sleep(wait);
    }
  }
}

function start(queue, settings) {
  const batches = new Batches(settings.inlet);
  const counts = { taken: 0, duplicate: 0, refused: 0 };
  async function take(job) {
    job.opts.removeOnFail = false; // nothing is lost: what fails here for any cause stays in the failed set
    fault("received");
    const { outcome, task_id, reason } = await batches.take(await messageOf(job, queue, settings));
    counts[outcome] += 1;
    if (outcome === "refused") {
      log("job_refused", { queue, job: job.id, name: job.name, reason });
      throw new UnrecoverableError(reason);
    }
    // Kept among the completed it would make BullMQ drop the next job with this id without a word.
    if (!settings.keep_completed) job.opts.removeOnComplete = true;
    return { task_id: Number(task_id), outcome };
  }
  const worker = new Worker(queue, take, {
    connection: config.connection,
    prefix: config.prefix,
    concurrency: settings.concurrency,
    lockDuration: config.lock_ms,
    stalledInterval: config.lock_ms,
    // A job may be received any number of times; with BullMQ's limit of 1 two crashes would fail it.
    maxStalledCount: 100,
  });
  worker.on("completed", () => fault("acknowledged"));
  worker.on("error", (error) => log("worker_failed", { queue, error: error.message }));
  return { queue, worker, counts };
}

/** Takes delayed jobs now, as tasks with their time, so that Redis can be switched off. The ledger holds off a second copy. */
async function takeDelayed(queue, settings) {
  const batches = new Batches(settings.inlet);
  const source = new Queue(queue, { connection: config.connection, prefix: config.prefix });
  const redis = await (source.client ?? source.backend.client); // the latter in BullMQ 6
  async function take(job) {
    // Not job.timestamp + job.delay: a changed delay counts from the change. BullMQ keeps a counter in the lowest 12 bits.
    const due = Math.floor(Number(await redis.zscore(source.toKey("delayed"), job.id)) / 0x1000);
    if (!(due <= LAST_TIME)) return { outcome: "kept", reason: "its time is after the year 9999" };
    const message = await messageOf(job, queue, settings);
    if (due > Date.now()) message.scheduled_at = asTime(due);
    return batches.take(message);
  }
  let kept = 0;
  let most = MOST_MESSAGES;
  for (;;) {
    let jobs;
    try {
      jobs = (await source.getDelayed(kept, kept + most - 1)).filter(Boolean);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // The data of one is not JSON: one by one, so that only this one is kept.
      if (most === 1) {
        log("delayed_kept", { queue, reason: error.message });
        kept += 1;
      }
      most = 1;
      continue;
    }
    if (jobs.length === 0) break;
    for (const job of jobs) fault("received");
    const rows = await Promise.all(
      jobs.map((job) => take(job).catch((error) => ({ outcome: "kept", reason: error.message }))),
    );
    for (const [n, { outcome, reason }] of rows.entries()) {
      const isTaken = outcome === "taken" || outcome === "duplicate";
      if (!isTaken) log("delayed_kept", { queue, job: jobs[n].id, name: jobs[n].name, reason });
      // One that became due meanwhile cannot be removed any more; then the worker receives it, as a duplicate.
      const removed = isTaken && (await jobs[n].remove().then(() => true, () => false));
      if (!removed) kept += 1;
    }
  }
  log("delayed_taken", { queue, kept });
  await source.close();
}

async function stop(signal) {
  if (stopping) return;
  stopping = true;
  log("stopping", { signal });
  // What Postgres has not taken by then stays in Redis: its lock runs out, and the next bridge receives it.
  const patience = setTimeout(() => process.exit(1), config.grace_ms);
  await Promise.all(running.map(({ worker }) => worker.close()));
  await pool.end();
  clearTimeout(patience);
  for (const { queue, counts } of running) log("stopped", { queue, ...counts });
  process.exit(0);
}

function fail(what) {
  console.error(what);
  process.exit(2);
}

function readConfig(path) {
  let given;
  try {
    given = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    fail(`${path} cannot be read (${error.message}). Start from bridge.json of the example.`);
  }
  const database = process.env.PENSTOCK_DATABASE_URL;
  if (!database) fail("Set PENSTOCK_DATABASE_URL to a login that is a member of service_role.");
  const redis = process.env.REDIS_URL ?? given.redis ?? "redis://127.0.0.1:6379";
  const connection = typeof redis === "string" ? fromUrl(redis) : redis;
  const prefix = given.prefix ?? "bull";
  const queues = Object.entries(given.queues ?? {});
  if (queues.length === 0) fail(`${path}: "queues" names no queue.`);
  for (const [queue, settings] of queues) {
    const wrong = (what) => fail(`${path}: queue "${queue}" ${what}`);
    if (!Object.keys(settings.jobs ?? {}).length) wrong('has no "jobs": {"job name": "task type"}.');
    if (settings.tenant && settings.fixed_tenant) wrong('has both "tenant" and "fixed_tenant": remove one.');
    settings.levels ??= [1, 2, 3, 4, 5, 6, 7, 8, 9];
    if (settings.levels.length > 9) wrong('has more than 9 "levels": Penstock has the priorities 0 to 9.');
    settings.inlet ??= queue;
    settings.source ??= `bullmq:${connection.host}:${connection.port}/${connection.db ?? 0}/${prefix}:${queue}`;
    settings.concurrency ??= MOST_MESSAGES;
    if (settings.metadata === undefined) settings.metadata = "bullmq";
  }
  const { lock_ms = 30_000, grace_ms = 20_000 } = given;
  return { queues: Object.fromEntries(queues), database, connection, prefix, lock_ms, grace_ms };
}

function fromUrl(text) {
  const url = new URL(text);
  return {
    host: url.hostname,
    port: Number(url.port || 6379),
    username: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    db: Number(url.pathname.slice(1) || 0),
    ...(url.protocol === "rediss:" ? { tls: {} } : {}),
  };
}

const running = [];
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop(signal));
for (const [queue, settings] of Object.entries(config.queues)) {
  await declare(queue, settings);
  if (settings.delayed === "take") await takeDelayed(queue, settings);
  running.push(start(queue, settings));
}
log("started", { queues: Object.keys(config.queues) });
