import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nginxArguments } from '../../scripts/bench/nginx.ts';
import { findProgram } from '../../scripts/bench/programs.ts';
import { until } from './conditions.ts';
import { isInstalled, isListing } from './debian.ts';

const STREAM_MODULE = '/usr/lib/nginx/modules/ngx_stream_module.so';

/** Reason for the title of a suite that is skipped; null with nginx and its module for TCP streams. */
export const withoutNginx =
  isListing || (isInstalled('nginx', 'nginx-light') && isInstalled(STREAM_MODULE, 'libnginx-mod-stream'))
    ? null
    : 'apt-get install nginx-light libnginx-mod-stream';

/**
 * Starts nginx with one worker, and waits until a port accepts connections.
 * @param configuration its `http {}` and `stream {}` blocks. @returns a function that stops it.
 */
export async function startNginx(port: number, configuration: string): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'));
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const text = `load_module ${STREAM_MODULE};
daemon off;
worker_processes 1;
pid nginx.pid;
${user}
events {}
${configuration}
`;
  writeFileSync(join(folder, 'nginx.conf'), text);
  const child = spawn(findProgram('nginx')!, nginxArguments(folder), { stdio: 'ignore' });
  await until(() => accepts(port));
  return async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  socket.once('connect', () => socket.destroy());
  return promise;
}
