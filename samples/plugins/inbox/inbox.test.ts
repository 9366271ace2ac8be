import { deepEqual, equal } from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { BackendError, Reply } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { plugin } from './inbox.ts';

const folder = mkdtempSync(join(tmpdir(), 'inbox-'));
after(() => rmSync(folder, { recursive: true }));

test('a file goes through the pipe and is moved; one that fails stays and is tried again', async () => {
  writeFileSync(join(folder, '1.json'), '{"order":1}');
  writeFileSync(join(folder, '2.json'), '{"order":2}');
  writeFileSync(join(folder, 'notes.txt'), 'not for us');
  const bodies: string[] = [];
  const gate = await openHarness(
    plugin,
    'agent',
    { folder, every: '1ms' },
    {
      next: async (request) => {
        const body = Buffer.from(await request.body!.bytes()).toString();
        bodies.push(body);
        const isRefused = body === '{"order":1}' && bodies.length === 1;
        return isRefused ? Reply.failed(new BackendError('AWAY', 'away')) : Reply.data({});
      },
    },
  );
  const counts = () => gate.health.get('inbox')!();
  while ((counts() as { done: number }).done < 2) await turn();
  deepEqual(bodies, ['{"order":1}', '{"order":2}', '{"order":1}']);
  deepEqual(counts(), { done: 2, failed: 1 });
  deepEqual(
    ['done/1.json', 'done/2.json', 'notes.txt', '1.json'].map((name) => existsSync(join(folder, name))),
    [true, true, true, false],
  );
  const closed = await gate.close();
  equal(closed.kept + closed.deferred, 0);
});
