import { discard, HeaderBag, type PipeRequest, Reply, type Site, type Step, type Wrap } from '#contract';
import { requestKind, type ScriptedRequest } from './lua-request.ts';
import { responseKind } from './lua-response.ts';
import type { ScriptConfig } from './lua-schema.ts';
import { Script } from './lua-script.ts';

/** Settings of the endpoint or backend whose script runs. */
export interface Around {
  /** Whether the backend has been selected. */
  readonly isAddressed: boolean;
  /** Whether bodies are passed through undecoded. */
  readonly raw: boolean;
}

/** Wraps a call in a script: `pre`, the call or an empty response, `post`. */
export function around(site: Site<ScriptConfig>, { isAddressed, raw }: Around) {
  const script = new Script(site);
  const { skip_next: skips } = site.config;
  const wrap: Wrap<PipeRequest> = (next) => {
    const call: Step<PipeRequest> = skips ? () => emptyReply(raw) : next;
    return (request, context) => {
      let reply: Reply | null = null;
      const seen: ScriptedRequest = { request, path: isAddressed ? pathOf(request) : request.client.path, isAddressed };
      const run = script.newRun(context, {
        request: (L) => requestKind.push(L, seen),
        ...(script.hasPost && { response: (L) => reply && responseKind.push(L, { reply, raw }) }),
      });
      const finish = (settled: Reply): Reply | Promise<Reply> => {
        if (!script.hasPost || isRefusal(settled)) return settled;
        reply = settled;
        const ended = script.after(run);
        const conclude = (error: Awaited<typeof ended>): Reply => {
          if (!error) return settled;
          discard(settled.body);
          return Reply.failed(error);
        };
        return ended instanceof Promise ? ended.then(conclude) : conclude(ended);
      };
      const goOn = (error: Awaited<ReturnType<Script['before']>>): Reply | Promise<Reply> => {
        if (error) return Reply.failed(error);
        const answer = call(request, context);
        return answer instanceof Promise ? answer.then(finish) : finish(answer);
      };
      const ended = script.before(run);
      return ended instanceof Promise ? ended.then(goOn) : goOn(ended);
    };
  };
  return {
    wrap,
    traits: {
      ...(script.hasPost && { readsData: 'optional' as const }),
      ...(skips && { terminal: true as const }),
      offers: script.offers,
    },
  };
}

function emptyReply(raw: boolean): Reply {
  return raw ? Reply.raw(200, new HeaderBag(), new Uint8Array()) : Reply.data({}, false);
}

function pathOf({ target }: PipeRequest): string {
  return target.split('?', 1)[0]!;
}

/** Returns whether a script has no response to read. */
function isRefusal(reply: Reply): boolean {
  return reply.failed || reply.skipped || (reply.complete === null && reply.data === null && reply.body === null);
}
