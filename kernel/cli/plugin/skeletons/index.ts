import type { Skeletons } from '#contract';
import { agentSkeletons } from './agent.ts';
import { httpSkeletons } from './http.ts';
import { upstreamSkeletons } from './upstream.ts';

export { namingOf } from './naming.ts';

/** Skeletons of native plugins. */
export const skeletons: Skeletons = { ...httpSkeletons, ...upstreamSkeletons, ...agentSkeletons };
