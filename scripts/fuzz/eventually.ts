/** Maximum time to wait for a condition, in milliseconds. */
export const PATIENCE_MS = 5_000;

/** Waits until a condition holds. @throws Error with `message` on timeout. */
export async function eventually(
  holds: () => boolean,
  message: () => string,
  patienceMs: number = PATIENCE_MS,
): Promise<void> {
  const since = performance.now();
  while (!holds()) {
    if (performance.now() > since + patienceMs) throw new Error(message());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
