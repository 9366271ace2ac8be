import { deepEqual, match, rejects } from 'node:assert/strict';
import { openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/modifier/response-body-generator.ts';

describe('a file that a component cannot read', () => {
  for (const [what, path, reason] of [
    ['a directory', 'samples', /samples \(.*\): is a directory$|samples: is a directory$/],
    ['a path with a null byte', 'a\0', /: the path contains a null byte$/],
    ['a path that is too long', 'a'.repeat(5_000), /: the path is too long$/],
    ['a path with a file in its middle', 'package.json/a', /: a part of the path is not a directory$/],
  ] as const) {
    it(`causes an error for ${what} at the field that names it, with the reason`, () =>
      rejects(openHarness(plugin, 'endpoint', { path }), ({ errors }) => {
        deepEqual(
          errors.map(({ code, pointer }: { code: string; pointer: string }) => [code, pointer]),
          [['FILE_UNREADABLE', '/path']],
        );
        match(errors[0].message, reason);
        return true;
      }));
  }
});
