import type { IncomingMessage } from 'node:http';
import { Stream } from 'node:stream';
import Koa from 'koa';
import type { Log, ProductNames } from '#contract';
import { PluginFault } from '../containment/plugin-fault.ts';
import type { RenderedReply } from '../pipeline/render.ts';
import { type ExchangeMessage, exchangeKey } from './exchange-context.ts';
import { answerFailure, type Refusal } from './failed-answer.ts';
import { respondByKoa } from './internals.ts';
import { compressReply, headersOn, takeHeaders } from './koa-reply.ts';

/** An error as Koa's `context.throw` makes it, or any other. */
type KoaError = Error & { readonly status?: number; readonly expose?: boolean };

type Composed = (context: Koa.Context) => Promise<void>;

/**
 * A Koa application whose innermost middleware usually writes the reply by itself. Koa's own responder, and the watch
 * over the response that goes with it, come in only for a request whose answer was left on the context.
 */
export class KoaApp extends Koa {
  readonly #gzips: boolean;

  /** @param gzips compress what is left on the context for clients that ask for it. */
  constructor(names: ProductNames, gzips: boolean, log: Log) {
    super();
    this.#gzips = gzips;
    this.silent = true;
    this.on('error', (error: Error) => {
      // A fault of a plugin has been told already.
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

  /** Called by Koa's own callback for every request. */
  handleRequest(context: Koa.Context, run: Composed): Promise<void> {
    context.res.statusCode = 404;
    return run(context).then(
      () => (context.respond === false ? undefined : this.#respond(context)),
      (error) => context.onerror(error instanceof Error ? error : new Error(`thrown: ${String(error)}`)),
    );
  }

  /** Lets Koa answer from what is on the context. */
  #respond(context: Koa.Context): Promise<void> {
    (context.req as ExchangeMessage)[exchangeKey]?.settleBody(context.body instanceof Stream);
    const packing = this.#gzips ? compressReply(context) : undefined;
    const { statusCode } = context.res;
    return respondByKoa.call(this, context, async () => {
      context.res.statusCode = statusCode;
      await packing;
      showHead(context);
    });
  }
}

/** Lets those who asked see the head of an answer that was left on the context. */
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

/** Koa's own way of refusing, `context.throw(403, 'text')`: not a fault. */
function refusalOf(error: KoaError): Refusal | null {
  const { status, expose } = error;
  return expose === true && status !== undefined && status >= 400 && status < 500
    ? { status, text: error.message }
    : null;
}

/** The client broke off its request: what fails then is nobody's fault. */
function hasLeft(message: IncomingMessage): boolean {
  return message.destroyed && !message.complete;
}
