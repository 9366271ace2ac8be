import type { Read } from '../../templates/index.ts';
import { type Dict, isList, isMap, type Value, valueAt } from '../../templates/value.ts';
import { escapePointer } from '../../values/pointer.ts';
import { parseDocument } from '../syntax/load.ts';
import type { KeyOrValue, Locate, Position, TextRange } from '../syntax/position.ts';

/** A value in a file of settings. */
export interface Place {
  readonly file: string;
  readonly pointer: string;
}

/** Where the values of settings were written. */
export class SettingsPlaces {
  readonly #texts = new Map<string, string>();
  readonly #locators = new Map<string, Locate | null>();
  /** Of the maps and lists of files. */
  readonly #inside = new WeakMap<object, Place>();
  /** Of what files hold, by where it was put. */
  readonly #put = new WeakMap<object, Map<string, Place>>();

  /** Notes what a file holds. */
  noteFile(file: string, text: string, value: Value): void {
    this.#texts.set(file, text);
    this.#note(value, { file, pointer: '' });
  }

  /** Notes that the value of a file, or of one of its keys, was put under a key of the variables. */
  notePut(holder: Dict, key: string, place: Place): void {
    const keys = this.#put.get(holder) ?? new Map<string, Place>();
    this.#put.set(holder, keys.set(key, place));
  }

  /**
   * Where a field that a template has read, or something in it, is written; undefined where that cannot be told, as for
   * values that several files make together.
   * @param below pointer from the field on.
   */
  locate({ holder, key }: Read, below: string, which: KeyOrValue, range?: TextRange): Position | undefined {
    if (typeof holder !== 'object' || holder === null) return undefined;
    const inside = this.#inside.get(holder);
    const place =
      this.#put.get(holder)?.get(key) ?? (inside && { ...inside, pointer: `${inside.pointer}/${escapePointer(key)}` });
    if (!place) return undefined;
    const position = this.#locatorOf(place.file)?.(place.pointer + below, which, range);
    return position && { ...position, file: place.file };
  }

  /** Null for a format without places. */
  #locatorOf(file: string): Locate | null {
    let locate = this.#locators.get(file);
    if (locate === undefined) {
      locate = locatorOf(file, this.#texts.get(file)!);
      this.#locators.set(file, locate);
    }
    return locate;
  }

  #note(value: Value, place: Place): void {
    if (isMap(value)) {
      this.#inside.set(value, place);
      for (const key of Object.keys(value)) this.#note(valueAt(value, key), below(place, key));
    } else if (isList(value)) {
      this.#inside.set(value, place);
      for (const [index, item] of value.entries()) this.#note(item, below(place, String(index)));
    }
  }
}

function below({ file, pointer }: Place, step: string): Place {
  return { file, pointer: `${pointer}/${escapePointer(step)}` };
}

function locatorOf(file: string, text: string): Locate | null {
  if (!/\.(?:json|ya?ml|toml|tml)$/i.test(file)) return null;
  try {
    return parseDocument(text, file.replace(/\.tml$/i, '.toml')).locate;
  } catch {
    // Of a list there are no places.
    return null;
  }
}
