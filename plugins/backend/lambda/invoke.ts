import {
  BackendError,
  type Call,
  type CallError,
  type Cancellation,
  type Data,
  discard,
  HeaderBag,
  isObject,
  type Log,
  mayLoseDigits,
  PipeRequest,
  parseExact,
  Query,
  Reply,
  RequestBody,
  type Step,
} from '#contract';
import type { CredentialChain } from '../../clients/aws/credentials.ts';
import { REGION_PATTERN } from '../../clients/aws/region.ts';
import { signAws } from '../../clients/aws/sigv4.ts';
import { textOf } from '../../shared/calls/body.ts';

/** Settings for invoking functions. */
export interface Invoking {
  readonly send: Step<PipeRequest>;
  readonly credentials: CredentialChain;
  /** AWS region; undefined if none is configured. */
  readonly region: () => Promise<string | undefined>;
  /** Base URL; undefined for the AWS endpoint of the region. */
  readonly endpoint: string | undefined;
  /** Maximum number of retries. */
  readonly maxRetries: number;
  readonly log: Log;
}

/** Maximum size of a function's response, in bytes. The limit of AWS is 6 MB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Delay before the first retry, in milliseconds; doubled for each further one. */
const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 5_000;

/** Invokes a function and returns its result. */
export async function invoke(
  invoking: Invoking,
  name: string,
  payload: Uint8Array,
  request: PipeRequest,
  call: Call,
): Promise<Reply> {
  const region = await invoking.region();
  if (region === undefined)
    throw new BackendError('LAMBDA_REGION', 'no AWS region: neither "region" nor AWS_REGION is set');
  if (!new RegExp(REGION_PATTERN).test(region))
    throw new BackendError('LAMBDA_REGION', `AWS_REGION "${region}" is not a valid AWS region`);
  for (let attempt = 0; ; attempt++) {
    const reply = await once(invoking, region, name, payload, request, call);
    const isWorthwhile = attempt < invoking.maxRetries && isTransient(reply) && !call.reason;
    if (!isWorthwhile) return reply.errors.length > 0 ? reply : read(reply, name, invoking.log);
    discard(reply.body);
    await pause(Math.min(FIRST_WAIT_MS * 2 ** attempt, MAX_WAIT_MS) * (0.5 + Math.random() / 2), call);
    if (call.reason) return Reply.failed(call.reason as CallError);
  }
}

/** URL for invoking functions of a region. */
export function addressIn(region: string): string {
  return `https://lambda.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

async function once(
  { send, credentials, endpoint }: Invoking,
  region: string,
  name: string,
  payload: Uint8Array,
  { client }: PipeRequest,
  call: Call,
): Promise<Reply> {
  const base = new URL(endpoint ?? addressIn(region));
  const target = `${base.pathname.replace(/\/$/, '')}/2015-03-31/functions/${encodeURIComponent(name.toWellFormed())}/invocations`;
  const headers = new HeaderBag(['X-Amz-Invocation-Type', 'RequestResponse', 'X-Amz-Log-Type', 'None']);
  const signed = signAws(
    { method: 'POST', host: base.host, target, headers, body: payload },
    await credentials.get(send),
    { region, service: 'lambda' },
    Date.now(),
  );
  for (const [header, value] of signed.headers) headers.append(header, value);
  const body = payload.length > 0 ? RequestBody.of(payload) : null;
  const invocation = new PipeRequest(client, {}, new Query(), headers, body);
  Object.assign(invocation, { method: 'POST', origin: base.origin, target });
  return send(invocation, call);
}

/** Whether a failure may be temporary. */
function isTransient({ errors, status }: Reply): boolean {
  return errors.length > 0 || status === 429 || status >= 500;
}

/** @throws BackendError LAMBDA_STATUS, LAMBDA_FUNCTION, LAMBDA_PAYLOAD */
async function read(reply: Reply, name: string, log: Log): Promise<Reply> {
  const { status, headers } = reply;
  const text = await textOf(reply, MAX_ANSWER_BYTES);
  if (status !== 200) {
    const code = headers.get('x-amzn-errortype')?.split(':')[0] || fieldOf(text, '__type', 'Type', 'code');
    log.warning(`[Lambda] ${name}: status ${status}${code ? `, ${code}` : ''}`);
    throw new BackendError('LAMBDA_STATUS', `lambda function ${name}: status ${status}`, { upstreamStatus: status });
  }
  if (headers.has('x-amz-function-error')) {
    const type = fieldOf(text, 'errorType') || headers.get('x-amz-function-error');
    log.warning(`[Lambda] ${name}: the function has failed, ${type}`);
    throw new BackendError('LAMBDA_FUNCTION', `lambda function ${name} has failed: ${type}`);
  }
  const answer = Reply.data(dataOf(text, name));
  const version = headers.get('x-amz-executed-version');
  if (version !== undefined) answer.headers.set('X-Amz-Executed-Version', version);
  return answer;
}

/** Returns an object unchanged, a list under `collection`, and any other value under `content`. */
function dataOf(text: string, name: string) {
  let data: Data;
  try {
    data = mayLoseDigits(text) ? parseExact(text) : JSON.parse(text);
  } catch (cause) {
    const what = text.trim() === '' ? 'nothing' : 'no JSON';
    throw new BackendError('LAMBDA_PAYLOAD', `lambda function ${name} returned ${what}`, { cause });
  }
  if (isObject(data)) return data;
  return Array.isArray(data) ? { collection: data } : { content: data };
}

/** Returns the first of the given fields of a JSON object that is a string; empty if none is. */
function fieldOf(text: string, ...names: string[]): string {
  try {
    const held: unknown = JSON.parse(text);
    for (const name of names) {
      const value = isObject(held) && Object.hasOwn(held, name) ? held[name] : undefined;
      if (typeof value === 'string') return value.slice(0, 200);
    }
  } catch {}
  return '';
}

/** Waits until the delay has passed or the call is canceled. */
function pause(ms: number, call: Call): Promise<void> {
  return new Promise((resolve) => {
    let cancellation: Cancellation | null = null;
    const timer = setTimeout(() => {
      cancellation?.off();
      resolve();
    }, ms);
    cancellation = call.onCancel(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
