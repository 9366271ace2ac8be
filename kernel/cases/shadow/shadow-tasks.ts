import { constants, setPriority } from 'node:os';
import type { Catalogue } from '#contract';
import type { ShadowFindings } from '../../control/shadow-report.ts';
import type { Sample } from '../../server/exchange/sample.ts';
import { Candidate, type SampleOutcome, type ShadowOrder } from './candidate.ts';

/** Requests to the process of a shadow run, by name. */
export interface ShadowTasks {
  /** Builds the configurations; once. @throws ConfigErrors. */
  shadow(order: ShadowOrder): Promise<void>;
  sample(sample: Sample): Promise<SampleOutcome>;
  findings(): ShadowFindings;
}

/** The tasks of a process that runs a candidate. */
export function shadowTasks(catalogue: Catalogue): ShadowTasks {
  let candidate: Candidate | null = null;
  return {
    async shadow(order) {
      // Every other process takes precedence.
      setPriority(constants.priority.PRIORITY_LOW);
      candidate = await Candidate.open(catalogue, order);
    },
    sample: (sample) => candidate!.take(sample),
    findings: () => candidate!.findings,
  };
}
