import { type Profiler, Session } from 'node:inspector';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { blocksOf, modulesIn } from './blocks.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let session: Session | null = null;

/**
 * Measures modules that are loaded from now on. Code that was compiled before has no block counters.
 * @returns a function that ends the measurement.
 */
export function startCoverage(): () => void {
  session = new Session();
  session.connect();
  post('Profiler.enable');
  post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  return () => {
    post('Profiler.stopPreciseCoverage');
    session?.disconnect();
    session = null;
  };
}

export function isMeasured(): boolean {
  return session !== null;
}

/** Blocks of a module. */
interface Module {
  readonly starts: readonly number[];
  /** 1 for each block that has been executed. */
  readonly executed: Uint8Array;
}

/** One measurement: modules, and the indexes of their blocks that were executed since the previous one. */
export type Taken = ReadonlyMap<Module, readonly number[]>;

/** The blocks of some modules of the product that have been executed. @param rooms directories, as paths from the root of the repository. */
export class BlockCoverage {
  readonly #modules = new Map<string, Module>();

  constructor(rooms: readonly string[]) {
    for (const file of rooms.flatMap((room) => modulesIn(root + room))) {
      const starts = blocksOf(file);
      this.#modules.set(pathToFileURL(file).href, { starts, executed: new Uint8Array(starts.length) });
    }
    this.add(this.take());
  }

  /** @returns the blocks that were executed since the previous call of this method on any instance. Takes some 10 ms. */
  take(): Taken {
    const taken = new Map<Module, readonly number[]>();
    const { result } = post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
    for (const { url, functions } of result) {
      const module = this.#modules.get(url.replace(/\?.*/, ''));
      if (module) taken.set(module, executedBlocks(module.starts, functions));
    }
    return taken;
  }

  /** Whether a measurement contains a block that was not executed before. */
  isNew(taken: Taken): boolean {
    for (const [{ executed }, blocks] of taken) if (blocks.some((block) => executed[block] === 0)) return true;
    return false;
  }

  add(taken: Taken): void {
    for (const [{ executed }, blocks] of taken) for (const block of blocks) executed[block] = 1;
  }

  get covered(): number {
    let covered = 0;
    for (const { executed } of this.#modules.values()) for (const is of executed) covered += is;
    return covered;
  }

  /** Number of all blocks, loaded or not. */
  get total(): number {
    return this.#modules.values().reduce((sum, { starts }) => sum + starts.length, 0);
  }
}

/**
 * Determines which blocks were executed. The innermost range that contains the start of a block decides: outer ranges
 * come first, and inner ranges overwrite their result.
 */
function executedBlocks(starts: readonly number[], functions: readonly Profiler.FunctionCoverage[]): number[] {
  const ranges = functions.flatMap((each) => each.ranges);
  const end = ranges.reduce((last, { endOffset }) => Math.max(last, endOffset), 0);
  const painted = new Uint8Array(end);
  for (const { startOffset, endOffset, count } of ranges) painted.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return [...starts.keys()].filter((block) => painted[starts[block]!] === 1);
}

function post(method: string, parameters: object = {}): object {
  let returned: object = {};
  // The result is available at once, because the inspector session of the same thread responds synchronously.
  session!.post(method, parameters, (error, result) => {
    if (error) throw new Error(`${method}: ${error.message}`);
    returned = result ?? {};
  });
  return returned;
}
