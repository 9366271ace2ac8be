import { equal, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createUpstream } from '../../samples/quickstart/upstream.ts';
import { type Running, startCommand } from '../kernel/cli/running.ts';
import { freePort } from '../support/conditions.ts';
import { setEnvironment } from '../support/environment.ts';

/** A fenced block of a guide: a file or a part of one, commands, or their output. */
interface Block {
  readonly kind: string;
  readonly file: string;
  readonly text: string;
}

/** Settings of a run. */
interface Run {
  /** Ports that a server of the test listens on, by the port that the guide names. Default: none. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Addresses of servers of the test, by the addresses that the guide and its configuration name. Default: none. */
  readonly servers?: Readonly<Record<string, string>>;
  /** Files to add to the copy of the samples, by their paths. Default: none. */
  readonly files?: Readonly<Record<string, string>>;
  /** Number of times that commands are run until their output is the expected one. Default: 1. */
  readonly attempts?: number;
  /** Environment variables in addition to those that the guide exports. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Addresses of the loopback interface with a port, and the ports that a configuration opens. */
const PORTS = /(?<=(?:localhost|127\.0\.0\.1):)\d{4,5}\b|(?<="(?:port|listen_port)": )\d{4,5}\b/g;

/** Ends the output of each curl command with a line break, which responses do not have. */
const ownLines = 'curl() { command curl "$@"; local code=$?; echo; return $code; }\n';

/** The same for curl commands that run at the same time: each writes its line at once, so that lines are not mixed. */
const wholeLines = 'curl() { local line; line=$(command curl "$@"); local code=$?; echo "$line"; return $code; }\n';

const UPSTREAM = 'node samples/quickstart/upstream.ts &';

/**
 * Follows a guide from its first block to its last, in a copy of its sample: writes its files, runs its commands and compares
 * their output. Each line of an output block must be a line of the output, in the order given; `…` matches any text.
 * `sluice` and the example upstream run in this process; ports are replaced with free ones.
 */
export async function followGuide(
  name: string,
  { ports = {}, servers = {}, files = {}, attempts = 1, env: given = {} }: Run = {},
): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), `guide-${name}-`)));
  const home = process.cwd();
  const replaced = new Map(Object.entries(ports).map(([port, at]) => [port, String(at)]));
  /** Functions that restore the state of the process, the latest first. */
  const restores = [setEnvironment({ GATEWAY_ADMIN_LISTEN: 'off', GATEWAY_STATE_DIR: join(root, 'state'), ...given })];
  const started: Running[] = [];
  const upstreams: Server[] = [];
  const programs: ChildProcess[] = [];
  let errors = '';

  const withFreePorts = async (text: string): Promise<string> => {
    for (const [port] of text.matchAll(PORTS)) {
      if (!replaced.has(port)) replaced.set(port, String(await freePort()));
    }
    const local = text.replaceAll(PORTS, (port) => replaced.get(port)!);
    return Object.entries(servers).reduce((all, [named, server]) => all.replaceAll(named, server), local);
  };

  /** Copies the samples that the guide names, its own among them. */
  const copySamples = async (guide: string): Promise<void> => {
    const folder = join(root, 'samples', name);
    const named = new Set([name, ...Array.from(guide.matchAll(/\bsamples\/([\w-]+)/g), ([, other]) => other!)]);
    for (const sample of named) cpSync(join('samples', sample), join(root, 'samples', sample), { recursive: true });
    for (const file of readdirSync(folder, { recursive: true }) as string[]) {
      if (!/\.(json|tmpl|ya?ml)$/.test(file)) continue;
      writeFileSync(join(folder, file), await withFreePorts(readFileSync(join(folder, file), 'utf8')));
    }
  };

  /** Runs one command. @returns its output. */
  const run = async (command: string): Promise<string> => {
    const exported = /^export (.+)$/.exec(command);
    if (exported) {
      for (const [, key, value] of exported[1]!.matchAll(/(\w+)=("[^"]*"|\S*)/g))
        restores.unshift(setEnvironment({ [key!]: value!.replaceAll('"', '') }));
      return '';
    }
    if (command === UPSTREAM) {
      const upstream = createUpstream().listen(Number(replaced.get('8081')), '127.0.0.1');
      await once(upstream, 'listening');
      upstreams.push(upstream);
      return '';
    }
    const program = /^node (samples\/\S+\.ts .*) &$/.exec(command);
    if (program) {
      const child = spawn(process.execPath, program[1]!.split(' '), { stdio: ['ignore', 'pipe', 'ignore'] });
      programs.push(child);
      await once(child.stdout!, 'data');
      return '';
    }
    if (command.startsWith('cd ')) {
      process.chdir(command.slice('cd '.length));
      return '';
    }
    const line = /^(?:npx )?sluice (.+)/.exec(command);
    if (line) return runSluice(line[1]!);
    const lines = /^curl .* &$/m.test(command) ? wholeLines : ownLines;
    const shell = spawn('bash', ['-c', lines + command], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    shell.stdout.on('data', (chunk) => {
      output += chunk;
    });
    shell.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    await once(shell, 'close');
    return output;
  };

  const runSluice = async (line: string): Promise<string> => {
    const serves = line.endsWith(' &');
    const running = startCommand({}, ...line.replace(/ &$/, '').replaceAll("'", '').split(' '));
    if (!serves) {
      await running.ended;
      return running.output;
    }
    started.push(running);
    await running.printed(/Listening on port|listening/i);
    return '';
  };

  try {
    const guide = await withFreePorts(readFileSync(`samples/${name}/README.md`, 'utf8'));
    await copySamples(guide);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
    process.chdir(root);
    const blocks = blocksOf(guide);
    for (const [index, block] of blocks.entries()) {
      if (block.file !== '') placeFile(block, root);
      if (block.kind !== 'sh') continue;
      const next = blocks[index + 1];
      for (let attempt = 1; ; attempt++) {
        errors = '';
        let output = '';
        for (const command of commandsOf(block.text)) output += await run(command);
        try {
          if (next?.kind === 'text') compare(block.text, next.text, output, errors);
          break;
        } catch (error) {
          if (attempt >= attempts) throw error;
        }
      }
    }
    ok(
      blocks.some(({ kind }) => kind === 'sh'),
      `samples/${name}/README.md has no commands`,
    );
  } finally {
    for (const running of started) running.kill('SIGTERM');
    await Promise.all(started.map(({ ended }) => ended));
    for (const upstream of upstreams) {
      upstream.close();
      upstream.closeAllConnections();
    }
    for (const program of programs) {
      const ended = once(program, 'exit');
      program.kill();
      await ended;
    }
    for (const restore of restores) restore();
    process.chdir(home);
    rmSync(root, { recursive: true });
  }
}

function blocksOf(guide: string): Block[] {
  const blocks = Array.from(guide.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm), ([, kind, file, text]) => ({
    kind: kind!,
    file: file!,
    text: text!,
  }));
  equal(guide.match(/^```/gm)?.length ?? 0, 2 * blocks.length, 'a block that is not one of the tested kinds');
  return blocks;
}

/** Commands of a block: those that this process runs, and between them scripts for a shell. */
function commandsOf(text: string): string[] {
  const commands: string[] = [];
  let script: string[] = [];
  const endScript = () => {
    if (script.length > 0) commands.push(script.join('\n'));
    script = [];
  };
  for (const line of text.trimEnd().split('\n')) {
    if (!/^(?:sluice|npx sluice|cd|export|node samples\/\S+\.ts) /.test(line)) script.push(line);
    else {
      endScript();
      commands.push(line);
    }
  }
  endScript();
  return commands;
}

/** Compares the parts of files that a guide shows with the files of its sample. */
export function checkParts(name: string): void {
  for (const block of blocksOf(readFileSync(`samples/${name}/README.md`, 'utf8'))) {
    if (block.file.startsWith('samples/')) placeFile(block);
  }
}

/** Writes a file of the guide. One that the sample has must contain the text that the guide shows. */
function placeFile({ file, text }: Block, root = '.'): void {
  const path = join(root, file);
  if (!file.startsWith('samples/')) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  const plain = (words: string) => words.replaceAll(/\s+/g, '');
  ok(plain(readFileSync(path, 'utf8')).includes(plain(text)), `${file} does not contain:\n${text}`);
}

function compare(command: string, expected: string, output: string, errors: string): void {
  const lines = output.split(/\r?\n/);
  let at = 0;
  for (const line of expected.trimEnd().split('\n')) {
    const pattern = new RegExp(`^${line.split('…').map(escaped).join('.*')}$`);
    const found = lines.findIndex((candidate, index) => index >= at && pattern.test(candidate));
    ok(found >= 0, `"${line}" is not in the output of\n${command}\n${output}\n${errors}`);
    at = found + 1;
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
