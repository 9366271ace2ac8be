import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { adminSchema } from '#contract';
import type { Operations } from '#kernel';
import { type Caller, setCaller } from '../../../admin/caller.ts';
import { describeAdmin } from '../../../admin/openapi/admin-api.ts';
import { openOperating } from '../../../admin/operating/operating.ts';
import type { Admin } from '../../../admin/operation.ts';
import { reading } from '../../../admin/operations/reading.ts';
import { outermost } from '../../../admin/respond.ts';
import { handTimers } from '../../support/hand-timers.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape, as they come over the wire.
  readonly body: any;
}

/** The operations of this folder on a port of their own, without guards. */
export interface ReadingPort {
  readonly port: number;
  /** The clock of the admin port. */
  readonly timers: ReturnType<typeof handTimers>;
  /** Number of requests to stop the process. */
  readonly stops: number;
  /** Closes the timers and streams of the admin port. */
  end(): void;
  ask(target: string, options?: RequestInit): Promise<Answered>;
  /** Sends JSON. */
  send(method: string, target: string, body?: unknown): Promise<Answered>;
  close(): Promise<void>;
}

/** @param findCaller returns the caller whose token all requests use. */
export async function openReading(gateway: Operations, findCaller?: () => Caller | null): Promise<ReadingPort> {
  const timers = handTimers();
  const operating = openOperating(gateway, timers);
  const settings = { max_body: adminSchema.properties.max_body.default } as Admin['settings'];
  let stops = 0;
  const admin = {
    gateway,
    settings,
    operating,
    describe: (origin) => describeAdmin(reading, origin),
    stop: () => void stops++,
  } as Admin;
  const app = new Koa();
  app.silent = true;
  app.use(outermost(gateway, gateway.log));
  const router = new Router();
  for (const { method, path, handle } of reading) {
    router.register(path, [method], (ctx) => {
      if (findCaller) setCaller(ctx, findCaller()!, async () => findCaller());
      return handle(ctx, admin);
    });
  }
  app.use(router.routes());
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = async (target: string, options: RequestInit = {}): Promise<Answered> => {
    const response = await fetch(`http://127.0.0.1:${port}${target}`, options);
    const text = await response.text();
    const { status, headers } = response;
    return { status, headers, text, body: headers.get('content-type')?.includes('json') ? JSON.parse(text) : null };
  };
  return {
    port,
    timers,
    get stops() {
      return stops;
    },
    end: () => operating.close(),
    ask,
    send: (method, target, body) =>
      ask(target, {
        method,
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      }),
    async close() {
      operating.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
