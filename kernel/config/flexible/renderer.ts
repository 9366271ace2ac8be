import { relative } from 'node:path';
import type { ConfigError } from '#contract';
import { TemplateError } from '../../contract/internal.ts';
import { type Functions, fn } from '../../templates/function.ts';
import { credentialFunctions } from '../../templates/functions/credentials.ts';
import { compileTemplate, type Mark, type TemplateLimits } from '../../templates/index.ts';
import { type Dict, setValue, type Value } from '../../templates/value.ts';
import { rememberSecret } from '../secrets/read-secrets.ts';
import { PositionedError } from '../syntax/position.ts';
import { UnreadableError } from '../syntax/unreadable.ts';
import type { FlexibleOptions } from './options.ts';
import type { SettingsPlaces } from './settings/places.ts';
import { readTree, type Settings } from './settings/tree.ts';
import type { SourceFiles } from './source-files.ts';
import { createSourceMap, type SourceMap } from './source-map.ts';
import { includeFunction, type NamedTemplates, readTemplates } from './template-files.ts';

/** Output of a template. */
export interface Rendered {
  readonly template: string;
  readonly text: string;
  readonly map: SourceMap;
  readonly settings: SettingsPlaces;
}

/** Limits for rendering one configuration. */
const LIMITS: TemplateLimits = { steps: 100_000_000, milliseconds: 30_000, characters: 512 * 1024 * 1024 };

/** Renders the files of one configuration. */
export class Renderer {
  readonly #options: FlexibleOptions;
  readonly #named: NamedTemplates;
  readonly #functions: Functions;
  readonly #places: SettingsPlaces;
  /** Template variables. */
  readonly tree: Dict;
  /** Warnings about the settings. */
  readonly warnings: readonly ConfigError[];
  /** Settings files that are templates themselves, which only an inclusion can read. */
  readonly unread: Settings['unread'];

  /** @throws ConfigErrors with every unreadable file. */
  constructor(options: FlexibleOptions, environment: Readonly<Record<string, string | undefined>>, files: SourceFiles) {
    this.#options = options;
    const { tree, places, warnings, unread } = readTree(options, files);
    this.tree = tree;
    this.#places = places;
    const settings = [...files.read].filter((path) => path !== options.file);
    this.warnings = warnings;
    this.unread = unread;
    this.#named = readTemplates(options, files);
    this.#functions = {
      ...credentialFunctions,
      ...environmentFunctions(environment),
      include: includeFunction(options, files),
    };
    if (options.metaKey === null) return;
    const all = [...files.read];
    const templates = [...this.#named.paths.values()].filter((path, index, paths) => paths.indexOf(path) === index);
    setValue(this.tree, options.metaKey, { files: all, settings, templates } as Value);
  }

  /** @param path of the template. @throws UnreadableError with the position in the template, or in one that it calls. */
  render(path: string, template: string): Rendered {
    const marks: Mark[] = [];
    try {
      const text = compileTemplate(template, {
        name: path,
        templates: this.#named.texts,
        functions: this.#functions,
        limits: LIMITS,
        numbers: 'go',
        missingKey: this.#options.missingKey,
      }).render(this.tree, marks);
      return { template, text, map: createSourceMap(path, text, marks, this.#pathOf), settings: this.#places };
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      throw this.#placed(error, template);
    }
  }

  readonly #pathOf = (name: string): string => this.#named.paths.get(name) ?? name;

  #placed({ code, reason, position, calls }: TemplateError, template: string): UnreadableError {
    const chain = calls
      .map((call) => `, called at ${this.#pathOf(call.template)}:${call.line}:${call.column}`)
      .join('');
    const { line, column } = position;
    const range = { line, column, endLine: line, endColumn: column + 1 };
    const file = this.#pathOf(position.template);
    const [unread] = this.unread.keys();
    const hint =
      unread &&
      `the variables do not contain ${relative('', unread)}: a settings file that contains templates can only be included by reference`;
    return new UnreadableError(template, [
      new PositionedError(code, '', reason + chain, { file, position: range, hint }),
    ]);
  }
}

/** Template functions that read the environment. The values they read are masked wherever the configuration is shown. */
function environmentFunctions(environment: Readonly<Record<string, string | undefined>>): Functions {
  const read = (name: string): string => {
    const value = environment[name] ?? '';
    rememberSecret(value);
    return value;
  };
  return {
    env: fn('string', read),
    expandenv: fn('string', (text) =>
      text.replace(/\$(?:\{(\w+)\}|([A-Za-z_]\w*|[0-9*#$@!?-]))/g, (_, braced?: string, plain?: string) =>
        read((braced ?? plain)!),
      ),
    ),
  };
}
