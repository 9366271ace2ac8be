import type { Attack, AttackRequest } from '#contract';
import { addHeader, isServed } from '../requests.ts';

/** Values of an Authorization header that contain no valid credentials. */
const empty = ['', 'Bearer', 'Bearer null', 'Bearer undefined', 'Basic', 'Basic Og==', 'Negotiate', 'Bearer ..'];

/** Headers by which some servers skip the authentication of requests from their own network. */
const trusted: readonly (readonly [string, string])[] = [
  ['X-Forwarded-For', '127.0.0.1'],
  ['X-Real-IP', '127.0.0.1'],
  ['X-Original-URL', '/'],
  ['X-Rewrite-URL', '/'],
  ['X-Forwarded-Client-Cert', 'Subject="CN=admin"'],
];

export const missingCredentials: Attack = {
  name: 'missing-credentials',
  severity: 'CRITICAL',
  title: 'A protected endpoint serves requests without valid credentials',
  description:
    'Sends empty and malformed Authorization headers, valid credentials with small changes, and headers of requests from inside the network, to endpoints that reject requests without credentials. A finding is a request that the endpoint serves.',
  applies: () => true,
  async run({ baseline, anonymous, send }) {
    if (!anonymous) return [];
    const requests: AttackRequest[] = [
      ...empty.map((value) => addHeader(anonymous, 'Authorization', value)),
      ...trusted.map(([name, value]) => addHeader(anonymous, name, value)),
      addHeader(addHeader(anonymous, 'Authorization', 'Bearer a'), 'Authorization', 'Bearer b'),
      ...almost(baseline, anonymous),
    ];
    for (const request of requests) {
      const response = await send(request);
      if (!isServed(response)) continue;
      return [
        {
          shown: `The endpoint responded with ${response.status} to a request whose credentials prove nothing.`,
          remedy: 'Reject requests without valid credentials, for example with auth/validator at the endpoint.',
          requests: [request],
        },
      ];
    }
    return [];
  },
};

/** Credentials of a request, each changed so that they are invalid. */
function almost(baseline: AttackRequest, anonymous: AttackRequest): AttackRequest[] {
  const known = new Set(anonymous.headers.map(([name]) => name));
  const changes: ((value: string) => string)[] = [
    (value) => value.slice(0, -4),
    (value) => value.toUpperCase(),
    (value) => `${value}x`,
    (value) => `${value},${value}`,
  ];
  return baseline.headers
    .filter(([name]) => !known.has(name))
    .flatMap(([name, value]) => changes.map((change) => addHeader(anonymous, name, change(value))));
}
