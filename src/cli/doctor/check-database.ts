import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Solver } from '../../domain/solver.js'
import { migrations } from '../../store/schema.js'
import { collectFindings, type Finding, type Findings } from './finding.js'

/** What is known of the database. */
export interface ExaminedDatabase {
  readonly findings: readonly Finding[]
  /** The registered solvers, as far as they can be read. */
  readonly solvers: readonly Solver[]
}

const MIB = 1024 * 1024
const LITTLE_SPACE_MIB = 1024
const LEAST_SPACE_MIB = 64

/** Checks the database and its folder; opens the file for reading only. */
export async function examineDatabase(dbPath: string): Promise<ExaminedDatabase> {
  const findings = collectFindings('DB_PATH')
  if (dbPath === ':memory:') {
    const cure = 'Set DB_PATH to a file, unless this is a trial.'
    findings.warn('', 'is :memory:, so solvers and events are gone at every restart', cure)
    return { findings: findings.list, solvers: [] }
  }
  const folder = dirname(resolve(dbPath))
  const isWritable = await checkFolder(folder, findings)
  const isSound = await checkFile(dbPath, isWritable, findings)
  return { findings: findings.list, solvers: isSound ? await readSolvers(dbPath) : [] }
}

/** SQLite writes files of its own beside the database. @returns whether it can */
async function checkFolder(folder: string, findings: Findings): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const cure = isMissing
      ? `Run mkdir -p ${folder}, or change DB_PATH.`
      : `Give the service's user ${folder}.`
    findings.fail('folder', `${folder} ${isMissing ? 'does not exist' : 'is not writable'}`, cure)
    return false
  }
  findings.ok('folder', `${folder} is writable`)
  const { bavail, bsize } = await statfs(folder)
  const freeMib = Math.floor((bavail * bsize) / MIB)
  const text = `${freeMib} MiB free`
  const cure = `Make room on the disk of ${folder}: without it no event is announced.`
  if (freeMib < LEAST_SPACE_MIB) findings.fail('disk', text, cure)
  else if (freeMib < LITTLE_SPACE_MIB) findings.warn('disk', text, cure)
  else findings.ok('disk', text)
  return true
}

/** @returns whether it is there and can be read as it is */
async function checkFile(path: string, isWritable: boolean, findings: Findings): Promise<boolean> {
  const file = await stat(path).catch(() => undefined)
  if (file === undefined) {
    if (isWritable) findings.ok('file', `${path} will be made by the first start`)
    return false
  }
  const restore = `Restore ${path} from a backup, or move it away to begin anew without what was in it.`
  try {
    await access(path, constants.W_OK)
    const { readStoredState } = await import('../../store/stored-state.js')
    const { damage, newer, pending } = readStoredState(path, file.size, Object.keys(migrations))
    if (damage !== undefined) findings.fail('file', `${path} is damaged: ${damage}`, restore)
    else if (newer.length > 0) {
      const cure = 'Run the version that wrote it or a later one, or restore the backup from before.'
      findings.fail('file', `${path} was written by a newer version: it has ${newer.join(', ')}`, cure)
    } else if (pending.length > 0) {
      const cure = 'Back it up before: an older version will not read it any more.'
      findings.warn('file', `${path} gets ${pending.join(', ')} at the next start`, cure)
    } else findings.ok('file', `${path} is sound`)
    return damage === undefined && newer.length === 0 && pending.length === 0
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isForbidden = code === 'EACCES' || code === 'EROFS'
    if (isForbidden) findings.fail('file', `${path} is not writable`, "Give it to the service's user.")
    else findings.fail('file', `${path} cannot be read: ${message}`, restore)
    return false
  }
}

async function readSolvers(path: string): Promise<readonly Solver[]> {
  const { readStoredSolvers } = await import('../../store/stored-state.js')
  return readStoredSolvers(path)
}
