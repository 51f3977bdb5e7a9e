import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openOperatorFile } from '../../../src/store/operator/operator-file.js'
import { takeFileLock } from '../../../src/store/sqlite/file-lock.js'
import { openSqlite } from '../../../src/store/sqlite/sqlite.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

function take(path: string) {
  const lock = takeFileLock(path)
  onTestFinished(lock.release)
  return lock
}

test('the second service on a file does not get the lock', () => {
  const path = temporaryFile()
  take(path)
  expect(() => take(path)).toThrow(
    `DB_PATH is ${path}, which another service uses: stop that service, or name another file`,
  )
})

test('the lock can be taken again after its release', () => {
  const path = temporaryFile()
  take(path).release()
  take(path).release()
  take(path)
  expect(() => take(path)).toThrow('another service')
})

test.each([true, false])('a symbolic link has the lock of its file (exists: %s)', async (exists) => {
  const path = temporaryFile()
  if (exists) await (await openSqlite(path)).destroy()
  const link = `${path}-link`
  symlinkSync(path, link)
  take(link)
  expect(() => take(path)).toThrow('another service')
})

test('the lock does not exclude other programs from the database', async () => {
  const path = temporaryFile()
  await (await openSqlite(path)).destroy()
  take(path)
  const {
    lists: { blocked: blockedSolvers },
    close,
  } = openOperatorFile(path)
  await blockedSolvers.add({ address: '0x01', chainId: 1, listedAt: NOW })
  expect(await blockedSolvers.readAll()).toHaveLength(1)
  await close()
})

test(':memory: has no lock', () => {
  take(':memory:')
  take(':memory:')
  expect(existsSync(':memory:-lock')).toBe(false)
})

test('a file that is not a lock is named, with the remedy', () => {
  const path = temporaryFile()
  writeFileSync(`${path}-lock`, 'no database'.repeat(100))
  expect(() => take(path)).toThrow(
    `DB_PATH needs the file ${path}-lock, which cannot be used: delete it while no service uses it (file is not a database)`,
  )
})

test.each([
  ['missing/service.db', 'its folder does not exist: create it'],
  ['', 'it is a folder: name a file in it'],
])('a path that cannot be a file is named: %o', (name, reason) => {
  const path = join(dirname(temporaryFile()), name)
  expect(() => take(path)).toThrow(`DB_PATH is ${path}, which cannot be opened: ${reason}`)
})
