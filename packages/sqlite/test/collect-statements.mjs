/**
 * Lets the garbage collector end prepared statements, in the callbacks of promises and outside of them. Between two callbacks no context
 * of JavaScript is entered, where better-sqlite3 12 aborts Node 24.19 to 24.21.
 *
 *   node --import tsx --expose-gc --max-semi-space-size=1 packages/sqlite/test/collect-statements.mjs [seconds [module]]
 *
 * The module is one with `openSqliteFile`, such as `dist/packages/sqlite/src/sqlite.js` of the kit that is installed. Without seconds,
 * some hundred thousand statements are ended.
 */
import { resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const [, , seconds, module = 'packages/sqlite/src/sqlite.ts'] = process.argv
const { openSqliteFile } = await import(pathToFileURL(resolve(module)))
const database = openSqliteFile(':memory:')
const LEAST_STATEMENTS = 300_000
const endsAt = performance.now() + Number(seconds ?? 0) * 1000
let statements = 0

async function pass(value) {
  await undefined
  return value
}

async function prepareAndForget() {
  for (let index = 0; index < 200; index++) {
    const statement = database.prepare('select 1')
    statement.get()
    statements++
    for (let round = 0; round < 3; round++) await pass(statement)
  }
}

while (statements < LEAST_STATEMENTS || performance.now() < endsAt) {
  await Promise.all(Array.from({ length: 50 }, prepareAndForget))
  await turn()
  globalThis.gc()
}
console.log(`${statements} statements were ended on Node ${process.versions.node}`)
