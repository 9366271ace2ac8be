import type { AttackResult, Finding } from '../../attack/index.ts';
import type { FilePosition } from '../../inspect/index.ts';
import type { Terminal } from '../terminal.ts';

/** A finding with its position, and its requests as commands of a shell. */
export interface PlacedFinding extends Omit<Finding, 'requests' | 'pointer'>, FilePosition {
  readonly requests: readonly string[];
  /** Line of an accept file for this finding, without the reason. */
  readonly key: string;
}

/** Everything that `attack` reports. */
export interface AttackReport extends Omit<AttackResult, 'findings' | 'shown'> {
  readonly file: string;
  readonly findings: readonly PlacedFinding[];
  /** Findings in the accept file. */
  readonly accepted: readonly PlacedFinding[];
  readonly seed: number;
}

/** An output format for attacks. */
export type PrintAttack = (report: AttackReport, terminal: Terminal) => string;
