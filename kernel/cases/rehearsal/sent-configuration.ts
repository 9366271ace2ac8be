import type { Format, Snapshot } from '../../control/snapshot.ts';

/** A configuration as sent to another process. */
export interface SentConfiguration {
  readonly text: string;
  readonly format: Format;
}

/** A configuration as another process opens it. */
export function sent({ text, format }: Snapshot): SentConfiguration {
  return { text, format };
}
