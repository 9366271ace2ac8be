import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, LogMessage } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import type { Revision } from '../../../kernel/control/revision.ts';

export function revision(number: number, changes: Partial<Revision> = {}): Revision {
  return {
    number,
    hash: `hash of ${number}`,
    at: '2030-01-02T03:04:05.678Z',
    source: 'api',
    actor: 'deployer',
    message: null,
    result: 'applied',
    reason: null,
    pinned: false,
    format: 'json',
    files: ['/etc/gateway.json'],
    text: `{"revision": ${number}}`,
    ...changes,
  };
}

/** A log whose warnings can be read. */
export function warned(): { readonly log: Log; readonly warnings: string[] } {
  const warnings: string[] = [];
  const warning = (message: LogMessage) => {
    warnings.push(typeof message === 'string' ? message : message());
  };
  return { log: { ...silentLog, warning }, warnings };
}

/** New directories, removed after each test. */
export function directories(): () => Promise<string> {
  const made: string[] = [];
  afterEach(async () => {
    for (const path of made.splice(0)) await rm(path, { recursive: true, force: true });
  });
  return async () => {
    const path = await mkdtemp(join(tmpdir(), 'revisions-'));
    made.push(path);
    return path;
  };
}
