import type { MessagePort } from 'node:worker_threads';

/** What a thread is started with. */
export interface ThreadStart {
  readonly port: MessagePort;
  readonly files: MessagePort;
  readonly lock: Int32Array;
  /** Grows for as long as the thread's loop turns while it serves. */
  readonly beat: Int32Array;
  readonly entry: string;
  /** URL of the program that exports `guest`. */
  readonly guest: string;
  readonly loadMs: number;
  /** False where only the manifest is wanted. */
  readonly serves: boolean;
}

/** What a thread says first: its first message is one of the two. */
export interface ThreadLoaded {
  readonly manifest: unknown;
  readonly files: readonly string[];
}

/** The operation by which failures that nobody waited for are reported; its place is none. */
export const STRAY = 'stray';
/** The operation by which a place comes, and by which it goes. */
export const OPEN = 'open';
export const LEAVE = 'leave';
/** The operation by which everything ends. */
export const CLOSE = 'close';
