import { useEffect, useState } from 'preact/hooks';
import { type ApiError, read, type Schemas } from './client.ts';

export type Endpoint = Schemas['Route'];

/** All endpoints of the serving configuration. */
export interface Endpoints {
  readonly list: readonly Endpoint[];
  readonly isComplete: boolean;
  readonly error: ApiError | null;
}

const none: Endpoints = { list: [], isComplete: false, error: null };

/** Size of a page, the largest that the API returns. */
const PAGE = 500;

/** Reads all endpoints page by page. @param revision the serving revision: another one reads them again. */
export function useEndpoints(revision: number | undefined): Endpoints {
  const [endpoints, setEndpoints] = useState(none);
  useEffect(() => {
    if (revision === undefined) return;
    const controller = new AbortController();
    const load = async (): Promise<void> => {
      let list: readonly Endpoint[] = [];
      let cursor: string | undefined;
      try {
        do {
          const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
          const page = await read('/v1/routes', { query, signal: controller.signal });
          list = [...list, ...page.routes];
          cursor = page.cursor ?? undefined;
        } while (cursor !== undefined);
        setEndpoints({ list, isComplete: true, error: null });
      } catch (error) {
        if (!controller.signal.aborted) setEndpoints((last) => ({ ...last, error: error as ApiError }));
      }
    };
    load();
    return () => controller.abort();
  }, [revision]);
  return endpoints;
}
