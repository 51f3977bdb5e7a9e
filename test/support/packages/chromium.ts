/** Debian's Chromium, or the one that TEST_CHROMIUM names. Tests in a browser are skipped without it. */
export const CHROMIUM = process.env.TEST_CHROMIUM || '/usr/bin/chromium'
