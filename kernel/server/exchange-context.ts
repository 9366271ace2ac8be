import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import {
  type AtService,
  type Call,
  type ClientRequest,
  type EndpointConfig,
  HeaderBag,
  type Log,
  type RouterOptions,
  type Step,
} from '#contract';
import type { RenderedReply, Rendering } from '../pipeline/render.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { RequestContext } from './client-request.ts';
import type { Wayfinder } from './destinations.ts';
import type { FallbackReplies } from './fallback-replies.ts';
import type { Identify } from './request-id.ts';

/** What the exchanges of one runtime share. */
export interface ExchangeContext {
  readonly destinations: Wayfinder;
  readonly rendering: Rendering;
  readonly fallbacks: FallbackReplies;
  readonly requests: RequestContext;
  readonly options: RouterOptions;
  /** Gives requests their ids; null for none. */
  readonly identify: Identify | null;
  /** What stands around everything that is answered; null for nothing. */
  readonly around: Step<ClientRequest> | null;
  /** Sees every head last; null for nobody. */
  readonly heads: SeeHead | null;
  /** The answer is handed to Koa instead of being written at once. */
  readonly throughKoa: boolean;
  readonly runtime: Runtime;
  readonly log: Log;
}

/** What an exchange does for the Koa application and the connection around it. */
export interface KoaExchange {
  /** Koa middleware is about to see the request. */
  prepare(): void;
  /** The endpoint this request is for; null when there is none. */
  match(): EndpointConfig | null;
  /** Answers the request that a context is of. */
  run(context: Koa.Context): Promise<void> | void;
  /** As of `ClientBody.settle`. */
  settleBody(streams: boolean): void;
  /** Lets those who asked see the head of an answer. */
  seeHead(rendered: RenderedReply): RenderedReply;
  /** Ends it: its connection answers with this status in its place, or ends. */
  abandon(status: number): void;
  /** Aborts the exchange because the client has not read for this time, in milliseconds. Its connection closes next. */
  stalled(milliseconds: number): void;
}

/** A message on its way through Koa, with its exchange. */
export interface ExchangeMessage extends IncomingMessage {
  [exchangeKey]?: KoaExchange;
}

export const exchangeKey = Symbol('exchange');

/** Aborts the exchange of a message, if it has one: its connection answers with this status in its place, or ends. */
export function abandon(message: IncomingMessage, status: number): void {
  (message as ExchangeMessage)[exchangeKey]?.abandon(status);
}

/** As of `KoaExchange.stalled`. */
export function endStalled(message: IncomingMessage, milliseconds: number): void {
  (message as ExchangeMessage)[exchangeKey]?.stalled(milliseconds);
}

/** Lets those who asked see the head of an answer, and change it. */
export type SeeHead = (rendered: RenderedReply, request: ClientRequest, call: Call) => RenderedReply;

/** @param hooks in the order in which they see a head. @returns null for none. */
export function compileHeads(hooks: readonly NonNullable<AtService['head']>[], log: Log): SeeHead | null {
  if (hooks.length === 0) return null;
  return (rendered, request, call) => {
    const head = { status: rendered.status, headers: new HeaderBag(rendered.headers) };
    for (const hook of hooks) {
      try {
        hook(head, request, call);
      } catch (error) {
        log.error(
          () =>
            `a component failed while preparing the response headers: ${error instanceof Error ? error.stack : error}`,
        );
      }
    }
    return { ...rendered, status: head.status, headers: head.headers.list };
  };
}
