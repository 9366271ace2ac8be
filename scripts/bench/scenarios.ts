import { large, parts, small } from './payloads.ts';

/** One thing to measure. */
export interface Scenario {
  readonly name: string;
  readonly path: string;
  /** The gateway's endpoint, without its path. */
  readonly endpoint: { readonly backend: readonly object[]; readonly output_encoding?: string };
  /** What the body must be equal to, as JSON. */
  readonly expected: unknown;
  /** The answer must be the upstream's own: its bytes and its ETag. */
  readonly untouched?: true;
  /**
   * Compares the gateway without access log to the gateway that writes one, instead of the floor of the same name in
   * floor.ts to the gateway.
   */
  readonly accessLog?: true;
  /** Components of the endpoint: compares the gateway without them to the gateway with them. */
  readonly components?: object;
  /** Requests each program answers at least while it is measured: rounds are added until then. */
  readonly requests?: number;
}

const one = [{ url_pattern: '/small' }];
const noOp = { output_encoding: 'no-op', backend: [{ url_pattern: '/small', encoding: 'no-op' }] };

export const scenarios: readonly Scenario[] = [
  { name: 'no-op', path: '/bench/no-op', endpoint: noOp, expected: small, untouched: true },
  { name: 'json', path: '/bench/json', endpoint: { backend: one }, expected: small },
  {
    name: 'filter',
    path: '/bench/filter',
    endpoint: {
      backend: [
        {
          url_pattern: '/small',
          allow: ['id', 'name', 'email', 'address.city', 'address.position', 'tags'],
          mapping: { name: 'full_name', email: 'contact' },
          group: 'user',
        },
      ],
    },
    expected: {
      user: {
        id: small.id,
        full_name: small.name,
        contact: small.email,
        address: { city: small.address.city, position: small.address.position },
        tags: small.tags,
      },
    },
  },
  {
    name: 'merge',
    path: '/bench/merge',
    endpoint: { backend: [{ url_pattern: '/part/a' }, { url_pattern: '/part/b' }, { url_pattern: '/part/c' }] },
    expected: { ...parts.a, ...parts.b, ...parts.c },
  },
  { name: 'json-64k', path: '/bench/json-64k', endpoint: { backend: [{ url_pattern: '/large' }] }, expected: large },
  {
    name: 'access-log',
    path: '/bench/access-log',
    endpoint: noOp,
    expected: small,
    untouched: true,
    accessLog: true,
    requests: 200_000,
  },
  {
    name: 'cel',
    path: '/bench/cel',
    endpoint: noOp,
    components: {
      'validation/cel': [
        {
          check_expr:
            "req_method == 'GET' && size(req_params) < 5 && 'Sluice' in req_headers['X-Forwarded-Host'] == false",
        },
      ],
    },
    expected: small,
    untouched: true,
  },
];

/** A gateway configuration that serves these endpoints and nothing else. */
export function configWith(endpoints: readonly object[], upstream: string, port: number, accessLog = false): object {
  return {
    version: 3,
    name: 'bench',
    port,
    listen_ip: '127.0.0.1',
    host: [upstream],
    extra_config: { router: { disable_access_log: !accessLog } },
    endpoints,
  };
}
