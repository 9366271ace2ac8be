import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayOptions, Operations } from '../../../../kernel/index.ts';
import { until } from '../../../support/conditions.ts';
import { type Answering, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

interface Pair {
  readonly name: string;
  readonly value: string;
}

interface Body {
  readonly mimeType: string;
  readonly text?: string;
  readonly encoding?: string;
}

/** An entry of a recording. */
export interface Entry {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly Pair[];
    readonly queryString: readonly Pair[];
    readonly postData?: Body;
  };
  readonly response: { readonly status: number; readonly headers: readonly Pair[]; readonly content: Body };
  readonly _sluice: {
    readonly id: string;
    readonly endpoint: string | null;
    readonly backend?: number;
    readonly omitted?: { readonly request?: string; readonly response?: string };
    readonly omitted_calls?: number;
  };
}

/** A gateway that records every request to a folder. */
export class RecordingStage {
  readonly folder = join(mkdtempSync(join(tmpdir(), 'recorder-')), 'traffic');
  backend!: TestBackend;
  gateway!: Operations;

  async start(answer: Answering, config: object = {}, root: object = {}, options: GatewayOptions = {}): Promise<void> {
    this.backend = await startBackend(answer);
    this.gateway = await startGateway(this.config(config, root), options);
  }

  config(config: object = {}, root: object = {}): object {
    const at = (url_pattern: string, more: object = {}) => ({ host: [this.backend.url], url_pattern, ...more });
    const { extra_config, ...rest } = root as { extra_config?: object };
    return {
      version: 3,
      endpoints: [
        { endpoint: '/users/{id}', input_query_strings: ['*'], backend: [at('/v1/users/{id}'), at('/v1/orders')] },
        { endpoint: '/users', method: 'POST', input_headers: ['*'], backend: [at('/v1/users')] },
        {
          endpoint: '/files',
          input_headers: ['Accept-Encoding'],
          output_encoding: 'no-op',
          backend: [at('/files', { encoding: 'no-op' })],
        },
      ],
      ...rest,
      extra_config: {
        'telemetry/recorder': { sample_rate: 1, folder: { path: this.folder }, ...config },
        ...extra_config,
      },
    };
  }

  /** Paths of the files, oldest first. */
  files(): string[] {
    try {
      const names = readdirSync(this.folder).filter((name) => name.endsWith('.har'));
      return names.sort().map((name) => join(this.folder, name));
    } catch {
      return [];
    }
  }

  /** Entries of the latest file, once this many have been written. */
  async recorded(count = 1): Promise<Entry[]> {
    await until(() => this.files().length >= count);
    return this.entriesOf(this.files().at(-1)!);
  }

  entriesOf(file: string): Entry[] {
    return (JSON.parse(readFileSync(file, 'utf8')) as { log: { entries: Entry[] } }).log.entries;
  }

  async close(): Promise<void> {
    await this.gateway?.close();
    await this.backend?.close();
    rmSync(join(this.folder, '..'), { recursive: true, force: true });
  }
}
