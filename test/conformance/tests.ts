import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JudgedCase, Verdict } from './table.js'

/** A test as vitest reports it. */
export interface TestResult {
  /** Titles of the blocks around it, the outer one first. */
  readonly ancestorTitles: readonly string[]
  readonly fullName: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

/**
 * Runs tests.
 * @param args of vitest: projects and files
 * @param environment what the processes of the tests get in addition
 * @throws Error when vitest gives no report
 */
export function runTests(args: readonly string[], environment: Record<string, string> = {}): TestResult[] {
  const report = join(mkdtempSync(join(tmpdir(), 'conformance-')), 'report.json')
  const vitest = ['vitest', 'run', ...args, '--reporter=json', `--outputFile=${report}`]
  const { stderr } = spawnSync('npx', vitest, {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: Infinity,
  })
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
    return testResults.flatMap((file: { assertionResults: TestResult[] }) => file.assertionResults)
  } catch {
    throw new Error(`vitest ${args.join(' ')} has no report: ${stderr}`)
  }
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
    return { kind: 'not applicable', reason: `This machine lacks it: ${/\((.*)\)/.exec(title)?.[1]}.` }
  }
}
