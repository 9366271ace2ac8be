import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ConfigSource,
  connectionOwner,
  definePlugin,
  runOwned,
  type SourceAccess,
  type SourceRevision,
  type SourceSite,
} from '#contract';
import { fileNameOf, withMain } from './lib/files.ts';

/** Maximum number of files: each is read by a process. */
const MAX_FILES = 200;

/** Maximum length of a message of git, in characters. */
const MAX_MESSAGE = 300;

/** Names that git takes as those of a branch or tag, without options and patterns. */
const branchName = /^[\w][\w./-]*$/;

/**
 * A file or a folder in a git repository, read at an interval with the git of the system. The order of revisions is the
 * number of commits: a branch that is reset to an earlier commit is older.
 */
export const plugin = definePlugin({
  name: 'source/git',
  description: 'Reads the configuration of the gateway from a git repository, at an interval.',
  configSources: {
    form: 'git+https://HOST/REPOSITORY.git#BRANCH:PATH',
    open: (site) => new GitFolder(site),
  },
});

class GitFolder implements ConfigSource {
  readonly #access: SourceAccess;
  readonly #maxBytes: number;
  readonly #repository: string;
  readonly #branch: string;
  readonly #path: string;
  readonly #credentials: Readonly<Record<string, string>>;
  /** Directory of the copied repository, created at the first read. */
  #directory: string | null = null;
  #isCopied = false;

  constructor({ address, access, maxBytes }: SourceSite) {
    const [branch = '', ...path] = decodeURIComponent(address.hash.slice(1)).split(':');
    if (!branchName.test(branch) || branch.includes('..')) {
      throw new Error('the address of a repository ends with a branch and a path: #main:gateway.json');
    }
    this.#branch = branch;
    this.#path = path.join(':').replace(/^\/+|\/+$/g, '');
    this.#repository = repositoryOf(address, access);
    this.#access = access;
    this.#maxBytes = maxBytes;
    this.#credentials = headerOf(access);
  }

  async read(signal: AbortSignal): Promise<SourceRevision | null> {
    const isThere = await this.#fetch(signal);
    if (!isThere) return null;
    const listing = await this.#git(['ls-tree', '-r', '-z', '--long', 'FETCH_HEAD', '--', this.#path || '.'], signal);
    const entries = entriesIn(listing);
    if (entries.length > MAX_FILES) throw new Error(`${this.#branch}:${this.#path} has more than ${MAX_FILES} files`);
    const files = this.#relative(await this.#contents(entries, signal));
    const ordered = files.size === 1 && this.#isFile(files) ? files : withMain(files, `${this.#branch}:${this.#path}`);
    if (ordered === null) return null;
    const version = text(await this.#git(['rev-parse', 'FETCH_HEAD'], signal));
    const order = Number(text(await this.#git(['rev-list', '--count', 'FETCH_HEAD'], signal)));
    return { version, order, files: ordered };
  }

  async close(): Promise<void> {
    if (this.#directory !== null) await rm(this.#directory, { recursive: true, force: true });
  }

  /** Fetches the branch. @returns false if the repository does not have it. */
  async #fetch(signal: AbortSignal): Promise<boolean> {
    if (this.#directory === null) {
      this.#directory = await mkdtemp(join(tmpdir(), 'sluice-git-'));
      await Promise.all(
        Object.entries(this.#access.tls).map(([name, pem]) =>
          writeFile(join(this.#directory!, `${name}.pem`), pem, { mode: 0o600 }),
        ),
      );
    }
    if (!this.#isCopied) {
      await this.#git(['init', '--bare', '--quiet', 'repository'], signal, this.#directory);
      await this.#git(['remote', 'add', 'origin', this.#repository], signal);
      this.#isCopied = true;
    }
    try {
      // Commits without their files, which are fetched when they are read.
      await this.#git(['fetch', '--quiet', '--no-tags', '--filter=blob:none', 'origin', this.#branch], signal);
      return true;
    } catch (error) {
      if (/couldn't find remote ref/i.test((error as Error).message)) return false;
      throw error;
    }
  }

  /** Reads the contents of blobs by path. @throws Error if they are too large. */
  async #contents(entries: readonly Entry[], signal: AbortSignal): Promise<Map<string, Uint8Array>> {
    const files = new Map<string, Uint8Array>();
    let bytes = 0;
    for (const { path, object } of entries) {
      const content = await this.#git(['cat-file', 'blob', object], signal);
      bytes += content.length;
      if (bytes > this.#maxBytes) throw new Error(`the files are larger than ${this.#maxBytes} bytes`);
      files.set(path, content);
    }
    return files;
  }

  /** Removes the folder of the address from paths. */
  #relative(files: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> {
    const [first] = files.keys();
    if (files.size === 1 && first === this.#path) {
      return new Map([[fileNameOf(this.#path), files.get(first)!]]);
    }
    const length = this.#path === '' ? 0 : this.#path.length + 1;
    return new Map([...files].map(([path, content]) => [path.slice(length), content]));
  }

  #isFile(files: ReadonlyMap<string, Uint8Array>): boolean {
    return files.has(fileNameOf(this.#path)) && this.#path.endsWith(files.keys().next().value!);
  }

  #git(
    args: readonly string[],
    signal: AbortSignal,
    directory = join(this.#directory!, 'repository'),
  ): Promise<Buffer> {
    const file = (name: 'ca' | 'cert' | 'key') => join(this.#directory!, `${name}.pem`);
    const { ca, cert, key } = this.#access.tls;
    const env = {
      ...withoutRepository(process.env),
      GIT_TERMINAL_PROMPT: '0',
      GIT_ALLOW_PROTOCOL: 'https:http:ssh:file',
      GIT_SSH_COMMAND: process.env['GIT_SSH_COMMAND'] ?? 'ssh -oBatchMode=yes',
      LC_ALL: 'C',
      ...this.#credentials,
      ...(ca !== undefined && { GIT_SSL_CAINFO: file('ca') }),
      ...(cert !== undefined && { GIT_SSL_CERT: file('cert') }),
      ...(key !== undefined && { GIT_SSL_KEY: file('key') }),
    };
    return run(args, { cwd: directory, env, signal, maxBytes: this.#maxBytes });
  }
}

/** The address for git. The user name of SSH is part of it; other credentials are in a header. */
function repositoryOf(address: URL, { username }: SourceAccess): string {
  const url = new URL(address.href.slice('git+'.length));
  url.hash = '';
  if (url.protocol === 'ssh:' && username !== undefined) url.username = username;
  return url.href;
}

/** Removes variables that name a repository: git sets them for hooks, which may start a gateway. */
function withoutRepository(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const named = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !named.test(name)));
}

/** Passes credentials to git in its environment, which other users cannot read, unlike its arguments. */
function headerOf({ username, password = '', token }: SourceAccess): Readonly<Record<string, string>> {
  const pair = token === undefined ? username && `${username}:${password}` : `${username ?? 'git'}:${token}`;
  if (pair === undefined) return {};
  return {
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(pair).toString('base64')}`,
    // The header would also be sent to the target of a redirect.
    GIT_CONFIG_KEY_1: 'http.followRedirects',
    GIT_CONFIG_VALUE_1: 'false',
  };
}

interface Entry {
  readonly path: string;
  readonly object: string;
}

/** Files in the output of `git ls-tree -z --long`. Links and submodules are omitted. */
function entriesIn(listing: Buffer): Entry[] {
  const lines = listing.toString().split('\0').slice(0, -1);
  return lines.flatMap((line) => {
    const [, mode, object, path] = /^(\d+) blob ([\da-f]+) +\d+\t(.*)$/s.exec(line) ?? [];
    return mode === undefined || mode === '120000' ? [] : [{ path: path!, object: object! }];
  });
}

function text(output: Buffer): string {
  return output.toString().trim();
}

interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}

/** Runs git. @returns its output. @throws Error with its message if it fails, or prints more than the maximum. */
function run(args: readonly string[], { cwd, env, signal, maxBytes }: RunOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    runOwned(connectionOwner('configuration source', 'git', reject), () => {
      const child = spawn('git', args, { cwd, env, signal, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] });
      const chunks: Buffer[] = [];
      let bytes = 0;
      let message = '';
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) child.kill('SIGKILL');
        else chunks.push(chunk);
      });
      child.stderr.on('data', (chunk: Buffer) => {
        if (message.length < MAX_MESSAGE) message += chunk.toString();
      });
      child.once('error', (error) => reject(new Error(`git cannot run: ${error.message}`)));
      child.once('close', (code) => {
        if (bytes > maxBytes) reject(new Error(`the output of git is larger than ${maxBytes} bytes`));
        else if (code === 0) resolve(Buffer.concat(chunks));
        else
          reject(new Error(`git ${args[0]} failed: ${message.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_MESSAGE)}`));
      });
    });
  });
}
