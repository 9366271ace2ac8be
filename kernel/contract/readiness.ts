/** Whether this process should receive requests. */
export interface Readiness {
  /** True while the process finishes its requests and accepts no others, because it is being drained or stopped. */
  readonly isDraining: boolean;
}
