import type { AccessRecord, EndpointConfig, PipeRequest, Reply, Wrap } from '#contract';
import { outcomeOf } from '../lib/metrics/pipe-outcome.ts';
import { routeName } from '../opentelemetry/patterns.ts';
import type { Sample } from './sample.ts';
import type { Counter, Stats } from './stats.ts';

/** Number of statuses per endpoint whose counters are cached. */
const MAX_KNOWN = 64;

/** Counts the responses of one endpoint. */
export class EndpointStats {
  readonly #stats: Stats;
  readonly #name: string;
  readonly #statuses = new Map<number, Counter>();
  readonly #size: Sample;
  readonly #time: Sample;

  constructor(stats: Stats, { endpoint }: EndpointConfig) {
    this.#stats = stats;
    this.#name = `router.response.${routeName(endpoint)}`;
    stats.counter(`${this.#name}.status`);
    this.#size = stats.sample(`${this.#name}.size`);
    this.#time = stats.sample(`${this.#name}.time`);
  }

  finished({ status, latencyMs, bytesOut }: AccessRecord): void {
    let counter = this.#statuses.get(status);
    if (!counter) {
      counter = this.#stats.counter(`${this.#name}.status.${status}.count`);
      if (this.#statuses.size < MAX_KNOWN) this.#statuses.set(status, counter);
    }
    counter.value += 1;
    this.#time.add(latencyMs * 1e6);
    if (bytesOut !== undefined) this.#size.add(bytesOut);
  }
}

/** Counts the outcomes of a pipe and measures its duration. @param layer `pipe` or `backend`. */
export function countLayer(stats: Stats, layer: 'pipe' | 'backend', name: string): Wrap<PipeRequest> {
  const ends = [0, 1, 2, 3].map((at) => {
    const end = `layer.${layer}.name.${name}.complete.${at >= 2}.error.${at % 2 === 1}`;
    return { requests: stats.counter(`proxy.requests.${end}`), latency: stats.sample(`proxy.latency.${end}`) };
  });
  return (next) => (request, call) => {
    const startedAt = performance.now();
    const finish = (reply: Reply): Reply => {
      const { error, canceled, complete } = outcomeOf(reply);
      const end = ends[(complete ? 2 : 0) + (error || canceled ? 1 : 0)]!;
      end.requests.value += 1;
      end.latency.add((performance.now() - startedAt) * 1e6);
      return reply;
    };
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then(finish) : finish(reply);
  };
}

/** Counts client connections by TLS version: `TLSv1.3` is `VersionTLS13`. */
export function countTls(stats: Stats, { tls }: AccessRecord): void {
  if (!tls) return;
  const version = tls.protocol.replace(/^TLSv1$/, 'TLSv1.0').replace(/v(\d)\.(\d)/, '$1$2');
  stats.counter(`router.tls_version.Version${version}.count`).value += 1;
  stats.counter(`router.tls_cipher.${tls.cipher}.count`).value += 1;
}
