import { useCallback, useEffect, useState } from 'preact/hooks';
import { type ApiError, type Body, type ReadablePath, read, type SendOptions } from './client.ts';

/** State of a path that a view reads. */
export interface Reading<Path extends ReadablePath> {
  /** The last body; null before the first response. */
  readonly body: Body<Path> | null;
  /** The error of the last attempt; null if it succeeded. */
  readonly error: ApiError | null;
  /** Reads the path again. */
  again(): void;
}

/**
 * Reads a path when a view opens, and again at an interval while the page is visible.
 * @param everyMs interval; 0 to read once.
 */
export function useRead<Path extends ReadablePath>(
  path: Path,
  query: NonNullable<SendOptions['query']> = {},
  everyMs = 0,
): Reading<Path> {
  const [body, setBody] = useState<Body<Path> | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(query);
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      try {
        if (!document.hidden) {
          const next = await read(path, { query: JSON.parse(key), signal: controller.signal });
          if (controller.signal.aborted) return;
          setBody(next);
          setError(null);
        }
      } catch (failure) {
        if (controller.signal.aborted) return;
        setError(failure as ApiError);
      }
      if (everyMs > 0) timer = setTimeout(load, everyMs);
    };
    load();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [path, key, everyMs, turn]);
  const again = useCallback(() => setTurn((last) => last + 1), []);
  return { body, error, again };
}
