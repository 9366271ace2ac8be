import { basename, join, resolve } from 'node:path';
import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../../contract/internal.ts';
import { type Dict, isMap, setValue, type Value, valueAt } from '../../../templates/value.ts';
import { escapePointer, joinPointer, parsePointer } from '../../../values/pointer.ts';
import type { FlexibleOptions } from '../options.ts';
import { type SourceFiles, settingsError } from '../source-files.ts';
import { readSettings, suffixOf } from './formats.ts';
import { type Place, SettingsPlaces } from './places.ts';

/** Combined content of all settings files. */
export interface Settings {
  /** Variables of the template. */
  readonly tree: Dict;
  readonly places: SettingsPlaces;
  /** Warnings about the files that do not cause rejection. */
  readonly warnings: readonly ConfigError[];
  /** Errors of settings files that are templates, by absolute path: they can be parsed only after an inclusion renders them. */
  readonly unread: ReadonlyMap<string, ConfigError>;
}

/** Reads the settings files. @throws ConfigErrors with every invalid file. */
export function readTree(options: FlexibleOptions, files: SourceFiles): Settings {
  return new Tree(options, files).read();
}

class Tree {
  readonly #options: FlexibleOptions;
  readonly #files: SourceFiles;
  readonly #errors: ConfigErrors['errors'][number][] = [];
  readonly #root: Dict = {};
  readonly #places = new SettingsPlaces();
  readonly #warnings: ConfigError[] = [];
  readonly #unread = new Map<string, ConfigError>();
  /** File that each value comes from, by JSON pointer. */
  readonly #origins = new Map<string, string>();

  constructor(options: FlexibleOptions, files: SourceFiles) {
    this.#options = options;
    this.#files = files;
  }

  read(): Settings {
    for (const path of this.#options.settings) {
      if (this.#files.isDirectory(path)) this.#readDirectory(path, []);
      else if (this.#options.isRecursive) this.#try(path, () => this.#readFile(path, []));
      else this.#try(path, () => void this.#files.list(path));
    }
    if (this.#errors.length > 0) throw new ConfigErrors(this.#errors);
    return { tree: this.#root, places: this.#places, warnings: this.#warnings, unread: this.#unread };
  }

  #readDirectory(path: string, keys: readonly string[]): void {
    this.#try(path, () => {
      for (const { name } of this.#files.list(path)) {
        const inner = join(path, name);
        if (this.#files.isDirectory(inner)) {
          if (this.#options.isRecursive) this.#readDirectory(inner, [...keys, this.#options.directoryPrefix + name]);
        } else if (this.#isAllowed(name)) {
          const suffix = suffixOf(name);
          const key = name.slice(0, name.length - suffix.length);
          this.#try(inner, () => {
            this.#demandName(key);
            this.#readFile(inner, key === '' ? keys : [...keys, key]);
          });
        }
      }
    });
  }

  #isAllowed(name: string): boolean {
    return this.#options.suffixes.some((suffix) => suffix === suffixOf(name) || suffix === name.toLowerCase());
  }

  /** Rejects keys that violate `keys_naming_rules`; names of directories are exempt. */
  #demandName(key: string): void {
    if (this.#options.keysNaming !== 'strict' || /^\w*$/.test(key)) return;
    throw new Error(`"${key}" is not alphanumeric: keys_naming_rules is "strict"`);
  }

  #readFile(path: string, keys: readonly string[]): void {
    const text = this.#files.text(path);
    const settings = this.#parse(path, text);
    if (!settings) return;
    const { value, warnings } = settings;
    for (const warning of warnings) this.#warnings.push(warning);
    this.#places.noteFile(path, text, value);
    if (!isMap(value) && (keys.length === 0 || !this.#options.isRecursive))
      throw new Error('it must contain an object');
    if (keys.length > 0) this.#put(this.#root, keys, value, { file: path, pointer: '' }, '');
    else
      for (const key of Object.keys(value as Dict)) {
        const pointer = `/${escapePointer(key)}`;
        this.#put(this.#root, [key], valueAt(value as Dict, key), { file: path, pointer }, '');
      }
  }

  #parse(path: string, text: string): ReturnType<typeof readSettings> | undefined {
    try {
      return readSettings(text, path);
    } catch (error) {
      if (this.#options.refKey === null || !text.includes('{{')) throw error;
      this.#unread.set(resolve(path), settingsError(path, (error as Error).message, error));
      return undefined;
    }
  }

  /** @param above JSON pointer of `target`. */
  #put(target: Dict, [key = '', ...rest]: readonly string[], value: Value, from: Place, above: string): void {
    const place = joinPointer(above, key);
    const present = valueAt(target, key);
    if (rest.length > 0) {
      if (!isMap(present)) setValue(target, key, {});
      return this.#put(valueAt(target, key) as Dict, rest, value, from, place);
    }
    if (!this.#options.allowOverwrite) this.#demandUnset(place, value);
    const isMerged = isMap(present) && isMap(value);
    setValue(target, key, isMerged ? merged(present, value) : value);
    if (!isMerged) this.#places.notePut(target, key, from);
    this.#origins.set(place, from.file);
  }

  /** Rejects a value if another file has set it, an object that contains it, or a part of it. */
  #demandUnset(place: string, value: Value): void {
    for (const [other, file] of this.#origins) {
      const isWhole = other === place || place.startsWith(`${other}/`);
      const isPart = other.startsWith(`${place}/`) && replaces(value, parsePointer(other.slice(place.length)));
      if (!isWhole && !isPart) continue;
      const name = parsePointer(isPart ? other : place).map((key) => `.${key}`);
      throw new Error(`${name.join('')} is already set by ${file}: set "allow_overwrite" to use the later value`);
    }
  }

  #try(path: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#errors.push(settingsError(path, (error as Error).message, error));
    }
  }
}

/** True if a value, merged over an object, replaces what is at the end of a path. */
function replaces(value: Value, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined || !isMap(value)) return value !== undefined;
  return replaces(valueAt(value, key), rest);
}

/** Merges later values over earlier ones, key by key. */
function merged(present: Dict, later: Dict): Dict {
  const result: Dict = {};
  for (const key of Object.keys(present)) setValue(result, key, valueAt(present, key));
  for (const key of Object.keys(later)) {
    const [one, other] = [valueAt(result, key), valueAt(later, key)];
    setValue(result, key, isMap(one) && isMap(other) ? merged(one, other) : other);
  }
  return result;
}

/** Name of a template or partial without its directory. */
export function nameOf(path: string): string {
  return basename(path);
}
