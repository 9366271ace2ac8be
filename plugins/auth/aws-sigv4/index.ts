import {
  type AtBackend,
  atBackend,
  BackendError,
  type BackendSite,
  type Call,
  CallError,
  definePlugin,
  defineSlot,
  type HeaderBag,
  type HttpAttempt,
  httpSigners,
  offer,
  type PipeRequest,
  Reply,
  toCallError,
  type Wrap,
} from '#contract';
import { CredentialChain } from '../../clients/aws/credentials.ts';
import type { RenewedCredentials } from '../../clients/aws/renewed-credentials.ts';
import { signAws, UNSIGNED_PAYLOAD } from '../../clients/aws/sigv4.ts';
import { assumedRole } from '../../clients/aws/sts.ts';
import { Clocks, followClock, mayBeSkewed } from './clocks.ts';
import { type SigV4Config, schema } from './schema.ts';

/** Maximum size of a body that is buffered for signing, in bytes. */
const MAX_SIGNED_BYTES = 10 * 1024 * 1024;

/** Signing state of a call. */
interface Signing {
  /** Host of the call's first request. */
  host: string | null;
  /** Whether the body is streamed and therefore not signed. */
  readonly isStreamed: boolean;
}

/** Headers set by the signature. */
const signed = ['Authorization', 'X-Amz-Date', 'X-Amz-Security-Token', 'X-Amz-Content-Sha256'] as const;

const signingSlot = defineSlot<Signing>('aws signing');

/**
 * Signs every request to the backend, including retries and redirects, after all other changes. Requests are not sent
 * without credentials (`AWS_CREDENTIALS`). Other call errors: `AWS_BODY`, `AWS_REDIRECT`.
 */
export const plugin = definePlugin({
  name: 'auth/aws-sigv4',
  description: 'Signs backend requests with AWS Signature Version 4.',
  leaves: ['data'],
  offers: [httpSigners],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<SigV4Config>): AtBackend {
  const { config } = site;
  const log = site.log.at('[AWSSigV4]');
  const send = site.http({ ofService: true, followsRedirects: false });
  const credentials = credentialsOf(site);
  const clocks = site.keep('clocks of AWS', () => new Clocks());
  const scope = { region: config.region, service: config.service };
  const sign = async (attempt: HttpAttempt, call: Call): Promise<void> => {
    const signing = call.get(signingSlot);
    checkRedirect(attempt, signing);
    const { method, host, target, headers, body } = attempt;
    const identity = await credentials.get(send);
    for (const name of signed) headers.delete(name);
    const signature = signAws(
      { method, host, target, headers: signable(headers), body },
      identity,
      scope,
      Date.now() + clocks.skewOf(host),
      signing?.isStreamed ? UNSIGNED_PAYLOAD : undefined,
    );
    for (const [name, value] of signature.headers) headers.set(name, value);
    if (!config.debug) return;
    const secret = identity.sessionToken;
    const shown = (text: string) => (secret ? text.replaceAll(secret, '***') : text);
    log.debug(() => `canonical request: ${JSON.stringify(shown(signature.canonicalRequest))}`);
    log.debug(() => `string to sign: ${JSON.stringify(signature.stringToSign)}`);
  };
  const transport: Wrap<PipeRequest> = (next) => async (request, call) => {
    dropClientHeaders(request);
    const isStreamed = await readBody(request, config.service);
    if (isStreamed instanceof CallError) return Reply.failed(isStreamed);
    const signing: Signing = { host: null, isStreamed };
    const reply = await next(request, call.with(signingSlot, signing));
    if (!mayBeSkewed(reply) || signing.host === null) return reply;
    return followClock(clocks, signing.host, reply, log).then(
      () => reply,
      (error) => Reply.failed(toCallError(error)),
    );
  };
  return {
    offers: [offer(httpSigners, { sign, ...(config.service !== 's3' && { readsBody: true as const }) })],
    transport,
    sets: signed,
  };
}

function credentialsOf(site: BackendSite<SigV4Config>): RenewedCredentials {
  const { region, assume_role_arn: arn, sts_region = region } = site.config;
  const own = site.keep('credentials', () => new CredentialChain(process.env));
  if (arn === undefined) return own;
  const role = { arn, region: sts_region, session: `sluice-${site.use('version').replace(/[^\w.-]/g, '')}` };
  return site.keep(['role', arn, sts_region], () => assumedRole(role, process.env, own));
}

/** Rejects redirects to another host, because a signature is valid for one host only. */
function checkRedirect({ redirects, host }: HttpAttempt, signing: Signing | undefined): void {
  if (!signing) return;
  if (redirects === 0) signing.host = host;
  else if (signing.host !== host)
    throw new BackendError('AWS_REDIRECT', `the redirect target is on another host, ${host}`);
}

/** Removes the client's headers that AWS would interpret. Those set by components are kept and signed. */
function dropClientHeaders({ headers, client }: PipeRequest): void {
  for (const [name, value] of client.headers) {
    const lower = name.toLowerCase();
    if (lower !== 'authorization' && !lower.startsWith('x-amz-')) continue;
    if (headers.getAll(lower).includes(value)) headers.delete(lower);
  }
}

/** Selects the headers to sign: those that do not change on the way to AWS. */
function* signable(headers: HeaderBag): Generator<readonly [name: string, value: string]> {
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (lower === 'content-type' || lower.startsWith('x-amz-')) yield [name, value];
  }
}

/** Buffers the body so that it can be signed. @returns true if the body is sent unsigned, which S3 accepts over TLS. */
async function readBody(request: PipeRequest, service: string): Promise<boolean | CallError> {
  const { body, origin } = request;
  if (body === null || body.length === 0) return false;
  const mayStream = service === 's3' && origin.startsWith('https:');
  if (mayStream && !(body.length !== undefined && body.length <= MAX_SIGNED_BYTES)) return true;
  const tooLong = new BackendError('AWS_BODY', `a body of more than ${MAX_SIGNED_BYTES} bytes is not signed`);
  if ((body.length ?? 0) > MAX_SIGNED_BYTES) return tooLong;
  try {
    // A body of unknown length is not read beyond the limit.
    body.restrict(MAX_SIGNED_BYTES);
    await body.bytes();
    return false;
  } catch (error) {
    return toCallError(error);
  }
}
