/** Whether this process should be sent requests. */
export interface Readiness {
  /** True while it finishes its requests and wants no others: an operator drains it, or it is ending. */
  readonly isDraining: boolean;
}
