import { deepEqual, equal } from 'node:assert/strict';
import type { AtBackend, AtEndpoint, Plugin } from '#contract';
import { type Stage, stagesAround, stagesOfBackend } from '../../../kernel/pipeline/steps/stages.ts';

const item = <A>(name: string, at: A) => ({ plugin: { name } as Plugin, at });
const shown = (stages: readonly Stage[]): string[] => stages.map(({ as, namespace }) => `${as} ${namespace}`);

/** Any set of hooks. */
const section = {} as never;

describe('the stages of an endpoint, in order', () => {
  const attached = [
    item<AtEndpoint>('a', { payload: section, message: section, shape: section, combine: section }),
    item<AtEndpoint>('b', { shape: section, combine: section, message: section }),
    item<AtEndpoint>('c', { payload: section }),
  ];
  const endpoint = [item<AtEndpoint>('e', {})];
  const proxy = [item<AtEndpoint>('p', {})];
  const gathering = [
    ...attached,
    item<AtEndpoint>('g', { gather: section }),
    item<AtEndpoint>('h', { gather: section }),
  ];

  it('begin with stages for the request, followed by hooks around the endpoint and the proxy', () => {
    deepEqual(shown(stagesAround(endpoint, proxy, attached, false, false)), [
      'payload a',
      'payload c',
      'endpoint e',
      'proxy p',
    ]);
  });

  it('end with the first declared shape function and combiner if responses are merged', () => {
    deepEqual(shown(stagesAround([], [], attached, true, false)).slice(2), ['shape a', 'combine a']);
  });

  it('end with a gather stage instead of a combiner if a component declares one', () => {
    deepEqual(shown(stagesAround([], [], gathering, true, false)).slice(2), ['shape a', 'gather g']);
  });

  it('include message hooks if a component has declared any', () => {
    deepEqual(shown(stagesAround([], proxy, attached, false, true)).slice(2), ['proxy p', 'message a', 'message b']);
  });
});

describe('the stages of a backend', () => {
  const attached = [
    item<AtBackend>('a', { shadow: section, message: section, shape: section }),
    item<AtBackend>('b', { shape: section }),
  ];
  const stagesOf = (reads: boolean, looks: boolean) =>
    stagesOfBackend([item('w', {})], [item('t', {})], attached, 'http', reads, looks);

  it('end with the protocol', () => {
    deepEqual(shown(stagesOf(false, false)), ['shadow a', 'backend w', 'transport t', 'protocol http']);
  });

  it('include the first declared shape function if responses are decoded', () => {
    deepEqual(shown(stagesOf(true, false)), ['shadow a', 'backend w', 'shape a', 'transport t', 'protocol http']);
  });

  it('include message hooks and the shape function if messages are streamed', () => {
    deepEqual(shown(stagesOf(false, true)), [
      'shadow a',
      'backend w',
      'message a',
      'shape a',
      'transport t',
      'protocol http',
    ]);
  });

  it('are the same function objects for equal backends', () => {
    const [one, other] = [stagesOf(true, true), stagesOf(true, true)];
    for (const [at, stage] of one.entries()) equal(other[at], stage);
    equal(Object.isFrozen(one[0]), true);
  });
});
