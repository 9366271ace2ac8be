import {
  type Call,
  type CallError,
  type Data,
  discard,
  HeaderBag,
  type PipeRequest,
  type Reply,
  type Site,
} from '#contract';
import {
  ISSUE_MS,
  type IssuedToken,
  isSameHost,
  type TokenServer,
  tokenRequest,
} from '../../clients/tokens/token-server.ts';
import { textOf } from '../../shared/calls/body.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { readToken } from './issued-token.ts';
import type { CredentialsConfig } from './schema.ts';

/** Maximum size of a decoded response, in bytes. */
const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 10;
const redirects = new Set([301, 302, 303, 307, 308]);

/** Authentication of the gateway at the server: in the `Authorization` header, or in form fields. */
type Style = 'header' | 'form';

/** Authentication style that the server is known to accept. */
interface Known {
  style: Style | null;
}

export function tokenServer(
  site: Site<CredentialsConfig>,
  url: URL,
  keyOf: (...values: Data[]) => string,
): TokenServer {
  const { config } = site;
  const send = site.http({
    ofService: true,
    followsRedirects: false,
    calls: [{ address: url.href, at: '/token_url' }],
  });
  const agent = `Sluice Version ${site.use('version')}`;
  // The detected authentication style is shared with all processes.
  const server = site.mirror<Known, Style | null>(['style', keyOf(url.href, config.client_id)], {
    open: () => ({ style: null }),
    apply: (known, style) => {
      known.style = style;
    },
    snapshot: ({ style }) => style,
  });
  const basic = `${formEncoded(config.client_id)}:${formEncoded(config.client_secret)}`;
  const authorization = `Basic ${Buffer.from(basic).toString('base64')}`;
  const secrets = [config.client_secret, formEncoded(config.client_secret), authorization.slice('Basic '.length)];
  const ask = async (style: Style, call: Call): Promise<IssuedToken> => {
    const headers = new HeaderBag([
      'User-Agent',
      agent,
      'Accept',
      'application/json',
      'Content-Type',
      'application/x-www-form-urlencoded',
      ...(style === 'header' ? ['Authorization', authorization] : []),
    ]);
    const reply = await post(url, headers, formOf(config, style), (request) => send(request, call));
    const text = await textOf(reply, MAX_BYTES).catch(({ message }: Error) => {
      throw new NoAnswer(message);
    });
    return readToken(reply.status, reply.headers.get('content-type') ?? '', text, secrets);
  };
  return {
    reserveMs: 10_000,
    issue: (signal) =>
      underOwnCall(site.log, ISSUE_MS, signal, async (call) => {
        const { style } = server.value;
        if (style) return ask(style, call);
        const [taken, token] = await probe(ask, call);
        server.change(taken);
        return token;
      }),
  };
}

/** Tries both styles. The second is tried only if the server responded to the first, but without a token. */
async function probe(
  ask: (style: Style, call: Call) => Promise<IssuedToken>,
  call: Call,
): Promise<readonly [Style, IssuedToken]> {
  try {
    return ['header', await ask('header', call)];
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
  }
  return ['form', await ask('form', call)];
}

/** The server was not reached, or did not send a valid HTTP response. */
class NoAnswer extends Error {}

function formOf({ client_id, client_secret, scopes, endpoint_params }: CredentialsConfig, style: Style): string {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  const wanted = scopes
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');
  if (wanted.length > 0) form.set('scope', wanted.join(' '));
  if (style === 'form') {
    form.set('client_id', client_id);
    form.set('client_secret', client_secret);
  }
  for (const [name, values] of Object.entries(endpoint_params)) {
    form.delete(name);
    for (const value of values) form.append(name, value);
  }
  return form.toString();
}

/** Encodes a client ID or secret as OAuth requires it before the two are joined. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** Sends a request and follows redirects on the same host only, because other hosts must not receive the secret. */
async function post(
  first: URL,
  headers: HeaderBag,
  form: string,
  send: (request: PipeRequest) => Reply | Promise<Reply>,
): Promise<Reply> {
  let url = first;
  let sent: string | null = form;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const reply = await send(tokenRequest(url, headers, sent));
    if (reply.errors.length > 0) throw new NoAnswer((reply.errors[0] as CallError).message);
    const location = redirects.has(reply.status) ? reply.headers.get('location') : undefined;
    if (location === undefined) return reply;
    discard(reply.body);
    const next = URL.parse(location, url.href);
    if (!next || !isSameHost(next, url)) throw new NoAnswer('the token endpoint redirects to another host');
    if (reply.status < 307) sent = null;
    url = next;
  }
  throw new NoAnswer('the token server redirects too often');
}
