import type { Level, Plugin } from '#contract';
import { mayHoldPipes } from '../../kernel/config/normalize/pipes.ts';
import { plugin as llm } from '../../plugins/ai/llm/index.ts';
import { plugin as discovery } from '../../plugins/discovery/static.ts';
import { plugin as eventstream } from '../../plugins/encoding/eventstream.ts';
import { plugin as json } from '../../plugins/encoding/json.ts';
import { plugin as sse } from '../../plugins/encoding/sse.ts';
import { plugin as streaming } from '../../plugins/encoding/streaming.ts';
import { plugin as proxy } from '../../plugins/proxy/index.ts';

/** Plugins that the pipelines in a plugin's configuration use; none for a plugin without pipelines. */
export function pipePlugins({ places = [] }: Plugin, level: Level): readonly Plugin[] {
  const holdsPipes = places.some(({ at, schema }) => at === level && mayHoldPipes(schema));
  return holdsPipes ? [discovery, json, proxy, llm, streaming, sse, eventstream] : [];
}
