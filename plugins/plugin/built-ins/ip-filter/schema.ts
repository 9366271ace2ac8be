import type { Infer, Schema } from '#contract';

const ranges = (description: string, example: readonly string[]) =>
  ({
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description,
    examples: [example],
  }) as const;

export const schema = {
  type: 'object',
  description: 'Settings of `ip-filter`, which accepts or rejects requests by client IP address.',
  required: ['CIDR'],
  properties: {
    CIDR: ranges('Addresses, and ranges of addresses in CIDR notation.', ['192.168.0.0/24', '2001:db8::1']),
    allow: {
      type: 'boolean',
      description: 'Allows only the listed addresses. If disabled, the listed addresses are rejected.',
      default: false,
    },
    client_ip_headers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        "Headers that contain the client's IP address, in order of precedence. An empty list uses the connection's address only. Default: `X-Forwarded-For`, `X-Real-IP`, `X-Appengine-Remote-Addr`.",
      examples: [['X-Forwarded-For']],
    },
    trusted_proxies: ranges('IP addresses of your own proxies. Headers from other clients are ignored.', [
      '10.0.0.0/8',
    ]),
  },
} as const satisfies Schema;

export type IpFilterConfig = Infer<typeof schema>;
