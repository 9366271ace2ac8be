import { type Data, printJson, type SandboxRequest } from '#contract';
import { mayHoldSecret } from '../../config/index.ts';
import { jsonOf, textOf } from '../body.ts';
import { headersOf } from '../checks/calls.ts';
import { differencesOf } from '../checks/differences.ts';
import type { Change } from '../replay/compare.ts';

/**
 * Headers of backend requests that are specific to a connection, or that depend on the network between client and
 * gateway.
 */
const transport: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'te',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'user-agent',
  'x-b3-sampled',
  'x-b3-spanid',
  'x-b3-traceid',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-via',
  'x-request-id',
]);

/** Maximum length of a shown value, in characters. */
const MAX_SHOWN = 120;

/** Maximum number of differences in the body of one request. */
const MAX_FIELDS = 20;

export function originOf({ url }: SandboxRequest): string {
  return /^[^:]+:\/\/[^/?#]*/.exec(url)?.[0] ?? '';
}

/** Method and origin of a request to a backend. */
function callOf(request: SandboxRequest): string {
  return `${request.method} ${originOf(request)}`;
}

/** Counts the requests to backends by method and origin. */
export function countsOf(requests: readonly SandboxRequest[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of requests) counts.set(callOf(each), (counts.get(callOf(each)) ?? 0) + 1);
  return counts;
}

/**
 * Compares the requests that backends received from two gateways: path, query, headers and body. Skips backends that
 * received a different number of requests from each gateway.
 * @param ignored headers in lowercase that are not compared.
 */
export function callChanges(
  before: readonly SandboxRequest[],
  after: readonly SandboxRequest[],
  ignored: ReadonlySet<string>,
): Change[] {
  const [old, next] = [grouped(before), grouped(after)];
  return [...old].flatMap(([call, requests]) => {
    const others = next.get(call) ?? [];
    if (others.length !== requests.length) return [];
    return requests.flatMap((request, at) => compare(call, request, others[at]!, ignored));
  });
}

/**
 * Groups requests by method and origin, and sorts each group by content: an endpoint calls its backends at the same
 * time, in no fixed order.
 */
function grouped(requests: readonly SandboxRequest[]): Map<string, SandboxRequest[]> {
  const groups = Map.groupBy(requests, callOf);
  for (const group of groups.values()) group.sort((one, other) => (one.url < other.url ? -1 : 1));
  return groups;
}

function compare(call: string, before: SandboxRequest, after: SandboxRequest, ignored: ReadonlySet<string>): Change[] {
  const changes: Change[] = [];
  const add = (part: string, old: string | undefined, next: string | undefined): void => {
    if (old === next) return;
    const isSecret = mayHoldSecret(part.replace(/^\S+ /, ''));
    const shown = isSecret ? '***' : `${shortened(old)} → ${shortened(next)}`;
    changes.push({ cause: 'call', at: `${part} of ${call}`, shown });
  };
  const [oldUrl, nextUrl] = [new URL(before.url), new URL(after.url)];
  add('path', oldUrl.pathname, nextUrl.pathname);
  for (const name of new Set([...oldUrl.searchParams.keys(), ...nextUrl.searchParams.keys()])) {
    add(`parameter ${name}`, valuesOf(oldUrl, name), valuesOf(nextUrl, name));
  }
  const [oldHeaders, nextHeaders] = [headersOf(before.headers), headersOf(after.headers)];
  for (const name of new Set([...oldHeaders.keys(), ...nextHeaders.keys()])) {
    if (transport.has(name) || ignored.has(name)) continue;
    add(`header ${name}`, oldHeaders.get(name)?.join(', '), nextHeaders.get(name)?.join(', '));
  }
  addBody(before.body, after.body, add);
  return changes;
}

function addBody(
  before: Uint8Array,
  after: Uint8Array,
  add: (part: string, old: string | undefined, next: string | undefined) => void,
): void {
  if (Buffer.compare(before, after) === 0) return;
  const [old, next] = [jsonOf(before), jsonOf(after)];
  if (old === undefined || next === undefined) return add('body', textOf(before), textOf(after));
  for (const { path, expected, actual } of differencesOf(old, next, { isPart: false, limit: MAX_FIELDS })) {
    add(path === '' ? 'body' : `field ${path}`, printed(expected), printed(actual));
  }
}

function valuesOf(url: URL, name: string): string | undefined {
  return url.searchParams.has(name) ? url.searchParams.getAll(name).join(', ') : undefined;
}

function printed(data: Data | undefined): string | undefined {
  return data === undefined ? undefined : printJson(data);
}

function shortened(text: string | undefined): string {
  if (text === undefined) return 'none';
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…`.toWellFormed() : text;
}
