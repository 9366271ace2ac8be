import { type Data, type DataObject, isObject, parseExact, printJson } from '#contract';
import type { Placeholders } from './placeholders.ts';

/** Maximum length of an event that is parsed, in characters. Longer ones are passed on with complete placeholders restored only. */
const MAX_EVENT = 256 * 1024;

/** Maximum number of texts that are held back: each one that is not continued is written as an event of its own. */
const MAX_HELD = 32;

/** A text at the end of an event that may be the beginning of a placeholder, which a later event continues. */
interface Held {
  readonly text: string;
  /**
   * Creates the event in which this text was found, with another text in its place. Used if no event continues the
   * text.
   */
  readonly event: (text: string) => string;
  /** Path of the text in its message, without the indexes of alternative responses. */
  readonly place: string;
}

/**
 * Restores the JSON of server-sent events. Models send a text in small parts, so a placeholder can be split over several
 * events: its beginning is held back until an event continues the text in the same place.
 */
export class EventRestorer {
  readonly #placeholders: Placeholders;
  readonly #held = new Map<string, Held>();
  #waiting = '';

  constructor(placeholders: Placeholders) {
    this.#placeholders = placeholders;
  }

  write(piece: string): string {
    let text = this.#waiting + piece;
    let output = '';
    for (let end = endOfEvent(text); end > 0; end = endOfEvent(text)) {
      output += this.#event(text.slice(0, end));
      text = text.slice(end);
    }
    if (text.length > MAX_EVENT) {
      output += this.#placeholders.restore(text, inJson);
      text = '';
    }
    this.#waiting = text;
    return output;
  }

  end(): string {
    const rest = this.#waiting === '' ? '' : this.#event(this.#waiting);
    this.#waiting = '';
    return rest + this.#flush();
  }

  #event(raw: string): string {
    if (this.#held.size === 0 && !raw.includes('[')) return raw;
    const data = dataOf(raw);
    const message = data === null ? null : parse(data.json);
    if (data === null || message === null) {
      return (data === null ? '' : this.#flush()) + this.#placeholders.restore(raw, inJson);
    }
    const places = new Set<string>();
    const written = (changed: Data) => `${data.before}data: ${printJson(changed)}${data.after}`;
    const restored = this.#texts(message, '', '', places, (key, place, text, rebuild) => {
      const whole = (this.#held.get(key)?.text ?? '') + text;
      this.#held.delete(key);
      const isHeld = this.#held.size < MAX_HELD;
      const length = whole.length - (isHeld ? this.#placeholders.incomplete(whole) : 0);
      if (length < whole.length) {
        const event = (rest: string) => written(rebuild(rest));
        this.#held.set(key, { text: whole.slice(length), event, place });
      }
      return this.#placeholders.restore(whole.slice(0, length));
    });
    return this.#flush(places) + written(restored);
  }

  /**
   * Returns texts that were held back as events of their own, because no later event continues them. @param except
   * places whose texts may still continue.
   */
  #flush(except: ReadonlySet<string> = new Set()): string {
    let output = '';
    for (const [key, { text, event, place }] of this.#held) {
      if (except.has(place)) continue;
      output += event(text);
      this.#held.delete(key);
    }
    return output;
  }

  /**
   * Replaces the strings of a message. The key of a text is its path with the `index` of the objects around it, because
   * events of different alternatives and blocks of a response can alternate.
   */
  #texts(
    message: Data,
    path: string,
    numbers: string,
    places: Set<string>,
    change: (key: string, place: string, text: string, rebuild: (text: string) => Data) => string,
    rebuild: (value: Data) => Data = (value) => value,
  ): Data {
    if (typeof message === 'string') {
      places.add(path);
      return change(`${path}#${numbers}`, path, message, rebuild);
    }
    if (Array.isArray(message)) {
      return message.map((member, at) =>
        this.#texts(member, `${path}/${at}`, numbers, places, change, (value) => rebuild(message.with(at, value))),
      );
    }
    if (!isObject(message)) return message;
    const { index } = message;
    const own = typeof index === 'number' ? `${numbers},${index}` : numbers;
    return Object.fromEntries(
      Object.entries(message).map(([name, member]) => [
        name,
        this.#texts(member, `${path}/${name}`, own, places, change, (value) => rebuild(replaced(message, name, value))),
      ]),
    );
  }
}

function replaced(object: DataObject, name: string, value: Data): DataObject {
  return Object.fromEntries(Object.entries(object).map(([key, member]) => [key, key === name ? value : member]));
}

const inJson = (value: string) => JSON.stringify(value).slice(1, -1);

/** Position after the first event of a text, with its empty line; 0 if it is not complete. */
function endOfEvent(text: string): number {
  const found = /\r\n\r\n|\n\n|\r\r/.exec(text);
  return found ? found.index + found[0].length : 0;
}

/** Splits an event with a single `data` line into its JSON and the text around the line; null for other events. */
function dataOf(raw: string): { readonly before: string; readonly json: string; readonly after: string } | null {
  const found = /^data: ?(.*)$/m.exec(raw);
  if (!found) return null;
  const after = raw.slice(found.index + found[0].length);
  return { before: raw.slice(0, found.index), json: found[1]!, after: after === '' ? '\n\n' : after };
}

function parse(json: string): Data | null {
  if (!/^\s*[[{]/.test(json)) return null;
  try {
    return parseExact(json);
  } catch {
    return null;
  }
}
