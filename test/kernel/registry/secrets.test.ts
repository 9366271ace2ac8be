import { deepEqual, equal } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { ConfigError, type Data } from '#contract';
import { printConfig } from '../../../kernel/cli/check/print-config.ts';
import { formats } from '../../../kernel/cli/formats/index.ts';
import { findingsOf } from '../../../kernel/cli/formats/report.ts';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { type IsSecret, maskSecrets, parseDocument, toIssues } from '../../../kernel/config/index.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { secretsKnownTo } from '../../../kernel/registry/secrets.ts';
import { catalogue } from '../../../plugins/index.ts';
import { normalize } from '../../support/known.ts';

const CLIENT = '/endpoints/0/backend/0/extra_config/backend~1http~1client';
const PROXY = `${CLIENT}/proxy_address`;

/** A field that its schema marks as secret, but whose name does not reveal it. */
const document = (address: Data) => ({
  version: 3,
  endpoints: [
    {
      endpoint: '/a',
      backend: [
        {
          url_pattern: '/a',
          host: ['http://a.test'],
          extra_config: { 'backend/http/client': { no_redirect: true, proxy_address: address } },
        },
      ],
    },
  ],
});

describe("a field that its component's schema marks as secret", () => {
  let isSecret: IsSecret;
  before(async () => {
    const registry = new Registry(catalogue, toolServices());
    await registry.load(['backend/http/client']);
    isSecret = secretsKnownTo(registry);
  });

  it('is treated as secret', () => equal(isSecret(PROXY, 'hidden'), true));
  it('is treated as secret at every level of the component', () =>
    equal(isSecret('/extra_config/backend~1http~1client/proxy_address', 'hidden'), true));
  it('does not affect its sibling fields', () => equal(isSecret(`${CLIENT}/other`, 'shown'), false));
  it('does not affect other fields of the same name', () =>
    equal(isSecret('/endpoints/0/extra_config/qos~1ratelimit~1router/proxy_address', 'shown'), false));
  it('is treated as secret in addition to fields with secret names or texts', () =>
    equal(isSecret('/x/password', 'hidden'), true));

  it('is masked in the configuration that the gateway prints', () => {
    const shown = JSON.stringify(maskSecrets(document('hidden'), '', isSecret));
    equal(shown, JSON.stringify(document('***')));
  });
  it('is masked in the value of an issue', () => {
    const source = parseDocument(JSON.stringify(document('hidden')), 'g.json');
    const values = [PROXY, CLIENT].map(
      (pointer) => toIssues(source, [new ConfigError('ANY', pointer, 'is wrong')], 'error', isSecret)[0]!.value,
    );
    deepEqual(values, ['***', '{"no_redirect":true,"proxy_address":"***"}']);
  });
  it('is masked in the excerpt of the file that an issue shows', () => {
    const source = parseDocument(JSON.stringify(document('hidden')), 'g.json');
    const findings = findingsOf('g.json', source, [new ConfigError('ANY', CLIENT, 'is wrong')], [], isSecret);
    const printed = formats.get('text')!.print(findings, false);
    deepEqual([printed.includes('hidden'), printed.includes('"proxy_address":***')], [false, true]);
  });
  it('is masked in the interpreted configuration', () => {
    const { config } = normalize(document('hidden'));
    const stream = new PassThrough();
    printConfig(stream, config, 3, ' ', isSecret);
    const printed = String(stream.read());
    deepEqual([printed.includes('hidden'), printed.includes('"proxy_address":"***"')], [false, true]);
  });
});
