import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Operations } from '#kernel';
import { silentSinks } from '../../kernel/testing/index.ts';
import { createUpstream } from '../../samples/quickstart/upstream.ts';
import { openGateway } from '../support/gateway.ts';

/** A copy of a plugin sample in a separate folder, with the gateway that runs there. */
export interface ServedCopy {
  readonly gateway: Operations;
  /** Status, headers and body of the response for a path. */
  get(path: string, headers?: Record<string, string>): ReturnType<Operations['inject']>;
  path(name: string): string;
  write(name: string, text: string): void;
  close(): Promise<void>;
}

/**
 * Copies the folder of a sample, changes to it, and serves its configuration with the upstream of the quickstart. @param changes replacements in its files, such as other ports. @param more additional files.
 */
export async function serveCopy(
  name: string,
  changes: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, string>> = {},
): Promise<ServedCopy> {
  const upstream = createUpstream().listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sample-')));
  const path = (file: string) => join(folder, file);
  cpSync(`samples/plugins/${name}`, folder, { recursive: true });
  symlinkSync(resolve('node_modules'), path('node_modules'));
  for (const [file, text] of Object.entries(more)) writeFileSync(path(file), text);
  const all = { '127.0.0.1:8081': `127.0.0.1:${port}`, ...changes };
  for (const file of ['gateway.json', 'hosts.json']) {
    try {
      let text = readFileSync(path(file), 'utf8');
      for (const [from, to] of Object.entries(all)) text = text.replaceAll(from, to);
      writeFileSync(path(file), text);
    } catch {
      // Only one of the samples has a file of hosts.
    }
  }
  const home = process.cwd();
  const leave = () => {
    process.chdir(home);
    rmSync(folder, { recursive: true });
    upstream.close();
    upstream.closeAllConnections();
  };
  process.chdir(folder);
  try {
    const gateway = await openGateway('gateway.json', { port: 0, sinks: silentSinks });
    return {
      gateway,
      path,
      get: (url, headers = {}) => gateway.inject({ url, headers }),
      write: (file, text) => writeFileSync(path(file), text),
      async close() {
        await gateway.close();
        leave();
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}
