import { type ClientRequest, type HeaderBag, type Reply, RequestBody, type Site } from '#contract';
import { bytesOf } from '../../shared/calls/body.ts';
import { requestTo } from '../../shared/calls/request-to.ts';
import { Undecided, undecidedStatus } from '../lib/undecided.ts';
import { headerSelector, targetOf } from './client-headers.ts';
import { type Accepted, type Decide, type Decision, endToEnd, type HeaderChange } from './decision.ts';
import type { ExternalConfig } from './schema.ts';

/** Maximum size of the body of an authorization server's response that rejects the request, in bytes. */
const MAX_BYTES = 64 * 1024;

const redirects = new Set([301, 302, 303, 307, 308]);

/** Asks a server over HTTP: 2xx accepts the request; redirects and 4xx are returned to the client. */
export function httpDecider(site: Site<ExternalConfig>, url: URL): Decide {
  const { request_headers, forward_body, response_headers, client_headers } = site.config;
  const select = headerSelector(request_headers, forward_body);
  const send = site.http({ ofService: true, followsRedirects: false, calls: [{ address: url.href, at: '/url' }] });
  return async (client, body, call) => {
    const headers = select(client);
    describe(client, headers);
    const reply = await send(requestTo(url, body ? 'POST' : 'GET', headers, body && RequestBody.of(body)), call);
    if (reply.errors.length > 0) throw reply.errors[0]!;
    return decisionOf(reply, response_headers, client_headers);
  };
}

function describe(client: ClientRequest, headers: HeaderBag): void {
  const target = targetOf(client);
  const { method, ip, host, secure } = client;
  headers.list.push('X-Forwarded-Method', method, 'X-Forwarded-Uri', target, 'X-Forwarded-For', ip);
  headers.list.push('X-Forwarded-Host', host, 'X-Forwarded-Proto', secure ? 'https' : 'http');
  headers.list.push('X-Original-Method', method, 'X-Original-URI', target, 'X-Real-IP', ip);
}

async function decisionOf(reply: Reply, toBackends: readonly string[], toClient: readonly string[]): Promise<Decision> {
  const { status, headers } = reply;
  const body = await bodyOf(reply);
  if (status >= 200 && status <= 299) return accepted(headers, toBackends, toClient);
  const isRedirect = redirects.has(status) && headers.has('location');
  if (!isRedirect && !(status >= 400 && status <= 499)) throw undecidedStatus(status);
  return { accepted: false, status, headers: endToEnd(headers), body };
}

function accepted(headers: HeaderBag, toBackends: readonly string[], toClient: readonly string[]): Accepted {
  const copies = (name: string): HeaderChange[] =>
    headers.getAll(name.toLowerCase()).map((value) => ({ action: 'append', name, value }));
  return {
    accepted: true,
    request: toBackends.flatMap(copies),
    response: toClient.flatMap(copies),
    cacheableMs: cacheableMs(headers),
  };
}

function cacheableMs(headers: HeaderBag): number {
  const control = headers.getAll('cache-control').join(',').toLowerCase();
  if (headers.has('set-cookie') || /\bno-(?:store|cache)\b/.test(control)) return 0;
  const [, seconds] = /\bmax-age="?(\d{1,9})/.exec(control) ?? [];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000;
}

async function bodyOf(reply: Reply): Promise<Uint8Array | null> {
  if (reply.body === null) return null;
  const bytes = await bytesOf(reply, MAX_BYTES);
  if (bytes.length > MAX_BYTES) throw new Undecided(`the response is larger than ${MAX_BYTES} bytes`, false);
  return bytes;
}
