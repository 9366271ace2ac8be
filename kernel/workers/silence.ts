/** Time without a heartbeat after which the event loop of a worker counts as blocked, in milliseconds. */
const SILENT_MS = 10_000;
/**
 * Time to process heartbeats that are already queued, in milliseconds, because this process may have been blocked
 * itself.
 */
const UNREAD_MS = 2_000;

/** Detects that a worker has stopped responding. */
export class Silence {
  #timer: NodeJS.Timeout | undefined;

  /** Called at each heartbeat. @param onSilent called if no other heartbeat follows in time. */
  restart(onSilent: () => void): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(onSilent, UNREAD_MS);
      this.#timer.unref?.();
    }, SILENT_MS);
    this.#timer.unref?.();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
