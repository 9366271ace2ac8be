import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { replaceFile } from '../../config/index.ts';
import { silentSinks } from '../../contract/internal.ts';
import type { CommandContext } from '../command.ts';
import { run } from '../commands/run.ts';

/** Time between two changes of the configuration, in milliseconds. */
const RELOAD_MS = 30_000;

/** Time between two requests, in milliseconds. */
const REQUEST_MS = 50;

/** Time between two events of a stream, in milliseconds. */
const EVENT_MS = 1000;

/** Share of the requests to `/orders` that fail. */
const FAILURES = 0.1;

/** Opens the dashboard of a gateway. @param admin address of its admin port. @returns 0 if it was opened. */
type OpenDashboard = (admin: string, stateDirectory: string) => Promise<number>;

/**
 * Runs a gateway with sample endpoints until it is stopped: sends it traffic, changes its configuration now and then, and
 * opens its dashboard.
 * @returns the exit code of the gateway.
 */
export async function runDemo(context: CommandContext, open: OpenDashboard): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'));
  const upstream = await startUpstream();
  const file = join(folder, 'gateway.json');
  const state = join(folder, 'state');
  const ending = new AbortController();
  try {
    const [port, adminPort] = [await freePort(), await freePort()];
    const admin = `127.0.0.1:${adminPort}`;
    const write = (revision: number) => replaceFile(file, configuration(portOf(upstream), port, revision));
    await write(1);
    const args = ['-c', file, '--admin', admin, '--state-dir', state];
    const ended = run.run(args, { ...context, sinks: silentSinks });
    const shown = openWhenReady(() => open(admin, state), ending.signal);
    const background = [
      shown,
      sendTraffic(port, ending.signal),
      followStream(port, ending.signal),
      changeNowAndThen(write, ending.signal),
    ];
    const code = await ended;
    ending.abort();
    await Promise.all(background);
    return code;
  } finally {
    ending.abort();
    upstream.closeAllConnections();
    upstream.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Returns a port that is free at the moment, because other gateways may use the default ports. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** A server with a fast, a slow and an unreliable path, and an event stream. */
async function startUpstream(): Promise<Server> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/prices') return sendEvents(response);
    const isSlow = path.startsWith('/reports');
    const fails = path.startsWith('/orders') && Math.random() < FAILURES;
    const body = JSON.stringify({ path, at: new Date().toISOString() });
    const timer = setTimeout(
      () => response.writeHead(fails ? 503 : 200, { 'content-type': 'application/json' }).end(body),
      isSlow ? 200 + Math.random() * 300 : Math.random() * 10,
    );
    response.once('close', () => clearTimeout(timer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Sends events until the client disconnects. */
function sendEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => {
    response.write(`data: ${JSON.stringify({ price: Math.round(Math.random() * 1000), at: new Date() })}\n\n`);
  }, EVENT_MS);
  response.once('close', () => clearInterval(timer));
}

function configuration(upstreamPort: number, port: number, revision: number): string {
  const host = [`http://127.0.0.1:${upstreamPort}`];
  const endpoint = (path: string, extra: object = {}) => {
    return { endpoint: path, backend: [{ host, url_pattern: path }], ...extra };
  };
  const config = {
    version: 4,
    name: 'Demonstration',
    port,
    // Without a limit, the gateway would wait for the stream when it is stopped.
    max_shutdown_wait_time: '1s',
    extra_config: { router: { disable_access_log: true } },
    endpoints: [
      endpoint('/users/{id}', { timeout: `${2 + (revision % 2)}s` }),
      endpoint('/orders/{id}'),
      endpoint('/reports/{id}'),
      {
        endpoint: '/home/{id}',
        backend: [
          { host, url_pattern: '/users/{id}', group: 'user' },
          { host, url_pattern: '/orders/{id}', group: 'order' },
        ],
      },
      {
        endpoint: '/prices',
        timeout: '1h',
        output_encoding: 'streaming',
        backend: [{ host, url_pattern: '/prices' }],
      },
    ],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Opens the dashboard as soon as the admin port responds. */
async function openWhenReady(open: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(500, signal);
    if (!signal.aborted && (await open()) === 0) return;
  }
}

const paths = ['/users/1', '/users/2', '/orders/1', '/orders/2', '/reports/1', '/home/1', '/missing'];

async function sendTraffic(port: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const path = paths[Math.floor(Math.random() * paths.length)]!;
    // Requests are sent without waiting for the previous response, so that slow responses do not delay the others.
    void fetch(`http://127.0.0.1:${port}${path}`, { signal })
      .then((response) => response.arrayBuffer())
      .catch(() => {});
    await pause(REQUEST_MS, signal);
  }
}

/** Keeps an event stream open. */
async function followStream(port: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await fetch(`http://127.0.0.1:${port}/prices`, { signal })
      .then((response) => response.body?.pipeTo(new WritableStream(), { signal }))
      .catch(() => {});
    await pause(EVENT_MS, signal);
  }
}

async function changeNowAndThen(write: (revision: number) => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (let revision = 2; ; revision++) {
    await pause(RELOAD_MS, signal);
    if (signal.aborted) return;
    await write(revision);
  }
}

/** Waits; ends early, without an error, when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => {});
}
