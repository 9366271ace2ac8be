import {
  atBackend,
  atEndpoint,
  atService,
  type ClientRequest,
  definePlugin,
  type EndpointSite,
  httpSigners,
  meters,
  offer,
  type PipeRequest,
  type Wrap,
} from '#contract';
import { openGuards } from './custom-guards.ts';
import { customGuards } from './guard.ts';
import { inspecting } from './inspection.ts';
import { type Selection, selectionSchema, serviceSchema } from './schema.ts';
import { select } from './selection.ts';

/**
 * Blocks requests whose body a guard rejects, with 403. The root declares guards; endpoints and backends select them,
 * in addition to the default guards.
 *
 * Configuration faults: `PROMPT_GUARD_NAME`, `PROMPT_GUARD_FIELD`, `PROMPT_GUARD_UNKNOWN`, `PATTERN_INVALID`,
 * `AI_SERVER_ADDRESS` and those of expressions; warnings `PROMPT_GUARD_NONE`, `AI_SERVER_INSECURE`. Errors of a call:
 * `PROMPT_BLOCKED`, `PROMPT_GUARD_LIMIT`, `PROMPT_GUARD_UNREADABLE`.
 */
export const plugin = definePlugin({
  name: 'ai/prompt-guard',
  description: 'Blocks requests whose body contains a prompt injection, or violates guards of your own.',
  leaves: ['requests', 'data'],
  offers: [customGuards],
  takes: [customGuards, httpSigners, meters],
  independent: true,
  places: [
    atService(serviceSchema, (site) => ({ offers: [offer(customGuards, openGuards(site, site.config.guards))] })),
    atEndpoint(selectionSchema, (site) => ({ endpoint: wrapOf<ClientRequest>(site), payload: { inflate: true } })),
    atBackend(selectionSchema, (site) => ({ backend: wrapOf<PipeRequest>(site) })),
  ],
});

function wrapOf<R extends ClientRequest | PipeRequest>(site: EndpointSite<Selection>): Wrap<R> {
  const selected = select(site, site.take(customGuards) ?? new Map());
  return inspecting(site, selected) as unknown as Wrap<R>;
}
