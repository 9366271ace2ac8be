import type { Site } from '#contract';
import type { Stats } from './stats.ts';

/** What there are counts of: the endpoints that are served, and their pipes, each as often as something stands there. */
export class ShownNames {
  readonly #stats: Stats;
  readonly #owners = new Map<string, number>();
  /** Those of endpoints that are gone, whose counts wait to be forgotten. */
  readonly #gone = new Set<string>();
  /** Only then nobody else has counts that it does not know of. */
  #serves = false;

  constructor(stats: Stats) {
    this.#stats = stats;
  }

  /** Its configuration serves: what the one before has counted of others is forgotten. @param signal ends it. */
  readonly serve = (signal: AbortSignal): void => {
    this.#serves = true;
    signal.addEventListener('abort', () => {
      this.#serves = false;
    });
    this.#forget();
  };

  /** An owner is shown for as long as what stands at the site is there. */
  add(owner: string, { defer }: Pick<Site<unknown>, 'defer'>): void {
    // What counts again begins at 0.
    if (this.#serves && this.#gone.has(owner)) this.#forget();
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1);
    defer(() => this.#release(owner));
  }

  /** Whether a name is of what is shown, or of no endpoint. */
  readonly isShown = (name: string): boolean => {
    const owner = ownerOf(name);
    return owner === undefined || this.#owners.has(owner);
  };

  #release(owner: string): void {
    // What the whole configuration has counted is shown once more when it ends.
    if (!this.#serves) return;
    const left = this.#owners.get(owner)! - 1;
    if (left > 0) {
      this.#owners.set(owner, left);
      return;
    }
    this.#owners.delete(owner);
    this.#gone.add(owner);
    // To look through all counts for each would cost much where there are many.
    if (this.#gone.size * 8 > this.#owners.size) this.#forget();
  }

  #forget(): void {
    this.#gone.clear();
    this.#stats.retain(this.isShown);
  }
}

/** What a name counts: an endpoint's answers, or a pipe. Undefined for what belongs to no endpoint. */
function ownerOf(name: string): string | undefined {
  if (name.startsWith('router.response.')) return name.replace(/\.(?:size|time|status(?:\.\d+\.count)?)$/, '');
  if (!name.startsWith('proxy.')) return undefined;
  return name.slice(name.indexOf('layer.'), name.lastIndexOf('.complete.'));
}
