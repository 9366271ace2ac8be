import { equal, ok } from 'node:assert/strict';
import { nameOf, TokenCache, type Verified } from '../../../../plugins/auth/validator/token-cache.ts';

describe('the cache of verified tokens', () => {
  const verified = (length = 100): Verified => ({ length, claims: {} }) as Verified;

  it('is indexed by the hash of the whole token', () => {
    const cache = new TokenCache();
    const one = verified();
    cache.set(nameOf('a.b.c'), one);
    equal(cache.get(nameOf('a.b.c')), one);
    equal(cache.get(nameOf('a.b.d')), undefined);
  });

  it('keeps the ten thousand most recently used tokens', () => {
    const cache = new TokenCache();
    cache.set('used', verified());
    for (let count = 0; count < 50_000; count++) {
      cache.set(`token ${count}`, verified());
      ok(cache.get('used'));
      ok(cache.size <= 10_000);
    }
    equal(cache.get('token 0'), undefined);
  });

  it('is limited to 8 MiB of tokens, each counted once', () => {
    const cache = new TokenCache();
    for (let count = 0; count < 1000; count++) {
      cache.set(`token ${count}`, verified(32 * 1024));
      ok(cache.size <= 256);
    }
    const again = new TokenCache();
    for (let count = 0; count < 1000; count++) again.set('one', verified(32 * 1024));
    equal(again.size, 1);
  });
});
