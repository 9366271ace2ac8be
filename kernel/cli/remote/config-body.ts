import { formatNameOf } from '../../config/index.ts';
import type { AdminRequest } from './client.ts';

/** The text of a configuration file as the body of a call. */
export function configBody(file: string, text: string): Required<Pick<AdminRequest, 'headers' | 'body'>> {
  return { headers: { 'content-type': `application/${formatNameOf(file) ?? 'json'}` }, body: text };
}
