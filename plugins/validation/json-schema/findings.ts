/** Location of a value in the document: the key or array index under its parent. Null is the root. */
export interface Path {
  readonly parent: Path | null;
  readonly key: string | number;
}

interface Violation {
  readonly path: Path | null;
  readonly message: string;
}

/** Maximum number of violations kept by one `Findings`; further ones are only counted, so that no body can exhaust memory. */
const KEPT_LIMIT = 10_000;
/** Maximum length of the report, in UTF-16 units: a small, deeply nested body has long locations. */
const TEXT_LIMIT = 1024 * 1024;

/** The parts of an object or array that have been evaluated. */
export class Evaluated {
  /** Whether every part of the value has been evaluated. */
  all = false;
  /** Number of leading items that have been evaluated. */
  items = 0;
  /** Evaluated keys, and evaluated indexes beyond the leading items. */
  readonly keys = new Set<string | number>();

  add({ all, items, keys }: Evaluated): void {
    this.all ||= all;
    this.items = Math.max(this.items, items);
    for (const key of keys) this.keys.add(key);
  }
}

/** Violations of one value, in order, and a score of how closely the value matches its schema. */
export class Findings {
  /** Number of violations; 0 for a valid value. */
  count = 0;
  /** Similarity score: each passed check adds one, each violation subtracts two. */
  score = 0;
  #entries: (Violation | Findings)[] = [];
  #evaluated: Map<object, Evaluated> | null = null;

  add(path: Path | null, message: string): void {
    this.count += 1;
    this.score -= 2;
    if (this.#entries.length < KEPT_LIMIT) this.#entries.push({ path, message });
  }

  /** Adds the violations and the score of a part. */
  append(inner: Findings): void {
    this.count += inner.count;
    this.score += inner.score;
    if (inner.count > 0 && this.#entries.length < KEPT_LIMIT) this.#entries.push(inner);
    this.adopt(inner);
  }

  /** Returns the evaluated parts of an object or array, to be added to. */
  evaluated(value: object): Evaluated {
    this.#evaluated ??= new Map();
    let known = this.#evaluated.get(value);
    if (known === undefined) {
      known = new Evaluated();
      this.#evaluated.set(value, known);
    }
    return known;
  }

  /** Adds the parts that another schema, which the value matches, has evaluated. */
  adopt(inner: Findings): void {
    if (inner.#evaluated === null) return;
    for (const [value, parts] of inner.#evaluated) this.evaluated(value).add(parts);
  }

  /**
   * Formats the violations, one line each: `- <location>: <message>`. Beyond ten thousand lines or one mebibyte, the
   * last line says that there are more.
   */
  text(): string {
    const lines: string[] = [];
    const complete = this.#write(lines, { length: 0 });
    if (!complete || lines.length < this.count) lines.push('- (root): More violations are not listed');
    return lines.join('\n');
  }

  #write(lines: string[], written: { length: number }): boolean {
    for (const entry of this.#entries) {
      if (lines.length >= KEPT_LIMIT || written.length >= TEXT_LIMIT) return false;
      if (entry instanceof Findings) {
        if (!entry.#write(lines, written)) return false;
      } else {
        const line = `- ${locate(entry.path)}: ${entry.message}`;
        written.length += line.length;
        lines.push(line);
      }
    }
    return true;
  }
}

/** Returns the dotted location of a value, as in `items.0.name`; `(root)` for the whole document. */
export function locate(path: Path | null): string {
  if (path === null) return '(root)';
  const keys: (string | number)[] = [];
  for (let step: Path | null = path; step !== null; step = step.parent) keys.push(step.key);
  return keys.reverse().join('.');
}

/** Returns the findings with the higher score; the earlier ones on a tie. */
export function nearest(best: Findings | null, candidate: Findings): Findings {
  return best !== null && best.score >= candidate.score ? best : candidate;
}
