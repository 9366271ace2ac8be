import { equal } from 'node:assert/strict';
import { Call } from '#contract';
import { CachedTools } from '../../../../plugins/ai/mcp/remote/cached-tools.ts';
import type { ToolList } from '../../../../plugins/ai/mcp/remote/read-tools.ts';

describe('the tool list of an upstream MCP server', () => {
  const list: ToolList = { tools: new Map(), bytes: 0, isCut: false };
  let now: number;
  let cached: CachedTools;

  beforeEach(() => {
    now = 0;
    cached = new CachedTools({ now: () => now }, 60_000, () => {});
  });

  it('is read again for a call whose configuration serves, if the configuration that has read it does not serve anymore', async () => {
    let retire = () => {};
    const first = cached.get(
      new Call(),
      () =>
        new Promise((resolve) => {
          retire = () => {
            cached.expire();
            resolve(null);
          };
        }),
    );
    const second = cached.get(new Call(), async () => list);
    retire();
    equal(await first, null);
    equal(await second, list);
    equal(await cached.get(new Call(), async () => null), list);
  });

  it('is not requested again for 10 seconds while the server is unavailable', async () => {
    let requests = 0;
    const read = async () => (++requests > 1 ? list : null);
    equal(await cached.get(new Call(), read), null);
    now = 9_999;
    equal(await cached.get(new Call(), read), null);
    now = 10_000;
    equal(await cached.get(new Call(), read), list);
    equal(requests, 2);
  });
});
