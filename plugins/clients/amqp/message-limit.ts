import type { Channel, Message } from 'amqplib';

/** Longest message that is read, in bytes. Only the properties of a longer one are kept. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** A frame as the library passes it to a channel. */
interface Frame {
  /** Id of a method or of message properties; undefined for content. */
  readonly id?: number;
  /** Size of the content that follows the properties. */
  readonly size?: number;
  readonly fields?: object;
  readonly content?: Uint8Array;
}

const size = Symbol('size');

/** Length in bytes of a message that was too long to read; undefined for any other. */
export function tooLong({ properties }: Message): number | undefined {
  return (properties as { [size]?: number })[size];
}

/**
 * Makes messages that are too long arrive without content; the library would buffer content of any length. The function
 * that accepts the frames of a channel is missing from the library's types.
 */
export function limitMessages(channel: Channel, maxBytes = MAX_MESSAGE_BYTES): void {
  const frames = channel as unknown as { accept(frame: Frame): void };
  const accept = frames.accept;
  let skipped = 0;
  // The library replaces this function with another one when the channel ends.
  frames.accept = function limited(frame) {
    if (frame.content && skipped > 0) {
      skipped -= frame.content.length;
      return;
    }
    if (frame.size === undefined || frame.size <= maxBytes) return accept.call(channel, frame);
    skipped = frame.size;
    accept.call(channel, { ...frame, size: 0, fields: { ...frame.fields, [size]: frame.size } });
  };
}
