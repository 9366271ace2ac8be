import { deepEqual, equal, rejects } from 'node:assert/strict';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/security/policies/index.ts';

/** Codes and pointers of the errors in a configuration. */
async function faultsOf(config: object, place: 'endpoint' | 'backend' = 'endpoint', around = {}): Promise<string[]> {
  try {
    await (await openHarness(plugin, place, config, around)).close();
    return [];
  } catch (error) {
    const { errors } = error as { errors: { code: string; pointer: string }[] };
    return errors.map(({ code, pointer }) => `${code} ${pointer.replace(/^.*security~1policies/, '')}`);
  }
}
const req = (...policies: string[]) => ({ req: { policies } });
const withValidator = { endpoint: { extra_config: { 'auth/validator': {} } } };

describe('the configuration of security/policies', () => {
  it('is rejected if it has no block, or a block without policies', async () => {
    deepEqual(await faultsOf({ debug: true }), ['POLICY_NONE ']);
    equal((await faultsOf({})).length, 1);
    equal((await faultsOf({ req: {} })).length, 1);
    equal((await faultsOf({ req: { policies: [] } })).length, 1);
    equal((await faultsOf({ req: { policies: [''] } })).length, 1);
  });

  it('accepts only known fields, custom errors and comments', async () => {
    equal((await faultsOf({ ...req('true'), more: 1 })).length, 1);
    equal((await faultsOf({ req: { policies: ['true'], more: 1 } })).length, 1);
    deepEqual(
      await faultsOf({ req: { policies: ['true'], '@more': 1, error: { whatever: 1 } }, $c: 1, _c: 2, '#': 3 }),
      [],
    );
    equal(
      (await faultsOf({ jwt: { policies: ['true'], error: { status: 403 } } }, 'endpoint', withValidator)).length,
      1,
    );
  });

  it('is rejected if it has an error with a misspelled field', async () => {
    deepEqual(await faultsOf({ req: { policies: ['true'], error: { staus: 403 } } }), [
      'POLICY_FIELD /req/error/staus',
    ]);
  });

  it('does not support token policies at a backend', async () => {
    equal((await faultsOf({ ...req('true'), jwt: { policies: ['true'] } }, 'backend')).length, 1);
    deepEqual(await faultsOf(req("JWT.sub == 'a'"), 'backend'), ['CEL_NAME /req/policies/0']);
  });

  it('rejects an invalid expression and one that is not a condition, with the location', async () => {
    deepEqual(await faultsOf(req('true', 'req_method ==')), ['CEL_SYNTAX /req/policies/1']);
    deepEqual(await faultsOf(req('req_method')), ['CEL_NO_CONDITION /req/policies/0']);
    deepEqual(await faultsOf(req('req_method + 1 == 2')), ['CEL_TYPE /req/policies/0']);
    deepEqual(await faultsOf(req("req_method.matches('(')")), ['CEL_PATTERN /req/policies/0']);
    deepEqual(await faultsOf({ resp: { policies: ['resp_dat.a == 1'] } }), ['CEL_NAME /resp/policies/0']);
  });

  it('rejects variables where they are not available', async () => {
    deepEqual(await faultsOf(req('resp_completed')), ['CEL_NAME /req/policies/0']);
    deepEqual(await faultsOf({ resp: { policies: ["req_body == ''"] } }), ['CEL_NAME /resp/policies/0']);
    deepEqual(await faultsOf({ jwt: { policies: ["req_method == 'GET'"] } }, 'endpoint', withValidator), [
      'CEL_NAME /jwt/policies/0',
    ]);
    deepEqual(await faultsOf({ jwt: { policies: ["clientIP() == ''"] } }, 'endpoint', withValidator), [
      'POLICY_NO_REQUEST /jwt/policies/0',
    ]);
    deepEqual(await faultsOf(req("JWT.sub == 'a'")), ['POLICY_NO_TOKEN /req']);
    deepEqual(await faultsOf(req("JWT.sub == 'a'"), 'endpoint', withValidator), []);
  });

  it('rejects geoIP() without a database', async () => {
    deepEqual(await faultsOf(req("geoIP().Country.IsoCode == 'ES'")), ['POLICY_NO_GEOIP /req/policies/0']);
  });

  for (const field of ['disable_macros', 'disable_advanced_macros']) {
    it(`disables the functions of policies with ${field}`, async () => {
      deepEqual(await faultsOf({ ...req("hasHeader('A')"), [field]: true }), ['CEL_FUNCTION /req/policies/0']);
      deepEqual(await faultsOf({ ...req('[1].all(x, x > 0)'), [field]: true }), []);
    });
  }

  it('warns about token policies without authentication, keys that never exist and fields without effect', async () => {
    const gate = await openHarness(plugin, 'endpoint', {
      ...req("'a' in req_headers['x-t']"),
      resp: { policies: ['true'], error: { trace: 403, '@why': 'of the test' } },
      jwt: { policies: ["JWT.sub == 'a'"] },
    });
    deepEqual(
      gate.warnings.map(({ code, hint }) => [code, hint]),
      [
        [
          'POLICY_UNUSED',
          'add "auth/validator" or "auth/introspection" or "auth/oidc" to the endpoint, or remove "jwt"',
        ],
        ['CEL_KEY', "the key of the header is 'X-T'"],
        ['POLICY_UNUSED', undefined],
      ],
    );
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('is rejected as a whole instead of being served without a policy', () =>
    rejects(openHarness(plugin, 'endpoint', req('true', 'nonsense'))));
});
