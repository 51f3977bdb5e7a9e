import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

test('a link to a file has the lock of that file', async () => {
  const path = temporaryFile()
  await (await openSqlite(path)).destroy()
  const link = join(temporaryFile(), '..', 'link.db')
  symlinkSync(path, link)
  take(path)
  expect(() => take(link)).toThrow('another service')
})

test('a symbolic link has the lock of its file also before that file exists', () => {
  const path = temporaryFile()
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

test('a folder that does not exist is named', () => {
  const path = join(temporaryFile(), '..', 'missing', 'service.db')
  expect(() => take(path)).toThrow(
    `DB_PATH is ${path}, which cannot be opened: its folder does not exist: create it`,
  )
})
