/**
 * How long a test waits for what must come. It ends tests that hang, and says nothing of speed: a machine that is four times
 * slower, or has other work, is not late.
 */
export const HANG_MS = 150_000
/** For a whole test or a hook, so that what it waits for is reported first. */
export const TEST_HANG_MS = 240_000
