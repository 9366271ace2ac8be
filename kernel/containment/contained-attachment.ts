import {
  type AtBackend,
  type AtEndpoint,
  type AtService,
  type DataObject,
  isObject,
  type MessageHook,
  mergeShallow,
} from '#contract';
import { containedCall } from './contained-call.ts';
import { containedMiddleware } from './contained-middleware.ts';
import { containedWrap } from './contained-step.ts';
import type { PlaceGuards } from './place-guards.ts';
import { leaving, refusing } from './refusing-step.ts';

type Attachment = AtService & AtEndpoint & AtBackend;

/**
 * Functions that contain the faults of each kind of hook that a plugin can return. Members of an attachment that are
 * not listed here are passed through unchanged.
 */
const containers: { readonly [K in keyof Attachment]?: Container<NonNullable<Attachment[K]>> } = {
  request: (wrap, guards) => containedWrap(wrap, guards.of('request')),
  endpoint: (wrap, guards) => containedWrap(wrap, guards.of('endpoint')),
  proxy: (wrap, guards) => containedWrap(wrap, guards.of('proxy')),
  attempts: (wrap, guards) => containedWrap(wrap, guards.of('attempts')),
  backend: (wrap, guards) => containedWrap(wrap, guards.of('backend')),
  transport: (wrap, guards) => containedWrap(wrap, guards.of('transport')),
  middleware: (layer, guards) => containedMiddleware(layer, guards.of('middleware')),
  head: (hook, guards) => containedCall(hook, guards.of('head'), { instead: () => {} }),
  finished: (hook, guards) => containedCall(hook, guards.of('finished'), { instead: () => {} }),
  routes: (routes, guards) => {
    const guard = guards.of('routes');
    return routes.map((route) => ({ ...route, handle: refusing(route.handle, guard) }));
  },
  gather: (gather, guards) => {
    const guard = guards.of('gather');
    return { ...gather, over: (steps) => refusing(gather.over(steps.map((step) => leaving(step, guard))), guard) };
  },
  protocol: (protocol, guards) => {
    const call = (...args: Parameters<typeof protocol.call>) => protocol.call(...args);
    return { ...protocol, call: refusing(call, guards.of('protocol')) };
  },
  combine: (combine, guards) => {
    const guard = guards.of('combine');
    return containedCall(combine, guard, { ...objects, instead: guard.skips ? mergeShallow : null });
  },
  shape: (shape, guards) => {
    const guard = guards.of('shape');
    return containedCall(shape, guard, { ...objects, instead: guard.skips ? (data: DataObject) => data : null });
  },
  state: (read, guards) =>
    containedCall(read, guards.of('state'), {
      wanted: 'an object or null',
      isSound: (value) => value === null || isObject(value),
      instead: () => null,
    }),
  message: (hook, guards) => {
    const guard = guards.of('message');
    const instead: MessageHook | null = guard.skips ? (data) => data : null;
    return containedCall(hook, guard, {
      wanted: 'data or null',
      isSound: (value) => value === null || isObject(value),
      instead,
    });
  },
};

type Container<Hook> = (hook: Hook, guards: PlaceGuards) => Hook;

const objects = { wanted: 'an object', isSound: isObject } as const;

/** Wraps the hooks that a plugin attaches, so that their faults are contained. @throws TypeError for an invalid hook. */
export function containedAttachment<A extends object>(attached: A, guards: PlaceGuards): A {
  if (attached instanceof Promise) {
    attached.catch(() => {});
    throw new TypeError('attach returned a promise: use site.warm for asynchronous work');
  }
  if (!isObject(attached)) throw new TypeError('attach must return an object of hooks');
  const given = attached as Readonly<Record<string, unknown>>;
  const contained: Record<string, unknown> = { ...given };
  for (const [name, container] of Object.entries(containers)) {
    const hook = given[name];
    if (hook === undefined) continue;
    if (typeof hook !== 'function' && !(isObject(hook) || Array.isArray(hook))) {
      throw new TypeError(`attach returned ${typeof hook} as "${name}"`);
    }
    contained[name] = (container as Container<unknown>)(hook, guards);
  }
  return contained as A;
}
