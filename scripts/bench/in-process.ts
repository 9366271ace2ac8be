import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { parseArgs } from 'node:util';
import type { Configuration } from '#contract';
import { silentSinks } from '../../kernel/contract/internal.ts';
import { type RunningGateway, startGateway } from '../../kernel/gateway/start-gateway.ts';
import { withPlugins } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';
import { freePort } from '../free-port.ts';
import { bodyScenarios } from './bodies.ts';
import { componentScenarios as ofComponents } from './components.ts';
import { compressionScenarios } from './compression.ts';
import { body, constant } from './constant.ts';
import { credentialScenarios } from './credentials.ts';
import { formatScenarios } from './formats.ts';
import { modelScenarios } from './models.ts';
import { pick, positive } from './options.ts';
import { promptScenarios } from './prompts.ts';
import { type Attached, configWith, endpointOf, type Scenario } from './scenario.ts';
import { type Quartiles, quartiles, spread } from './spread.ts';
import { table } from './table.ts';
import { remoteToolScenario, toolScenario } from './tool-calls.ts';

const componentScenarios = [
  ...ofComponents,
  ...compressionScenarios,
  toolScenario,
  remoteToolScenario,
  ...modelScenarios,
  ...promptScenarios,
  ...bodyScenarios,
  ...credentialScenarios,
  ...formatScenarios,
];

/**
 * CPU time that a component adds to a request, in microseconds: two gateways in this process, one without and one with
 * it, handle requests without sockets, from a constant backend. They alternate every few hundred requests, so that the
 * machine, the compiler and the garbage collector affect both equally; neither includes the varying cost of sockets.
 * Savings of backend calls are not visible here: see `npm run bench -- --scenario http-cache`.
 *
 *   node scripts/bench/in-process.ts [--scenario cors,cel] [--pairs 200] [--requests 1000]
 *
 * Limits and quotas in Redis are measured with 50 concurrent requests, so that batched commands count as such; the cost
 * of the Redis server is not included.
 *
 * A pair is one turn of each gateway. On a shared machine, many pairs are disturbed by far more than the measured cost, so
 * the table shows only the calm ones, the third with the lowest total time: their median, and the bounds of their middle
 * half. The first line allows a comparison of machines: the time of one ES256 signature verification.
 */
const WARM_UP_PAIRS = 20;
const CALM_SHARE = 1 / 3;

/** A connection without a peer: written data is discarded. */
class Nowhere extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}

/** Connections that wait for a request. */
const idle: Nowhere[] = [];
const version = { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 };

/** Handles a request as the server does once its head has been read. */
function ask(
  { generations }: RunningGateway,
  { method, path: url, body, headers = [] }: Asked,
  rawHeaders: readonly string[],
): Promise<number> {
  const connection = idle.pop() ?? new Nowhere();
  const nowhere = connection as unknown as Socket;
  const message = new IncomingMessage(nowhere);
  Object.assign(message, { complete: true, method, url, rawHeaders: [...rawHeaders, ...headers], ...version });
  // An HTTP parser would have derived these values from the raw headers.
  const coding = rawHeaders.indexOf('accept-encoding');
  if (coding >= 0) message.headers['accept-encoding'] = rawHeaders[coding + 1]!;
  if (body !== undefined) {
    message.headers['content-length'] = String(body.length);
    message.push(body);
  }
  message.push(null);
  const response = new ServerResponse(message);
  response.assignSocket(nowhere);
  return new Promise((resolve) => {
    response.once('finish', () => {
      response.detachSocket(nowhere);
      idle.push(connection);
      response.emit('close');
      resolve(response.statusCode);
    });
    generations.serve(message, response);
  });
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** Additional headers, as a flat list. */
  readonly headers?: readonly string[];
}

/** One of the two gateways that are compared. */
interface Lane {
  readonly gateway: RunningGateway;
  readonly asked: Asked;
  /** Number of requests handled. */
  requests: number;
}

interface Pipe {
  readonly backend: readonly Backend[];
}

interface Backend {
  readonly extra_config?: { readonly workflow?: Pipe; readonly 'ai/router'?: { readonly targets: readonly Pipe[] } };
}

/** Replaces a backend with a constant response; in a workflow or a router, its own backends are replaced. */
function answered(backend: Backend, answer: object): Backend {
  const { extra_config: extra = {} } = backend;
  return { ...backend, extra_config: { ...extra, ...replacedIn(extra, answer) } };
}

function replacedIn({ workflow, 'ai/router': router }: NonNullable<Backend['extra_config']>, answer: object): object {
  const inside = (pipe: Pipe): Pipe => ({ ...pipe, backend: pipe.backend.map((backend) => answered(backend, answer)) });
  if (workflow) return { workflow: inside(workflow) };
  return router ? { 'ai/router': { ...router, targets: router.targets.map(inside) } } : { [constant.name]: answer };
}

async function open(scenario: Scenario, components: Attached): Promise<Lane> {
  const { backend, ...endpoint } = endpointOf(scenario, components) as { backend: Backend[] };
  const port = await freePort();
  const answer = scenario.answers === undefined ? {} : { body: JSON.stringify(scenario.answers) };
  const config = configWith(
    [{ ...endpoint, backend: backend.map((one) => answered(one, answer)) }, ...(components.endpoints ?? [])],
    'http://x',
    port,
    false,
    components.service,
  );
  const source = { ...config, ...(components.modules && { plugin: { folder: components.modules, pattern: '.js' } }) };
  const started = startGateway(withPlugins(catalogue, [constant]), source as Configuration, { sinks: silentSinks });
  const asked = components.request ?? { method: 'GET', path: scenario.path };
  return { gateway: (await started) as RunningGateway, asked, requests: 0 };
}

/** @returns microseconds per request, including the garbage collector's threads. CPU time of a single thread has a resolution of only 4 ms. */
async function turn(
  lane: Lane,
  { path, together = 1 }: Scenario,
  headers: readonly (readonly string[])[],
  count: number,
): Promise<number> {
  const start = process.cpuUsage();
  const next = (): Promise<number> => ask(lane.gateway, lane.asked, headers[lane.requests++ % headers.length]!);
  for (let left = count; left > 0; left -= together) {
    const asked = together === 1 ? [await next()] : await Promise.all(Array.from({ length: together }, next));
    for (const status of asked) if (status !== 200) throw new Error(`${path}: status ${status}`);
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

interface Cost {
  readonly base: Quartiles;
  readonly more: Quartiles;
}

async function measure(scenario: Scenario, pairs: number, requests: number): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const attached = scenario.attach!(folder);
  const headers = (attached.headers ?? [{}]).map((set) => ['Host', 'localhost', ...Object.entries(set).flat()]);
  const lanes: Lane[] = [];
  try {
    for (const components of [scenario.without ?? {}, attached]) lanes.push(await open(scenario, components));
    const [without, within] = lanes as [Lane, Lane];
    const measured: { without: number; within: number }[] = [];
    for (let pair = -WARM_UP_PAIRS; pair < pairs; pair += 1) {
      const micros = new Map<Lane, number>();
      for (const lane of pair % 2 === 0 ? lanes : lanes.toReversed()) {
        micros.set(lane, await turn(lane, scenario, headers, requests));
      }
      if (pair < 0) continue;
      measured.push({ without: micros.get(without)!, within: micros.get(within)! });
    }
    const ordered = measured.toSorted((a, b) => a.without + a.within - b.without - b.within);
    const calm = ordered.slice(0, Math.ceil(ordered.length * CALM_SHARE));
    return {
      base: quartiles(calm.map((pair) => pair.without)),
      more: quartiles(calm.map((pair) => pair.within - pair.without)),
    };
  } finally {
    for (const { gateway } of lanes) await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Minimum of several measurements, in microseconds. */
function verification(): number {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signature = sign('sha256', body, privateKey);
  const times = Array.from({ length: 200 }, () => {
    const start = performance.now();
    verify('sha256', body, publicKey, signature);
    return (performance.now() - start) * 1000;
  });
  return spread(times).min;
}

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: componentScenarios.map(({ name }) => name).join() },
    pairs: { type: 'string', default: '200' },
    requests: { type: 'string', default: '1000' },
  },
});
const pairs = positive('pairs', values.pairs, true);
const requests = positive('requests', values.requests, true);
const chosen = values.scenario.split(',').map((name) => pick('scenario', name, componentScenarios));
const figure = ({ lower, median, upper }: Quartiles) =>
  `${median.toFixed(2)} (${lower.toFixed(2)} to ${upper.toFixed(2)})`;

console.log(`Node ${process.version}; an ES256 signature is verified in ${verification().toFixed(0)} µs`);
const rows: string[][] = [];
for (const scenario of chosen) {
  const { base, more } = await measure(scenario, pairs, requests);
  rows.push([scenario.name, figure(base), figure(more)]);
}
console.log(table([['component', 'base µs', 'more µs'], ...rows]));
// Exits, because resources opened for the components would keep this process alive.
process.exit();
