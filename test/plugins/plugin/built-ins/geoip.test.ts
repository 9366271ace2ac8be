import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeaderBag, makeRequest } from '#contract';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/plugin/http-server.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { makeDatabase } from '../../../support/mmdb.ts';

const london = {
  city: { geoname_id: 2643743, names: { en: 'London', ru: 'Лондон' } },
  continent: { code: 'EU', geoname_id: 6255148, names: { en: 'Europe' } },
  country: { geoname_id: 2635167, iso_code: 'GB', names: { en: 'United Kingdom' } },
  location: { accuracy_radius: 100, latitude: 51.5142, longitude: -0.0931, time_zone: 'Europe/London' },
  postal: { code: 'EC1' },
  registered_country: { geoname_id: 3017382, is_in_european_union: true, iso_code: 'FR', names: { en: 'France' } },
  represented_country: { geoname_id: 6252001, iso_code: 'US', names: { en: 'United States' }, type: 'military' },
  subdivisions: [{ geoname_id: 6269131, iso_code: 'ENG', names: { en: 'England' } }],
  traits: { is_anonymous_proxy: true },
};
const places: [string, typeof london][] = [
  ['81.2.69.142/31', london],
  ['2001:db8:0:0:0:0:0:0/32', london],
];

const expected = {
  City: { GeoNameID: 2643743, Names: { en: 'London', ru: 'Лондон' } },
  Continent: { Code: 'EU', GeoNameID: 6255148, Names: { en: 'Europe' } },
  Country: { GeoNameID: 2635167, IsInEuropeanUnion: false, IsoCode: 'GB', Names: { en: 'United Kingdom' } },
  Location: { AccuracyRadius: 100, Latitude: 51.5142, Longitude: -0.0931, MetroCode: 0, TimeZone: 'Europe/London' },
  Postal: { Code: 'EC1' },
  RegisteredCountry: { GeoNameID: 3017382, IsInEuropeanUnion: true, IsoCode: 'FR', Names: { en: 'France' } },
  RepresentedCountry: {
    ...{ GeoNameID: 6252001, IsInEuropeanUnion: false, IsoCode: 'US', Names: { en: 'United States' } },
    Type: 'military',
  },
  Subdivisions: [{ GeoNameID: 6269131, IsoCode: 'ENG', Names: { en: 'England' } }],
  Traits: { IsAnonymousProxy: true, IsSatelliteProvider: false },
};
const country = { GeoNameID: 0, IsInEuropeanUnion: false, IsoCode: '', Names: null };
const nowhere = {
  City: { GeoNameID: 0, Names: null },
  Continent: { Code: '', GeoNameID: 0, Names: null },
  Country: country,
  Location: { AccuracyRadius: 0, Latitude: 0, Longitude: 0, MetroCode: 0, TimeZone: '' },
  Postal: { Code: '' },
  RegisteredCountry: country,
  RepresentedCountry: { ...country, Type: '' },
  Subdivisions: null,
  Traits: { IsAnonymousProxy: false, IsSatelliteProvider: false },
};

describe('the client location of the plugin "geoip"', () => {
  let folder: string;
  let backend: TestBackend;
  let gateway: Operations | undefined;
  const write = (bytes: Uint8Array, name = 'city.mmdb') => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const config = (citydb_path: string) => ({ name: ['geoip'], geoip: { citydb_path } });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-geoip-'));
    backend = await startBackend(json({ ok: true }));
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await backend.close();
  });
  afterEach(() => gateway?.close());

  /** The header set for clients with these addresses. */
  async function headersFor(path: string, ...addresses: string[]): Promise<string[]> {
    const results: string[] = [];
    const next = (request: { client: { headers: HeaderBag } }) => {
      results.push(request.client.headers.getAll('x-geoip').join());
      return { status: 200 } as never;
    };
    const gate = await openHarness(plugin, 'service', config(path), { next });
    for (const ip of addresses) {
      await gate
        .send(makeRequest({ ip, headers: new HeaderBag(['X-Geoip', 'of the client', 'x-geoip', '2']) }))
        .catch(() => {});
    }
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    return results;
  }

  for (const recordSize of [24, 28, 32] as const) {
    it(`is read from a database with records of ${recordSize} bits, for IPv4 and IPv6`, async () => {
      const path = write(makeDatabase(places, { recordSize }));
      const headers = await headersFor(path, '81.2.69.142', '2001:db8::7', '::ffff:81.2.69.143', '81.2.69.144');
      const isoCodes = headers.map((header) => JSON.parse(header).Country.IsoCode);
      deepEqual(isoCodes, ['GB', 'GB', 'GB', '']);
    });
  }

  it('is one line of ASCII JSON with a fixed set of members', async () => {
    const [header, again, empty] = await headersFor(
      write(makeDatabase(places)),
      '81.2.69.142',
      '81.2.69.142',
      '127.0.0.1',
    );
    deepEqual(JSON.parse(header!), expected);
    match(header!, /^[\x20-\x7e]+$/);
    ok(header!.includes('\\u041b'));
    equal(again, header);
    deepEqual(JSON.parse(empty!), nowhere);
  });

  it('is empty for an invalid address', async () => {
    const [header] = await headersFor(write(makeDatabase(places)), '');
    deepEqual(JSON.parse(header!), nowhere);
  });

  it('is empty for an unreadable record, which is logged as an ERROR once a minute', async () => {
    const broken = makeDatabase([['2001:db8:0:0:0:0:0:0/32', london]]);
    // Damages the city record, so that it has an unknown data type.
    broken.set([1, 20], broken.indexOf('geoname_id') - 2);
    const path = write(broken, 'broken.mmdb');
    const lines: string[] = [];
    let now = 0;
    const log = { at: () => log, debug() {}, info() {}, warning() {}, error: (line: string) => lines.push(line) };
    const services = { clock: { now: () => now }, log: log as never };
    const gate = await openHarness(plugin, 'service', config(path), { services });
    for (const [index, at] of [0, 1000, 60_000].entries()) {
      now = at;
      equal((await gate.send(makeRequest({ ip: `2001:db8::${index}` }))).status, 200);
    }
    deepEqual(
      lines.map((line) => line.split(' cannot be read')[0]),
      ['the record of 2001:db8::0', 'the record of 2001:db8::2'],
    );
    await gate.close();
    const [header] = await headersFor(path, '2001:db8::7');
    deepEqual(JSON.parse(header!), nowhere);
  });

  async function faultOf(path: string): Promise<string> {
    return openHarness(plugin, 'service', config(path)).then(
      () => '',
      ({ errors }) => `${errors[0].code} ${errors[0].pointer.replace(/^.*http-server/, '')}`,
    );
  }

  it('is rejected for a database that does not exist, is truncated or is not a city database', async () => {
    const whole = makeDatabase(places);
    equal(await faultOf(join(folder, 'none.mmdb')), 'GEOIP_FILE /geoip/citydb_path');
    equal(await faultOf(write(Buffer.from('text'))), 'GEOIP_DATABASE /geoip/citydb_path');
    equal(await faultOf(write(Buffer.alloc(0))), 'GEOIP_DATABASE /geoip/citydb_path');
    equal(await faultOf(write(whole.subarray(0, whole.length - 200))), 'GEOIP_DATABASE /geoip/citydb_path');
    equal(
      await faultOf(write(makeDatabase(places, { type: 'GeoLite2-Country' }))),
      'GEOIP_DATABASE /geoip/citydb_path',
    );
    equal(await faultOf(folder), 'GEOIP_FILE /geoip/citydb_path');
  });

  const start = async (endpoint: object, more: object = {}) => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/' }], ...endpoint }],
      extra_config: {
        router: {
          forwarded_by_client_ip: true,
          trusted_proxies: ['127.0.0.1'],
          remote_ip_headers: ['X-Forwarded-For'],
        },
        'plugin/http-server': config(write(makeDatabase(places))),
        ...more,
      },
    });
  };
  const from = (ip: string, more: object = {}) =>
    gateway!.inject({ url: '/a', headers: { 'x-forwarded-for': ip, ...more } });
  const seen = () => JSON.parse(backend.requests.at(-1)!.headers['x-geoip'] as string);

  it('is sent to backends if the header is forwarded', async () => {
    await start({ input_headers: ['X-Geoip'] });
    await from('81.2.69.142');
    deepEqual([seen().Country.IsoCode, seen().City.Names.en], ['GB', 'London']);
  });

  it('is empty for a private address', async () => {
    await start({ input_headers: ['X-Geoip'] });
    await gateway!.inject('/a');
    equal(seen().Country.IsoCode, '');
  });

  it('replaces a location header that the client sends, even under a similar name', async () => {
    await start({ input_headers: ['*'] });
    await from('81.2.69.142', { 'x-geoip': '{"Country":{"IsoCode":"ES"}}', x_geoip: '{"Country":{"IsoCode":"ES"}}' });
    equal(seen().Country.IsoCode, 'GB');
    ok(!backend.requests.at(-1)!.rawHeaders.some((text) => text.includes('"ES"')));
  });

  it('is not sent to backends unless the header is forwarded', async () => {
    await start({});
    await from('81.2.69.142');
    equal(backend.requests.at(-1)!.headers['x-geoip'], undefined);
  });

  it('is available to conditional backends', async () => {
    const check_expr = 'req_headers[\'X-Geoip\'][0].matches(\'"IsoCode":"ES"\')';
    await start({ input_headers: ['X-Geoip'], extra_config: { 'validation/cel': [{ check_expr }] } });
    equal((await from('81.2.69.142')).statusCode, 500);
  });

  it('is available to policies even if the header is not forwarded', async () => {
    const req = {
      policies: ["geoIP().Country.IsoCode == 'GB' && geoIP().City.Names.en == 'London'"],
      error: { status: 451 },
    };
    await start({ extra_config: { 'security/policies': { req } } });
    deepEqual([(await from('81.2.69.142')).statusCode, (await from('9.9.9.9')).statusCode], [200, 451]);
  });
});
