import Koa from 'koa';
import { inject } from 'light-my-request';
import {
  type AgentSite,
  type AtBackend,
  type AtEndpoint,
  type AtService,
  Call,
  type ClientRequest,
  HeaderBag,
  type Level,
  type Log,
  makeRequest,
  PipeRequest,
  Query,
  Reply,
  RequestBody,
  type Step,
} from '#contract';
import { parallel } from '../pipeline/response/merge.ts';
import { fold } from '../pipeline/steps/fold.ts';
import type { HarnessOptions } from './harness-options.ts';
import { calledOverHttp } from './test-http.ts';
import { type TestRequest, testRequest } from './test-request.ts';

/** Default step inside a plugin under test. */
export function replyOk(): Reply {
  return Reply.data({ ok: true });
}

/** Sends a request through the hooks that a plugin has attached. */
export async function sendTo(
  attached: AtService & AtEndpoint & AtBackend,
  log: Log,
  place: Level,
  given: TestRequest | ClientRequest,
  around: HarnessOptions,
): Promise<Reply> {
  const client = typeof given === 'object' && 'match' in given ? given : testRequest(given);
  const next = calledOverHttp(attached.offers, around.next ?? replyOk);
  const call = new Call(log, around.endpoint?.timeout ?? 2000);
  try {
    if (place === 'service') return await throughService(attached, client, next, call);
    if (place === 'backend') {
      const request = pipeRequestOf(client);
      const wraps = [attached.attempts, attached.backend, attached.transport].filter((wrap) => wrap !== undefined);
      return await fold(wraps, attached.protocol?.call ?? next)(request, call);
    }
    const gathered = around.backends
      ? (attached.gather?.over(around.backends) ??
        parallel(around.backends, attached.combine, around.endpoint?.timeout ?? 2000))
      : next;
    const pipe = attached.proxy ? attached.proxy(gathered) : gathered;
    const forward: Step<ClientRequest> = (seen) => pipe(pipeRequestOf(seen), call);
    return await (attached.endpoint ? attached.endpoint(forward) : forward)(client, call);
  } finally {
    call.finish();
  }
}

function pipeRequestOf(client: ClientRequest): PipeRequest {
  return new PipeRequest(client, client.params, client.query, client.headers.copy(), client.body);
}

/** Runs the pipe of an agent under test: `next`. */
export function runNext({ next = replyOk }: HarnessOptions): AgentSite<unknown>['run'] {
  return async ({ body, headers = new HeaderBag() }, signal) => {
    const client = makeRequest({ headers, body: RequestBody.of(body) });
    const call = new Call();
    signal?.addEventListener('abort', () => call.cancel(), { once: true });
    return next(new PipeRequest(client, {}, new Query(), headers, client.body), call);
  };
}

/** The hooks of a service-level plugin, around an inner step that responds as `next` does. */
async function throughService(
  attached: AtService,
  client: ClientRequest,
  next: Step<PipeRequest>,
  call: Call,
): Promise<Reply> {
  const { middleware, request: wrap, head } = attached;
  const inner: Step<ClientRequest> = (request) =>
    next(new PipeRequest(request, request.params, request.query, request.headers, request.body), call);
  const own = attached.routes?.find(
    ({ method, path }) => (method ?? client.method) === client.method && path === client.path,
  );
  const served = wrap ? wrap(own?.handle ?? inner) : (own?.handle ?? inner);
  const reply = middleware ? await throughKoa(middleware, client, served, call) : await served(client, call);
  if (head) {
    const seen = { status: reply.status, headers: reply.headers };
    head(seen, client, call);
    reply.status = seen.status;
  }
  return reply;
}

/** Koa middleware around an inner step. */
async function throughKoa(
  middleware: Koa.Middleware,
  client: ClientRequest,
  next: Step<ClientRequest>,
  call: Call,
): Promise<Reply> {
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx, inner) => {
    ctx.state.match = (method?: string) => client.match(method);
    await inner();
  });
  app.use(middleware);
  app.use(async (ctx) => {
    const reply = await next(client, call);
    ctx.status = reply.status;
    for (const [name, value] of reply.headers) ctx.append(name, value);
    ctx.body = reply.data ?? (reply.body as Buffer | null);
  });
  const payload = client.body ? Buffer.from(await client.body.bytes()) : undefined;
  const response = await inject(app.callback(), {
    method: client.method as 'GET',
    url: client.search ? `${client.path}?${client.search}` : client.path,
    headers: { host: client.host, ...Object.fromEntries(client.headers) },
    remoteAddress: client.ip,
    ...(payload && { payload }),
  });
  const headers = new HeaderBag();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, String(one));
  }
  return Reply.raw(response.statusCode, headers, response.rawPayload);
}
