import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { NO_CONTENT, type StoredContent } from '../../store/stored-content.js'
import { type CheckResult, createReport, type Report } from './check-result.js'

/** The check results of the database. */
export interface ExaminedDatabase {
  readonly checkResults: readonly CheckResult[]
  /** Empty when it cannot be read. */
  readonly content: StoredContent
}

const MIB = 1024 * 1024
const LITTLE_SPACE_MIB = 1024
const LEAST_SPACE_MIB = 64

/** Checks the database and its folder. Opens the file read-only. */
export async function examineDatabase(dbPath: string): Promise<ExaminedDatabase> {
  const report = createReport('DB_PATH')
  if (dbPath === ':memory:') {
    const remedy = 'Set DB_PATH to a file, except for a trial.'
    report.warn('', 'is :memory:, so every restart loses solvers and events', remedy)
    return { checkResults: report.list, content: NO_CONTENT }
  }
  const folder = dirname(resolve(dbPath))
  const isWritable = await checkFolder(folder, report)
  const isSound = await checkFile(dbPath, isWritable, report)
  return { checkResults: report.list, content: isSound ? await readFile(dbPath) : NO_CONTENT }
}

/** Checks that SQLite can write its own files next to the database. @returns whether it can */
async function checkFolder(folder: string, { ok, fail, judge }: Report): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const remedy = isMissing
      ? `Run mkdir -p ${folder}, or change DB_PATH.`
      : `Allow the service's user to write to ${folder}.`
    fail('folder', `${folder} ${isMissing ? 'does not exist' : 'is not writable'}`, remedy)
    return false
  }
  const { bavail, bsize } = await statfs(folder)
  ok('folder', `${folder} is writable`)
  const freeMib = Math.floor((bavail * bsize) / MIB)
  const text = `${freeMib} MiB free`
  const remedy = `Free space on the disk of ${folder}. Without space the service publishes no event.`
  if (freeMib < LEAST_SPACE_MIB) fail('disk', text, remedy)
  else judge('disk', freeMib >= LITTLE_SPACE_MIB, text, remedy)
  return true
}

/** @returns whether the file exists, and this version can read it without a migration */
async function checkFile(path: string, isWritable: boolean, { ok, warn, fail }: Report): Promise<boolean> {
  const file = await stat(path).catch(() => undefined)
  if (file === undefined) {
    if (isWritable) ok('file', `${path} does not exist: the first start creates it`)
    return false
  }
  if (file.isDirectory()) {
    fail('file', `${path} is a folder`, 'Set DB_PATH to a file in it.')
    return false
  }
  const restore = `Restore ${path} from a backup and delete -wal and -shm next to it, or move all three away to start with an empty database.`
  try {
    await access(path, constants.W_OK)
    const { readStoredState } = await import('../../store/sqlite/sqlite-inspection.js')
    const { damage, unknown, pending } = readStoredState(path, file.size)
    if (damage !== undefined) fail('file', `${path} is damaged: ${damage}`, restore)
    else if (unknown !== undefined) {
      const remedy = 'Run the version that wrote it, restore a backup of this version, or move the file away.'
      fail('file', `${path} ${unknown}`, remedy)
    } else if (pending.length > 0) {
      const remedy = 'Make a backup before the start. Older versions cannot read the file after it.'
      warn('file', `${path} gets ${pending.join(', ')} at the next start`, remedy)
    } else ok('file', `${path} is sound`)
    return damage === undefined && unknown === undefined && pending.length === 0
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isForbidden = code === 'EACCES' || code === 'EROFS'
    const { faultErrorOf } = await import('../../store/sqlite/file-health.js')
    const fault = faultErrorOf(error)
    if (isForbidden) fail('file', `${path} is not writable`, "Allow the service's user to write to it.")
    else fail('file', `${path} cannot be read: ${message}`, fault ? `It means: ${fault.message}.` : restore)
    return false
  }
}

async function readFile(path: string): Promise<StoredContent> {
  const { readStoredContent } = await import('../../store/sqlite/sqlite-inspection.js')
  return readStoredContent(path)
}
