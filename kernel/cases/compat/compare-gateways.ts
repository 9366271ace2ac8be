import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { addChanges, type GroupedChange, type Mutable } from '../replay/replay.ts';
import type { Reason } from './by-design.ts';
import { CanonicalSession } from './canonical-session.ts';
import { CaseComparison, type CompatOptions } from './compare-case.ts';

/** Result of a comparison. */
export interface CompatResult {
  readonly changes: readonly GroupedChange[];
  /** Number of further differences, which `changes` omits. */
  readonly hidden: number;
  /** Number of requests with each intended difference. */
  readonly intended: ReadonlyMap<Reason, number>;
  readonly requests: number;
  /** Requests whose differences did not occur when the request was repeated. */
  readonly unstable: number;
  /** Endpoints for which no response of both gateways had a status below 400, with the number of requests. */
  readonly unserved: ReadonlyMap<string, number>;
  /** Endpoints that call servers other than the backends of the configuration, with the address. They are not compared. */
  readonly unmocked: readonly string[];
  /** Connections that the gateway in the sandbox attempted, and that were refused. */
  readonly refusals: readonly string[];
  readonly ms: number;
}

/**
 * Sends the requests of all cases to another gateway and to a configuration in a sandbox, in which the same mocked
 * backends answer, and compares responses and requests to backends. A request with differences is repeated; only those
 * that occur again each time count.
 * @throws ConfigErrors if the configuration is not valid. @throws OtherGatewayError if the other gateway does not respond.
 */
export async function compareGateways(options: CompatOptions): Promise<CompatResult> {
  const startedAt = performance.now();
  const { cases, signal } = options;
  const own = new CanonicalSession(options.documents, options.origins);
  const groups = new Map<string, Mutable<GroupedChange>>();
  let hidden = 0;
  const intended = new Map<Reason, number>();
  const served = new Map<string, { requests: number; isServed: boolean }>();
  let unstable = 0;
  let unmocked: ReadonlySet<string> = new Set();
  const sandbox = await openSandbox(options.catalogue, options.source, own, options);
  try {
    const runner = new CaseComparison(sandbox, options);
    unmocked = runner.unmocked;
    for (const each of cases) {
      signal.throwIfAborted();
      const { pair, changes, reasons, isUnstable } = await runner.compare(each);
      if (isUnstable) unstable++;
      for (const reason of reasons) intended.set(reason, (intended.get(reason) ?? 0) + 1);
      hidden += addChanges(groups, each, changes);
      const known = served.get(each.endpoint) ?? { requests: 0, isServed: false };
      known.requests++;
      known.isServed ||= [pair.before, pair.after].every(({ response: { status } }) => status > 0 && status < 400);
      served.set(each.endpoint, known);
    }
  } finally {
    await sandbox.close();
  }
  const unserved = [...served].filter(([, { isServed }]) => !isServed);
  return {
    changes: [...groups.values()],
    hidden,
    intended,
    requests: cases.length,
    unstable,
    unserved: new Map(unserved.map(([endpoint, { requests }]) => [endpoint, requests])),
    unmocked: [...unmocked],
    refusals: [...own.servers.refusals],
    ms: performance.now() - startedAt,
  };
}
