import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CheckResult } from '../../../src/operator/doctor/check-result.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { commandLine } from '../../support/process/command-line.js'
import { environmentFor, startService } from '../../support/service/service.js'
import { startSolver, type TestSolver } from '../../support/solvers/solver.js'

export type DoctorFixture = Awaited<ReturnType<typeof startDoctorFixture>>

const [first, second] = solverAccounts
/** The checks of the two solvers. */
export const ADA = `solvers of chain 31337 Ada (${first.address})`
export const BOB = `solvers of chain 31337 Bob (${second.address})`

/**
 * A chain with two solvers, Ada and Bob, and a service where they are registered, with its database in a file.
 * @param changes changes of the service's variables
 */
export async function startDoctorFixture(changes: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  const chain = await startModelChain({ bonded: 2 })
  const solvers: [TestSolver, TestSolver] = [
    await startSolver(chain, first),
    await startSolver(chain, second),
  ]
  const environment: Record<string, string> = {
    ...environmentFor(chain),
    DB_PATH: join(folder, 'service.db'),
    ...changes,
  }
  const service = await startService(chain, environment)
  await solvers[0].register(service, 'Ada')
  await solvers[1].register(service, 'Bob')

  return {
    folder,
    chain,
    solvers,
    /** The variables of the service. */
    environment,
    service,
    /** The results of doctor for these variables with changes. */
    diagnose: (changes: Record<string, string | undefined> = {}) => diagnose({ ...environment, ...changes }),
    async close() {
      await service.close()
      await Promise.all(solvers.map((solver) => solver.close()))
      await chain.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** The results of doctor for a configuration. */
export async function diagnose(environment: Record<string, string | undefined>) {
  const { code, stdout, stderr } = await commandLine(['doctor', '--json'], { environment })
  const { ok, checkResults } = JSON.parse(stdout) as { ok: boolean; checkResults: CheckResult[] }
  const failed = checkResults.filter(({ status }) => status === 'fail')
  expect([code, ok]).toEqual(failed.length === 0 ? [0, true] : [5, false])
  expect(stderr).toContain(
    failed.length === 0 ? '' : `${failed.length} of ${checkResults.length} checks failed`,
  )
  for (const { status, remedy } of checkResults) if (status === 'fail') expect(remedy).toMatch(/[.;?]$/)
  return {
    checkResults,
    failed: failed.map(({ check }) => check),
    /** Without slow endpoints, since each is slow on a busy machine. */
    warned: checkResults
      .filter(({ status, check }) => status === 'warn' && !check.endsWith(' reachable'))
      .map(({ check }) => check),
    find: (check: string) => checkResults.find((checkResult) => checkResult.check === check),
  }
}

interface Diagnosis {
  readonly what: string
  /** Prepares the fault. @returns changes of the variables */
  readonly given: () => Variables | Promise<Variables>
  readonly failed?: readonly string[]
  readonly warned?: readonly string[]
  /** Of the first check that fails or has a warning, when `check` is left out. */
  readonly says?: string | RegExp
  readonly check?: string
  readonly remedy?: string
}

type Variables = Record<string, string | undefined>

/** Tests what doctor says of each of some faults. */
export function itDiagnoses(fixture: Pick<DoctorFixture, 'diagnose'>, diagnoses: readonly Diagnosis[]): void {
  it.each(diagnoses)(
    'reports $what',
    async ({ given, failed = [], warned = [], says = '', remedy = '', check }) => {
      const found = await fixture.diagnose(await given())
      expect([found.failed, found.warned]).toEqual([failed, warned])
      const [first] = [...failed, ...warned]
      const result = found.find(check ?? first ?? 'variables')
      expect(result?.checkResult).toMatch(says)
      expect(`${result?.remedy}`).toContain(remedy)
    },
  )
}
