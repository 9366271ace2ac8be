import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

/** Pattern of a valid header value. */
export const HEADER_VALUE_PATTERN = '^[\\t\\x20-\\x7e\\x80-\\xff]*$';

const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;

export const schema = {
  type: 'object',
  title: 'HTTP security',
  examples: [
    { allowed_hosts: ['api.example.com'], sts_seconds: 31_536_000, frame_deny: true, content_type_nosniff: true },
  ],
  properties: {
    allowed_hosts: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Host names that requests can have, with the port if there is one. Other requests are rejected. If empty, every host is allowed, and the host of the request is passed to backends as X-Forwarded-Host.',
      default: [],
      examples: [['api.example.com']],
    },
    allowed_hosts_are_regex: flag(
      'Treats the entries of allowed_hosts as regular expressions that match the whole host.',
    ),
    host_proxy_headers: {
      type: 'array',
      items: { type: 'string', published: { pattern: HEADER_NAME_PATTERN } },
      description:
        'Headers that can contain the original host, in order of precedence. The first non-empty one replaces Host.',
      default: [],
      examples: [['X-Forwarded-Host']],
    },
    ssl_redirect: flag('Redirects requests that did not arrive over HTTPS.'),
    ssl_host: {
      type: 'string',
      published: { pattern: HEADER_VALUE_PATTERN },
      description: 'Host name to redirect to. If empty, the host of the request is used.',
      default: '',
      examples: ['api.example.com'],
    },
    ssl_proxy_headers: {
      type: 'object',
      published: { propertyNames: { pattern: HEADER_NAME_PATTERN } },
      values: { type: 'string' },
      description:
        'Headers and values by which a load balancer marks HTTPS requests. The load balancer must overwrite these headers.',
      default: {},
      examples: [{ 'X-Forwarded-Proto': 'https' }],
    },
    sts_seconds: {
      type: 'integer',
      minimum: 0,
      description: 'max-age of Strict-Transport-Security in seconds. 0 disables the header.',
      default: 0,
      examples: [31_536_000],
    },
    sts_include_subdomains: flag('Adds includeSubDomains to Strict-Transport-Security.'),
    force_sts_header: flag('Sends Strict-Transport-Security over plain HTTP as well.'),
    frame_deny: flag('Sends X-Frame-Options: DENY.'),
    custom_frame_options_value: {
      type: 'string',
      published: { pattern: HEADER_VALUE_PATTERN },
      description:
        'Value of X-Frame-Options. Takes precedence over frame_deny. If empty, frame_deny determines the header.',
      default: '',
      examples: ['SAMEORIGIN'],
    },
    content_type_nosniff: flag('Sends X-Content-Type-Options: nosniff.'),
    browser_xss_filter: flag('Sends X-XSS-Protection: 1; mode=block.'),
    content_security_policy: {
      type: 'string',
      published: { pattern: HEADER_VALUE_PATTERN },
      description:
        'Value of Content-Security-Policy. $NONCE is replaced with a nonce per request. If empty, the header is not sent.',
      default: '',
      examples: ["default-src 'self'"],
    },
    referrer_policy: {
      type: 'string',
      published: { pattern: HEADER_VALUE_PATTERN },
      description: 'Value of Referrer-Policy. If empty, the header is not sent.',
      default: '',
      examples: ['same-origin'],
    },
    hpkp_public_key: {
      type: 'string',
      description: 'Value of Public-Key-Pins.',
      unused: { because: 'public key pinning is obsolete' },
    },
    is_development: flag('Development mode: ignores allowed_hosts, ssl_redirect and Strict-Transport-Security.'),
  },
} as const satisfies Schema;

export type SecurityConfig = Infer<typeof schema>;
