import type { MessagePort } from 'node:worker_threads';

/** Startup data of a thread. */
export interface ThreadStart {
  readonly port: MessagePort;
  readonly files: MessagePort;
  readonly lock: Int32Array;
  /** Increases as long as the thread's event loop runs while it serves. */
  readonly beat: Int32Array;
  readonly entry: string;
  /** URL of the program that exports `guest`. */
  readonly guest: string;
  readonly loadMs: number;
  /** Whether the thread serves requests; false if only the manifest is needed. */
  readonly serves: boolean;
  /** Whether the thread cannot open connections, because its gateway is only tested. */
  readonly isOffline: boolean;
}

/** First message of the thread: the manifest, or the error that prevents loading. */
export interface ThreadLoaded {
  readonly manifest: unknown;
  readonly files: readonly string[];
}

/** Operation with which a thread reports a failure that no call of the plugin has handled. */
export const STRAY = 'stray';
/** Operations that open and close one use of the plugin in the configuration. */
export const OPEN = 'open';
export const LEAVE = 'leave';
/** Operation that ends the thread. */
export const CLOSE = 'close';
