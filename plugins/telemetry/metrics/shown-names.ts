import type { Site } from '#contract';
import type { Stats } from './stats.ts';

/** Names of metrics that are shown: those of the served endpoints and their pipes, with a reference count for each. */
export class ShownNames {
  readonly #stats: Stats;
  readonly #owners = new Map<string, number>();
  /** Removed endpoints whose counts have yet to be forgotten. */
  readonly #gone = new Set<string>();
  /** Whether the configuration is active. Before that, the configuration that is still active may have counts of endpoints that this one does not know. */
  #serves = false;

  constructor(stats: Stats) {
    this.#stats = stats;
  }

  /** Activates the configuration: counts that the previous one collected for other names are forgotten. @param signal ends it. */
  readonly serve = (signal: AbortSignal): void => {
    this.#serves = true;
    signal.addEventListener('abort', () => {
      this.#serves = false;
    });
    this.#forget();
  };

  /** Shows the metrics of an endpoint or a pipe until its site is disposed. */
  add(owner: string, { defer }: Pick<Site<unknown>, 'defer'>): void {
    // If a removed endpoint or pipe is added again, its counts restart at 0.
    if (this.#serves && this.#gone.has(owner)) this.#forget();
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1);
    defer(() => this.#release(owner));
  }

  /** Returns whether a name belongs to a shown endpoint or pipe, or to no endpoint. */
  readonly isShown = (name: string): boolean => {
    const owner = ownerOf(name);
    return owner === undefined || this.#owners.has(owner);
  };

  #release(owner: string): void {
    // When the whole configuration ends, its counts are kept, because they are reported a last time.
    if (!this.#serves) return;
    const left = this.#owners.get(owner)! - 1;
    if (left > 0) {
      this.#owners.set(owner, left);
      return;
    }
    this.#owners.delete(owner);
    this.#gone.add(owner);
    // Removed names are forgotten in batches, because each time all counts are scanned.
    if (this.#gone.size * 8 > this.#owners.size) this.#forget();
  }

  #forget(): void {
    this.#gone.clear();
    this.#stats.retain(this.isShown);
  }
}

/** Returns the endpoint or the pipe whose metrics have a name. Undefined for names that belong to no endpoint. */
function ownerOf(name: string): string | undefined {
  if (name.startsWith('router.response.')) return name.replace(/\.(?:size|time|status(?:\.\d+\.count)?)$/, '');
  if (!name.startsWith('proxy.')) return undefined;
  return name.slice(name.indexOf('layer.'), name.lastIndexOf('.complete.'));
}
