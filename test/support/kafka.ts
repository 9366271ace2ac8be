import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, linkSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { freePort, until } from './conditions.ts';
import { isInstalled, isListing } from './debian.ts';

const source = fileURLToPath(new URL('kafka/', import.meta.url));
const run = promisify(execFile);

/** Addition to the title of a skipped suite. */
export const withoutKafka = whatIsMissing();

/** Maximum duration of building the broker once, in milliseconds. */
export const BUILDING_MS = 300_000;

/** A Kafka for tests on the loopback address. Its data is kept over restarts. */
export interface TestKafka {
  readonly port: number;
  /** Address, such as `127.0.0.1:9092`. */
  readonly address: string;
  /** Writes a record with kcat instead of the client under test. @param options command-line options of kcat. */
  produce(topic: string, value: string, ...options: string[]): Promise<void>;
  /** Writes a batch that declares one record and contains these bytes. @param compression codec as in the library. */
  produceBytes(topic: string, bytes: Buffer, compression?: 'none' | 'gzip'): Promise<void>;
  /** Every record of a topic, read with a client other than the one under test. */
  records(topic: string): Promise<readonly SeenRecord[]>;
  /** Suspends the process. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
  /** Restarts at the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface SeenRecord {
  readonly partition: number;
  readonly key: string | null;
  readonly value: string;
  /** Settings such as `a=1`. */
  readonly headers: readonly string[];
}

/** @param options options of the program in `kafka/main.go`. @param client options of kcat. */
export async function startKafka(options: readonly string[], client: readonly string[] = []): Promise<TestKafka> {
  const program = await build();
  const directory = mkdtempSync(join(tmpdir(), 'sluice-kafka-data-'));
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  let server: ChildProcess | null = null;
  const kcat = ['-b', address, ...client];
  const self: TestKafka = {
    port,
    address,
    async produce(topic, value, ...more) {
      const child = spawn('kcat', ['-P', ...kcat, '-t', topic, ...more], { stdio: ['pipe', 'ignore', 'pipe'] });
      child.stdin.end(value);
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`kcat ended with ${code}`);
    },
    async produceBytes(topic, bytes, compression = 'none') {
      const { compressionsAlgorithms, Producer } = await import('@platformatic/kafka');
      const { gzip } = compressionsAlgorithms;
      const bitmask = compression === 'gzip' ? gzip.bitmask : 0;
      const held = compression === 'gzip' ? gzipSync(bytes) : bytes;
      // Names under which the library exports its compression functions.
      const forged = { ...gzip, bitmask, compress: async () => held, compressSync: () => held };
      Object.assign(compressionsAlgorithms, { gzip: forged });
      const writer = new Producer({ clientId: 'forger', bootstrapBrokers: [address] });
      try {
        await writer.send({ messages: [{ topic, value: Buffer.from('x') }], compression: 'gzip', acks: 1 });
      } finally {
        Object.assign(compressionsAlgorithms, { gzip });
        await writer.close();
      }
    },
    async records(topic) {
      const format = '%p\t%k\t%K\t%s\t%h\n';
      const { stdout } = await run('kcat', ['-C', ...kcat, '-t', topic, '-o', 'beginning', '-e', '-q', '-f', format]);
      const lines = stdout.split('\n').filter((line) => line !== '');
      return lines.map((line) => {
        const [partition, key, keyLength, value, headers] = line.split('\t');
        return {
          partition: Number(partition),
          key: Number(keyLength) < 0 ? null : key!,
          value: value!,
          headers: headers ? headers.split(',') : [],
        };
      });
    },
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    async stop() {
      if (!server) return;
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      server = null;
    },
    async start() {
      const child = spawn(program, ['-port', String(port), '-data', directory, ...options], {
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      server = child;
      let log = '';
      child.stderr.on('data', (chunk) => {
        log += chunk;
      });
      child.stdin.on('error', () => {});
      const ready = once(child.stdout, 'data');
      const ended = once(child, 'exit').then(() => {
        throw new Error(`Kafka has ended: ${log}`);
      });
      ended.catch(() => {});
      await Promise.race([ready, ended]);
      child.stdout.resume();
    },
    async close() {
      await self.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await self.start();
  return self;
}

/** Environment of a build: without optimization and C code, it takes two thirds of the time. */
const buildEnv = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false "-gcflags=all=-N -l"' };

/** Builds the broker once, in one of the processes that run suites in parallel. @returns the path of the program. */
async function build(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(source, file)));
  const program = join(tmpdir(), `sluice-kafka-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  const builder = `${program}.building`;
  while (!claim(builder)) {
    await until(() => existsSync(program) || !isRunning(Number(readFileSync(builder, 'utf8'))));
    if (existsSync(program)) return program;
    rmSync(builder, { force: true });
  }
  const own = `${program}.${process.pid}`;
  await run('go', ['build', '-o', own, '.'], { cwd: source, env: buildEnv });
  renameSync(own, program);
  return program;
}

/** Creates a file with the number of this process. @returns false if it exists. */
function claim(file: string): boolean {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(own);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function whatIsMissing(): string | null {
  if (isListing) return null;
  const go = spawnSync('go', ['version'], { encoding: 'utf8' });
  const [, major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(go.stdout ?? '') ?? [];
  if (Number(major) * 1000 + Number(minor) < 1026) return 'Go 1.26 or later, see https://go.dev/doc/install';
  return isInstalled('kcat') ? null : 'apt-get install kcat';
}
