import { setTimeout as delay } from 'node:timers/promises';
import type { Catalogue, SandboxRequest } from '#contract';
import type { Source } from '../../control/snapshot.ts';
import type { OpenSandbox, SandboxOptions } from '../../sandbox/open-sandbox.ts';
import type { Mock } from '../mock.ts';
import { type Cause, type Change, changesOf, type Observed } from '../replay/compare.ts';
import { injectTest } from '../run-tests.ts';
import { noResponse, type TestRequest, type TestResponse } from '../test.ts';
import { intendedOf, type Reason, withOwnNames } from './by-design.ts';
import { CanonicalSession } from './canonical-session.ts';
import type { CompatCase } from './case.ts';
import { callChanges, countsOf, originOf } from './compare-calls.ts';
import type { Origins } from './origins.ts';
import type { OtherGateway } from './other-gateway.ts';
import type { ServedMocks } from './served-mocks.ts';

/** Time to wait for further requests to backends if one gateway sent fewer than the other, in milliseconds. */
const SETTLE_MS = 250;

/** Interval at which the received requests are counted while waiting, in milliseconds. */
const LOOK_MS = 5;

/** Number of times that a request with differences is repeated. */
const REPEATS = 3;

/** Maximum number of differences that are remembered as confirmed. */
const MAX_CONFIRMED = 10_000;

/** Maximum number of endpoints and servers that are named. */
const MAX_UNMOCKED = 100;

/** Response headers that contain the name of the product. They are not compared. */
const ofProduct: readonly string[] = ['server', 'via'];

export interface CompatOptions extends SandboxOptions {
  readonly catalogue: Catalogue;
  /** The configuration as it runs in the sandbox. */
  readonly source: Source;
  readonly cases: readonly CompatCase[];
  /** Mocks that answer in every case: documents that components fetch, named by their URLs. */
  readonly documents: readonly Mock[];
  readonly origins: Origins;
  readonly mocks: ServedMocks;
  readonly other: OtherGateway;
  /** Value of `Host` in all requests without one. */
  readonly host: string;
  /** Headers in lowercase that are not compared, in responses and in requests to backends. */
  readonly ignored: readonly string[];
  /** Time limit of a request to this gateway, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Responses of both gateways to one request. */
interface Pair {
  readonly before: Observed;
  readonly after: Observed;
  readonly sent: readonly [before: readonly SandboxRequest[], after: readonly SandboxRequest[]];
  /** Whether the sandbox called only backends that are also mocked for the other gateway. */
  readonly isMocked: boolean;
}

/** Comparison of one request. */
export interface ComparedCase {
  readonly pair: Pair;
  readonly changes: readonly Change[];
  readonly reasons: readonly Reason[];
  readonly isUnstable: boolean;
}

/** Compares the responses of another gateway and of a sandbox to requests, and the requests that backends receive. */
export class CaseComparison {
  /** Servers outside of the configuration that the sandbox has called, with the endpoint. */
  readonly unmocked = new Set<string>();
  /**
   * Differences that occurred again when their request was repeated; further requests with the same difference are not
   * repeated.
   */
  readonly #confirmed = new Set<string>();
  readonly #sandbox: OpenSandbox;
  readonly #options: CompatOptions;
  readonly #ignored: ReadonlySet<string>;
  readonly #documents: ReadonlySet<string>;

  constructor(sandbox: OpenSandbox, options: CompatOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
    this.#ignored = new Set([...ofProduct, ...options.ignored]);
    this.#documents = new Set(options.documents.map(({ name }) => name));
  }

  async compare(each: CompatCase): Promise<ComparedCase> {
    const first = await this.#once(each);
    const nameOf = (change: Change) => `${each.endpoint} ${keyOf(change)}`;
    if (first.changes.every((change) => this.#confirmed.has(nameOf(change)))) return { ...first, isUnstable: false };
    const random = new Set<string>();
    let last = first;
    let { changes } = first;
    for (let repeat = 0; repeat < REPEATS && changes.length > 0; repeat++) {
      const next = await this.#once(each);
      const repeated = new Set(next.changes.map(keyOf));
      for (const key of this.#randomOf(last.pair, next.pair)) random.add(key);
      changes = changes.filter((change) => repeated.has(keyOf(change)));
      last = next;
    }
    const isUnstable = changes.length === 0;
    changes = changes.filter((change) => !isRandom(change, random));
    for (const change of changes) if (this.#confirmed.size < MAX_CONFIRMED) this.#confirmed.add(nameOf(change));
    return { ...first, changes, isUnstable };
  }

  /** Finds values that differ between two equal requests to the same gateway, such as generated IDs and signatures. */
  #randomOf(first: Pair, second: Pair): string[] {
    const sides = [
      this.#changesOf(first.before, second.before, [first.sent[0], second.sent[0]]),
      this.#changesOf(first.after, second.after, [first.sent[1], second.sent[1]]),
    ];
    return sides.flat().map(keyOf);
  }

  async #once(each: CompatCase): Promise<Omit<ComparedCase, 'isUnstable'>> {
    const pair = await this.#exchange(each);
    const { before, after, sent, isMocked } = pair;
    if (!isMocked) return { pair, changes: [], reasons: [] };
    return { pair, ...intendedOf(each.request, before, after, this.#changesOf(before, after, sent)) };
  }

  #changesOf(before: Observed, after: Observed, sent: Pair['sent']): Change[] {
    const responses = changesOf(withOwnNames(before), withOwnNames(after));
    const compared = responses.filter(({ cause, at }) => cause !== 'header' || !this.#ignored.has(at));
    return [...compared, ...callChanges(...sent, this.#ignored)];
  }

  /** Whether all servers that the gateway in the sandbox called are also mocked for the other gateway. */
  #isMocked(each: CompatCase, requests: readonly SandboxRequest[]): boolean {
    const others = requests.map(originOf).filter((origin) => !this.#options.mocks.addresses.has(origin));
    for (const origin of others) {
      if (this.unmocked.size < MAX_UNMOCKED) this.unmocked.add(`${each.endpoint} calls ${origin}`);
    }
    return others.length === 0;
  }

  /** Sends a request to both gateways at once. */
  async #exchange(each: CompatCase): Promise<Pair> {
    const { request, mocks } = each;
    const { documents, origins, mocks: served, other, host, signal, timeoutMs } = this.#options;
    const [theirs, ours] = [0, 1].map(() => new CanonicalSession([...documents, ...mocks], origins)) as [
      CanonicalSession,
      CanonicalSession,
    ];
    served.session = theirs;
    const sent = withHost(request, host);
    const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const injected = inject(this.#sandbox, ours, sent, ending);
    const [old, next] = await Promise.all([other.send(sent), injected]);
    const requests = () => [theirs.requests(this.#documents), ours.requests(this.#documents)] as const;
    const endsAt = performance.now() + SETTLE_MS;
    while (performance.now() < endsAt) {
      const [one, two] = requests();
      if (one.length === two.length && served.isIdle) break;
      await delay(LOOK_MS, undefined, { signal });
    }
    const [one, two] = requests();
    return {
      before: { response: served.originalResponse(old), calls: countsOf(one) },
      after: { response: next, calls: countsOf(two) },
      sent: [one, two],
      isMocked: this.#isMocked(each, two),
    };
  }
}

/** Sends a request to the gateway in the sandbox. A response that does not arrive has status 0. */
async function inject(
  sandbox: OpenSandbox,
  session: CanonicalSession,
  request: TestRequest,
  signal: AbortSignal,
): Promise<TestResponse> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  return Promise.race([injectTest(sandbox, session, request, signal), ended]).catch(() => noResponse);
}

function withHost(request: TestRequest, host: string): TestRequest {
  const names = new Set(Object.keys(request.headers).map((name) => name.toLowerCase()));
  const usual = {
    ...(!names.has('host') && { Host: host }),
    ...(!names.has('user-agent') && { 'User-Agent': 'sluice compat' }),
  };
  return { ...request, headers: { ...usual, ...request.headers } };
}

function keyOf({ cause, at }: Change): string {
  return `${cause} ${at}`;
}

/** Headers with a number of seconds, which may change between the requests to both gateways. */
const ofTime: ReadonlySet<string> = new Set(['ratelimit-reset', 'retry-after', 'x-ratelimit-reset']);

const valueCauses: ReadonlySet<Cause> = new Set(['field', 'order', 'body', 'header', 'call']);

/**
 * Whether a difference is caused by random values or by the time. A value that one gateway omits is never such a
 * difference.
 */
function isRandom(change: Change, random: ReadonlySet<string>): boolean {
  const isValue = valueCauses.has(change.cause) && !/^none → | → none$/.test(change.shown);
  return isValue && (random.has(keyOf(change)) || (change.cause === 'header' && ofTime.has(change.at)));
}
