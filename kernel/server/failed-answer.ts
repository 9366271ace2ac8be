import type { ServerResponse } from 'node:http';
import type { ProductNames } from '#contract';
import type { RenderedReply } from '../pipeline/render.ts';
import { type ExchangeMessage, exchangeKey } from './exchange-context.ts';
import { takeHeaders } from './koa-reply.ts';

/** What a client is told when its answer could not be made. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** An error of writing a response, for the log: a header that Node refuses is named, everything else has its stack. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN'
    ? error.message
    : (error.stack ?? error.message);
}

const internalError: Refusal = { status: 500, text: '' };

/**
 * Answers in the place of what failed. An answer that is wholly given stands, and so does its connection; one that is given
 * in part breaks its connection.
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
