import { BackendError, Call, HeaderBag, type PipeRequest, type Reply, RequestBody, type Step } from '#contract';
import { textOf } from '../../shared/calls/body.ts';
import { requestTo } from '../../shared/calls/request-to.ts';

/** Longest wait for credential services, in milliseconds. */
const FETCH_MS = 2_000;
const MAX_BYTES = 64 * 1024;

/** A request to a credential service. */
export interface Requested {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly url: string;
  /** Alternating names and values. */
  readonly headers?: string[];
  readonly body?: string;
  /** Timeout of the request, in milliseconds. Default: 2 seconds. */
  readonly timeoutMs?: number;
}

/** Fetches the body of a response with status 200. @throws BackendError AWS_CREDENTIALS for any other status, with the AWS error code. */
export async function fetchText(send: Step<PipeRequest>, requested: Requested): Promise<string> {
  const { method, url, headers = [], body, timeoutMs = FETCH_MS } = requested;
  const payload = body === undefined ? null : RequestBody.of(body);
  const request = requestTo(new URL(url), method, new HeaderBag(headers), payload);
  const call = new Call(undefined, timeoutMs);
  try {
    return await answerOf(await send(request, call));
  } finally {
    call.finish();
  }
}

async function answerOf(reply: Reply): Promise<string> {
  const { errors, status } = reply;
  if (errors.length > 0) throw errors[0]!;
  const text = await textOf(reply, MAX_BYTES);
  if (status === 200) return text;
  const code = /<Code>(\w{1,100})<\/Code>/.exec(text)?.[1];
  const what = `the AWS credentials service returned status ${status}`;
  throw new BackendError('AWS_CREDENTIALS', code ? `${what}, ${code}` : what);
}
