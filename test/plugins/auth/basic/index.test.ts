import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { type Offer, Reply } from '#contract';
import { type Harness, type HarnessOptions, openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/auth/basic/index.ts';
import { basicUserSlot } from '../../../../plugins/shared/callers/basic-user.ts';
import { until } from '../../../support/conditions.ts';
import { rememberingLog } from '../../../support/log.ts';
import { findingsOf } from '../fixture.ts';

/** Hashes with the lowest cost, in the format of `htpasswd -B`. */
const hashOf = (password: string) => hashSync(password, 4).replace('$2b$', '$2y$');

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('auth/basic', () => {
  const clock = { time: 1_000_000, now: () => clock.time };
  const harnesses: Harness[] = [];
  const admin = hashOf('admin');
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-basic-'));
  });
  after(() => rmSync(folder, { recursive: true }));
  afterEach(async () => {
    for (const one of harnesses.splice(0)) deepEqual(await one.close(), { kept: 0, deferred: 0 });
  });

  let files = 0;
  const file = (text: string) => {
    const path = join(folder, `htpasswd-${files++}`);
    writeFileSync(path, text);
    return path;
  };
  const testbed = async (place: 'service' | 'endpoint', config: object, options: HarnessOptions = {}) => {
    const harness = await openHarness(plugin, place, config, { services: { clock }, ...options });
    harnesses.push(harness);
    return harness;
  };
  const offersOf = async (service: object): Promise<readonly Offer[]> =>
    (await testbed('service', service)).attached.offers ?? [];
  const open = async (service: object | null, endpoint: object = {}, options: HarnessOptions = {}) =>
    testbed('endpoint', endpoint, { offers: service ? await offersOf(service) : [], ...options });
  const send = (gate: Harness, authorization?: string) =>
    gate.send({ headers: authorization === undefined ? {} : { Authorization: authorization } });
  const statusOf = async (gate: Harness, credentials: string) =>
    (await send(gate, `Basic ${base64(credentials)}`)).status;

  it('accepts the name and password of a user in the file', async () => {
    const gate = await open({ htpasswd_path: file(`admin:${admin}\n`) });
    equal((await send(gate, 'Basic YWRtaW46YWRtaW4=')).status, 200);
  });

  for (const [what, authorization] of [
    ['a request without the header', undefined],
    ['an empty header', ''],
    ['another scheme', `Bearer ${base64('admin:admin')}`],
    ['a scheme without credentials', 'Basic'],
    ['invalid base64', 'Basic YWRtaW4?YWRtaW4='],
    ['base64 with a line break', 'Basic YWRtaW46 YWRtaW4='],
    ['credentials without a colon', `Basic ${base64('admin')}`],
    ['credentials without a name', `Basic ${base64(':admin')}`],
    ['a wrong password', `Basic ${base64('admin:x')}`],
    ['an empty password', `Basic ${base64('admin:')}`],
    ['a name in another case', `Basic ${base64('Admin:admin')}`],
    ['an unknown user', `Basic ${base64('eve:admin')}`],
    ['a name like an object member', `Basic ${base64('__proto__:x')}`],
    ['the correct password followed by a NUL and more characters', `Basic ${base64('admin:admin\0x')}`],
    ['a name with a NUL', `Basic ${base64('admin\0:admin')}`],
    ['the hash sent as the password', `Basic ${base64(`admin:${admin}`)}`],
  ] as const) {
    it(`rejects ${what} with 401 and a challenge`, async () => {
      const { status, headers, body, data } = await send(await open({ users: { admin } }), authorization);
      deepEqual([status, body, data], [401, null, null]);
      equal(headers.get('www-authenticate'), 'Basic realm="gateway", charset="UTF-8"');
    });
  }

  it('accepts the scheme in any letter case, and base64 without padding', async () => {
    const gate = await open({ users: { admin } });
    for (const value of ['basic YWRtaW46YWRtaW4', 'BASIC YWRtaW46YWRtaW4='])
      equal((await send(gate, value)).status, 200);
  });

  it('reads the first of several Authorization headers', async () => {
    const gate = await open({ users: { admin } });
    const headers = { Authorization: 'Basic YWRtaW46YWRtaW4=', authorization: 'Basic x' };
    equal((await gate.send({ headers })).status, 200);
  });

  it('prefers hashes in the configuration over those in the file, and accepts passwords with colons', async () => {
    const gate = await open({ htpasswd_path: file(`admin:${admin}`), users: { admin: hashOf('p:q') } });
    deepEqual([await statusOf(gate, 'admin:p:q'), await statusOf(gate, 'admin:admin')], [200, 401]);
  });

  it('decodes names and passwords as UTF-8 and accepts empty passwords', async () => {
    const gate = await open({ users: { 'jörg ✓': hashOf('grün'), empty: hashOf('') } });
    deepEqual([await statusOf(gate, 'jörg ✓:grün'), await statusOf(gate, 'empty:')], [200, 200]);
  });

  it('compares only the first 72 bytes of a password', async () => {
    const gate = await open({ users: { a: hashOf('x'.repeat(80)) } });
    const statuses = [];
    for (const tail of ['', 'y'.repeat(100)]) statuses.push(await statusOf(gate, `a:${'x'.repeat(72)}${tail}`));
    deepEqual([...statuses, await statusOf(gate, `a:${'x'.repeat(71)}`)], [200, 200, 401]);
  });

  it('accepts the bcrypt prefixes $2a$, $2b$ and $2y$', async () => {
    const tail = admin.slice(4);
    const gate = await open({ users: { a: `$2a$${tail}`, b: `$2b$${tail}`, y: `$2y$${tail}` } });
    for (const name of ['a', 'b', 'y']) equal(await statusOf(gate, `${name}:admin`), 200, name);
  });

  it('skips blank lines and comments in the file, and uses the last entry of a duplicate name', async () => {
    const path = file(`# users\r\n\r\nadmin:${hashOf('old')}\r\n  \nadmin:${admin}\r\n#eve:${admin}\n`);
    const gate = await open({ htpasswd_path: path });
    deepEqual(
      [await statusOf(gate, 'admin:admin'), await statusOf(gate, 'admin:old'), await statusOf(gate, '#eve:admin')],
      [200, 401, 401],
    );
  });

  it('accepts only the users that the endpoint lists, if it lists any', async () => {
    const gate = await open({ users: { admin } }, { users: { other: hashOf('o') } });
    deepEqual([await statusOf(gate, 'admin:admin'), await statusOf(gate, 'other:o')], [401, 200]);
  });

  it('works without a root configuration if the endpoint declares its users', async () =>
    equal(await statusOf(await open(null, { users: { admin } }), 'admin:admin'), 200));

  it('rejects a user that was removed from the file despite the cached password', async () => {
    const gate = await open(null, { users: { admin, other: admin } });
    equal(await statusOf(gate, 'admin:admin'), 200);
    await gate.reload({ users: { other: admin } });
    deepEqual([await statusOf(gate, 'admin:admin'), await statusOf(gate, 'other:admin')], [401, 200]);
  });

  it('provides the user name to logs and policies', async () => {
    const users: unknown[] = [];
    const gate = await open(
      null,
      { users: { admin } },
      {
        next: (_request, call) => {
          users.push(call.get(basicUserSlot));
          return Reply.data({});
        },
      },
    );
    await statusOf(gate, 'admin:admin');
    await statusOf(gate, 'admin:admin');
    deepEqual(users, ['admin', 'admin']);
  });

  it('logs the reason of rejected requests once a second, without passwords and unknown names', async () => {
    const log = rememberingLog();
    const gate = await open(null, { users: { admin } }, { services: { clock, log } });
    for (const credentials of ['admin:wrong-1', 'admin:wrong-2', 'hunter2:wrong-3']) {
      await statusOf(gate, credentials);
      if (credentials !== 'admin:wrong-1') clock.time += 1000;
    }
    await send(gate);
    deepEqual(log.lines, [
      'DEBUG [BasicAuth] 1 users',
      'WARNING [BasicAuth] refused: wrong password of "admin"',
      'WARNING [BasicAuth] refused: unknown user',
      'WARNING [BasicAuth] refused: no credentials',
    ]);
  });

  it('does not block the event loop while it compares a password', async () => {
    // The expected number is low, because the comparison spans only a few turns of the event loop on a busy machine.
    await until(async () => {
      const gate = await open(null, { users: { slow: hashSync('p', 9) } });
      let turns = 0;
      let isOver = false;
      const turn = () => {
        turns++;
        if (!isOver) setImmediate(turn);
      };
      turn();
      equal(await statusOf(gate, 'slow:p'), 200);
      isOver = true;
      return turns > 100;
    });
  });

  it('stops waiting for a comparison when the client disconnects', async () => {
    const gate = await open(null, { users: { slow: hashSync('p', 12) } }, { endpoint: { timeout: 1 } });
    const { status, errors } = await send(gate, `Basic ${base64('slow:p')}`);
    deepEqual([status, errors[0]?.code], [500, 'CALL_DEADLINE']);
  });

  describe('in the configuration check', () => {
    for (const [what, place, config, finding] of [
      ['an endpoint without any users', 'endpoint', {}, 'BASIC_NO_USERS '],
      ['an invalid list of users', 'endpoint', { users: {} }, 'BASIC_NO_USERS '],
      ['a file that does not exist', 'service', { htpasswd_path: '/nonexistent/x' }, 'BASIC_FILE /htpasswd_path'],
      ['a hash other than bcrypt', 'service', { users: { a: '$apr1$x$y' } }, 'BASIC_HASH /users/a'],
      ['a plaintext password', 'endpoint', { users: { 'a/b': 'secret' } }, 'BASIC_HASH /users/a~1b'],
      ['an invalid bcrypt cost', 'service', { users: { a: admin.replace('$04$', '$03$') } }, 'BASIC_HASH /users/a'],
      ['a truncated hash', 'service', { users: { a: admin.slice(0, -1) } }, 'BASIC_HASH /users/a'],
      ['a name with a colon', 'service', { users: { 'a:b': admin } }, 'BASIC_USER /users/a:b'],
    ] as const) {
      it(`rejects ${what}`, async () => deepEqual(await findingsOf(openHarness(plugin, place, config)), [finding]));
    }

    it('rejects a file with an unsupported hash, and reports the user but neither the hash nor the line', async () => {
      for (const line of ['eve:{SHA}c2VjcmV0', 'eve:c2VjcmV0', 'c2VjcmV0']) {
        const path = file(`admin:${admin}\n${line}\n`);
        await rejects(openHarness(plugin, 'service', { htpasswd_path: path }), ({ message }: Error) => {
          match(message, line.startsWith('eve') ? /BASIC_HASH .*"eve"/ : /BASIC_HASH/);
          ok(!message.includes('c2Vjc'), message);
          return true;
        });
      }
    });

    it('rejects a file without users', async () =>
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', { htpasswd_path: file('# none\n') })), [
        'BASIC_NO_USERS ',
      ]));

    for (const [what, config] of Object.entries({
      'an unknown field': { htpasswd: 'x' },
      'users in a list': { users: ['a'] },
      'a hash that is not a string': { users: { a: 1 } },
    })) {
      it(`rejects ${what}`, () => rejects(openHarness(plugin, 'service', config), { code: 'CONFIG_INVALID' }));
    }

    it('warns about a bcrypt cost that takes seconds', async () => {
      const { warnings } = await testbed('service', { users: { a: admin.replace('$04$', '$15$') } });
      deepEqual(
        warnings.map(({ code, pointer }) => [code, pointer]),
        [['BASIC_SLOW', '/users/a']],
      );
    });

    for (const [title, header, codes] of [
      ['warns about auth/validator reading the same header', undefined, ['BASIC_HEADER']],
      ['warns about it in any letter case', 'AUTHORIZATION', ['BASIC_HEADER']],
      ['does not warn about a validator that reads another header', 'X-Token', []],
    ] as const) {
      it(title, async () => {
        const extra_config = { 'auth/validator': { ...(header && { auth_header_name: header }) } };
        const { warnings } = await open(null, { users: { admin } }, { endpoint: { extra_config } });
        deepEqual(
          warnings.map(({ code }) => code),
          codes,
        );
      });
    }
  });
});
