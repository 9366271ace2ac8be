import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { damaged, data } from './grammar.ts';

const file = fileURLToPath(new URL('../../samples/tokens/keys.json', import.meta.url));
/** Key set of the samples: one key for HS256. */
export const keySet = JSON.parse(readFileSync(file, 'utf8')) as { keys: readonly [{ kid: string; k: string }] };
const [key] = keySet.keys;
const secret = Buffer.from(key.k, 'base64url');

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url');
const headers = fc.record(
  {
    alg: fc.oneof({ weight: 4, arbitrary: fc.constant('HS256') }, fc.constantFrom('none', 'RS256', '', 0, null)),
    kid: fc.oneof({ weight: 4, arbitrary: fc.constant(key.kid) }, data),
    typ: fc.constantFrom('JWT', 'at+jwt', 1),
    crit: fc.constantFrom(['exp'], []),
    b64: fc.boolean(),
  },
  { requiredKeys: ['alg', 'kid'], noNullPrototype: true },
);
const times = fc.oneof(fc.constantFrom(0, 4e9, 1e308, -1, '1'), data);
const claims = fc.record(
  {
    exp: times,
    nbf: times,
    iat: times,
    iss: fc.oneof(fc.constantFrom('https://id.example.com'), data),
    aud: fc.oneof(fc.constantFrom('https://api.example.com'), data),
    sub: data,
    roles: fc.oneof(fc.constantFrom(['admin'], 'admin user'), data),
    scope: fc.oneof(fc.constantFrom('read write'), data),
    jti: data,
    a: data,
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** JSON Web Tokens: signed with the sample key, unsigned, or damaged. */
export const tokens: fc.Arbitrary<string> = damaged(
  fc.tuple(headers, fc.oneof({ weight: 4, arbitrary: claims }, { weight: 1, arbitrary: data })).map(([head, body]) => {
    const signed = `${encoded(head)}.${encoded(body)}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  }),
);
