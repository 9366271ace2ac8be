import type { ServerResponse } from 'node:http';
import { ByteStream, type Call } from '#contract';
import type { Answer } from '../pipeline/render.ts';

/** Writes an answer. A stream is written as it comes, no faster than the client takes it; a broken one breaks the connection. */
export function writeAnswer(response: ServerResponse, answer: Answer, call: Call | null): void {
  const { status, headers, body } = answer;
  if (body instanceof ByteStream) {
    if (!body.arrived) return streamAnswer(response, answer, body, call);
    writeWhole(response, status, headers, body.collect(Number.POSITIVE_INFINITY) as Uint8Array);
  } else {
    writeWhole(response, status, headers, body);
  }
  call?.finish();
}

function writeWhole(
  response: ServerResponse,
  status: number,
  headers: string[],
  body: string | Uint8Array | null,
): void {
  if (status !== 204 && status !== 304) setLength(headers, body === null ? 0 : Buffer.byteLength(body));
  response.writeHead(status, headers);
  if (body === null) response.end();
  else response.end(body);
}

/** The one length that is true, whatever the headers said. */
function setLength(headers: string[], length: number): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (headers[at]!.length === 14 && headers[at]!.toLowerCase() === 'content-length') headers.splice(at, 2);
  }
  headers.push('Content-Length', String(length));
}

function streamAnswer(response: ServerResponse, answer: Answer, body: ByteStream, call: Call | null): void {
  response.writeHead(answer.status, answer.headers);
  response.flushHeaders();
  response.on('drain', () => body.resume());
  body.flow({
    write: (chunk) => response.write(chunk),
    end: () => {
      call?.finish();
      response.end();
    },
    fail: (error) => {
      if (!call?.reason) call?.log.error(`response broke off: ${error.message}`);
      call?.finish();
      response.destroy();
    },
  });
}
