import { type IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type Koa from 'koa';
import type { Operation } from '../operation.ts';

/** Input of an operation that runs within another request. */
export interface OperationCall {
  /** Path variables. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of the request, as JSON text. */
  readonly body?: string;
}

/** Response of the operation. */
export interface Outcome {
  readonly status: number;
  readonly text: string;
}

/** Runs an operation on behalf of the sender of a request, with its token, scopes and log context. Never throws. */
export type RunOperation = (outer: Koa.Context, operation: Operation, call: OperationCall) => Promise<Outcome>;

/**
 * @param step middleware of an operation, as the router runs it.
 * @param failed writes the response to an error that the middleware throws.
 */
export function createRunner(
  app: Koa,
  step: (operation: Operation) => Koa.Middleware,
  failed: (ctx: Koa.Context, error: unknown) => void,
): RunOperation {
  return async (outer, operation, { params = {}, query, headers, body }) => {
    const path = operation.path.replace(/[:*]([A-Za-z]+)/g, (_all, name: string) =>
      encodeURIComponent(params[name]!.toWellFormed()),
    );
    const search = query && query.size > 0 ? `?${query}` : '';
    const message = Object.assign(Readable.from(body === undefined ? [] : [Buffer.from(body)]), {
      method: operation.method,
      url: `${path}${search}`,
      socket: outer.req.socket,
      headers: {
        host: outer.get('host'),
        authorization: outer.get('authorization'),
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
        }),
        ...headers,
      },
    }) as unknown as IncomingMessage;
    // This response is never sent; the runner reads its content from the context.
    const ctx = app.createContext(message, new ServerResponse(message));
    Object.assign(ctx, { params });
    try {
      await step(operation)(ctx, async () => {});
    } catch (error) {
      failed(ctx, error);
    }
    const { status } = ctx;
    const given: unknown = ctx.body;
    return { status, text: typeof given === 'string' ? given : JSON.stringify(given ?? null) };
  };
}
