import type { PluginRecord, PluginView } from '#kernel';
import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { flag, jsonResponse, listOf, objectOf, oneOf, orNull, placeSchema, text, whole } from '../schemas.ts';
import { servedNow } from '../served.ts';

const fault = objectOf('PluginFault', {
  hook: text,
  count: whole,
  endpoint: text,
  message: text,
  place: orNull(text),
  at: text,
});

const suspension = objectOf('PluginSuspension', { since: text, message: text });

const hookTime = objectOf('PluginHook', {
  hook: text,
  busyMs: {
    ...whole,
    description:
      'Time in the synchronous code of the hook in all processes since the gateway started, in milliseconds, without code after an await. Estimated by checking every 10 ms which hook is running.',
  },
});

const blocking = objectOf('PluginBlocking', { count: whole, longestMs: whole });

const plugin = objectOf('Plugin', {
  name: text,
  description: text,
  kind: oneOf(['core', 'file']),
  version: text,
  file: orNull(text),
  hash: orNull(text),
  isolated: { ...flag, description: 'True for modules that run in a thread of their own.' },
  namespaces: listOf(text),
  places: listOf(placeSchema),
  instances: whole,
  calls: whole,
  errors: whole,
  faults: listOf(fault),
  suspended: orNull(suspension),
  hooks: listOf(hookTime),
  blocking,
});

export const plugins: Operation = {
  method: 'GET',
  path: '/v1/plugins',
  scope: 'read',
  summary: 'List the plugins, the places in which each one is used, and the traffic of the endpoints that use it.',
  responses: { 200: jsonResponse('By name.', objectOf('Plugins', { plugins: listOf(plugin) })) },
  async handle(ctx, { gateway }) {
    const { served, positionOf: find } = servedNow(gateway);
    const alive = gateway.processes.held.length;
    const views = await gateway.components.list(served, alive, find);
    const { records } = gateway.containment;
    ctx.body = { plugins: views.map((view) => ({ ...view, ...problemOf(view, records) })) };
  },
};

/** Faults and times of a plugin in its currently loaded version. */
function problemOf({ name, hash }: PluginView, records: readonly PluginRecord[]): object {
  const record = records.find((one) => one.name === name && one.hash === hash);
  const faults = (record?.faults ?? []).map(({ at, ...rest }) => ({ ...rest, at: new Date(at).toISOString() }));
  const { count, longestMs } = record?.blocking ?? { count: 0, longestMs: 0 };
  const { since, message } = record?.suspension ?? {};
  const suspended = since === undefined ? null : { since: new Date(since).toISOString(), message };
  return { faults, suspended, hooks: record?.hooks ?? [], blocking: { count, longestMs } };
}

/** Lifts the suspension of a plugin in every worker. */
export const liftSuspension: Operation = {
  method: 'DELETE',
  path: '/v1/plugins/*name/suspension',
  scope: 'ops',
  summary: 'Lift the suspension of a plugin.',
  parameters: [
    {
      name: 'name',
      in: 'path',
      description: 'Plugin name. Slashes may be plain or encoded as %2F.',
      schema: text,
      required: true,
    },
  ],
  responses: { 204: { description: 'The suspension is lifted.' } },
  problems: ['not-found'],
  handle(ctx, { gateway }) {
    const { name } = ctx['params'] as { readonly name: string };
    if (!gateway.containment.lift(name)) throw new Problem('not-found', `no plugin named ${name} is suspended`);
    ctx.status = 204;
  },
};

/** Clears the named caches of the serving configuration's components in every worker. */
export const emptyCache: Operation = {
  method: 'DELETE',
  path: '/v1/caches/:name',
  scope: 'ops',
  summary: 'Empty a cache.',
  parameters: [
    { name: 'name', in: 'path', description: 'Cache name, for example http.', schema: text, required: true },
  ],
  responses: { 204: { description: 'The cache is empty.' } },
  problems: ['not-found'],
  handle(ctx, { gateway }) {
    const { name } = ctx['params'] as { readonly name: string };
    if (gateway.emptyCache(name)) {
      ctx.status = 204;
      return;
    }
    const known =
      gateway.caches.length > 0 ? `known caches are ${gateway.caches.join(', ')}` : 'no component has a cache';
    throw new Problem('not-found', `unknown cache ${name}: ${known}`);
  },
};
