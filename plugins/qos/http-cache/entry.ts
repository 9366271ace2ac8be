import { HeaderBag, type PipeRequest, Reply } from '#contract';
import { httpDate } from '../../shared/http-headers/date.ts';
import { type Directives, isForAll, patienceOf, readDirectives, secondsOf } from './directives.ts';
import type { Asker } from './identity.ts';
import { moment } from './moment.ts';

/** Caching rules of a response. Times in seconds. */
export interface Policy {
  readonly lifetime: number;
  /** Whether the response must be validated with the backend before every use. */
  readonly noCache: boolean;
  /** Whether the response must not be served stale. */
  readonly mustRevalidate: boolean;
  readonly staleWhileRevalidate: number;
  readonly staleIfError: number;
}

/** A stored response. Immutable: it is replaced as a whole. */
export interface Entry {
  /** Method and address of the request. */
  readonly key: string;
  /** Service that the request addressed and the credentials that it used, as in `Asker`. */
  readonly identity: string;
  /** Caller of the request, as in `Asker`; null for a response that is for everyone. */
  readonly person: string | null;
  /** Request headers that the response varies by, with their values in the original request; null for absent ones. */
  readonly varies: readonly (readonly [name: string, value: string | null])[];
  readonly status: number;
  /** Flat list of headers, without `Set-Cookie` and `Age`. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | null;
  /** Time of arrival, in milliseconds since 1970. */
  readonly since: number;
  /** Time of arrival, as returned by `moment`, on a clock that is never set back. */
  readonly arrivedAt: number;
  /** Age on arrival, in seconds. */
  readonly initialAge: number;
  readonly policy: Policy;
}

/** Status codes whose caching rules are implemented, for responses with `must-understand`. */
const understood = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 414, 421, 451, 501]);

/** Maximum number of headers that a response may vary by; a response that names more is not stored. */
const MAX_VARIES = 16;

/** A response being received, with the times of request and arrival: milliseconds since 1970. */
export interface Received {
  readonly reply: Reply;
  readonly request: PipeRequest;
  readonly requestedAt: number;
  readonly cameAt: number;
  /** Headers that determine how long the response may be stored. */
  readonly ruling: HeaderBag;
}

/**
 * Creates the entry of a response, without its body.
 * @returns null for a response that must not be stored, or is not worth storing because it is never fresh and cannot be
 * validated.
 */
export function entryOf(received: Received, requested: Directives, key: string, asker: Asker): Entry | null {
  const { reply, request, ruling } = received;
  const { status, headers } = reply;
  const directives = readDirectives(ruling);
  if (!mayBeKept(received, requested, directives) || headers.has('set-cookie')) return null;
  if (status === 206 || status === 304) return null;
  if (directives.has('must-understand') && !understood.has(status)) return null;
  const varies = variesOf(headers, ruling, request.headers, directives);
  if (varies === null) return null;
  const policy = policyOf(ruling, directives, received.cameAt);
  const isConfirmable = headers.has('etag') || headers.has('last-modified');
  if (policy.lifetime === 0 && !(status === 200 && isConfirmable)) return null;
  return {
    ...{ key, varies, status, policy },
    identity: asker.identity,
    person: isForAll(directives) ? null : asker.person,
    headers: keptHeaders(headers),
    body: null,
    since: received.cameAt,
    arrivedAt: moment(),
    initialAge: initialAge(headers, received),
  };
}

/** @param directives effective directives of the response. */
function mayBeKept({ reply, request }: Received, requested: Directives, directives: Directives): boolean {
  if (requested.has('no-store') || directives.has('no-store') || readDirectives(reply.headers).has('no-store'))
    return false;
  if (directives.has('private')) return false;
  return !request.headers.has('authorization') || isForAll(directives) || directives.has('must-revalidate');
}

/**
 * The entry after the backend has validated it, with the headers of the validation response.
 * @returns `isKept` false when it may be served this once, but must not be stored any longer.
 */
export function confirmed(
  entry: Entry,
  received: Received,
  requested: Directives,
  asker: Asker,
): { readonly entry: Entry; readonly isKept: boolean } {
  const headers = new HeaderBag(entry.headers.slice());
  const news = received.reply.headers;
  for (const name of new Set(news.list.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()))) {
    if (describesBody.has(name) || name === 'set-cookie' || name === 'age') continue;
    headers.delete(name);
    for (const value of news.getAll(name)) headers.append(name, value);
  }
  const ruling = received.ruling.has('cache-control') || received.ruling.has('expires') ? received.ruling : headers;
  const directives = readDirectives(ruling);
  const isOpen = isForAll(directives);
  const next: Entry = {
    ...entry,
    headers: headers.list,
    person: isOpen ? entry.person : asker.person,
    varies: isOpen ? entry.varies : withCookie(entry.varies, received.request.headers),
    since: received.cameAt,
    arrivedAt: moment(),
    initialAge: initialAge(news, received),
    policy: policyOf(ruling, directives, received.cameAt),
  };
  return { entry: next, isKept: mayBeKept(received, requested, directives) };
}

const describesBody = new Set(['content-length', 'content-encoding', 'content-type', 'content-range', 'vary']);

/** Seconds since the backend generated the response. The clock may have been set back meanwhile, and the machine suspended: the longer time counts. */
export function ageOf({ initialAge, since, arrivedAt }: Entry, now: number): number {
  return initialAge + Math.max(now - since, moment() - arrivedAt, 0) / 1000;
}

/** The response to serve from an entry. Its body is shared and must not be modified. */
export function replyOf(entry: Entry, now: number): Reply {
  const age = Math.floor(ageOf(entry, now));
  return Reply.raw(entry.status, new HeaderBag([...entry.headers, 'Age', String(age)]), entry.body);
}

function keptHeaders(headers: HeaderBag): string[] {
  const kept = headers.copy();
  kept.delete('set-cookie');
  kept.delete('age');
  return kept.list;
}

function policyOf(headers: HeaderBag, directives: Directives, cameAt: number): Policy {
  return {
    lifetime:
      secondsOf(directives, 's-maxage') ?? secondsOf(directives, 'max-age') ?? untilExpiry(headers, cameAt) ?? 0,
    noCache: directives.has('no-cache'),
    mustRevalidate:
      directives.has('must-revalidate') || directives.has('proxy-revalidate') || directives.has('s-maxage'),
    staleWhileRevalidate: secondsOf(directives, 'stale-while-revalidate') ?? 0,
    staleIfError: patienceOf(directives, 'stale-if-error'),
  };
}

function untilExpiry(headers: HeaderBag, cameAt: number): number | undefined {
  const expires = headers.get('expires');
  if (expires === undefined) return undefined;
  const at = httpDate(expires);
  // The difference of two times of the backend's clock, so that the clock of the gateway has no effect.
  const date = httpDate(headers.get('date'));
  return Number.isNaN(at) ? 0 : Math.max((at - (Number.isNaN(date) ? cameAt : date)) / 1000, 0);
}

/** Time at which a response was generated: its arrival, if the response contains no time or one in the future. */
function madeAt(headers: HeaderBag, cameAt: number): number {
  const date = httpDate(headers.get('date'));
  return Number.isNaN(date) ? cameAt : Math.min(date, cameAt);
}

function initialAge(headers: HeaderBag, { requestedAt, cameAt }: Received): number {
  // If a header contains several ages, the first one is used; an invalid age is ignored.
  const [, age = 0] = /^\s*(\d+)\s*(?:,|$)/.exec(headers.get('age') ?? '') ?? [];
  const reported = Number(age) + (cameAt - requestedAt) / 1000;
  return Math.max((cameAt - madeAt(headers, cameAt)) / 1000, reported, 0);
}

/** @returns null for a response that varies by more than headers, or by too many. */
function variesOf(headers: HeaderBag, ruling: HeaderBag, request: HeaderBag, directives: Directives) {
  const names = new Set(
    members([...headers.getAll('vary'), ...ruling.getAll('vary')]).map((name) => name.toLowerCase()),
  );
  names.delete('');
  if (names.has('*')) return null;
  // A body with a content encoding varies by `Accept-Encoding`, because only clients that accept the encoding can use
  // it.
  if (headers.has('content-encoding')) names.add('accept-encoding');
  if (names.size > MAX_VARIES) return null;
  const varies = [...names].map((name) => [name, joined(request, name)] as const);
  return isForAll(directives) ? varies : withCookie(varies, request);
}

/** Clients with a cookie may get individual responses, unless the response states that it is for all clients. */
function withCookie(varies: Entry['varies'], request: HeaderBag): Entry['varies'] {
  if (varies.some(([name]) => name === 'cookie')) return varies;
  return [...varies, ['cookie', joined(request, 'cookie')]];
}

/** Members of comma-separated lists. */
function members(lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(',').map((member) => member.trim()));
}

/** All values of a header, joined; null when the header is absent. */
function joined(headers: HeaderBag, name: string): string | null {
  const values = headers.getAll(name);
  if (values.length === 0) return null;
  return values.length === 1 && !values[0]!.includes(',') ? values[0]!.trim() : members(values).join(', ');
}

/** Key of the variant that a request selects, as far as the stored responses of its address show what they vary by. */
export function variantOf(kept: readonly Entry[], { identity, person }: Asker, headers: HeaderBag): string {
  const names = new Set(kept.flatMap(({ varies }) => varies.map(([name]) => name)));
  const values = [...names].sort().map((name) => [name, joined(headers, name)]);
  return JSON.stringify([identity, kept.some((entry) => entry.person !== null) ? person : null, values]);
}

/** True when an entry matches a request's variant. */
export function fits({ identity, person, varies }: Entry, asker: Asker, headers: HeaderBag): boolean {
  if (identity !== asker.identity || (person !== null && person !== asker.person)) return false;
  return varies.every(([name, value]) => joined(headers, name) === value);
}
