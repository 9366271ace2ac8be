import { type Pattern, PatternLimit, type Patterns } from '#contract';
import { cpuUsage } from '../../shared/calls/cpu-usage.ts';

/** Length of the pieces in which a long text is matched, in UTF-16 units. Bounds the time of one match. */
export const WINDOW = 8192;

/** Length of the overlap of neighboring pieces, in UTF-16 units: longer matches can be missed in long texts. */
const OVERLAP = 2048;

/** Number of expressions joined into one. Joining more needs fewer passes over a text, but far more automaton states for unusual texts. */
const TOGETHER = 8;

/** Limit of processor time for matching the texts of one request, in milliseconds. */
const MATCH_MS = 100;

/**
 * Creates a time limit. @returns a function that returns true once the thread has used `limitMs` of processor time
 * since its first call.
 */
function limiter(limitMs: number): () => boolean {
  let start: NodeJS.CpuUsage | null = null;
  return () => {
    if (start) return cpuUsage(start).user > limitMs * 1000;
    start = cpuUsage();
    return false;
  };
}

/** Matches expressions that need the whole text, because they are anchored to its beginning or end. */
const anchored = /(?:^|[^\\[])[\^$]|\\[Az]/;

/** Line anchors, which also match in a piece of a text. */
const lineAnchors = /\(\?:\^\|\\n\)/g;

/** Many expressions that are matched in one pass. */
export class PatternSet {
  /** Joined expressions, usually a single one. */
  readonly #joined: readonly Pattern[];
  readonly #whole: readonly Pattern[];
  /** Expressions by the guard that they belong to, to find the guard of a match. */
  readonly #byGuard: ReadonlyMap<string, PatternSet | null>;

  /** @param guards expressions by guard. Each must compile. */
  constructor(guards: ReadonlyMap<string, readonly string[]>, patterns: Patterns) {
    const all = [...guards.values()].flat();
    const isWhole = (source: string) => anchored.test(source.replaceAll(lineAnchors, ''));
    this.#whole = all.filter(isWhole).map((source) => patterns.compile(source));
    this.#joined = join(
      all.filter((source) => !isWhole(source)),
      patterns,
    );
    const inner = guards.size > 1;
    this.#byGuard = new Map(
      Array.from(guards, ([name, sources]) => [
        name,
        inner ? new PatternSet(new Map([[name, sources]]), patterns) : null,
      ]),
    );
  }

  /**
   * The name of the first guard with a match in one of the texts; null without a match.
   * @throws PatternLimit if an anchored expression cannot match a text of this length, or matching takes too long.
   */
  match(texts: readonly string[]): string | null {
    const isLate = limiter(MATCH_MS);
    for (const text of texts) {
      if (!this.#matches(text, isLate)) continue;
      for (const [name, set] of this.#byGuard) {
        if (set === null || set.#matches(text, () => false)) return name;
      }
    }
    return null;
  }

  #matches(text: string, isLate: () => boolean): boolean {
    for (const pattern of this.#whole) if (pattern.test(text)) return true;
    if (this.#joined.length === 0) return false;
    let start = 0;
    while (true) {
      const piece = text.slice(start, start + WINDOW);
      for (const pattern of this.#joined) if (pattern.test(piece)) return true;
      if (start + WINDOW >= text.length) return false;
      if (isLate()) throw new PatternLimit('all guards');
      start = boundary(text, start + WINDOW - OVERLAP);
    }
  }
}

/** The next whitespace at or after a position, so that no word is cut; the position itself if none is near. */
function boundary(text: string, position: number): number {
  const most = position + OVERLAP / 2;
  for (let at = position; at < most; at++) if (/\s/.test(text[at]!)) return at;
  return position;
}

/** Joins expressions into a few larger ones that can match a piece of a text. @throws PatternError */
function join(sources: readonly string[], patterns: Patterns): readonly Pattern[] {
  if (sources.length > TOGETHER) {
    return [...join(sources.slice(0, TOGETHER), patterns), ...join(sources.slice(TOGETHER), patterns)];
  }
  if (sources.length < 2) return sources.map((source) => patterns.compile(source));
  try {
    const joined = patterns.compile(sources.map((source) => `(?:${source})`).join('|'));
    joined.test(' '.repeat(WINDOW));
    return [joined];
  } catch {
    const half = sources.length >> 1;
    return [...join(sources.slice(0, half), patterns), ...join(sources.slice(half), patterns)];
  }
}
