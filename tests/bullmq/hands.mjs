// A team's producers, on BullMQ 4, 5 and 6, for the tests: one JSON request per line in, one answer per line out.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const load = createRequire(join(process.cwd(), "package.json"));
const connection = JSON.parse(process.argv[2]);
const open = new Map();
let postgres; // the address of BullMQ 6's Postgres backend, once it is told

function once(kind, version, name, make) {
  const key = `${kind} ${version} ${name}`;
  if (!open.has(key)) open.set(key, make(load(`bullmq-${version === "postgres" ? 6 : version}`)));
  return open.get(key);
}

const asked = {
  async postgres({ url, schema }) {
    postgres = { connectionString: url, schema, migrate: true, max: 2 };
    await queueOf("postgres", "first").waitUntilReady();
  },
  async add({ version, queue, jobs }) {
    const producer = queueOf(version, queue);
    const added = await producer.addBulk(jobs);
    return added.map(({ id, timestamp }) => ({ id, timestamp }));
  },
  async flow({ version, tree }) {
    const flows = once("flow", version, "", ({ FlowProducer, createPostgresBackend }) =>
      version === "postgres"
        ? new FlowProducer({ connection: postgres }, createPostgresBackend)
        : new FlowProducer({ connection }),
    );
    return (await flows.add(tree)).job.id;
  },
  async every({ version, queue, name, milliseconds }) {
    await queueOf(version, queue).upsertJobScheduler("often", { every: milliseconds }, { name });
  },
  async counts({ version, queue }) {
    return queueOf(version, queue).getJobCounts("wait", "active", "delayed", "prioritized", "completed", "failed", "waiting-children");
  },
  async failed({ version, queue }) {
    return (await queueOf(version, queue).getFailed()).map(({ id, name, failedReason, attemptsMade }) => ({ id, name, reason: failedReason, attemptsMade }));
  },
  async retry({ queue, id }) {
    await (await queueOf(6, queue).getJob(id)).retry();
  },
  async raw({ command }) {
    const redis = open.get("redis 0 ") ?? setRedis();
    return redis.call(...command);
  },
};

function queueOf(version, queue) {
  return once("queue", version, queue, ({ Queue, createPostgresBackend }) => {
    const made =
      version === "postgres"
        ? new Queue(queue, { connection: postgres }, createPostgresBackend)
        : new Queue(queue, { connection });
    made.on("error", () => {});
    return made;
  });
}

function setRedis() {
  const Redis = load("ioredis");
  const redis = new Redis(connection);
  redis.on("error", () => {});
  open.set("redis 0 ", redis);
  return redis;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, ...rest } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await asked[ask](rest)) ?? null };
  } catch (error) {
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer));
}
process.exit(0);
