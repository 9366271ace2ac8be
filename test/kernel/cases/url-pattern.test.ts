import { equal, ok } from 'node:assert/strict';
import { urlPattern } from '../../../kernel/cases/url-pattern.ts';

describe('the URL of a mock', () => {
  const rows: readonly (readonly [pattern: string, url: string, isMatch: boolean])[] = [
    ['http://users:8000/users/1', 'http://users:8000/users/1', true],
    ['http://users:8000/users/1', 'http://users:8000/users/1?full=1', true],
    ['http://users:8000/users/1', 'http://users:8000/users/12', false],
    ['http://users:8000/users/*', 'http://users:8000/users/12', true],
    ['http://users:8000/users/*', 'http://users:8000/users/12/name', false],
    ['http://users:8000/**', 'http://users:8000/users/12/name', true],
    ['http://*/users/1', 'http://other/users/1', true],
    ['http://users:8000/*/name', 'http://users:8000/users/12/name', false],
    ['/users/*', 'http://any.example/users/1', true],
    ['/users/*', 'amqp://mq:5672/users/1', true],
    ['**', 'http://any.example/users/1', true],
    ['/users?full=1', 'http://any.example/users?full=1', true],
    ['/users?full=1', 'http://any.example/users?full=2', false],
    ['/users?*', 'http://any.example/users?full=2', true],
    ['/', 'http://any.example/', true],
    ['*a', 'http://any.example/', false],
  ];
  for (const [pattern, url, isMatch] of rows) {
    it(`${pattern} ${isMatch ? 'matches' : 'does not match'} ${url}`, () => equal(urlPattern(pattern)(url), isMatch));
  }

  it('is matched in a time that does not explode with its wildcards', () => {
    const matches = urlPattern(`/${'**a'.repeat(50)}`);
    ok(!matches(`http://any.example/${'a'.repeat(5000)}b`));
  });
});
