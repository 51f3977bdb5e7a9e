import { readFileSync } from 'node:fs'

/** The build is in a folder of the project, the source two folders below it. */
const path = import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json'

/** The service's version, as its package says. */
export const version: string = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version
