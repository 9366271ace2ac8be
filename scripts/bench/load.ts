import { readFileSync } from 'node:fs';
import { createHistogram } from 'node:perf_hooks';
import { Pool } from 'undici';
import { bodyOf } from './payloads.ts';

/**
 * Load generator for machines without wrk, as a separate process: sends as many requests as the connections carry, one
 * at a time on each, or at a fixed rate. For each message, a `LoadOrder`, it sends a `LoadReport` to its parent.
 */
export interface LoadOrder {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second, regardless of response times. Default: one after another on each connection. */
  readonly rate?: number | undefined;
  /** File with a list of header sets to send in turn. Default: none. */
  readonly headersFile?: string | undefined;
  /** Paths to request in turn, in place of the path of `url`. */
  readonly paths?: readonly string[] | undefined;
  /** Expected status code. Default: any 2xx. */
  readonly status?: number | undefined;
  /** Length of the posted body. Default: no body; requests are GET. */
  readonly bodyLength?: number | undefined;
}

/** Results of the generator. `wrong` counts failed requests and responses with an unexpected status; the first one is described. */
export interface LoadReport {
  readonly requests: number;
  readonly bodyBytes: number;
  readonly wrong: number;
  readonly firstWrong: string;
  readonly seconds: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
}

/** Maximum time to wait for one response, in milliseconds. */
const PATIENCE_MS = 5000;

const pools = new Map<string, Pool>();
const headerSets = new Map<string | undefined, { readonly sets: readonly Headers[]; turn: number }>();

type Headers = Readonly<Record<string, string>>;

/** Sends requests until the time is over; the connections are kept for the next order. */
async function load(order: LoadOrder): Promise<LoadReport> {
  const { connections, seconds, rate, bodyLength } = order;
  const headers = headersOf(order.headersFile);
  const { origin, pathname, search } = new URL(order.url);
  const paths = order.paths ?? [pathname + search];
  const isRight = order.status === undefined ? isGood : (status: number) => status === order.status;
  const method = bodyLength === undefined ? 'GET' : 'POST';
  const body = bodyLength === undefined ? null : bodyOf(bodyLength);
  const pool = poolOf(origin, connections);
  const latencies = createHistogram();
  let requests = 0;
  let bodyBytes = 0;
  let wrong = 0;
  let firstWrong = '';
  let turn = 0;

  function noteWrong(what: string): void {
    wrong += 1;
    firstWrong ||= what;
  }

  function ask(started: number, done: () => void): void {
    pool.dispatch(
      {
        path: paths[turn++ % paths.length]!,
        method,
        body,
        headers: headers.sets[headers.turn++ % headers.sets.length]!,
      },
      {
        onRequestStart() {},
        onResponseStart(_controller, status) {
          if (!isRight(status)) noteWrong(`status ${status}`);
        },
        onResponseData(_controller, chunk) {
          bodyBytes += chunk.length;
        },
        onResponseEnd() {
          requests += 1;
          latencies.record(Math.max(1, Math.round((performance.now() - started) * 1e6)));
          queueMicrotask(done);
        },
        onResponseError(_controller, error) {
          noteWrong(error.message);
          setTimeout(done, 10);
        },
      },
    );
  }

  /** Sends one request after another. */
  function keepAsking(until: number, done: () => void): void {
    const started = performance.now();
    if (started >= until) done();
    else ask(started, () => keepAsking(until, done));
  }

  /** Sends the requests due in each millisecond; a request that finds all connections busy waits, and its wait is included in the latency. */
  async function askSteadily(perSecond: number, from: number, until: number): Promise<void> {
    const open = new Set<Promise<void>>();
    let sent = 0;
    for (let now = from; now < until; now = performance.now()) {
      for (const due = ((now - from) / 1000) * perSecond; sent < due; sent += 1) {
        const { promise, resolve } = Promise.withResolvers<void>();
        open.add(promise);
        ask(now, () => {
          open.delete(promise);
          resolve();
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(open);
  }

  const started = performance.now();
  const until = started + seconds * 1000;
  if (rate !== undefined) await askSteadily(rate, started, until);
  else
    await Promise.all(Array.from({ length: connections }, () => new Promise<void>((done) => keepAsking(until, done))));
  return {
    requests,
    bodyBytes,
    wrong,
    firstWrong,
    seconds: (performance.now() - started) / 1000,
    p50Millis: latencies.percentile(50) / 1e6,
    p99Millis: latencies.percentile(99) / 1e6,
  };
}

function isGood(status: number): boolean {
  return status >= 200 && status <= 299;
}

function poolOf(origin: string, connections: number): Pool {
  let pool = pools.get(origin);
  if (!pool) {
    pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
    pools.set(origin, pool);
  }
  return pool;
}

/** Header sets to send in turn. A later load continues where the previous one ended. */
function headersOf(file: string | undefined) {
  let headers = headerSets.get(file);
  if (!headers) {
    headers = { sets: file === undefined ? [{}] : JSON.parse(readFileSync(file, 'utf8')), turn: 0 };
    headerSets.set(file, headers);
  }
  return headers;
}

process.once('disconnect', () => process.exit());
process.on('message', (order: LoadOrder) => void load(order).then((report) => process.send?.(report)));
