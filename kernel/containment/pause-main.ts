import { Session } from 'node:inspector';
import { threadId } from 'node:worker_threads';
import { DEBUGGER } from './marks.ts';
import type { SourcePlace } from './source-columns.ts';
import { pathOf } from './source-place.ts';

/** One call on the stack of the main thread; positions are those of the code that runs. */
export interface MainFrame extends Omit<SourcePlace, 'file'> {
  readonly functionName: string;
  /** URL of the script. */
  readonly url: string;
  /** Path of the source file; null for code that is not in a file. */
  readonly file: string | null;
}

/**
 * Pauses the main thread for a moment, from another thread, to read its stack. If the thread waits in a system call, it
 * is not paused and `read` is not called.
 * @param read receives the calls, innermost first.
 * @returns false if the main thread is being inspected already.
 */
export function pauseMain(marks: Int32Array, read: (frames: readonly MainFrame[]) => void): boolean {
  if (Atomics.compareExchange(marks, DEBUGGER, 0, -threadId) !== 0) return false;
  const session = new Session();
  const scripts = new Map<string, string>();
  session.connectToMainThread();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void scripts.set(scriptId, url));
  session.on('Debugger.paused', ({ params }) => {
    session.post('Debugger.resume', () => {
      session.disconnect();
      Atomics.store(marks, DEBUGGER, 0);
    });
    read(
      params.callFrames.map(({ functionName, location: { scriptId, lineNumber, columnNumber = 0 } }) => {
        const url = scripts.get(scriptId) ?? '';
        return { functionName, url, file: pathOf(url), line: lineNumber + 1, column: columnNumber + 1 };
      }),
    );
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  return true;
}
