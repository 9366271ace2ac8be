import { readFileSync } from 'node:fs';
import { createHistogram } from 'node:perf_hooks';
import { Pool } from 'undici';

/**
 * The load generator for machines without wrk, a process of its own: as many requests as the connections carry, one at a
 * time on each. Argument: a `LoadOrder` as JSON. Sends its parent one `LoadReport` and ends.
 */
export interface LoadOrder {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** File with a list of headers to send, one set after another. Default: none are sent. */
  readonly headersFile?: string | undefined;
}

/** What the generator saw. `wrong` counts answers other than 2xx and requests that failed; the first is described. */
export interface LoadReport {
  readonly requests: number;
  readonly bodyBytes: number;
  readonly wrong: number;
  readonly firstWrong: string;
  readonly seconds: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
}

/** Longest wait for one answer, in milliseconds. */
const PATIENCE_MS = 5000;

const { url, connections, seconds, headersFile } = JSON.parse(process.argv[2] ?? '{}') as LoadOrder;
const headers: Record<string, string>[] =
  headersFile === undefined ? [{}] : JSON.parse(readFileSync(headersFile, 'utf8'));
let turn = 0;
const { origin, pathname, search } = new URL(url);
const path = pathname + search;
const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
const latencies = createHistogram();
let requests = 0;
let bodyBytes = 0;
let wrong = 0;
let firstWrong = '';

function noteWrong(what: string): void {
  wrong += 1;
  firstWrong ||= what;
}

/** One request after another until the time is over. */
function keepAsking(until: number, done: () => void): void {
  const started = performance.now();
  if (started >= until) {
    done();
    return;
  }
  const next = () => keepAsking(until, done);
  pool.dispatch(
    { path, method: 'GET', headers: headers[turn++ % headers.length]! },
    {
      onRequestStart() {},
      onResponseStart(_controller, status) {
        if (status < 200 || status > 299) noteWrong(`status ${status}`);
      },
      onResponseData(_controller, chunk) {
        bodyBytes += chunk.length;
      },
      onResponseEnd() {
        requests += 1;
        latencies.record(Math.max(1, Math.round((performance.now() - started) * 1e6)));
        queueMicrotask(next);
      },
      onResponseError(_controller, error) {
        noteWrong(error.message);
        setTimeout(next, 10);
      },
    },
  );
}

process.once('disconnect', () => process.exit());
const started = performance.now();
const until = started + seconds * 1000;
await Promise.all(Array.from({ length: connections }, () => new Promise<void>((done) => keepAsking(until, done))));
const report: LoadReport = {
  requests,
  bodyBytes,
  wrong,
  firstWrong,
  seconds: (performance.now() - started) / 1000,
  p50Millis: latencies.percentile(50) / 1e6,
  p99Millis: latencies.percentile(99) / 1e6,
};
process.send?.(report, () => process.exit());
