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
  description: 'Settings of `ip-filter`: lets requests pass, or turns them away, by the address of the client.',
  required: ['CIDR'],
  properties: {
    CIDR: ranges('Addresses, and ranges of addresses in CIDR notation.', ['192.168.0.0/24', '2001:db8::1']),
    allow: {
      type: 'boolean',
      description: 'Only these addresses are let in; without it they are turned away.',
      default: false,
    },
    client_ip_headers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Headers in which the client is looked for, in this order; none of them for the connection alone. Default: `X-Forwarded-For`, `X-Real-IP`, `X-Appengine-Remote-Addr`.',
      examples: [['X-Forwarded-For']],
    },
    trusted_proxies: ranges('Addresses of your own proxies: nobody else is believed what a header says.', [
      '10.0.0.0/8',
    ]),
  },
} as const satisfies Schema;

export type IpFilterConfig = Infer<typeof schema>;
