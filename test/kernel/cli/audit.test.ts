import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { catalogue } from '../../../plugins/index.ts';
import { createFolder, type Folder, sluice } from './command.ts';

const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
const withTimeout = (timeout: string) => ({ version: 3, endpoints: [{ endpoint: '/a', timeout, backend }] });

describe('audit', () => {
  let folder: Folder;
  let minimal: string;
  let slow: string;
  before(() => {
    folder = createFolder();
    minimal = folder.write('minimal.json', withTimeout('2s'));
    slow = folder.write('slow.json', withTimeout('90s'));
  });
  after(() => folder.remove());

  const ids = (out: string): string[] =>
    out
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')[0]!);

  it('prints a line for each rule that matches and exits with status 1', async () => {
    const { code, out, err } = await sluice('audit', '-c', minimal);
    deepEqual([code, err], [1, '']);
    const expected = '1.2.1 2.1.2 2.1.7 2.2.1 2.2.2 3.1.1 3.1.2 3.1.3 4.1.1 4.1.2 4.2.1 4.3.1 5.2.2 8.2.7';
    deepEqual(ids(out), expected.split(' '));
    match(out, /^2\.1\.7\t\[HIGH\] {3}\t[A-Z][^\t]*\.\t/m);
  });

  it('ends each line with the places at which the rule matches', async () => {
    const { out } = await sluice('audit', '-c', slow, '-s', 'CRITICAL');
    equal(out.trimEnd().split('\t').at(-1), `${slow}:6:7`);
  });

  it('shows three places of a rule and the number of further places', async () => {
    const endpoints = [1, 2, 3, 4, 5].map((at) => ({ endpoint: `/${at}`, timeout: '90s', backend }));
    const file = folder.write('many.json', { version: 3, endpoints });
    const { out } = await sluice('audit', '-c', file, '-s', 'CRITICAL');
    match(out, /\t(?:[^\t]+many\.json:\d+:7(?:, )?){3} and 2 more\n$/);
  });

  it('recommends only components that the release has', async () => {
    const { out } = await sluice('audit', '-c', minimal);
    const recommended = out.match(/\b(?:auth|security|qos|telemetry|validation)\/[\w/-]+/g) ?? [];
    ok(recommended.length > 5);
    deepEqual(
      recommended.filter((name) => !Object.hasOwn(catalogue.plugins, name)),
      [],
    );
  });

  it('marks notes as such, and exits 0 if there are only notes', async () => {
    const { code, out } = await sluice('audit', '-c', 'samples/quickstart/gateway.json');
    deepEqual([code, ids(out)], [0, ['2.1.2', '8.2.6', '8.2.7']]);
    match(out, /does not fail the audit/);
  });

  it('reports the secret of a model provider once, where it is declared, and not for each endpoint that uses it', async () => {
    const provider = { name: 'fast', provider: 'openai', credentials: 'opensesame' };
    const routed = [{ extra_config: { 'ai/router': { routes: [{ provider: 'fast' }] } } }];
    const endpoints = ['/a', '/b'].map((endpoint) => ({ endpoint, method: 'POST', backend: routed }));
    const components = { 'ai/providers': { providers: [provider] } };
    const file = folder.write('models.json', { version: 3, extra_config: components, endpoints });
    const { out } = await sluice('audit', '-c', file, '--format', 'json');
    const { recommendations } = JSON.parse(out) as {
      recommendations: { rule: string; instances: { pointer: string }[] }[];
    };
    deepEqual(
      recommendations.find(({ rule }) => rule === '8.1.5')!.instances.map(({ pointer }) => pointer),
      ['/extra_config/ai~1providers/providers/0/credentials'],
    );
  });

  it('prints nothing and exits 0 if no rule of the requested severities matches', async () => {
    deepEqual(await sluice('audit', '-c', minimal, '-s', 'CRITICAL'), { code: 0, out: '', err: '' });
  });

  it('prints only rules of the requested severity', async () => {
    const { code, out } = await sluice('audit', '-s', 'CRITICAL', '-c', slow);
    deepEqual([code, ids(out)], [1, ['3.3.4']]);
  });

  it('omits rules that -i lists, with or without spaces', async () => {
    const { out } = await sluice('audit', '-c', minimal, '-i', '1.2.1, 2.1.2');
    const results = ids(out);
    ok(!results.includes('1.2.1') && !results.includes('2.1.2') && results.includes('2.1.7'));
  });

  it('exits 0 if all matching rules are ignored', async () => {
    const { code, out } = await sluice('audit', '-i', '3.3.4', '-s', 'CRITICAL', '-c', slow);
    deepEqual([code, out], [0, '']);
  });

  it('omits rules that the file of -I lists, in addition to -i', async () => {
    const list = folder.write('ignored', '# known\n\n3.3.4\n3.3.3 # later\n');
    const { out } = await sluice('audit', '-c', slow, '-s', 'CRITICAL,HIGH', '-i', '1.2.1', '-I', list);
    ok(ids(out).every((id) => !id.startsWith('3.3.') && id !== '1.2.1'));
  });

  it('warns about an ignored rule that does not exist', async () => {
    const { code, err } = await sluice('audit', '-c', minimal, '-s', 'CRITICAL', '-i', '9.9.9');
    equal(code, 0);
    match(err, /WARNING.*9\.9\.9/);
  });

  it('omits a rule for an object that ignores it with @audit-ignore', async () => {
    const endpoints = [{ endpoint: '/a', input_headers: ['*'], backend, '@audit-ignore': ['2.2.3'] }];
    const { out } = await sluice('audit', '-c', folder.write('quiet.json', { version: 3, endpoints }));
    ok(!ids(out).includes('2.2.3'));
  });

  it('prints JSON with places', async () => {
    const { code, out } = await sluice('audit', '-c', slow, '-s', 'CRITICAL', '-f', 'json');
    equal(code, 1);
    const { recommendations, stats } = JSON.parse(out);
    const line =
      folder
        .read('slow.json')
        .split('\n')
        .findIndex((text) => text.includes('"timeout"')) + 1;
    deepEqual(recommendations, [
      {
        rule: '3.3.4',
        severity: 'CRITICAL',
        message: recommendations[0].message,
        note: false,
        instances: [{ pointer: '/endpoints/0/timeout', file: slow, line, column: 7 }],
      },
    ]);
    equal(stats.endpoints, 1);
  });

  it('prints the same JSON with a template that marshals everything', async () => {
    const [json, marshalled] = await Promise.all(
      ['json', '{{ marshal . }}'].map((format) => sluice('audit', '-c', slow, '-f', format)),
    );
    deepEqual(JSON.parse(marshalled!.out), JSON.parse(json!.out));
  });

  it('prints a template given by -f', async () => {
    const template = '{{ range .Recommendations -}} {{ .Rule }}={{ .Severity | colored }};{{ end }}';
    equal((await sluice('audit', '-c', slow, '-s', 'CRITICAL', '-f', template)).out, '3.3.4=CRITICAL;');
  });

  it('prints SARIF with a result for each place', async () => {
    const { out } = await sluice('audit', '-c', slow, '-s', 'CRITICAL', '-f', 'sarif');
    const { version, runs } = JSON.parse(out);
    equal(version, '2.1.0');
    const [{ ruleId, level, locations }] = runs[0].results;
    deepEqual([ruleId, level], ['3.3.4', 'error']);
    equal(locations[0].physicalLocation.artifactLocation.uri, pathToFileURL(slow).href);
    equal(locations[0].logicalLocations[0].fullyQualifiedName, '/endpoints/0/timeout');
  });

  it('accepts combined short flags', async () => {
    equal((await sluice('audit', `-sCRITICAL`, '-c', minimal)).code, 0);
  });

  it('reports file, line and column of an error and exits 2', async () => {
    const { code, out, err } = await sluice('audit', '-c', folder.write('bad.json', '{\n  "version": 3,,\n}'));
    deepEqual([code, out], [2, '']);
    match(err, /bad\.json:2:\d+: /);
  });

  it('exits with status 2 for a configuration that check rejects', async () => {
    const { code, err } = await sluice('audit', '-c', folder.write('wrong.json', { version: 3, port: 'x' }));
    equal(code, 2);
    match(err, /\/port/);
  });

  for (const [sentence, message, ...args] of [
    ['without a file', /-c FILE/],
    ['for an unknown severity', /unknown severity "URGENT"/, '-c', 'x.json', '-s', 'URGENT'],
    ['for an unknown format', /unknown format "xml"/, '-c', 'x.json', '-f', 'xml'],
    ['for a bad template', /bad template/, '-c', 'x.json', '-f', '{{ range .Recommendations }}'],
    ['for a missing ignore file', /cannot read/, '-c', 'x.json', '-I', '/nowhere/ignored'],
  ] as [string, RegExp, ...string[]][]) {
    it(`exits with status 2 ${sentence}`, async () => {
      const { code, err } = await sluice('audit', ...args);
      equal(code, 2);
      match(err, message);
    });
  }

  it('exits with status 2 for a template with an unknown field', async () => {
    const { code, err } = await sluice('audit', '-c', minimal, '-f', '{{ .Nothing }}');
    equal(code, 2);
    match(err, /unknown field \.Nothing/);
  });
});
