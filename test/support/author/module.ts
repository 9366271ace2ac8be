import type { ClientHost, Fetch, ModuleContext, PluginModule, RequestModifier, ResponseModifier } from 'sluice/plugin';

/** A KrakenD-compatible module with every kind of handler, as written by an author who has installed only the package. */
interface Settings {
  readonly header: string;
}

const remembering =
  (calls: Fetch): ((context: ModuleContext) => Promise<string>) =>
  async (context) =>
    (await calls('http://127.0.0.1/', { signal: context.signal })).text();

const signing =
  ({ defaultClient }: ClientHost) =>
  async (request: Request): Promise<Response> => {
    request.headers.set('X-Signed', 'yes');
    return defaultClient(request);
  };

const counting: ResponseModifier = {
  modify(response, context) {
    response.headers['X-Path'] = [response.request.path, context.requestId];
    if (response.data) response.data['count'] = 1;
  },
  onError: ({ statusCode, message }) => `${statusCode}: ${message}`,
};

const refusing: RequestModifier = async (request) => {
  const [first = ''] = request.headers['X-Key'] ?? [];
  if (first === '') throw Object.assign(new Error('no key'), { statusCode: 401 });
  const body = await request.json({ limit: 1024 });
  request.body = JSON.stringify(body);
  return { ...request, headers: { 'X-Key': first } };
};

export const plugin = [
  {
    name: 'all',
    apiVersion: 1,
    configSchema: { type: 'object', properties: { header: { type: 'string', default: 'X-All' } } },
    middleware(config, host) {
      const plan = host.quota('plans').rule('gold');
      const ask = remembering(host.fetch);
      const seen = host.metrics.counter('all.seen', { description: 'Requests.' });
      return async (context, request, next) => {
        const span = host.tracer.start(context, 'all');
        const { allowed, allowances } = await plan.take(context.clientIp);
        seen.add(1, { allowed });
        span.end();
        if (!allowed) return { statusCode: 429, headers: { 'X-Left': String(allowances[0]?.remaining) } };
        const response = await next({ ...request, url: `${request.url}?by=${await ask(context)}` });
        response.headers[config.header] = ['yes'];
        return response;
      };
    },
    requestModifier: () => refusing,
    responseModifier: async ({ all }, host) => {
      host.logger.info(`adds ${all.header}`);
      return counting;
    },
    httpClient: (_config, host) => signing(host),
    httpServer: (config, host) => (request, next) => {
      if (request.state.get(config.all.header) === host.clientIp()) return new Response(null, { status: 403 });
      return next(request);
    },
    dispose: () => {},
  },
] satisfies readonly PluginModule<Settings, 'all'>[];
