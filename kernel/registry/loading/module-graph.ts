import { dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import * as contract from '#contract';
import { PositionedError } from '../../config/index.ts';
import { noteSource, translate } from '../../containment/source-columns.ts';
import type { FileReader } from './file-reader.ts';
import { importPackage } from './packages.ts';
import { awaitBounded, runBounded } from './run-bounded.ts';
import { type Parse, topLevelAwaits } from './top-level-awaits.ts';

/**
 * Name under which the source of a plugin imports the contract. The import is resolved to the contract of the running
 * gateway.
 */
const OWN_NAME = 'sluice/plugin';
/** Extensions of plugin sources. */
export const SOURCE_FILE = /\.(?:ts|mts|js|mjs)$/;

type Exports = Record<string, unknown>;

interface Module {
  exports: Exports;
}

/**
 * A plugin's own modules: its file, and everything it imports by relative paths. They are created anew for every
 * content, as functions that only this graph holds, so that an unused instance leaves memory. (Modules imported by
 * Node.js stay for the life of the process.) Packages are imported as usual, once.
 * `import.meta` has `url`, `filename` and `dirname`. Top-level `await` works in the plugin's own file.
 */
export class ModuleGraph {
  readonly #entry: string;
  readonly #files: FileReader;
  readonly #modules = new Map<string, Module>();
  /** Exports of the contract as the plugin's modules see them; the classes are the same for all plugins. */
  readonly #contract = { ...contract };
  #parse: Parse | undefined;

  constructor(entry: string, files: FileReader) {
    this.#entry = entry;
    this.#files = files;
  }

  /** Every file imported so far, the plugin's own first. */
  get files(): readonly string[] {
    return [...this.#modules.keys()];
  }

  /** Objects that only modules of the graph have. */
  get parts(): readonly object[] {
    return [this.#contract, ...[...this.#modules.values()].map(({ exports }) => exports)];
  }

  /**
   * @param ms time limit for synchronous code, and for the awaited part.
   * @returns the exports of the plugin's file. @throws any error in or of its source; an error on timeout.
   */
  async evaluate(ms: number): Promise<Readonly<Exports>> {
    // The library is loaded when a configuration first names plugins from files.
    this.#parse = ((await import(PARSER)) as { readonly parse: Parse }).parse;
    const module = this.#add(this.#entry);
    const running = runBounded(() => this.#run(this.#entry, module, 'async ') as Promise<void>, ms);
    await awaitBounded(running, ms);
    return module.exports;
  }

  /** Lines of the top-level `await`s of the plugin's file. */
  awaits(): readonly number[] {
    return topLevelAwaits(this.#translate(this.#entry), this.#parse!);
  }

  #add(path: string): Module {
    const module: Module = { exports: {} };
    this.#modules.set(path, module);
    return module;
  }

  #run(path: string, module: Module, kind: 'async ' | ''): unknown {
    const code = this.#translate(path);
    const head = `(${kind}function (exports, require, module, __filename, __dirname, import_meta) {`;
    const script = new Script(`${head}${code}\n})`, { filename: path, columnOffset: -head.length });
    const body = script.runInThisContext() as (...values: readonly unknown[]) => unknown;
    const directory = dirname(path);
    const meta = Object.freeze({ url: pathToFileURL(path).href, filename: path, dirname: directory });
    return body.call(undefined, module.exports, this.#requireFrom(path), module, path, directory, meta);
  }

  #translate(path: string): string {
    const source = this.#textOf(path);
    try {
      const { code } = translate(path, source);
      noteSource(path, source);
      return /\bimport\.meta\b/.test(code) ? withMeta(code, this.#parse!) : code;
    } catch (error) {
      throw syntaxError(path, error);
    }
  }

  #requireFrom(path: string): (name: string) => unknown {
    return (name) => {
      if (name === OWN_NAME) return this.#contract;
      return /^\.{0,2}\//.test(name)
        ? this.#import(this.#locate(resolve(dirname(path), name)))
        : importPackage(name, path);
    };
  }

  #import(path: string): Exports {
    const known = this.#modules.get(path);
    if (known) return known.exports;
    const isData = extname(path) === '.json';
    if (!isData && !SOURCE_FILE.test(path)) {
      throw new Error(`cannot import ${path}: plugins consist of .ts, .mts, .js, .mjs and .json files`);
    }
    const module = this.#add(path);
    if (isData) module.exports = JSON.parse(this.#textOf(path)) as Exports;
    else this.#run(path, module, '');
    return module.exports;
  }

  /** TypeScript refers to a file by the name that it will have when it is compiled. */
  #locate(path: string): string {
    const source = path.replace(/\.(m?)js$/, '.$1ts');
    return source === path || this.#isThere(path) || !this.#isThere(source) ? path : source;
  }

  #isThere(path: string): boolean {
    try {
      this.#files.read(path);
      return true;
    } catch {
      return false;
    }
  }

  #textOf(path: string): string {
    try {
      return Buffer.from(this.#files.read(path)).toString('utf8');
    } catch (error) {
      // The error is created here, close to the import, because a stack trace contains only ten frames.
      throw new Error(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
    }
  }
}

/**
 * Path of the parser in the library sucrase. Unlike the library's public functions, it returns the positions of tokens.
 */
const PARSER = 'sucrase/dist/parser/index.js';

/** Code in which `import.meta` is a variable; strings and comments are unchanged. */
function withMeta(code: string, parse: Parse): string {
  const { tokens } = parse(code, false, false, false);
  let result = '';
  let from = 0;
  for (const [at, { start }] of tokens.entries()) {
    const end = tokens[at + 2]?.end;
    const isMeta = ['import', '.', 'meta'].every((text, offset) => {
      const token = tokens[at + offset];
      return token !== undefined && code.slice(token.start, token.end) === text;
    });
    if (!isMeta) continue;
    result += `${code.slice(from, start)}import_meta`;
    from = end!;
  }
  return result + code.slice(from);
}

function syntaxError(file: string, error: unknown): Error {
  const { loc, message } = error as Error & { readonly loc?: { readonly line: number; readonly column: number } };
  if (!loc) return error as Error;
  const reason = message.replace(/^Error transforming .*?: /, '').replace(/ \(\d+:\d+\)$/, '');
  const position = { ...loc, endLine: loc.line, endColumn: loc.column };
  return new PositionedError('PLUGIN_LOAD', '', `SyntaxError: ${reason}`, { file, position });
}
