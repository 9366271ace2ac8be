import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { BackendError, HeaderBag, Reply } from '#contract';
import type { Harness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/signer/index.ts';
import { openHarness } from '../../../support/harness.ts';
import { rememberingLog } from '../../../support/log.ts';
import { makeSigner, privateJwk, type Signer } from '../fixture.ts';

describe('a signing key from a key server', () => {
  const down = () => Reply.failed(new BackendError('TEST', 'nobody there'));
  let signer: Signer;
  let keys: object[];
  let requested: string[];
  let respond: (() => Reply | Promise<Reply>) | null;
  let log: ReturnType<typeof rememberingLog>;
  let gate: Harness | undefined;

  before(async () => {
    signer = await makeSigner('ES256', 'k1');
  });
  beforeEach(async () => {
    keys = [await privateJwk(signer)];
    requested = [];
    respond = null;
    log = rememberingLog();
  });
  afterEach(async () => {
    const closed = gate?.close();
    gate = undefined;
    deepEqual(await closed, { kept: 0, deferred: 0 });
    mock.timers.reset();
  });

  const config = { alg: 'ES256', kid: 'k1', keys_to_sign: ['token'], jwk_url: 'https://id.test/private' };
  const open = async (more: object = {}) => {
    gate = await openHarness(
      plugin,
      'endpoint',
      { ...config, ...more },
      {
        services: { log },
        next: (request) => {
          if (request.target === '') return Reply.data({ token: { sub: 'ada' } });
          requested.push(request.origin + request.target);
          if (respond) return respond();
          const body = Buffer.from(JSON.stringify({ keys }));
          return Reply.raw(200, new HeaderBag(['Content-Type', 'application/jwk-set+json']), body);
        },
      },
    );
    return gate;
  };
  const login = async () => (await gate!.send('POST /')).status;
  /** Like `until`, but with mocked timers. */
  const soon = async (isSo: () => boolean | Promise<boolean>) => {
    for (let turns = 0; !(await isSo()); turns++) {
      ok(turns < 1000, `not so: ${isSo}`);
      await new Promise(setImmediate);
    }
  };
  const problems = () => log.lines.filter((line) => line.startsWith('ERROR'));

  it('is fetched once, before the first request', async () => {
    await open();
    deepEqual(requested, ['https://id.test/private']);
    deepEqual([await login(), await login()], [200, 200]);
    equal(requested.length, 1);
  });

  it('is fetched again by a reload, which can bring another key with the same ID', async () => {
    await open();
    keys = [await privateJwk(await makeSigner('ES256', 'k1'))];
    const before = (await gate!.send('POST /')).body;
    await gate!.reload(config);
    equal(requested.length, 2);
    const after = (await gate!.send('POST /')).body;
    ok(before && after && !Buffer.from(before as Uint8Array).equals(after as Uint8Array));
  });

  it('is kept if the server is down during a reload', async () => {
    await open();
    respond = down;
    await gate!.reload(config);
    equal(await login(), 200);
    deepEqual(problems(), [
      'ERROR [JWTSigner] Unable to create the signer: nobody there; the previous key remains in use',
    ]);
  });

  it('is no longer used after the server withdraws it', async () => {
    await open();
    keys = [await privateJwk(await makeSigner('ES256', 'k2'))];
    await gate!.reload(config);
    equal(await login(), 401);
  });

  it('is requested with delays that double from 1 s to 60 s; requests fail with 401 until it arrives', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    respond = down;
    await open();
    equal(await login(), 401);
    let expected = 1;
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
      mock.timers.tick(seconds * 1000 - 1);
      await new Promise(setImmediate);
      equal(requested.length, expected, `before ${seconds} s`);
      mock.timers.tick(1);
      expected += 1;
      await soon(() => requested.length === expected);
      await soon(() => problems().length === expected);
    }
    equal(await login(), 401);
    respond = null;
    mock.timers.tick(60_000);
    await soon(async () => (await login()) === 200);
    mock.timers.tick(600_000);
    await new Promise(setImmediate);
    equal(requested.length, expected + 1);
  });

  it('is no longer requested after its configuration is replaced', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    respond = down;
    await open();
    await gate!.close();
    const { length } = requested;
    mock.timers.tick(600_000);
    await new Promise(setImmediate);
    equal(requested.length, length);
    await open();
  });

  for (const [what, reply] of [
    ['responds with 500', () => Reply.raw(500, new HeaderBag(['Content-Type', 'application/json']), Buffer.from('{}'))],
    ['responds with HTML', () => Reply.raw(200, new HeaderBag(['Content-Type', 'text/html']), Buffer.from('<html>'))],
    ['has no key with that ID', () => setOf({ kty: 'oct', kid: 'other', k: 'AAAA' })],
    ['has only the public key', () => setOf({ ...signer.jwk })],
    ['has a key of another type', () => setOf({ kty: 'oct', kid: 'k1', k: 'AAAA' })],
    ['redirects to plain HTTP', () => Reply.raw(302, new HeaderBag(['Location', 'http://id.test/private']), null)],
  ] as const) {
    it(`is not used if the server ${what}: requests fail with 401 and the reason is logged`, async () => {
      respond = reply;
      await open();
      equal(await login(), 401);
      equal(problems().length, 1);
      ok(problems()[0]!.startsWith('ERROR [JWTSigner] Unable to create the signer: '));
    });
  }

  it('is not fetched over plain HTTP unless that is allowed: requests fail with 401 and check warns about it', async () => {
    await open({ jwk_url: 'http://id.test/private' });
    deepEqual(
      gate!.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
      ['KEYS_INSECURE /jwk_url'],
    );
    equal(await login(), 401);
    deepEqual(requested, []);
    await gate!.close();
    await open({ jwk_url: 'http://id.test/private', disable_jwk_security: true });
    equal(await login(), 200);
  });

  it('is not fetched by the main process of a gateway with workers', async () => {
    const owner = await openHarness(plugin, 'endpoint', config, { role: 'owner', next: down });
    deepEqual(await owner.close(), { kept: 0, deferred: 0 });
    await open();
  });

  function setOf(key: object): Reply {
    return Reply.raw(
      200,
      new HeaderBag(['Content-Type', 'application/json']),
      Buffer.from(JSON.stringify({ keys: [key] })),
    );
  }
});
