import { type ClientRequest, HeaderBag, isHopByHop } from '#contract';

/** Headers in which the gateway describes the client or its request. Values that a client sends are dropped, because they could be forged. */
const ours = new Set([
  ...['forwarded', 'x-real-ip', 'x-original-method', 'x-original-uri', 'x-original-url', 'x-forwarded-client-cert'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-method', 'x-forwarded-port', 'x-forwarded-prefix'],
  ...['x-forwarded-proto', 'x-forwarded-server', 'x-forwarded-uri', 'host', 'content-length', 'expect'],
]);

/** Headers that describe a body. They are sent only together with the body. */
const ofBody = new Set(['content-type', 'content-encoding']);

/** Creates a function that selects the client headers for a server. @param names header names, or `*`. */
export function headerSelector(names: readonly string[], withBody: boolean): (request: ClientRequest) => HeaderBag {
  const listed = names.includes('*') ? null : new Set(names.map((name) => name.toLowerCase()));
  return ({ headers }) => {
    const names = headers.get('connection')?.toLowerCase().split(',') ?? [];
    const connection = new Set(names.map((name) => name.trim()));
    const kept = new HeaderBag();
    const { list } = headers;
    for (let at = 0; at < list.length; at += 2) {
      const lower = list[at]!.toLowerCase();
      if (listed && !listed.has(lower)) continue;
      // Similar headers are dropped as well, because some servers treat `_` and `.` as `-`.
      if (isHopByHop(lower) || ours.has(lower.replace(/[_.]/g, '-'))) continue;
      if (!withBody && ofBody.has(lower)) continue;
      if (connection.has(lower)) continue;
      kept.list.push(list[at]!, list[at + 1]!);
    }
    return kept;
  };
}

/** The target of the request as the client has sent it. */
export function targetOf({ path, search }: ClientRequest): string {
  return search === '' ? path : `${path}?${search}`;
}
