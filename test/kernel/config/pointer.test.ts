import { deepEqual, equal } from 'node:assert/strict';
import { escapePointer, fieldName, joinPointer, nearest, parsePointer } from '../../../kernel/config/index.ts';

describe('a JSON pointer', () => {
  it('escapes slashes and tildes', () => equal(escapePointer('a/b~c'), 'a~1b~0c'));
  it('is composed of keys and positions', () => equal(joinPointer('/endpoints', 3, 'a/b'), '/endpoints/3/a~1b'));
  it('is parsed into the keys that it was composed of', () =>
    deepEqual(parsePointer('/a~1b/~01/0/'), ['a/b', '~1', '0', '']));
  it('has no keys if it is empty', () => deepEqual(parsePointer(''), []));
  it('has a short field name with positions in brackets', () => equal(fieldName('/endpoints/3/host/1'), 'host[1]'));
});

describe('the nearest known word for a misspelled one', () => {
  const known = ['timeout', 'cache_ttl', 'host', 'endpoints'];
  it('is suggested for two swapped letters', () => equal(nearest('tiemout', known), 'timeout'));
  it('is suggested regardless of letter case and dashes', () => equal(nearest('Cache-TTL', known), 'cache_ttl'));
  it('is not suggested if no word is similar', () => equal(nearest('proxy', known), undefined));
  it('is not searched for if a word is very long', () => equal(nearest('x'.repeat(1e6), known), undefined));
});
