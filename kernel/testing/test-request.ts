import type { X509Certificate } from 'node:crypto';
import { type ClientRequest, HeaderBag, makeRequest, type Params, RequestBody } from '#contract';

/** A request to a plugin under test; a string is `METHOD /target`. */
export type TestRequest =
  | string
  | {
      /** HTTP method. Default: `GET`. */
      readonly method?: string;
      /** Path and query. Default: `/`. */
      readonly target?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array;
      /** Path variables, keyed as components see them. */
      readonly params?: Params;
      /** The protocol to upgrade the connection to. */
      readonly upgrade?: string;
      /** The client's certificate; its connection is then encrypted. */
      readonly certificate?: X509Certificate;
      /** IP address of the client. Default: `127.0.0.1`. */
      readonly ip?: string;
    };

/** Creates the request as the gateway would from a client's request. */
export function testRequest(given: TestRequest): ClientRequest {
  const {
    method = 'GET',
    target = '/',
    headers = {},
    body,
    upgrade,
    certificate = null,
    params = {},
    ip = '127.0.0.1',
  } = typeof given === 'string' ? { method: given.split(' ')[0]!, target: given.split(' ')[1] ?? '/' } : given;
  const [path, search = ''] = target.split('?') as [string, string?];
  const bag = new HeaderBag(Object.entries(headers).flat());
  return makeRequest({
    method,
    path,
    search,
    params,
    headers: bag,
    ip,
    certificate,
    secure: certificate !== null,
    upgrade: upgrade?.toLowerCase() ?? null,
    host: bag.get('host') ?? 'gateway.test',
    body: body === undefined ? null : RequestBody.of(body),
  });
}
