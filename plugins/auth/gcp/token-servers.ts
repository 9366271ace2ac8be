import { type Call, type DataObject, getKey, isObject, type PipeRequest, type Reply, type Site } from '#contract';
import { algorithm } from '../../clients/keys/algorithms.ts';
import { ISSUE_MS, type IssuedToken, type TokenServer, tokenRequest } from '../../clients/tokens/token-server.ts';
import { textOf } from '../../shared/calls/body.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import type { GcpConfig } from './schema.ts';
import type { ServiceAccount } from './service-account.ts';

/** Time before expiry at which a token is no longer used, in milliseconds. */
const RESERVE_MS = 5 * 60_000;
const HOUR_S = 3600;
const MAX_BYTES = 64 * 1024;
/** Maximum length of server texts in messages, in characters. */
const MAX_SHOWN = 256;

const FORM = ['Content-Type', 'application/x-www-form-urlencoded', 'Accept', 'application/json'];
const METADATA = '/computeMetadata/v1/instance/service-accounts/default/identity';

/** Request to a token server. */
interface Question {
  readonly url: URL;
  readonly headers: string[];
  /** Form fields. If set, the request is a POST. */
  readonly form?: URLSearchParams;
}

/** Issues tokens to a service account, which authenticates by its signature. */
export function accountServer(site: Site<GcpConfig>, account: ServiceAccount): TokenServer {
  const { audience, custom_claims: claims = {} } = site.config;
  const { email, key, keyId, tokenUrl } = account;
  const header = encoded({ alg: 'RS256', typ: 'JWT', ...(keyId && { kid: keyId }) });
  return server(site, tokenUrl, () => {
    const now = Math.floor(Date.now() / 1000);
    const registered = { iss: email, sub: email, aud: tokenUrl.href, iat: now, exp: now + HOUR_S };
    const text = `${header}.${encoded({ ...claims, ...registered, target_audience: audience })}`;
    const signature = algorithm('RS256').sign(Buffer.from(text), key).toString('base64url');
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `${text}.${signature}`,
    });
    return [{ url: tokenUrl, headers: FORM, form }, tokenIn];
  });
}

/** Issues tokens from the metadata server of the machine that the gateway runs on. */
export function metadataServer(site: Site<GcpConfig>): TokenServer {
  const url = new URL(METADATA, metadataOrigin());
  url.search = new URLSearchParams({ audience: site.config.audience, format: 'full' }).toString();
  return server(site, url, () => [{ url, headers: ['Metadata-Flavor', 'Google'] }, (text) => text.trim()]);
}

/** Origin of the metadata server. */
function metadataOrigin(): string {
  return `http://${process.env['GCE_METADATA_HOST'] || 'metadata.google.internal'}`;
}

function server(
  site: Site<GcpConfig>,
  { href: address }: URL,
  question: () => readonly [question: Question, tokenOf: (text: string) => string],
): TokenServer {
  const send = site.http({ ofService: true, followsRedirects: false, calls: [{ address, at: '' }] });
  return {
    reserveMs: RESERVE_MS,
    issue: (signal) =>
      underOwnCall(site.log, ISSUE_MS, signal, async (call) => {
        const [requested, tokenOf] = question();
        return issued(tokenOf(await ask(requested, (request) => send(request, call), call)));
      }),
  };
}

async function ask(
  { url, headers, form }: Question,
  send: (request: PipeRequest) => Reply | Promise<Reply>,
  call: Call,
): Promise<string> {
  const reply = await send(tokenRequest(url, headers, form ? form.toString() : null));
  const { errors, status } = reply;
  if (errors.length > 0) throw errors[0]!;
  const text = await textOf(reply, MAX_BYTES);
  if (call.reason) throw call.reason;
  if (status === 200) return text;
  throw new Error(`the token server returned status ${status}${described(text, form?.get('assertion') ?? '')}`);
}

/** Describes the server's error; omits the description if the error repeats data that was sent. */
function described(text: string, assertion: string): string {
  const document = objectIn(text);
  const said = document && (getKey(document, 'error_description') ?? getKey(document, 'error'));
  if (typeof said !== 'string' || (assertion !== '' && said.includes(assertion.slice(-32)))) return '';
  return `: ${said.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_SHOWN)}`;
}

function tokenIn(text: string): string {
  const document = objectIn(text);
  const token = document && getKey(document, 'id_token');
  return typeof token === 'string' ? token : '';
}

/** Reads the expiry of a token. @throws Error if the text is not a token with an expiry. */
function issued(token: string): IssuedToken {
  const payload = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(token)?.[1];
  const claims = payload === undefined ? undefined : objectIn(Buffer.from(payload, 'base64url').toString());
  const end = claims && getKey(claims, 'exp');
  if (typeof end !== 'number') throw new Error('the response of the token server has no identity token');
  return { authorization: `Bearer ${token}`, lifeMs: end * 1000 - Date.now() };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function objectIn(text: string): DataObject | undefined {
  try {
    const document: unknown = JSON.parse(text);
    return isObject(document) ? document : undefined;
  } catch {
    return undefined;
  }
}
