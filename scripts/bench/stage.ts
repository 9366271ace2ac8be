import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from './children.ts';

/** What every measurement needs around it. */
export interface Stage {
  /** Empty at first, removed at the end. */
  readonly folder: string;
  /** Origin of the running upstream. */
  readonly upstream: string;
  close(): Promise<void>;
}

const UPSTREAM_FILE = join(import.meta.dirname, 'upstream.ts');
const PATIENCE_MS = 10_000;

export async function openStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', clean);
  const child = start([process.execPath, UPSTREAM_FILE], join(folder, 'upstream.log'), { ipc: true });
  const close = async () => {
    await child.stop();
    clean();
    process.removeListener('exit', clean);
  };
  try {
    const { port } = await child.message<{ port: number }>(PATIENCE_MS);
    return { folder, upstream: `http://127.0.0.1:${port}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}
