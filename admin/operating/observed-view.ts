import type { ObservedPart, ObservedRequest } from '#kernel';

/** A request as the API shows it. */
export interface RequestView extends Omit<ObservedRequest, 'number' | 'sample'> {
  /** Unique among the requests that are observed now. */
  readonly id: string;
  readonly pid: number;
  readonly sample: {
    readonly times: NonNullable<ObservedRequest['sample']>['times'];
    /** Null if the token of the client does not permit to see it. */
    readonly request: NonNullable<ObservedRequest['sample']>['request'] | null;
    readonly response: NonNullable<ObservedRequest['sample']>['response'] | null;
  } | null;
}

/** Maximum number of requests in an event: the slowest ones, and the latest ones. */
const MAX_SLOWEST = 10;
const MAX_LATEST = 30;

/** Maximum size of an event's requests, in characters. Beyond it, requests are sent without their messages. */
const MAX_CHARACTERS = 256 * 1024;

/** The requests of all processes in one event, oldest first. */
export function requestsOf(parts: readonly ObservedPart[]): readonly RequestView[] {
  const all = parts.flatMap(({ pid, requests }) =>
    requests.map(({ number, ...request }): RequestView => ({ id: `${pid}-${number}`, pid, ...request })),
  );
  const slowest = all.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, MAX_SLOWEST);
  const latest = all.toSorted((a, b) => b.startedAt - a.startedAt).slice(0, MAX_LATEST);
  let left = MAX_CHARACTERS;
  return [...new Set([...slowest, ...latest])]
    .map((request) => {
      left -= JSON.stringify(request).length;
      return left < 0 ? withoutMessages(request) : request;
    })
    .sort((a, b) => a.startedAt - b.startedAt);
}

/** A request without its headers and bodies. */
export function withoutMessages(request: RequestView): RequestView {
  const { sample } = request;
  return sample ? { ...request, sample: { ...sample, request: null, response: null } } : request;
}
