import { deepEqual, rejects } from 'node:assert/strict';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/backend/lambda/index.ts';

describe('backend/lambda', () => {
  const endpoint = { endpoint: '/call/{function}' };
  const warningsOf = async (config: object, around: object = { endpoint }) => {
    const gate = await openHarness(plugin, 'backend', config, around);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    return gate.warnings.map(({ code, pointer }) => [code, pointer]);
  };

  it('warns about two function names, and about a parameter that the path does not define', async () => {
    deepEqual(await warningsOf({ function_name: 'a', function_param_name: 'function' }), [
      ['LAMBDA_NAME', '/function_param_name'],
    ]);
    deepEqual(await warningsOf({ function_param_name: 'other' }), [['LAMBDA_NAME', '']]);
    deepEqual(await warningsOf({}), []);
  });

  it('keeps its credentials across a reload', async () => {
    const gate = await openHarness(plugin, 'backend', { function_name: 'a' });
    await gate.reload({ function_name: 'b' });
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  for (const [what, wrong, code] of [
    ['an invalid URL', { function_name: 'a', endpoint: 'localhost:4566' }, 'LAMBDA_ENDPOINT'],
    ['an empty name', { function_name: '' }, 'SCHEMA_RANGE'],
    ['a negative number of retries', { function_name: 'a', max_retries: -2 }, 'SCHEMA_RANGE'],
    ['a region that cannot be part of a host name', { function_name: 'a', region: 'eu west' }, 'SCHEMA_PATTERN'],
    ['an unknown field', { function_name: 'a', qualifier: 'live' }, 'SCHEMA_UNKNOWN_KEY'],
  ] as const) {
    it(`rejects ${what}`, () =>
      rejects(openHarness(plugin, 'backend', wrong), ({ errors: [error] }) => {
        deepEqual(error.code, code);
        return true;
      }));
  }
});
