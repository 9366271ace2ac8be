import { parentPort, workerData } from 'node:worker_threads';
import { type Data, printJson } from '#contract';
import { formatOf } from '../load.ts';
import { isTooDeep } from '../too-deep.ts';
import type { ThreadParse, ThreadText } from './parse-aside.ts';

// The program of the thread: parses a single text.
const { text, file } = workerData as ThreadText;
parentPort!.postMessage(parse());

function parse(): ThreadParse | null {
  try {
    const { data, faults, comment } = formatOf(file).parse(text);
    if (faults.length > 0) return { json: null, faults };
    const isSound = typeof data === 'object' && data !== null && !isTooDeep(data);
    return isSound ? { json: printJson(data as Data), faults, ...(comment && { comment }) } : null;
  } catch {
    return null;
  }
}
