import type { Catalogue } from '#contract';
import type { Source } from '../../control/snapshot.ts';
import { frozenBytes } from '../../sandbox/freeze.ts';
import { type OpenSandbox, openSandbox, type SandboxOptions } from '../../sandbox/open-sandbox.ts';
import { within } from '../../sandbox/session.ts';
import type { Frozen } from '../../values/frozen.ts';
import { MockedServers } from '../mock.ts';
import { injectTest } from '../run-tests.ts';
import { noResponse } from '../test.ts';
import { type Cause, type Change, changesOf, type Observed } from './compare.ts';
import { type ChangedSetting, settingsBehind } from './settings.ts';
import { ResponseTimes } from './times.ts';
import { count, type RecordedRequest, type Traffic } from './traffic.ts';

/** A difference that one or more requests of an endpoint have. */
export interface GroupedChange {
  readonly endpoint: string;
  readonly cause: Cause;
  readonly at: string;
  /** Number of requests. */
  readonly requests: number;
  /** The difference as shown for the first request that has it, and that request. */
  readonly shown: string;
  readonly example: string;
  /** Text of the difference in an accept file. */
  readonly key: string;
  /** Changed settings that may have caused the difference, limited in number; empty without a baseline. */
  readonly settings: readonly ChangedSetting[];
}

/** Result of a replay. */
export interface ReplayResult {
  readonly changes: readonly GroupedChange[];
  /** Number of further differences, which are not in `changes`. */
  readonly hidden: number;
  readonly requests: number;
  readonly incomplete: number;
  /**
   * Number of requests to which the baseline configuration responds with a status other than the recorded one, for
   * example because credentials are missing.
   */
  readonly unfaithful: number;
  readonly ms: number;
}

export interface ReplayOptions extends SandboxOptions {
  readonly catalogue: Catalogue;
  /** The new configuration. */
  readonly source: Source;
  /** The configuration to compare with; null compares with the recorded responses. */
  readonly baseline: Source | null;
  /** Growth of an endpoint's median response time that is reported as a difference, in milliseconds. Default: times are not compared. */
  readonly slowerMs?: number | undefined;
  /** Receives both responses to each request. */
  readonly observe?: (recorded: RecordedRequest, before: Observed, after: Observed) => void;
}

/** Maximum number of differences in a result. */
const MAX_GROUPS = 10_000;

/** Time limit of a repeated request, in milliseconds. */
const TIMEOUT_MS = 30_000;

/**
 * Repeats recorded requests with the recorded responses of backends, and compares the responses. Time is that of the
 * recording, also for rate limits and breakers, and random values are the same for both configurations.
 * @throws ConfigErrors if a configuration is not valid.
 */
export async function replay(
  traffic: Traffic,
  { catalogue, source, baseline, observe, slowerMs, ...options }: ReplayOptions,
): Promise<ReplayResult> {
  const startedAt = performance.now();
  let at = traffic.requests[0]?.at ?? 0;
  const mocks = traffic.requests.flatMap((recorded) => recorded.mocks);
  // Each gateway gets the same series of random values for its own work.
  const own = () => {
    const frozen: Frozen = {
      get now() {
        return at;
      },
      bytes: frozenBytes('gateway'),
    };
    return new MockedServers(mocks, false, frozen);
  };
  const opened = { ...options, isFrozen: true };
  const sandboxes: OpenSandbox[] = [];
  const groups = new Map<string, Mutable<GroupedChange>>();
  const times = new ResponseTimes();
  let [unfaithful, hidden] = [0, 0];
  try {
    const next = await openSandbox(catalogue, source, own(), opened);
    sandboxes.push(next);
    const old = baseline === null ? null : await openSandbox(catalogue, baseline, own(), opened);
    if (old) sandboxes.push(old);
    for (const recorded of traffic.requests) {
      const passedMs = Math.max(0, recorded.at - at);
      at += passedMs;
      for (const { clock } of sandboxes) clock.advance(passedMs);
      const before = old ? await repeat(old, recorded) : recorded;
      if (before.response.status !== recorded.response.status) unfaithful++;
      const after = await repeat(next, recorded);
      observe?.(recorded, before, after);
      if (old) times.add(recorded.endpoint, before.response.ms, after.response.ms);
      hidden += addChanges(groups, recorded, changesOf(before, after));
    }
    for (const { endpoint, requests, change } of slowerMs === undefined ? [] : times.slower(slowerMs)) {
      const key = `${endpoint} ${change.cause}`;
      groups.set(key, { endpoint, ...change, requests, example: endpoint, key, settings: [] });
    }
    if (old && groups.size > 0) {
      const settingsOf = await within(own(), () => settingsBehind(old.gateway, next.gateway));
      for (const change of groups.values()) change.settings = settingsOf(change.endpoint, change.cause);
    }
  } finally {
    for (const sandbox of sandboxes) await sandbox.close();
  }
  const { requests, incomplete } = traffic;
  const ms = performance.now() - startedAt;
  return { changes: [...groups.values()], hidden, requests: requests.length, incomplete, unfaithful, ms };
}

/** A type without `readonly` members. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Adds the differences of a request to their groups.
 * @param maxGroups groups above this number are not created. @returns the number of differences for which there are too
 * many groups.
 */
export function addChanges(
  groups: Map<string, Mutable<GroupedChange>>,
  { endpoint, request }: Pick<RecordedRequest, 'endpoint' | 'request'>,
  changes: readonly Change[],
  maxGroups = MAX_GROUPS,
): number {
  const keys = new Set<string>();
  let hidden = 0;
  for (const { cause, at, shown } of changes) {
    const key = [endpoint, cause, at].filter((part) => part !== '').join(' ');
    const known = groups.get(key);
    if (known && !keys.has(key)) known.requests++;
    keys.add(key);
    if (known) continue;
    if (groups.size >= maxGroups) hidden++;
    else {
      const example = `${request.method} ${request.path}`;
      groups.set(key, { endpoint, cause, at, requests: 1, shown, example, key, settings: [] });
    }
  }
  return hidden;
}

/** Repeats a request in a sandbox. A response that does not arrive in time has status 0. */
async function repeat(sandbox: OpenSandbox, recorded: RecordedRequest): Promise<Observed> {
  const { request, mocks, mocksOfOtherHosts, at, id, requestId, traceId } = recorded;
  const known = [...mocks, ...mocksOfOtherHosts];
  const servers = new MockedServers(known, false, { now: at, requestId, traceId, bytes: frozenBytes(id) });
  const response = await injectTest(sandbox, servers, request, AbortSignal.timeout(TIMEOUT_MS)).catch(() => noResponse);
  const calls = new Map<string, number>();
  for (const { method, url } of [...servers.calls.values()].flat()) count(calls, `${method} ${url}`);
  for (const [call, times] of servers.unanswered) count(calls, call, times);
  return { response, calls };
}
