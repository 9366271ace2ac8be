import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { BackendError, HeaderBag, Reply } from '#contract';
import type { Harness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/signer/index.ts';
import { openHarness } from '../../../support/harness.ts';
import { rememberingLog } from '../../../support/log.ts';
import { makeSigner, privateJwk, type Signer } from '../fixture.ts';

describe('the key of a server that auth/signer signs with', () => {
  const down = () => Reply.failed(new BackendError('TEST', 'nobody there'));
  let signer: Signer;
  let keys: object[];
  let asked: string[];
  let respond: (() => Reply | Promise<Reply>) | null;
  let log: ReturnType<typeof rememberingLog>;
  let gate: Harness | undefined;

  before(async () => {
    signer = await makeSigner('ES256', 'k1');
  });
  beforeEach(async () => {
    keys = [await privateJwk(signer)];
    asked = [];
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
          asked.push(request.origin + request.target);
          if (respond) return respond();
          const body = Buffer.from(JSON.stringify({ keys }));
          return Reply.raw(200, new HeaderBag(['Content-Type', 'application/jwk-set+json']), body);
        },
      },
    );
    return gate;
  };
  const login = async () => (await gate!.send('POST /')).status;
  /** As `until`, where no timer runs by itself. */
  const soon = async (isSo: () => boolean | Promise<boolean>) => {
    for (let turns = 0; !(await isSo()); turns++) {
      ok(turns < 1000, `not so: ${isSo}`);
      await new Promise(setImmediate);
    }
  };
  const problems = () => log.lines.filter((line) => line.startsWith('ERROR'));

  it('is there before the first request, and not asked for again', async () => {
    await open();
    deepEqual(asked, ['https://id.test/private']);
    deepEqual([await login(), await login()], [200, 200]);
    equal(asked.length, 1);
  });

  it('is requested again by a reload, which may bring another one of that name', async () => {
    await open();
    keys = [await privateJwk(await makeSigner('ES256', 'k1'))];
    const before = (await gate!.send('POST /')).body;
    await gate!.reload(config);
    equal(asked.length, 2);
    const after = (await gate!.send('POST /')).body;
    ok(before && after && !Buffer.from(before as Uint8Array).equals(after as Uint8Array));
  });

  it('stays the one from before where a reload finds the server down', async () => {
    await open();
    respond = down;
    await gate!.reload(config);
    equal(await login(), 200);
    deepEqual(problems(), ['ERROR [JWTSigner] Unable to create the signer: nobody there, the key from before stays']);
  });

  it('is no longer used once the server has withdrawn it', async () => {
    await open();
    keys = [await privateJwk(await makeSigner('ES256', 'k2'))];
    await gate!.reload(config);
    equal(await login(), 401);
  });

  it('is requested with pauses from 1 s that double up to 60 s; until it arrives requests are 401', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    respond = down;
    await open();
    equal(await login(), 401);
    let expected = 1;
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
      mock.timers.tick(seconds * 1000 - 1);
      await new Promise(setImmediate);
      equal(asked.length, expected, `before ${seconds} s`);
      mock.timers.tick(1);
      expected += 1;
      await soon(() => asked.length === expected);
      await soon(() => problems().length === expected);
    }
    equal(await login(), 401);
    respond = null;
    mock.timers.tick(60_000);
    await soon(async () => (await login()) === 200);
    mock.timers.tick(600_000);
    await new Promise(setImmediate);
    equal(asked.length, expected + 1);
  });

  it('is no longer requested when the configuration is gone', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    respond = down;
    await open();
    await gate!.close();
    const { length } = asked;
    mock.timers.tick(600_000);
    await new Promise(setImmediate);
    equal(asked.length, length);
    await open();
  });

  for (const [what, reply] of [
    ['answers 500', () => Reply.raw(500, new HeaderBag(['Content-Type', 'application/json']), Buffer.from('{}'))],
    ['answers HTML', () => Reply.raw(200, new HeaderBag(['Content-Type', 'text/html']), Buffer.from('<html>'))],
    ['has no key of that name', () => setOf({ kty: 'oct', kid: 'other', k: 'AAAA' })],
    ['has the public key only', () => setOf({ ...signer.jwk })],
    ['has a key of another kind', () => setOf({ kty: 'oct', kid: 'k1', k: 'AAAA' })],
    ['leads to plain HTTP', () => Reply.raw(302, new HeaderBag(['Location', 'http://id.test/private']), null)],
  ] as const) {
    it(`of a server that ${what} is not used: 401, and the log shows the reason`, async () => {
      respond = reply;
      await open();
      equal(await login(), 401);
      equal(problems().length, 1);
      ok(problems()[0]!.startsWith('ERROR [JWTSigner] Unable to create the signer: '));
    });
  }

  it('is not fetched over plain HTTP unless that is allowed: 401, of which check warns', async () => {
    await open({ jwk_url: 'http://id.test/private' });
    deepEqual(
      gate!.warnings.map(({ code, pointer }) => `${code} ${pointer}`),
      ['KEYS_INSECURE /jwk_url'],
    );
    equal(await login(), 401);
    deepEqual(asked, []);
    await gate!.close();
    await open({ jwk_url: 'http://id.test/private', disable_jwk_security: true });
    equal(await login(), 200);
  });

  it('is not fetched by the process that only decides', async () => {
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
