import { deepEqual, rejects } from 'node:assert/strict';
import type { Level } from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { plugin } from '../../../plugins/validation/cel/index.ts';
import { openHarness } from '../../support/harness.ts';

const refusalOf = async (level: Level, ...conditions: (string | object)[]) => {
  const config = conditions.map((rule) => (typeof rule === 'string' ? { check_expr: rule } : rule));
  let said: unknown;
  await rejects(openHarness(plugin, level, config), (error: unknown) => {
    if (!(error instanceof ConfigErrors)) throw error;
    said = error.errors.map(({ code, pointer, message }) => [code, pointer, message]);
    return true;
  });
  return said;
};

const warningsOf = async (level: Level, condition: string) => {
  const gate = await openHarness(plugin, level, [{ check_expr: condition }]);
  await gate.close();
  return gate.warnings.map(({ code, pointer, message, hint }) => [code, pointer, message, hint]);
};

describe('the configuration of validation/cel', () => {
  it('is rejected if a condition has a syntax error or compares incompatible types', async () => {
    deepEqual(await refusalOf('endpoint', 'true', '1 +'), [
      ['CEL_SYNTAX', '/1/check_expr', ((await refusalOf('endpoint', '1 +')) as string[][])[0]![2]],
    ]);
    deepEqual(await refusalOf('endpoint', 'req_params.Id == 3'), [
      ['CEL_NEVER', '/0/check_expr', 'string == int is never true'],
    ]);
    deepEqual(await refusalOf('backend', 'req_method'), [
      ['CEL_NO_CONDITION', '/0/check_expr', 'is a string: a condition must be true or false'],
    ]);
  });

  it('is rejected if claims are read without auth/validator or at a backend', async () => {
    deepEqual(await refusalOf('endpoint', 'JWT.lvl > 2'), [
      ['CEL_NO_TOKEN', '', 'JWT is only available with "auth/validator" or "auth/introspection" or "auth/oidc"'],
    ]);
    deepEqual(await refusalOf('endpoint', 'JWT.sub == req_params.Id'), [
      ['CEL_NO_TOKEN', '', 'JWT is only available with "auth/validator" or "auth/introspection" or "auth/oidc"'],
    ]);
    deepEqual(await refusalOf('backend', 'JWT.lvl > 2'), [
      ['CEL_NAME', '/0/check_expr', 'JWT is not available in backends'],
    ]);
  });

  it('is rejected if it has no condition, or unknown fields', async () => {
    for (const level of ['service', 'endpoint', 'backend'] as const) {
      deepEqual(
        ((await refusalOf(level)) as string[][]).map(([code]) => code),
        ['SCHEMA_RANGE'],
      );
    }
    deepEqual(((await refusalOf('endpoint', { check_exp: 'true' })) as string[][]).map(([code]) => code).sort(), [
      'SCHEMA_UNKNOWN_KEY',
    ]);
  });

  it('ignores comment keys in a condition', async () => {
    const gate = await openHarness(plugin, 'endpoint', [{ check_expr: 'true', '@comment': 'why', _more: 1 }]);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('warns about a key that can never exist in the given letter case', async () => {
    deepEqual(await warningsOf('endpoint', "'a' in req_headers['x-team'] || req_params.id_user == ''"), [
      ['CEL_KEY', '/0/check_expr', "req_headers never has 'x-team'", "the key of the header is 'X-Team'"],
      ['CEL_KEY', '/0/check_expr', "req_params never has 'id_user'", "the key of the parameter is 'Id_user'"],
    ]);
    deepEqual(await warningsOf('backend', "resp_metadata_headers['X-Team'] == ['a'] && req_params.Id != ''"), []);
  });

  it('decodes data only if a condition reads it', async () => {
    const readsData = async (level: Level, condition: string) => {
      const gate = await openHarness(plugin, level, [{ check_expr: condition }]);
      await gate.close();
      return gate.attached.readsData;
    };
    deepEqual(await readsData('endpoint', 'resp_completed'), undefined);
    deepEqual(await readsData('endpoint', 'has(resp_data.a)'), true);
    deepEqual(await readsData('backend', 'has(resp_data.a)'), true);
  });
});
