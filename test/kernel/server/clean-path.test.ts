import { equal } from 'node:assert/strict';
import { cleanPath } from '../../../kernel/server/routing/target.ts';

describe('the cleaned form', () => {
  const cases: [path: string, clean: string][] = [
    ['/', '/'],
    ['//', '/'],
    ['/..', '/'],
    ['/.', '/'],
    ['/../a', '/a'],
    ['/a/', '/a/'],
    ['/a/.', '/a/'],
    ['/a/b/..', '/a/'],
    ['/a/..', '/'],
    ['/a//b/./c', '/a/b/c'],
    ['/a/..;x/b', '/b'],
    ['/a/;x/b', '/a/b'],
    ['/a;x/b', '/a;x/b'],
    ['/a/...', '/a/...'],
    ['/a/.b', '/a/.b'],
    ['/a/b.', '/a/b.'],
    ['/a%2F..%2fb', '/a%2F..%2fb'],
  ];
  for (const [path, clean] of cases) {
    it(`of the path ${path} is ${clean}`, () => equal(cleanPath(path), clean));
  }

  const encoded: [path: string, clean: string][] = [
    ['/a%2Fb%2f%2fc', '/a/b/c'],
    ['/a%2F%2e%2E/b', '/b'],
    ['/a%20b/%41/', '/a%20b/%41/'],
    ['/%2e%2e%3bx/b', '/b'],
  ];
  for (const [path, clean] of encoded) {
    it(`of the path ${path}, as sent to a backend, is ${clean}`, () => equal(cleanPath(path, true), clean));
  }
});
