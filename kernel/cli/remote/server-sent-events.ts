/** An event of a `text/event-stream`. */
export interface ServerSentEvent {
  /** Of this event, or the last one before it that had one; empty before the first. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/**
 * Reads a `text/event-stream`. An event that its end cuts off is none.
 * @param onRetry told how long to wait before the next connection, in milliseconds.
 */
export async function* readServerSentEvents(
  bytes: AsyncIterable<Uint8Array>,
  onRetry: (pauseMs: number) => void,
): AsyncGenerator<ServerSentEvent> {
  let id = '';
  let type = '';
  let data: string[] = [];
  const fields: Readonly<Record<string, (value: string) => void>> = {
    id: (value) => {
      id = value;
    },
    event: (value) => {
      type = value;
    },
    data: (value) => data.push(value),
    retry: (value) => {
      if (/^\d+$/.test(value)) onRetry(Number(value));
    },
  };
  for await (const line of linesOf(bytes)) {
    if (line !== '') {
      // A comment is a field without a name.
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (Object.hasOwn(fields, name)) fields[name]!(value);
      continue;
    }
    if (data.length > 0) yield { id, type: type || 'message', data: data.join('\n') };
    type = '';
    data = [];
  }
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
