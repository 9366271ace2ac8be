import { linkTo } from '../../route.ts';

/** An endpoint or backend, at its place in the configuration. */
interface Place {
  readonly pointer: string;
  readonly line?: number;
}

/**
 * Address of the configuration of a component at an endpoint or backend.
 * @param namespace of the component; null for the place itself.
 */
export function linkToComponent({ pointer, line }: Place, namespace: string | null): string {
  const at = namespace === null ? '' : `/extra_config/${namespace.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return linkTo('configuration', { pointer: pointer + at, ...(line !== undefined && { line: String(line) }) });
}
