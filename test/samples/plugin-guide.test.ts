import { equal, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort, until } from '../support/conditions.ts';

/** Maximum time to wait for the output of a command, in milliseconds. */
const LONGEST_MS = 30_000;

/** A fenced block of the guide: a file to save, commands, or their output. */
interface Block {
  readonly kind: string;
  readonly file: string;
  readonly text: string;
}

function blocksOf(markdown: string): Block[] {
  const found = markdown.matchAll(/^```(json|sh|text) ?(\S*)\n([\s\S]*?)^```$/gm);
  return Array.from(found, ([, kind, file, text]) => ({ kind: kind!, file: file!, text: text! }));
}

/** A shell that runs the commands of the guide, as a reader would. */
class Terminal {
  readonly #shell: ChildProcess;
  #printed = '';

  constructor(folder: string) {
    // The shell has a process group of its own, to which every process that it starts belongs.
    this.#shell = spawn('bash', ['--norc'], {
      cwd: folder,
      detached: true,
      env: {
        ...process.env,
        PATH: `${process.env.PATH}`,
        GATEWAY_ADMIN_LISTEN: 'off',
        NO_COLOR: '1',
        NODE_TEST_CONTEXT: undefined,
      },
    });
    for (const stream of [this.#shell.stdout!, this.#shell.stderr!]) {
      stream.on('data', (chunk) => {
        this.#printed += chunk;
      });
    }
  }

  /** @returns the output of a command until it ends; background commands are not waited for. */
  async type(command: string): Promise<string> {
    const from = this.#printed.length;
    this.#shell.stdin!.write(`${command}\necho '=== ended ==='\n`);
    await until(() => this.#printed.slice(from).includes('=== ended ===\n'));
    return this.#printed.slice(from).replace('=== ended ===\n', '');
  }

  async close(): Promise<void> {
    const ended = once(this.#shell, 'close');
    process.kill(-this.#shell.pid!, 'SIGKILL');
    await ended;
  }
}

describe('the guide to plugins', () => {
  let folder: string;
  let terminal: Terminal;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'guide-'));
    terminal = new Terminal(folder);
  });
  after(async () => {
    await terminal.close();
    rmSync(folder, { recursive: true });
  });

  /** Replaces an installation from the registry; `PACKAGE=FILE.tgz` installs that file. */
  const install = async (): Promise<void> => {
    const { PACKAGE } = process.env;
    if (PACKAGE) {
      await terminal.type(`npm install --no-audit --no-fund ${resolve(PACKAGE)}`);
      return;
    }
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    symlinkSync(resolve('.'), join(folder, 'node_modules/sluice'));
    const command = join(folder, 'node_modules/.bin/sluice');
    writeFileSync(command, `#!/bin/sh\nexec ${process.execPath} ${resolve('bin/sluice.mjs')} "$@"\n`);
    chmodSync(command, 0o755);
  };

  it('shows the actual output of its commands', async () => {
    let guide = readFileSync('samples/plugins/README.md', 'utf8').replace(/## Samples[\s\S]*/, '');
    for (const port of ['8080', '8081']) guide = guide.replaceAll(port, String(await freePort()));
    const blocks = blocksOf(guide);
    ok(blocks.length > 20, 'every block is one of those that are tried');
    equal(guide.match(/^```/gm)!.length, 2 * blocks.length);
    for (const [index, { kind, file, text }] of blocks.entries()) {
      if (kind === 'json') writeFileSync(join(folder, file), text);
      if (kind !== 'sh') continue;
      const commands = text.trimEnd().split('\n');
      let printed = '';
      for (const command of commands) {
        if (command === 'npm install ./sluice-0.1.0.tgz') await install();
        else printed += await terminal.type(command);
      }
      const expected = blocks[index + 1]?.kind === 'text' ? blocks[index + 1]!.text.trimEnd().split('\n') : [];
      // Read-only commands are repeated, because a gateway may still start or reload, which a human reader would not
      // notice.
      const looks = commands.filter((command) => /^(?:curl|grep) /.test(command));
      const missing = () => expected.filter((line) => !printed.includes(line));
      const end = performance.now() + LONGEST_MS;
      while (missing().length > 0 && looks.length > 0 && performance.now() < end) {
        printed = '';
        for (const command of looks) printed += await terminal.type(command);
      }
      equal(missing().join('\n'), '', `after:\n${text}\nit printed:\n${printed}`);
    }
  }).timeout(process.env.PACKAGE ? 600_000 : 110_000);
});
