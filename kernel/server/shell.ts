import Koa from 'koa';
import type { Log } from '#contract';

type Composed = (context: Koa.Context) => Promise<void>;

/**
 * A Koa application whose innermost middleware usually writes the reply by itself. Koa's own responder, and the watch
 * over the response that goes with it, come in only for a request whose answer was left on the context.
 */
export class Shell extends Koa {
  constructor(version: string, log: Log) {
    super();
    this.silent = true;
    this.on('error', (error: Error) => log.error(() => `service middleware failed: ${error.stack}`));
    this.context.onerror = function (this: Koa.Context, error: Error | null) {
      if (!error) return;
      this.app.emit('error', error, this);
      if (this.res.headersSent || this.res.destroyed) this.res.destroy();
      else this.res.writeHead(500, ['X-Gateway', version, 'Content-Length', '0']).end();
    };
  }

  /** Called by Koa's own callback for every request. */
  handleRequest(context: Koa.Context, run: Composed): Promise<void> {
    context.res.statusCode = 404;
    return run(context).then(
      () => (context.respond === false ? undefined : this.#respond(context)),
      (error) => context.onerror(error),
    );
  }

  /** Lets Koa answer from what is on the context. */
  #respond(context: Koa.Context): Promise<void> {
    const { statusCode } = context.res;
    return koaHandler.call(this, context, () => {
      context.res.statusCode = statusCode;
      return Promise.resolve();
    });
  }
}

/** Part of Koa that its types leave out. */
const koaHandler = (Koa.prototype as unknown as { handleRequest(context: Koa.Context, run: Composed): Promise<void> })
  .handleRequest;
