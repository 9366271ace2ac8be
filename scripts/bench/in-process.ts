import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { parseArgs } from 'node:util';
import { atBackend, type Configuration, definePlugin, HeaderBag, Reply } from '#contract';
import { silentSinks } from '../../kernel/contract/internal.ts';
import { type RunningGateway, startGateway } from '../../kernel/gateway/start-gateway.ts';
import { withPlugins } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';
import { freePort } from '../free-port.ts';
import { componentScenarios } from './components.ts';
import { pick, positive } from './options.ts';
import { small } from './payloads.ts';
import { type Attached, configWith, endpointOf, type Scenario } from './scenario.ts';
import { type Spread, spread } from './spread.ts';
import { table } from './table.ts';

/**
 * What a component costs a request, in microseconds of the processor: two gateways in this process, without and with it,
 * answer requests without sockets, from a backend that is a constant. They take turns of a few hundred requests, so that
 * the machine, the compiler and the collector treat both alike, and what sockets cost, and how that varies, is in neither.
 * What a component saves of a backend's call is not seen here: `npm run bench -- --only http-cache`.
 *
 *   node scripts/bench/in-process.ts [--only cors,cel] [--rounds 9] [--requests 10000]
 *
 * A round is the mean of its turns; the table has the median, the least and the greatest round. The first line is for
 * comparing machines: what one verification of an ES256 signature takes there.
 */
const TURN = 250;
const WARM_UP_ROUNDS = 2;

const body = Buffer.from(JSON.stringify(small));
const head = ['Content-Type', 'application/json', 'Content-Length', String(body.length), 'ETag', '"fixed"'];
const constant = definePlugin({
  name: 'backend/constant',
  contract: 1,
  description: 'Answers at once, always the same.',
  places: [
    atBackend({ type: 'object' }, () => ({
      protocol: { hostless: true, call: () => Reply.raw(200, new HeaderBag([...head]), body) },
    })),
  ],
});

/** A connection to nobody: what is written to it is gone. */
class Nowhere extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}

const nowhere = new Nowhere() as unknown as Socket;
const version = { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 };

/** Has a request answered as the server does once its head is read. */
function ask({ generations }: RunningGateway, url: string, rawHeaders: readonly string[]): Promise<number> {
  const message = new IncomingMessage(nowhere);
  Object.assign(message, { complete: true, method: 'GET', url, rawHeaders, ...version });
  message.push(null);
  const response = new ServerResponse(message);
  response.assignSocket(nowhere);
  return new Promise((resolve) => {
    response.once('finish', () => {
      response.detachSocket(nowhere);
      response.emit('close');
      resolve(response.statusCode);
    });
    generations.serve(message, response);
  });
}

/** One of the two gateways, and what it took in this round. */
interface Lane {
  readonly gateway: RunningGateway;
  requests: number;
  micros: number;
}

async function open(scenario: Scenario, components: Attached): Promise<Lane> {
  const { backend, ...endpoint } = endpointOf(scenario, components) as { backend: { extra_config?: object }[] };
  const answered = backend.map((one) => ({ ...one, extra_config: { ...one.extra_config, [constant.name]: {} } }));
  const port = await freePort();
  const config = configWith([{ ...endpoint, backend: answered }], 'http://x', port, false, components.service);
  const source = { ...config, ...(components.modules && { plugin: { folder: components.modules, pattern: '.js' } }) };
  const started = startGateway(withPlugins(catalogue, [constant]), source as Configuration, { sinks: silentSinks });
  return { gateway: (await started) as RunningGateway, requests: 0, micros: 0 };
}

async function turn(lane: Lane, path: string, headers: readonly (readonly string[])[]): Promise<void> {
  const start = process.threadCpuUsage();
  for (let count = 0; count < TURN; count += 1) {
    const status = await ask(lane.gateway, path, headers[lane.requests % headers.length]!);
    lane.requests += 1;
    if (status !== 200) throw new Error(`${path}: status ${status}`);
  }
  const { user, system } = process.threadCpuUsage(start);
  lane.micros += user + system;
}

async function measure(scenario: Scenario, rounds: number, turns: number): Promise<{ base: Spread; more: Spread }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const attached = scenario.attach!(folder);
  const headers = (attached.headers ?? [{}]).map((set) => ['Host', 'localhost', ...Object.entries(set).flat()]);
  const lanes: Lane[] = [];
  try {
    for (const components of [{}, attached]) lanes.push(await open(scenario, components));
    const figures: number[][] = [];
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      for (const lane of lanes) lane.micros = 0;
      for (let at = 0; at < turns; at += 1) {
        for (const lane of at % 2 === 0 ? lanes : lanes.toReversed()) await turn(lane, scenario.path, headers);
      }
      if (round >= 0) figures.push(lanes.map(({ micros }) => micros / (turns * TURN)));
    }
    const base = spread(figures.map(([without]) => without!));
    return { base, more: spread(figures.map(([without, within]) => within! - without!)) };
  } finally {
    for (const { gateway } of lanes) await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The least of several, in microseconds. */
function verification(): number {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  const signature = sign('sha256', body, { ...key, key: privateKey });
  const times = Array.from({ length: 200 }, () => {
    const start = performance.now();
    verify('sha256', body, key, signature);
    return (performance.now() - start) * 1000;
  });
  return spread(times).min;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: componentScenarios.map(({ name }) => name).join() },
    rounds: { type: 'string', default: '9' },
    requests: { type: 'string', default: '10000' },
  },
});
const rounds = positive('rounds', values.rounds, true);
const turns = Math.ceil(positive('requests', values.requests, true) / TURN);
const chosen = values.only.split(',').map((name) => pick('only', name, componentScenarios));
const figure = ({ median, min, max }: Spread) => `${median.toFixed(2)} (${min.toFixed(2)} to ${max.toFixed(2)})`;

console.log(`Node ${process.version}; an ES256 signature is verified in ${verification().toFixed(0)} µs`);
const rows: string[][] = [];
for (const scenario of chosen) {
  const { base, more } = await measure(scenario, rounds, turns);
  rows.push([scenario.name, figure(base), figure(more)]);
}
console.log(table([['component', 'base µs', 'more µs'], ...rows]));
