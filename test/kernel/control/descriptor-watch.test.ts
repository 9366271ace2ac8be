import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogMessage } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { DescriptorWatch } from '../../../kernel/control/descriptor-watch.ts';
import { type Descriptors, readDescriptors } from '../../../kernel/values/descriptors.ts';
import { freePort } from '../../support/conditions.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { command } from '../../support/programs.ts';

const SECOND_MS = 1_000;

describe('monitoring of file descriptors', () => {
  let now: number;
  let lines: string[];
  let descriptors: Descriptors | null;
  let watch: DescriptorWatch;

  const use = (open: number, exhausted: Descriptors['exhausted'] = null) => {
    descriptors = { open, limit: 100, exhausted };
    watch.look();
    return lines.splice(0);
  };

  beforeEach(() => {
    now = 0;
    lines = [];
    descriptors = { open: 10, limit: 100, exhausted: null };
    const to = (level: string) => (message: LogMessage) => void lines.push(`${level} ${String(message)}`);
    const log = { ...silentLog, info: to('INFO'), warning: to('WARNING'), error: to('ERROR') };
    watch = new DescriptorWatch({ log, now: () => now, read: () => descriptors });
  });

  afterEach(() => watch.close());

  it('logs nothing below 90 % of the limit, and a warning from 90 % on', () => {
    deepEqual(use(89), []);
    match(use(90).join(), /^WARNING 90 of 100 file descriptors are in use: raise the limit/);
    deepEqual(use(95), []);
  });

  it('logs an error when all are in use, and a line when they are available again', () => {
    match(
      use(100, 'EMFILE').join(),
      /^ERROR the process has run out of file descriptors \(EMFILE\), all 100 are in use/,
    );
    deepEqual(use(20), ['INFO file descriptors are available again: 20 of 100 are in use']);
  });

  it('names the system as the cause if the limit of the whole system is reached', () => {
    match(use(20, 'ENFILE').join(), /^ERROR the system has run out of file descriptors \(ENFILE\)/);
  });

  it('logs each state at most once a minute, and repeats an error every minute', () => {
    equal(use(100).length, 1);
    equal(use(20).length, 1);
    for (now = SECOND_MS; now < 60 * SECOND_MS; now += SECOND_MS) {
      deepEqual(use(100), []);
      deepEqual(use(20), []);
    }
    equal(use(100).length, 1);
    now += 60 * SECOND_MS;
    equal(use(100).length, 1);
  });

  it('is silent on systems that do not report descriptors', () => {
    descriptors = null;
    equal(watch.look(), false);
    deepEqual(lines, []);
  });
});

describe('the number of open file descriptors', () => {
  let directory: string;
  let backend: TestBackend;
  let sockets: Socket[];
  let stop: () => void;

  before(async function () {
    if (!existsSync('/proc/self/limits')) this.skip();
    directory = await mkdtemp(join(tmpdir(), 'sluice-'));
    backend = await startBackend((_seen, response) => void response.setHeader('Connection', 'close').end('{}'));
  });
  beforeEach(() => {
    sockets = [];
    stop = () => {};
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    stop();
  });
  after(async () => {
    await backend?.close();
    if (directory) await rm(directory, { recursive: true });
  });

  it('is logged when none are left, with failed connections to backends, and requests succeed afterwards', async () => {
    const port = await freePort();
    const file = join(directory, 'gateway.json');
    const endpoints = [{ endpoint: '/x', backend: [{ host: [backend.url], url_pattern: '/' }] }];
    await writeFile(file, JSON.stringify({ version: 3, port, listen_ip: '127.0.0.1', endpoints }));
    const limited = 'ulimit -n 60 && exec "$0" "$1" run --admin off --no-watch -c "$2"';
    const env = { ...process.env, GATEWAY_STATE_DIR: directory };
    const child = spawn('sh', ['-c', limited, process.execPath, command, file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    });
    stop = () => void child.kill('SIGKILL');
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const printed = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(output)) await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
    };
    const open = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      await once(socket, 'connect');
      return socket;
    };
    await printed(/Listening on port/);

    const client = await open();
    // Opens clients until a backend connection fails, because a descriptor that becomes free in the meantime may be
    // used by a client.
    while (!/backend http:\S+: out of file descriptors \(EMFILE\)/.test(output)) {
      for (let opened = 0; opened < 60; opened++) await open();
      client.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(client, 'data');
    }
    await printed(/ERROR: the process has run out of file descriptors \(EMFILE\), all 60 are/);

    for (const socket of sockets) socket.destroy();
    await printed(/INFO: file descriptors are available again: \d+ of 60 are in use/);
    equal((await fetch(`http://127.0.0.1:${port}/x`)).status, 200);
  });

  it('is read from the system', () => {
    const { open, limit, exhausted } = readDescriptors()!;
    ok(open > 3 && open < limit);
    equal(exhausted, null);
  });
});
