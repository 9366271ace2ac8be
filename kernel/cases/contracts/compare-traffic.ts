import type { Served } from '../../inspect/index.ts';
import { pointerOnly } from '../../inspect/index.ts';
import { findMatch } from '../../inspect/match.ts';
import { MASKED } from '../har.ts';
import type { Observed } from '../replay/compare.ts';
import { type ReplayOptions, type ReplayResult, replay } from '../replay/replay.ts';
import type { RecordedRequest, Traffic } from '../replay/traffic.ts';
import type { TestResult } from '../run-tests.ts';
import type { Compared } from './compare-contracts.ts';
import type { Observation } from './observation.ts';

/** Responses to recorded requests before and after a change. */
export interface TrafficCompared extends Compared {
  /** Number of requests that cannot be compared, because their credentials are masked in the recording. */
  readonly masked: number;
  /** Number of requests that cannot be repeated, because their recording is incomplete. */
  readonly incomplete: number;
  /** Differences between the responses, as `sluice replay` reports them. */
  readonly replay: ReplayResult;
}

/** Sends the requests of a recording to a configuration. @throws ConfigErrors if a configuration is not valid. */
export async function compareTraffic(
  traffic: Traffic,
  options: Omit<ReplayOptions, 'observe'>,
): Promise<TrafficCompared> {
  const [before, after]: [Observation[], Observation[]] = [[], []];
  let masked = 0;
  const result = await replay(traffic, {
    ...options,
    observe(recorded, old, next) {
      if (isMasked(recorded, old, next)) {
        masked++;
        return;
      }
      before.push(observation(recorded, old));
      after.push(observation(recorded, next));
    },
  });
  return { before, after, masked, incomplete: traffic.incomplete, replay: result };
}

const none = new Uint8Array();

const rejections = new Set([401, 403]);

/** Whether a request is rejected because the recording contains its credentials only masked. */
function isMasked({ request, response }: RecordedRequest, before: Observed, after: Observed): boolean {
  const hasMasks = [request.path, ...Object.values(request.headers)].some((text) => text.includes(MASKED));
  const isRejected = [before, after].some(({ response: { status } }) => rejections.has(status));
  return hasMasks && isRejected && !rejections.has(response.status);
}

function observation({ endpoint, request, calls: known }: RecordedRequest, { response, calls }: Observed): Observation {
  const unknown = [...calls.keys()].filter((call) => !known.has(call));
  return {
    endpoint,
    method: request.method,
    example: `${request.method} ${request.path}`,
    response: { ...response, body: response.body ?? none },
    notes: unknown.map((call) => `the recording does not contain the call ${call}`),
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
