import { ok } from 'node:assert/strict';
import { startBackend, startGateway } from '../../../support/gateway.ts';

const REQUESTS = 1500;
const CONCURRENCY = 20;

/** Whether the request with this number fails: 30 % of them, in an order that is independent of the attempts. */
const fails = (number: number): boolean => (Math.imul(number, 2_654_435_761) >>> 0) / 2 ** 32 < 0.3;

describe('backend/retry with a backend that fails 30 % of the time', function () {
  this.timeout(60_000);

  /** Sends requests to a gateway in front of it. @returns the shares of successes, and of calls per request. */
  async function run(
    retry: object | null,
  ): Promise<{ success: number; load: number; medianMs: number; p99Ms: number }> {
    let calls = 0;
    const backend = await startBackend((_seen, response) => response.writeHead(fails(calls++) ? 503 : 200).end('{}'));
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [
        { endpoint: '/a', backend: [{ url_pattern: '/', extra_config: retry ? { 'backend/retry': retry } : {} }] },
      ],
    });
    const times: number[] = [];
    let succeeded = 0;
    let sent = 0;
    const client = async () => {
      while (sent++ < REQUESTS) {
        const since = performance.now();
        if ((await gateway.inject('/a')).statusCode === 200) succeeded++;
        times.push(performance.now() - since);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, client));
    await gateway.close();
    await backend.close();
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor(share * times.length)]!;
    return { success: succeeded / REQUESTS, load: calls / REQUESTS, medianMs: at(0.5), p99Ms: at(0.99) };
  }

  it('answers nearly all requests, and sends few additional ones', async () => {
    const plain = await run(null);
    const retried = await run({ attempts: 4, budget: { percent: 100 } });
    const budgeted = await run({ attempts: 4 });
    if (process.env['SLUICE_TEST_FIGURES']) console.log({ plain, retried, budgeted });
    ok(plain.success > 0.65 && plain.success < 0.75, `${plain.success}`);
    ok(retried.success > 0.98, `${retried.success}`);
    // Without a budget, a request takes 1 + 0.3 + 0.09 + 0.027 attempts on average.
    ok(retried.load > 1.35 && retried.load < 1.5, `${retried.load}`);
    // The budget allows a fifth of the requests in progress, and at least three, to be retries.
    ok(budgeted.success > plain.success + 0.01, `${budgeted.success}`);
    ok(budgeted.load <= retried.load + 0.02, `${budgeted.load}`);
  });
});
