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
import type { RenderedReply, Rendering } from '../../pipeline/response/render.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { RequestContext } from '../request/client-request.ts';
import type { Identify } from '../request/id.ts';
import type { Wayfinder } from '../routing/destinations.ts';
import type { FallbackReplies } from '../routing/fallback-replies.ts';

/** Settings shared by the exchanges of one runtime. */
export interface ExchangeContext {
  readonly destinations: Wayfinder;
  readonly rendering: Rendering;
  readonly fallbacks: FallbackReplies;
  readonly requests: RequestContext;
  readonly options: RouterOptions;
  /** Assigns request IDs; null when disabled. */
  readonly identify: Identify | null;
  /** Middleware around all requests; null for none. */
  readonly around: Step<ClientRequest> | null;
  /** Last hook for the heads of responses; null for none. */
  readonly heads: SeeHead | null;
  /** Whether responses are passed to Koa instead of being written directly. */
  readonly throughKoa: boolean;
  readonly runtime: Runtime;
  readonly log: Log;
}

/** The part of an exchange that the Koa application and the connection use. */
export interface KoaExchange {
  /** Called before Koa middleware sees the request. */
  prepare(): void;
  /** Returns the endpoint of this request; null for none. */
  match(): EndpointConfig | null;
  /** Handles the request of a Koa context. */
  run(context: Koa.Context): Promise<void> | void;
  /** Called when the response is about to be written: discards the rest of the request body. */
  settleBody(streams: boolean): void;
  /** Runs the head hooks on a response. */
  seeHead(rendered: RenderedReply): RenderedReply;
  /** Aborts the exchange: the connection sends this status instead of its response, or closes. */
  abandon(status: number): void;
  /**
   * Aborts the exchange because the client has not read for this time, in milliseconds. The caller then closes the
   * connection.
   */
  stalled(milliseconds: number): void;
}

/** A message passing through Koa, with its exchange. */
export interface ExchangeMessage extends IncomingMessage {
  [exchangeKey]?: KoaExchange;
}

export const exchangeKey = Symbol('exchange');

/**
 * Aborts the exchange of a message, if it has one: the connection sends this status instead of its response, or closes.
 */
export function abandon(message: IncomingMessage, status: number): void {
  (message as ExchangeMessage)[exchangeKey]?.abandon(status);
}

/** Aborts the exchange of a message because the client has not read for this time. */
export function endStalled(message: IncomingMessage, milliseconds: number): void {
  (message as ExchangeMessage)[exchangeKey]?.stalled(milliseconds);
}

/** Runs hooks that can inspect and change the head of a response. */
export type SeeHead = (rendered: RenderedReply, request: ClientRequest, call: Call) => RenderedReply;

/** Combines hooks into one. @param hooks in the order in which they run. @returns null for none. */
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
