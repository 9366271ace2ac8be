import type { ServerResponse } from 'node:http';
import type { ProductNames } from '#contract';
import type { RenderedReply } from '../../pipeline/response/render.ts';
import { type ExchangeMessage, exchangeKey } from '../exchange/context.ts';
import { takeHeaders } from '../exchange/koa-reply.ts';

/** Error response for a request whose own response could not be produced. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/**
 * Formats an error from writing a response for the log: an invalid header by its message, any other error with its
 * stack.
 */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN'
    ? error.message
    : (error.stack ?? error.message);
}

const internalError: Refusal = { status: 500, text: '' };

/**
 * Replaces a failed response with an error response. A response that is already complete is left alone, and its
 * connection stays open; if part of the response is sent, the connection is closed.
 */
export function answerFailure(response: ServerResponse, names: ProductNames, refusal = internalError): void {
  if (response.writableEnded || response.destroyed) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const exchange = (response.req as ExchangeMessage)[exchangeKey];
  exchange?.settleBody(false);
  const { status, text } = refusal;
  for (const name of response.getHeaderNames()) {
    if (/^(?:content-|etag$|x-(?:gateway|krakend)$)/.test(name)) response.removeHeader(name);
  }
  const headers = takeHeaders(response);
  headers.push(names.header, names.version, 'Content-Length', String(Buffer.byteLength(text)));
  if (text !== '') headers.push('Content-Type', 'text/plain; charset=utf-8');
  const rendered: RenderedReply = { status, headers, body: text };
  const seen = exchange?.seeHead(rendered) ?? rendered;
  response.writeHead(seen.status, seen.headers).end(text);
}
