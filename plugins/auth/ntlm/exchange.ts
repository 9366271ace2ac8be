import { BackendError, type Call, discard, type Log, type PipeRequest, Reply, RequestBody, type Step } from '#contract';
import { type Account, authenticateMessage, negotiateMessage, readChallenge } from './messages.ts';

/** A connection, with two HTTP clients that use it. */
export interface Lane {
  /** Client that follows redirects, as configured for the backend. */
  readonly follow: Step<PipeRequest>;
  /** Client that returns redirects instead of following them. */
  readonly stay: Step<PipeRequest>;
}

const schemes = ['NTLM', 'Negotiate'] as const;

/**
 * Sends a request over a connection and authenticates if the server requires it. The connection may already be
 * authenticated.
 * @param body complete body, because it may be sent again.
 */
export async function authenticated(
  lane: Lane,
  account: Account,
  request: PipeRequest,
  body: Uint8Array,
  call: Call,
  log: Log,
): Promise<Reply> {
  const { origin } = request;
  for (let isRetry = false; ; isRetry = true) {
    const first = attempt(request, body);
    const reply = await lane.follow(first, call);
    const scheme = reply.status === 401 && reply.errors.length === 0 ? offered(reply) : undefined;
    const isMoved = first.origin !== origin || first.target !== request.target;
    if (scheme === undefined || !isForAccount(first.origin, origin)) return reply;
    discard(reply.body);
    // A request that follows a redirect is sent without a body.
    const payload = isMoved ? new Uint8Array() : body;
    if (isMoved && first.method !== 'HEAD') first.method = 'GET';
    const last = await answerChallenge(lane, account, scheme, first, payload, call);
    const isBroken = last.errors.length > 0 && !call.reason && !isRefused(last);
    if (isBroken && !isRetry) continue;
    if (last.status === 401) log.error('NTLM authentication rejected');
    return last;
  }
}

/** Whether the account may be used for a redirect target: only on the same host, and never in plain text after TLS. */
export function isForAccount(origin: string, first: string): boolean {
  const [to, from] = [URL.parse(origin), URL.parse(first)];
  if (!to || !from) return false;
  return to.hostname === from.hostname && (to.protocol === 'https:' || from.protocol === 'http:');
}

async function answerChallenge(
  lane: Lane,
  account: Account,
  scheme: string,
  to: PipeRequest,
  body: Uint8Array,
  call: Call,
): Promise<Reply> {
  const asking = attempt(to, new Uint8Array(), `${scheme} ${negotiateMessage().toString('base64')}`);
  const negotiation = await lane.stay(asking, call);
  if (negotiation.errors.length > 0) return negotiation;
  const challenge = negotiation.status === 401 ? challengeIn(negotiation, scheme) : null;
  discard(negotiation.body);
  if (!challenge) return Reply.failed(broken);
  if (/\bclose\b/i.test(negotiation.headers.get('connection') ?? '')) return Reply.failed(lost);
  const message = authenticateMessage(account, challenge).toString('base64');
  return lane.stay(attempt(to, body, `${scheme} ${message}`), call);
}

const broken = new BackendError('NTLM_CHALLENGE', 'NTLM: the server sent no valid challenge');
const lost = new BackendError('NTLM_CONNECTION', 'NTLM: the server closes the connection during authentication');

/** Whether the failure is permanent, so that a retry would not help. */
function isRefused({ errors }: Reply): boolean {
  return errors[0] === broken;
}

function attempt(request: PipeRequest, body: Uint8Array, authorization?: string): PipeRequest {
  const copy = request.copy();
  copy.body = body.length > 0 ? RequestBody.of(body) : null;
  if (authorization !== undefined) copy.headers.set('Authorization', authorization);
  return copy;
}

/** Returns the scheme that the server offers; undefined if none is supported. */
function offered({ headers }: Reply): string | undefined {
  const names = headers.getAll('www-authenticate').flatMap((value) => value.split(','));
  return schemes.find((scheme) =>
    names.some((name) => name.trim().split(' ')[0]!.toLowerCase() === scheme.toLowerCase()),
  );
}

function challengeIn({ headers }: Reply, scheme: string) {
  const form = new RegExp(`^${scheme} +([A-Za-z0-9+/]+={0,2})$`, 'i');
  for (const value of headers.getAll('www-authenticate')) {
    const encoded = form.exec(value.trim())?.[1];
    if (encoded !== undefined) return readChallenge(Buffer.from(encoded, 'base64'));
  }
  return null;
}
