import { equal } from 'node:assert/strict';
import { CaseInsensitivePaths } from '../../../kernel/server/routing/case-insensitive-paths.ts';

describe('the declared spelling of a request path', () => {
  const declared: [patterns: string[], path: string, spelled: string | undefined][] = [
    [['/Mixed/{id}/End'], '/mIXED/AbC/eND', '/Mixed/AbC/End'],
    [['/a'], '/b', undefined],
    [['/a'], '/a/b', undefined],
    [['/a/b'], '/A', undefined],
    [['/a/'], '/A/', '/a/'],
    [['/a/{id}'], '/A/', undefined],
    [['/{id}/b', '/A/B'], '/a/b', '/A/B'],
    [['/A/c', '/{id}/B'], '/a/b', '/a/B'],
    [['/A/*', '/{id}/B'], '/a/b', '/A/b'],
    [['/A/*', '/A/{id}/C'], '/a/B/c', '/A/B/C'],
    [['/A/*'], '/a/B//C', '/A/B//C'],
    [['/A/*'], '/a', undefined],
    [['/{id}-/x', '/-{id}/Y'], '/-v/y', '/-v/Y'],
    [['/X{id}-Y{to}Z/a', '/X{id}-Y{to}Z/B'], '/xQQQ-yRSz/b', '/XQQQ-YRSZ/B'],
    [['/x{id}', '/X{id}/B'], '/xQ/b', '/XQ/B'],
    [['/Ä{id}'], '/äQ', '/ÄQ'],
    [['/Foo/{id}', '/foo/{id}/x'], '/fOO/1/X', '/foo/1/x'],
    [['/Foo/{id}', '/foo/{id}/x'], '/fOO/1', '/Foo/1'],
    [['/Foo/{id}', '/foo/{id}', '/FOO/{id}/*'], '/fOO/1/X', '/FOO/1/X'],
    // Is rejected, because the letter consists of two characters in lower case, so values could be extracted at wrong
    // positions.
    [['/{id}x{to}'], '/İXb', undefined],
  ];
  for (const [patterns, path, spelled] of declared) {
    it(`is ${spelled} for ${path} among ${patterns.join(' and ')}`, () => {
      const paths = new CaseInsensitivePaths();
      for (const pattern of patterns) paths.add('GET', pattern);
      equal(paths.find('GET', path), spelled);
      equal(paths.find('PUT', path), undefined);
    });
  }
});
