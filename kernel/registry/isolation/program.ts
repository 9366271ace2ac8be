import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Guest, Receive } from '#contract';
import { PositionedError } from '../../config/index.ts';
import { type ConnectionGuard, guardConnections } from '../../net/guard-connections.ts';
import { outliveClientStreams } from '../../net/outlive-streams.ts';
import { ModuleGraph } from '../loading/module-graph.ts';
import { sourceError, unfinished } from '../loading/source-error.ts';
import { PortLine } from './port-line.ts';
import { sendError } from './sent-error.ts';
import { filesOver } from './served-files.ts';
import { CLOSE, LEAVE, OPEN, STRAY, type ThreadLoaded, type ThreadStart } from './thread-start.ts';

/** Refuses all connections of the thread. */
const offline: ConnectionGuard = {
  isActive: () => true,
  refuse: (address) => new Error(`connections are refused while a configuration is tested: ${address}`),
};

/** Interval between two heartbeats of the thread, in milliseconds. */
const BEAT_MS = 25;

// The port is received in a message instead of the start data, so that the plugin's module cannot access it.
parentPort!.once('message', (start: ThreadStart) => void run(start));

async function run(start: ThreadStart): Promise<void> {
  const { port, files, lock, beat, entry, guest: program, loadMs, serves, isOffline } = start;
  if (isOffline) guardConnections(offline);
  outliveClientStreams();
  const post = port.postMessage.bind(port);
  // The listener keeps the thread alive until the thread that has started it ends it, so that its last messages are
  // received.
  port.on('message', () => {});
  const graph = new ModuleGraph(entry, filesOver(files, lock));
  try {
    const { guest } = (await import(program)) as { readonly guest: Guest };
    const exports = await graph.evaluate(loadMs);
    const manifest = guest.manifestOf(exports, entry);
    if (serves) serve(port, beat, guest.serve(exports, entry));
    post({ loaded: { manifest, files: graph.files } satisfies ThreadLoaded });
  } catch (error) {
    const late = unfinished(error, entry, { awaits: () => graph.awaits() });
    post({ failed: sentFailure(late ?? error, entry, graph.files) });
  }
}

/** Converts an error of the module for sending; an error in its source gets its position there. */
function sentFailure(error: unknown, entry: string, files: readonly string[]): object {
  const sent = sendError(error);
  if (sent.kind === 'config' && !(error instanceof PositionedError)) return sent;
  const { reason, file, position, hint } = sourceError('', error, entry, files);
  return { ...sent, source: { reason, file, position, hint } };
}

function serve(port: MessagePort, beat: Int32Array, served: ReturnType<Guest['serve']>): void {
  const places = new Map<number, Receive>();
  const line = new PortLine(port, (place, operation, value) => {
    if (operation === OPEN) return void places.set(place, served.open(line.at(place)));
    if (operation === LEAVE) return void places.delete(place);
    if (operation === CLOSE) return served.close();
    const receive = places.get(place);
    if (!receive) throw new Error('the configuration that used the module no longer exists');
    return receive(operation, value);
  });
  const report = (error: unknown): void => line.at(0).say(STRAY, sendError(error));
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
  let beating: NodeJS.Timeout | null = null;
  line.onServing = () => {
    if (line.serving > 0) {
      beating ??= setInterval(() => Atomics.add(beat, 0, 1), BEAT_MS);
      return;
    }
    if (beating) clearInterval(beating);
    beating = null;
  };
  port.on('message', (message: unknown) => {
    Atomics.add(beat, 0, 1);
    line.accept(message);
  });
}
