import { type Schemas, send } from '../../api/client.ts';
import type { Base } from './base.ts';

/** Requests the correction of one error, or of all errors with a single correction. @throws ApiError. */
export async function requestFix({ format }: Base, text: string, pointer: string | null): Promise<string> {
  const response = await send('/v1/fix', {
    method: 'POST',
    query: { ...(pointer !== null && { pointer }) },
    headers: { 'Content-Type': `application/${format}` },
    body: text,
  });
  return ((await response.json()) as Schemas['Fixed']).text;
}
