/**
 * Plays the conformance tests of the Connect project for servers into this server, and prints a table.
 *
 *   npm run conformance -- <folder>    the folder of the project's YAML files, or CONFORMANCE_DATA names it
 */
import { existsSync } from 'node:fs'
import { readExceptions } from './exceptions.js'
import { runConformance } from './run.js'
import { CODECS, PROTOCOLS } from './schema.js'
import { readSuites } from './suites.js'
import { countBy, printTable } from './table.js'

const folder = process.argv[2] ?? process.env.CONFORMANCE_DATA ?? ''
if (folder === '' || !existsSync(folder)) {
  console.log(
    "Skipped: name the folder of the Connect project's test data, as in npm run conformance -- <folder>.",
  )
} else {
  const { results, surprises } = await runConformance(readSuites(folder), readExceptions())
  printTable(
    results,
    ({ testCase }) => `${PROTOCOLS[testCase.protocol]} HTTP/${testCase.http} ${CODECS[testCase.codec]}`,
  )
  const reasons = countBy(results, ({ outcome }) => {
    if (outcome.kind === 'not applicable') return `not applicable: ${outcome.reason}`
    return outcome.kind === 'failed' && outcome.listed !== undefined ? `fails: ${outcome.listed}` : undefined
  })
  for (const [reason, count] of reasons) console.log(`${String(count).padStart(5)} ${reason}`)
  for (const surprise of surprises) console.error(surprise)
  if (results.length === 0) console.error(`${folder} has no case for servers.`)
  process.exitCode = surprises.length === 0 && results.length > 0 ? 0 : 1
}
