import { readFileSync } from 'node:fs'

/** The service's version, as its package says. The file is at the same place above the source and the build. */
export const version: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version
