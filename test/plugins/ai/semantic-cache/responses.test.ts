import { equal } from 'node:assert/strict';
import { ResponseIndex } from '../../../../plugins/ai/semantic-cache/index-of-responses.ts';
import { encode } from '../../../../plugins/ai/semantic-cache/vectors.ts';

describe('the index of responses', () => {
  let index: ResponseIndex;
  beforeEach(() => {
    index = new ResponseIndex();
  });

  const vector = (...numbers: number[]) => encode(new Float32Array(numbers));
  const at = (angle: number) => vector(Math.cos(angle), Math.sin(angle));
  const keep = (text: string, angle: number, more: object = {}) =>
    index.answer(
      { ...{ does: 'keep', variant: 'v', text, vector: at(angle), response: `to ${text}`, ttlMs: 1000 }, ...more },
      0,
    );
  const find = (angle: number | null, distance: number, more: object = {}, now = 0) =>
    index.answer(
      { ...{ does: 'find', variant: 'v', text: '?', vector: angle === null ? null : at(angle), distance }, ...more },
      now,
    );

  it('returns the nearest response within the distance limit', () => {
    keep('a', 0);
    keep('b', 0.3);
    equal(find(0.2, 0.25), 'to b');
    equal(find(0.1, 0.25), 'to a');
  });

  it('returns nothing beyond the distance limit', () => {
    keep('a', 0);
    // The cosine distance of 0.75 radians is 0.268.
    equal(find(0.75, 0.25), null);
    equal(find(0.75, 0.27), 'to a');
  });

  it('returns a response with distance 0 for a vector of the same direction only', () => {
    keep('a', 1);
    equal(find(1, 0), 'to a');
    equal(find(1.01, 0), null);
  });

  it('returns the response to a repeated text without a vector', () => {
    keep('a', 0);
    equal(find(null, 0, { text: 'a' }), 'to a');
    equal(find(null, 2, { text: 'b' }), null);
  });

  it('never returns responses of other variants', () => {
    keep('a', 0, { variant: 'of ada' });
    equal(find(0, 2, { variant: 'of bob', text: 'a' }), null);
    equal(find(0, 2, { variant: '__proto__' }), null);
  });

  it('ignores vectors with another number of dimensions', () => {
    keep('a', 0, { vector: vector(1, 0, 0) });
    equal(find(0, 2), null);
  });

  it('drops responses after their ttl', () => {
    keep('a', 0);
    equal(find(0, 1, {}, 999), 'to a');
    equal(find(0, 1, { text: 'a' }, 1000), null);
    equal(index.size, 0);
  });

  it('replaces the response when the same text is stored again', () => {
    keep('a', 0);
    keep('a', 0, { response: 'new' });
    equal(find(0, 1), 'new');
    equal(index.size, 1);
  });

  it('stores at most 2,000 responses of a variant, and drops the least recently used', () => {
    for (let number = 0; number < 2000; number++) keep(String(number), 0);
    equal(find(null, 0, { text: '0' }), 'to 0');
    keep('new', 0);
    equal(index.size, 2000);
    equal(find(null, 0, { text: '1' }), null);
    equal(find(null, 0, { text: '0' }), 'to 0');
  });

  it('stores at most 64 MiB, and drops the least recently used responses', () => {
    const response = 'x'.repeat(1024 * 1024);
    for (let number = 0; number < 40; number++) keep(String(number), 0, { variant: String(number), response });
    equal(index.size, 31);
    equal(find(null, 0, { variant: '8', text: '8' }), null);
    equal(find(null, 0, { variant: '9', text: '9' }), response);
  });

  it('can be emptied as a whole', () => {
    keep('a', 0);
    index.answer({ does: 'clear' }, 0);
    equal(find(0, 2, { text: 'a' }), null);
    equal(index.size, 0);
  });
});
