import { readFileSync } from 'node:fs'

/** The service's version, as its package says. The file is at the same place above the source and the build. */
export const version: string = readPackage().version

function readPackage(): { version: string } {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
    } catch {
      // Built files lie one folder deeper than the sources.
    }
  }
  throw new Error('package.json is not where it belongs')
}
