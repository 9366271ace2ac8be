import { deepEqual, equal, ok } from 'node:assert/strict';
import { createSessions } from '../../../admin/tokens/sessions.ts';
import { createTokens, hashOfToken } from '../../../admin/tokens/tokens.ts';
import { config, openAdmin, type TestAdmin, TOKEN } from '../support.ts';

describe('sessions of the dashboard', () => {
  const owner = { id: 'ops', sha256: hashOfToken('the owner'), scopes: ['read' as const] };
  let now: number;
  let owners: (typeof owner)[];
  let sessions: ReturnType<typeof createSessions>;

  beforeEach(() => {
    now = 0;
    owners = [owner];
    sessions = createSessions(
      createTokens(() => owners),
      () => now,
    );
  });

  const open = () => sessions.redeem(sessions.createCode(owner.sha256).code)!;
  const isValid = async (token: string) => (await sessions.find(hashOfToken(token))) !== null;

  it('act with the name and the scopes of the token that created the code', async () => {
    const caller = await sessions.find(hashOfToken(open()));
    deepEqual([caller?.id, caller?.scopes], ['ops', ['read']]);
  });

  it('are opened once by a code', () => {
    const { code } = sessions.createCode(owner.sha256);
    ok(sessions.redeem(code));
    equal(sessions.redeem(code), null);
  });

  it('are not opened by a code that is older than a minute, or unknown', () => {
    const { code, validForMs } = sessions.createCode(owner.sha256);
    now += validForMs;
    equal(sessions.redeem(code), null);
    equal(sessions.redeem('unknown'), null);
    equal(sessions.redeem('__proto__'), null);
  });

  it('end after 12 hours', async () => {
    const token = open();
    now += 12 * 3_600_000 - 1;
    ok(await isValid(token));
    now += 1;
    ok(!(await isValid(token)));
  });

  it('end when their token is revoked', async () => {
    const token = open();
    owners = [];
    ok(!(await isValid(token)));
  });

  it('can open further sessions, which also end with the first token', async () => {
    const further = sessions.redeem(sessions.createCode(hashOfToken(open())).code)!;
    ok(await isValid(further));
    owners = [];
    ok(!(await isValid(further)));
  });

  it('are limited to 100: a further one ends the oldest', async () => {
    const first = open();
    const second = open();
    for (let count = 2; count <= 100; count++) open();
    ok(!(await isValid(first)));
    ok(await isValid(second));
  });

  it('end for the token that has opened the most of them, not for others', async () => {
    const other = { ...owner, id: 'other', sha256: hashOfToken('another owner') };
    owners = [owner, other];
    const first = open();
    for (let count = 0; count < 200; count++) sessions.redeem(sessions.createCode(other.sha256).code);
    ok(await isValid(first));
  });

  describe('over the admin API', () => {
    let one: TestAdmin;
    beforeEach(async () => {
      one = await openAdmin(config());
    });
    afterEach(() => one.close());

    const codeOf = async () => (await one.ask('/v1/dashboard/codes', { method: 'POST' })).body.code;
    const redeem = (code: string) => one.ask('/v1/dashboard/sessions', { method: 'POST', token: code });

    it('are opened by a code, whose token is then accepted', async () => {
      const { body } = await redeem(await codeOf());
      const { status, body: token } = await one.ask('/v1/token', { token: body.token });
      deepEqual([status, token.id, token.writesDisabled], [200, 'environment', false]);
    });

    it('leave no code and no token in the log', async () => {
      const code = await codeOf();
      const { body } = await redeem(code);
      await one.ask('/v1/token', { token: body.token });
      ok(!one.lines.some((line) => line.includes(code) || line.includes(body.token) || line.includes(TOKEN)));
    });

    it('are not opened by the token itself, or from another page', async () => {
      equal((await redeem(TOKEN)).status, 401);
      const headers = { origin: 'https://attacker.example' };
      const foreign = await one.ask('/v1/dashboard/sessions', { method: 'POST', token: await codeOf(), headers });
      equal(foreign.status, 403);
    });
  });
});
