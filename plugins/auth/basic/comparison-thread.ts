import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { Comparison } from './comparisons.ts';

// The thread compares one password at a time.
parentPort!.on('message', ({ password, hash }: Comparison) => {
  parentPort!.postMessage(compareSync(password, hash));
});
