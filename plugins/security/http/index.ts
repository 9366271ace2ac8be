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
import { compileDecision, type Decide, type Refusal } from './decide.ts';
import { type SecurityConfig, schema } from './schema.ts';

const name = 'security/http';
const alias = 'github_com/devopsfaith/krakend-httpsecure';

/**
 * At the root it applies to all responses of the gateway. An endpoint's own object replaces the root's for its
 * requests, even if it sets less.
 */
export const plugin = definePlugin({
  name,
  description: 'Restricts hosts, redirects to HTTPS and sends security headers.',
  leaves: ['requests', 'data'],
  places: [
    atService(schema, (site) => {
      const decide = prepare(site);
      site.log.debug('[HTTPsecure] Successfully loaded module');
      return decide ? { request: exceptOwn(around(decide)) } : {};
    }),
    atEndpoint(schema, (site) => {
      const decide = prepare(site);
      return decide ? { endpoint: around(decide) } : {};
    }),
  ],
});

function prepare(site: Site<SecurityConfig>): Decide | null {
  const { config } = site;
  const tls = site.setting('tls');
  if (config.sts_include_subdomains && config.sts_seconds === 0) {
    site.warn('SECURITY_UNUSED', '/sts_include_subdomains', 'sts_include_subdomains has no effect without sts_seconds');
  }
  if (config.ssl_host !== '' && !config.ssl_redirect) {
    site.warn('SECURITY_UNUSED', '/ssl_host', 'ssl_host has no effect without ssl_redirect');
  }
  const redirects = config.ssl_redirect && !config.is_development;
  const encrypted = tls !== undefined && !tls.disabled;
  if (redirects && Object.keys(config.ssl_proxy_headers).length === 0 && !encrypted) {
    site.warn('SECURITY_REDIRECT_LOOP', '/ssl_redirect', 'redirect loop: no request can be recognized as HTTPS', {
      hint: 'configure tls, or list the headers of the load balancer in ssl_proxy_headers',
    });
  }
  return compileDecision(site);
}

/** True if the endpoint itself configures the component, instead of inheriting it from the root. */
function hasOwn({ extra_config: components }: EndpointConfig): boolean {
  return Object.hasOwn(components, name) || Object.hasOwn(components, alias);
}

/** Skips requests of endpoints that have an object of their own, which handles them. */
function exceptOwn(wrap: Wrap<ClientRequest>): Wrap<ClientRequest> {
  return (next) => {
    const wrapped = wrap(next);
    return (request, call) => {
      const endpoint = request.match();
      return endpoint && hasOwn(endpoint) ? next(request, call) : wrapped(request, call);
    };
  };
}

function around(decide: Decide): Wrap<ClientRequest> {
  return (next) => (request, call) => {
    const { refusal, headers } = decide(request);
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
