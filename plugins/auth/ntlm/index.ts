// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { createHmac, randomBytes } from 'node:crypto';
import {
  type AtBackend,
  atBackend,
  BackendError,
  type BackendSite,
  ByteStream,
  type Call,
  CallError,
  type DataObject,
  definePlugin,
  httpSigners,
  type Infer,
  isObject,
  type PipeRequest,
  Reply,
  type Schema,
  type Step,
  toCallError,
} from '#contract';
import { Connections } from './connections.ts';
import { authenticated, isForAccount, type Lane } from './exchange.ts';
import { accountOf } from './messages.ts';

const schema = {
  type: 'object',
  title: 'NTLM',
  description: 'NTLM account of the gateway, shared by all clients.',
  required: ['user', 'password'],
  examples: [{ user: 'CORP\\gateway', password: '${NTLM_PASSWORD}' }],
  properties: {
    user: {
      type: 'string',
      minLength: 1,
      description: 'Account name, in one of the forms name, DOMAIN\\name or name@domain.',
      examples: ['CORP\\gateway'],
    },
    password: { type: 'string', minLength: 1, description: 'Account password.', secret: true },
  },
} as const satisfies Schema;

type NtlmConfig = Infer<typeof schema>;

/** Maximum number of requests that wait for a backend at a time. */
const PLACES = 16;
/**
 * Number of connections to a backend, each for one request at a time. Most of them are for responses that clients read
 * slowly.
 */
const CONNECTIONS = 128;
/** Time after which a response that is still being read stops blocking the next request, in milliseconds. */
const READING_MS = 250;
/** Maximum size of a body, in bytes. Bodies are buffered because they may have to be sent again. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_REDIRECTS = 10;
/** Key for hashing the names of stored values, because names may be displayed and must not allow guessing passwords. */
const nameSecret = randomBytes(32);

/**
 * Authenticates connections to a backend with NTLMv2. The connections are used for nothing else. Call
 * errors: `NTLM_BODY`, `NTLM_CHALLENGE`, `NTLM_CONNECTION`. Configuration faults: `NTLM_KEEP_ALIVE`, `NTLM_PROXY`.
 */
export const plugin = definePlugin({
  name: 'auth/ntlm',
  description: 'Authenticates the gateway to a Microsoft server (NTLMv2).',
  leaves: ['data'],
  takes: [httpSigners],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<NtlmConfig>): AtBackend {
  const { config, pointer, endpoint, index } = site;
  const client = clientOf(site);
  const account = accountOf(config.user, config.password);
  const log = site.log.at('[NTLM]');
  const place = [endpoint.method, endpoint.endpoint, index, pointer.replace(/^\/endpoints\/\d+/, '')];
  const name = createHmac('sha256', nameSecret)
    .update(JSON.stringify([place, config.user, config.password]))
    .digest('base64');
  const connections = site.keep(['connections', name], () => new Connections(CONNECTIONS, PLACES));
  const lanes = Array.from({ length: CONNECTIONS }, (_, at): Lane => {
    const ownConnection = `ntlm ${name} ${at}`;
    return { follow: site.http({ ownConnection }), stay: site.http({ ownConnection, followsRedirects: false }) };
  });
  const follows = client['no_redirect'] !== true;
  const overOne = async (request: PipeRequest, body: Uint8Array, call: Call): Promise<Reply> => {
    const at = await connections.take(call);
    if (at instanceof Error) return Reply.failed(at);
    const release = once(() => connections.release(at));
    try {
      const reply = await authenticated(lanes[at]!, account, request, body, call, log);
      whenRead(reply, call, () => connections.answered(at), release);
      return reply;
    } catch (error) {
      release();
      return Reply.failed(toCallError(error));
    }
  };
  return {
    onlyHttp: true,
    terminal: true,
    sets: ['Authorization'],
    transport: (next) => async (request, call) => {
      request.headers.delete('Authorization');
      const body = await readBody(request);
      if (body instanceof CallError) return Reply.failed(body);
      const reply = await overOne(request, body, call);
      return follows ? redirected(reply, request, call, overOne, next) : reply;
    },
  };
}

type Send = (request: PipeRequest, body: Uint8Array, call: Call) => Promise<Reply>;

/**
 * Follows the redirects of an authenticated response: with the account on the same host, without authentication
 * elsewhere.
 */
async function redirected(
  first: Reply,
  request: PipeRequest,
  call: Call,
  send: Send,
  next: Step<PipeRequest>,
): Promise<Reply> {
  let reply = first;
  const { origin } = request;
  for (let hops = 0; hops < MAX_REDIRECTS; hops++) {
    const location = [301, 302, 303].includes(reply.status) ? reply.headers.get('location') : undefined;
    const url = location === undefined ? null : URL.parse(location, request.origin + request.target);
    if (!url || !/^https?:$/.test(url.protocol)) return reply;
    if (reply.body instanceof ByteStream) reply.body.cancel(new Error('a redirect is followed'));
    request.origin = url.origin;
    request.target = url.pathname + url.search;
    request.host = null;
    request.body = null;
    if (request.method !== 'HEAD') request.method = 'GET';
    request.headers.filter((name) => !name.startsWith('content-'));
    if (!isForAccount(url.origin, origin)) return next(request, call);
    reply = await send(request, new Uint8Array(), call);
  }
  return reply;
}

/** Buffers the body, because it may have to be sent twice. */
async function readBody({ body }: PipeRequest): Promise<Uint8Array | CallError> {
  if (body === null) return new Uint8Array();
  const tooLong = new BackendError('NTLM_BODY', `a body of more than ${MAX_BODY_BYTES} bytes is not sent with NTLM`);
  if ((body.length ?? 0) > MAX_BODY_BYTES) return tooLong;
  try {
    // A body of unknown length is not read beyond the limit.
    body.restrict(MAX_BODY_BYTES);
    return await body.bytes();
  } catch (error) {
    return toCallError(error);
  }
}

/** Releases a connection once its response has been read or abandoned. @param slow called if reading takes long. */
function whenRead({ body }: Reply, call: Call, slow: () => void, release: () => void): void {
  if (!(body instanceof ByteStream) || body.arrived) return release();
  const timer = setTimeout(slow, READING_MS);
  const free = (): void => {
    clearTimeout(timer);
    release();
  };
  body.tap({ write() {}, end: free, fail: free });
  call.onEnd(free);
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}

/**
 * Returns the settings of the HTTP client, and rejects those that prevent persistent connections: NTLM authenticates
 * the connection.
 */
function clientOf(site: BackendSite<NtlmConfig>): Readonly<DataObject> {
  if (site.setting('disable_keep_alives')) {
    throw site.fault('NTLM_KEEP_ALIVE', '', 'connections that close after one request cannot be authenticated', {
      hint: 'remove disable_keep_alives',
    });
  }
  const components: Readonly<DataObject> = site.backend.extra_config;
  const client = components['backend/http/client'];
  if (!isObject(client)) return {};
  if (client['proxy_address'] !== undefined) {
    throw site.fault('NTLM_PROXY', '', 'connections through a proxy are shared and cannot be authenticated', {
      hint: 'remove proxy_address from backend/http/client',
    });
  }
  return client;
}
