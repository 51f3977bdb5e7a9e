import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { JudgedCase, Verdict } from './table.js'

/** A test as vitest reports it. */
export interface TestResult {
  /** Titles of the blocks around it, the outer one first. */
  readonly ancestorTitles: readonly string[]
  readonly fullName: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

/** A file as vitest reports it. One whose fixtures fail has failed, although its tests count as skipped. */
interface FileResult {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: readonly TestResult[]
}

/**
 * Runs tests. A file that fails as a whole is a failed test.
 * @param args of vitest: projects and files
 * @param environment what the processes of the tests get in addition
 * @throws Error when vitest gives no report, finds none of a file's tests, or fails although no test has failed
 */
export function runTests(args: readonly string[], environment: Record<string, string> = {}): TestResult[] {
  const report = join(mkdtempSync(join(tmpdir(), 'conformance-')), 'report.json')
  const vitest = ['vitest', 'run', ...args, '--reporter=json', `--outputFile=${report}`]
  const { status, stderr } = spawnSync('npx', vitest, {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: Infinity,
  })
  const what = `vitest ${args.join(' ')}`
  if (!existsSync(report)) throw new Error(`${what} has no report: ${stderr}`)
  const files: FileResult[] = JSON.parse(readFileSync(report, 'utf8')).testResults
  for (const path of args.filter((arg) => !arg.startsWith('-')))
    if (!files.some(({ name }) => name.includes(path))) throw new Error(`${what} finds no test in ${path}`)
  const results = files.flatMap(resultsOf)
  const hasFailed = results.some((result) => result.status === 'failed')
  if (status !== 0 && !hasFailed) throw new Error(`${what} has failed: ${stderr}`)
  return results
}

function resultsOf({ name, status, message, assertionResults }: FileResult): readonly TestResult[] {
  const isOfTests = assertionResults.some((result) => result.status === 'failed')
  if (status !== 'failed' || isOfTests) return assertionResults
  return [{ ancestorTitles: [], fullName: relative('.', name), status, failureMessages: [message] }]
}

/**
 * The outer block of a test names its judge and, in brackets, what that needs: `nginx as the documents show it (needs it from Debian)`.
 */
export function toJudgedCase({ ancestorTitles, fullName, status, failureMessages }: TestResult): JudgedCase {
  const [title = fullName] = ancestorTitles
  const [judge = title] = title.split(/, | as | \(/)
  return { judge, verdict: verdictOf() }

  function verdictOf(): Verdict {
    if (status === 'passed') return { kind: 'passed' }
    if (status === 'failed')
      return { kind: 'failed', reason: `${fullName}: ${failureMessages[0]?.split('\n', 1)[0]}` }
    const needs = /\((needs .*)\)/.exec(title)?.[1]
    if (needs === undefined) return { kind: 'failed', reason: `${fullName} is skipped` }
    return { kind: 'not applicable', reason: `This machine lacks it: ${needs}.` }
  }
}
