import type { AttackedEndpoint, DataObject, SandboxRequest, SandboxResponse } from '#contract';
import { algorithmNames } from '../../clients/keys/algorithms.ts';
import { callerOf } from './credentials.ts';
import { signingKey } from './signing-keys.ts';

type Respond = (request: SandboxRequest) => SandboxResponse;

/** Fields of components that contain the address of a server, each with the response of that server. */
const fields: readonly (readonly [field: string, respond: Respond])[] = [
  ['introspection_url', (request) => json(introspected(request))],
  ['token_url', () => json({ access_token: 'token-of-the-gateway', token_type: 'Bearer', expires_in: 3600 })],
  ['revoke_server_ping_url', () => json({})],
];

/** Scopes of every opaque token. */
const SCOPES = 'openid profile email read write admin';

const KEYS = /^https:\/\/keys\.attack\.invalid\/(\w+)$/;

/** Servers of components, other than backends. @returns undefined for requests to others. */
export function componentServers(
  endpoints: readonly AttackedEndpoint[],
): (request: SandboxRequest) => SandboxResponse | undefined {
  const byAddress = new Map<string, Respond>();
  for (const { namespace, settings } of endpoints.flatMap(({ components }) => components)) {
    if (namespace === 'auth/external') byAddress.set(String(settings['url']), (request) => decision(request, settings));
  }
  for (const { settings } of endpoints.flatMap(({ components }) => components)) {
    for (const [field, respond] of fields) {
      if (typeof settings[field] === 'string') byAddress.set(settings[field], respond);
    }
  }
  return (request) => {
    const named = KEYS.exec(request.url)?.[1];
    const alg = algorithmNames.find((name) => name === named);
    if (alg !== undefined) return json({ keys: [signingKey(alg).jwk] } as DataObject);
    return byAddress.get(request.url.replace(/\?.*$/s, ''))?.(request);
  };
}

/** Describes the token in the body of an introspection request. Tokens other than those of the callers are inactive. */
function introspected({ body }: SandboxRequest): DataObject {
  const token = new URLSearchParams(Buffer.from(body).toString()).get('token') ?? '';
  const caller = callerOf(token);
  return caller === undefined ? { active: false } : { active: true, sub: caller, scope: SCOPES };
}

/** Response of an authorization server that accepts the tokens of the callers. */
function decision({ headers }: SandboxRequest, settings: Readonly<DataObject>): SandboxResponse {
  const token = headers.find((value, at) => at % 2 === 1 && value.startsWith('Bearer '))?.slice(7) ?? '';
  const caller = callerOf(token);
  if (caller === undefined) return { ...json({}), status: 401 };
  const names = Array.isArray(settings['response_headers']) ? settings['response_headers'].map(String) : [];
  return { ...json({}), headers: ['Content-Type', 'application/json', ...names.flatMap((name) => [name, caller])] };
}

function json(value: DataObject): SandboxResponse {
  const body = Buffer.from(JSON.stringify(value));
  return { status: 200, headers: ['Content-Type', 'application/json'], body, delayMs: 0 };
}

/** Bodies of backends by encoding, with a content type. */
const bodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
  json: ['application/json', '{"id":1,"name":"attack"}'],
  xml: ['application/xml', '<item><id>1</id></item>'],
  yaml: ['application/yaml', 'id: 1\n'],
  string: ['text/plain', 'attack'],
  sse: ['text/event-stream', 'data: {"id":1}\n\n'],
  ndjson: ['application/x-ndjson', '{"id":1}\n'],
  rss: ['application/rss+xml', '<rss version="2.0"><channel><title>attack</title></channel></rss>'],
};

/** Backends of a configuration: each responds in the encoding that the configuration expects of its host. */
export function backends(endpoints: readonly AttackedEndpoint[]): Respond {
  const known = endpoints
    .flatMap(({ config }) => config.backend)
    .flatMap(({ host, encoding, is_collection: isCollection, url_pattern: pattern }) => {
      const path = pattern.replace(/\?.*$/s, '').split('{')[0]!;
      return host.map((origin) => ({ start: `${origin}${path}`, encoding, isCollection }));
    })
    .toSorted((one, other) => other.start.length - one.start.length);
  return ({ url }) => {
    const backend = known.find(({ start }) => url.startsWith(start));
    const name = backend && Object.hasOwn(bodies, backend.encoding) ? backend.encoding : 'json';
    const [type, text] = bodies[name]!;
    const body = Buffer.from(backend?.isCollection ? `[${text}]` : text);
    const headers = ['Content-Type', type, 'Content-Length', String(body.length)];
    return { status: 200, headers, body, delayMs: 0 };
  };
}
