import type Koa from 'koa';
import {
  atEndpoint,
  atService,
  type ClientRequest,
  definePlugin,
  type EndpointConfig,
  HeaderBag,
  type Reply,
  refuse,
  type Site,
  type Wrap,
} from '#contract';
import { type Judge, judgeBy, type Reader, type Refusal } from './judge.ts';
import { type SecurityConfig, schema } from './schema.ts';

const name = 'security/http';
const alias = 'github_com/devopsfaith/krakend-httpsecure';

const ofContext: Reader<Koa.Context> = {
  method: (ctx) => ctx.method,
  host: ({ req }) => req.headers.host ?? '',
  header: ({ req }, header) => new HeaderBag(req.rawHeaders).get(header),
  secure: (ctx) => ctx.secure,
  target: ({ originalUrl }) =>
    originalUrl.startsWith('/') ? originalUrl : originalUrl.replace(/^(?:\w[\w+.-]*:\/\/[^/?#]*|\*)\/?/, '/'),
};

const ofRequest: Reader<ClientRequest> = {
  method: (request) => request.method,
  host: (request) => request.host,
  header: (request, header) => request.headers.get(header),
  secure: (request) => request.secure,
  target: ({ path, search }) => (search === '' ? path : `${path}?${search}`),
};

/**
 * At the root it covers everything the gateway answers. An endpoint's own object takes the place of the root's for the
 * requests of that endpoint, also where it says less.
 */
export const plugin = definePlugin({
  name,
  description: 'Checks the host, redirects to HTTPS and sends security headers.',
  aliases: [alias],
  places: [
    atService(schema, (site) => {
      const judge = prepare(site, ofContext);
      site.log.debug('[HTTPsecure] Successfully loaded module');
      return judge ? { router: middleware(judge, site.service.endpoints.some(hasOwn)) } : {};
    }),
    atEndpoint(schema, (site) => {
      const judge = prepare(site, ofRequest);
      return judge ? { endpoint: wrap(judge) } : {};
    }),
  ],
});

function prepare<Source>(site: Site<SecurityConfig>, read: Reader<Source>): Judge<Source> | null {
  const { config, service } = site;
  if (config.hpkp_public_key !== undefined) {
    site.warn('SECURITY_HPKP', '/hpkp_public_key', 'public key pinning is obsolete: the field has no effect');
  }
  if (config.sts_include_subdomains && config.sts_seconds === 0) {
    site.warn('SECURITY_UNUSED', '/sts_include_subdomains', 'sts_include_subdomains has no effect without sts_seconds');
  }
  if (config.ssl_host !== '' && !config.ssl_redirect) {
    site.warn('SECURITY_UNUSED', '/ssl_host', 'ssl_host has no effect without ssl_redirect');
  }
  const redirects = config.ssl_redirect && !config.is_development;
  const encrypted = service.tls !== undefined && !service.tls.disabled;
  if (redirects && Object.keys(config.ssl_proxy_headers).length === 0 && !encrypted) {
    site.warn(
      'SECURITY_REDIRECT_LOOP',
      '/ssl_redirect',
      'every request is redirected without end: none can ever count as HTTPS',
      {
        hint: 'configure tls, or name in ssl_proxy_headers what the balancer sends',
      },
    );
  }
  return judgeBy(site, read);
}

/** The endpoint has an object of its own. */
function hasOwn({ extra_config: components }: EndpointConfig): boolean {
  return Object.hasOwn(components, name) || Object.hasOwn(components, alias);
}

/** @param yields some endpoints have an object of their own, to which the decision about their requests is left. */
function middleware(judge: Judge<Koa.Context>, yields: boolean): Koa.Middleware {
  return (ctx, next) => {
    if (yields) {
      const matched = (ctx.state as { match(): EndpointConfig | null }).match();
      if (matched && hasOwn(matched)) return next();
    }
    const { refusal, headers } = judge(ctx);
    if (refusal) return answer(ctx, refusal);
    set(ctx, headers);
    return next();
  };
}

function answer(ctx: Koa.Context, { status, headers, body }: Refusal): void {
  // The status comes last: an empty body sets one of its own.
  ctx.body = body;
  ctx.status = status;
  set(ctx, headers);
}

function set(ctx: Koa.Context, headers: readonly string[]): void {
  for (let at = 0; at < headers.length; at += 2) ctx.set(headers[at]!, headers[at + 1]!);
}

function wrap(judge: Judge<ClientRequest>): Wrap<ClientRequest> {
  return (next) => (request, call) => {
    const { refusal, headers } = judge(request);
    if (refusal) return refused(refusal);
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then((settled) => dress(settled, headers)) : dress(reply, headers);
  };
}

function dress(reply: Reply, headers: readonly string[]): Reply {
  const { list } = reply.headers;
  if (list.length === 0) {
    for (const text of headers) list.push(text);
    return reply;
  }
  for (let at = 0; at < headers.length; at += 2) reply.headers.set(headers[at]!, headers[at + 1]!);
  return reply;
}

function refused({ status, headers, body }: Refusal): Reply {
  const reply = refuse(status, { headers: new HeaderBag([...headers]) });
  if (body !== null) reply.body = Buffer.from(body);
  return reply;
}
