import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { createGateway } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { withComponent } from '../../docs/examples.ts';
import { applyChange, type Change, changes } from '../changes.ts';
import { eventually } from '../eventually.ts';
import { defineTarget } from '../target.ts';

type Tree = Record<string, unknown>;

const samples = ['quickstart', 'reshaping', 'traffic', 'filters', 'access'].map((name) => {
  const file = fileURLToPath(new URL(`../../../samples/${name}/gateway.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8')) as Tree;
});

/** Components that connect to or open something while attached, at locations set by their configuration. */
const reaching = /^(?:telemetry|async|redis|admin|server|grpc|plugin)\b|amqp|pubsub|\/redis$/;

const loaded = await Promise.all(Object.values(catalogue.plugins).map((load) => load()));
/** Examples of all other components, each in a configuration of its own, at each of its levels. */
const examples = loaded.flatMap(({ plugin: { name, places = [] } }) =>
  reaching.test(name)
    ? []
    : places.flatMap(({ at, schema }) =>
        (schema.examples ?? []).map((example) => withComponent(at, name, example) as Tree),
      ),
);
const seeds = [...samples, ...examples];

/** Complete configurations, each with a few changes. */
export const configuration = defineTarget({
  name: 'configuration',
  law: 'A configuration is rejected with the location of an error, or it can be built, serves requests, reloads, and releases everything when it is closed.',
  boundMs: 2_000,
  rooms: ['kernel/config/', 'kernel/pipeline/'],
  isGuided: true,
  inputs: fc.record({
    seed: fc.nat({ max: seeds.length - 1 }),
    changes: fc.array(changes, { minLength: 1, maxLength: 3 }),
  }),
  async open() {
    return { accept, async close() {} };
  },
});

type Input = { seed: number; changes: readonly Change[] };

async function accept({ seed, changes: list }: Input): Promise<void> {
  const config = structuredClone(seeds[seed % seeds.length]!);
  for (const change of list) applyChange(config, change);
  // Ensures that no backend is called whose address another program may use.
  const isolated = JSON.parse(
    JSON.stringify(config, (key, value) => (key === 'host' && value ? ['http://127.0.0.1:9'] : value)),
  );
  const left = await serve(isolated);
  // Resources that are opened once, on first use, do not count as leaks.
  if (left > 0 && (await serve(isolated)) > 0) throw new Error(`leaves ${left} descriptors open`);
}

/** @returns how many more descriptors are open than before. */
async function serve(config: Tree): Promise<number> {
  const before = openDescriptors();
  let gateway: Awaited<ReturnType<typeof createGateway>>;
  try {
    gateway = await createGateway({ ...config, port: 0 } as never, { sinks: silentSinks });
  } catch (error) {
    mustNamePlaces(error);
    return 0;
  }
  try {
    await askEach(gateway);
    await gateway.reload({ ...config, port: 0, name: 'reloaded' }).catch(mustNamePlaces);
    await askEach(gateway);
  } finally {
    await gateway.close();
  }
  // Waits, because a closed socket releases its descriptor a moment later.
  const end = performance.now() + CLOSING_MS;
  while (openDescriptors() > before && performance.now() < end) await new Promise(setImmediate);
  return openDescriptors() - before;
}

/** Maximum time to wait for a response, in milliseconds. */
const ANSWER_MS = 25_000;
/** Maximum time to wait for closed resources, in milliseconds. */
const CLOSING_MS = 2_000;

/** @throws Error for anything but configuration errors with their positions. */
function mustNamePlaces(error: unknown): void {
  if (!(error instanceof ConfigErrors)) throw error;
  const vague = error.errors.find(({ pointer, message }) => !/^(?:\/|$)/.test(pointer) || message === '');
  if (error.errors.length === 0 || vague) throw new Error('refused without a place or a reason', { cause: error });
}

async function askEach(gateway: Awaited<ReturnType<typeof createGateway>>): Promise<void> {
  for (const { method, endpoint } of gateway.config.endpoints.slice(0, 5)) {
    let isOver = false;
    const answered = gateway.inject({ method: method as 'GET', url: endpoint.replace(/[{}*]/g, 'a') }).finally(() => {
      isOver = true;
    });
    await eventually(
      () => isOver || gateway.status.streams > 0,
      () => `${endpoint} does not answer`,
      ANSWER_MS,
    );
    // Streams are not read to their end, because a stream ends only with the gateway.
    if (!isOver) continue;
    const { statusCode } = await answered;
    if (statusCode < 200 || statusCode > 599) throw new Error(`answers ${statusCode}`);
  }
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
