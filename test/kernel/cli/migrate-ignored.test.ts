import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

const backend = (fields: object = {}) => ({ url_pattern: '/', host: ['http://b.test'], ...fields });
const endpoint = (fields: object = {}) => ({ endpoint: '/a', backend: [backend()], ...fields });
const root = (fields: object = {}) => ({ version: 3, endpoints: [endpoint()], ...fields });

/** Configurations that KrakenD accepts although it ignores a part: the part, the migrated form and the message. */
type Row = readonly [title: string, given: object, migrated: object, said: string];

// biome-ignore format: a row is a line
const rows: readonly Row[] = [
  ['an unknown key', root({ timout: '3s' }), root({ '@timout': '3s' }), "'timout' is now '@timout', because KrakenD ignores it: unknown key 'timout'"],
  ['a key of another object', root({ concurrent_calls: 2 }), root({ '@concurrent_calls': 2 }), "'concurrent_calls' is now '@concurrent_calls', because KrakenD ignores it: 'concurrent_calls' belongs to an endpoint, not to the root"],
  ['an unknown key of a component', root({ extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true, colour: true } } }), root({ extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true, '@colour': true } } }), "'colour' is now '@colour', because KrakenD ignores it: unknown key 'colour' in 'telemetry/logging'"],
  ['an unknown component', root({ extra_config: { 'my/own': { a: 1 } } }), root({ extra_config: { '@my/own': { a: 1 } } }), `'my/own' is now '@my/own', because KrakenD ignores it: unknown namespace "my/own"`],
  ['an encoding that does not exist', root({ endpoints: [endpoint({ backend: [backend({ encoding: 'yml' })] })] }), root({ endpoints: [endpoint({ backend: [backend({ '@encoding': 'yml' })] })] }), `'encoding' is now '@encoding', because KrakenD ignores it: encoding "yml" does not exist or cannot read backend responses`],
  ['an output that does not exist', root({ endpoints: [endpoint({ output_encoding: 'jsn' })] }), root({ endpoints: [endpoint({ '@output_encoding': 'jsn' })] }), `'output_encoding' is now '@output_encoding', because KrakenD ignores it: encoding "jsn" does not exist or cannot write responses`],
  ['an unknown output encoding, which KrakenD reads as JSON regardless of the root', root({ output_encoding: 'xml', endpoints: [endpoint({ output_encoding: 'jsn' })] }), root({ output_encoding: 'xml', endpoints: [endpoint({ output_encoding: 'json' })] }), `'output_encoding' is now "json", because KrakenD ignores it: encoding "jsn" does not exist or cannot write responses`],
  ['a service discovery that does not exist', root({ endpoints: [endpoint({ backend: [backend({ sd: 'consul' })] })] }), root({ endpoints: [endpoint({ backend: [backend({ '@sd': 'consul' })] })] }), `'sd' is now '@sd', because KrakenD ignores it: unknown service discovery "consul"`],
  ['an invalid duration', root({ timeout: '2' }), root({ '@timeout': '2' }), `'timeout' is now '@timeout', because KrakenD ignores it: 'timeout' must be a duration such as "1500ms" or "2s", found "2"`],
  ['a header listed twice', root({ endpoints: [endpoint({ input_headers: ['A', 'B', 'A'] })] }), root({ endpoints: [endpoint({ input_headers: ['A', 'B'] })] }), `'input_headers' is now ["A","B"], because KrakenD ignores it: 'input_headers' contains "A" twice (first at position 0)`],
];

describe('migrate, for fields that KrakenD ignores', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  for (const [title, given, migrated, said] of rows) {
    it(`corrects ${title}, and reports it`, async () => {
      const { code, out, err } = await sluice('migrate', '-c', folder.write('g.json', given));
      equal(code, 0);
      deepEqual(JSON.parse(out), migrated);
      equal(err.replace(/^.*?:\d+:\d+: /, ''), `${said}\n`);
      equal((await sluice('check', '-c', folder.write('migrated.json', out))).code, 0);
    });
  }

  it('leaves fields that KrakenD does not ignore unchanged, and reports them', async () => {
    const given = root({
      timeout: 2,
      host: ['ftp://h'],
      output_encoding: 7,
      extra_config: { 'auth/api-keys': { keys: 7 } },
      endpoints: [endpoint({ backend: [{ url_patern: '/x' }] })],
    });
    const { code, out, err } = await sluice('migrate', '-c', folder.write('g.json', given));
    equal(code, 1);
    deepEqual(JSON.parse(out), given);
    match(err, /left unchanged: unknown key 'url_patern'/);
    match(err, /^\d errors are left: run sluice check to see how to correct them\n$/m);
  });
  const onEndpoint = (extra_config: object) => root({ endpoints: [endpoint({ extra_config })] });
  const limit = { max_rate: 1 };
  // biome-ignore format: a row is a line
  const protecting: readonly (readonly [title: string, given: object, message: string])[] = [
    ['a component of auth', onEndpoint({ 'auth/validator': { alg: 'RS256', jwk_url: 'http://k', jwk_urr: 1 } }), "unknown key 'jwk_urr' in 'auth/validator'"],
    ['a rate limit', onEndpoint({ 'qos/ratelimit/router': { ...limit, maxRat: 1 } }), "unknown key 'maxRat' in 'qos/ratelimit/router'"],
    ['a component of security', root({ extra_config: { 'security/bot-detector': { deny: ['a'], block: ['b'] } } }), "unknown key 'block' in 'security/bot-detector'"],
    ['a validation component at the wrong level', root({ extra_config: { 'validation/json-schema': {} } }), '"validation/json-schema" has no effect at service level'],
    ['an invalid TLS version', root({ client_tls: { min_version: '1.2' } }), "'min_version' must be one of"],
    ['a built-in handler with a protective purpose', root({ extra_config: { 'plugin/http-server': { name: ['ip-filter'], 'ip-filter': { CIDR: ['10.0.0.0/8'], allow: true, cdir: [] } } } }), "unknown key 'cdir'"],
    ['a limit', root({ max_header_byts: 4096 }), "unknown key 'max_header_byts'"],
    ['a misspelled component of auth', onEndpoint({ 'auth/validatr': {} }), 'unknown namespace "auth/validatr"'],
    ['an unknown component whose name suggests protection', root({ extra_config: { 'my/jwt-check': {} } }), 'unknown namespace "my/jwt-check"'],
    ['an old field name whose current name is also set', onEndpoint({ 'auth/validator': { alg: 'RS256', jwk_url: 'http://k', 'jwk-url': 'http://o' } }), "'jwk-url' is an old name of 'jwk_url', which is also set"],
    ['an old component name whose current name is also set', onEndpoint({ 'qos/ratelimit/router': limit, 'github.com/devopsfaith/krakend-ratelimit/juju/router': limit }), 'which is also set'],
  ];
  for (const [title, given, message] of protecting) {
    it(`does not comment out ${title}, which may protect an endpoint`, async () => {
      const { code, out, err } = await sluice('migrate', '-c', folder.write('g.json', given));
      equal(code, 1);
      ok(!out.includes('"@'), out);
      ok(err.includes(message), err);
    });
  }
  it('uses a free name for the comment', async () => {
    const given = root({ timout: '3s', '@timout': 'a note' });
    const { out } = await sluice('migrate', '-c', folder.write('g.json', given));
    deepEqual(JSON.parse(out), root({ '@@timout': '3s', '@timout': 'a note' }));
  });
  it('keeps comments and layout in TOML, too', async () => {
    const text = 'version = 3\ntimout = "3s" # why\n[extra_config."my/own"]\na = 1\n';
    const { out } = await sluice('migrate', '-c', folder.write('g.toml', text));
    equal(out, text.replace('timout', '"@timout"').replace('my/own', '@my/own'));
  });
});
