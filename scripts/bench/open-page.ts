/**
 * CPU time that an open dashboard adds to each request, at a fixed rate of requests.
 *
 *   node scripts/bench/open-page.ts [--pairs 10] [--seconds 4] [--rate 2000] [--endpoints 100]
 *
 * The gateway with its admin port runs in this process; the load, its backend, and the page run in processes of their own.
 * The page follows the events and reads the status, the workers and the traffic by the second, as the live overview does.
 * Turns with and without the page alternate. Prints the medians of their cost and ratio.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Configuration } from '#contract';
import { startAdmin } from '../../admin/index.ts';
import { silentSinks } from '../../kernel/contract/internal.ts';
import { startGateway } from '../../kernel/gateway/start-gateway.ts';
import { catalogue } from '../../plugins/index.ts';
import { exitOnSignals } from './children.ts';
import { manyEndpoints } from './many-endpoints.ts';
import { positive } from './options.ts';
import { quartiles } from './spread.ts';
import { table } from './table.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    pairs: { ...text, default: '10' },
    seconds: { ...text, default: '4' },
    rate: { ...text, default: '2000' },
    endpoints: { ...text, default: '100' },
    role: { ...text, default: 'gateway' },
  },
});
const pairs = positive('pairs', values.pairs, true);
const seconds = positive('seconds', values.seconds, false);
const rate = positive('rate', values.rate, true);
const endpointCount = positive('endpoints', values.endpoints, true);

const TOKEN = 'the-token-of-the-benchmark';
const CONNECTIONS = 32;
const TICK_MS = 10;
const roles: Readonly<Record<string, () => Promise<void>>> = { gateway: measure, load, page };
await roles[values.role]!();

async function measure(): Promise<void> {
  exitOnSignals();
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const loading = fork(import.meta.filename, ['--role', 'load', '--rate', `${rate}`]);
  const reading = fork(import.meta.filename, ['--role', 'page']);
  const [backendPort] = (await once(loading, 'message')) as [number];
  const { endpoints, path } = manyEndpoints(endpointCount);
  const config = {
    version: 3,
    host: [`http://127.0.0.1:${backendPort}`],
    extra_config: { router: { disable_access_log: true } },
    endpoints,
  };
  const gateway = await startGateway(catalogue, config as unknown as Configuration, { port: 0, sinks: silentSinks });
  const { port } = await gateway.listen();
  const admin = await startAdmin(gateway, {
    listen: '127.0.0.1:0',
    token: TOKEN,
    stateDirectory: folder,
    stop() {},
  });
  loading.send({ url: `http://127.0.0.1:${port}${path}` });
  const turn = async (): Promise<number> => {
    const before = { cpu: process.cpuUsage(), requests: gateway.processes.workers[0]!.requests };
    await delay(seconds * 1000);
    const { user, system } = process.cpuUsage(before.cpu);
    return (user + system) / (gateway.processes.workers[0]!.requests - before.requests);
  };
  await delay(5000);
  const without: number[] = [];
  const ratios: number[] = [];
  const more: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const micros = { without: 0, open: 0 };
    for (const side of pair % 2 === 0 ? (['without', 'open'] as const) : (['open', 'without'] as const)) {
      await send(reading, side === 'open' ? { url: `http://${admin.address}` } : {});
      micros[side] = await turn();
    }
    without.push(micros.without);
    ratios.push(micros.open / micros.without);
    more.push(((micros.open - micros.without) * rate) / 1000);
  }
  const shown = ({ lower, median, upper }: ReturnType<typeof quartiles>, digits: number) =>
    `${median.toFixed(digits)} (${lower.toFixed(digits)} to ${upper.toFixed(digits)})`;
  const row = [
    `${rate}`,
    ...[without, more].map((figures) => shown(quartiles(figures), 1)),
    shown(quartiles(ratios), 3),
  ];
  console.log(table([['requests per second', 'µs per request', 'ms per second of the page', 'ratio'], row]));
  rmSync(folder, { recursive: true, force: true });
  loading.kill();
  reading.kill();
  process.exit();
}

/** Sends an order and waits until the process follows it. */
async function send(child: ChildProcess, order: object): Promise<void> {
  child.send(order);
  await once(child, 'message');
}

/** Process that sends requests at a fixed rate, and is the backend. */
async function load(): Promise<void> {
  process.once('disconnect', () => process.exit());
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":1,"name":"Ada"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send!((server.address() as AddressInfo).port);
  const [{ url }] = (await once(process, 'message')) as [{ url: string }];
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const began = performance.now();
  let sent = 0;
  let waiting = 0;
  setInterval(() => {
    const due = ((performance.now() - began) * rate) / 1000;
    for (; sent < due; sent++) {
      // A gateway that is behind gets no more requests than it can answer.
      if (waiting > CONNECTIONS * 4) continue;
      waiting++;
      const done = () => waiting--;
      get(url, { agent }, (response) => response.resume().once('close', done)).once('error', done);
    }
  }, TICK_MS);
}

/** Process that reads the admin API as an open page does, from an order with an address to one without. */
async function page(): Promise<void> {
  process.once('disconnect', () => process.exit());
  let ending = new AbortController();
  process.on('message', ({ url }: { url?: string }) => {
    ending.abort();
    ending = new AbortController();
    if (url !== undefined) readAsPage(url, ending.signal);
    process.send!('done');
  });
}

function readAsPage(url: string, signal: AbortSignal): void {
  const read = (path: string) => fetch(url + path, { headers: { authorization: `Bearer ${TOKEN}` }, signal });
  const repeat = async (everyMs: number, path: () => string, use: (body: unknown) => void = () => {}) => {
    while (!signal.aborted) {
      use(await (await read(path())).json());
      await delay(everyMs, undefined, { signal });
    }
  };
  let last = 0;
  const readings = [
    read('/v1/events').then((response) => response.text()),
    repeat(5000, () => '/v1/status'),
    repeat(5000, () => '/v1/workers'),
    repeat(
      1000,
      () => `/v1/traffic?interval=1s&after=${last}`,
      (body) => {
        const { samples } = body as { readonly samples: readonly { readonly id: number }[] };
        last = samples.at(-1)?.id ?? last;
      },
    ),
  ];
  // The readings end with an error when the signal aborts.
  for (const reading of readings) reading.catch(() => {});
}
