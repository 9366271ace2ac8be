import { BackendError, type Call, type Log, type PipeRequest, Reply, type Step } from '#contract';
import { silentLog } from '../../../../kernel/contract/internal.ts';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/circuit-breaker/index.ts';

export const config = { interval: 60, timeout: 1, max_errors: 2 };

export const good = () => Reply.data({ ok: true });
export const bad = () =>
  Reply.failed(new BackendError('BACKEND_STATUS', 'invalid status code', { upstreamStatus: 500 }));
export const down = () => Reply.failed(new BackendError('BACKEND_CONNECT', 'connection refused'));

function fakeClock() {
  const clock = { time: 7_000_000, now: () => clock.time };
  return clock;
}

/** A backend that responds with `answer` and counts its calls. */
function backend(respond: Step<PipeRequest> = bad) {
  const made = {
    answer: respond,
    calls: 0,
    step: (request: PipeRequest, call: Call) => {
      made.calls++;
      return made.answer(request, call);
    },
  };
  return made;
}

export async function breaker(settings: object = {}, respond?: Step<PipeRequest>, log: Log = silentLog) {
  const clock = fakeClock();
  const behind = backend(respond);
  const gate = await openHarness(
    plugin,
    'backend',
    { ...config, ...settings },
    { services: { clock, log }, next: behind.step },
  );
  const send = async (times = 1) => {
    const texts: string[] = [];
    for (; times > 0; times--) texts.push(textOf(await gate.send('GET /')));
    return texts;
  };
  return { clock, behind, gate, send };
}

const textOf = (reply: Reply) => reply.errors[0]?.message ?? String(reply.status);
