import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { type Child, start } from './children.ts';
import { writeFiles } from './files.ts';
import { NGINX_ADVICE, nginxArguments, nginxBackend } from './nginx.ts';
import { requireProgram } from './programs.ts';
import { listens } from './subject.ts';

/** Environment of every measurement. */
export interface Stage {
  /** Temporary folder, removed at the end. */
  readonly folder: string;
  /** Origin of the running upstream. */
  readonly upstream: string;
  /** Process of the upstream. */
  readonly backend: Child;
  close(): Promise<void>;
}

const UPSTREAM_FILE = join(import.meta.dirname, 'upstream.ts');
const PATIENCE_MS = 10_000;

/** Servers available as the backend. */
export const backends = [{ name: 'node' }, { name: 'nginx' }] as const;
export type Backend = (typeof backends)[number]['name'];

/** @param kind nginx uses less CPU time than Node.js. @throws Error when the backend does not start. */
export async function openStage(kind: Backend = 'node'): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', clean);
  let backend: Child | undefined;
  const close = async () => {
    await backend?.stop();
    clean();
    process.removeListener('exit', clean);
  };
  try {
    const opening = kind === 'node' ? openNode(folder) : await openNginx(folder);
    backend = opening.child;
    return { folder, upstream: `http://127.0.0.1:${await opening.port()}`, backend, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function openNode(folder: string) {
  const child = start([process.execPath, UPSTREAM_FILE], join(folder, 'upstream.log'), { ipc: true });
  return { child, port: async () => (await child.message<{ port: number }>(PATIENCE_MS)).port };
}

async function openNginx(folder: string) {
  const executable = requireProgram('nginx', NGINX_ADVICE);
  const number = await freePort();
  const home = join(folder, 'backend');
  writeFiles(home, nginxBackend(number));
  const child = start([executable, ...nginxArguments(home)], join(folder, 'upstream.log'));
  const port = async () => {
    for (const until = Date.now() + PATIENCE_MS; !(await listens(number)); ) {
      if (Date.now() > until) throw new Error(`nginx does not listen: ${child.output()}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return number;
  };
  return { child, port };
}
