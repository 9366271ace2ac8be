import { installFailures } from '../../chaos/failures/install.ts';
import { noFailures, type Operation, type Plan } from '../../chaos/failures/plan.ts';
import { plans } from '../../chaos/failures/plans.ts';

const ofFiles: ReadonlySet<Operation> = new Set(['open', 'read', 'write', 'rename', 'sync']);

/** Plans for failing files, without their other faults, and for a clock that is wrong. */
const usable = new Map<string, Plan>(
  plans.flatMap(([name, { faults, clockMs }]) => {
    const own = faults.filter(({ operation }) => ofFiles.has(operation));
    return own.length > 0 || clockMs !== undefined ? [[name, { seed: 1, faults: own, clockMs: clockMs ?? 0 }]] : [];
  }),
);

export const planNames: readonly string[] = ['nothing fails', ...usable.keys()];

/** The system of this process, whose files and clock can fail. */
export interface System {
  /** Makes the system fail according to the named plan from now on. */
  follow(name: string): void;
  /** Whether files are expected to be readable; false while reads may fail. */
  readonly isReadable: boolean;
  restore(): void;
}

export async function openSystem(): Promise<System> {
  const { failures, remove } = await installFailures();
  return {
    follow(name) {
      failures.plan = usable.get(name) ?? noFailures;
    },
    get isReadable() {
      return !failures.plan.faults.some(
        ({ operation, error }) => error !== undefined && (operation === 'open' || operation === 'read'),
      );
    },
    restore: remove,
  };
}
