import { deepEqual } from 'node:assert/strict';
import type { Plugin } from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { startWith } from '../../support/plugged.ts';

const plugin = (more: Partial<Plugin>): Plugin => ({ name: 'acme/alone', description: 'Stands nowhere.', ...more });

describe('a plugin that has no configuration but is named in an extra_config', () => {
  for (const [what, more, message, hint] of [
    [
      'is reported as attached automatically',
      { always: () => ({}) },
      'it is attached to every service automatically',
      'remove it',
    ],
    [
      'is reported with the field that refers to its encoding',
      { encodings: [{ name: 'csv', decode: () => ({}) }] },
      'it cannot be used in extra_config',
      '"encoding": "csv"',
    ],
  ] as const) {
    it(what, async () => {
      const config = { version: 3, extra_config: { 'acme/alone': {} } };
      const error = await startWith([plugin(more as never)], config).catch((reason: unknown) => reason);
      const errors = error instanceof ConfigErrors ? error.errors : [];
      deepEqual(
        errors.map((each) => [each.code, each.pointer, each.message, each.hint]),
        [['NAMESPACE_LEVEL', '/extra_config/acme~1alone', `"acme/alone" has no configuration: ${message}`, hint]],
      );
    });
  }
});

describe('an extra_config with many unknown namespaces', () => {
  it('is rejected with the first 200 of them and the number of the others', async () => {
    const extra = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`unknown/${at}`, {}]));
    const error = await startWith([], { version: 3, extra_config: extra }).catch((reason: unknown) => reason);
    const errors = error instanceof ConfigErrors ? error.errors : [];
    deepEqual(
      [errors.length, errors[199]?.message, errors[200]?.message],
      [201, 'unknown namespace "unknown/199"', '800 more unknown namespaces'],
    );
  });
});
