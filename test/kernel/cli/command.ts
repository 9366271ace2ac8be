import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

const bin = new URL('../../../kernel/bin.ts', import.meta.url).pathname;

/** What a command ended with. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command to its end. One that serves opens no admin port. */
export function sluice(...args: string[]): Promise<Ended> {
  return sluiceIn({ GATEWAY_ADMIN_LISTEN: 'off' }, ...args);
}

/** Starts the command. @param env variables besides those of this process. */
export function startSluice(env: NodeJS.ProcessEnv, ...args: string[]): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [bin, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
}

/** Runs the command to its end. @param env variables besides those of this process. */
export async function sluiceIn(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> {
  const child = startSluice(env, ...args);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** A folder for the files of one test. */
export interface Folder {
  path(name: string): string;
  /** Writes a file. @returns its path. */
  write(name: string, content: unknown): string;
  read(name: string): string;
  remove(): void;
}

export function createFolder(): Folder {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  const path = (name: string) => join(folder, name);
  return {
    path,
    write(name, content) {
      writeFileSync(path(name), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
      return path(name);
    },
    read: (name) => readFileSync(path(name), 'utf8'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
