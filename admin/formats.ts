import { extname } from 'node:path';
import type { Format } from '#kernel';

const byExtension: Readonly<Record<string, Format>> = {
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.toml': 'toml',
};

/** How the configuration in a file is written, by the file's extension; undefined when it tells nothing. */
export function formatOfFile(path: string): Format | undefined {
  return byExtension[extname(path).toLowerCase()];
}

/** How a configuration of a media type is written; undefined when it is none. */
export function formatOfType(mediaType: string): Format | undefined {
  return configTypes.includes(mediaType) ? (mediaType.slice('application/'.length) as Format) : undefined;
}

/** Media types of a configuration. */
export const configTypes: readonly string[] = ['application/json', 'application/yaml', 'application/toml'];
