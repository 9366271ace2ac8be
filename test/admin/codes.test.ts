import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from '../kernel/cli/command.ts';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('an error of the configuration file', () => {
  let folder: Folder;
  let file: string;
  let admin: TestAdmin;
  beforeEach(async () => {
    folder = createFolder();
    file = folder.write('gateway.json', config());
    admin = await openAdmin(file);
  });
  afterEach(async () => {
    await admin.close();
    folder.remove();
  });

  it('has the same code and position in the command check, the admin API, the status, the list of attempts and the log', async () => {
    folder.write('gateway.json', { ...config(), timeout: 'soon', prot: 1 });
    const [{ out }, checked, reloaded] = [
      await sluice('check', '-c', file, '--format', 'json'),
      await admin.ask('/v1/check', { method: 'POST' }),
      await admin.ask('/v1/reload', { method: 'POST' }),
    ];
    const status = await admin.ask('/v1/status');
    const attempts = await admin.ask('/v1/attempts');
    const reported: { code: string; line: number; column: number }[][] = [
      JSON.parse(out).errors,
      checked.body.errors,
      reloaded.body.errors,
      status.body.lastReload.problem.errors,
      attempts.body.attempts[0].problem.errors,
    ];
    const [first, ...others] = reported.map((errors) =>
      errors.map(({ code, line, column }) => `${line}:${column} ${code}`).sort(),
    );
    deepEqual(first!.map((text) => text.split(' ')[1]).sort(), ['DURATION_INVALID', 'SCHEMA_UNKNOWN_KEY']);
    for (const other of others) deepEqual(other, first);
    for (const text of first!) {
      const [place, code] = text.split(' ');
      ok(
        admin.lines.some((line) => line.includes(`gateway.json:${place}: `) && line.includes(`[${code}]`)),
        text,
      );
    }
  });

  it('is answered 424, not 400, if the file is missing', async () => {
    folder.remove();
    const { status, body } = await admin.ask('/v1/reload', { method: 'POST' });
    deepEqual([status, body.errors[0].code], [424, 'CONFIG_READ']);
    const { lastReload } = (await admin.ask('/v1/status')).body;
    equal(lastReload.problem.title, 'A file or server that the configuration requires is not available');
    match(lastReload.problem.detail, /^cannot read .*gateway\.json: no such file$/);
    folder = createFolder();
  });
});
