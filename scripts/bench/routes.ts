import { pathOf, template } from './many-endpoints.ts';

/** A number of endpoints that all respond alike, and which of them are requested. */
export interface Routes {
  readonly count: number;
  readonly asked: 'first' | 'last' | 'random' | 'none';
}

/** Number of endpoints of the gateway used as the reference for many endpoints. */
export const FEW = 10;

/** Number of paths requested at random. */
const SAMPLE = 1000;

/** The endpoints, and the paths to request in turn. */
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
