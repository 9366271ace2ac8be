import { deepEqual, equal } from 'node:assert/strict';
import { escapePointer, fieldName, joinPointer, nearest, parsePointer } from '../../../kernel/config/index.ts';

describe('a JSON pointer', () => {
  it('escapes slashes and tildes', () => equal(escapePointer('a/b~c'), 'a~1b~0c'));
  it('is joined from keys and positions', () => equal(joinPointer('/endpoints', 3, 'a/b'), '/endpoints/3/a~1b'));
  it('is parsed into the keys it was joined from', () =>
    deepEqual(parsePointer('/a~1b/~01/0/'), ['a/b', '~1', '0', '']));
  it('has no keys when it is empty', () => deepEqual(parsePointer(''), []));
  it('names its field with positions in brackets', () => equal(fieldName('/endpoints/3/host/1'), 'host[1]'));
});

describe('the nearest known word', () => {
  const known = ['timeout', 'cache_ttl', 'host', 'endpoints'];
  it('is found over two swapped letters', () => equal(nearest('tiemout', known), 'timeout'));
  it('is found regardless of letter case and dashes', () => equal(nearest('Cache-TTL', known), 'cache_ttl'));
  it('is not given when nothing is near', () => equal(nearest('proxy', known), undefined));
  it('is not looked for with words of absurd length', () => equal(nearest('x'.repeat(1e6), known), undefined));
});
