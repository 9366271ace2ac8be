import type { Format } from '#kernel';

/** How a configuration of a media type is written; undefined when it is none. */
export function formatOfType(mediaType: string): Format | undefined {
  return configTypes.includes(mediaType) ? (mediaType.slice('application/'.length) as Format) : undefined;
}

/** Media types of a configuration. */
export const configTypes: readonly string[] = ['application/json', 'application/yaml', 'application/toml'];
