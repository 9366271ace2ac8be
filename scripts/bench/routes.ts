import { pathOf, template } from './many-endpoints.ts';

/** So many endpoints that all answer alike, and which of them are asked for. */
export interface Routes {
  readonly count: number;
  readonly asked: 'first' | 'last' | 'random' | 'none';
}

/** Endpoints of the gateway that one with many is compared with. */
export const FEW = 10;

/** Paths that are asked for at random. */
const SAMPLE = 1000;

/** The endpoints, and the paths that are asked for in turn. */
export function routed({ count, asked }: Routes): { readonly endpoints: object[]; readonly paths: string[] } {
  const endpoints = Array.from({ length: count }, (_, index) => ({
    endpoint: template(index),
    backend: [{ url_pattern: '/small' }],
  }));
  return { endpoints, paths: choose[asked](count) };
}

const choose: Readonly<Record<Routes['asked'], (count: number) => string[]>> = {
  first: () => [pathOf(0)],
  last: (count) => [pathOf(count - 1)],
  random: (count) => Array.from({ length: SAMPLE }, () => pathOf(Math.floor(Math.random() * count))),
  none: (count) => [`/v1/area-1/list-${count}`],
};
