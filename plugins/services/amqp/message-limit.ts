import type { Channel, Message } from 'amqplib';

/** Longest message that is read, in bytes. Of one that is longer nothing is kept but its properties. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** A frame as the library hands it to a channel. */
interface Frame {
  /** Of a method or of the properties of a message; undefined for content. */
  readonly id?: number;
  /** Of the content that follows the properties. */
  readonly size?: number;
  readonly fields?: object;
  readonly content?: Uint8Array;
}

const size = Symbol('size');

/** The length in bytes of a message that was too long to be read; undefined for any other. */
export function tooLong({ properties }: Message): number | undefined {
  return (properties as { [size]?: number })[size];
}

/**
 * Has messages that are too long arrive without their content, which the library would collect whatever its length. The
 * function that takes the frames of a channel is not in the library's types.
 */
export function limitMessages(channel: Channel, maxBytes = MAX_MESSAGE_BYTES): void {
  const frames = channel as unknown as { accept(frame: Frame): void };
  const accept = frames.accept;
  let skipped = 0;
  // The library puts another function here when the channel ends.
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
