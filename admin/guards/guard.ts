import type Koa from 'koa';
import type { AdminSettings } from '#contract';

/** Looks at a request before anything is done with it. Made once for every configuration. @throws Problem. */
export type Guard = (settings: AdminSettings) => (ctx: Koa.Context) => void;
