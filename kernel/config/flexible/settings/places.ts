import type { Read } from '../../../templates/index.ts';
import { type Dict, isList, isMap, type Value, valueAt } from '../../../templates/value.ts';
import { escapePointer } from '../../../values/pointer.ts';
import { parseDocument } from '../../syntax/load.ts';
import type { KeyOrValue, Locate, Position, TextRange } from '../../syntax/position.ts';

/** Location of a value in a settings file. */
export interface Place {
  readonly file: string;
  readonly pointer: string;
}

/** Source locations of settings values. */
export class SettingsPlaces {
  readonly #texts = new Map<string, string>();
  readonly #locators = new Map<string, Locate | null>();
  /** Locations of the maps and lists in each file. */
  readonly #inside = new WeakMap<object, Place>();
  /** Locations of values, by the variable to which they are assigned. */
  readonly #put = new WeakMap<object, Map<string, Place>>();

  /** Records the content of a file. */
  noteFile(file: string, text: string, value: Value): void {
    this.#texts.set(file, text);
    this.#note(value, { file, pointer: '' });
  }

  /** Records that the value of a file, or of one of its keys, is assigned to a key of the variables. */
  notePut(holder: Dict, key: string, place: Place): void {
    const keys = this.#put.get(holder) ?? new Map<string, Place>();
    this.#put.set(holder, keys.set(key, place));
  }

  /**
   * Position of a field that a template read, or of something in it; undefined if unknown, as for values merged from
   * several files.
   * @param below pointer relative to the field.
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

  /** Returns a locator of a file's values; null for a format without positions. */
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
    // A file whose top level is a list has no positions.
    return null;
  }
}
