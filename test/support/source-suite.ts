import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigSource, Plugin, SourceAccess } from '#contract';
import { SourceCopy } from '../../kernel/sources/copy.ts';
import { SourceMirror } from '../../kernel/sources/mirror.ts';
import { rememberingLog } from './log.ts';

/** Opens sources of one plugin, and closes them after the test. */
export interface TestSources {
  open(address: string, access?: Partial<SourceAccess>, env?: NodeJS.ProcessEnv): ConfigSource;
  /** A mirror of the source that copies its changes, with pauses of a few milliseconds. */
  follow(source: ConfigSource): Promise<SourceMirror>;
  close(): Promise<void>;
}

/** Maximum size of the configurations that sources of tests read, in bytes. */
export const TEST_MAX_BYTES = 100_000;

export function testSources(plugin: Plugin): TestSources {
  const closing: (() => Promise<void> | void)[] = [];
  return {
    open(address, access = {}, env = {}) {
      const source = plugin.configSources!.open({
        address: new URL(address),
        access: { username: undefined, password: undefined, token: undefined, tls: {}, ...access },
        env,
        maxBytes: TEST_MAX_BYTES,
      });
      closing.push(() => source.close());
      return source;
    },
    async follow(source) {
      const directory = mkdtempSync(join(tmpdir(), 'sluice-source-'));
      closing.push(() => rmSync(directory, { recursive: true }));
      const mirror = new SourceMirror({
        source,
        shown: 'the store',
        copy: new SourceCopy(join(directory, 'copy')),
        intervalMs: 20,
        maxBytes: TEST_MAX_BYTES,
        now: Date.now,
        pause: (ms, signal) =>
          new Promise((resolve) => {
            const timer = setTimeout(resolve, ms > 60_000 ? 20_000 : 20);
            signal.addEventListener('abort', () => {
              clearTimeout(timer);
              resolve();
            });
          }),
      });
      closing.push(() => mirror.close());
      await mirror.start();
      mirror.follow(rememberingLog());
      return mirror;
    },
    async close() {
      for (const each of closing.splice(0).reverse()) await each();
    },
  };
}

/** Time limit of an operation in a test. */
export const soon = () => AbortSignal.timeout(20_000);

/** The texts of the files in the store; null without a configuration. */
export async function textsIn(source: ConfigSource): Promise<Record<string, string> | null> {
  const revision = await source.read(soon());
  return (
    revision && Object.fromEntries([...revision.files].map(([name, content]) => [name, String(Buffer.from(content))]))
  );
}

/** Files with texts. */
export function filesOf(texts: Readonly<Record<string, string>>): Map<string, Uint8Array> {
  return new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}

/** The text of the configuration that a mirror has copied. */
export function copiedBy(mirror: SourceMirror): string {
  return readFileSync(mirror.file, 'utf8');
}
