import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { Comparison } from './comparisons.ts';

// Messages are processed sequentially.
parentPort!.on('message', ({ password, hash }: Comparison) => {
  parentPort!.postMessage(compareSync(password, hash));
});
