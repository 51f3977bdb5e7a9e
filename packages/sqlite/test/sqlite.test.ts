import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { isSqliteError, loadSqlite, openSqliteFile } from '../src/sqlite.js'

const SCRIPT = 'packages/sqlite/test/collect-statements.mjs'
const FLAGS = ['--import', 'tsx', '--expose-gc', '--max-semi-space-size=1']

test('the garbage collector ends statements without ending the process', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, SCRIPT])
  expect(stdout).toMatch(/^\d+ statements were ended/)
})

test('an error of SQLite is one, with its code, and another error is none', () => {
  const database = openSqliteFile(':memory:')
  const failing = () => database.exec('select * from nothing')
  expect(failing).toThrow(loadSqlite().SqliteError)
  try {
    failing()
  } catch (error) {
    expect(isSqliteError(error) && error.code).toBe('SQLITE_ERROR')
  }
  database.close()
  expect(isSqliteError(new TypeError('The database connection is not open'))).toBe(false)
})
