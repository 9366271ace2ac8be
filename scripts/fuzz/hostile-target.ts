import fc from 'fast-check';
import { Call } from '#contract';
import { silentLog } from '../../kernel/contract/internal.ts';
import { eventually } from './eventually.ts';
import { type Dialect, type Distortion, distortionsUpTo, startHostile } from './hostile.ts';
import { afterPatience } from './patience.ts';
import type { startTcp } from './stage.ts';
import { defineTarget, type Target } from './target.ts';

/** A client of the gateway that connects to one server. */
export interface Driver {
  /** Makes one request. @returns whether the server served it. @throws Error for an undocumented failure. */
  ask(): Promise<boolean>;
  close(): Promise<void> | void;
}

/**
 * Makes one request of a driver within 300 ms.
 * @param send returns whether the server served it; nothing means that it did.
 * @param documented classes of the errors that callers expect.
 */
export async function askOnce(
  send: (call: Call) => Promise<unknown>,
  ...documented: readonly (abstract new (
    ...args: never[]
  ) => Error)[]
): Promise<boolean> {
  const call = new Call(silentLog, 300);
  try {
    return (await send(call)) !== false;
  } catch (error) {
    if (documented.some((kind) => error instanceof kind)) return false;
    throw error;
  } finally {
    call.finish();
  }
}

export interface HostileOptions {
  readonly name: string;
  readonly dialect: Dialect;
  /** The client: files and folders, as paths from the root of the repository. */
  readonly rooms: readonly string[];
  /** Starts the server on a transport. Default: TCP. */
  readonly start?: typeof startTcp;
  drive(port: number): Driver | Promise<Driver>;
  /** Maximum duration of one request, in milliseconds. */
  readonly deadlineMs: number;
  /** Maximum time until a recovered server is used again, in milliseconds. */
  readonly recoveryMs: number;
  /** Highest index of a distorted message. Default: 8. */
  readonly messages?: number;
}

/** Tolerance for timers and a busy machine, in milliseconds. */
const SLACK_MS = 2_000;
/** Maximum memory outside the heap that one hostile server may consume, in bytes. */
const MEMORY_BYTES = 64 * 1024 * 1024;
const REQUESTS = 2;

interface Input {
  readonly distortions: readonly Distortion[];
  /** True when the server recovers in the end, and the target waits for it. */
  readonly recovers: boolean;
}

/** Creates a target whose inputs are the distortions of a server. */
export function hostileTarget(options: HostileOptions): Target {
  const { name, dialect, rooms, start, drive, deadlineMs, recoveryMs, messages = 8 } = options;
  return defineTarget<Input>({
    name,
    law: `Requests end within ${deadlineMs} ms whatever the server sends, and are served again once it behaves.`,
    boundMs: 1_000,
    rooms,
    isGuided: true,
    inputs: fc.record({
      distortions: distortionsUpTo(messages),
      recovers: fc.nat({ max: 7 }).map((chance) => chance === 0),
    }),
    async open() {
      const server = await startHostile(dialect, start);
      return {
        async accept({ distortions: list, recovers }) {
          server.distort(list);
          const before = outsideBytes();
          const driver = await drive(server.port);
          try {
            for (let request = 0; request < REQUESTS; request++) await timed(driver, deadlineMs + SLACK_MS);
            // Garbage is collected first, because bytes that were read and discarded would count as well.
            if (globalThis.gc) {
              await eventually(
                () => outsideBytes() - before <= MEMORY_BYTES,
                () => `${outsideBytes() - before} bytes are held`,
              );
            }
            server.heal();
            if (recovers) await recovered(driver, recoveryMs + SLACK_MS);
          } finally {
            server.heal();
            await driver.close();
          }
          await eventually(
            () => server.sockets.size === 0,
            () => `${server.sockets.size} connections stay`,
          );
        },
        close: () => server.close(),
      };
    },
  });
}

async function timed(driver: Driver, limitMs: number): Promise<void> {
  let isLate = false;
  const done = afterPatience(limitMs, () => {
    isLate = true;
  });
  await driver.ask().finally(done);
  if (isLate) throw new Error(`a request takes more than ${limitMs} ms`);
}

async function recovered(driver: Driver, limitMs: number): Promise<void> {
  let isLate = false;
  const done = afterPatience(limitMs, () => {
    isLate = true;
  });
  try {
    while (!(await driver.ask())) {
      if (isLate) throw new Error(`not served again within ${limitMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    done();
  }
}

function outsideBytes(): number {
  globalThis.gc?.();
  const { external, arrayBuffers } = process.memoryUsage();
  return external + arrayBuffers;
}
