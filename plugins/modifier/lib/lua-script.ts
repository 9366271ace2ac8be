import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Call, CallError, Offer, Site } from '#contract';
import { type Chunk, Engine, LuaSyntaxError } from '../../engines/lua/engine.ts';
import { gatewayTables } from '../../engines/lua/gateway/tables.ts';
import { LuaError, type LuaLoad, Run, type RunHost } from '../../engines/lua/run.ts';
import { anyHeader } from '../../shared/http-headers/personal.ts';
import { scriptHttp } from './lua-http.ts';
import type { ScriptConfig } from './lua-schema.ts';

type Ended = CallError | null;

/** The joined files of a script, with the file of each line. */
interface Joined {
  readonly text: string;
  readonly firstLines: readonly (readonly [line: number, path: string])[];
}

const engines: { open?: Engine; closed?: Engine } = {};

/** Returns the virtual machine shared by all scripts with the same libraries. */
function engineOf(opens: boolean): Engine {
  const kind = opens ? 'open' : 'closed';
  engines[kind] ??= new Engine(opens, gatewayTables);
  return engines[kind];
}

const SOURCES = 'sources';

/** A configured script: compiled once, run for each request with globals of its own. */
export class Script {
  readonly #config: ScriptConfig;
  readonly #engine: Engine;
  readonly #host: Omit<RunHost, 'call' | 'loads' | 'place'>;
  readonly #pre: Chunk | null;
  readonly #post: Chunk | null;
  #joined: Joined = nothing;
  #sources: Chunk | null = null;

  /**
   * Configuration errors: LUA_SYNTAX, LUA_CHECKSUM; warning LUA_UNUSED.
   * @throws the read error of a file.
   */
  constructor(site: Site<ScriptConfig>) {
    const { config } = site;
    const { stdout } = site.use('sinks');
    this.#config = config;
    this.#engine = engineOf(config.allow_open_libs);
    this.#host = {
      log: site.log.at('[Lua]'),
      print: (line) => stdout.write(`${line}\n`, 'INFO'),
      http: scriptHttp(site),
      isClosed: !config.allow_open_libs,
    };
    this.#pre = this.#compileAt(site, 'pre');
    this.#post = this.#compileAt(site, 'post');
    checkFields(site);
    if (config.live || config.sources.length === 0) return;
    const files = config.sources.map((path, at) => [path, this.#checked(site, path, at)] as const);
    this.#joined = joined(files);
    this.#sources = this.#compileSources(site);
  }

  get hasPost(): boolean {
    return this.#post !== null;
  }

  /** Declares that code before the call may set any header, for example one derived from a token. */
  get offers(): readonly Offer[] {
    const isRunBefore = this.#pre !== null || this.#config.sources.length > 0;
    return isRunBefore ? [anyHeader] : [];
  }

  /** Creates a run for one request. @param loads the run's objects, by the globals that return them. */
  newRun(call: Call, loads: Readonly<Record<string, LuaLoad>>): Run {
    return new Run(this.#engine, { ...this.#host, call, loads, place: this.#place });
  }

  /** Runs the files, then `pre`. @returns why the call ends; null if it continues. */
  before(run: Run): Ended | Promise<Ended> {
    if (this.#config.live && this.#config.sources.length > 0) return this.#beforeLive(run);
    return this.#runBoth(run, this.#sources);
  }

  /** Runs the code of the setting `post`. */
  after(run: Run): Ended | Promise<Ended> {
    return this.#post ? run.execute(this.#post) : null;
  }

  #runBoth(run: Run, sources: Chunk | null): Ended | Promise<Ended> {
    const ended = sources ? run.execute(sources) : null;
    const goOn = (error: Ended) => (error || !this.#pre ? error : run.execute(this.#pre));
    return ended instanceof Promise ? ended.then(goOn) : goOn(ended);
  }

  async #beforeLive(run: Run): Promise<Ended> {
    try {
      const read = async (path: string) => [path, (await readFile(path)).toString()] as const;
      const now = joined(await Promise.all(this.#config.sources.map(read)));
      if (now.text !== this.#joined.text || !this.#sources) {
        this.#joined = now;
        this.#sources = this.#engine.compile(now.text, SOURCES);
      }
    } catch (error) {
      return new LuaError(this.#said(error as Error));
    }
    return this.#runBoth(run, this.#sources);
  }

  #compileAt(site: Site<ScriptConfig>, part: 'pre' | 'post'): Chunk | null {
    const code = this.#config[part];
    if (code === undefined || code === '') return null;
    return this.#compile(code, `${part}-script`, (message) => site.fault('LUA_SYNTAX', `/${part}`, message));
  }

  #compileSources(site: Site<ScriptConfig>): Chunk {
    return this.#compile(this.#joined.text, SOURCES, (message) => site.fault('LUA_SYNTAX', '/sources', message));
  }

  #compile(code: string, name: string, fault: (message: string) => Error): Chunk {
    try {
      return this.#engine.compile(code, name);
    } catch (error) {
      if (!(error instanceof LuaSyntaxError)) throw error;
      throw fault(this.#said(error));
    }
  }

  #said({ message }: Error): string {
    const [, name, line, said] = /^([\w-]+):(\d+): (.*)$/s.exec(message) ?? [];
    return name === undefined ? message : `${said} (${this.#place(name, Number(line))})`;
  }

  #checked(site: Site<ScriptConfig>, path: string, at: number): string {
    const bytes = site.read(path);
    const wanted = this.#config.md5[path];
    const found = createHash('md5').update(bytes).digest('hex');
    if (wanted !== undefined && wanted !== found) {
      throw site.fault(
        'LUA_CHECKSUM',
        `/sources/${at}`,
        `the checksum of ${path} is ${found}, which does not match md5`,
      );
    }
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  }

  /** Formats a position, as in `pre-script:L3` or `common.lua:L7`. */
  readonly #place = (name: string, line: number): string => {
    if (name !== SOURCES) return `${name}:L${line}`;
    const [first = 1, path = name] = this.#joined.firstLines.findLast(([from]) => from <= line) ?? [];
    return `${path.slice(path.lastIndexOf('/') + 1)}:L${line - first + 1}`;
  };
}

const nothing: Joined = { text: '', firstLines: [] };

function joined(files: readonly (readonly [path: string, text: string])[]): Joined {
  const firstLines: [number, string][] = [];
  let line = 1;
  for (const [path, text] of files) {
    firstLines.push([line, path]);
    line += text.split('\n').length;
  }
  return { text: files.map(([, text]) => text).join('\n'), firstLines };
}

function checkFields(site: Site<ScriptConfig>): void {
  const { md5, sources, live } = site.config;
  for (const path of Object.keys(md5)) {
    if (!sources.includes(path))
      throw site.fault('LUA_CHECKSUM', '/md5', `md5 contains ${path}, which sources does not list`);
  }
  if (live && Object.keys(md5).length > 0) site.warn('LUA_UNUSED', '/md5', 'md5 has no effect with live');
}
