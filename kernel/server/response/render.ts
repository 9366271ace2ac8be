import { type ClientRequest, type Log, Reply, toCallError } from '#contract';
import { PluginFailure } from '../../containment/plugin-fault.ts';
import type { Route } from '../../pipeline/compile/route.ts';
import {
  type RenderedReply,
  type Rendering,
  render,
  renderError,
  renderPlain,
} from '../../pipeline/response/render.ts';
import { renderUpgrade } from '../http1/upgrade.ts';

/**
 * Renders a reply; a reply that cannot be rendered becomes an error response. Never throws.
 * @param route the route that produced the reply; null for anything other than an endpoint.
 */
export function renderReply(
  reply: Reply,
  route: Route | null,
  request: ClientRequest,
  rendering: Rendering,
  log: Log,
): RenderedReply {
  try {
    if (reply.upgrade) return renderUpgrade(reply, reply.upgrade, request.upgrade, route, rendering);
    const rendered = route ? render(reply, route, request, rendering) : renderPlain(reply, rendering);
    if (reply.outcome !== null) return { ...rendered, raw: true, trailers: reply.trailers!, outcome: reply.outcome };
    return reply.trailers ? { ...rendered, trailers: reply.trailers } : rendered;
  } catch (error) {
    const failed = Reply.failed(toCallError(error));
    logErrors(failed, log, false);
    // Headers that stages have set are sent to the client even if the content cannot be rendered.
    reply.headers.filter((name) => !name.startsWith('content-'));
    failed.headers = reply.headers;
    return renderError(failed, rendering);
  }
}

/** Logs one ERROR line per failure, except those already logged; an internal fault with its stack. */
export function logErrors(reply: Reply, log: Log, several: boolean): void {
  for (const [index, error] of reply.errors.entries()) {
    const lead = several ? `Error #${index}: ` : '';
    const detail = error.code === 'GATEWAY_FAULT' && error.cause instanceof Error ? `\n${error.cause.stack}` : '';
    if (error.code === 'CALL_CANCELLED' || error instanceof PluginFailure) log.debug(`${lead}${error.message}`);
    else log.error(`${lead}${error.message}${detail}`);
  }
}
