/** A process that responds to nothing, until its parent ends it. */
process.on('message', () => {});
