import type { IncomingMessage } from 'node:http';
import { Stream } from 'node:stream';
import Koa from 'koa';
import type { Log, ProductNames } from '#contract';
import { PluginFault } from '../../containment/plugin-fault.ts';
import type { RenderedReply } from '../../pipeline/response/render.ts';
import { respondByKoa } from '../port/internals.ts';
import type { Profile } from '../response/coding.ts';
import { answerFailure, type Refusal } from '../response/failed-answer.ts';
import { type ExchangeMessage, exchangeKey } from './context.ts';
import { compressReply, headersOn, takeHeaders } from './koa-reply.ts';

/** An error from Koa's `context.throw`, or any other. */
type KoaError = Error & { readonly status?: number; readonly expose?: boolean };

type Composed = (context: Koa.Context) => Promise<void>;

/**
 * A Koa application whose innermost middleware usually writes the response itself. Koa's own responder, and its
 * monitoring of the response, are used only for a request whose response was left on the context.
 */
export class KoaApp extends Koa {
  readonly #profile: Profile | null;

  /** @param profile for compressing responses left on the context; null to send them as they are. */
  constructor(names: ProductNames, profile: Profile | null, log: Log) {
    super();
    this.#profile = profile;
    this.silent = true;
    this.on('error', (error: Error) => {
      // Plugin faults are already logged.
      if (!(error instanceof PluginFault)) log.error(() => `service middleware failed: ${error.stack}`);
    });
    this.context.onerror = function (this: Koa.Context, error: KoaError | null) {
      if (!error) return;
      const { res } = this;
      const refusal = refusalOf(error);
      if (!refusal && !hasLeft(this.req)) this.app.emit('error', error, this);
      answerFailure(res, names, refusal ?? undefined);
    };
  }

  /** Handles a request; Koa's own callback calls this method. */
  handleRequest(context: Koa.Context, run: Composed): Promise<void> {
    context.res.statusCode = 404;
    return run(context).then(
      () => (context.respond === false ? undefined : this.#respond(context)),
      (error) => context.onerror(error instanceof Error ? error : new Error(`thrown: ${String(error)}`)),
    );
  }

  /** Lets Koa respond from the context. */
  #respond(context: Koa.Context): Promise<void> {
    (context.req as ExchangeMessage)[exchangeKey]?.settleBody(context.body instanceof Stream);
    const packing = this.#profile === null ? undefined : compressReply(context, this.#profile);
    const { statusCode } = context.res;
    return respondByKoa.call(this, context, async () => {
      context.res.statusCode = statusCode;
      await packing;
      showHead(context);
    });
  }
}

/** Runs the head hooks on a response that was left on the context. */
function showHead(context: Koa.Context): void {
  const { res, req } = context;
  const rendered: RenderedReply = { status: res.statusCode, headers: headersOn(res), body: null };
  const seen = (req as ExchangeMessage)[exchangeKey]?.seeHead(rendered) ?? rendered;
  if (seen === rendered) return;
  const { status, headers } = seen;
  takeHeaders(res);
  res.statusCode = status;
  for (let at = 0; at < headers.length; at += 2) res.appendHeader(headers[at]!, headers[at + 1]!);
}

/** Returns the error response for a Koa rejection, `context.throw(403, 'text')`; null for any other error. */
function refusalOf(error: KoaError): Refusal | null {
  const { status, expose } = error;
  return expose === true && status !== undefined && status >= 400 && status < 500
    ? { status, text: error.message }
    : null;
}

/** Whether the client interrupted its request; resulting errors are not failures. */
function hasLeft(message: IncomingMessage): boolean {
  return message.destroyed && !message.complete;
}
