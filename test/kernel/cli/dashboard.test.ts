import { equal, match } from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { openAdmin, type TestAdmin, TOKEN } from '../../admin/support.ts';
import { until } from '../../support/conditions.ts';
import { createFolder, sluiceIn } from './command.ts';
import { startProcess } from './running.ts';

describe('sluice dashboard', function () {
  this.timeout(60_000);

  describe('for a running gateway', () => {
    let one: TestAdmin;
    beforeEach(async () => {
      one = await openAdmin();
    });
    afterEach(() => one.close());

    const env = () => ({ GATEWAY_ADMIN_LISTEN: one.admin.address!, GATEWAY_ADMIN_TOKEN: TOKEN });

    it('prints a link whose code opens one session', async () => {
      const { code, out } = await sluiceIn(env(), 'dashboard', '--print');
      equal(code, 0);
      const [, secret = ''] = /^http:\/\/127\.0\.0\.1:\d+\/#code=([\w-]+)\n$/.exec(out) ?? [];
      const redeem = () => one.ask('/v1/dashboard/sessions', { method: 'POST', token: secret });
      equal((await redeem()).status, 200);
      equal((await redeem()).status, 401);
    });

    for (const [what, script, shown] of [
      [
        'opens the link in the browser',
        'echo "$1" > "$0.url"',
        /^opened the dashboard at http:\/\/127\.0\.0\.1:\d+\n$/,
      ],
      ['prints the link if no browser can be started', 'exit 3', /^http:\/\/127\.0\.0\.1:\d+\/#code=/],
    ] as const) {
      it(what, async () => {
        const folder = createFolder();
        folder.write('xdg-open', `#!/bin/sh\n${script}\n`);
        chmodSync(folder.path('xdg-open'), 0o755);
        const running = startProcess({ ...env(), PATH: `${folder.path('')}:${process.env['PATH']}` }, 'dashboard');
        equal(await running.ended, 0);
        match(running.out, shown);
        if (shown.source.startsWith('^opened')) match(readFileSync(folder.path('xdg-open.url'), 'utf8'), /\/#code=/);
        folder.remove();
      });
    }

    it('prints the reason if the token is not valid', async () => {
      const { code, err } = await sluiceIn({ ...env(), GATEWAY_ADMIN_TOKEN: 'wrong' }, 'dashboard', '--print');
      equal(code, 1);
      match(err, /the token is not valid/);
    });
  });

  it('rejects a Unix socket, to which browsers cannot connect', async () => {
    const { code, err } = await sluiceIn({}, 'dashboard', '--admin', 'unix:/run/sluice.sock');
    equal(code, 2);
    match(err, /browsers cannot connect to a Unix socket/);
  });

  it('runs a gateway with traffic and an event stream for a demonstration, until it is stopped', async () => {
    const demo = startProcess({}, 'dashboard', '--demo', '--print');
    await demo.printed(/#code=/);
    const [, origin, secret] = /(http:\/\/[\d.:]+)\/#code=([\w-]+)/.exec(demo.output)!;
    const session = await fetch(`${origin}/v1/dashboard/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
    });
    const { token } = (await session.json()) as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    await until(async () => {
      const response = await fetch(`${origin}/v1/routes`, { headers });
      type Counters = { calls: number; streams: number };
      const { routes } = (await response.json()) as { routes: { counters: Counters }[] };
      // A stream is counted as a call once it has ended.
      return routes.length === 5 && routes.every(({ counters: { calls, streams } }) => calls + streams > 0);
    });
    demo.kill('SIGTERM');
    equal(await demo.ended, 0);
  });
});
