/** Time without a sign of life after which a worker's event loop counts as blocked, in milliseconds. */
const SILENT_MS = 10_000;
/** Time to read signs that are queued here, in milliseconds: this process may have been the blocked one. */
const UNREAD_MS = 2_000;

/** Detects that a worker has stopped responding. */
export class Silence {
  #timer: NodeJS.Timeout | undefined;

  /** Called at each sign of life. @param onSilent called when no other sign follows. */
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
