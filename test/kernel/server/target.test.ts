import { deepEqual } from 'node:assert/strict';
import { parseTarget } from '../../../kernel/server/routing/target.ts';

describe('parsing a request target', () => {
  const cases: [target: string, parts: [path: string, search: string, host: string | undefined] | null][] = [
    ['/a/b', ['/a/b', '', undefined]],
    ['/a?b=c?d', ['/a', 'b=c?d', undefined]],
    ['/?', ['/', '', undefined]],
    ['//a', ['//a', '', undefined]],
    ['/a#b', null],
    ['/a?b#c', null],
    ['http://a', ['/', '', 'a']],
    ['HTTPS://a:81/b?c', ['/b', 'c', 'a:81']],
    ['http://a?b=c', ['/', 'b=c', 'a']],
    ['http://[::1]:80/', ['/', '', '[::1]:80']],
    ['http://a/b#c', null],
    ['http:///a', null],
    ['http://u@a/', null],
    ['ftp://a/', null],
    ['xhttp://a/', null],
    ['*', null],
    ['', null],
    ['a/b', null],
  ];
  for (const [target, sections] of cases) {
    it(`turns ${JSON.stringify(target)} into ${sections ? JSON.stringify(sections) : 'null'}`, () => {
      const parsed = parseTarget(target);
      deepEqual(parsed && [parsed.path, parsed.search, parsed.host], sections);
    });
  }
});
