import { definePort, type PipeRequest, type Port, type Reply } from '#contract';

/** Changes a reply of a backend as the component does that offers it. May be called for a reply that nobody gets. */
export type ChangeReply = (reply: Reply, request: PipeRequest) => void;

/**
 * Who stands outside of a cache and changes the headers of replies offers here what it does: how long a reply may be kept is
 * read off the changed headers, while the reply is kept as it came and changed anew each time.
 */
export const changedReplies: Port<ChangeReply> = definePort('changed replies');
