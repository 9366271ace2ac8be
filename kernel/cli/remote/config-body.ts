import { extname } from 'node:path';
import type { AdminRequest } from './client.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.toml': 'application/toml',
};

/** The text of a configuration file as the body of a call. */
export function configBody(file: string, text: string): Required<Pick<AdminRequest, 'headers' | 'body'>> {
  const type = mediaTypes[extname(file).toLowerCase()] ?? 'application/json';
  return { headers: { 'content-type': type }, body: text };
}
