import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { InjectOptions } from 'light-my-request';
import type { OpenSandbox } from '../../sandbox/open-sandbox.ts';
import type { Session } from '../../sandbox/session.ts';
import type { Sample } from '../../server/exchange/sample.ts';
import type { Observed } from '../replay/compare.ts';
import { decodeBody } from './decode-body.ts';

/** Time limit of a repeated request, in milliseconds. */
const TIMEOUT_MS = 10_000;

type Response = Observed['response'];

/** In place of a response that did not arrive. */
const none: Response = { status: 0, headers: new Map(), body: new Uint8Array(), ms: 0 };

/**
 * Repeats the request of a sample with another gateway. A response that does not arrive in time has status 0.
 * @param limitBytes longer bodies are omitted, and not read to their end.
 */
export async function repeatRequest(
  sandbox: OpenSandbox,
  session: Session,
  { url, method, headers, address, isEncrypted }: Sample['request'],
  limitBytes: number,
): Promise<Response> {
  let end = (): void => {};
  const timer = setTimeout(() => end(), TIMEOUT_MS);
  const options: InjectOptions = {
    method: method as 'GET',
    // Replaced below, by the target exactly as received.
    url: '/',
    payloadAsStream: true,
  };
  try {
    const response = await sandbox.inject(session, options, (message, response) => {
      end = () => void response.destroy();
      message.url = url;
      message.rawHeaders = [...headers];
      message.headers = parsedHeaders(headers);
      Object.assign(message.socket, { remoteAddress: address, encrypted: isEncrypted });
    });
    const { statusCode: status, headers: received } = response;
    const all = new Map(
      Object.entries(received).map(([name, value]) => [name.toLowerCase(), [value ?? ''].flat().map(String)] as const),
    );
    const body = await collect(response.stream(), limitBytes);
    return { status, headers: all, body: body && (await decodeBody(body, all.get('content-encoding')?.[0])), ms: 0 };
  } catch {
    return none;
  } finally {
    clearTimeout(timer);
    // Ends the requests to backends if the response was not read to its end.
    end();
  }
}

/** The response of a sample, in the form in which responses are compared. */
export async function responseOf({ status, headers, body }: Sample['response']): Promise<Response> {
  const grouped = Map.groupBy(headers, ([name]) => name);
  const all = new Map([...grouped].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
  return { status, headers: all, body: body && (await decodeBody(body, all.get('content-encoding')?.[0])), ms: 0 };
}

async function collect(stream: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > limitBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Headers of which Node.js keeps the first value only. */
const single: ReadonlySet<string> = new Set(['authorization', 'content-type', 'host', 'referer', 'user-agent']);

/** Headers as Node.js presents them, with the values of a name in one text. */
function parsedHeaders(list: readonly string[]): IncomingHttpHeaders {
  const headers: IncomingMessage['headers'] = Object.create(null);
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = list[at]!.toLowerCase();
    const known = headers[name] as string | undefined;
    if (known === undefined) headers[name] = list[at + 1]!;
    else if (!single.has(name)) headers[name] = `${known}${name === 'cookie' ? '; ' : ', '}${list[at + 1]}`;
  }
  return headers;
}
