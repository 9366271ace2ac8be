import { equal, throws } from 'node:assert/strict';
import { KeySet } from '../../../../plugins/clients/keys/key-set.ts';

const setOf = (...keys: object[]) => KeySet.parse(JSON.stringify({ keys }));

describe('a JSON Web Key Set', () => {
  it('can be searched by every key identification strategy', () => {
    const set = setOf({ kty: 'oct', k: 'YQ', kid: 'a', x5t: 'b' }, { kty: 'oct', k: 'YQ', kid: 'b', x5t: 'a' });
    equal(set.find('kid', 'a')?.id('x5t'), 'b');
    equal(set.find('x5t', 'a')?.id('kid'), 'b');
    equal(set.find('x5t', 'constructor'), undefined);
  });

  it('contains only the last 10,000 keys', () => {
    const set = setOf(...Array.from({ length: 10_001 }, (_, index) => ({ kty: 'oct', k: 'YQ', kid: `key ${index}` })));
    equal(set.keys.length, 10_000);
    equal(set.find('kid', 'key 0'), undefined);
    equal(set.find('kid', 'key 10000')?.id('kid'), 'key 10000');
  });

  it('is rejected without keys, and the error does not show its text', () => {
    for (const text of ['secret', '{"keys":{}}', '{"keys":[]}', '{"keys":["secret"]}', '[]', 'null']) {
      throws(
        () => KeySet.parse(text),
        (error: Error) =>
          /not valid JSON|not a JWK set|no keys/.test(error.message) && !error.message.includes('secret'),
      );
    }
  });
});
