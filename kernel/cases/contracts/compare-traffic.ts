import type { Catalogue } from '#contract';
import type { Source } from '../../control/snapshot.ts';
import type { Served } from '../../inspect/index.ts';
import { pointerOnly } from '../../inspect/index.ts';
import { findMatch } from '../../inspect/match.ts';
import type { SandboxOptions } from '../../sandbox/open-sandbox.ts';
import type { RecordedRequest, Traffic } from '../replay/traffic.ts';
import type { TestResult } from '../run-tests.ts';
import type { Compared } from './compare-contracts.ts';
import type { Observation } from './observation.ts';
import { type Answered, runTraffic } from './run-traffic.ts';
import { MASKED } from './shape.ts';

/** The configurations that recorded requests are sent to. */
export interface TrafficOptions extends SandboxOptions {
  readonly catalogue: Catalogue;
  readonly source: Source;
  /** Configuration before the change; null compares with the recorded responses. */
  readonly baseline: Source | null;
}

/** Responses to recorded requests before and after a change. */
export interface TrafficCompared extends Compared {
  /** Number of requests that cannot be compared, because their credentials are masked in the recording. */
  readonly masked: number;
}

/** Sends the requests of a recording to a configuration. @throws ConfigErrors if a configuration is not valid. */
export async function compareTraffic(
  traffic: Traffic,
  { catalogue, source, baseline, ...options }: TrafficOptions,
): Promise<TrafficCompared> {
  const old: Answered[] = [];
  if (baseline !== null) {
    for await (const [, answered] of runTraffic(traffic, catalogue, baseline, options)) old.push(answered);
  }
  const [before, after]: [Observation[], Observation[]] = [[], []];
  let masked = 0;
  for await (const [recorded, answered] of runTraffic(traffic, catalogue, source, options)) {
    const earlier = old.shift() ?? asRecorded(recorded);
    if (isMasked(recorded, earlier, answered)) {
      masked++;
      continue;
    }
    before.push(observation(recorded, earlier));
    after.push(observation(recorded, answered));
  }
  return { before, after, masked };
}

const none = new Uint8Array();

function asRecorded({ response }: RecordedRequest): Answered {
  return { response: { ...response, body: response.body ?? none }, unanswered: new Map() };
}

const rejections = new Set([401, 403]);

/** Whether a request is rejected because the recording contains its credentials only masked. */
function isMasked({ request, response }: RecordedRequest, before: Answered, after: Answered): boolean {
  const hasMasks = [request.path, ...Object.values(request.headers)].some((text) => text.includes(MASKED));
  const isRejected = [before, after].some((answered) => rejections.has(answered.response?.status ?? 0));
  return hasMasks && isRejected && !rejections.has(response.status);
}

function observation({ endpoint, request }: RecordedRequest, { response, unanswered: calls }: Answered): Observation {
  return {
    endpoint,
    method: request.method,
    example: `${request.method} ${request.path}`,
    response: response ?? { status: 0, headers: new Map(), body: none },
    notes: [...calls.keys()].map((call) => `the recording does not contain the call ${call}`),
  };
}

/** Responses to tests, whose endpoints are those of the configuration that they ran against. */
export async function observationsOfTests(served: Served, results: readonly TestResult[]): Promise<Observation[]> {
  const observations: Observation[] = [];
  for (const { test, response, failures } of results) {
    const { method, path, headers } = test.request;
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const { match } = await findMatch(served, method, path, pointerOnly, named);
    if (match.kind !== 'route' || !response) continue;
    const notes = failures.filter(({ pointer }) => pointer === test.pointer).map(({ message }) => message);
    observations.push({ endpoint: match.route.id, method, example: `${method} ${path}`, response, notes });
  }
  return observations;
}
