/** Holds what serves now. The swap is one assignment: a request takes `current` once and keeps it to its end. */
export interface Cell<T> {
  current: T;
}
