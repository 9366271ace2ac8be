/** How the guard over a change stands; another one takes its place when that changes. */
export interface GuardState {
  /**
   * `undecided`: too few calls to decide; `superseded`: another change came before its time was over; `failed`: the change
   * was worse and could not be rolled back.
   */
  readonly state: 'watching' | 'passed' | 'undecided' | 'superseded' | 'rolled-back' | 'failed';
  /** The revision that is watched over. */
  readonly revision: number;
  /** The attempt that asked for it. */
  readonly attempt: number;
  /** When its time is over, in ISO 8601. */
  readonly endsAt: string;
  /** Why it ended as it did; null while it watches, and when the change has passed. */
  readonly reason: string | null;
  /** The revision that was put in the place of the one rolled back; null when none was. */
  readonly rolledBackTo: number | null;
}
