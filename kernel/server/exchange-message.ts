import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.ts';

/** A message on its way through Koa, with its exchange. */
export interface ExchangeMessage extends IncomingMessage {
  [exchangeKey]?: Exchange;
}

export const exchangeKey = Symbol('exchange');

/** Aborts the exchange of a message, if it has one: its connection answers with this status in its place, or ends. */
export function abandon(message: IncomingMessage, status: number): void {
  (message as ExchangeMessage)[exchangeKey]?.abandon(status);
}
