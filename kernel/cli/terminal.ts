/** What a command prints on, and the variables it is called with. A process is one. */
export interface Terminal {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** Colours are for people who look: on a terminal, unless NO_COLOR is set. */
export function isColoured(stream: NodeJS.WritableStream, { env }: Terminal): boolean {
  return (stream as { isTTY?: boolean }).isTTY === true && !env.NO_COLOR;
}
