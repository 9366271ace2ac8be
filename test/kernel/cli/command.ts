import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Running, startCommand, startProcess } from './running.ts';

/** Exit code and output of a command. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process until it ends. A gateway opens no admin port. */
export function sluice(...args: string[]): Promise<Ended> {
  return sluiceIn({ GATEWAY_ADMIN_LISTEN: 'off' }, ...args);
}

/** Runs a command in this process until it ends. @param env additional environment variables. */
export function sluiceIn(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> {
  return endOf(startCommand(env, ...args));
}

/** Runs a command in a separate process until it ends, for effects that only a process has. */
export function sluiceProcess(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> {
  return endOf(startProcess(env, ...args));
}

async function endOf(running: Running): Promise<Ended> {
  const code = await running.ended;
  return { code, out: running.out, err: running.err };
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
