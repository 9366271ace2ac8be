import { type Call, CallError, type Data, HeaderBag, type Reply, RequestBody, type Site, toCallError } from '#contract';
import { bytesOf } from '../../shared/calls/body.ts';
import { requestTo } from '../../shared/calls/request-to.ts';
import { serverUrl } from './server-url.ts';

/** Maximum size of a response, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** A server that is called with JSON. */
export interface JsonServer {
  readonly url: string;
  /** JSON pointer of the URL, relative to the component's configuration. */
  readonly at: string;
  /** Credentials, sent as a bearer token. */
  readonly credentials?: string | undefined;
  readonly timeoutMs: number;
  /** Error code of failed calls. */
  readonly code: string;
}

/**
 * Sends JSON or a body of another type to a server.
 * @param contentType type of a body. Default: JSON.
 * @returns the JSON of a response with status 2xx.
 * @throws CallError for any other response; the call's abort reason if the call ends first.
 */
export type CallWithJson = (data: Data | Uint8Array, call: Call, contentType?: string) => Promise<Data>;

/** @throws ConfigError AI_SERVER_ADDRESS; warning AI_SERVER_INSECURE. */
export function jsonCaller(site: Site<unknown>, server: JsonServer): CallWithJson {
  const { at, credentials, timeoutMs, code } = server;
  const url = serverUrl(site, server.url, at, {
    invalid: 'AI_SERVER_ADDRESS',
    insecure: 'AI_SERVER_INSECURE',
    sent: 'prompts',
  });
  const send = site.http({ ofService: true, followsRedirects: false, calls: [{ address: url.href, at }] });
  const fields = [
    ...['User-Agent', `Sluice Version ${site.use('version')}`],
    ...(credentials === undefined ? [] : ['Authorization', `Bearer ${credentials}`]),
    ...['Accept', 'application/json', 'Content-Type'],
  ];
  return async (data, call, contentType = 'application/json') => {
    const part = call.fork(timeoutMs);
    try {
      const body = RequestBody.of(data instanceof Uint8Array ? data : JSON.stringify(data));
      const reply = await send(requestTo(url, 'POST', new HeaderBag([...fields, contentType]), body), part);
      return await dataOf(reply, code);
    } catch (error) {
      throw call.reason ?? new CallError(code, toCallError(error).message, { cause: error });
    } finally {
      part.finish();
    }
  };
}

async function dataOf(reply: Reply, code: string): Promise<Data> {
  if (reply.errors.length > 0) throw reply.errors[0]!;
  const bytes = await bytesOf(reply, MAX_BYTES);
  const { status } = reply;
  if (status < 200 || status > 299) throw new CallError(code, `status ${status}`);
  if (bytes.length > MAX_BYTES) throw new CallError(code, `the response is larger than ${MAX_BYTES} bytes`);
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()) as Data;
  } catch {
    throw new CallError(code, 'the response is not JSON');
  }
}
