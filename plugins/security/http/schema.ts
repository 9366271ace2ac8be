import type { Infer, Schema } from '#contract';

const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;

export const schema = {
  type: 'object',
  properties: {
    allowed_hosts: {
      type: 'array',
      items: { type: 'string' },
      description: 'Hosts, with their port, for which requests are answered; empty for any.',
      default: [],
    },
    allowed_hosts_are_regex: flag('The entries of allowed_hosts are regular expressions for the whole host.'),
    host_proxy_headers: {
      type: 'array',
      items: { type: 'string' },
      description: 'Headers that may carry the real host; the first one that is not empty wins over Host.',
      default: [],
    },
    ssl_redirect: flag('Redirect requests that did not come over HTTPS.'),
    ssl_host: { type: 'string', description: "Host to redirect to. Default: the request's.", default: '' },
    ssl_proxy_headers: {
      type: 'object',
      values: { type: 'string' },
      description: 'Headers and the values that prove HTTPS behind a balancer, which must overwrite them.',
      default: {},
    },
    sts_seconds: {
      type: 'integer',
      minimum: 0,
      description: 'max-age of Strict-Transport-Security in seconds; 0 for no such header.',
      default: 0,
    },
    sts_include_subdomains: flag('Strict-Transport-Security covers subdomains.'),
    force_sts_header: flag('Send Strict-Transport-Security on plain HTTP too.'),
    frame_deny: flag('Send X-Frame-Options: DENY.'),
    custom_frame_options_value: {
      type: 'string',
      description: 'Value of X-Frame-Options; wins over frame_deny.',
      default: '',
    },
    content_type_nosniff: flag('Send X-Content-Type-Options: nosniff.'),
    browser_xss_filter: flag('Send X-XSS-Protection: 1; mode=block.'),
    content_security_policy: {
      type: 'string',
      description: 'Value of Content-Security-Policy; $NONCE in it becomes a nonce, new for each request.',
      default: '',
    },
    referrer_policy: { type: 'string', description: 'Value of Referrer-Policy.', default: '' },
    hpkp_public_key: { type: 'string', description: 'Obsolete, without effect.' },
    is_development: flag('Ignore allowed_hosts, ssl_redirect and Strict-Transport-Security.'),
  },
} as const satisfies Schema;

export type SecurityConfig = Infer<typeof schema>;
