import { deepEqual, equal } from 'node:assert/strict';
import type { ConfigError, Plugin } from '#contract';
import { onlyClaim } from '../../../kernel/pipeline/attach/attach.ts';

describe('a setting that only one component may provide', () => {
  const attached = (name: string, at: { reload?: string }) => ({
    plugin: { name } as Plugin,
    at,
    pointer: `/${name}`,
    reads: {} as never,
  });
  const claim = (...all: ReturnType<typeof attached>[]) => {
    const errors: ConfigError[] = [];
    const value = onlyClaim({ errors } as never, all, 'reload', 'decide');
    return { value, errors: errors.map((error) => [error.code, error.pointer, error.message, error.related]) };
  };

  it('is returned if exactly one component provides it', () => {
    deepEqual(claim(attached('a', {}), attached('b', { reload: 'x' })), { value: 'x', errors: [] });
    equal(claim(attached('a', {})).value, undefined);
  });

  it('is an error for each further component, which names the first', () => {
    const all = ['a', 'b', 'c'].map((name) => attached(name, { reload: name }));
    deepEqual(claim(...all), {
      value: 'a',
      errors: ['b', 'c'].map((name) => [
        'PLUGINS_CONFLICT',
        `/${name}`,
        `"a" and "${name}" cannot both decide`,
        ['/a'],
      ]),
    });
  });
});
