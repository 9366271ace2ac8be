import type { Change, Observed } from '../replay/compare.ts';
import type { TestRequest } from '../test.ts';

/** Intended differences between KrakenD and this gateway, with the setting that removes them. */
export const reasons = {
  headers: 'X-Krakend headers are named X-Gateway: "compatible_headers": true in router keeps the names',
  head: 'GET endpoints serve HEAD: "auto_head": false in router rejects it with 405',
} as const;

/** An intended difference. */
export type Reason = keyof typeof reasons;

type Headers = Observed['response']['headers'];

/** Headers of this gateway by their names in KrakenD. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['x-krakend', 'x-gateway'],
  ['x-krakend-completed', 'x-gateway-completed'],
]);

/** Renames the headers of KrakenD, and removes the version of the gateway. */
export function withOwnNames(observed: Observed): Observed {
  const headers = new Map([...observed.response.headers].map(([name, all]) => [renamed.get(name) ?? name, all]));
  headers.delete('x-gateway');
  return { ...observed, response: { ...observed.response, headers } };
}

/** Intended differences between two responses to a request. @param changes differences of the responses. */
export function intendedOf(
  { method }: TestRequest,
  before: Observed,
  after: Observed,
  changes: readonly Change[],
): { readonly reasons: readonly Reason[]; readonly changes: readonly Change[] } {
  const found: Reason[] = [];
  if (hasOldNames(before.response.headers) !== hasOldNames(after.response.headers)) found.push('headers');
  const kept = changes.filter(
    ({ cause, at }) => !(cause === 'header' && at === 'allow' && differsInHead(before, after)),
  );
  if (kept.length < changes.length) found.push('head');
  const { status: old } = before.response;
  const isRejected = method === 'HEAD' && (old === 405 || old === 404) && after.response.status !== old;
  if (!isRejected) return { reasons: found, changes: kept };
  return { reasons: [...new Set<Reason>([...found, 'head'])], changes: [] };
}

/** Whether `Allow` differs only in HEAD. */
function differsInHead(before: Observed, after: Observed): boolean {
  const [old, next] = [before, after].map(({ response }) => {
    const methods = (response.headers.get('allow') ?? []).join(', ').split(/, */);
    return methods.filter((name) => name !== 'HEAD').sort();
  });
  return String(old) === String(next);
}

function hasOldNames(headers: Headers): boolean {
  return renamed.keys().some((name) => headers.has(name));
}
