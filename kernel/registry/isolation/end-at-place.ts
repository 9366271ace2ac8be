import { Session } from 'node:inspector';
import { enterDebugger, leaveDebugger } from '../../containment/debugger-lock.ts';
import type { SourcePlace } from '../../containment/source-columns.ts';
import { pathOf } from '../../containment/source-place.ts';

/** Time limit for locating the running code, in milliseconds. A thread that runs code pauses for it immediately. */
const LOCATE_MS = 3000;

interface Frame {
  readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber?: number };
}

/**
 * Ends a thread whose code does not return, and determines where it was running.
 * @param name of the thread.
 * @param end called with the position of the running code; null if it is in none of the files.
 */
export async function endAtPlace(
  name: string,
  files: readonly string[],
  end: (place: SourcePlace | null) => Promise<void>,
): Promise<void> {
  if (!(await enterDebugger(LOCATE_MS))) return end(null);
  const session = new Session();
  let timer: NodeJS.Timeout | undefined;
  try {
    session.connect();
    const scripts = new Map<string, string>();
    let resume = (): void => {};
    const place = new Promise<SourcePlace | null>((resolve) => {
      timer = setTimeout(() => resolve(null), LOCATE_MS);
      session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
        if (!workerInfo.title.endsWith(` ${name}`)) return;
        const send = (id: number, method: string) =>
          session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method }) });
        resume = () => send(3, 'Debugger.resume');
        send(1, 'Debugger.enable');
        send(2, 'Debugger.pause');
      });
      session.on('NodeWorker.receivedMessageFromWorker', ({ params: { message } }) => {
        // The debugger reports every script of the thread; only those of the given files are stored.
        if (message.startsWith('{"method":"Debugger.scriptParsed"')) {
          if (!files.some((file) => message.includes(file))) return;
          const { params } = JSON.parse(message) as {
            readonly params: { readonly scriptId: string; readonly url: string };
          };
          const file = pathOf(params.url);
          if (file !== null && files.includes(file)) scripts.set(params.scriptId, file);
          return;
        }
        if (!message.startsWith('{"method":"Debugger.paused"')) return;
        const { params } = JSON.parse(message) as { readonly params: { readonly callFrames: readonly Frame[] } };
        // The thread is resumed, because a paused thread cannot be ended.
        resume();
        resolve(placeOf(params.callFrames, scripts));
      });
    });
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    await end(await place);
  } catch {
    // The debugger is in use by another caller, so the position stays unknown.
    await end(null);
  } finally {
    clearTimeout(timer);
    // The debugger disconnects only after the thread has ended, because a thread that pauses late must be resumed.
    session.disconnect();
    leaveDebugger();
  }
}

/** The innermost place that is in one of the scripts. */
function placeOf(frames: readonly Frame[], scripts: ReadonlyMap<string, string>): SourcePlace | null {
  for (const { scriptId, lineNumber, columnNumber = 0 } of frames.map(({ location }) => location)) {
    const file = scripts.get(scriptId);
    if (file !== undefined) return { file, line: lineNumber + 1, column: columnNumber + 1 };
  }
  return null;
}
