import { constants, PerformanceObserver } from 'node:perf_hooks';
import type { Log } from '#contract';

/** Reports every full garbage collection. @returns a function that stops it. */
export type FollowCollections = (onCollected: () => void) => () => void;

export interface LeakGuardOptions {
  readonly log: Log;
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number;
  /** Source of garbage collection events. Default: this process. */
  readonly follow?: FollowCollections;
}

/** Detects configurations that were released but stay in memory. */
export interface LeakGuard {
  /**
   * Expects a released configuration to be garbage-collected.
   * @param suspects returns the plugins from files that are still in memory; called if the configuration is still in
   * memory as well.
   */
  expectGone(disposed: object, revision: number, suspects?: () => readonly string[]): void;
  /**
   * Expects the instance of a plugin from a file to be garbage-collected. @param parts objects of the instance, each of
   * which keeps it in memory.
   */
  expectFreed(parts: readonly WeakRef<object>[], plugin: string): void;
  /** Configurations that stay in memory although they should have been collected. */
  readonly leaked: number;
  close(): void;
}

/** Time after release by which a configuration should be collected, in milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * Number of garbage collections after which an object counts as leaked: the first one may have begun before the
 * configuration was released.
 */
const COLLECTIONS = 2;

interface Expected {
  readonly parts: readonly WeakRef<object>[];
  /** Warning to log if the object stays in memory. */
  readonly warning: () => string;
  readonly isRevision: boolean;
  readonly since: number;
  collections: number;
}

/**
 * Creates a leak guard. Garbage collections are observed only while an object is expected to be collected, and only
 * weak references are kept.
 */
export function createLeakGuard(options: LeakGuardOptions): LeakGuard {
  const { log, now = () => performance.now(), follow = followMajorCollections } = options;
  const expected = new Set<Expected>();
  const leaked = new Set<WeakRef<object>>();
  let unfollow: (() => void) | null = null;

  const stop = (): void => {
    unfollow?.();
    unfollow = null;
  };
  const look = (): void => {
    for (const one of expected) {
      const isLate = ++one.collections >= COLLECTIONS && now() - one.since >= PATIENCE_MS;
      const staying = one.parts.find((part) => part.deref() !== undefined);
      if (!staying) expected.delete(one);
      else if (isLate) {
        expected.delete(one);
        if (one.isRevision) leaked.add(staying);
        log.warning(one.warning());
      }
    }
    if (expected.size === 0) stop();
  };

  const expect = (one: Pick<Expected, 'parts' | 'warning' | 'isRevision'>): void => {
    expected.add({ ...one, since: now(), collections: 0 });
    unfollow ??= follow(look);
  };

  return {
    expectGone(disposed, revision, suspects = () => []) {
      const warning = (): string => {
        const names = suspects();
        const suspected = names.length === 0 ? '' : `, perhaps referenced by ${names.join(' or ')}`;
        return `revision ${revision} was released but is still in memory${suspected}`;
      };
      expect({ parts: [new WeakRef(disposed)], warning, isRevision: true });
    },
    expectFreed(parts, plugin) {
      const warning = () =>
        `${plugin} was replaced or removed but is still in memory: referenced by a timer, listener or promise it created`;
      expect({ parts, warning, isRevision: false });
    },
    get leaked() {
      for (const ref of leaked) if (ref.deref() === undefined) leaked.delete(ref);
      return leaked.size;
    },
    close() {
      expected.clear();
      stop();
    },
  };
}

function followMajorCollections(onCollected: () => void): () => void {
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as readonly { readonly detail: { readonly kind: number } }[]) {
      if (entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) onCollected();
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}
